package sw05

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// toJSON writes a document as JSON, indented with tabs, in its own order.
func toJSON(n *dialect.Node) string {
	var b strings.Builder
	writeJSON(&b, n, "\n")
	return b.String() + "\n"
}

func writeJSON(b *strings.Builder, n *dialect.Node, indent string) {
	inner := indent + "\t"
	switch n.Kind {
	case expr.KindObject:
		b.WriteString("{")
		for i, m := range n.Members {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(inner + string(expr.AppendQuoted(nil, m.Key.Text)) + ": ")
			writeJSON(b, m, inner)
		}
		b.WriteString(indent + "}")
	case expr.KindArray:
		b.WriteString("[")
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(inner)
			writeJSON(b, item, inner)
		}
		b.WriteString(indent + "]")
	case expr.KindNumber:
		b.WriteString(n.Raw())
	default:
		b.WriteString(n.Value().String())
	}
}

// A definition says the same in JSON as in YAML, and of the same places.
func TestDiagnosticsInJSON(t *testing.T) {
	type example struct{ name, source string }
	var examples []example
	for _, e := range Codes() {
		examples = append(examples, example{e.Code + " bad", complete(e.Bad)}, example{e.Code + " good", complete(e.Good)})
	}
	for _, pattern := range []string{"testdata/compile/*.txtar", "testdata/diagnose/*.txtar"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			for _, f := range readArchive(t, file).files {
				if f.name == "definition.yaml" {
					examples = append(examples, example{filepath.Base(file), f.text})
				}
			}
		}
	}
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			doc, _ := dialect.Read("d.yaml", []byte(e.source))
			if doc.Root == nil {
				t.Fatal("cannot be read")
			}
			other, ds := dialect.Read("d.json", []byte(toJSON(doc.Root)))
			if len(ds) > 0 {
				t.Fatalf("%v\n%s", ds, other.Source)
			}
			_, yaml := FrontEnd{}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
			_, json := FrontEnd{}.Compile(dialect.Source{Document: other, Bundle: exampleFiles})
			want, got := map[string]int{}, map[string]int{}
			for _, d := range yaml {
				want[said(doc, d)]++
			}
			for _, d := range json {
				got[said(other, d)]++
			}
			for s := range want {
				if got[s] != want[s] {
					t.Errorf("YAML says %d times, JSON %d times: %s", want[s], got[s], s)
				}
			}
			for s := range got {
				if want[s] == 0 {
					t.Errorf("only JSON says: %s", s)
				}
			}
		})
	}
}

// atContainers are codes that point at an object or array as a whole.
var atContainers = []string{
	codeNotObject, codeMissing, codeType, codeEmpty, codeNoExit, codeNoStart, codeUnreachable, codeNothing, codeWait, codeDirectInvoke,
	codeAnyEvent, codeCompUnmarked, codeAttribute,
}

var numbered = regexp.MustCompile(`(line |d\.\w+:)\d+(:\d+)?`)

// said is a diagnostic with the text it points at instead of the place.
func said(doc *dialect.Document, d dialect.Diagnostic) string {
	at := ""
	if d.File == doc.File {
		line := []rune(doc.Line(d.Line))
		rest := string(line[min(d.Column-1, len(line)):])
		at = strings.TrimLeft(rest, `"'`)
		at = at[:min(len(at), 3)]
		if i := strings.IndexAny(at, `"':,}] `); i >= 0 {
			at = at[:i]
		}
		if slices.Contains(atContainers, d.Code) {
			at = "" // YAML shows the first key of an object
		}
	}
	return at + " " + numbered.ReplaceAllString(string(d.Severity)+" "+d.Code+" "+d.Message+"; "+d.Hint, "$1")
}
