package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// maxParts bounds what is described of one state: regions that share regions could
// unfold without end.
const maxParts = 200

// inside is what the nodes and regions behind a state say about it.
type inside struct {
	parts   []Part
	notes   []string
	timeout string   // of a choice between events: its default is taken then
	catches []catch  // those that lead somewhere
	events  []string // of a choice between events, in the order of its ways
	// What happens on the ways out, as part of a label: of a switch by condition, and by default; of
	// other states, what is undone first.
	ways      []string
	otherwise string
	next      string
	runs      []string // other workflows
}

type catch struct {
	name    string
	which   string // in words, where the edge has no name
	retries int
	leads   string // what happens on the way, as part of a label
}

// insides reads what each state does, by the state's index.
func (r *reader) insides() []inside {
	out := make([]inside, len(r.g.Nodes))
	for at, s := range r.states {
		entries := r.entries[s.Name]
		if len(entries) == 0 && s.ID != "" {
			entries = r.entries[s.ID]
		}
		for _, id := range entries {
			if out[at].parts != nil {
				break
			}
			w := walker{r: r, node: &r.g.Nodes[at], in: &out[at], left: maxParts, active: map[ir.NodeID]bool{}}
			out[at].parts = w.run(id)
		}
		if s.Does != "" {
			out[at].parts = []Part{{Kind: PartCall, Text: s.Does}}
		}
	}
	return out
}

// walker follows the nodes of one state.
type walker struct {
	r      *reader
	node   *Node
	in     *inside
	left   int
	branch string             // actions without a name bear that of their branch
	active map[ir.NodeID]bool // on the way here: a program may loop
	first  *Part              // the race between event expressions that is being described
}

// run lists what happens from a node to the end of its region or state.
func (w *walker) run(id ir.NodeID) []Part {
	var parts []Part
	var way []ir.NodeID
	first := id
	for id > 0 && int(id) < len(w.r.p.Nodes) && !w.active[id] {
		n := &w.r.p.Nodes[id]
		if n.Mark == ir.MarkEntered && id != first {
			break
		}
		w.active[id] = true
		way = append(way, id)
		step, more := w.op(n)
		if w.left -= len(step); w.left < 0 {
			parts = append(parts, Part{Kind: PartMore, Text: "…"})
			break
		}
		parts = append(parts, step...)
		if !more || n.Out != 0 {
			break
		}
		id = n.Next
	}
	for _, id := range way {
		delete(w.active, id)
	}
	return parts
}

// op describes one operation, and whether the way goes on at its Next.
func (w *walker) op(n *ir.Node) ([]Part, bool) {
	switch op := n.Op.(type) {
	case *ir.Eval:
		return nil, true
	case *ir.Enter:
		if op.Drop { // of an extension, which is drawn once, beside the flow
			return nil, true
		}
		return w.enter(op.Region), true
	case *ir.Call:
		return []Part{{Kind: PartCall, Text: w.callText(n.Name, op.Function)}}, true
	case *ir.Emit:
		return []Part{{Kind: PartSend, Text: "send " + w.r.eventName(op.Event)}}, true
	case *ir.Await:
		return w.await(op)
	case *ir.Branch:
		if w.node.Type != "switch" && w.choice(op) {
			return w.decided(op)
		}
		if w.node.Type != "switch" {
			w.in.next = cmp.Or(w.in.next, undoFirst(w.leads(n.Next)), undoFirst(w.leads(op.Cases[0].Next)))
		}
		for _, c := range op.Cases {
			w.in.ways = append(w.in.ways, w.leads(c.Next))
		}
		w.in.otherwise = w.leads(n.Next)
	case *ir.Undo:
		w.in.next = undo
		return nil, true
	case *ir.Fan:
		if w.node.Type == "event" && op.Need != 0 {
			w.race(op)
			return nil, true
		}
		return []Part{w.fan(op)}, true
	case *ir.End:
		if op.Fail != "" {
			return []Part{{Kind: PartMore, Text: "fail with " + op.Fail}}, false
		}
	case *ir.Raise:
		if w.node.Type == "end" { // of a branch
			return []Part{{Kind: PartMore, Text: "fail with " + op.Error}}, false
		}
	case *ir.Spawn:
		text := "run " + op.Workflow
		if op.Version != "" {
			text += " " + op.Version
		}
		if id := strings.TrimSuffix(op.Workflow+"@"+op.Version, "@"); !slices.Contains(w.in.runs, id) {
			w.in.runs = append(w.in.runs, id)
		}
		p := Part{Kind: PartRun, Text: text}
		if !op.Wait {
			p.Note = "not waited for"
		}
		return []Part{p}, true
	}
	return nil, false // branches and ends are edges
}

