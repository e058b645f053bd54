package wfx

import (
	_ "embed" // of schema.json
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Name is the dialect's name, in programs and for --dialect.
const Name = "wfx"

// Version is the version of every workflow. wfx has no versions: a workflow never changes
// once it is loaded.
const Version = "1"

// FrontEnd compiles workflows of wfx.
type FrontEnd struct{}

var _ dialect.FrontEnd = FrontEnd{}

// Name returns "wfx".
func (FrontEnd) Name() string { return Name }

// Title returns the name that people see.
func (FrontEnd) Title() string { return "Job workflow (wfx)" }

// Codes explains every code of this dialect.
func (FrontEnd) Codes() []dialect.Explanation { return Codes() }

// Schema returns the JSON Schema of workflows.
func (FrontEnd) Schema() []byte { return slices.Clone(schemaJSON) }

// Draft-07 is what editors support best. As in Compile, unknown keys are allowed, and null for
// a key that may be left out. What needs more than one value to decide (names, the graph) is
// left to Compile.
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
	return compile(d, src.Budget), found
}

// Parse reads and checks a workflow in YAML or JSON, and reports everything wrong in one pass.
// file is the name in the diagnostics. The workflow is nil if they include an error.
func Parse(file string, text []byte) (*Workflow, dialect.Diagnostics) {
	doc, found := dialect.Read(file, text)
	if doc.Root == nil {
		return nil, found
	}
	w, more := ParseDocument(doc)
	all := slices.Concat(found, more)
	all.Sort()
	if all.HasErrors() {
		w = nil
	}
	return w, slices.Compact(all)
}

// ParseDocument is [Parse] for a document that was already read.
func ParseDocument(doc *dialect.Document) (*Workflow, dialect.Diagnostics) {
	d, found := parse(doc, nil)
	if d == nil {
		return nil, found
	}
	return d.model(), found
}

// parse returns nil if there is an error.
func parse(doc *dialect.Document, budget *dialect.Budget) (*document, dialect.Diagnostics) {
	r := &dialect.Reporter{File: doc.File, Budget: budget}
	if !doc.Root.Is(expr.KindObject) {
		r.Errorf(doc.Root, codeNotObject, "a workflow is an object with name, states and transitions")
		return nil, r.Diagnostics()
	}
	p := newParser(r)
	d := p.document(doc.Root)
	check(r, &p.Hinter, d)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	return d, r.Diagnostics()
}
