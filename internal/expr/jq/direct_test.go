package jq

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/expr"
)

// drawValue is data in which the paths below find something.
func drawValue(t *rapid.T, depth int) expr.Value {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return expr.Null
	case 1:
		return expr.Bool(rapid.Bool().Draw(t, "bool"))
	case 2, 3:
		v, err := expr.Number(rapid.SampledFrom([]string{
			"0", "1", "2", "-1", "3", "7", "10", "-0", "1.0", "2.0", "1.5", "-2.25", "0.1", "0.2", "1e2", "1e400", "9007199254740991", "9007199254740993",
			"-9007199254740993", "9223372036854775807", "-9223372036854775808", "12345678901234567890", "4503599627370497.5", "1e-7", "123456789.125",
		}).Draw(t, "number"))
		if err != nil {
			t.Fatal(err)
		}
		return v
	case 4, 5:
		return expr.String(rapid.SampledFrom([]string{"", "a", "b", "ab", "é", "\u007f", "\"", "1"}).Draw(t, "text"))
	case 6:
		items := make([]expr.Value, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range items {
			items[i] = drawValue(t, depth-1)
		}
		return expr.Array(items...)
	}
	var members []expr.Member
	for _, key := range []string{"a", "b", "c"} {
		if rapid.IntRange(0, 3).Draw(t, key) > 0 {
			members = append(members, expr.Member{Key: key, Value: drawValue(t, depth-1)})
		}
	}
	return expr.Object(members...)
}

// drawObject is data as workflows have it.
func drawObject(t *rapid.T) expr.Value {
	if rapid.IntRange(0, 7).Draw(t, "odd") == 0 {
		return drawValue(t, 2)
	}
	return expr.Object(
		expr.Member{Key: "a", Value: expr.Object(expr.Member{Key: "a", Value: drawValue(t, 1)}, expr.Member{Key: "b", Value: drawValue(t, 1)})},
		expr.Member{Key: "b", Value: drawValue(t, 1)},
		expr.Member{Key: "c", Value: expr.Array(drawValue(t, 1), drawValue(t, 0))},
	)
}

// drawExpression is one that is evaluated directly.
func drawExpression(t *rapid.T, depth int) string {
	leaves := []string{
		".", ".a", ".b", ".a.b", `.["a"]`, ".c[0]", ".c[-1]", ".a?", ".a[1]?", ".a.b?.c", "$x", "$x.a", "$x.b.a", "$y", "null", "true", "false", "0", "1", "-1", "2.50", "1e3", `"a"`, `"é"`, `""`, "[]", "{}",
		"9007199254740993", "-9223372036854775807", "[1, 2]", "{a: 1}", "not", "length", "type", "tostring", "-0",
	}
	if depth == 0 {
		return rapid.SampledFrom(leaves).Draw(t, "leaf")
	}
	sub := func() string { return drawExpression(t, depth-1) }
	switch rapid.IntRange(0, 12).Draw(t, "form") {
	case 0:
		return fmt.Sprintf("{b: %s, a: %s}", paren(sub()), paren(sub()))
	case 1:
		return fmt.Sprintf(`{a, $x, "c": %s, "b"}`, paren(sub()))
	case 2:
		return fmt.Sprintf("[%s, %s]", paren(sub()), paren(sub()))
	case 3, 4:
		sign := rapid.SampledFrom([]string{"==", "!=", "<", "<=", ">", ">="}).Draw(t, "sign")
		return fmt.Sprintf("%s %s %s", paren(sub()), sign, paren(sub()))
	case 5, 6:
		sign := rapid.SampledFrom([]string{"+", "+", "+", "-", "*", "/", "%"}).Draw(t, "sign")
		return fmt.Sprintf("%s %s %s", paren(sub()), sign, paren(sub()))
	case 7:
		sign := rapid.SampledFrom([]string{"and", "or", "//", "|"}).Draw(t, "sign")
		return fmt.Sprintf("%s %s %s", paren(sub()), sign, paren(sub()))
	case 8:
		return fmt.Sprintf("%s | %s", paren(sub()), rapid.SampledFrom([]string{"not", "length", "type", "tostring", ".a", ".[0]"}).Draw(t, "function"))
	case 9:
		return fmt.Sprintf(`"x\(%s)y"`, sub())
	case 10:
		return fmt.Sprintf("if %s then %s else %s end", sub(), sub(), sub())
	case 11:
		return fmt.Sprintf("if %s then %s elif %s then %s end", sub(), sub(), sub(), sub())
	}
	return rapid.SampledFrom(leaves).Draw(t, "leaf")
}

func paren(s string) string { return "(" + s + ")" }

// TestDirect: what is evaluated directly gives what the interpreter gives.
func TestDirect(t *testing.T) {
	usual, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			src := drawExpression(t, rapid.IntRange(0, 3).Draw(t, "depth"))
			data, x, y := drawObject(t), drawObject(t), drawValue(t, 1)
			e, err := Compiler{lang: Lang}.expression(src)
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			if e.direct == nil {
				t.Fatalf("%s is not evaluated directly", src)
			}
			scope := expr.Scope{Data: data, Vars: &vars{values: map[string]expr.Value{"x": x, "y": y}}}
			values := make([]expr.Value, len(e.vars))
			for i := range e.vars {
				values[i], _ = scope.Vars.Var(e.vars[i].name)
			}
			all++
			b := expr.NewBudget()
			f := frame{values, &b}
			got, err := f.eval(e.direct, data)
			if err == errUnusual {
				continue
			}
			usual++
			if err != nil {
				t.Fatalf("%s of %v: %v", src, data, err)
			}
			b = expr.NewBudget()
			want, err := e.interpret(scope, values, &b)
			if err != nil || !expr.Equal(got, want) {
				t.Fatalf("%s of %v, x %v, y %v: %v, the interpreter: %v, %v", src, data, x, y, got, want, err)
			}
		}
	})
	if usual*3 < all {
		t.Errorf("only %d of %d were evaluated directly", usual, all)
	}
}

// TestDirectForms: what people write most is evaluated directly.
func TestDirectForms(t *testing.T) {
	for src, want := range map[string]bool{
		`.`: true, `.a.b["c"][0]`: true, `$x.a.b`: true, `{a: .b, c: [$x, 1, "t"]}`: true, `.a == "x" and (.b > 3 or (.c | not))`: true, `.a + 1`: true, `.a | length`: true,
		`"a \(.b)"`: true, `.a // 1`: true, `if .a then .b else .c end`: true, `{a, $x}`: true, `.a?`: true, `$x + {a: 1}`: true, `-1`: true, `.a[-1]`: true,
		`.[]`: false, `map(.)`: false, `.a[.b]`: false, `{(.a): 1}`: false, `.a[1:]`: false, `. as $x | $x`: false, `def f: 1; f`: false, `.a, .b`: false, `[.a[]]`: false, `$ENV`: false, `-.a`: false,
	} {
		query, err := parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if got := direct(query, namesOf(look(query).variables())) != nil; got != want {
			t.Errorf("%s is evaluated directly: %v", src, got)
		}
	}
}
