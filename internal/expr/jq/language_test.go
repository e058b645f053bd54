package jq

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// vars are the variables of a test. They note what is asked for.
type vars struct {
	values map[string]expr.Value
	asked  []string
}

func (v *vars) Var(name string) (expr.Value, bool) {
	v.asked = append(v.asked, name)
	value, ok := v.values[name]
	return value, ok
}

var testRuntime = expr.Object(expr.Member{Key: "name", Value: expr.String("Test")})

func compileIn(t testing.TB, lang, src string) expr.Scoped {
	t.Helper()
	p, err := Languages(testRuntime)[lang].Compile(src)
	if err != nil {
		t.Fatalf("%s %s: %v", lang, src, err)
	}
	if scoped, ok := p.(expr.Scoped); ok {
		return scoped
	}
	return unscoped{p}
}

// unscoped is a program that needs no scope.
type unscoped struct{ expr.Program }

func (u unscoped) EvalIn(in expr.Scope, b *expr.Budget) (expr.Result, error) {
	return u.Eval(in.Data, b)
}

// testScope is what the tables below see.
func testScope(t testing.TB) expr.Scope {
	return expr.Scope{
		Data: parseJSON(t, `{"a":{"b":[10,20,{"c":"x"}]},"n":1.10,"big":12345678901234567890123,"text":"héllo","no":false,"list":[3,1,2],"deep":{"k":1}}`),
		Vars: &vars{values: map[string]expr.Value{
			"context": parseJSON(t, `{"user":{"name":"dana"},"n":5}`),
			"item":    expr.String("it"),
			"secrets": parseJSON(t, `{"KEY":"hunter2-and-more","n":73}`),
			"now":     parseJSON(t, `{"epoch":{"milliseconds":1772357405250}}`),
		}},
	}
}

