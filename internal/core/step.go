package core

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Step applies one input and runs until every frame waits, or fuel runs out. It
// is pure and owns s, which is nil for a Start.
func Step(p *Program, s *State, now Time, in Input) (Result, error) {
	return StepFor(Host{}, p, s, now, in)
}

// Host is what whoever runs an instance tells it of itself. Nothing of it is part of the state.
type Host struct {
	ID      string // of the instance
	Created Time
	Awaited bool // another instance waits for its end; never changes
	// Identity begins the ids of its events: see [Host.Key].
	Identity string
	Secrets  expr.Value // an object: the secrets that the program may see
	Sealer   Sealer     // keeps them out of what faults say; may be nil
	// Parks, if not nil, reports whether nobody carries out calls of a function: a person or a device
	// answers them.
	Parks func(*ir.Function) bool
	// Stop, if not nil, is asked every few thousand steps of expressions. Where it says true
	// the step ends with [ErrStopped].
	Stop func() bool
}

// Key names an effect of the instance, for ever and everywhere.
func (h Host) Key(t Ticket) string { return h.Identity + "/" + t.String() }

// StepFor is [Step] for a host.
func StepFor(host Host, p *Program, s *State, now Time, in Input) (Result, error) {
	m := machine{p: p, s: s, now: now, fuel: p.Limits.Fuel, host: host, records: make([]Record, 0, usualRecords)}
	if host.Stop != nil {
		m.stop = &m.host.Stop
	}
	if (s == nil) != isStart(in) {
		return Result{}, fmt.Errorf("step: %T for an instance that exists: %t", in, s != nil)
	}
	var err error
	ok := true
	switch in := in.(type) {
	case Start:
		err = m.start(in)
	case Reply:
		ok = m.reply(in)
	case Take:
		err = m.take(in)
	case Control:
		err = m.control(in)
	case Continue:
		ok = s.runs()
	}
	if m.broken != nil {
		return Result{}, m.broken
	}
	if err != nil {
		return Result{State: s, Spent: m.spent}, err
	}
	if !ok {
		return Result{State: s, Spent: m.spent, Stale: true}, nil
	}
	m.run()
	m.s.headDirty = true
	return Result{State: m.s, Commands: m.commands, Records: m.records, Spent: m.spent, More: m.more}, m.broken
}

// usualRecords is how many records most steps make at most: they leave a state, enter another one and call a function.
const usualRecords = 4

func isStart(in Input) bool { _, ok := in.(Start); return ok }

// machine is one step under way.
type machine struct {
	p        *Program
	s        *State
	host     Host
	now      Time
	fuel     int
	more     bool
	commands []Command
	records  []Record
	broken   error // a broken invariant, or ErrStopped
	failing  *failing

	stop      *func() bool
	spent     int   // steps of expressions, and what counts like them
	asks      int   // spent when stop is asked next
	evaluated int   // steps of the expressions of this operation
	last      sized // what was measured last
}

func (m *machine) start(in Start) error {
	if in.Data.IsNull() {
		in.Data = expr.EmptyObject
	}
	if !in.Data.IsObject() && !m.p.AnyInput {
		return &Rejected{Msg: "the workflow input must be a JSON object, not " + in.Data.Kind().WithArticle()}
	}
	if m.p.Start.AsInput && len(in.Events) > 0 {
		if fault := m.asInput(&in); fault != nil {
			return &Rejected{Msg: fault.Error()}
		}
	}
	m.s = &State{
		status: Running, seed: in.Seed, nextFrame: 1,
		given: given(in), labels: expr.EmptyObject, stash: in.Events,
	}
	if m.p.Variables {
		m.s.context = expr.EmptyObject
	}
	m.record(Record{Type: RecStarted, Data: in.Data, HasData: true})
	if violations := m.p.Model.CheckInput(in.Data); len(violations) > 0 {
		return &Rejected{Msg: "invalid " + m.p.Model.Name() + " input: " + describe(violations)}
	}
	if len(in.Events) == 0 {
		if violations := m.checkInput(in.Data); len(violations) > 0 {
			text := "the workflow input does not adhere to its schema: " + describe(violations)
			if !m.p.WarnSchemas && !m.p.WarnInput {
				return &Rejected{Msg: text}
			}
			m.record(Record{Type: RecWarning, Text: text})
		}
	}
	m.label(in)
	data, labels := m.p.Model.Start(in.Data, m.s.labels)
	m.s.labels = labels
	m.enter(nil, kindRoot, -1, 0, data, expr.Null)
	return nil
}

