package sw01

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// While a state waits for more than plain events, its data is wrapped:
//
//	{"data": the state's, "e…": an event's, …, "won": the entry}
//
// The data of events is kept apart until the wait is over. Then it is merged into the state's
// data in the order of the expression, and the wrapper is removed before the rest of the
// definition runs.
const (
	wrapData  = "data"
	wrapEvent = "e"
	wrapWon   = "won"
)

// filtered reports whether any entry has an event filter. What a filter selects always takes
// effect: a number or a list replaces the data (semantics.md §Data filters 9). Without a
// filter, only objects are merged.
func (w *waiting) filtered() bool { return slices.ContainsFunc(w.entries, (*entry).filters) }

// filters reports whether an entry has a filter. $ is none: it selects the payload, as without one.
func (e *entry) filters() bool { return e.filter != nil && !e.filter.Root }

// wrapped puts the data into the wrapper.
func (w *waiting) wrapped(next ir.NodeID) ir.NodeID {
	return w.c.Node(w.at, &ir.Eval{Put: ir.Put{Mode: ir.PutReplace, Path: []string{wrapData}}}, next)
}

// bare removes the wrapper.
func (w *waiting) bare(next ir.NodeID) ir.NodeID {
	return w.c.Node(w.at, &ir.Eval{Put: ir.Put{Pick: ir.Pick{Expr: w.c.own("$."+wrapData, w.at)}, Mode: ir.PutReplace}}, next)
}

// keep stores an event under a key of the wrapper: without a filter its data; with one, what
// it selects, from the whole event if the path begins with an attribute of the event, else from
// its data (semantics.md §Data filters 4).
func (w *waiting) keep(e *entry, key string) ir.Put {
	pick := ir.Pick{Expr: w.c.own("$.data", w.at), First: "data", Key: key, Wrap: ir.WrapAlways}
	if e.filters() {
		pick.Expr, pick.First = w.c.path(e.filter), e.filter.First
	}
	return ir.Put{Pick: pick, Mode: ir.PutMerge, Warn: true}
}

// unwrap merges the events that were taken, in the order of the expression, and removes the
// wrapper.
func (w *waiting) unwrap(e *entry, keys []string, next ir.NodeID) ir.NodeID {
	next = w.bare(next)
	for _, key := range slices.Backward(keys) {
		path := "$." + key
		merge := w.c.Node(w.at, &ir.Eval{Put: ir.Put{
			Pick: ir.Pick{Expr: w.c.own(path, w.at), Key: wrapData, Wrap: ir.WrapAlways}, Mode: ir.PutMerge,
		}}, next)
		if e.filters() { // what is not an object replaces the data
			set := ir.Put{Pick: ir.Pick{Expr: w.c.own(path, w.at)}, Mode: ir.PutSet, Path: []string{wrapData}}
			next = w.c.Node(w.at, &ir.Eval{Put: set}, next)
		}
		next = w.c.Node(w.at, &ir.Branch{Cases: []ir.Case{{
			When: w.c.condition(choice.Condition{Op: choice.IsObject, Path: path, Value: expr.Null}, w.at.Pos), Next: merge,
		}}}, next)
	}
	return next
}
