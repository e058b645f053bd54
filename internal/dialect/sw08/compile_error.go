package sw08

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// catches compiles the handlers of a state. Their ways out are in the frame around its region. Without retries the
// handlers only lead out.
func (k *stateCompiler) catches(retries bool) []ir.Catch {
	out := append([]ir.Catch(nil), k.jumps...)
	for _, e := range k.s.onErrors {
		one := ir.Catch{Next: k.way(k.s, e.exit)}
		switch {
		case e.error == nil:
			one.When = k.uses(e.errors)
		case e.error.Text == "*":
			one.Any = true
		default:
			one.Error, one.Code = e.error.Text, e.code.Literal()
		}
		if retries {
			one.Retry = k.retry(e.retry)
		}
		out = append(out, one)
	}
	for _, h := range k.s.handlers {
		one := k.handled(h, retries)
		late := k.unretried(one)
		switch then := h.then; {
		case then == nil:
			one.Next = k.leave(k.s.ownExit())
		case then.throw == nil:
			one.Next = k.way(k.s, then.withCompensation())
		case !then.throw.again:
			one.Next = k.thrown(k.at, k.s.ref, then.throw)
		}
		for _, l := range late {
			l.Next = one.Next
			out = append(out, l)
		}
		out = append(out, one)
	}
	return out
}

// unretried is a handler with retries for the timeout of a state that has it inside of its region: nothing retries that.
func (k *stateCompiler) unretried(c ir.Catch) []ir.Catch {
	if c.Retry == nil || k.s.timeouts.state == nil || k.totalTimeout().Set {
		return nil
	}
	c.Retry = nil
	c.Only = &ir.ErrorFilter{With: []ir.Member{
		{Name: "instance", Value: expr.String(k.s.ref).String()}, {Name: "type", Value: expr.String(errorBase + "timeout").String()},
	}}
	return []ir.Catch{c}
}

// ownExit is where a state goes on whose error was handled without saying where: a switch by its default.
func (s *state) ownExit() exit {
	if b, ok := s.body.(*switchState); ok {
		return b.otherwise
	}
	return s.exit
}

// handled is a handler of 0.9 but for where it leads to (0.9 §Error Handler Definition).
func (k *stateCompiler) handled(h *handler, retries bool) ir.Catch {
	out := ir.Catch{When: k.matches(h.when), Except: k.matches(h.except)}
	if len(h.when) == 0 {
		out.When = []ir.Match{{}}
	}
	if retries {
		out.Retry = k.retry(h.retry)
	}
	return out
}

// leaves reports whether an outcome leads out of the state.
func (o *outcome) leaves() bool { return o != nil && o.throw == nil }

// withCompensation is the exit of an outcome, with the compensation that the outcome itself asks for.
func (o *outcome) withCompensation() exit {
	e := o.exit
	switch {
	case o.compensate == nil:
	case e.transition != nil:
		t := *e.transition
		t.compensate, e.transition = o.compensate, &t
	case e.end != nil:
		t := *e.end
		t.compensate, e.end = o.compensate, &t
	}
	return e
}

// actionCatches compiles what handles faults of an action, in its own region: retries (0.7, 0.8), or the handlers of
// 0.9. next is where the action goes on.
//
// A handler of an action that leads out of the state cannot go there from inside of a branch: it raises a fault
// that the state's region handles.
func (k *actionCompiler) actionCatches(next ir.NodeID) []ir.Catch {
	if k.detached() {
		return nil
	}
	var out []ir.Catch
	if one, ok := k.retried(); ok {
		out = append(out, one)
	}
	for i, h := range k.a.handlers {
		one := k.handled(h, true)
		switch then := h.then; {
		case then == nil:
			one.Next = k.somewhere(next)
		case then.throw == nil:
			name, ref := fmt.Sprintf("handled by %s", h.label()), fmt.Sprintf("%s/onErrors/%d/then", k.a.ref, i) // no fault from outside has that
			k.jumps = append(k.jumps, ir.Catch{When: []ir.Match{{Error: name, Instance: ref}}, Next: k.way(k.s, then.withCompensation())})
			jump := k.Node(k.at, &ir.Raise{Error: name, Detail: "the error handler of " + k.a.title(k.at) + " leads out of the state"}, 0)
			one.Next = k.compiler.at(jump, ref)
		case !then.throw.again:
			one.Next = k.thrown(k.at, k.a.ref, then.throw)
		}
		out = append(out, one)
	}
	return out
}

// retried is the retry of an action (0.8 §Defining Retries): of the errors that are listed, else of all known ones;
// with autoRetries of all errors, known or not.
func (k *actionCompiler) retried() (ir.Catch, bool) {
	a := k.a
	if k.w.form != form07 && k.w.form != form08 || a.retry == nil && !k.w.autoRetries {
		return ir.Catch{}, false
	}
	out := ir.Catch{Except: k.uses(a.nonRetryable), Retry: k.retry(a.retry)}
	if out.Retry == nil {
		// 0.8 §Defining Retries: for ever, after a second, then twice as long as before.
		out.Retry = &ir.Retry{Delay: ir.Span{Set: true, Nanos: 1e9}, Factor: 2, Carry: true, Always: true}
	}
	switch {
	case k.w.autoRetries:
		out.When = []ir.Match{{}}
	case len(a.retryable) > 0:
		out.When = k.uses(a.retryable)
	default:
		k.spend(len(k.known))
		out.When = k.known
	}
	return out, len(out.When) > 0
}