// run executes the lowest runnable frame until none is left.
func (m *machine) run() {
	for m.broken == nil && !m.s.status.Final() && !m.s.paused {
		f := m.runnable()
		if f == nil {
			return
		}
		for f.phase == phaseRun && m.broken == nil && !m.s.status.Final() && !m.s.paused {
			if m.tooExpensive(f) {
				return
			}
			if m.fuel == 0 || m.spent >= m.p.Limits.StepWork {
				m.more = true
				return
			}
			m.fuel--
			m.evaluated = 0
			m.pay(1)
			m.s.steps++
			f.dirty = true
			if m.s.steps > m.p.Limits.Steps {
				m.raise(f, m.runaway(f))
				break
			}
			m.exec(f)
			if len(m.s.frames) > 0 && m.s.frames[len(m.s.frames)-1].id != f.id {
				break // frames came or went: look again for the lowest
			}
		}
	}
}

// runnable is the frame that goes on: the oldest. Where frames share a context, what stands first in
// the definition goes on as far as it can before what follows it, and a detached frame before all others: it began
// earlier than what the others do next.
func (m *machine) runnable() *frame {
	var first *frame
	for _, f := range m.s.frames {
		if f.phase != phaseRun {
			continue
		}
		if !m.p.Variables || f.kind == kindDetached {
			return f
		}
		if first == nil || m.precedes(f, first) {
			first = f
		}
	}
	return first
}

// precedes reports whether a frame stands before another one.
func (m *machine) precedes(a, b *frame) bool { return slices.Compare(m.path(a), m.path(b)) < 0 }

// path lists the frames around a frame, outermost first, and itself.
func (m *machine) path(f *frame) []FrameID {
	var out []FrameID
	for f != nil {
		out = append(out, f.id)
		if f.kind == kindRoot {
			break
		}
		f = m.s.frame(f.parent)
	}
	slices.Reverse(out)
	return out
}

// waited notes that the instance really waited: the loop, if it is one, is not a runaway.
func (m *machine) waited() { m.s.steps, m.s.work = 0, 0 }

// shortest is the least delay that counts as waiting; a loop of shorter ones is a
// runaway like a loop without any.
const shortest = Time(1e6) // a millisecond

// timer opens a timer of frame f.
func (m *machine) timer(f *frame, kind WaitKind, at Time) Ticket {
	brief := int32(0)
	if at-m.now < shortest {
		brief = 1
	}
	return f.open(kind, brief, at)
}

// reply takes the answer to a ticket. It reports false where nobody waits for it.
func (m *machine) reply(in Reply) bool {
	if m.s.status.Final() {
		return false
	}
	f := m.s.frame(in.Ticket.frame())
	if f == nil {
		return false
	}
	i := slices.IndexFunc(f.waits, func(w wait) bool { return w.n == uint32(in.Ticket) })
	if i < 0 {
		return false
	}
	w := f.waits[i]
	if w.timer() {
		if m.now < w.at {
			return false // never early
		}
		if w.arm == 0 {
			m.waited()
		}
		f.drop(i)
		m.fired(f, w)
		return true
	}
	switch w.kind {
	case WaitFeed:
		return m.fed(f, in.Value)
	case WaitEvent, WaitListen:
		if !m.belongs(f, w, in.Value) {
			return false
		}
		m.waited()
		f.drop(i)
		m.arrived(f, w, in)
	case WaitCall:
		m.waited()
		f.drop(i)
		m.returned(f, in)
	case WaitChild:
		m.waited()
		f.drop(i)
		m.childEnded(f, in)
	default:
		return false // offers are taken, not replied to
	}
	return true
}