func parseJSON(t testing.TB, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLanguages(t *testing.T) {
	for _, c := range []struct{ lang, src, want string }{
		{Lang, `.`, ""},
		{Lang, `.a.b[0]`, `10`},
		{Lang, `.a.b[-1].c`, `"x"`},
		{Lang, `.["a"]["b"][1]`, `20`},
		{Lang, `.missing.deeper`, `null`},
		{Lang, `.n`, `1.10`},
		{Lang, `[.n, .big]`, `[1.10,12345678901234567890123]`},
		{Lang, `[.n, .big] | map(.)`, `[1.10,12345678901234567890123]`},
		{Lang, `.big + 1`, `12345678901234567890124`},
		{Lang, `.n + 1`, `2.1`},
		{Lang, `1.10`, `1.1`},
		{Lang, `0.5 + 0.25`, `0.75`},
		{Lang, `123456789.5 * 2 + 0.5`, `246913579.5`},
		{Lang, `infinite`, `1.7976931348623157e+308`},
		{Lang, `nan`, `null`},
		{Lang, `1e3`, `1000`},
		{Lang, `9007199254740991 + 2`, `9007199254740993`},
		{Lang, `94906267 * 94906267`, `9007199515875289`},
		{Lang, `-9007199254740991 - 2`, `-9007199254740993`},
		{Lang, `empty`, `null`},
		{Lang, `.list[] | select(. > 5)`, `null`},
		{Lang, `$context.user.name`, `"dana"`},
		{Lang, `$context["user"] | .name`, `"dana"`},
		{Lang, `{$item, user: $context.user.name, "x y": .n}`, `{"item":"it","user":"dana","x y":1.10}`},
		{Lang, `{z: 1, a: 2}`, `{"a":2,"z":1}`},
		{Lang, `{z: 1, a: .n, z: 3}`, `{"a":1.10,"z":3}`},
		{Lang, `{a}`, `{"a":{"b":[10,20,{"c":"x"}]}}`},
		{Lang, `.list | sort | map(. * 2)`, `[2,4,6]`},
		{Lang, `[.list[] as $i | $i + $context.n]`, `[8,6,7]`},
		{Lang, `$runtime.name`, `"Test"`},
		{Lang, `[$runtime] | map(.name) | first`, `"Test"`},
		{Lang, `.text | length`, `5`},
		{Lang, `"\(.text)-\(.a.b[0])-\(.n)"`, `"héllo-10-1.10"`},
		{Lang, `.count + 1`, `1`},
		{Lang, `. + {k: 2} | .k`, `2`},
		{Lang, `$context + {n: 6} | .n`, `6`},
		{Lang, `.list + [4] | length`, `4`},
		{Lang, `.missing // "default"`, `"default"`},
		{Lang, `if .no then 1 elif .n > 1 then 2 else 3 end`, `2`},
		{Lang, `.text.x? // "none"`, `"none"`},
		{Lang, `now`, `1772357405.25`},
		{Lang, `now | floor | todate`, `"2026-03-01T09:30:05Z"`},
		{Lang, `now | strflocaltime("%H %Z")`, `"09 UTC"`},
		{Lang, `"[1,2]" | fromjson`, `[1,2]`},
		{Lang, `"/w==" | @base64d`, `"�"`},
		{Lang, `.deep.k as $x | def f: $x + 1; f`, `2`},
		{Lang, `. as {n: $n, list: [$first]} | [$n, $first]`, `[1.10,3]`},
		{Lang, `[paths(type == "boolean")]`, `[["no"]]`},
		{Lang, `del(.a, .list, .text, .big, .deep)`, `{"n":1.10,"no":false}`},
		{ConditionLang, `.n`, `true`},
		{ConditionLang, `.no`, `false`},
		{ConditionLang, `.missing`, `false`},
		{ConditionLang, `0`, `true`},
		{ConditionLang, `""`, `true`},
		{ConditionLang, `empty`, `false`},
		{ConditionLang, `.n > 1 and .text == "héllo"`, `true`},
		{ConditionLang, `.list | any(. > 2)`, `true`},
		{TemplateLang, `{"a":"${ .a.b }","b":["x",{"c":" ${.n} "}],"${ .n }":"k","d":"not ${ .n }","e":null}`, `{"${ .n }":"k","a":[10,20,{"c":"x"}],"b":["x",{"c":1.10}],"d":"not ${ .n }","e":null}`},
		{TemplateLang, `"${ .list | length }"`, `3`},
		{TemplateLang, `{"a":"plain","b":[1,{}]}`, `{"a":"plain","b":[1,{}]}`},
		{TemplateLang, `[]`, `[]`},
		{TemplateLang, `"${}"`, ""},
		{
			LooseLang, `{"a":".n","b":"${ .n }","c":"hello world","d":"x-y: z","e":".text.x","f":"${ .text.x }","g":"1, 2","h":"$nosuch","i":5,"j":"","k":"now | floor"}`,
			`{"a":1.10,"b":1.10,"c":"hello world","d":"x-y: z","e":".text.x","f":"${ .text.x }","g":"1, 2","h":"$nosuch","i":5,"j":"","k":1772357405}`,
		},
		{LooseLang, `"error(\"no\")"`, `"error(\"no\")"`},
	} {
		if c.src == `"${}"` {
			if _, err := Languages(testRuntime)[c.lang].Compile(c.src); err == nil {
				t.Errorf("%s %s compiles", c.lang, c.src)
			}
			continue
		}
		b := expr.NewBudget()
		scope := testScope(t)
		r, err := compileIn(t, c.lang, c.src).EvalIn(scope, &b)
		if c.want == "" {
			c.want = scope.Data.String()
		}
		if err != nil || r.Value.String() != c.want || r.Missing || r.List {
			t.Errorf("%s %s: %v, %v, want %s", c.lang, c.src, r, err, c.want)
		}
	}
}

// TestExpressionsAreFilters: an expression gives what the same filter gives, as far as that is one
// value. In particular nothing is missing of the data that is converted for the interpreter.
func TestExpressionsAreFilters(t *testing.T) {
	more := []string{
		`if .nothing then 1 end | [.[]?]`, `if .id then empty else 1 end`, `[.tags[]? | {x: .}] | map(.x)`, `. as $all | [$all.tags[]?] | length`, `{tags} | [.[][]?]`, `{"tags"} | [.[][]?]`, `{("ta" + "gs")} | [.[][]?]`,
		`.status as $s | [$s.state, ($s | keys?)]`, `try .id.x catch .`, `[.status | .state, .progress]`, `@json "\(.status.state)"`, `[.tags[:2][]?]`, `.workflow | .states[0] | [.[]]`, `[limit(1; .tags[]?)] + [.id]`,
		`(.status | not), empty`, `[.status.state | type, not]`, `-(.status.progress)`, `.status | {state} + {n: 1} | [.[]]`, `label $f | .tags[]? | ., break $f`, `[foreach .tags[]? as $t (.id; . + $t; ., $t)]`,
	}
	for _, src := range append(more, sameAsGojq...) {
		for _, input := range []string{job, `null`, `[1,[2,{"a":3}],"x"]`, `"text"`, `12.5`, `{"a":[1,2,{"b":null}],"id":{"x":[]},"tags":{"y":1}}`} {
			v := parseJSON(t, input)
			out, err := run(t.Context(), src, v, Budget{})
			if syntax := (*expr.SyntaxError)(nil); errors.As(err, &syntax) {
				continue
			}
			results := make([]expr.Value, len(out))
			for i, text := range out {
				results[i] = parseJSON(t, text)
			}
			sameAsFilter(t, src, v, results, err)
		}
	}
}

// sameAsFilter compares an expression with what a filter gave, and how that ended.
func sameAsFilter(t *testing.T, src string, v expr.Value, results []expr.Value, failed error) {
	t.Helper()
	e, err := Compiler{lang: Lang}.expression(src)
	if syntax := (*expr.SyntaxError)(nil); errors.As(err, &syntax) && strings.Contains(syntax.Msg, "expression-nesting") {
		return
	}
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	b := expr.NewBudget()
	r, err := e.EvalIn(expr.Scope{Data: v, Vars: &vars{values: map[string]expr.Value{"now": expr.Float(1772357405.25)}}}, &b)
	if limit := (*expr.LimitError)(nil); errors.As(err, &limit) || strings.Contains(src, "local") {
		return
	}
	want := expr.Null
	if len(results) > 0 {
		want = results[0]
	}
	fails := failed != nil || len(results) > 1
	if fails != (err != nil) || !fails && !expr.Equal(r.Value, want) {
		t.Errorf("%q of %.80v: %v, %v; as a filter: %v, %v", src, v, r.Value, err, results, failed)
	}
	if len(results) > 1 {
		want = expr.Array(results...)
	}
	e.lang, b = SelectLang, expr.NewBudget()
	r, err = e.EvalIn(expr.Scope{Data: v, Vars: &vars{values: map[string]expr.Value{"now": expr.Float(1772357405.25)}}}, &b)
	if limit := (*expr.LimitError)(nil); errors.As(err, &limit) {
		return
	}
	if (failed != nil) != (err != nil) || err == nil && (!expr.Equal(r.Value, want) || r.Missing != want.IsNull()) {
		t.Errorf("%q of %.80v selects %v, %v; as a filter: %v, %v", src, v, r.Value, err, results, failed)
	}
}

// An expression asks for the variables that it uses, and names one that is missing.
func TestVariables(t *testing.T) {
	for src, want := range map[string]string{
		`.a`:                              ``,
		`$item`:                           `item`,
		`{x: $context.n, y: $item}`:       `context item`,
		`. as $item | $item`:              ``,
		`def f($context): $context; f(1)`: ``,
		`[$context.n | . + 1] | first`:    `context`,
		`$runtime.name`:                   ``,
		`now`:                             `now`,
		`reduce .list[] as $x (0; . + $x + $context.n)`: `context`,
	} {
		scope := testScope(t)
		b := expr.NewBudget()
		if _, err := compileIn(t, Lang, src).EvalIn(scope, &b); err != nil {
			t.Errorf("%s: %v", src, err)
		}
		if got := strings.Join(scope.Vars.(*vars).asked, " "); got != want {
			t.Errorf("%s asks for %q, want %q", src, got, want)
		}
	}
	for _, src := range []string{`$nosuch.x`, `[$nosuch] | map(.)`, `if false then $nosuch else 1 end`, `if false then $nosuch else ([1] | map(.)) end`} {
		b := expr.NewBudget()
		_, err := compileIn(t, Lang, src).EvalIn(testScope(t), &b)
		if failed := (*Error)(nil); !errors.As(err, &failed) || !strings.Contains(err.Error(), "$nosuch") {
			t.Errorf("%s: %v", src, err)
		}
		if _, err := compileIn(t, Lang, src).Eval(expr.Null, &b); err == nil {
			t.Errorf("%s without variables", src)
		}
	}
	b := expr.NewBudget()
	if _, err := compileIn(t, Lang, "now").Eval(expr.Null, &b); err == nil || !strings.Contains(err.Error(), "no time") {
		t.Errorf("now without a time: %v", err)
	}
}

func TestExpressionErrors(t *testing.T) {
	for _, c := range []struct{ src, says string }{
		{`.text.x`, "expected an object but got: string"},
		{`.a + 1`, "cannot add"},
		{`.list[]`, "more than one value"},
		{`1, 2`, "more than one value"},
		{`error("no luck")`, "no luck"},
		{`.n / 0`, "cannot divide"},
	} {
		b := expr.NewBudget()
		_, err := compileIn(t, Lang, c.src).EvalIn(testScope(t), &b)
		if failed := (*Error)(nil); !errors.As(err, &failed) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.src, err)
		}
	}
	b := expr.NewBudget()
	_, err := compileIn(t, TemplateLang, `{"a":"${ .n }","b":["x","${ .text.x }"]}`).EvalIn(testScope(t), &b)
	part := (*expr.PartError)(nil)
	if !errors.As(err, &part) || part.Part != 1 || part.Src != ".text.x" || !strings.Contains(err.Error(), "expected an object") {
		t.Errorf("a part that fails: %#v", err)
	}
	if _, err = compileIn(t, TemplateLang, `"${ .text.x }"`).EvalIn(testScope(t), &b); err == nil || errors.As(err, &part) {
		t.Errorf("the only part that fails: %#v", err)
	}
}

