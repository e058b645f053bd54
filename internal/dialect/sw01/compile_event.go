package sw01

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// eventState waits for events, then acts (0.1 E §事件状态, 0.1 K and 0.1 C §Event State).
//
// Whatever it waits for, the state is a region: what it lends to expressions ends with
// it, and each entry leaves it to a state of its own. A state whose time is up leaves
// it without its filters and actions.
func (c *compiler) eventState(s *state, b *eventState) ir.NodeID {
	at := placeOf(s)
	w := &waiting{c: c, s: s, at: at, entries: b.entries, starts: s == c.w.scope.start}
	for _, e := range b.entries {
		next := s.next
		if e.next != nil {
			next = e.next
		}
		done := c.output(s, c.Out(at, &ir.Eval{}, c.leave(s, next)))
		w.act = append(w.act, c.actions(at, e.actions, done))
	}
	if s.lapses() {
		w.lapse = c.Out(at, &ir.Eval{}, c.left(s, c.lapsed(s)))
	}
	var first ir.NodeID
	switch {
	case w.anyOne():
		first = w.one()
	case len(b.entries) == 1 && b.entries[0].expression.together():
		first = w.together()
	default:
		first = w.general()
	}
	r := ir.Region{Name: at.Name, Entry: first, Catch: c.given(s)}
	return c.Enter(at, r, 0) // it is left by Out
}

// lapsed is where a state goes whose events did not come in time: to the END state if
// there is exactly one, else the workflow has failed (semantics.md §Control flow).
func (c *compiler) lapsed(s *state) ir.NodeID {
	at := placeOf(s)
	if ends := s.scope.ends; len(ends) == 1 {
		return c.entries[ends[0].index]
	}
	return c.Node(at, &ir.Raise{Error: SysTimeout, Detail: s.awaited()}, 0)
}

// awaited tells what a state waited for in vain, and how long.
func (s *state) awaited() string {
	var parts []string
	for _, e := range s.body.(*eventState).entries {
		if len(parts) == fewEntries {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%s for %s", e.timeout.value, strings.TrimSpace(e.text.Literal())))
	}
	return fmt.Sprintf("the events did not come in time: it waited %s", strings.Join(parts, ", and "))
}

// fewEntries is how many entries of a state a message lists.
const fewEntries = 4

// waiting is how one state waits.
type waiting struct {
	c       *compiler
	s       *state
	at      ir.Place
	entries []*entry
	starts  bool        // the workflow begins with it
	act     []ir.NodeID // what follows each entry
	lapse   ir.NodeID   // what follows when all of them took too long; 0: never
}

// anyOne reports whether any one event of any entry satisfies the state, and all have
// the same time for it.
func (w *waiting) anyOne() bool {
	first := span(w.entries[0].timeout)
	return !slices.ContainsFunc(w.entries, func(e *entry) bool {
		return !e.expression.alternative() || span(e.timeout) != first
	})
}

// one waits for the first event; an event that stands in two entries is for the first.
func (w *waiting) one() ir.NodeID {
	await := &ir.Await{Need: 1, Timeout: span(w.entries[0].timeout), OnTimeout: w.lapse}
	for i, e := range w.entries {
		next, put := w.act[i], ir.Put{Mode: ir.PutMerge, Warn: true}
		if w.filtered() {
			put, next = w.keep(e, wrapEvent), w.unwrap(e, []string{wrapEvent}, next)
		}
		for _, leaf := range e.expression.leaves() {
			arm := ir.Arm{Event: leaf.trigger.id, Put: put, Next: next}
			if !slices.ContainsFunc(await.Arms, func(a ir.Arm) bool { return a.Event == arm.Event }) {
				await.Arms = append(await.Arms, arm)
				w.startsWith(arm.Event)
			}
		}
	}
	return w.await(await, 0)
}

// together waits until all events are there; one that stands twice serves both.
func (w *waiting) together() ir.NodeID {
	e := w.entries[0]
	await := &ir.Await{Timeout: span(e.timeout), OnTimeout: w.lapse}
	var keys []string
	for _, leaf := range e.expression.leaves() {
		arm := ir.Arm{Event: leaf.trigger.id, Put: ir.Put{Mode: ir.PutMerge, Warn: true}}
		if slices.ContainsFunc(await.Arms, func(a ir.Arm) bool { return a.Event == arm.Event }) {
			continue
		}
		if w.filtered() {
			keys = append(keys, wrapEvent+strconv.Itoa(len(keys)))
			arm.Put = w.keep(e, keys[len(keys)-1])
		}
		await.Arms = append(await.Arms, arm)
		w.startsWith(arm.Event)
	}
	next := w.act[0]
	if w.filtered() {
		next = w.unwrap(e, keys, next)
	}
	for i := range await.Arms {
		await.Arms[i].Next = next
	}
	if await.Need = len(await.Arms); w.starts && await.Need > 1 {
		w.c.Program.Start.All, w.c.Program.Start.Window = true, span(e.timeout)
	}
	return w.await(await, next)
}

// await adds the Await, over wrapped data where events are filtered.
func (w *waiting) await(op *ir.Await, next ir.NodeID) ir.NodeID {
	if !w.filtered() {
		return w.c.Node(w.at, op, next)
	}
	if op.Timeout.Set {
		op.OnTimeout = w.bare(op.OnTimeout)
	}
	return w.wrapped(w.c.Node(w.at, op, next))
}

// startsWith notes an event that starts instances, and returns which of them it is.
func (w *waiting) startsWith(id ir.EventID) int {
	if !w.starts {
		return -1
	}
	w.c.Program.Start.Events = append(w.c.Program.Start.Events, id)
	return len(w.c.Program.Start.Events) - 1
}

// longest returns the longest timeout of the entries, nil where one has none. Months
// are compared as from the first of January: no two spellings of a time differ by less.
func (w *waiting) longest() *amount {
	var out *amount
	from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, e := range w.entries {
		if e.timeout == nil {
			return nil
		}
		if out == nil || e.timeout.value.AddTo(from).After(out.value.AddTo(from)) {
			out = e.timeout
		}
	}
	return out
}
