package jsonpath

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// seed adds the sources of every table.
func seed(f *testing.F, add func(src, data string)) {
	for _, name := range []string{"paths.txt", "filters.txt", "functions.txt", "errors.txt"} {
		for _, l := range readTable(f, name) {
			add(l.src, l.data)
		}
	}
}

// checkError checks that an error of Compile points into the source.
func checkError(t *testing.T, src string, err error) {
	var se *expr.SyntaxError
	if !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(src) || se.Msg == "" {
		t.Fatalf("%q: error %#v", src, err)
	}
}

func FuzzCompile(f *testing.F) {
	seed(f, func(src, _ string) { f.Add(src) })
	f.Fuzz(func(t *testing.T, src string) {
		p, err := Compiler{}.Compile(src)
		shape, derr := Describe(src)
		if !reflect.DeepEqual(err, derr) {
			t.Fatalf("%q: Compile says %v, Describe %v", src, err, derr)
		}
		if err != nil {
			checkError(t, src, err)
			return
		}
		b := expr.Budget{Steps: 10_000, Depth: expr.MaxNested, Output: 1 << 20}
		r, err := p.Eval(expr.EmptyObject, &b)
		if err == nil && r.List == shape.Definite {
			t.Fatalf("%q: list %t, definite %t", src, r.List, shape.Definite)
		}
	})
}

// evalTwice checks that an evaluation keeps its promises, twice in the same way.
func evalTwice(t *testing.T, c expr.Compiler, src string, data expr.Value) {
	var results [2]expr.Result
	var failures [2]error
	var budgets [2]expr.Budget
	before := data.String()
	for i := range results {
		p, err := c.Compile(src)
		if err != nil {
			checkError(t, src, err)
			return
		}
		budgets[i] = expr.Budget{Steps: 10_000, Depth: expr.MaxNested, Output: 1 << 20}
		results[i], failures[i] = p.Eval(data, &budgets[i])
	}
	r := results[0]
	var limit *expr.LimitError
	switch {
	case !reflect.DeepEqual(failures[0], failures[1]) || budgets[0] != budgets[1]:
		t.Fatalf("%q: %v then %v, %v then %v", src, failures[0], failures[1], budgets[0], budgets[1])
	case failures[0] != nil:
		if !errors.As(failures[0], &limit) {
			t.Fatalf("%q: %v", src, failures[0])
		}
		return
	case r.Value.String() != results[1].Value.String() || r.Missing != results[1].Missing || !reflect.DeepEqual(r.Holes, results[1].Holes):
		t.Fatalf("%q: %v then %v", src, r, results[1])
	case budgets[0].Depth != expr.MaxNested:
		t.Fatalf("%q: %d levels were not left", src, expr.MaxNested-budgets[0].Depth)
	case r.List && (!r.Value.IsArray() || r.Missing != (r.Value.Len() == 0)):
		t.Fatalf("%q: the list is %s, missing %t", src, r.Value, r.Missing)
	case !r.List && r.Missing && !r.Value.IsNull():
		t.Fatalf("%q: missing, but %s", src, r.Value)
	case data.String() != before:
		t.Fatalf("%q changed the data", src)
	}
	// What it gives is an ordinary value.
	if again, _, err := expr.DecodeBinary(r.Value.AppendBinary(nil)); err != nil || !expr.Equal(again, r.Value) {
		t.Fatalf("%q: %s does not survive being stored: %v", src, r.Value, err)
	}
}

func FuzzEval(f *testing.F) {
	seed(f, func(src, data string) { f.Add(src, data) })
	f.Add("$..*..*..*", "[[[[[[1]]]]]]")
	f.Add("$[?(@ =~ /(?<=(a+)+)\\1b/)]", `["aaaaaaab"]`)
	f.Fuzz(func(t *testing.T, src, text string) {
		data, err := expr.ParseJSON([]byte(text))
		if err != nil {
			return
		}
		evalTwice(t, Compiler{}, src, data)
	})
}

func FuzzTemplate(f *testing.F) {
	for _, l := range readTable(f, "templates.txt") {
		f.Add(l.src, l.data)
	}
	f.Fuzz(func(t *testing.T, src, text string) {
		data, err := expr.ParseJSON([]byte(text))
		if err != nil {
			return
		}
		evalTwice(t, TemplateCompiler{}, src, data)
		// Any text is a string of a template too.
		quoted := expr.String(src)
		_, err = TemplateCompiler{}.Compile(quoted.String())
		valid := strings.ToValidUTF8(src, "\ufffd") == src
		if check := CheckTemplateString(src); valid && (err == nil) != (check == nil) {
			t.Fatalf("%q: Compile says %v, CheckTemplateString %v", src, err, check)
		} else if check != nil {
			checkError(t, src, check)
			if !HasExpression(src) {
				t.Fatalf("%q: %v, without an expression", src, check)
			}
		}
	})
}