// Where an expression does not compile, the error has its column.
func TestExpressionSyntax(t *testing.T) {
	for _, c := range []struct {
		lang, src string
		offset    int
		says      string
	}{
		{Lang, ``, 0, "empty"},
		{Lang, `.a | ]`, 5, "unexpected"},
		{Lang, `"input" | input`, 10, "input/0"},
		{Lang, `.input | {input: 1, b: input}`, 23, "input/0"},
		{Lang, `. | $ENV.x`, 4, "$ENV"},
		{Lang, `{"a": $__loc__}`, 6, "$__loc__"},
		{Lang, `$__prog_args`, 0, "$__prog_args"},
		{Lang, `"\(env)"`, 3, "env/0"},
		{Lang, `# debug` + "\n" + `1 | debug`, 12, "debug/0"},
		{Lang, `.a | nosuch(1)`, 5, "nosuch/1"},
		{Lang, `$a::b`, 0, "$a::b"},
		{Lang, `1 | break $x`, 4, "$x"},
		{Lang, strings.Repeat("[", 100) + "range(3)" + strings.Repeat("]", 100), 0, "expression-nesting"},
		{Lang, strings.Repeat("[", 100) + strings.Repeat("]", 100), 0, "expression-nesting"},
		{Lang, strings.Repeat(" ", MaxSource) + ".", 0, "expression-source"},
		{ConditionLang, `.a ==`, 5, "ends where more"},
		{TemplateLang, `{"a":"x","b":"${ .a | nosuch }"}`, 22, "nosuch/0"},
		{TemplateLang, `{"b":"${ \"é\" | nosuch }"}`, 18, "nosuch/0"},
		{TemplateLang, `{"a":`, 5, "invalid JSON"},
	} {
		_, err := Languages(testRuntime)[c.lang].Compile(c.src)
		at := (*expr.SyntaxError)(nil)
		if !errors.As(err, &at) || at.Offset != c.offset || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %.60q: %v", c.lang, c.src, err)
		}
	}
}

