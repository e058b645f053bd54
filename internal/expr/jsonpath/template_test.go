package jsonpath

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

func TestTemplates(t *testing.T) {
	for _, l := range readTable(t, "templates.txt") {
		r, err := run(TemplateCompiler{}, l.src, parseJSON(t, l.data))
		got := show(r, err)
		if len(r.Holes) > 0 {
			got += " holes " + strings.Join(r.Holes, ", ")
		}
		if want, ok := strings.CutPrefix(l.want, "error "); ok {
			column, msg, _ := strings.Cut(want, ": ")
			if !strings.HasPrefix(got, "error "+column+":") || !strings.Contains(got, msg) {
				t.Errorf("%s: %s\n got %s\nwant %s", l.at, l.src, got, l.want)
			}
			continue
		}
		if got != l.want {
			t.Errorf("%s: %s\n got %s\nwant %s", l.at, l.src, got, l.want)
		}
	}
}

func TestCheckTemplateString(t *testing.T) {
	for _, c := range []struct {
		s      string
		offset int // -1: fine
	}{
		{"", -1},
		{"no expression", -1},
		{"{{ $.a }} and {{ $.b[?(@.c == 1)] }}", -1},
		{`\{{ not closed`, -1},
		{"x {{ $.a", 2},
		{"x {{ $.a }} {{", 12},
		{"x {{ a }}", 5},
		{"é {{ $.a[?(@.b = 1)] }}", 16},
		{"{{ $.a }} {{ $.b. }}", 16},
	} {
		err := CheckTemplateString(c.s)
		var se *expr.SyntaxError
		switch {
		case c.offset < 0:
			if err != nil {
				t.Errorf("%q: %v", c.s, err)
			}
		case !errors.As(err, &se) || se.Offset != c.offset || se.Hint == "":
			t.Errorf("%q: %#v, want offset %d and a hint", c.s, se, c.offset)
		}
	}
}

func TestHasExpression(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "x": false, "{ {": false, "}}": false, "{{": true, "a {{ $.a }}": true, `\{{ $.a }}`: false, `\{{ {{ $.a }}`: true, `\\{{ $.a }}`: true, `\\\{{`: false,
	} {
		if got := HasExpression(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}

// TestConstantTemplatesCostNothing: no expression, no budget, no copy.
func TestConstantTemplatesCostNothing(t *testing.T) {
	p, err := TemplateCompiler{}.Compile(`{"a":[1,"x",{"b":"\\{{"}],"c":12345678901234567890}`)
	if err != nil {
		t.Fatal(err)
	}
	var none expr.Budget
	first, err := p.Eval(expr.Null, &none)
	if err != nil || first.Value.String() != `{"a":[1,"x",{"b":"{{"}],"c":12345678901234567890}` {
		t.Fatal(first.Value, err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if r, _ := p.Eval(expr.Null, &none); !r.Value.Same(first.Value) {
			t.Fatal("copied")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestConstantPartsAreShared: only what holds expressions is built anew.
func TestConstantPartsAreShared(t *testing.T) {
	p, err := TemplateCompiler{}.Compile(`{"const":{"big":[1,2,3]},"x":"{{ $.a }}"}`)
	if err != nil {
		t.Fatal(err)
	}
	var parts [2]expr.Value
	for i := range parts {
		b := expr.NewBudget()
		r, err := p.Eval(expr.Null, &b)
		if err != nil {
			t.Fatal(err)
		}
		parts[i], _ = r.Value.Get("const")
	}
	if !parts[0].Same(parts[1]) {
		t.Error("copied")
	}
}

// TestEscape: a template of escaped text gives the text.
func TestEscape(t *testing.T) {
	for _, text := range []string{"", "plain", "{{ $.x }}", `\{{`, `\\{{ a }} \{{ b`, "{{{{", `\`, `{ {`, "a{{b"} {
		p, err := TemplateCompiler{}.Compile(expr.String(Escape(text)).String())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		budget := expr.NewBudget()
		if r, err := p.Eval(expr.EmptyObject, &budget); err != nil || r.Value.Str() != text {
			t.Errorf("%q gives %s, %v", text, r.Value, err)
		}
	}
}
