package wfx

import (
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The workflow as it was written, every value with its place. A nil pointer is
// something that is not there, or that was wrong and has been reported.

type document struct {
	node, name, description *dialect.Node
	groups                  []*group
	states                  []*state
	transitions             []*transition

	initial *state // decided by check
}

type state struct {
	node, name, description *dialect.Node
	timeout                 *timeout

	index int
	group *group        // decided by check, as what follows
	out   []*transition // those whose target is known
	in    int           // how many lead here from other states
	moves bool          // an IMMEDIATE transition leaves it at once
}

// timeout is how long a job may be in a state. wfx has no such thing.
type timeout struct {
	node, after, to *dialect.Node
	value           calendar.Duration

	target *state // decided by check
}

type group struct {
	node, name, description *dialect.Node
	members                 []*dialect.Node
}

type transition struct {
	node, from, to, description *dialect.Node
	eligible, action            string // "" where not given, or wrong
	eligibleAt, actionAt        *dialect.Node

	source, target *state // decided by check
}

func (t *transition) immediate() bool { return t.action == Immediate }

// self reports whether it leads to where it begins: such a transition is always there.
func (t *transition) self() bool { return t.source != nil && t.source == t.target }

// waits reports whether an actor takes it.
func (t *transition) waits() bool { return !t.immediate() && !t.self() }

func (s *state) title() string { return s.name.Text }

// final reports whether no transition leads to another state.
func (s *state) final() bool {
	for _, t := range s.out {
		if !t.self() {
			return false
		}
	}
	return true
}

// model returns the workflow without its places.
func (d *document) model() *Workflow {
	w := &Workflow{Name: d.name.Text, Description: d.description.Literal()}
	for _, g := range d.groups {
		out := Group{Name: g.name.Text, Description: g.description.Literal()}
		for _, m := range g.members {
			out.States = append(out.States, m.Text)
		}
		w.Groups = append(w.Groups, out)
	}
	for _, s := range d.states {
		out := State{Name: s.name.Text, Description: s.description.Literal()}
		if s.timeout != nil {
			out.Timeout = &Timeout{After: s.timeout.value, Text: s.timeout.after.Text, To: s.timeout.to.Text}
		}
		w.States = append(w.States, out)
	}
	for _, t := range d.transitions {
		w.Transitions = append(w.Transitions, Transition{
			From: t.from.Text, To: t.to.Text, Eligible: t.eligible, Action: t.action, Description: t.description.Literal(),
		})
	}
	return w
}