// An error does not show what an expression that uses $secrets computes with.
func TestErrorsHideSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, src := range []string{
		`$secrets.KEY.x`, `$secrets.KEY + 1`, `error($secrets.KEY)`, `error($secrets)`, `$secrets.KEY | tonumber`, `{($secrets.n): 1}`, `"a" | test($secrets.KEY + "(")`,
		`"a" | test("a"; $secrets.KEY)`, `$secrets | error`, `$secrets.KEY | fromjson`, `$secrets.KEY[]`, `$secrets.KEY | ltrimstr("h") | .[$secrets.n:].x`, `[$secrets.KEY] | implode`, `$secrets.KEY | strptime("%Y")`,
		`$secrets.n | .x`, `[1] | .[$secrets.n].a = $secrets.KEY | has($secrets.KEY)`, `$secrets.KEY as $k | $k.x`, `$secrets[.text] | error("x" + "y")`, `$secrets.KEY | @json | . * {}`, `[$secrets.KEY] | @csv | tojson | explode | .x`,
	} {
		b := expr.NewBudget()
		_, err := compileIn(t, Lang, src).EvalIn(testScope(t), &b)
		if err == nil {
			t.Errorf("%s does not fail", src)
			continue
		}
		if strings.Contains(err.Error(), "hunt") || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "73") {
			t.Errorf("%s: %v", src, err)
		}
	}
	b := expr.NewBudget()
	_, err := compileIn(t, Lang, `$secrets.KEY + 1`).EvalIn(testScope(t), &b)
	if err == nil || !strings.HasPrefix(err.Error(), "cannot add") || !strings.Contains(err.Error(), "$secrets") {
		t.Errorf("what is left of an error: %v", err)
	}
}

