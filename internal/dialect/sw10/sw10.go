package sw10

import (
	_ "embed" // of schema.json
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Name is how the dialect is called in programs and with --dialect.
const Name = "sw10"

// FrontEnd compiles definitions of Open Workflow 1.0.
type FrontEnd struct{}

var _ dialect.FrontEnd = FrontEnd{}

// Name returns "sw10".
func (FrontEnd) Name() string { return Name }

// Title returns what people call it.
func (FrontEnd) Title() string { return "Open Workflow 1.0" }

// Codes explains every code of this dialect.
func (FrontEnd) Codes() []dialect.Explanation { return Codes() }

// Schema returns the JSON Schema of definitions.
func (FrontEnd) Schema() []byte { return slices.Clone(schemaJSON) }

// Draft-07: editors understand it best. What needs more than one value to decide (references,
// the flow, expressions) is left to the parser and the checks.
//
//go:embed schema.json
var schemaJSON []byte

// Detect looks for document.dsl, or a document beside do. Versions that are not supported count,
// too: Compile then says which are.
func (FrontEnd) Detect(root *dialect.Node) (reason string, ok bool) {
	document := root.Get("document")
	if n := document.Get("dsl"); n.Literal() != "" {
		return fmt.Sprintf("document.dsl %s at line %d", n.Literal(), n.Pos().Line), true
	}
	if document.Is(expr.KindObject) && root.Get("do").Is(expr.KindArray) {
		return fmt.Sprintf("document beside do at line %d", document.Key.Pos().Line), true
	}
	return "", false
}

// Compile reports everything wrong in one pass. The program is nil when that includes an error. Its
// digest is for the registry to fill in.
func (FrontEnd) Compile(src dialect.Source) (*ir.Program, dialect.Diagnostics) {
	d, r := analyse(src)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	program := compile(d, r, src)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	return program, r.Diagnostics()
}

// analyse reports everything wrong in one pass. The definition is complete where that includes no
// error.
func analyse(src dialect.Source) (*definition, *dialect.Reporter) {
	r := &dialect.Reporter{File: src.Document.File, Budget: src.Budget}
	p := newParser(r, src)
	p.definition(src.Document.Root)
	check(p, src.Options)
	return p.def, r
}
