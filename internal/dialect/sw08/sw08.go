package sw08

import (
	_ "embed" // of schema.json
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Names of the dialects in programs and with --dialect.
const (
	Family = "sw06-09"
	Name06 = "sw06"
	Name07 = "sw07"
	Name08 = "sw08"
	Name09 = "sw09"
)

// FrontEnds compile the four forms, the one with the strongest marks first.
func FrontEnds() []dialect.FrontEnd {
	return []dialect.FrontEnd{frontEnd{form06}, frontEnd{form09}, frontEnd{form07}, frontEnd{form08}}
}

// frontEnd compiles one form.
type frontEnd struct{ form form }

var (
	_ dialect.FrontEnd = frontEnd{}
	_ dialect.Member   = frontEnd{}
)

// Name returns "sw08" and the like.
func (f frontEnd) Name() string {
	return map[form]string{form06: Name06, form07: Name07, form08: Name08, form09: Name09}[f.form]
}

// Title returns what people call it.
func (f frontEnd) Title() string { return "Serverless Workflow " + f.form.String() }

// Family returns the name that --dialect takes for whichever form a document has.
func (frontEnd) Family() string { return Family }

// Codes explains every code of this dialect.
func (frontEnd) Codes() []dialect.Explanation { return Codes() }

// Schema returns the JSON Schema of definitions.
func (frontEnd) Schema() []byte { return slices.Clone(schemaJSON) }

// Draft-07: editors understand it best. Null passes, as it does in Compile; what
// needs more than one value to decide (references, the flow), and unknown keys, are
// left to Compile.
//
//go:embed schema.json
var schemaJSON []byte

// Compile reports everything wrong in one pass, also in what the definition
// refers to. The program is nil when that includes an error. Its digest is for
// the registry to fill in.
func (f frontEnd) Compile(src dialect.Source) (*ir.Program, dialect.Diagnostics) {
	r := &dialect.Reporter{File: src.Document.File, Budget: src.Budget}
	w := newParser(r, src, f.form).workflow(src.Document.Root)
	check(r, w, src.Options)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	return compile(w, src), r.Diagnostics()
}