// callText is the function, and the action's own name where it has one.
func (w *walker) callText(name string, id ir.FunctionID) string {
	function := "function"
	if id >= 0 && int(id) < len(w.r.p.Functions) {
		function = w.r.p.Functions[id].Name
	}
	_, isState := w.r.index[name]
	if name == "" || name == function || name == w.branch || name == w.node.Name || isState {
		return function
	}
	return name + " (" + function + ")"
}

func (w *walker) enter(id ir.RegionID) []Part {
	if id <= 0 || int(id) >= len(w.r.p.Regions) {
		return nil
	}
	region := &w.r.p.Regions[id]
	if region.Nested { // its states are drawn by themselves
		return w.caught(region)
	}
	parts := w.run(region.Entry)
	if region.Name == w.node.Name {
		w.handlers(region)
	}
	if note := spanText(region.Timeout); note != "" {
		if len(parts) == 1 {
			parts[0].Note = strings.TrimPrefix(parts[0].Note+", "+note+" at most", ", ")
		} else {
			w.in.notes = append(w.in.notes, note+" at most")
		}
	}
	return parts
}

// handlers notes what a state does about its errors, apart from where it goes.
func (w *walker) handlers(region *ir.Region) {
	for _, c := range region.Catch {
		k := catch{name: catchName(c)}
		if c.Retry != nil {
			k.retries = c.Retry.Max
		}
		if c.Next != 0 {
			k.leads = w.leads(c.Next)
			w.in.catches = append(w.in.catches, k)
			continue
		}
		if k.retries > 0 {
			on := "any error"
			switch {
			case k.name != "*":
				on = "error " + k.name
			case c.Only != nil && len(w.r.p.Errors) == 0: // it bears its condition
				on = c.Retry.Name
			}
			w.in.notes = append(w.in.notes, count(k.retries, "retry", "retries")+" on "+on)
		}
	}
}

