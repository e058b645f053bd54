package graph

import "strings"

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
	Type         string
	Group        string // of states that it belongs to; jobs only
	Start, End   bool
	Compensation bool
	Notes        []string // what holds for all of it: timeouts, retries
	Parts        []Part   // what it does, in order
}

// Part is one thing a state does, or a group of them.
type Part struct {
	Kind  PartKind
	Text  string // in words; may be empty for groups
	Note  string // a limit, such as "2 days at most"
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

// Outside stands for the start (as From) and for the end (as To) of the workflow.
const Outside = -1

// Edge is a way from one state to another.
type Edge struct {
	From, To int // indexes into Nodes, or Outside
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
	name := g.Name
	if name == "" {
		name = g.ID
	}
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
