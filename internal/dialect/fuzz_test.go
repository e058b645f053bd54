package dialect

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

func FuzzRead(f *testing.F) {
	for _, e := range Codes() {
		f.Add("f.yaml", []byte(e.Bad))
		f.Add("f.json", []byte(e.Good))
	}
	for _, s := range []string{
		"a: &x !!str 'b'\r\nk:\r- 1\n- {b: \"\\u00e9\\\n  c\"}\n<<: *x\n", "a: |\n  x\n\n   y\nb: >-\n z\n w\n",
		"{\"a\":[1,2.5e3,\"\\ud83d\\ude00\"],'b':True,}", "\ufeffa: \u2028b\n", "? [a, {b: c}]\n: *d\n--- x\n...\n", "a: {{ $.x }} y",
		"a: one\n  two\n\n  three # c\nb: 'x\n  y''z'\n", "// c\n{a: 0x1F ...}", "%YAML 1.2\n---\na: ! b\n", "&a a: *a\n", "- &a [*a]\n",
	} {
		f.Add("f", []byte(s))
	}
	limits := Limits{Bytes: 4096, Depth: 32, Nodes: 2000, Digits: 50}
	f.Fuzz(func(t *testing.T, file string, src []byte) {
		doc, ds := limits.Read(file, src)
		again, ds2 := limits.Read(file, bytes.Clone(src))
		if !reflect.DeepEqual(ds, ds2) || (doc.Root == nil) != (again.Root == nil) || !expr.Equal(doc.Root.Value(), again.Root.Value()) {
			t.Fatal("two readings differ")
		}
		for _, d := range ds {
			if d.Code == "" || d.Message == "" || d.File != file {
				t.Fatalf("incomplete: %+v", d)
			}
			if len(src) <= limits.Bytes {
				checkPlace(t, doc, d.Span())
			}
			var b strings.Builder
			if err := Render(&b, doc, d); err != nil {
				t.Fatal(err)
			}
		}
		if doc.Root == nil {
			if !ds.HasErrors() {
				t.Fatal("neither a tree nor an error")
			}
			return
		}
		checkTree(t, doc, doc.Root, !ds.HasErrors())
		if doc.Format == JSON && !ds.HasErrors() {
			text := bytes.TrimPrefix(src, bom)
			want, err := expr.ParseJSON(text)
			if !json.Valid(text) || err != nil || !expr.Equal(want, doc.Root.Value()) {
				t.Fatalf("%q is read as %s", src, doc.Root.Value())
			}
		}
		if doc.Format == JSON && json.Valid(bytes.TrimPrefix(src, bom)) {
			for _, d := range ds {
				if d.Code == CodeSyntax && !strings.Contains(d.Message, "half of a character") {
					t.Fatalf("valid JSON is refused: %v", d)
				}
			}
		}
	})
}

// checkPlace demands that a place is inside the document.
func checkPlace(t *testing.T, doc *Document, s Span) {
	t.Helper()
	if s.Line == 0 {
		return
	}
	length := utf8.RuneCountInString(doc.Line(s.Line))
	if s.Line < 1 || s.Line > max(doc.Lines(), 1) || s.Column < 1 || s.Column > length+1 {
		t.Fatalf("%v is outside of the document (%d lines, %d columns)", s, doc.Lines(), length)
	}
	if s.EndColumn != 0 && (s.EndColumn <= s.Column || s.EndColumn > length+1) {
		t.Fatalf("%+v ends outside of its line of %d columns", s, length)
	}
}

// checkTree demands that all places are inside the document and, in a document
// without errors, that every letter of a plain or quoted text is found where
// ColumnIn says it stands.
func checkTree(t *testing.T, doc *Document, n *Node, exact bool) {
	t.Helper()
	checkPlace(t, doc, n.Span())
	checkPlace(t, doc, n.KeySpan())
	if n.Kind == expr.KindString {
		checkText(t, doc, n, exact)
	}
	if n.Key != nil {
		checkText(t, doc, n.Key, exact)
	}
	for _, m := range n.Members {
		if n.Get(m.Name()) != m {
			t.Fatalf("key %q is not found", m.Name())
		}
		checkTree(t, doc, m, exact)
	}
	for _, item := range n.Items {
		checkTree(t, doc, item, exact)
	}
}

func checkText(t *testing.T, doc *Document, n *Node, exact bool) {
	t.Helper()
	for i := range len(n.Text) + 1 {
		checkPlace(t, doc, n.ColumnIn(i).Span())
	}
	raw := n.Raw()
	if !exact || n.style == styleLiteral || n.style == styleFolded {
		return
	}
	for i := range len(n.Text) {
		at := n.sourceOffset(i)
		if c := doc.Source[at]; isAlphanumeric(n.Text[i]) && c != n.Text[i] && c != '\\' {
			t.Fatalf("%q[%d] is said to stand at offset %d of %q", n.Text, i, at, doc.Source)
		}
	}
	if n.style != stylePlain && n.style != styleEmpty && (len(raw) < 2 || raw[0] != raw[len(raw)-1]) {
		t.Fatalf("%q is said to be spelled %q", n.Text, raw)
	}
}
