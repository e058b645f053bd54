package sw01

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/ir"
)

// actions runs actions one after the other, each with what the one before gave; or
// side by side, each with a copy of the data, and their results are an array
// (SEMANTICS §Data filters 13). Without actions the data passes.
func (c *compiler) actions(at place, a actions, next ir.NodeID) ir.NodeID {
	if !a.parallel || len(a.list) == 0 {
		for i := len(a.list) - 1; i >= 0; i-- {
			next = c.action(at, a.list[i], next)
		}
		return next
	}
	fan := &ir.Fan{Join: ir.JoinArray}
	for _, one := range a.list {
		r := ir.Region{Name: one.function.name.Text, Entry: c.action(at, one, 0)}
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: c.region(r)})
	}
	return c.node(at, fan, next)
}

// action compiles one action. A timeout counts for each attempt; it and the retries
// make the action a region of its own.
func (c *compiler) action(at place, a *action, next ir.NodeID) ir.NodeID {
	at = place{at.name, posOf(a.node)}
	if a.timeout == nil && len(a.retries) == 0 {
		return c.invoke(at, a, next)
	}
	r := ir.Region{Name: a.function.name.Text, Entry: c.invoke(at, a, 0), Timeout: span(a.timeout), Catch: c.catches(at, a)}
	return c.node(at, &ir.Enter{Region: c.region(r)}, next)
}

// invoke is input path → call → result path → output path. The answer replaces the
// data; a result that a retry is for is turned into a fault before it is shaped.
func (c *compiler) invoke(at place, a *action, next ir.NodeID) ir.NodeID {
	next = c.shape(at, a.filter, next)
	unwanted := &ir.Branch{}
	for _, r := range a.retries {
		if name := spelled(r.match); !r.unused && !isCategory(name) {
			unwanted.Cases = append(unwanted.Cases, ir.Case{
				When: c.condition(is("$", name), posOf(r.match)),
				Next: c.node(at, &ir.Raise{Error: resultName(r), Detail: fmt.Sprintf("function %q gave %q", a.function.name.Text, name)}, 0),
			})
		}
	}
	if len(unwanted.Cases) > 0 {
		next = c.node(at, unwanted, next)
	}
	call := &ir.Call{Function: c.function(a.function), Args: c.parameters(a.function.parameters), Result: ir.Put{Mode: ir.PutReplace}}
	call.Data = call.Args == 0 // without parameters it gets the data (SEMANTICS §Data filters 10)
	next = c.node(at, call, next)
	if put := c.replace(a.filter.input); put.Mode != ir.PutNone {
		next = c.node(at, &ir.Eval{Put: put}, next)
	}
	return next
}

// resultName is the fault that stands for a result to be tried again.
func resultName(r *retry) string { return "result " + quote(spelled(r.match)) }

// givenUp is the fault by which a call that failed for good leads to another state. It
// ends what its state does besides.
func givenUp(r *retry) string { return "no attempt left, goes to " + text(r.next.to.name) }

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

// The categories that are told apart from SYS.Fail, and what shows them.
var categories = []struct {
	name   string
	errors []string
	codes  []string
}{
	{sysTimeout, []string{sysTimeout, faultTimeout}, nil},
	{sysPerm, []string{sysPerm}, permissionCodes},
	{sysParameter, []string{sysParameter}, parameterCodes},
	{sysFilter, []string{sysFilter, faultExpression}, nil},
}

// catches are the retries of an action. The first that matches wins (SEMANTICS
// §Functions, events, errors); in the core a specific handler beats a general one, so
// what stands behind a general one is left out here.
func (c *compiler) catches(at place, a *action) []ir.Catch {
	k := catching{c: c, at: at, function: a.function.name.Text, handled: map[string]bool{}}
	for _, r := range a.retries {
		if r.unused {
			continue
		}
		switch name := spelled(r.match); {
		case isAny(name):
			k.any(r)
		case name == sysFail:
			if k.rest == nil && !k.closed {
				k.rest = r
			}
		case isCategory(name):
			k.category(name, r)
		default:
			k.literal(name, r)
		}
	}
	return k.done()
}

// catching collects the handlers of one action.
type catching struct {
	c        *compiler
	at       place
	function string
	out      []ir.Catch
	handled  map[string]bool // categories
	rest     *retry          // of SYS.Fail, or of all that is left
	closed   bool            // nothing is left for later retries
	whole    bool            // rest takes the other categories too
}

func (k *catching) any(r *retry) {
	if k.closed {
		return
	}
	k.closed = true
	if k.rest == nil {
		k.rest, k.whole = r, true
		return
	}
	for _, one := range categories {
		k.closed = false
		k.category(one.name, r)
	}
	k.closed = true
}

func (k *catching) category(name string, r *retry) {
	if k.closed || k.handled[name] {
		return
	}
	k.handled[name] = true
	for _, one := range categories {
		if one.name == name {
			k.specific(one.errors, one.codes, r)
		}
	}
}

// literal is the name or code of an error, or a result.
func (k *catching) literal(name string, r *retry) {
	switch {
	case k.closed:
	case k.rest == nil || Category(name, name, "") != sysFail:
		k.specific([]string{name}, []string{name}, r)
	default:
		k.behindFail(name, r)
	}
	result := k.handler(ir.Catch{Error: resultName(r)}, r)
	if result.Next == 0 {
		result.Next = k.c.node(k.at, &ir.Raise{
			Error: sysFail, Detail: fmt.Sprintf("function %q gave %q, which is to be tried again, and no attempt is left", k.function, name),
		}, 0)
	}
	k.out = append(k.out, result)
}

// behindFail is the name of an error behind SYS.Fail: what is left of it are faults
// whose code is of another category. A handler with a code also takes faults without
// any, so those are given to SYS.Fail first.
func (k *catching) behindFail(name string, r *retry) {
	k.out = append(k.out, k.handler(ir.Catch{Error: name, Code: "none"}, k.rest))
	for _, one := range categories {
		for _, code := range one.codes {
			k.out = append(k.out, k.handler(ir.Catch{Error: name, Code: code}, r))
		}
	}
}

func (k *catching) specific(errors, codes []string, r *retry) {
	for _, e := range errors {
		k.out = append(k.out, k.handler(ir.Catch{Error: e}, r))
	}
	for _, code := range codes {
		k.out = append(k.out, k.handler(ir.Catch{Code: code}, r))
	}
}

// handler tries again, and then goes to the next state; without one the fault goes on.
func (k *catching) handler(out ir.Catch, r *retry) ir.Catch {
	if r == nil {
		return out // it is not for this action to handle
	}
	if r.max > 0 {
		out.Retry = &ir.Retry{Name: spelled(r.match), Delay: span(r.interval), Max: r.max}
	}
	if r.next != nil {
		out.Next = k.c.node(k.at, &ir.Raise{
			Error: givenUp(r), Detail: fmt.Sprintf("a call failed with %s, and no attempt is left", spelled(r.match)),
		}, 0)
	}
	return out
}

// done adds the handler of everything else. Where that is SYS.Fail, the categories that
// nothing handles pass it.
func (k *catching) done() []ir.Catch {
	if k.rest == nil {
		return k.out
	}
	for _, one := range categories {
		if !k.whole && !k.handled[one.name] {
			k.specific(one.errors, one.codes, nil)
		}
	}
	return append(k.out, k.handler(ir.Catch{Any: true}, k.rest))
}
