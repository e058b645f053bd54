package wfx

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// FuzzCompile: no document makes the front-end panic; a program comes exactly where
// there is no error, and then it checks, encodes, and is what the API shows.
func FuzzCompile(f *testing.F) {
	for _, s := range workflows(f) {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, source string) {
		doc, read := dialect.Read("fuzz.yaml", []byte(source))
		if doc.Root == nil {
			return
		}
		FrontEnd{}.Detect(doc.Root)
		p, found := FrontEnd{}.Compile(dialect.Source{Document: doc})
		if (p == nil) != found.HasErrors() {
			t.Fatalf("program %t, errors %t: %v", p != nil, found.HasErrors(), found)
		}
		for _, d := range found {
			if d.Line < 1 || d.Column < 1 || d.Code == "" || d.Message == "" {
				t.Errorf("no place or text: %+v", d)
			}
		}
		if p == nil || read.HasErrors() {
			return
		}
		roundTrip(t, p)
		w, _ := ParseDocument(doc)
		again, found := Parse("again.json", w.AppendJSON(nil))
		if again == nil {
			t.Fatalf("what is shown is refused: %v", found)
		}
	})
}
