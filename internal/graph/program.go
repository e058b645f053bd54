package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// FromProgram collects what there is to draw of a program.
func FromProgram(p *ir.Program) *Graph {
	r := newReader(p, &Graph{ID: p.ID, Version: p.Version, Name: p.Name})
	for _, s := range p.States {
		if s.In == "" { // others are shown inside of the state whose branch they stand in
			r.add(s)
		}
	}
	r.start()
	if p.Job {
		r.job()
		return r.g
	}
	r.fill(p.Edges)
	r.nest(newNesting(p.States, p.Edges))
	r.asides()
	return r.g
}

// reader is the work of FromProgram, for one list of states.
type reader struct {
	p       *ir.Program
	g       *Graph
	entries map[string][]ir.NodeID // where a state is entered, by its name and by its id
	states  []ir.State             // by node
	index   map[string]int
	merged  map[edgeKey]int
	deep    int // in how many states the list stands
}

func newReader(p *ir.Program, g *Graph) *reader {
	r := &reader{p: p, entries: map[string][]ir.NodeID{}}
	for id, n := range p.Nodes {
		if n.Mark == ir.MarkEntered {
			r.entries[n.Name] = append(r.entries[n.Name], ir.NodeID(id))
			if n.Ref != "" && n.Ref != n.Name {
				r.entries[n.Ref] = append(r.entries[n.Ref], ir.NodeID(id))
			}
		}
	}
	return r.of(g)
}

// of reads another list of the same program.
func (r *reader) of(g *Graph) *reader {
	return &reader{p: r.p, g: g, entries: r.entries, index: map[string]int{}, merged: map[edgeKey]int{}, deep: r.deep}
}

// add adds a state. A diagram has one box per name: two tasks of a list may share theirs.
func (r *reader) add(s ir.State) {
	if _, twice := r.index[s.Name]; twice {
		return
	}
	r.index[s.Name] = len(r.g.Nodes)
	r.states = append(r.states, s)
	n := Node{Name: s.Name, Type: s.Type, Start: s.Start, End: s.End, Compensation: s.Compensation}
	if s.If != "" {
		n.Notes = append(n.Notes, "if "+s.If)
	}
	r.g.Nodes = append(r.g.Nodes, n)
}

type edgeKey struct {
	from, to int
	kind     Kind
}

// fill adds what the states of the list do, and the ways between them.
func (r *reader) fill(edges []ir.Edge) {
	insides := r.insides()
	for i := range r.g.Nodes {
		n := &r.g.Nodes[i]
		n.Parts, n.Notes, n.Runs = insides[i].parts, append(n.Notes, insides[i].notes...), insides[i].runs
	}
	errors := make([]int, len(r.g.Nodes)) // error edges seen so far, by state
	ways := make([]int, len(r.g.Nodes))   // conditions seen so far
	way := func(from int) string {
		if ways[from]++; ways[from] <= len(insides[from].ways) {
			return insides[from].ways[ways[from]-1]
		}
		return ""
	}
	forks := eventForks(edges)
	for _, e := range edges {
		from, known := r.index[e.From]
		to, reached := r.index[e.To]
		switch {
		case e.Exit:
			to = Exit
		case e.To == "":
			to = Outside
		case !reached:
			continue
		}
		if !known {
			continue
		}
		in := insides[from]
		switch e.Kind {
		case ir.EdgeNext:
			r.edge(from, to, Next, strings.TrimPrefix(in.next, ", "))
		case ir.EdgeCondition:
			label := e.Label
			if e.When != "" {
				label = strings.TrimPrefix(label+": "+e.When, ": ")
			}
			r.edge(from, to, Condition, strings.TrimPrefix(label+way(from), ", "))
		case ir.EdgeEvent:
			label := eventLabel(e.Label, in.events, ways[from])
			if r.g.Nodes[from].Type == "event" && !forks[e.From] { // the state itself says what it waits for
				r.edge(from, to, Next, strings.TrimPrefix(way(from), ", "))
				break
			}
			r.edge(from, to, Event, label+way(from))
		case ir.EdgeDefault:
			if in.timeout != "" {
				r.edge(from, to, Timeout, "after "+in.timeout+in.otherwise)
			} else {
				r.edge(from, to, Default, defaultLabel(e.Label)+in.otherwise)
			}
		case ir.EdgeError:
			r.edge(from, to, Error, errorLabel(e.Label, in.catches, errors[from]))
			errors[from]++
		case ir.EdgeCompensate:
			r.edge(from, to, Compensate, "undone by")
		default:
			r.edge(from, to, Kind(e.Kind), e.Label)
		}
	}
}

