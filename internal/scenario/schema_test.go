package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/format"
)

func violations(t *testing.T, schema expr.Program, v expr.Value) []expr.Value {
	t.Helper()
	budget := expr.NewBudget()
	result, err := schema.Eval(v, &budget)
	if err != nil {
		t.Fatal(err)
	}
	return result.Value.Items()
}

func compileSchema(t *testing.T) expr.Program {
	t.Helper()
	schema, err := jsonschema.Compiler{}.Compile(string(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// scenarioFiles are those of the examples and the conformance cases, and some of
// our own.
func scenarioFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{
		"whole_test.yaml": []byte(wholeFile),
		"takes_test.yaml": []byte("workflow: job.yaml\nscenarios:\n- name: moves\n  takes:\n" +
			"  - {at: PT0S, actor: CLIENT, state: PROGRESS, progress: 50, message: working, context: {a: 1}}\n" +
			"  - {actor: WFX, state: DONE, rejected: true}\n  expect: {state: DONE}\n"),
	}
	examples, _ := filepath.Glob("../../examples/*_test.yaml")
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = text
	}
	cases, _ := filepath.Glob("../conformance/*/*.txtar")
	for _, path := range cases {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "scenario.yaml" {
				files[path] = f.Data
			}
		}
	}
	if len(files) < 50 {
		t.Fatalf("only %d files", len(files))
	}
	return files
}

func TestSchemaAcceptsScenarioFiles(t *testing.T) {
	schema := compileSchema(t)
	for path, text := range scenarioFiles(t) {
		f, err := Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range violations(t, schema, f.Document.Root.Value()) {
			t.Errorf("%s: %s", path, v)
		}
	}
}

// With any one value of a file replaced or removed: what Parse accepts is valid.
func TestSchemaAcceptsChangedScenarioFiles(t *testing.T) {
	schema := compileSchema(t)
	odd := []string{`null`, `true`, `0`, `-1`, `1.5`, `""`, `"x"`, `"PT1S"`, `[]`, `{}`, `[null]`, `{"x": 1}`}
	accepted, refused := 0, 0
	for _, name := range []string{"whole_test.yaml", "takes_test.yaml", "../../examples/order_test.yaml", "../../examples/reminder_test.yaml"} {
		doc, _ := dialect.Read(name, scenarioFiles(t)[name])
		for i := range countNodes(doc.Root) {
			for _, other := range append(odd, "") {
				at := i
				text, _ := changed(doc.Root, &at, other)
				f, err := Parse(name, []byte(text))
				found := violations(t, schema, f.Document.Root.Value())
				switch {
				case err == nil && len(found) > 0:
					t.Fatalf("accepted, and yet %v:\n%s", found, text)
				case err == nil:
					accepted++
				case len(found) > 0:
					refused++
				}
			}
		}
	}
	if accepted < 100 || refused < 100 {
		t.Errorf("%d accepted, %d refused by both: the test looks at one side only", accepted, refused)
	}
}

func countNodes(n *dialect.Node) int {
	count := 1
	for _, c := range append(slices.Clone(n.Members), n.Items...) {
		count += countNodes(c)
	}
	return count
}

// changed writes a tree as JSON with its at-th value replaced, or removed where
// other is "".
func changed(n *dialect.Node, at *int, other string) (text string, keep bool) {
	*at--
	if *at == -1 {
		return other, other != ""
	}
	var parts []string
	for _, m := range n.Members {
		if v, keep := changed(m, at, other); keep {
			parts = append(parts, expr.String(m.Name()).String()+":"+v)
		}
	}
	for _, item := range n.Items {
		if v, keep := changed(item, at, other); keep {
			parts = append(parts, v)
		}
	}
	switch n.Kind {
	case expr.KindObject:
		return "{" + strings.Join(parts, ",") + "}", true
	case expr.KindArray:
		return "[" + strings.Join(parts, ",") + "]", true
	}
	return n.Value().String(), true
}

// Every object has the same keys for the schema and for the decoder.
func TestSchemaKnowsTheKeysOfTheDecoder(t *testing.T) {
	order, err := format.OrderOf(Schema())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for path, text := range scenarioFiles(t) {
		doc, _ := dialect.Read(path, text)
		schema := map[*dialect.Node][]string{}
		order.Walk(doc.Root, func(n *dialect.Node, keys []string) { schema[n] = keys })
		d := newDecoder(path)
		d.Visit = func(f *dialect.Fields) {
			got := slices.Sorted(slices.Values(schema[f.Node]))
			if want := slices.Compact(slices.Sorted(slices.Values(f.Keys()))); !slices.Equal(got, want) {
				t.Errorf("%v:\nschema  %v\ndecoder %v", f.Node.Pos(), got, want)
			}
			delete(schema, f.Node)
			kinds[strings.Join(got, " ")] = true
		}
		d.file(&File{}, doc.Root)
		for n, keys := range schema {
			t.Errorf("%v: the schema knows %v, and the decoder never looked", n.Pos(), keys)
		}
	}
	if len(kinds) < 9 {
		t.Errorf("only %d kinds of objects were compared", len(kinds))
	}
}
