package core

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// State is one instance: a tree of frames and what belongs to all of them. Step
// owns the state it is given; hosts read it through its methods and store it as
// pages.
type State struct {
	status    Status
	paused    bool
	costly    bool // it paused by itself: too much work
	undoing   bool // cancel with compensation is under way
	seed      uint64
	nextFrame FrameID
	steps     int        // nodes run since the instance last waited
	work      int        // steps of expressions since then
	given     expr.Value // what it was started with: see Input and StartEvents
	context   expr.Value // what all frames share, where the program has variables
	output    expr.Value
	labels    expr.Value
	keys      []Key     // correlation attributes fixed by consumed events, sorted by name
	stash     []Arrival // start events that no Await has taken yet
	fault     *Fault
	done      undoLog
	frames    []*frame // sorted by id

	bulk        bulk
	contextBulk bulk
	headDirty   bool
	gone        []Page    // pages to delete
	chunks      *chunkSet // nil: there are none
}

type frameKind uint8

const (
	kindRoot     frameKind = iota
	kindEnter              // entered by an Enter; the parent waits
	kindBranch             // slot-th branch or item of the parent's fan
	kindUndo               // compensates for the parent
	kindDetached           // a branch that nobody waits for
)

type phase uint8

const (
	phaseRun    phase = iota
	phaseWait         // for tickets or children
	phaseParked       // ended; waits for detached frames
)

// frame runs the nodes of one region.
type frame struct {
	id, parent FrameID
	kind       frameKind
	phase      phase
	region     ir.RegionID
	node       ir.NodeID
	slot       int32 // of the parent's fan; of a kindUndo frame: the region it undoes

	data   expr.Value // the state data
	input  expr.Value // what the region was entered with: for handlers and retries
	under  expr.Value // what expressions see where the data lacks a key
	delta  expr.Value // the list of what was put since the region began
	again  expr.Value // input of a retry, where a checkpoint was passed
	gather bool       // the frame collects a delta
	inner  bool       // it is a branch or iteration, or works inside one

	againAt  ir.NodeID
	againLen int       // how much of the delta a retry keeps
	stopped  ir.NodeID // where it paused because it was told to stop there
	attempts []int32   // retries so far, per Catch
	delays   []Time    // the delay before the last retry, per Catch, where one carries it on
	attempt  int32     // of the region, from 1
	tickets  uint32    // the last number given out
	waits    []wait
	heard    []heard // events that subscriptions of the region received
	taken    []heard // events (by arm) that the Await at node has
	fan      *fan
	vars     []binding
	began    Time // when its first attempt did, where a retry asks for that

	bulk    bulk
	varBulk bulk // of variables, and of the items of a fan that carries its data
	dirty   bool
	stored  bool // a page holds it
	doomed  bool // about to be taken out of the tree
	faulted bool // a fault has passed the task that it works for
}

// wait is an open ticket.
type wait struct {
	n    uint32
	kind WaitKind
	arm  int32 // of the Await, or index into the region's Listen; of a timer: 1 if too brief to count as waiting; of a call: 1 if it is parked
	at   Time  // of timers
}

// inFlight reports whether it is the answer of a call that is carried out.
func (w wait) inFlight() bool { return w.kind == WaitCall && w.arm == 0 }

// heard is an event that arrived for an arm or a subscription of the region.
type heard struct {
	index int32
	event expr.Value
}

// Status tells where the instance stands. It runs while a step is not over or a call is in flight; it
// waits for events, timers, other instances and people.
func (s *State) Status() Status {
	switch {
	case s.status.Final():
		return s.status
	case s.paused:
		return Paused
	}
	for _, f := range s.frames {
		if f.phase == phaseRun || slices.ContainsFunc(f.waits, wait.inFlight) {
			return Running
		}
	}
	return Waiting
}

// runs reports whether the instance has more to do by itself.
func (s *State) runs() bool {
	return !s.status.Final() && !s.paused && slices.ContainsFunc(s.frames, func(f *frame) bool { return f.phase == phaseRun })
}

// Output is the workflow output of a finished instance.
func (s *State) Output() expr.Value { return s.output }

// Data is the data of the outermost scope, while there is one; always where the model keeps it.
func (s *State) Data() expr.Value {
	if len(s.frames) == 0 {
		return expr.Null
	}
	return s.root().data
}

// given is the value that keeps what an instance was started with: the input. Where that is no
// object, or where events started it, an array of the input and a pair (id, value) for each event.
func given(in Start) expr.Value {
	if len(in.Events) == 0 && in.Data.IsObject() {
		return in.Data
	}
	items := []expr.Value{in.Data}
	for _, a := range in.Events {
		items = append(items, expr.Array(expr.Int(int64(a.Event)), a.Value))
	}
	return expr.Array(items...)
}

// isGiven reports whether a value, as it was stored, is one that given makes.
func isGiven(v expr.Value) bool {
	if !v.IsArray() {
		return v.IsObject()
	}
	items := v.Items()
	return len(items) > 0 && !slices.ContainsFunc(items[1:], func(pair expr.Value) bool {
		parts := pair.Items()
		return len(parts) != 2 || parts[0].Kind() != expr.KindNumber
	})
}

// Input is what the instance was started with.
func (s *State) Input() expr.Value {
	if s.given.IsArray() {
		return s.given.Items()[0]
	}
	return s.given
}

