package languages_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
)

func many(n int, v expr.Value) expr.Value {
	items := make([]expr.Value, n)
	for i := range items {
		items[i] = v
	}
	return expr.Array(items...)
}

func text(s string, n int) expr.Value { return expr.String(strings.Repeat(s, n)) }

func wide(n int) expr.Value {
	members := make([]expr.Member, n)
	for i := range members {
		members[i] = expr.Member{Key: fmt.Sprintf("k%d", i), Value: expr.Int(int64(i))}
	}
	return expr.Object(members...)
}

func compile(t testing.TB, lang, src string) expr.Program {
	t.Helper()
	p, err := languages.All()[lang].Compile(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return p
}

// BenchmarkMillionSteps tells how long a million steps take, each doing what is worst of
// its kind: some 50 ms at most, so that steps are a measure of work.
func BenchmarkMillionSteps(b *testing.B) {
	digits, _ := expr.Number(strings.Repeat("9", 990) + ".5")
	for _, c := range []struct {
		name, lang, src string
		data            expr.Value
	}{
		{"regex of many states", jsonpath.Lang, `$[?(@ =~ /.*a.{900}c/)]`, many(1000, text("a", 2000))},
		{"regex of a long text", jsonpath.Lang, `$[?(@ =~ /(a|b|ab)*c/)]`, many(1000, text("a", 20_000))},
		{"regex of a short text", jsonpath.Lang, `$[?(@ =~ /(a|b|ab)*c/)]`, many(100_000, text("a", 200))},
		{"look-ahead", jsonpath.Lang, `$[?(@ =~ /(?=(a+))a*b/)]`, many(1000, text("a", 3000))},
		{"look-behind", jsonpath.Lang, `$[?(@ =~ /(.*(?<=x.*y))*z/)]`, many(1000, text("a", 3000))},
		{"back-reference", jsonpath.Lang, `$[?(@ =~ /(?iu)(a*)\1\1b/)]`, many(1000, text("aA", 1500))},
		{"class", jsonpath.Lang, `$[?(@ =~ /(?=\p{L})[\p{L}\p{N}&&[^x]]*+-/)]`, many(10_000, text("ж", 6000))},
		{"walk", jsonpath.Lang, `$[*][*]`, many(1000, many(1000, expr.Int(1)))},
		{"filter", jsonpath.Lang, `$[?(@ > 5 && @ < 7 || @ == 3)]`, many(200_000, expr.Int(6))},
		{"long numbers", jsonpath.Lang, `$[?(@ in $)]`, expr.Array(append(many(1000, digits).Items(), expr.Int(1))...)},
		{"sum of long numbers", jsonpath.Lang, `$[?($.sum() == 1)]`, many(1000, digits)},
		{"deviation of long numbers", jsonpath.Lang, `$[?($.stddev() == 1)]`, many(1000, digits)},
		{"sum", jsonpath.Lang, `$[?($.sum() == 1)]`, many(2000, expr.Int(7))},
		{"text in text", jsonpath.Lang, `$[?(@ contains 'aaaaaaaaaaaaaaaaaaaab')]`, many(10_000, text("a", 100_000))},
		{"length of text", jsonpath.Lang, `$[?(@.length() == 3)]`, many(10_000, text("ж", 50_000))},
		{"large objects", jsonpath.Lang, `$[*].k1500`, many(300_000, wide(3000))},
		{"schema", jsonschema.Lang, `{"items":{"type":"integer","minimum":0,"multipleOf":1}}`, many(300_000, expr.Int(7))},
		{"schema that fails", jsonschema.Lang, `{"items":{"anyOf":[{"type":"string"},{"minimum":9}]}}`, many(9000, expr.Int(7))},
		{"template", jsonpath.TemplateLang, `{"x":"{{ $ }}"}`, many(3_000_000, expr.Int(7))},
		{"jq on numbers", jq.Lang, `map(. + 1)`, many(30_000, expr.Int(700))},
		{"jq on objects", jq.Lang, `map(.k1)`, many(4000, wide(20))},
		{"jq on text", jq.Lang, `map(ascii_upcase)`, many(200, text("a", 50_000))},
		{"jq matches", jq.Lang, `map(test("(a|b|ab)*c"))`, many(1000, text("a", 2000))},
		{"jq sorts", jq.Lang, `[range(1000)] | until(false; sort)`, expr.Null},
		{"jq reads JSON", jq.Lang, `tojson | until(false; fromjson | tojson)`, many(1000, expr.Int(700))},
		{"jq recursion", jq.Lang, `def f: . + 1 | f; 0 | f`, expr.Null},
		{"jq directly", jq.Lang, strings.Repeat(`.a == "b" and `, 2000) + `true`, expr.Object(expr.Member{Key: "a", Value: expr.String("b")})},
		{"jq joins objects", jq.Lang, strings.Repeat(`. + . | `, 3000) + `.`, wide(300)},
		{"jq template", jq.TemplateLang, `{"x":"${ . }"}`, many(3_000_000, expr.Int(7))},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := compile(b, c.lang, c.src)
			steps := 0
			for b.Loop() {
				budget := expr.NewBudget()
				_, _ = p.Eval(c.data, &budget)
				steps += budget.Spent(expr.MaxSteps)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(steps), "ms/Msteps")
		})
	}
}

