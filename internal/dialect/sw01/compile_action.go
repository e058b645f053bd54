package sw01

import (
	"fmt"
	"strconv"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// actions runs actions one after the other, each with what the one before gave; or
// side by side, each with a copy of the data, and their results are an array
// (semantics.md §Data filters 13). Without actions the data passes.
func (c *compiler) actions(at ir.Place, a actions, next ir.NodeID) ir.NodeID {
	if !a.parallel || len(a.list) == 0 {
		for i := len(a.list) - 1; i >= 0; i-- {
			next = c.action(at, a.list[i], next)
		}
		return next
	}
	fan := &ir.Fan{Join: ir.JoinArray}
	for _, one := range a.list {
		r := ir.Region{Name: one.function.name.Text, Entry: c.action(at, one, 0)}
		fan.Branches = append(fan.Branches, c.Branch(r))
	}
	return c.Node(at, fan, next)
}

// action compiles one action. A timeout counts for each attempt; it and the retries
// make the action a region of its own.
func (c *compiler) action(at ir.Place, a *action, next ir.NodeID) ir.NodeID {
	at = ir.Place{Name: at.Name, Pos: a.node.IRPos()}
	if a.timeout == nil && len(a.retries) == 0 {
		return c.invoke(at, a, next)
	}
	r := ir.Region{Name: a.function.name.Text, Entry: c.invoke(at, a, 0), Timeout: span(a.timeout), Catch: c.catches(at, a)}
	return c.Enter(at, r, next)
}

// invoke is input path → call → result path → output path. The answer replaces the
// data; a result that a retry is for is turned into a fault before it is shaped.
func (c *compiler) invoke(at ir.Place, a *action, next ir.NodeID) ir.NodeID {
	next = c.shape(at, a.filter, next)
	unwanted := &ir.Branch{}
	for _, r := range a.retries {
		if name := r.match.Literal(); !r.unused && !isCategory(name) {
			raise := c.Node(at, &ir.Raise{Error: resultName(r), Detail: fmt.Sprintf("function %q gave %q", a.function.name.Text, name)}, 0)
			unwanted.Cases = append(unwanted.Cases, ir.Case{When: c.condition(is(answerPath, name), r.match.IRPos()), Next: c.answered(at, raise)})
		}
	}
	call := &ir.Call{Function: c.function(a.function), Args: c.parameters(a.function.parameters), Result: ir.Put{Mode: ir.PutReplace}}
	if len(unwanted.Cases) > 0 {
		call.Result.Path = []string{answerKey}
		next = c.Node(at, unwanted, c.answered(at, next))
	}
	call.Data = call.Args == 0 // without parameters it gets the data (semantics.md §Data filters 10)
	next = c.Node(at, call, next)
	if put := c.replace(a.filter.input); put.Mode != ir.PutNone {
		next = c.Node(at, &ir.Eval{Put: put}, next)
	}
	return next
}

// While a result is compared with what retries are for, it stands under a key: a call
// without an answer leaves the data as it was, and that is no result. With its blanks
// the key is not what anybody would call a field.
const (
	answerKey  = "answer of the call"
	answerPath = "$['" + answerKey + "']"
)

// answered makes the answer of a call the data; without one the data stays.
func (c *compiler) answered(at ir.Place, next ir.NodeID) ir.NodeID {
	return c.Node(at, &ir.Eval{Put: ir.Put{Pick: ir.Pick{Expr: c.own(answerPath, at)}, Mode: ir.PutReplace}}, next)
}

// resultName is the fault that stands for a result to be tried again.
func resultName(r *retry) string { return "result " + strconv.Quote(r.match.Literal()) }

// givenUp is the fault by which a call that failed for good leads to another state. It
// ends what its state does besides.
func givenUp(r *retry) string { return "no attempt left, goes to " + r.next.to.name.Literal() }

// gives reports whether a call that fails may lead to another state.
func gives(a actions) bool {
	for _, one := range a.list {
		for _, r := range one.retries {
			if r.next != nil && !r.unused {
				return true
			}
		}
	}
	return false
}

// given are the handlers of a state whose calls may lead to another state.
func (c *compiler) given(s *state) []ir.Catch {
	var out []ir.Catch
	seen := map[string]bool{}
	for _, a := range s.actions() {
		for _, r := range a.retries {
			if r.next == nil || r.unused || seen[givenUp(r)] {
				continue
			}
			seen[givenUp(r)] = true
			out = append(out, ir.Catch{Error: givenUp(r), Next: c.entries[r.next.to.index]})
		}
	}
	return out
}