// StartEvents are the events that started the instance, also those that it has consumed.
func (s *State) StartEvents() []Arrival {
	if !s.given.IsArray() {
		return nil
	}
	var out []Arrival
	for _, pair := range s.given.Items()[1:] {
		parts := pair.Items()
		id, _ := parts[0].Int()
		out = append(out, Arrival{Event: ir.EventID(id), Value: parts[1]})
	}
	return out
}

// GivenUp is the state of an instance that is terminated without a step, because a step cannot be
// trusted with it. Only what the instance was started with stays.
func (s *State) GivenUp() *State {
	return &State{status: Terminated, seed: s.seed, nextFrame: s.nextFrame, given: s.given, labels: s.labels, chunks: s.chunks, headDirty: true}
}

// Fault is why the instance failed, else nil.
func (s *State) Fault() *Fault { return s.fault }

// Labels are the instance's labels, an object.
func (s *State) Labels() expr.Value { return s.labels }

// Keys are the correlation attributes that consumed events fixed.
func (s *State) Keys() []Key { return s.keys }

// Wake is the earliest instant at which a timer of the instance is due.
func (s *State) Wake() (Time, bool) {
	var at Time
	found := false
	for _, f := range s.frames {
		for _, w := range f.waits {
			if w.timer() && (!found || w.at < at) {
				at, found = w.at, true
			}
		}
	}
	return at, found
}

// Due lists the tickets of timers that are due, earliest first.
func (s *State) Due(now Time) []Ticket {
	type due struct {
		at Time
		t  Ticket
	}
	var list []due
	for _, f := range s.frames {
		for _, w := range f.waits {
			if w.timer() && w.at <= now {
				list = append(list, due{w.at, ticket(f.id, w.n)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b due) int { return int(min(max(a.at-b.at, -1), 1)) })
	out := make([]Ticket, len(list))
	for i, d := range list {
		out[i] = d.t
	}
	return out
}

func (w wait) timer() bool {
	switch w.kind {
	case WaitTimer, WaitDeadline, WaitTotal, WaitRetry:
		return true
	}
	return false
}

// Open describes one thing the instance waits for, for people.
type Open struct {
	Ticket Ticket
	Kind   WaitKind
	Node   string
	State  string // the state that it is part of
	Event  string // for events
	At     Time   // for timers

	Function string // for calls
	Parked   bool   // a call that a person or a device answers
	Timeout  bool   // a timer that ends a wait for something else
	Then     string // the state that follows such a timer; "": none, or it is not known
}

// Open lists what the instance waits for.
func (s *State) Open(p *Program) []Open {
	var out []Open
	for _, f := range s.frames {
		n := &p.Nodes[f.node]
		for _, w := range f.waits {
			o := Open{Ticket: ticket(f.id, w.n), Kind: w.kind, Node: n.Name, At: w.at, State: s.owner(p, f)}
			switch w.kind {
			case WaitCall:
				if op, ok := n.Op.(*ir.Call); ok {
					o.Function = p.Functions[op.Function].Name
				}
				o.Parked = !w.inFlight()
			case WaitTimer:
				if op, ok := n.Op.(*ir.Await); ok && len(op.Arms) > 0 {
					o.Timeout, o.Then = true, p.stateFrom(op.OnTimeout)
				}
			case WaitDeadline, WaitTotal:
				o.Timeout = true
			case WaitEvent:
				if op, ok := n.Op.(*ir.Await); ok && int(w.arm) < len(op.Arms) {
					o.Event = p.Events[op.Arms[w.arm].Event].Name
				}
			case WaitListen:
				o.Event = p.Events[p.Regions[f.region].Listen[w.arm]].Name
			case WaitFeed:
				if op, ok := n.Op.(*ir.Fan); ok && op.Feed != nil {
					o.Event = p.Events[feedEvent(op.Feed, w.arm)].Name
				}
			}
			out = append(out, o)
		}
	}
	return out
}

// stateFrom names the state that is entered next from a node, "" where that depends.
func (p *Program) stateFrom(id ir.NodeID) string {
	for range p.Nodes {
		n := &p.Nodes[id]
		if _, fork := n.Op.(*ir.Branch); id == 0 || fork {
			return ""
		}
		if n.Mark == ir.MarkEntered {
			return n.Name
		}
		id = n.Next
	}
	return ""
}

// Active names the states the instance is in, without what goes on inside branches
// and iterations.
func (s *State) Active(p *Program) []string {
	var out []string
	for _, f := range s.frames {
		if f.inner || s.status.Final() && f.kind != kindRoot {
			continue
		}
		if name := p.Nodes[f.node].Name; name != "" && f.phase != phaseParked && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (s *State) frame(id FrameID) *frame { return find(s.frames, id) }

// find looks a frame up in a list sorted by id.
func find(frames []*frame, id FrameID) *frame {
	i, ok := position(frames, id)
	if !ok {
		return nil
	}
	return frames[i]
}

func position(frames []*frame, id FrameID) (int, bool) {
	return slices.BinarySearchFunc(frames, id, func(f *frame, id FrameID) int { return int(int64(f.id) - int64(id)) })
}

func (s *State) root() *frame { return s.frames[0] }

func (f *frame) open(kind WaitKind, arm int32, at Time) Ticket {
	f.tickets++
	n := f.tickets
	if kind == WaitFeed {
		n |= standing
	}
	f.waits = append(f.waits, wait{n, kind, arm, at})
	f.dirty = true
	return ticket(f.id, n)
}

// drop forgets the i-th wait.
func (f *frame) drop(i int) {
	f.waits = slices.Delete(f.waits, i, i+1)
	f.dirty = true
}