// TestMatchesAreCounted: matches count while they are made, since each is hundreds of times as large as its text.
func TestMatchesAreCounted(t *testing.T) {
	data := expr.String(strings.Repeat("a", 400_000))
	for _, src := range []string{`[match("a"; "g")] | length`, `gsub("a"; "b")`, `[match("(a)(b)?"; "g")] | length`} {
		p := compileIn(t, Lang, src)
		made := testing.AllocsPerRun(1, func() {
			b := expr.NewBudget()
			_, err := p.Eval(data, &b)
			if over := (*expr.LimitError)(nil); !errors.As(err, &over) {
				t.Errorf("%s: %v", src, err)
			}
		})
		if made > 500_000 {
			t.Errorf("%s makes %.0f values before it is refused", src, made)
		}
	}
	b := expr.NewBudget()
	got, err := compileIn(t, Lang, `[match("a"; "g")] | length`).Eval(expr.String(strings.Repeat("ab", 10_000)), &b)
	if n, _ := got.Value.Int(); err != nil || n != 10_000 {
		t.Errorf("what is within the limits: %v, %v", got, err)
	}
}

// A stop and the limits end an evaluation, also in a loose template.
func TestLimits(t *testing.T) {
	stop := func() bool { return true }
	for _, lang := range []string{Lang, LooseLang} {
		wrap := func(src string) string {
			if lang == LooseLang {
				return string(expr.AppendQuoted(nil, src))
			}
			return src
		}
		b := expr.NewBudget()
		b.Until(&stop)
		if _, err := compileIn(t, lang, wrap(`def f: f; f`)).Eval(expr.Null, &b); !errors.Is(err, expr.ErrStopped) {
			t.Errorf("a stop: %v", err)
		}
		for src, limit := range map[string]string{
			`[range(1e9)]`:                               "expression-steps",
			`[range(1e9) | {a: .}]`:                      "filter-memory",
			`def f: f; f`:                                "expression-steps",
			`reduce range(24) as $i (1; [., .])`:         "filter-memory",
			`("x" * 9000000) as $x | [$x, $x]`:           "expression-output",
			`[limit(600; null | recurse([.]))] | last`:   "value-depth",
			`"aaaa" | test("x" * 5000)`:                  "filter-pattern",
			`"9" * 5000 | tonumber`:                      "filter-digits",
			`[., ., ., ., ., ., ., ., ., ., ., ., ., .]`: "expression-output",
		} {
			b := expr.NewBudget()
			data := expr.Array(slices.Repeat([]expr.Value{expr.String(strings.Repeat("x", 200))}, 10_000)...)
			_, err := compileIn(t, lang, wrap(src)).Eval(data, &b)
			if over := (*expr.LimitError)(nil); !errors.As(err, &over) || over.Limit != limit {
				t.Errorf("%s %s: %v, want %s", lang, src, err, limit)
			}
		}
	}
	b := expr.NewBudget()
	b.Depth = 0
	if _, err := compileIn(t, Lang, `.`).Eval(expr.Null, &b); err == nil {
		t.Error("there is no depth left")
	}
}

