package wfx

import (
	_ "embed" // of schema.json
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Name is how the dialect is called in programs and with --dialect.
const Name = "wfx"

// Version is that of every workflow: they have none of their own, and never change
// once they are loaded.
const Version = "1"

// FrontEnd compiles workflows of wfx.
type FrontEnd struct{}

var _ dialect.FrontEnd = FrontEnd{}

// Name returns "wfx".
func (FrontEnd) Name() string { return Name }

// Title returns what people call it.
func (FrontEnd) Title() string { return "Job workflow (wfx)" }

// Codes explains every code of this dialect.
func (FrontEnd) Codes() []dialect.Explanation { return Codes() }

// Schema returns the JSON Schema of workflows.
func (FrontEnd) Schema() []byte { return slices.Clone(schemaJSON) }

// Draft-07: editors understand it best. Unknown keys pass, and null where a key may be
// left out, as they do in Compile; what needs more than one value to decide (names, the
// graph) is left to Compile.
//
//go:embed schema.json
var schemaJSON []byte

// Compile reports everything wrong in one pass. The program is nil when that includes
// an error. Its digest is for the registry to fill in.
func (FrontEnd) Compile(src dialect.Source) (*ir.Program, dialect.Diagnostics) {
	d, found := parse(src.Document, src.Budget)
	if d == nil {
		return nil, found
	}
	return compile(d), found
}

// Parse reads and checks a workflow in YAML or JSON; file is for the places of what is
// wrong, all of it in one pass. The workflow is nil when that includes an error.
func Parse(file string, text []byte) (*Workflow, dialect.Diagnostics) {
	doc, found := dialect.Read(file, text)
	if doc.Root == nil {
		return nil, found
	}
	w, more := ParseDocument(doc)
	all := slices.Concat(found, more)
	if all.Sort(); all.HasErrors() {
		w = nil
	}
	return w, slices.Compact(all)
}

// ParseDocument is [Parse] for a document that is read already.
func ParseDocument(doc *dialect.Document) (*Workflow, dialect.Diagnostics) {
	d, found := parse(doc, nil)
	if d == nil {
		return nil, found
	}
	return d.model(), found
}

// parse returns nil where there is an error.
func parse(doc *dialect.Document, budget *dialect.Budget) (*document, dialect.Diagnostics) {
	r := &dialect.Reporter{File: doc.File, Budget: budget}
	if !doc.Root.Is(expr.KindObject) {
		r.Errorf(doc.Root, codeNotObject, "a workflow is an object with name, states and transitions")
		return nil, r.Diagnostics()
	}
	p := &parser{r: r}
	d := p.document(doc.Root)
	check(r, &p.Hinter, d)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	return d, r.Diagnostics()
}
