package sw05

import (
	_ "embed" // of schema.json
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Name is how the dialect is called in programs and with --dialect.
const Name = "sw05"

// FrontEnd compiles definitions of Serverless Workflow 0.5, or of a form before it.
type FrontEnd struct{ form form }

var _ dialect.FrontEnd = FrontEnd{}

// FrontEnds are the forms in the order in which they are to be asked.
func FrontEnds() []dialect.FrontEnd {
	return []dialect.FrontEnd{FrontEnd{april}, FrontEnd{summer}, FrontEnd{}}
}

// Name returns "sw05", "sw01-final" or "sw02".
func (e FrontEnd) Name() string { return e.form.name() }

// Title returns what people call it.
func (e FrontEnd) Title() string { return e.form.title() }

// Codes explains every code of this dialect. The forms share them, and 0.5 lists them.
func (e FrontEnd) Codes() []dialect.Explanation {
	if e.form.before05() {
		return nil
	}
	return Codes()
}

// Schema returns the JSON Schema of definitions. That of the forms before 0.5 describes both of them.
func (e FrontEnd) Schema() []byte {
	if e.form.before05() {
		return slices.Clone(schemaBefore05)
	}
	return slices.Clone(schemaJSON)
}

// Draft-07: editors understand it best. Unknown keys and null pass, as they do
// in Compile; what needs more than one value to decide (references, the flow) is
// left to Compile.
var (
	//go:embed schema.json
	schemaJSON []byte
	//go:embed schema_before05.json
	schemaBefore05 []byte
)

// Compile reports everything wrong in one pass, also in what the definition
// refers to. The program is nil when that includes an error. Its digest is for
// the registry to fill in.
func (e FrontEnd) Compile(src dialect.Source) (*ir.Program, dialect.Diagnostics) {
	r := &dialect.Reporter{File: src.Document.File, Budget: src.Budget}
	p := newParser(r, src)
	p.form = e.form
	w := p.workflow(src.Document.Root)
	check(r, w, src.Options)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	return compile(w, src), r.Diagnostics()
}
