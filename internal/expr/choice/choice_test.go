package choice

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

func value(t testing.TB, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func holds(t testing.TB, c Condition, data string) bool {
	t.Helper()
	program, err := Compiler{}.Compile(Source(c))
	if err != nil {
		t.Fatal(err)
	}
	b := expr.NewBudget()
	r, err := program.Eval(value(t, data), &b)
	if err != nil {
		t.Fatal(err)
	}
	if r.Missing || r.Value.Kind() != expr.KindBool {
		t.Fatalf("%+v is no boolean", r)
	}
	return r.Value.Bool()
}

// Each row: what the data has, the value, and which comparisons hold, of
// = < ≤ > ≥ as values, and the same as text.
func TestComparisons(t *testing.T) {
	all := []string{
		Equal, Less, LessOrEqual, Greater, GreaterOrEqual,
		TextEqual, TextLess, TextLessOrEqual, TextGreater, TextGreaterOrEqual,
	}
	for _, c := range []struct{ data, value, want string }{
		{`5`, `"5"`, "=.≤.≥ =.≤.≥"},
		{`5`, `5`, "=.≤.≥ =.≤.≥"},
		{`5.0`, `"5"`, "=.≤.≥ ...>≥"},
		{`10`, `"9"`, "...>≥ .<≤.."},
		{`"10"`, `"9"`, "...>≥ .<≤.."},
		{`"abc"`, `"9"`, "..... ...>≥"},
		{`"b"`, `"a"`, "...>≥ ...>≥"},
		{`"a"`, `"a"`, "=.≤.≥ =.≤.≥"},
		{`"a"`, `"A"`, "...>≥ ...>≥"},
		{`7`, `"a"`, "..... .<≤.."},
		{`true`, `"true"`, "=.... =.≤.≥"},
		{`true`, `true`, "=.... =.≤.≥"},
		{`false`, `"true"`, "..... .<≤.."},
		{`"true"`, `true`, "..... =.≤.≥"},
		{`"true"`, `"true"`, "=.≤.≥ =.≤.≥"},
		{`null`, `"null"`, "=.... ....."},
		{`null`, `"1"`, "..... ....."},
		{`[5]`, `"5"`, "..... ....."},
		{`{"a":5}`, `"a"`, "..... ....."},
		{`12345678901234567890`, `"12345678901234567891"`, ".<≤.. .<≤.."},
		{`1e2`, `" 100 "`, "=.≤.≥ ...>≥"},
	} {
		var got strings.Builder
		for i, op := range all {
			if i == 5 {
				got.WriteByte(' ')
			}
			mark := "."
			if holds(t, Condition{Op: op, Path: "$.x", Value: value(t, c.value)}, `{"x":`+c.data+`}`) {
				mark = Sign(op)
			}
			got.WriteString(mark)
		}
		if got.String() != c.want {
			t.Errorf("%s with %s: %q, want %q", c.data, c.value, got.String(), c.want)
		}
	}
}

func TestExistsAndMissing(t *testing.T) {
	for _, c := range []struct {
		path, value string
		want        bool
	}{
		{"$.a", `"true"`, true},
		{"$.a", `null`, true},
		{"$.a", `"False"`, false},
		{"$.a", `false`, false},
		{"$.null", `"true"`, true},
		{"$.no", `"true"`, false},
		{"$.no", `" false "`, true},
		{"$.list[*]", `"true"`, true},
		{"$.empty[*]", `"true"`, false},
	} {
		if got := holds(t, Condition{Op: Exists, Path: c.path, Value: value(t, c.value)}, `{"a":1,"null":null,"list":[1],"empty":[]}`); got != c.want {
			t.Errorf("%s exists %s: %t", c.path, c.value, got)
		}
	}
	for _, op := range []string{Equal, Less, LessOrEqual, Greater, GreaterOrEqual, TextEqual, TextLess, IsObject} {
		if holds(t, Condition{Op: op, Path: "$.no.deeper", Value: expr.String("")}, `{}`) {
			t.Errorf("%s holds of what is missing", op)
		}
	}
	if !holds(t, Condition{Op: IsObject, Path: "$.o"}, `{"o":{}}`) || holds(t, Condition{Op: IsObject, Path: "$.o"}, `{"o":[]}`) {
		t.Error("is it an object?")
	}
}

func TestJoins(t *testing.T) {
	is := func(path string) Condition { return Condition{Op: Equal, Path: path, Value: expr.String("1")} }
	a, b := is("$.a"), is("$.b")
	not := func(c Condition) Condition { return Condition{Op: Not, Items: []Condition{c}} }
	and := func(list ...Condition) Condition { return Condition{Op: And, Items: list} }
	or := func(list ...Condition) Condition { return Condition{Op: Or, Items: list} }
	for _, c := range []struct {
		name string
		when Condition
		want [4]bool // neither, a, b, both
	}{
		{"and", and(a, b), [4]bool{false, false, false, true}},
		{"or", or(a, b), [4]bool{false, true, true, true}},
		{"not", not(a), [4]bool{true, false, true, false}},
		{"not all", not(and(a, b)), [4]bool{true, true, true, false}},
		{"nested", or(and(a, not(b)), and(b, not(a))), [4]bool{false, true, true, false}},
		{"nothing is all", and(), [4]bool{true, true, true, true}},
		{"nothing is none", or(), [4]bool{}},
	} {
		for i, data := range []string{`{}`, `{"a":1}`, `{"b":1}`, `{"a":1,"b":1}`} {
			if got := holds(t, c.when, data); got != c.want[i] {
				t.Errorf("%s of %s: %t", c.name, data, got)
			}
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, src := range []string{
		``, `[]`, `{}`, `5`, `{"op":"eq"}`, `{"op":"like","path":"$.a"}`, `{"op":"eq","path":"$["}`, `{"not":[]}`, `{"and":[{"op":"no"}]}`,
		strings.Repeat(`{"not":[`, 200) + strings.Repeat(`]}`, 200),
	} {
		if _, err := (Compiler{}).Compile(src); err == nil {
			t.Errorf("%.40s compiles", src)
		}
	}
}

// An evaluation that asks for too much ends with the limit's name.
func TestBudget(t *testing.T) {
	program, err := Compiler{}.Compile(Source(Condition{Op: Exists, Path: "$..*..*"}))
	if err != nil {
		t.Fatal(err)
	}
	b := expr.Budget{Steps: 10, Depth: 10, Output: 10}
	var limit *expr.LimitError
	if _, err := program.Eval(value(t, `{"a":{"b":{"c":{"d":[1,2,3,4,5,6,7,8,9]}}}}`), &b); !errors.As(err, &limit) {
		t.Errorf("no limit: %v", err)
	}
}

// FuzzCompile: no text makes the compiler or a program panic.
func FuzzCompile(f *testing.F) {
	f.Add(`{"op":"eq","path":"$.a","value":"1"}`, `{"a":1}`)
	f.Add(`{"and":[{"not":[{"op":"exists","path":"$.a"}]},{"op":"text-lt","path":"$..b","value":null}]}`, `{"b":[1]}`)
	f.Fuzz(func(t *testing.T, src, data string) {
		program, err := Compiler{}.Compile(src)
		if err != nil {
			return
		}
		v, err := expr.ParseJSON([]byte(data))
		if err != nil {
			return
		}
		b := expr.NewBudget()
		if r, err := program.Eval(v, &b); err == nil && r.Value.Kind() != expr.KindBool {
			t.Errorf("%s gives %s", src, r.Value)
		}
	})
}

// TestSomeMatchesAndHolds: of several values one is enough where it says so; a regular expression is for the whole
// text; a path by itself holds as a condition of 0.5 does.
func TestSomeMatchesAndHolds(t *testing.T) {
	some := Condition{Op: Equal, Path: "$.a[*]", Value: expr.Int(2), Some: true}
	all := some
	all.Some = false
	word := Condition{Op: Matches, Path: "$.w", Value: expr.String("[a-z]+")}
	path := Condition{Op: Holds, Path: "$.p"}
	for _, c := range []struct {
		condition Condition
		data      string
		want      bool
	}{
		{some, `{"a":[1,2]}`, true},
		{some, `{"a":[1]}`, false},
		{some, `{"a":[]}`, false},
		{all, `{"a":[1,2]}`, false},
		{word, `{"w":"abc"}`, true},
		{word, `{"w":"abc1"}`, false},
		{word, `{"w":["abc"]}`, false},
		{word, `{}`, false},
		{path, `{"p":0}`, true},
		{path, `{"p":false}`, false},
		{path, `{"p":[]}`, false},
		{path, `{}`, false},
	} {
		if got := holds(t, c.condition, c.data); got != c.want {
			t.Errorf("%s of %s is %t", Source(c.condition), c.data, got)
		}
	}
	if _, err := (Compiler{}).Compile(Source(Condition{Op: Matches, Path: "$.w", Value: expr.String("[")})); err == nil {
		t.Error("a broken regular expression compiles")
	}
}
