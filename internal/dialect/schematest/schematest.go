// Package schematest is what the tests of the front-ends' JSON Schemas share: an editor that has
// nothing but the schema, and trees with one value exchanged.
package schematest

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// Editor is what an editor makes of definitions: it has nothing but the schema.
type Editor struct{ program expr.Program }

// NewEditor makes an editor with the schema of a front-end.
func NewEditor(t testing.TB, schema []byte) Editor {
	t.Helper()
	program, err := jsonschema.Compiler{}.Compile(string(schema))
	if err != nil {
		t.Fatal(err)
	}
	return Editor{program}
}

// Violations returns what the schema finds wrong.
func (e Editor) Violations(t testing.TB, root *dialect.Node) []expr.Value {
	t.Helper()
	budget := expr.NewBudget()
	result, err := e.program.Eval(root.Value(), &budget)
	if err != nil {
		t.Fatal(err)
	}
	return result.Value.Items()
}

// RejectsOnly checks which codes have a bad example that the editor marks, with the schema alone;
// other errors need the whole definition, or a grammar. complete makes a definition of an example.
func (e Editor) RejectsOnly(t testing.TB, codes []dialect.Explanation, complete func(string) string, want []string) {
	t.Helper()
	var rejected []string
	for _, x := range codes {
		doc, _ := dialect.Read("bad.yaml", []byte(complete(x.Bad)))
		if len(e.Violations(t, doc.Root)) > 0 {
			rejected = append(rejected, x.Code)
		}
	}
	if !slices.Equal(rejected, want) {
		t.Errorf("rejected %v\nwant     %v", rejected, want)
	}
}

// Count is how many values a tree has.
func Count(v expr.Value) int {
	n := 1
	for _, item := range v.Items() {
		n += Count(item)
	}
	for _, m := range v.Members() {
		n += Count(m.Value)
	}
	return n
}

// Replaced returns a tree with its at-th value replaced, counted as Count does.
func Replaced(v expr.Value, at int, by expr.Value) expr.Value { return replaced(v, &at, by) }

func replaced(v expr.Value, at *int, by expr.Value) expr.Value {
	if *at--; *at == -1 {
		return by
	}
	switch {
	case v.IsArray():
		var items []expr.Value
		for _, item := range v.Items() {
			items = append(items, replaced(item, at, by))
		}
		return expr.Array(items...)
	case v.IsObject():
		var members []expr.Member
		for _, m := range v.Members() {
			members = append(members, expr.Member{Key: m.Key, Value: replaced(m.Value, at, by)})
		}
		return expr.Object(members...)
	}
	return v
}

// Described checks that every property of a schema says what it is for.
func Described(t testing.TB, schema []byte) {
	t.Helper()
	doc, _ := dialect.Read("schema.json", schema)
	var visit func(n *dialect.Node, path string)
	visit = func(n *dialect.Node, path string) {
		switch n.Name() {
		case "if", "then", "else", "oneOf", "anyOf", "not", "examples":
			if !n.Is(expr.KindObject) || n.Get("title") == nil {
				return
			}
		}
		if n.Name() == "properties" && n.Is(expr.KindObject) {
			for _, p := range n.Members {
				d := p
				if ref, ok := p.Get("$ref").Str(); ok {
					d = doc.Root.Lookup("definitions", strings.TrimPrefix(ref, "#/definitions/"))
				}
				if p.Is(expr.KindObject) && (d.Get("title").Literal() == "" || d.Get("description").Literal() == "") {
					t.Errorf("%s/%s has no title or description", path, p.Name())
				}
			}
		}
		for _, m := range n.Members {
			visit(m, path+"/"+m.Name())
		}
		for _, item := range n.Items {
			visit(item, path)
		}
	}
	visit(doc.Root, "")
}