// Only what an expression can look at is converted for the interpreter.
func TestOnlyWhatIsNeededIsConverted(t *testing.T) {
	large := expr.Array(slices.Repeat([]expr.Value{expr.Int(1)}, 100_000)...)
	scope := expr.Scope{
		Data: expr.Object(expr.Member{Key: "large", Value: large}, expr.Member{Key: "list", Value: parseJSON(t, `[1,2,{"x":3}]`)}),
		Vars: &vars{values: map[string]expr.Value{"context": expr.Object(expr.Member{Key: "large", Value: large}, expr.Member{Key: "n", Value: expr.Int(7)})}},
	}
	for src, cheap := range map[string]bool{
		`.list | map(.)`:                                         true,
		`.list | map(. as $i | $context.n)`:                      true,
		`[.list[] | objects | .x + $context["n"]]`:               true,
		`. as $all | [$all.list[]] | length`:                     true,
		`{list, n: $context.n} | [.list[]] | length`:             true,
		`if .large and $context.large then [.list[]] else 1 end`: true,
		`[.list[]] | map(type)`:                                  true,
		`{list, t: (.large | type)} | map_values(.)`:             true,
		`keys`:                                false,
		`. as $all | $all | keys`:             false,
		`$context | keys`:                     false,
		`.list as [$x] | .. | select(. == 3)`: false,
		`.["lar" + "ge"] | first(.[])`:        false,
		`def f: .list; [f | .[]]`:             false,
		`.list[0] = 1 | .list`:                false,
		`[.large[] | select(. > 5)]`:          false,
	} {
		b := expr.NewBudget()
		if _, err := compileIn(t, Lang, src).EvalIn(scope, &b); err != nil {
			if limit := (*expr.LimitError)(nil); !errors.As(err, &limit) {
				t.Errorf("%s: %v", src, err)
			}
		}
		if spent := b.Spent(expr.MaxSteps); spent < 10_000 != cheap {
			t.Errorf("%s takes %d steps", src, spent)
		}
	}
}

