package scenario

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/ir"
)

// Definition is a compiled definition and the file it stands in.
type Definition struct {
	File    string
	Program *ir.Program
}

// Place is where in the definitions a fault arose. Both are zero where that is not
// known.
type Place struct {
	State dialect.Pos // of the state
	Exact dialect.Pos // of the action or expression in it
}

// Locate finds where a fault of an instance arose. A fault that a child handed up
// stands in the child's file.
func Locate(definitions []Definition, definition string, f *core.Fault) Place {
	for _, own := range []bool{true, false} {
		for _, d := range definitions {
			if (d.Program.ID == definition) != own {
				continue
			}
			for _, s := range d.Program.States {
				if s.Name == f.Node {
					at := func(p ir.Pos) dialect.Pos { return dialect.Pos{File: d.File, Line: p.Line, Column: p.Column} }
					p := Place{State: at(s.Pos), Exact: at(s.Pos)}
					if f.Pos.Line > 0 {
						p.Exact = at(f.Pos)
					}
					return p
				}
			}
		}
	}
	return Place{}
}

// String tells where the state stands, and where in it the fault arose.
func (p Place) String() string {
	switch {
	case p.State.Line == 0:
		return ""
	case p.Exact == p.State:
		return p.State.String()
	}
	return fmt.Sprintf("%s (there at line %d, column %d)", p.State, p.Exact.Line, p.Exact.Column)
}