// eventForks are the states that events take to different states.
func eventForks(edges []ir.Edge) map[string]bool {
	type end struct {
		to   string
		exit bool
	}
	first, out := map[string]end{}, map[string]bool{}
	for _, e := range edges {
		if e.Kind != ir.EdgeEvent {
			continue
		}
		at := end{e.To, e.Exit}
		if before, ok := first[e.From]; ok && before != at {
			out[e.From] = true
		}
		first[e.From] = at
	}
	return out
}

// edge adds a way; one of the same kind between the same states gets another line.
func (r *reader) edge(from, to int, kind Kind, label string) {
	key := edgeKey{from, to, kind}
	at, ok := r.merged[key]
	if !ok {
		at = len(r.g.Edges)
		r.merged[key] = at
		r.g.Edges = append(r.g.Edges, Edge{From: from, To: to, Kind: kind})
	}
	if label != "" {
		r.g.Edges[at].Labels = append(r.g.Edges[at].Labels, label)
	}
}

// start adds the ways in: what starts an instance is their label.
func (r *reader) start() {
	label := ""
	if s := r.p.Start.Schedule; s != nil {
		switch {
		case s.Cron != "":
			label = strings.TrimSpace("cron " + s.Cron + " " + s.Zone)
		case s.Every.Set:
			label = "every " + spanText(s.Every)
		default:
			label = "in " + s.Interval
		}
	}
	if len(r.p.Start.Events) > 0 {
		label = "on " + r.startEvents(r.p.Start)
	}
	for i, n := range r.g.Nodes {
		if n.Start {
			r.edge(Outside, i, Start, label)
		}
	}
}

// startEvents names the events that start an instance, or the sets of them.
func (r *reader) startEvents(s ir.Start) string {
	if len(s.Any) == 0 {
		return r.eventNames(s.Events, s.All)
	}
	var sets []string
	for _, need := range s.Any {
		var ids []ir.EventID
		for _, slot := range need.Slots {
			if slot >= 0 && slot < len(s.Events) {
				ids = append(ids, s.Events[slot])
			}
		}
		if set := r.eventNames(ids, true); !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	return strings.Join(sets, " or ")
}

func (r *reader) eventNames(ids []ir.EventID, all bool) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = r.eventName(id)
	}
	if all {
		return strings.Join(names, " and ")
	}
	return strings.Join(names, " or ")
}

func (r *reader) eventName(id ir.EventID) string {
	if id < 0 || int(id) >= len(r.p.Events) {
		return fmt.Sprintf("event %d", id)
	}
	return r.p.Events[id].Name
}

// errorLabel says which error it is, and what happens before the way is taken.
// The catches of a state stand in the order of its error edges.
func errorLabel(name string, catches []catch, n int) string {
	label := "error " + name
	if name == "*" || name == "" {
		label = "any error"
	}
	if n >= len(catches) || catches[n].name != name {
		return label
	}
	if which := catches[n].which; which != "" && which != label {
		label = "error " + which
	}
	if k := catches[n].retries; k > 0 {
		label += ", after " + count(k, "retry", "retries")
	}
	return label + catches[n].leads
}

// eventLabel says which event it is, and the name of the condition if it has one.
func eventLabel(name string, events []string, n int) string {
	if n < len(events) && events[n] != name {
		return "on " + events[n] + " (" + name + ")"
	}
	return "on " + name
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// defaultLabel names the way that is taken when no condition holds.
func defaultLabel(name string) string {
	if name == "" {
		return "default"
	}
	return name + " (default)"
}
