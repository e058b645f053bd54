package jsonpath_test

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
)

// What jq makes of a translated path is what the path selects, on all kinds of data.
func TestToJQ(t *testing.T) {
	paths := []string{
		"$", "$.a", "$.a.b", "$['a b']", "$.list[0]", "$.list[-1]", "$[0]", "$['a','b']", "$.a['b','c']", "$['a','b'].c", "$.list[0,2]", "$.list[-1,0]",
		"$.list[1:3]", "$.list[-2:]", "$.list[:-1]", "$.list[:]", "$.list[*]", "$.*", "$..b", "$..list[0]", "$..*", "$.list[*].b",
		"$[?(@.a)]", "$.list[?(@.b)]", "$.list[?(@.b > 1)]", "$.list[?(@.b <= 2 && @.c == 'x')]", "$.list[?(!(@.b == 2) || @.c)]", "$.list[?(@.b != 2)]",
		"$.list[?(@.b in [1, 2])]", "$.list[?(@.b nin [1, 'x'])]", "$.list[?(@.b == $.a)]", "$.list[?(@.b < $.n)]", "$.list[?(@.c size 1)]", "$.list[?(@ > 1)]",
		"$.list[?(@.c empty true)]", "$.list[?(@.c empty false)]", "$.list[?(@.b == null)]", "$.list[?(@['b','c'])]", "$.list[?(@.x[*])]", "$[?(@.n >= 2)]", "$[?(@.n < 'x')]",
		"$.list.length()", "$.list[*].length()", "$.a.keys()", "$.list.first()", "$.list.last()", "$..b.length()", "$[?(true)]", "$[?(false)]",
		"$.list[?(@.b > 1 && (@.c == 'x' || @.c == 'y'))]",
	}
	data := []string{
		`{}`, `[]`, `null`, `3`, `"text"`, `{"a": null}`, `{"a": {"b": 2, "c": [1]}, "a b": 7, "n": 2}`, `{"a": {"b": null}, "n": "w"}`, `{"a": false, "b": ""}`, `{"a": 1, "b": {"c": 3}, "n": 2.0}`,
		`{"list": []}`, `{"list": [1]}`, `{"list": [1, "x", null, {"b": 2}]}`, `{"a": 2, "n": 2, "list": [{"b": 1, "c": "x"}, {"b": 2}, {"b": "2", "c": ""}, {"c": []}, {"b": null, "x": [1]}, {"b": 1.0, "c": "y"}]}`,
		`[{"a": 1}, {"a": false}, {"b": 2}]`, `{"list": {"b": 2, "c": "x"}}`, `{"a": "", "list": "abc"}`, `{"a": [[{"b": 1}], {"b": [{"b": 2}]}]}`,
	}
	langs := languages.All()
	run := func(lang, src string, in expr.Value) (expr.Result, error) {
		g, err := langs[lang].Compile(src)
		if err != nil {
			t.Fatalf("%s %s: %v", lang, src, err)
		}
		b := expr.NewBudget()
		return g.Eval(in, &b)
	}
	for _, src := range paths {
		q, err := jsonpath.ToJQ(src, nil)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		for _, text := range data {
			in, _ := expr.ParseJSON([]byte(text))
			want, err := run(jsonpath.Lang, src, in)
			if err != nil {
				t.Fatal(err)
			}
			list := want.Value
			if !want.List {
				if list = expr.Array(); !want.Missing {
					list = expr.Array(want.Value)
				}
			}
			got, err := run("jq", "["+q.Stream+"]", in)
			if err != nil || !expr.Equal(got.Value, list) {
				t.Errorf("%s on %s gives %s, %s gives %s, %v", src, text, list, q.Stream, got.Value, err)
			}
			holds, err := run("jq", q.Holds, in)
			if err != nil || holds.Value.Bool() != want.True() {
				t.Errorf("%s on %s is %v, %s is %s, %v", src, text, want.True(), q.Holds, holds.Value, err)
			}
		}
	}
}

// The plain forms are what people write.
func TestToJQPlain(t *testing.T) {
	for _, c := range []struct{ path, plain, easy string }{
		{"$", ".", "."},
		{"$.a.b", ".a.b", ".a.b"},
		{"$['a b'][0]", `."a b"[0]`, `."a b"[0]`},
		{"$[0].x", ".[0].x", ".[0].x"},
		{"$['a','b']", "{a, b}", "{a, b}"},
		{"$[?(@.age >= 18)]", "", ".age >= 18"},
		{"$[?(@.a == 'x' && (@.b || !(@.c > 2)))]", "", `.a == "x" and (.b or (.c > 2 | not))`},
		{"$.list[*]", "", ""},
	} {
		q, err := jsonpath.ToJQ(c.path, nil)
		if err != nil || q.Plain != c.plain || q.Easy != c.easy {
			t.Errorf("%s: %q, %q, %v; want %q, %q", c.path, q.Plain, q.Easy, err, c.plain, c.easy)
		}
	}
	q, err := jsonpath.ToJQ("$.order.number", func(name string) (string, bool) { return "$" + name, name == "order" })
	if err != nil || q.Plain != "$order.number" {
		t.Errorf("from a variable: %q, %v", q.Plain, err)
	}
	if _, err := jsonpath.ToJQ("$.list[::2]", nil); err == nil {
		t.Error("a slice with a step is no jq")
	}
}