// BenchmarkLanguages compares jq with JSONPath, for what a step of a workflow evaluates.
func BenchmarkLanguages(b *testing.B) {
	data, err := expr.ParseJSON([]byte(`{"a":{"b":"x","n":5,"c":[1,2,3]},"order":{"id":"o-1","total":12.5,"items":[{"n":1,"p":2.5},{"n":4,"p":1}]},"user":{"name":"dana","mail":"d@example.com"}}`))
	if err != nil {
		b.Fatal(err)
	}
	path := func(open, end, dollar string) string {
		var members []string
		for i, p := range []string{".a.b", ".a.n", ".a.c", ".order.id", ".order.total", ".order.items", ".user.name", ".user.mail", ".user", ".order"} {
			members = append(members, fmt.Sprintf(`"m%d":"%s%s%s%s"`, i, open, dollar, p, end))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	for _, c := range []struct{ name, lang, src string }{
		{"path/jsonpath", jsonpath.Lang, `$.a.b`},
		{"path/jq", jq.Lang, `.a.b`},
		{"condition/jsonpath", jsonpath.Lang, `$[?(@.a.b == 'x' && @.a.n > 3)]`},
		{"condition/jq", jq.ConditionLang, `.a.b == "x" and .a.n > 3`},
		{"template/jsonpath", jsonpath.TemplateLang, path("{{ ", " }}", "$")},
		{"template/jq", jq.TemplateLang, path("${ ", " }", "")},
		{"filter/jsonpath", jsonpath.Lang, `$.order.items[?(@.n > 3)].p`},
		{"filter/jq", jq.Lang, `[.order.items[] | select(.n > 3) | .p]`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			p := compile(b, c.lang, c.src)
			for b.Loop() {
				budget := expr.NewBudget()
				if _, err := p.Eval(data, &budget); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What people write fits into the limits.
func TestHonestUsesFit(t *testing.T) {
	email := `[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+[.][A-Za-z]{2,}`
	price, _ := expr.Number("12.99")
	for _, c := range []struct {
		name, lang, src string
		data            expr.Value
	}{
		{"e-mails", jsonpath.Lang, `$[?(@ =~ /` + email + `/)]`, many(10_000, expr.String("john.doe@shop.example.com"))},
		{"e-mails by schema", jsonschema.Lang, `{"items":{"type":"string","pattern":"^` + email + `$"}}`, many(10_000, expr.String("john.doe@shop.example.com"))},
		{"a word in a log", jsonpath.Lang, `$[?(@ =~ /.*error.*/)]`, many(1, text("all is well. ", 10_000))},
		{"prices", jsonpath.Lang, `$.sum()`, many(100_000, price)},
		{"counts", jsonpath.Lang, `$.sum()`, many(500_000, expr.Int(7))},
		{"records", jsonschema.Lang, `{"items":{"properties":{"k1":{"type":"integer"}},"required":["k2"],"additionalProperties":{"type":"integer"}}}`, many(10_000, wide(20))},
		{"a member of each", jsonpath.Lang, `$[*].k7`, many(200_000, wide(20))},
		{"jq: a member of each", jq.Lang, `map(.k7)`, many(10_000, wide(20))},
		{"jq: those that are large", jq.Lang, `[.[] | select(.k7 > 5) | {a: .k1, b: .k2}]`, many(5000, wide(20))},
		{"jq: a sum", jq.Lang, `map(.k7) | add`, many(10_000, wide(20))},
		{"jq: e-mails", jq.Lang, `map(select(test("^` + email + `$")))`, many(2000, expr.String("john.doe@shop.example.com"))},
		{"jq: groups", jq.Lang, `group_by(.k3) | map({k: .[0].k3, n: length})`, many(5000, wide(10))},
		{"jq: text", jq.Lang, `map("\(.k1): \(.k2)") | join(", ")`, many(10_000, wide(5))},
	} {
		budget := expr.NewBudget()
		if _, err := compile(t, c.lang, c.src).Eval(c.data, &budget); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A match is paid for before it is done, by what it can cost; nothing overflows.
func TestMatchesArePaidFor(t *testing.T) {
	p := compile(t, jsonpath.Lang, `$[?(@ =~ /.*a.{900}c/)]`)
	for _, c := range []struct {
		bytes int
		fits  bool
	}{{1000, true}, {50_000, false}, {16 << 20, false}} {
		budget := expr.NewBudget()
		_, err := p.Eval(many(1, text("a", c.bytes)), &budget)
		if spent := budget.Spent(expr.MaxSteps); (err == nil) != c.fits || spent < min(c.bytes*900/3, expr.MaxSteps) {
			t.Errorf("%d bytes: %d steps, %v", c.bytes, spent, err)
		}
	}
}
