package event

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/expr"
)

// TestValuesMatchToTheLetter: source, type, the id and the values of correlation are compared
// byte by byte: other case, blanks around and composed characters differ.
func TestValuesMatchToTheLetter(t *testing.T) {
	texts := []string{"abc", "ABC", "Abc", "abc ", " abc", "äbc", "a\u0308bc", "", "7", "7.0", "true", "ß", "ss", "K", "\u212a"}
	rapid.Check(t, func(t *rapid.T) {
		have, want := rapid.SampledFrom(texts).Draw(t, "have"), rapid.SampledFrom(texts).Draw(t, "want")
		e := Event{ID: "i" + have, Source: "s" + have, Type: "t" + have, HasData: true}
		e.Put("ext", expr.String(have))
		e.Data = expr.Object(expr.Member{Key: "deep", Value: expr.String(have)})
		for name, f := range map[string]Filter{
			"type":      {Type: "t" + want},
			"source":    {Source: "s" + want},
			"either":    {Either: "t" + want},
			"id":        {Either: "i" + want},
			"attribute": {Keys: []Key{{Name: "ext", Value: want, Fixed: true}}},
			"path":      {Keys: []Key{{Name: "x", From: "$.data.deep", Value: want, Fixed: true}}},
		} {
			if ok, why := f.Match(e); ok != (have == want) {
				t.Errorf("%s: %q matches %q: %t %s", name, have, want, ok, why)
			}
		}
	})
}
