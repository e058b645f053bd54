package scenario

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Definition is a compiled definition and its file.
type Definition struct {
	File    string
	Program *ir.Program
}

// Place is where in the definitions a fault arose. Both positions are zero if that is not known.
type Place struct {
	State dialect.Pos // of the state
	Exact dialect.Pos // of the action or expression in it
}

// Hop is one workflow that a fault passed through.
type Hop struct {
	Workflow, State string
	Place           Place
}

// String names the state, the workflow and the position.
func (h Hop) String() string {
	text := fmt.Sprintf("workflow %q", h.Workflow)
	if h.State != "" {
		text = fmt.Sprintf("state %q of %s", h.State, text)
	}
	if at := h.Place.String(); at != "" {
		text += " at " + at
	}
	return text
}

// Trail finds where a fault of an instance arose, and every place that it passed in the workflows
// around it: innermost first, that of the instance last.
func Trail(definitions []Definition, definition string, f *core.Fault) []Hop {
	var out []Hop
	for _, h := range f.Trail {
		out = append(out, Hop{h.Workflow, h.Node, locate(definitions, h)})
	}
	own := core.Hop{Workflow: definition, Node: f.Node, Pos: f.Pos}
	return append(out, Hop{definition, f.Node, locate(definitions, own)})
}

func locate(definitions []Definition, h core.Hop) Place {
	for _, d := range definitions {
		if d.Program.ID != h.Workflow {
			continue
		}
		at := func(p ir.Pos) dialect.Pos { return dialect.Pos{File: d.File, Line: p.Line, Column: p.Column} }
		var out Place
		for _, s := range d.Program.States {
			if s.Name == h.Node {
				out = Place{State: at(s.Pos), Exact: at(s.Pos)}
			}
		}
		if h.Pos.Line > 0 {
			out.Exact = at(h.Pos)
		}
		if out.State.Line == 0 { // a fault of the workflow itself
			out.State = out.Exact
		}
		return out
	}
	return Place{}
}

// String is the position of the state, and where in it the fault arose.
func (p Place) String() string {
	switch {
	case p.State.Line == 0:
		return ""
	case p.Exact == p.State:
		return p.State.String()
	}
	word := "there"
	if p.Exact.Line < p.State.Line { // the cause is above the states, such as a schema
		word = "because of what is"
	}
	return fmt.Sprintf("%s (%s at line %d, column %d)", p.State, word, p.Exact.Line, p.Exact.Column)
}