func (m *machine) fired(f *frame, w wait) {
	switch w.kind {
	case WaitTimer:
		m.awaitTimedOut(f)
	case WaitRetry:
		m.reenter(f)
	default: // WaitDeadline, WaitTotal
		name := m.p.Regions[f.region].Name
		m.record(Record{Type: RecTimedOut, Frame: f.id, Node: name})
		fault := &Fault{Name: faultTimeout, Detail: fmt.Sprintf("%q took longer than its timeout", name), Instance: m.p.Regions[f.region].Ref}
		if op, ok := m.p.Nodes[f.node].Op.(*ir.Call); ok {
			r, _ := m.arguments(f, op) // they could be had when it was called
			fault.Args = r.Value
		}
		if w.kind == WaitTotal && f.kind != kindRoot && f.kind != kindDetached {
			// The time for all attempts is over: nothing inside can handle that.
			f, fault.Node, fault.Pos = m.s.frame(f.parent), m.p.Nodes[f.node].Name, m.p.Nodes[f.node].Pos
			m.p.typed(fault)
		}
		m.raise(f, fault)
	}
}

// enter creates the frame of a region.
func (m *machine) enter(parent *frame, kind frameKind, slot int32, region ir.RegionID, data, under expr.Value) *frame {
	r := &m.p.Regions[region]
	f := &frame{
		id: m.s.nextFrame, kind: kind, region: region, node: r.Entry, slot: slot,
		data: data, input: data, under: under, gather: r.Collect, attempt: 1, dirty: true,
	}
	if parent != nil {
		f.parent = parent.id
		f.gather = f.gather || kind == kindEnter && parent.gather
		f.inner = parent.inner || kind == kindBranch || kind == kindDetached || r.Nested
	}
	if slices.ContainsFunc(r.Catch, func(c ir.Catch) bool { return c.Retry != nil && c.Retry.Within.Set }) {
		f.began = m.now
	}
	m.s.nextFrame++
	m.pay(frameSteps)
	m.s.frames = append(m.s.frames, f)
	if len(m.s.frames) > m.p.Limits.Frames {
		m.raise(f, limitFault("frames", m.p.Limits.Frames, "too many activities at a time"))
		return f
	}
	if m.arm(f, r.Total, WaitTotal) {
		m.begin(f, r)
	}
	return f
}

// begin arms what belongs to one attempt of a region.
func (m *machine) begin(f *frame, r *ir.Region) {
	if !m.arm(f, r.Timeout, WaitDeadline) {
		return
	}
	for i := range r.Listen {
		if !m.listening(f, int32(i)) {
			t := f.open(WaitListen, int32(i), 0)
			m.subscribe(f, t, r.Listen[i])
		}
	}
}

// arm sets a timer of a region. It reports false when that raised a fault.
func (m *machine) arm(f *frame, span ir.Span, kind WaitKind) bool {
	if !span.Set {
		return true
	}
	at, fault := m.after(f, span)
	if fault != nil {
		m.raise(f, fault)
		return false
	}
	m.timer(f, kind, at)
	return true
}

// advance goes on after node n of frame f.
func (m *machine) advance(f *frame, n *ir.Node) {
	if n.Out != 0 {
		m.leave(f, n.Out)
		return
	}
	m.goTo(f, n.Next)
}

func (m *machine) goTo(f *frame, next ir.NodeID) {
	f.phase, f.dirty = phaseRun, true
	if next == 0 {
		m.complete(f)
		return
	}
	f.node = next
}

func (m *machine) command(c Command) { m.commands = append(m.commands, c) }

func (m *machine) record(r Record) {
	r.Time = m.now
	if f := m.s.frame(r.Frame); f != nil {
		r.Item = m.indexOf(f) + 1
	}
	for _, v := range []expr.Value{r.Data, r.Fault.seen()} {
		if v.Len() > 0 {
			m.measure(v)
		}
	}
	m.records = append(m.records, r)
}

func (m *machine) warn(f *frame, n *ir.Node, format string, args ...any) {
	m.record(Record{Type: RecWarning, Frame: f.id, Node: n.Name, Pos: n.Pos, Text: fmt.Sprintf(format, args...)})
}

func (m *machine) breakf(format string, args ...any) {
	if m.broken == nil {
		m.broken = fmt.Errorf("broken invariant: "+format, args...)
	}
}

func limitFault(name string, limit int, what string) *Fault {
	return &Fault{Name: FaultStateLimit, Final: true, Detail: fmt.Sprintf("%s (limit %s, %d)", what, name, limit)}
}
