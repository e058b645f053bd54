package graph

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// job reads a state machine that actors advance: its states do nothing by themselves,
// so each shows its group and its description; each line shows its actor.
func (r *reader) job() {
	r.g.Job, r.g.Version = true, "" // all have the same
	for _, group := range r.p.Groups {
		r.g.Groups = append(r.g.Groups, group.Name)
		for _, state := range group.States {
			if at, ok := r.index[state]; ok {
				r.g.Nodes[at].Group = group.Name
			}
		}
	}
	for _, s := range r.p.States {
		at := r.index[s.Name]
		var said struct{ Description string }
		if json.Unmarshal([]byte(s.Metadata), &said) == nil && said.Description != "" {
			r.g.Nodes[at].Notes = []string{said.Description}
		}
	}
	limits := r.limits()
	for _, e := range r.p.Edges {
		from, known := r.index[e.From]
		to, reached := r.index[e.To]
		if !known || !reached {
			continue
		}
		switch e.Kind {
		case ir.EdgeOffer:
			r.offer(from, to, e.Label)
		case ir.EdgeTimeout:
			r.edge(from, to, Timeout, "after "+limits[e.From])
		default:
			r.edge(from, to, Next, "IMMEDIATE")
		}
	}
	for i, n := range r.g.Nodes {
		if n.End {
			r.edge(i, Outside, Next, "")
		}
	}
}

// offer adds a move; one that both actors may make is one line, with the same words
// wherever it is.
func (r *reader) offer(from, to int, actor string) {
	at, twice := r.merged[edgeKey{from, to, Offer}]
	if !twice {
		r.edge(from, to, Offer, actor)
		return
	}
	both := append(strings.Split(r.g.Edges[at].Labels[0], orActor), actor)
	slices.Sort(both)
	r.g.Edges[at].Labels[0] = strings.Join(slices.Compact(both), orActor)
}

// orActor stands between the actors that may make a move.
const orActor = " or "

// limits says how long a job may be in each state that has a limit.
func (r *reader) limits() map[string]string {
	out := map[string]string{}
	for _, n := range r.p.Nodes {
		if op, ok := n.Op.(*ir.Await); ok && op.Timeout.Set {
			out[n.Name] = spanText(op.Timeout)
		}
	}
	return out
}

// groupAccents are the colours of groups, in their order; those of a very large number
// of groups repeat, but their names are always shown.
var groupAccents = []string{"operation", "subflow", "callback", "parallel", "foreach", "inject", "event", "switch"}

// groupAccent is the colour of a group.
func (g *Graph) groupAccent(group string) string {
	at := slices.Index(g.Groups, group)
	if at < 0 {
		return "other"
	}
	if fails(group) {
		return "raise"
	}
	return groupAccents[at%len(groupAccents)]
}

// jobIcons are the signs of a job's states.
var jobIcons = map[string]string{
	"wait":      icons["delay"],
	"immediate": icons["operation"],
	"final":     "M3 3h8v8h-8z",
	"failed":    "M3 3h8v8h-8zM5.2 5.2l3.6 3.6M8.8 5.2l-3.6 3.6",
}

// fails reports whether a group is for jobs that failed: by its name, as nothing else tells.
func fails(group string) bool { return strings.Contains(strings.ToLower(group), "fail") }

// members lists the states of a group, "" being those without, by index.
func (g *Graph) members(group string) []int {
	var out []int
	for i, n := range g.Nodes {
		if n.Group == group {
			out = append(out, i)
		}
	}
	return out
}
