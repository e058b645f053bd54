package jsonpath

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// wide is an object of n members, each an array of n numbers.
func wide(n int) expr.Value {
	members := make([]expr.Member, n)
	for i := range members {
		items := make([]expr.Value, n)
		for j := range items {
			items[j] = expr.Int(int64(j))
		}
		members[i] = expr.Member{Key: fmt.Sprintf("k%d", i), Value: expr.Array(items...)}
	}
	return expr.Object(members...)
}

// tree is an array of arrays, width items each, depth levels deep, ones at the end.
func tree(width, depth int) expr.Value {
	if depth == 0 {
		return expr.Int(1)
	}
	items := make([]expr.Value, width)
	for i := range items {
		items[i] = tree(width, depth-1)
	}
	return expr.Array(items...)
}

// nested is an array n levels deep around v.
func nested(v expr.Value, n int) expr.Value {
	for range n {
		v = expr.Array(v)
	}
	return v
}

func field(v expr.Value) expr.Value { return expr.Object(expr.Member{Key: "a", Value: v}) }

// TestBombsEndWithTheNamedLimit: whatever is asked for, the budget ends it, and
// says by which limit.
func TestBombsEndWithTheNamedLimit(t *testing.T) {
	as := expr.String(strings.Repeat("a", 64))
	long := expr.String(strings.Repeat("a", 4<<20))
	many := make([]expr.Value, 2000)
	for i := range many {
		many[i] = as
	}
	pairs := expr.Array(expr.Int(1)) // 2^40 values in a few words
	for range 40 {
		pairs = expr.Array(pairs, pairs)
	}
	for name, c := range map[string]struct {
		path  string
		data  expr.Value
		limit string
	}{
		"descent of descent":     {"$..*..*..*", tree(12, 5), "expression-steps"},
		"descent in a narrow":    {"$..*..*..*..*..*", nested(expr.Int(1), 500), "expression-steps"},
		"filters in filters":     {"$..[?(@..[?(@..[?(@ == 2)])])]", tree(6, 6), "expression-steps"},
		"comparing everything":   {"$..[?(@ == $)]", expr.Array(wide(200), expr.Array(wide(200)), expr.Array(expr.Array(wide(199)))), ""},
		"all in all":             {"$.*[?(@ in $..*)]", wide(100), "expression-steps"},
		"subsets":                {"$[?(@.k0 subsetof $..*)]..[?($..* subsetof $..*)]", wide(80), "expression-steps"},
		"shared parts":           {"$..*", pairs, "expression-steps"},
		"repeated indexes":       {"$[" + strings.Repeat("0,", 5000) + "0]", expr.Array(wide(60)), "expression-output"},
		"repeated names":         {"$['a'" + strings.Repeat(",'a'", 5000) + "][0]", field(expr.Array(wide(60))), "expression-output"},
		"nested matches":         {"$..*", nested(expr.Array(long), 20), "expression-output"},
		"appended":               {"$.append($" + strings.Repeat(",$", 1000) + ")", wide(150).Append(wide(150)), "expression-output"},
		"concatenated":           {"$.concat($.a" + strings.Repeat(",$.a", 1000) + ")", field(long), "expression-output"},
		"long text again":        {"$.a[?($.b contains 'b')]", field(expr.Array(many...)).With("b", long), "expression-steps"},
		"long text compared":     {"$.a[?($.b == $.c)]", field(expr.Array(many...)).With("b", long).With("c", expr.String(long.Str()[1:]+"b")), "expression-steps"},
		"long text counted":      {"$.a[?($.b.length() == 1)]", field(expr.Array(many...)).With("b", long), "expression-steps"},
		"linear regex, long":     {"$.a[?($.b =~ /(a+)+b/)]", field(expr.Array(many...)).With("b", long), "expression-steps"},
		"large regex, long":      {"$.a[?($.b =~ /(a?){900}b/)]", field(expr.Array(many...)).With("b", long), "expression-steps"},
		"catastrophic look":      {"$.a[?(@ =~ /(?=a)(a+)+b$/)]", field(expr.Array(as)), "expression-steps"},
		"catastrophic in look":   {"$.a[?(@ =~ /(?!(a+)+b).*/)]", field(expr.Array(as)), "expression-steps"},
		"catastrophic backref":   {"$.a[?(@ =~ /(a*)*(a*)*\\1\\2b/)]", field(expr.Array(as)), "expression-steps"},
		"catastrophic lookback":  {"$.a[?(@ =~ /a*(?<=(a+)+b)/)]", field(expr.Array(as)), "expression-steps"},
		"backtracking long text": {"$.a[?(@ =~ /(?=a).*b/)]", field(expr.Array(long)), "expression-steps"},
		"deep data":              {"$..a", nested(field(expr.Int(1)), 600), "value-depth"},
		"deep data, filter":      {"$..[?(@.a)]", nested(field(expr.Int(1)), 600), "value-depth"},
		"deeper data":            {"$..*", nested(expr.Int(1), 100_000), "value-depth"},
		"digits":                 {"$.a.sum()", field(expr.Array(manyDigits(t, 30000)...)), "expression-steps"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Compiler{}.Compile(c.path)
			if err != nil {
				t.Fatal(err)
			}
			b := expr.NewBudget()
			r, err := p.Eval(c.data, &b)
			if c.limit == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var limit *expr.LimitError
			if !errors.As(err, &limit) || limit.Limit != c.limit {
				t.Fatalf("%d values, error %v; want the limit %s", r.Value.Len(), err, c.limit)
			}
		})
	}
}