// catchName names the errors that a catch is for; * are all.
func catchName(c ir.Catch) string {
	if len(c.When) == 0 {
		if c.Any {
			return "*"
		}
		return c.Error
	}
	var names []string
	for _, m := range c.When {
		name := cmp.Or(m.Error, m.Code, m.Type[strings.LastIndexByte(m.Type, '/')+1:], m.Status, m.Instance)
		if name == "" {
			return "*"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// undo says on a label that the states before are undone before the way is taken.
const undo = ", undo first"

// undoFirst is what a label says of undoing, without the rest.
func undoFirst(label string) string {
	if strings.HasPrefix(label, undo) {
		return undo
	}
	return ""
}

// leads says what happens on a way out before the next state, as part of a label: what is undone,
// and the events that are produced.
func (w *walker) leads(id ir.NodeID) string {
	text, undoes := "", ""
	for range w.r.p.Nodes {
		if id <= 0 || int(id) >= len(w.r.p.Nodes) || w.r.p.Nodes[id].Mark == ir.MarkEntered {
			break
		}
		n := &w.r.p.Nodes[id]
		id = n.Next
		switch op := n.Op.(type) {
		case *ir.Undo:
			undoes = undo
		case *ir.Emit:
			text += ", send " + w.r.eventName(op.Event)
		case *ir.Branch: // the guard of a transition
			if len(op.Cases) > 0 {
				id = op.Cases[0].Next
			}
		}
		if n.Out != 0 {
			id = n.Out
		}
	}
	return undoes + text
}

func (w *walker) await(op *ir.Await) ([]Part, bool) {
	limit := spanText(op.Timeout)
	if len(op.Arms) == 0 {
		return []Part{{Kind: PartWait, Text: strings.TrimSpace("wait " + limit)}}, true
	}
	if w.node.Type == "switch" {
		w.in.timeout = limit
		for _, arm := range op.Arms {
			w.in.ways = append(w.in.ways, w.leads(arm.Next))
			w.in.events = append(w.in.events, w.r.eventName(arm.Event))
		}
		w.in.otherwise = w.leads(op.OnTimeout)
		return nil, false
	}
	note := ""
	if limit != "" {
		note = limit + " at most"
	}
	names, same := make([]string, len(op.Arms)), true
	for i, arm := range op.Arms {
		names[i] = w.r.eventName(arm.Event)
		if arm.Offer != nil {
			names[i] = arm.Offer.Actor + ": " + arm.Offer.Choice
		}
		same = same && arm.Next == op.Arms[0].Next
	}
	switch {
	case op.Need > 1:
		return []Part{{Kind: PartWait, Text: "wait for " + strings.Join(names, " and "), Note: note}}, true
	case same && op.Arms[0].Next != 0:
		part := Part{Kind: PartWait, Text: "wait for " + strings.Join(names, " or "), Note: note}
		return append([]Part{part}, w.run(op.Arms[0].Next)...), false
	case same:
		return []Part{{Kind: PartWait, Text: "wait for " + strings.Join(names, " or "), Note: note}}, false
	}
	fan := Part{Kind: PartFan, Text: "the first event", Note: note}
	for i, arm := range op.Arms {
		fan.Parts = append(fan.Parts, Part{Kind: PartChoice, Text: "on " + names[i], Parts: w.run(arm.Next)})
	}
	return []Part{fan}, false
}

// branchParts lists what a branch does: its states, where it has any.
func (w *walker) branchParts(id ir.RegionID) []Part {
	if entry := w.firstState(id); entry != 0 {
		return w.states(entry)
	}
	return w.enter(id)
}

// firstState is the entry of the state that a region begins with, also where it stands in a region of its own; 0
// where there is none.
func (w *walker) firstState(id ir.RegionID) ir.NodeID {
	if id <= 0 || int(id) >= len(w.r.p.Regions) || w.r.p.Regions[id].Nested {
		return 0
	}
	entry := w.r.p.Regions[id].Entry
	if entry <= 0 || int(entry) >= len(w.r.p.Nodes) {
		return 0
	}
	if w.r.p.Nodes[entry].Mark == ir.MarkEntered {
		return entry
	}
	switch op := w.r.p.Nodes[entry].Op.(type) {
	case *ir.Enter:
		return w.firstState(op.Region)
	case *ir.Fan:
		if op.Join == ir.JoinFirst && len(op.Branches) == 1 {
			return w.firstState(op.Branches[0].Region)
		}
	}
	return 0
}

func (w *walker) fan(op *ir.Fan) Part {
	if op.Each != nil {
		text := "for each " + op.Each.Var
		if src := w.exprText(op.Each.Over); src != "" {
			text += " of " + src
		}
		part := Part{Kind: PartEach, Text: text, Parts: w.branchParts(op.Each.Body)}
		if while := w.exprText(op.Each.While); while != "" {
			part.Note = "while " + while
		}
		if limit := w.exprText(op.Each.Max); limit != "" && limit != "0" {
			part.Note = limit + " at once"
		}
		return part
	}
	if op.Feed != nil {
		return w.feed(op.Feed)
	}
	part := Part{Kind: PartFan, Text: "side by side"}
	if need := w.exprText(op.Need); need != "" {
		part.Note = "until " + need + " finished"
	} else if op.Join == ir.JoinFirst {
		part.Note = "until 1 finished"
	}
	for _, b := range op.Branches {
		if b.Region <= 0 || int(b.Region) >= len(w.r.p.Regions) {
			continue
		}
		if w.r.p.Regions[b.Region].Nested {
			continue // its states are drawn by themselves
		}
		name := w.r.p.Regions[b.Region].Name
		outer := w.branch
		w.branch = name
		inner := w.branchParts(b.Region)
		w.branch = outer
		one := Part{Kind: PartBranch, Text: name, Parts: inner}
		if len(inner) == 1 && (inner[0].Text == name || name == w.node.Name) {
			one = inner[0] // an action by itself: its name is not shown twice
		}
		if b.Detached {
			one.Note = strings.TrimPrefix(one.Note+", not waited for", ", ")
		}
		part.Parts = append(part.Parts, one)
	}
	return part
}

// feed describes a task that takes events, and what it does with each.
func (w *walker) feed(op *ir.Feed) Part {
	list := func(events []ir.EventID, all bool) string {
		names := make([]string, len(events))
		for i, id := range events {
			names[i] = w.r.eventName(id)
		}
		if all {
			return strings.Join(names, " and ")
		}
		return strings.Join(names, " or ")
	}
	part := Part{Kind: PartWait, Text: "wait for " + list(op.Events, op.All)}
	if op.Body != 0 {
		part = Part{Kind: PartEach, Text: "for each " + list(op.Events, false), Parts: w.enter(op.Body)}
	}
	if until := w.exprText(op.Until); until != "" {
		part.Note = "until " + until
	} else if len(op.Stop) > 0 {
		part.Note = "until " + list(op.Stop, op.StopAll)
	}
	return part
}

// choice reports whether a branch is one of the compiler's own, and no way out.
func (w *walker) choice(op *ir.Branch) bool {
	id := op.Cases[0].When
	return id > 0 && int(id) < len(w.r.p.Exprs) && w.r.p.Exprs[id].Lang == "choice"
}

// race describes expressions over events of which one must come true (Serverless Workflow
// 0.1). What follows each is described at the branch behind it.
func (w *walker) race(op *ir.Fan) {
	w.first = &Part{Kind: PartFan, Text: "the first"}
	for _, b := range op.Branches {
		region := &w.r.p.Regions[b.Region]
		if region.Collect {
			w.first.Parts = append(w.first.Parts, Part{Kind: PartChoice, Text: "on " + region.Name})
		} else if wait := w.enter(b.Region); len(wait) == 1 { // their time
			w.first.Note = strings.TrimPrefix(wait[0].Text, "wait ") + " at most"
		}
	}
}

// decided follows a branch of the compiler's own.
func (w *walker) decided(op *ir.Branch) ([]Part, bool) {
	part := w.first
	if part == nil || len(part.Parts) != len(op.Cases) {
		return nil, true
	}
	w.first = nil
	for i, c := range op.Cases {
		part.Parts[i].Parts = w.run(c.Next)
	}
	return []Part{*part}, false
}

// states lists the states of a branch, in the order in which ways lead to them.
func (w *walker) states(entry ir.NodeID) []Part {
	var parts []Part
	entries := map[string]ir.NodeID{}
	for id, n := range w.r.p.Nodes {
		if n.Mark == ir.MarkEntered {
			entries[n.Name] = ir.NodeID(id)
		}
	}
	queue := []string{w.r.p.Nodes[entry].Name}
	for seen := map[string]bool{queue[0]: true}; len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		outer := w.node
		for _, s := range w.r.p.States {
			if s.Name == name {
				w.node = &Node{Name: s.Name, Type: s.Type}
			}
		}
		text := name
		if w.node != outer {
			text += " (" + w.node.Type + ")"
		}
		next := w.in.next
		w.in.next = ""
		part := Part{Kind: PartBranch, Text: text, Parts: w.run(entries[name]), Note: strings.TrimPrefix(w.in.next, ", ")}
		w.in.next = next
		w.node = outer
		parts = append(parts, part)
		for _, e := range w.r.p.Edges {
			if e.From == name && e.To != "" && !seen[e.To] {
				seen[e.To] = true
				queue = append(queue, e.To)
			}
		}
	}
	return parts
}

func (w *walker) exprText(id ir.ExprID) string {
	if id <= 0 || int(id) >= len(w.r.p.Exprs) {
		return ""
	}
	return w.r.p.Exprs[id].Src
}
