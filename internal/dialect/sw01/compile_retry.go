package sw01

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// category is a kind of faults.
type category struct {
	name   string
	errors []string // names of faults
	codes  []string // of faults that have no such name
}

// The categories that are told apart from SYS.Fail, and what shows them.
var categories = []category{
	{SysTimeout, []string{SysTimeout, faultTimeout}, nil},
	{SysPermission, []string{SysPermission}, permissionCodes},
	{SysInvalidParameter, []string{SysInvalidParameter}, parameterCodes},
	{SysFilterError, []string{SysFilterError, faultExpression}, nil},
}

// catches are the retries of an action. The first that matches wins (semantics.md
// §Functions, events, errors); in the core a specific handler beats a general one, so
// what stands behind a general one is left out here.
func (c *compiler) catches(at ir.Place, a *action) []ir.Catch {
	k := catching{c: c, at: at, action: a, handled: map[string]bool{}, added: map[target]bool{}}
	for _, r := range a.retries {
		if r.unused {
			continue
		}
		switch name := r.match.Literal(); {
		case isAny(name):
			k.any(r)
		case name == SysFail:
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
	c       *compiler
	at      ir.Place
	action  *action
	out     []ir.Catch
	added   map[target]bool // what they are for
	handled map[string]bool // categories
	rest    *retry          // of SYS.Fail, or of all that is left
	closed  bool            // nothing is left for later retries
	whole   bool            // rest takes the other categories too
}

// target is what a handler is for.
type target struct {
	err, code string
	any       bool
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
			k.kind(one, r)
		}
	}
}

// kind handles a category: the faults of its names, and those of its codes. A name says
// more than a code (see [Category]): before the codes, faults with names of other
// categories go to their own retries.
func (k *catching) kind(one category, r *retry) {
	for _, name := range one.errors {
		if r == nil {
			k.named(name)
		}
		k.add(ir.Catch{Error: name}, r)
	}
	if len(one.codes) == 0 {
		return
	}
	for _, other := range categories {
		for _, name := range other.errors {
			k.named(name)
		}
	}
	k.named(SysFail)
	for _, code := range one.codes {
		k.add(ir.Catch{Code: code}, r)
	}
}

// named gives the faults of a name to whom they belong, before anybody asks for their
// code: also to a later retry for just their code.
func (k *catching) named(name string) {
	own := k.first(name, "")
	for _, r := range k.action.retries {
		code := r.match.Literal()
		if r.unused || isCategory(code) || isAny(code) || k.first(name, code) == own {
			continue
		}
		k.add(ir.Catch{Error: name, Code: "none"}, own) // a handler with a code also takes faults without one
		k.add(ir.Catch{Error: name, Code: code}, k.first(name, code))
	}
	k.add(ir.Catch{Error: name}, own)
}

// first is the first retry that is for a fault, nil where none is.
func (k *catching) first(name, code string) *retry {
	for _, r := range k.action.retries {
		match := r.match.Literal()
		if !r.unused && (isAny(match) || match == Category(name, code, "") || !isCategory(match) && (match == name || match == code)) {
			return r
		}
	}
	return nil
}

// literal is the name or code of an error, or a result.
func (k *catching) literal(name string, r *retry) {
	switch {
	case k.closed:
	case k.rest == nil || Category(name, name, "") != SysFail:
		k.add(ir.Catch{Error: name}, r)
		k.add(ir.Catch{Code: name}, r)
	default:
		k.behindFail(name)
	}
	result := k.handler(ir.Catch{Error: resultName(r)}, r)
	if result.Next == 0 {
		result.Next = k.c.Node(k.at, &ir.Raise{
			Error:  SysFail,
			Detail: fmt.Sprintf("function %q gave %q, which is to be tried again, and no attempt is left", k.action.function.name.Text, name),
		}, 0)
	}
	k.out = append(k.out, result)
}

// behindFail is the name of an error behind SYS.Fail: what is left of it are faults
// whose code is of another category. A handler with a name and a code also takes faults
// of the name without a code, and faults of the code without a name: those go to whom
// they belong first.
func (k *catching) behindFail(name string) {
	for _, one := range []string{faultUnnamed, name} {
		k.add(ir.Catch{Error: one, Code: "none"}, k.first(one, ""))
		for _, kind := range categories {
			for _, code := range kind.codes {
				k.add(ir.Catch{Error: one, Code: code}, k.first(one, code))
			}
		}
	}
}

// add adds a handler of faults that no earlier one is for. Fewer handlers are better:
// the core counts the attempts of each.
func (k *catching) add(what ir.Catch, r *retry) {
	if to := (target{what.Error, what.Code, what.Any}); !k.added[to] {
		k.added[to] = true
		k.out = append(k.out, k.handler(what, r))
	}
}

// handler tries again, and then goes to the next state; without one the fault goes on.
func (k *catching) handler(out ir.Catch, r *retry) ir.Catch {
	if r == nil {
		return out // it is not for this action to handle
	}
	if r.max > 0 {
		out.Retry = &ir.Retry{Name: r.match.Literal(), Delay: span(r.interval), Max: r.max}
	}
	if r.next != nil {
		out.Next = k.c.Node(k.at, &ir.Raise{
			Error: givenUp(r), Detail: fmt.Sprintf("a call failed with %s, and no attempt is left", r.match.Literal()),
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
			k.kind(one, nil)
		}
	}
	return append(k.out, k.handler(ir.Catch{Any: true}, k.rest))
}
