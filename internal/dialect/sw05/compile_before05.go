package sw05

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// when is the condition of a switch.
func (c *compiler) when(k *condition) ir.ExprID {
	if k.test != nil {
		return c.test(k.test)
	}
	return c.path(k.when)
}

// handler compiles an error definition: the first whose expression holds takes the error, which is merged into the
// state's data (0.1 §Workflow Error Handling, §Error Data Filter).
func (c *compiler) handler(s *state, e *onError) ir.Catch {
	next := c.way(s, e.exit)
	if next == 0 { // the end of a branch or an iteration; without a node the error would climb on
		next = c.Node(placeOf(s), &ir.Eval{}, 0)
	}
	return ir.Catch{Any: true, Only: &ir.ErrorFilter{When: c.test(e.test)}, Put: c.errorPut(e), Next: next}
}

// errorPut says what of an error becomes data: {error: …}, or what the filter selects. A filter that begins with the
// name of the error gives all of it under that name.
func (c *compiler) errorPut(e *onError) *ir.Put {
	pick := ir.Pick{Key: "error", Wrap: ir.WrapAlways}
	switch f := e.filter; {
	case f == nil || f.Root:
		pick.Expr = c.Expr(jsonpath.Lang, "$", e.node.IRPos())
	case len(f.Keys) > 0 && errorNames[f.First] != "":
		src := "$"
		for _, key := range f.Keys[1:] {
			src += "[" + expr.String(key).String() + "]"
		}
		pick.Key, pick.Expr = f.Name, c.Expr(jsonpath.Lang, src, f.node.IRPos())
	default:
		pick = c.resultsPick(f)
	}
	put := merge(pick)
	return &put
}

// retries compiles the retries of a state: the first whose expression holds decides. Where none is left the error
// climbs on, to the error definitions (0.1 §Workflow Error Handling - Retrying).
func (c *compiler) retries(s *state) []ir.Catch {
	var out []ir.Catch
	for _, r := range s.retries {
		k := ir.Catch{Any: true, Only: &ir.ErrorFilter{When: c.test(r.test)}}
		if r.maxAttempts > 0 {
			k.Retry = &ir.Retry{Name: r.test.label, Delay: c.span(r.interval), Add: c.span(r.increment), Max: r.maxAttempts}
		}
		out = append(out, k)
	}
	return out
}

// errorResult is the name of the fault of a state whose output is one that it is to be tried again for.
const errorResult = "ErrorResult"

// errorResults fails a state that went well where the expression of a retry holds for its output: "error results of
// actions" (0.1 §Retry Definition). An expression that asks for the error is not asked: there is none.
func (c *compiler) errorResults(s *state, next ir.NodeID) ir.NodeID {
	branch := &ir.Branch{}
	for _, r := range s.retries {
		if r.test == nil || r.test.error || r.maxAttempts == 0 {
			continue
		}
		raise := c.Node(ir.Place{Name: s.label, Pos: r.node.IRPos()}, &ir.Raise{
			Error: errorResult, Detail: fmt.Sprintf("the output of state %q is one to try again for: %s", s.nameText(), r.test.label),
		}, 0)
		branch.Cases = append(branch.Cases, ir.Case{When: c.test(r.test), Next: raise})
	}
	if len(branch.Cases) == 0 {
		return next
	}
	return c.Node(placeOf(s), branch, next)
}

// scope compiles the way into the states of a branch or an iteration, and what follows them: a pause, if there is one.
//
// What a branch gives is its data output. Without filters that is what it was given and what it added, and only the
// latter is merged, so that branches do not undo each other's changes. With filters it is what they leave.
func (c *compiler) scope(at ir.Place, s *scope, pause *duration) ir.NodeID {
	entry, next := c.entries[s.start.index], ir.NodeID(0)
	if pause != nil {
		next = c.Node(at, &ir.Await{Timeout: c.span(pause)}, 0)
	}
	if s.filtered() {
		next = c.Node(at, &ir.Eval{From: c.Expr(jsonpath.Lang, "$", at.Pos), Put: merge(ir.Pick{})}, next)
		inside := ir.Region{Name: at.Name, Entry: entry}
		return c.Node(at, &ir.Fan{Branches: []ir.FanBranch{c.Branch(inside)}, Join: ir.JoinFirst}, next)
	}
	if pause == nil {
		return entry
	}
	return c.Enter(at, ir.Region{Name: at.Name, Entry: entry}, next)
}

// eachBefore05 compiles the iterations of a foreach: each has the state's data, with its item. A pause between them
// makes them come one after the other; it follows each of them.
func (c *compiler) eachBefore05(at ir.Place, b *foreachState) *ir.Each {
	body := ir.Region{Name: at.Name, Collect: true}
	switch {
	case b.states != nil:
		body.Entry = c.scope(at, b.states, b.pause)
	case b.pause != nil:
		wait := c.Node(at, &ir.Await{Timeout: c.span(b.pause)}, 0)
		body.Entry = c.Enter(at, ir.Region{Name: at.Name, Entry: c.work(at, b.actions, b.workflow)}, wait)
	default:
		body.Entry = c.work(at, b.actions, b.workflow)
	}
	each := &ir.Each{Over: c.path(b.over), Body: c.Region(body), Var: b.in[len(b.in)-1], In: b.in, Max: c.quantity(b.max)}
	if b.pause != nil {
		each.Max = c.Expr(jsonpath.TemplateLang, "1", at.Pos)
	}
	return each
}
