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
// What events give is kept apart until the waiting is over; then it is merged into the
// state's data in the order of the expression, and the wrapping is gone before anything
// of the definition's sees it.
const (
	wrapData  = "data"
	wrapEvent = "e"
	wrapWon   = "won"
)

// filtered reports whether an entry selects from its events. What a filter selects is
// merged whatever it is, and a number or a list takes the place of the data (SEMANTICS
// §Data filters 9); without a filter only objects are merged.
func (w *waiting) filtered() bool { return slices.ContainsFunc(w.entries, (*entry).filters) }

// filters reports whether there is a filter: $ is the payload, as without.
func (e *entry) filters() bool { return e.filter != nil && !e.filter.Root }

// wrapped puts the data into the wrapping.
func (w *waiting) wrapped(next ir.NodeID) ir.NodeID {
	return w.c.node(w.at, &ir.Eval{Put: ir.Put{Mode: ir.PutReplace, Path: []string{wrapData}}}, next)
}

// bare takes the wrapping off.
func (w *waiting) bare(next ir.NodeID) ir.NodeID {
	return w.c.node(w.at, &ir.Eval{Put: ir.Put{Pick: ir.Pick{Expr: w.c.own("$."+wrapData, w.at)}, Mode: ir.PutReplace}}, next)
}

// keep puts what an event gives under a key of the wrapping: what the filter selects,
// from the whole event where the path begins with an attribute that it has, else from
// its data (SEMANTICS §Data filters 4); without a filter its data.
func (w *waiting) keep(e *entry, key string) ir.Put {
	pick := ir.Pick{Expr: w.c.own("$.data", w.at), First: "data", Key: key, Wrap: ir.WrapAlways}
	if e.filters() {
		pick.Expr, pick.First = w.c.path(e.filter), e.filter.First
	}
	return ir.Put{Pick: pick, Mode: ir.PutMerge, Warn: true}
}

// unwrap merges the events that were taken, in the order of the expression, and takes
// the wrapping off.
func (w *waiting) unwrap(e *entry, keys []string, next ir.NodeID) ir.NodeID {
	next = w.bare(next)
	for _, key := range slices.Backward(keys) {
		path := "$." + key
		merge := w.c.node(w.at, &ir.Eval{Put: ir.Put{
			Pick: ir.Pick{Expr: w.c.own(path, w.at), Key: wrapData, Wrap: ir.WrapAlways}, Mode: ir.PutMerge,
		}}, next)
		if e.filters() { // what is no object takes the place of the data
			next = w.c.node(w.at, &ir.Eval{Put: ir.Put{Pick: ir.Pick{Expr: w.c.own(path, w.at)}, Mode: ir.PutSet, Path: []string{wrapData}}}, next)
		}
		next = w.c.node(w.at, &ir.Branch{Cases: []ir.Case{{
			When: w.c.condition(choice.Condition{Op: choice.IsObject, Path: path, Value: expr.Null}, w.at.pos), Next: merge,
		}}}, next)
	}
	return next
}