// uses are the matches of references to errors.
func (c *compiler) uses(list []*errorUse) []ir.Match {
	c.spend(len(list))
	var out []ir.Match
	for _, u := range list {
		if u.def != nil {
			out = append(out, u.def.match())
		}
	}
	return out
}

// matches are those of a handler of 0.9 (§Error Reference).
func (c *compiler) matches(list []*errorMatch) []ir.Match {
	c.spend(1 + len(list))
	var out []ir.Match
	for _, m := range list {
		one := ir.Match{Type: errorType(m.typ.Literal()), Code: m.status.Literal(), Instance: m.instance.Literal()}
		if m.def != nil {
			one = m.def.match()
		}
		out = append(out, one)
	}
	return out
}

// match is what an error that the definition names is: by type and status (0.9), else by code, else by name
// (docs/semantics.md). SonataFlow writes an HTTP status as HTTP:404, and a timeout as TimedOut.
func (e *errorDef) match() ir.Match {
	if e.typ != nil || e.status != nil {
		return ir.Match{Type: errorType(e.typ.Literal()), Code: e.status.Literal(), Instance: e.instance.Literal()}
	}
	out := ir.Match{Error: e.name.Literal(), Code: strings.TrimPrefix(e.code.Literal(), "HTTP:")}
	switch {
	case out.Code == "TimedOut":
		return ir.Match{Error: faultTimeout}
	case out.Error == "*":
		return ir.Match{}
	}
	return out
}

// retry compiles a retry strategy; nil for none (0.8 §Retry Definition).
func (c *compiler) retry(r *retry) *ir.Retry {
	if r == nil {
		return nil
	}
	out := &ir.Retry{
		Name: r.name.Literal(), Delay: c.span(r.delay), Add: c.span(r.increment), Factor: r.multiplier, AtMost: c.span(r.maxDelay),
		Max: r.maxAttempts, JitterMillis: r.jitterMillis, JitterAtMost: c.span(r.jitterAtMost),
	}
	// Each delay is made of the one that was taken before, and the longest bounds it with its jitter.
	out.Carry = out.Add.Set || out.Factor != 0 || out.AtMost.Set
	return out
}

// thrown raises an error of 0.9 (§Error Throw Definition), whose instance is ref.
func (k *stateCompiler) thrown(at ir.Place, ref string, t *throw) ir.NodeID {
	var object *expression
	switch {
	case t.value != nil:
		one := *t.value
		if typ, _ := one.value.Get("type"); typ.Kind() == expr.KindString {
			one.value = one.value.With("type", expr.String(errorType(typ.Str())))
			one.src = one.value.String()
		}
		object = &one
	case t.def != nil:
		object = k.errorObject(t)
	}
	return k.compiler.at(k.Node(at, &ir.Raise{From: k.expr(object), Error: "Error"}, 0), ref)
}

// errorObject is the error object that a defined error is raised as, a template. Its title is its name where it has
// none of its own.
func (c *compiler) errorObject(t *throw) *expression {
	e := t.def
	out := c.composed(t.node, member{"detail", e.detail}, member{"title", e.title})
	for _, m := range []struct{ key, text string }{
		{"type", errorType(e.typ.Literal())}, {"status", e.status.Literal()}, {"title", e.name.Literal()},
	} {
		if _, given := out.value.Get(m.key); !given && m.text != "" {
			out.value = out.value.With(m.key, expr.String(m.text))
		}
	}
	out.src = out.value.String()
	return out
}

// The types of errors that a runtime raises (0.9 §Error Types).
const errorBase = "https://serverlessworkflow.io/spec/errors/"

type errorName struct {
	fault, name string
	status      int
}

var errorNames = []errorName{
	{faultTimeout, "timeout", 408},
	{"ExpressionError", "expression", 400},
	{"SchemaViolation", "validation", 400},
	{"DataError", "runtime", 500},
	{"FunctionNotFound", "runtime", 500},
	{"WorkflowNotFound", "runtime", 500},
	{faultNoMatch, "runtime", 500},
	{"authentication", "authentication", 401},
	{"authorization", "authorization", 403},
	{"StepLimit", "runtime", 500},
	{"StateLimit", "runtime", 500},
	{"Cancelled", "runtime", 500},
	{"", "communication", 500},
}

// typedErrors reports whether errors have types and statuses: in 0.9, and where an earlier version uses its handlers.
func (w *workflow) typedErrors() bool {
	return w.form == form09 || len(w.handlers) > 0 || len(w.policies) > 0 ||
		slices.ContainsFunc(w.errors, func(e *errorDef) bool { return e.typ != nil || e.status != nil }) ||
		slices.ContainsFunc(w.states, func(s *state) bool { return len(s.allHandlers()) > 0 })
}

func errorTypes() []ir.ErrorType {
	var out []ir.ErrorType
	for _, e := range errorNames {
		out = append(out, ir.ErrorType{Fault: e.fault, Type: errorBase + e.name, Status: e.status})
	}
	return out
}

// errorType returns the type as it is raised and compared: standard ones may be written without their base.
func errorType(typ string) string {
	if typ == "configuration" || slices.ContainsFunc(errorNames, func(e errorName) bool { return e.name == typ }) {
		return errorBase + typ
	}
	return typ
}
