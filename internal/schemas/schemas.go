// Package schemas lists the JSON Schemas with which editors check documents: one for each dialect,
// and one for scenario files.
package schemas

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// Schema is the JSON Schema of a kind of documents.
type Schema struct {
	Names []string // the first is the preferred one
	Title string
	Text  func() []byte
}

// All lists the schemas.
func All() []Schema {
	var all []Schema
	for _, f := range dialects.All().FrontEnds() {
		s := Schema{Names: []string{f.Name()}, Title: f.Title(), Text: f.Schema}
		if m, ok := f.(dialect.Member); ok { // the family's name finds its first member
			s.Names = append(s.Names, m.Family())
		}
		for _, word := range strings.Fields(f.Title()) { // also find it by its version
			if word[0] >= '0' && word[0] <= '9' {
				s.Names = append(s.Names, word)
			}
		}
		all = append(all, s)
	}
	return append(all, Schema{[]string{"scenario"}, "scenario files (*_test.yaml)", scenario.Schema})
}

// Served are the schemas that a server offers.
func Served() []server.Schema {
	var out []server.Schema
	for _, s := range All() {
		out = append(out, server.Schema{Names: s.Names, Text: s.Text})
	}
	return out
}