func manyDigits(t *testing.T, n int) []expr.Value {
	items := make([]expr.Value, n)
	for i := range items {
		v, err := expr.Number("0." + strings.Repeat("1234567890", 100))
		if err != nil {
			t.Fatal(err)
		}
		items[i] = v
	}
	return items
}

// TestTemplateBombs: a template cannot multiply its data without end.
func TestTemplateBombs(t *testing.T) {
	data := expr.Array(expr.String(strings.Repeat("x", 1<<20)))
	list := `["{{ $ }}"` + strings.Repeat(`,"{{ $ }}"`, 100) + `]`
	text := `"` + strings.Repeat(`{{ $ }} `, 100) + `"`
	shared := expr.Int(1)
	for range 60 {
		shared = expr.Array(shared, shared)
	}
	for name, c := range map[string]struct {
		src   string
		data  expr.Value
		limit string
	}{
		"copies in a list": {list, data, "expression-output"},
		"copies in text":   {text, data, "expression-output"},
		"shared parts":     {`["{{ $ }}"]`, shared, "expression-output"},
		"shared in text":   {`"x{{ $ }}"`, shared, "expression-output"},
		"growing deeper":   {`{"a":"{{ $ }}"}`, nested(expr.Int(1), expr.MaxDepth), "value-depth"},
	} {
		_, err := run(TemplateCompiler{}, c.src, c.data)
		var limit *expr.LimitError
		if !errors.As(err, &limit) || limit.Limit != c.limit {
			t.Errorf("%s: error %v, want the limit %s", name, err, c.limit)
		}
	}
}

