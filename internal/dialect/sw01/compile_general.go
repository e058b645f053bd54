package sw01

import (
	"fmt"
	"strconv"

	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The general way to wait: expressions of and, or and not, in entries that may have
// different times. Each operator is a Fan, each event a branch that awaits it, the
// entries are branches of which one must finish.
//
// The state's time is one more branch, which finishes without an entry. The branch that
// finishes an entry says so in the wrapped data; what the others took is dropped.
func (w *waiting) general() ir.NodeID {
	c := w.c
	pick := &ir.Branch{}
	fan := &ir.Fan{Need: c.Expr(jsonpath.TemplateLang, "1", w.at.Pos), Join: ir.JoinMerge}
	depth := 0
	for _, e := range w.entries {
		depth = max(depth, e.expression.normal(false).depth())
	}
	for i, e := range w.entries {
		g := &general{waiting: w, entry: e, number: i}
		root := e.expression.normal(false)
		won := c.Node(w.at, &ir.Eval{
			From: c.Expr(jsonpath.TemplateLang, fmt.Sprintf(`{%q:"%d"}`, wrapWon, i), w.at.Pos),
			Put:  ir.Put{Mode: ir.PutMerge},
		}, 0)
		r := ir.Region{Name: e.text.Literal(), Entry: g.wait(root, depth, won), Collect: true}
		fan.Branches = append(fan.Branches, c.Branch(r))
		pick.Cases = append(pick.Cases, ir.Case{
			When: c.condition(is("$."+wrapWon, strconv.Itoa(i)), e.node.IRPos()),
			Next: w.unwrap(e, g.keys, w.act[i]),
		})
		w.startsWithAny(root, g.slots, e)
	}
	if long := w.longest(); long != nil {
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: w.clock(long, depth)})
	}
	wait := c.Node(w.at, fan, c.Node(w.at, pick, w.bare(w.lapse)))
	return w.wrapped(wait)
}

// clock is a branch that finishes when the time of the last entry is up. A "not" is
// decided when its time is up, and comes first: see deepen.
func (w *waiting) clock(long *amount, depth int) ir.RegionID {
	entry := w.deepen(depth, 0, func(next ir.NodeID) ir.NodeID {
		return w.c.Node(w.at, &ir.Await{Timeout: span(long), OnTimeout: next}, next)
	})
	return w.c.Region(ir.Region{Name: w.at.Name, Entry: entry})
}

// deepen puts an Await into regions inside each other. Where one event satisfies two
// entries, or timers fire at one instant, the lower frame is first; frames get their
// numbers level by level. With all Awaits on the same level, that is the order in
// which they are written.
func (w *waiting) deepen(levels int, next ir.NodeID, await func(next ir.NodeID) ir.NodeID) ir.NodeID {
	if levels == 0 {
		return await(next)
	}
	r := ir.Region{Name: w.at.Name, Entry: w.deepen(levels-1, 0, await)}
	return w.c.Enter(w.at, r, next)
}

// depth is how many branches are around the events of an expression.
func (e *eventExpr) depth() int {
	most := 0
	for _, item := range e.items {
		most = max(most, item.depth())
	}
	if e.op == "and" || e.op == "or" {
		most++
	}
	return most
}

// general is the waiting of one entry.
type general struct {
	*waiting
	entry  *entry
	number int
	keys   []string // under which the events stand, in order
	slots  []int    // of the events that start the workflow, in order
}

// wait compiles an expression in normal form, with so many levels for it; next follows
// when it holds.
func (g *general) wait(e *eventExpr, levels int, next ir.NodeID) ir.NodeID {
	switch e.op {
	case "":
		return g.deepen(levels, next, func(next ir.NodeID) ir.NodeID { return g.event(e, next) })
	case "not":
		return g.deepen(levels, next, func(next ir.NodeID) ir.NodeID { return g.noEvent(e.items[0], next) })
	}
	fan := &ir.Fan{Join: ir.JoinMerge}
	if e.op == "or" {
		fan.Need = g.c.Expr(jsonpath.TemplateLang, "1", g.at.Pos)
	}
	for _, item := range e.items {
		r := ir.Region{Name: g.at.Name, Entry: g.wait(item, levels-1, 0), Collect: true}
		fan.Branches = append(fan.Branches, g.c.Branch(r))
	}
	return g.c.Node(g.at, fan, next)
}

// event waits for an event. When the entry's time is up it has lost: its branch goes on
// waiting, for nothing.
func (g *general) event(e *eventExpr, next ir.NodeID) ir.NodeID {
	key := fmt.Sprintf("%s%d_%d", wrapEvent, g.number, len(g.keys))
	g.keys = append(g.keys, key)
	arm := ir.Arm{Event: e.trigger.id, Put: g.keep(g.entry, key), Next: next}
	if g.starts {
		// An event that stands twice is two: each of the branches finds its own.
		arm.Event = g.c.Event(event(e.trigger))
		g.slots = append(g.slots, g.startsWith(arm.Event))
	}
	await := &ir.Await{Arms: []ir.Arm{arm}, Need: 1, Timeout: span(g.entry.timeout)}
	if await.Timeout.Set {
		await.OnTimeout = g.never()
	}
	return g.c.Node(g.at, await, next)
}

// noEvent waits until an event did not come; once it comes, that can never be.
func (g *general) noEvent(e *eventExpr, next ir.NodeID) ir.NodeID {
	return g.c.Node(g.at, &ir.Await{
		Arms: []ir.Arm{{Event: e.trigger.id, Next: g.never()}}, Need: 1,
		Timeout: span(g.entry.timeout), OnTimeout: next,
	}, next)
}

// never waits for an event that nobody can send: it must have a value that is not
// there. A timer would be something that is yet to happen.
func (g *general) never() ir.NodeID {
	c := g.c
	if c.silence == 0 {
		c.silence = 1 + c.Event(ir.Event{
			Name: "none: the time is over", Type: "none",
			Correlate: []ir.Correlation{{Attribute: "none", Value: c.own("$.none", g.at)}},
		})
	}
	return c.Node(g.at, &ir.Await{Arms: []ir.Arm{{Event: c.silence - 1}}, Need: 1}, 0)
}

// startsWithAny notes the sets of events that satisfy an entry of the start state.
func (w *waiting) startsWithAny(root *eventExpr, slots []int, e *entry) {
	if !w.starts {
		return
	}
	sets, _ := alternatives(root, new(int))
	for _, set := range sets {
		need := ir.Need{}
		for _, i := range set {
			need.Slots = append(need.Slots, slots[i])
		}
		if len(need.Slots) > 1 {
			need.Window = span(e.timeout)
		}
		w.c.Program.Start.Any = append(w.c.Program.Start.Any, need)
	}
}