// Many goroutines evaluate one expression, each with its own data and budget, and what is kept for
// the next evaluation refers to neither.
func TestConcurrentEvaluations(t *testing.T) {
	e, err := Compiler{lang: Lang}.expression(`[.[] | . * $x] | add`)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	const workers = 24
	for w := range workers {
		go func() {
			var failed error
			for n := range 50 {
				scope := expr.Scope{Data: expr.Array(expr.Int(int64(w)), expr.Int(int64(n))), Vars: &vars{values: map[string]expr.Value{"x": expr.Int(3)}}}
				b := expr.NewBudget()
				r, err := e.EvalIn(scope, &b)
				if want := expr.Int(int64(3 * (w + n))); err != nil || !expr.Equal(r.Value, want) {
					failed = fmt.Errorf("%v, %v, want %v", r.Value, err, want)
				}
			}
			done <- failed
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	kept := 0
	for i := range e.machines {
		if c := e.machines[i].Peek(); c != nil {
			kept++
			if m := c.Value; m.budget != nil || m.meter.run != nil || m.clock != nil {
				t.Error("a machine refers to the evaluation that it served")
			}
		}
	}
	if kept == 0 {
		t.Error("no machine is kept")
	}
}

// A template without expressions costs nothing.
func TestConstantTemplate(t *testing.T) {
	var b expr.Budget
	r, err := compileIn(t, TemplateLang, `{"a":["x",1]}`).Eval(expr.Null, &b)
	if err != nil || r.Value.String() != `{"a":["x",1]}` {
		t.Errorf("%v, %v", r, err)
	}
}

// TestWeightIsTheMemory: what the interpreter needs for an expression takes no more than its
// weight, and not much less.
func TestWeightIsTheMemory(t *testing.T) {
	for _, src := range []string{
		`[.a[] | select(.x > 3)]`, `map(. + 1)`, `.a |= . + 1`, `to_entries | map(.value) | add`, `[.. | strings] | join("-")`,
		`"x" | gsub("(?<l>[a-z])"; "\(.l)\(.l)")`, `[` + strings.Repeat(`(.a[] | . * 2), `, 200) + `1]`, `reduce .[] as $x (0; . + $x)`,
		strings.Repeat(`map(.x) | `, 200) + `.`, `{` + strings.Repeat(`"\(.a)": (.b | map(.)), `, 100) + `z: 1}`, strings.Repeat(`1 as $a | `, 300) + `[.[]]`,
		strings.Repeat(`.a |= . + 1 | `, 100) + `.`, strings.Repeat(`.a[] += 1 | del(.b[0]) | `, 50) + `.`, strings.Repeat(`def f: .a; `, 300) + `f`, strings.Repeat(`try .a catch . | `, 200) + `.`,
		`[` + strings.Repeat(`-.a, `, 500) + `1]`, strings.Repeat(`if .a then .b end | `, 200) + `map(.)`, strings.Repeat(`.[.a] | `, 300) + `.`, strings.Repeat(`.a[1:2] | `, 300) + `.`,
	} {
		c, err := check(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		c.machine() // so that the natives are there
		const n = 50
		machines := make([]*machine, n)
		before := live()
		for i := range machines {
			machines[i], _ = c.machine()
		}
		took := (live() - before) / n
		runtime.KeepAlive(machines)
		if took > c.weight || took < c.weight/10 {
			t.Errorf("%.40s takes %d bytes, its weight is %d", src, took, c.weight)
		}
	}
}

func TestInspect(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`.a`, ``},
		{`$input.x + $context.y.z`, `input[0] x; context[11] y`},
		{`$secrets.KEY`, `secrets[0] KEY`},
		{`$secrets["KEY"] + $secrets.OTHER`, `secrets[0 18] KEY OTHER`},
		{`$secrets[.name]`, `secrets[0] whole computed`},
		{`$secrets["\(.name)"]`, `secrets[0] whole computed`},
		{`$secrets | keys`, `secrets[0] whole`},
		{`$secrets`, `secrets[0] whole`},
		{`{$secrets}`, `secrets[1] whole`},
		{`$workflow.definition.document.name`, `workflow[0] definition`},
		{`$workflow | .id, .startedAt`, `workflow[0] id startedAt`},
		{`$workflow | .input.x`, `workflow[0] input`},
		{`$workflow as $w | [$w.id, $w.input]`, `workflow[0] id input`},
		{`$workflow as $w | $w`, `workflow[0] whole`},
		{`$task | if .name then 1 else 2 end`, `task[0] name`},
		{`[$task[]]`, `task[1] whole`},
		{`$task[0]`, `task[0] whole`},
		{`"$input \($item.n) $x"`, `item[10] n`},
		{`. as $x | $x`, ``},
		{`. as [$x] | def f($y): $x + $y + $z; f(1)`, `z[33] whole`},
		{`reduce .[] as $x ($start; . + $x)`, `start[18] whole`},
		{`# $no` + "\n" + `$yes`, `yes[6] whole`},
		{`label $out | $in, break $out`, `in[13] whole`},
		{`. as {a: $x} ?// [$y] | [$x, $y, $z]`, `z[33] whole`},
		{`$task.output? // $task.input`, `task[0 17] input output`},
		{`.x | @json "\($a.b)"`, `a[14] b`},
		{`{"a": {b: $v.w}, ($k): 1}`, `v[10] w; k[18] whole`},
		{`now + $runtime.version`, `runtime[6] version`},
	} {
		in, err := Inspect(c.src)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		var list []string
		for _, u := range in.Uses {
			text := fmt.Sprint(u.Name, u.Offsets)
			for _, m := range u.Members {
				text += " " + m
			}
			if u.Whole {
				text += " whole"
			}
			if u.Computed {
				text += " computed"
			}
			list = append(list, text)
		}
		if got := strings.Join(list, "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.src, got, c.want)
		}
	}
	_, err := Inspect(`.a | nosuch`)
	if at := (*expr.SyntaxError)(nil); !errors.As(err, &at) || at.Offset != 5 {
		t.Errorf("%v", err)
	}
	if in, _ := Inspect(`$a.b`); len(in.Uses) != 1 {
		t.Errorf("%v", in)
	} else if u, ok := in.Of("a"); !ok || u.Whole {
		t.Errorf("%v", u)
	} else if _, ok := in.Of("b"); ok {
		t.Error("$b is not used")
	}
}

func TestEmbedded(t *testing.T) {
	for _, c := range []struct {
		text, src string
		offset    int
		ok        bool
	}{
		{`${ .a }`, ` .a `, 2, true},
		{"  ${.a}\n", `.a`, 4, true},
		{`${}`, ``, 2, true},
		{`${`, ``, 0, false},
		{`x ${ .a }`, ``, 0, false},
		{`${ .a } x`, ``, 0, false},
		{`.a`, ``, 0, false},
		{`${ {a: 1} }`, ` {a: 1} `, 2, true},
		{``, ``, 0, false},
	} {
		src, offset, ok := Embedded(c.text)
		if src != c.src || offset != c.offset || ok != c.ok {
			t.Errorf("%q: %q, %d, %v", c.text, src, offset, ok)
		}
	}
}
