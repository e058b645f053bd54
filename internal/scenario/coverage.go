package scenario

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Coverage says which states and transitions of a definition were reached.
type Coverage struct {
	File       string // of the definition
	Definition string // id, with the version where there is one
	Digest     string

	states  []ir.State
	edges   []ir.Edge
	entered map[string]bool
	taken   map[int]bool // indexes of edges
}

// Count is how many of all were reached.
type Count struct{ Reached, All int }

func (c Count) String() string {
	if c.All == 0 {
		return "0/0"
	}
	return fmt.Sprintf("%d/%d (%d%%)", c.Reached, c.All, 100*c.Reached/c.All)
}

func newCoverage(file string, p *ir.Program) Coverage {
	name := p.ID
	if p.Version != "" {
		name += "@" + p.Version
	}
	return Coverage{
		File: file, Definition: name, Digest: p.Digest, states: p.States, edges: p.Edges,
		entered: map[string]bool{}, taken: map[int]bool{},
	}
}

// StateCount counts states.
func (c Coverage) StateCount() Count {
	return Count{len(c.states) - len(c.MissingStates()), len(c.states)}
}

// EdgeCount counts transitions.
func (c Coverage) EdgeCount() Count { return Count{len(c.taken), len(c.edges)} }

// MissingStates names the states that were never entered, in the definition's order.
func (c Coverage) MissingStates() []string {
	var out []string
	for _, s := range c.states {
		if !c.entered[s.Name] {
			out = append(out, s.Name)
		}
	}
	return out
}

// MissingEdges names the transitions that were never taken.
func (c Coverage) MissingEdges() []string {
	var out []string
	for i, e := range c.edges {
		if !c.taken[i] {
			out = append(out, edgeName(e))
		}
	}
	return out
}

func edgeName(e ir.Edge) string {
	to := e.To
	if to == "" {
		to = "(end)"
	}
	name := e.From + " → " + to
	switch {
	case e.Kind == ir.EdgeOffer:
		name += fmt.Sprintf(" (%s)", e.Label)
	case e.Label != "":
		name += fmt.Sprintf(" (%s %s)", e.Kind, e.Label)
	case e.Kind != ir.EdgeNext:
		name += fmt.Sprintf(" (%s)", e.Kind)
	}
	return name
}

// MergeCoverage sums the coverage of all reports by definition.
func MergeCoverage(reports []Report) []Coverage {
	var out []Coverage
	for _, r := range reports {
		for _, c := range r.Coverage {
			i := slices.IndexFunc(out, func(o Coverage) bool { return o.File == c.File && o.Digest == c.Digest })
			if i < 0 {
				i = len(out)
				out = append(out, Coverage{
					File: c.File, Definition: c.Definition, Digest: c.Digest, states: c.states, edges: c.edges,
					entered: map[string]bool{}, taken: map[int]bool{},
				})
			}
			for name := range c.entered {
				out[i].entered[name] = true
			}
			for edge := range c.taken {
				out[i].taken[edge] = true
			}
		}
	}
	return out
}

// add follows the history of one instance. Within a frame, two states entered one
// after the other are a transition; where the first one's fault was caught, it is
// the error's, and what follows the note that a state is compensated is its
// compensation, which may come in between. A state inside of another that its frame leaves
// last ends the list of states there.
func (c Coverage) add(records []core.Record) {
	last := map[core.FrameID]string{} // the state each frame is in
	left := map[core.FrameID]bool{}   // and has done
	var root core.FrameID             // the frame of the first state
	var caught, undone string         // the state whose fault was caught; that is being undone
	var actor string                  // that made the move that leaves a state
	leave := func(from, to string) {
		way := isOrdinary
		switch {
		case from == caught:
			way, caught = isError, ""
		case actor != "":
			way, actor = isOffer(actor), ""
		}
		c.take(from, to, way)
	}
	for _, r := range records {
		switch r.Type {
		case core.RecCaught:
			caught = r.Node
		case core.RecCompensating:
			undone = r.Node
		case core.RecTaken:
			if actor = r.Name; r.Text == r.Node { // news of the same state
				leave(r.Node, r.Node)
			}
		case core.RecEntered:
			c.entered[r.Node] = true
			if from, ok := last[r.Frame]; ok {
				leave(from, r.Node)
			} else if undone != "" {
				c.take(undone, r.Node, isCompensation)
			} else if r.Depth == 0 {
				root = r.Frame // what follows a timeout of the workflow runs around its states
			}
			last[r.Frame], left[r.Frame], undone = r.Node, false, ""
		case core.RecLeft:
			left[r.Frame] = last[r.Frame] == r.Node
		case core.RecFinished:
			if r.Status == core.Completed {
				leave(last[root], "")
			}
		}
	}
	for frame, state := range last {
		if left[frame] && c.inner(state) {
			c.take(state, "", isOrdinary)
		}
	}
}

// inner reports whether a state is inside of another.
func (c Coverage) inner(state string) bool {
	return slices.ContainsFunc(c.states, func(s ir.State) bool { return s.Name == state && s.In != "" })
}

func isCompensation(e ir.Edge) bool { return e.Kind == ir.EdgeCompensate }
func isError(e ir.Edge) bool        { return e.Kind == ir.EdgeError }

func isOrdinary(e ir.Edge) bool {
	return e.Kind != ir.EdgeError && e.Kind != ir.EdgeCompensate && e.Kind != ir.EdgeOffer
}

// isOffer selects the moves of an actor.
func isOffer(actor string) func(ir.Edge) bool {
	return func(e ir.Edge) bool { return e.Kind == ir.EdgeOffer && e.Label == actor }
}

// take marks the edges of a kind between two states. Where two conditions lead to
// the same state, history does not distinguish them, and both count.
func (c Coverage) take(from, to string, kind func(ir.Edge) bool) {
	for i, e := range c.edges {
		if e.From == from && e.To == to && kind(e) {
			c.taken[i] = true
		}
	}
}
