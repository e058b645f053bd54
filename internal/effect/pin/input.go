package pin

import (
	"context"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// CheckInputs compares the inputs that definitions give other ones, which they start, with the input schemas of those.
// Another version may be deployed when that happens, so what does not fit is a warning.
func CheckInputs(defs []Definition) dialect.Diagnostics {
	type named struct{ id, version string }
	byName, byID := map[named]*ir.Program{}, map[string][]*ir.Program{}
	for _, d := range defs {
		if d.Program != nil {
			byName[named{d.Program.ID, d.Program.Version}] = d.Program
			byID[d.Program.ID] = append(byID[d.Program.ID], d.Program)
		}
	}
	var found dialect.Diagnostics
	for _, d := range defs {
		if d.Program == nil {
			continue
		}
		f := NewFinder(context.Background(), dialect.NoBundle, d)
		for _, n := range d.Program.Nodes {
			op, ok := n.Op.(*ir.Spawn)
			if !ok || op.From == 0 {
				continue
			}
			other := byName[named{op.Workflow, op.Version}]
			if all := byID[op.Workflow]; other == nil && op.Version == "" && len(all) == 1 {
				other = all[0]
			}
			if other != nil {
				f.checkInput(op, other)
			}
		}
		found = append(found, f.Diagnostics()...)
	}
	return found
}

func (f *Finder) checkInput(op *ir.Spawn, other *ir.Program) {
	schema := InputSchema(other)
	if schema == "" {
		return
	}
	p, err := jsonschema.Compiler{}.Compile(schema)
	if err != nil {
		return // that is reported with the other definition
	}
	input := f.written(op.From)
	budget := expr.NewBudget()
	found, err := jsonschema.Certain(p, input.Value, input.Open, &budget)
	if err != nil {
		return
	}
	for _, bad := range found {
		subject := "the input"
		if bad.Pointer != "" {
			subject = "the input at " + strings.ReplaceAll(bad.Pointer[1:], "/", ".")
		}
		f.Warnf(input.Place(bad.Pointer), CodeInput, "%s of workflow %q does not fit its input schema: it %s", subject, op.Workflow, bad.Message)
	}
}

// InputSchema is the text of the JSON Schema of a program's input: the program's own, or the one that its first
// operation checks; "": there is none.
func InputSchema(p *ir.Program) string {
	id := p.InputSchema
	if id == 0 && len(p.Regions) > 0 {
		if first, ok := p.Nodes[p.Regions[0].Entry].Op.(*ir.Eval); ok && !first.CheckResult {
			id = first.Check
		}
	}
	if id == 0 || p.Exprs[id].Lang != jsonschema.Lang {
		return ""
	}
	return p.Exprs[id].Src
}
