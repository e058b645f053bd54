package graph

import (
	"cmp"
	"strings"
)

// Graph is what there is to draw of a definition.
type Graph struct {
	ID, Version, Name string
	Job               bool     // actors advance it
	Groups            []string // of its states, in the order of the definition
	Nodes             []Node   // in the order of the definition
	Edges             []Edge

	stop func() error // see WriteUntil
}

// Node is a state.
type Node struct {
	Name         string
	Label        string // shown instead of Name
	Aside        bool   // it stands beside the flow; those come last
	Alias        bool   // instances know it by other names
	Type         string
	Group        string // of states that it belongs to; jobs only
	Start, End   bool
	Compensation bool
	Notes        []string // what holds for all of it: timeouts, retries
	Parts        []Part   // what it does, in order
	Areas        []Area   // the lists of states inside of it
	Runs         []string // other workflows that it runs: ID, or ID@VERSION
}

// Area is a list of states inside of a state, with ways between them.
type Area struct {
	Kind       AreaKind
	Text, Note string // what it is for, as those of a Part
	Graph      *Graph
}

// AreaKind tells areas apart.
type AreaKind string

// The kinds of areas.
const (
	AreaList     AreaKind = "branch"
	AreaEach     AreaKind = "each"     // once per item
	AreaBranches AreaKind = "branches" // its states run side by side
	AreaCatch    AreaKind = "catch"    // on an error
)

// Part is one thing a state does, or a group of them.
type Part struct {
	Kind  PartKind
	Text  string // in words; may be empty for groups
	Note  string // a limit, such as "2 days at most"
	Last  bool   // the part behind it does not follow it
	Parts []Part
}

// PartKind tells parts apart.
type PartKind string

// The kinds of parts. The last four are groups.
const (
	PartCall   PartKind = "call"
	PartSend   PartKind = "send"
	PartWait   PartKind = "wait"
	PartRun    PartKind = "run"    // another workflow
	PartMore   PartKind = "more"   // there is more than can be shown
	PartFan    PartKind = "fan"    // its branches run side by side
	PartBranch PartKind = "branch" // one after the other
	PartEach   PartKind = "each"   // once per item
	PartChoice PartKind = "choice" // when its event comes
)

// group reports whether a part holds others.
func (p Part) group() bool {
	switch p.Kind {
	case PartFan, PartBranch, PartEach, PartChoice:
		return true
	}
	return false
}

// What an edge leads to instead of a state.
const (
	Outside = -1 // the start (as From) and the end (as To) of the workflow
	Exit    = -2 // the end of the list of states
)

// Edge is a way from one state to another.
type Edge struct {
	From, To int // indexes into Nodes, or Outside, or Exit
	Kind     Kind
	Labels   []string // one line each: several ways of one kind between the same states are one edge
}

// Kind tells edges apart.
type Kind string

// The kinds of edges.
const (
	Start      Kind = "start"
	Next       Kind = "next"
	Condition  Kind = "condition"
	Event      Kind = "event"
	Default    Kind = "default"
	Timeout    Kind = "timeout"
	Error      Kind = "error"
	Compensate Kind = "compensate"
	Offer      Kind = "offer" // an actor takes it
)

// Label is what an edge says, in words that tell its kind without any colour.
func (e Edge) Label() string { return strings.Join(e.Labels, "\n") }

// label is what people call a state where the states around it are seen.
func (n Node) label() string { return cmp.Or(n.Label, n.Name) }

// target is where an edge leads, in words.
func (g *Graph) target(e Edge) string {
	switch {
	case e.To >= 0:
		return g.Nodes[e.To].label()
	case e.To == Exit:
		return "exit"
	}
	return "end"
}

// about is what kind of state it is, in a few words.
func (n Node) about() string {
	if n.Group == "" {
		return clean(n.Type)
	}
	return clean(n.Group + ", " + n.Type)
}

// stroke is how an edge is drawn.
func (e Edge) stroke() string {
	switch e.Kind {
	case Error:
		return "dashed"
	case Compensate:
		return "dotted"
	}
	return "solid"
}

// Title is what a person calls the definition.
func (g *Graph) Title() string {
	name := cmp.Or(g.Name, g.ID)
	if g.Version != "" {
		name += " (" + g.Version + ")"
	}
	return name
}

// outgoing lists the edges by the state they leave.
func (g *Graph) outgoing() [][]int {
	out := make([][]int, len(g.Nodes))
	for i, e := range g.Edges {
		if e.From >= 0 {
			out[e.From] = append(out[e.From], i)
		}
	}
	return out
}
