package sw10

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// FuzzAnalyse: no document makes the front-end panic, every diagnostic has a place, and a
// definition without errors is complete.
func FuzzAnalyse(f *testing.F) {
	for _, e := range Codes() {
		f.Add(complete(e.Bad))
		f.Add(complete(e.Good))
	}
	for _, s := range samples(f) {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, source string) {
		doc, _ := dialect.Read("fuzz.yaml", []byte(source))
		if doc.Root == nil {
			return
		}
		FrontEnd{}.Detect(doc.Root)
		d, r := analyse(dialect.Source{Document: doc, Bundle: exampleFiles})
		for _, one := range r.Diagnostics() {
			if one.Line < 1 || one.Column < 1 || one.Code == "" || one.Message == "" {
				t.Errorf("no place or text: %+v", one)
			}
		}
		if !r.HasErrors() {
			wholeModel(t, d)
		}
	})
}
