package sw01

import (
	_ "embed" // of schema.json
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// FrontEnd compiles definitions of one form of Serverless Workflow 0.1.
type FrontEnd struct{ form form }

var (
	_ dialect.FrontEnd = FrontEnd{}
	_ dialect.Member   = FrontEnd{}
	_ dialect.Ending   = FrontEnd{}
)

// FrontEnds are the three forms in the order in which they are to be asked.
func FrontEnds() []dialect.FrontEnd {
	return []dialect.FrontEnd{FrontEnd{early}, FrontEnd{kebab}, FrontEnd{camel}}
}

// Name returns "sw01-early", "sw01-kebab" or "sw01-camel".
func (e FrontEnd) Name() string { return e.form.name() }

// Title returns what people call it.
func (e FrontEnd) Title() string { return e.form.title() }

// Family returns "sw01": with --dialect it stands for whichever form it is.
func (FrontEnd) Family() string { return Family }

// Codes explains every code of this dialect. The forms share them.
func (FrontEnd) Codes() []dialect.Explanation { return Codes() }

// Schema returns the JSON Schema of definitions. It describes all forms: every
// spelling is taken in each.
func (FrontEnd) Schema() []byte { return slices.Clone(schemaJSON) }

// Draft-07: editors understand it best. Unknown keys and null pass, as they do
// in Compile; what needs more than one value to decide (references, the flow) is
// left to Compile.
//
//go:embed schema.json
var schemaJSON []byte

// Compile reports everything wrong in one pass. The program is nil when that includes
// an error. Its digest is for the registry to fill in.
func (e FrontEnd) Compile(src dialect.Source) (*ir.Program, dialect.Diagnostics) {
	r := &dialect.Reporter{File: src.Document.File, Budget: src.Budget}
	w := newParser(r, e.form).workflow(src.Document)
	check(r, w, src.Options)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	return compile(w, src.Budget), r.Diagnostics()
}
