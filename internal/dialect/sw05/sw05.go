package sw05

import (
	_ "embed" // of schema.json
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Name is how the dialect is called in programs and with --dialect.
const Name = "sw05"

// FrontEnd compiles definitions of Serverless Workflow 0.5.
type FrontEnd struct{}

var _ dialect.FrontEnd = FrontEnd{}

// Name returns "sw05".
func (FrontEnd) Name() string { return Name }

// Title returns what people call it.
func (FrontEnd) Title() string { return "Serverless Workflow 0.5" }

// Codes explains every code of this dialect.
func (FrontEnd) Codes() []dialect.Explanation { return Codes() }

// Schema returns the JSON Schema of definitions.
func (FrontEnd) Schema() []byte { return slices.Clone(schemaJSON) }

// Draft-07: editors understand it best. Unknown keys and null pass, as they do
// in Compile; what needs more than one value to decide (references, the flow) is
// left to Compile.
//
//go:embed schema.json
var schemaJSON []byte

// Compile reports everything wrong in one pass, also in what the definition
// refers to. The program is nil when that includes an error. Its digest is for
// the registry to fill in.
func (FrontEnd) Compile(src dialect.Source) (*ir.Program, dialect.Diagnostics) {
	r := &dialect.Reporter{File: src.Document.File, Budget: src.Budget}
	w := newParser(r, src).workflow(src.Document.Root)
	check(r, w, src.Options)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	return compile(w, src), r.Diagnostics()
}