// TestSourceLimits: deep or long source is refused before anything recurses.
func TestSourceLimits(t *testing.T) {
	deep := func(open, middle, shut string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(shut, n)
	}
	for name, c := range map[string]struct{ src, limit string }{
		"filters":         {"$" + deep("[?(@", "", ")]", 3000), "expression-nesting"},
		"parentheses":     {"$[?(" + deep("(", "@.a", ")", 3000) + ")]", "expression-nesting"},
		"nots":            {"$[?(" + deep("!", "@.a", "", 3000) + ")]", "expression-nesting"},
		"lists":           {"$[?(@ == " + deep("[", "1", "]", 3000) + ")]", "expression-nesting"},
		"objects":         {"$[?(@ == " + deep("{'a':", "1", "}", 3000) + ")]", "expression-nesting"},
		"calls":           {deep("$.sum(", "1", ")", 3000), "expression-nesting"},
		"chained calls":   {"$" + strings.Repeat(".first()", 3000), "expression-nesting"},
		"groups":          {"$[?(@ =~ /" + deep("(", "a", ")", 3000) + "/)]", "expression-nesting"},
		"classes":         {"$[?(@ =~ /" + deep("[a", "", "]", 3000) + "/)]", "expression-nesting"},
		"length":          {"$" + strings.Repeat(".a", MaxSource/2), "expression-source"},
		"wrapped length":  {"{{ $" + strings.Repeat(".a", MaxSource/2) + " }}", "expression-source"},
		"regex repeats":   {"$[?(@ =~ /(?=(((a{100}){100}){100}){100})/)]", "expression-regex"},
		"regex count":     {"$[?(@ =~ /a{99999999}/)]", "expression-regex"},
		"regex classes":   {"$[?(@ =~ /" + strings.Repeat(`\p{L}`, 1000) + "/)]", "expression-regex"},
		"regex class sum": {"$[?(@ =~ /[" + strings.Repeat(`\p{L}`, 1000) + "]/)]", "expression-regex"},
	} {
		_, err := Compiler{}.Compile(c.src)
		var se *expr.SyntaxError
		if !errors.As(err, &se) || !strings.Contains(se.Msg, c.limit) {
			t.Errorf("%s: error %.200v, want the limit %s", name, err, c.limit)
		}
	}
	if err := CheckTemplateString("x {{ $" + strings.Repeat(".a", MaxSource) + " }}"); err == nil || !strings.Contains(err.Error(), "expression-source") {
		t.Errorf("in a template: %.200v", err)
	}
	if _, err := (Compiler{}).Compile("$" + deep("[?(@", "", ")]", MaxNesting+1)); err == nil {
		t.Error("one level too many was accepted")
	}
	// What compiles has depth enough to run.
	src := "$" + deep("[?(@", "", ")]", MaxNesting)
	if got := show(run(Compiler{}, src, field(expr.Int(1)))); got != `list [{"a":1}]` {
		t.Errorf("at the limit: %.200s", got)
	}
	if got := show(run(Compiler{}, "$"+strings.Repeat(".a", MaxSource/2-1), expr.Null)); got != "missing" {
		t.Errorf("a long path: %.200s", got)
	}
}

// TestMatchesAreOutput: a list is paid for by its length.
func TestMatchesAreOutput(t *testing.T) {
	p, err := Compiler{}.Compile("$[*]")
	if err != nil {
		t.Fatal(err)
	}
	for n, fits := range map[int]bool{5: true, 6: false} {
		b := expr.Budget{Steps: 1000, Output: 5}
		_, err := p.Eval(tree(n, 1), &b)
		if limit := (*expr.LimitError)(nil); errors.As(err, &limit) == fits {
			t.Errorf("%d matches: %v", n, err)
		}
	}
}

// TestBudgetIsTheSameEveryTime: steps are counts, not times.
func TestBudgetIsTheSameEveryTime(t *testing.T) {
	data := wide(20)
	for _, src := range []string{"$..*", "$.*[?(@ > 3)].sum()", "$..[?(@ =~ /(?=1)\\d+/)]"} {
		p, err := Compiler{}.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		var spent [3]expr.Budget
		for i := range spent {
			spent[i] = expr.NewBudget()
			if _, err := p.Eval(data, &spent[i]); err != nil {
				t.Fatal(err)
			}
		}
		if spent[0] != spent[1] || spent[1] != spent[2] || spent[0].Depth != expr.MaxNested {
			t.Errorf("%s: %v", src, spent)
		}
	}
}
