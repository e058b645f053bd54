package sw08

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// actions runs actions one after the other, or side by side: then all see the data as it was, and what they give is
// merged in the order of declaration.
func (k *stateCompiler) actions(at ir.Place, a actions, next ir.NodeID) ir.NodeID {
	if !a.parallel || len(a.list) < 2 {
		for _, one := range slices.Backward(a.list) {
			next = k.action(at, one, false, next)
		}
		return next
	}
	fan := &ir.Fan{Join: ir.JoinMerge}
	for _, one := range a.list {
		fan.Branches = append(fan.Branches, k.Branch(ir.Region{Name: one.title(at), Ref: one.ref, Entry: k.action(at, one, false, 0), Collect: true}))
	}
	return k.node(fan, next)
}

// title is what people know an action by.
func (a *action) title(at ir.Place) string {
	switch {
	case a.name.Literal() != "":
		return a.name.Text
	case a.call != nil:
		return a.call.refName.Literal()
	case a.flow != nil:
		return a.flow.workflow.Literal()
	case a.trigger != nil:
		return a.trigger.produce.event.node.Literal()
	}
	return at.Name
}

// actionCompiler compiles one action.
type actionCompiler struct {
	*stateCompiler
	a     *action
	at    ir.Place
	alone bool // it is the one action of an iteration: its result is the element of the output collection
}

func (k *actionCompiler) node(op ir.Op, next ir.NodeID) ir.NodeID {
	return k.compiler.at(k.Node(k.at, op, next), k.a.ref)
}

// action compiles one action (0.8 §Action Definition):
//
//	condition → sleep.before → region (call, timeout, retries) → sleep.after
//
// Sleeps are once per action, not per attempt (docs/semantics.md).
func (k *stateCompiler) action(at ir.Place, a *action, alone bool, next ir.NodeID) ir.NodeID {
	c := &actionCompiler{stateCompiler: k, a: a, at: ir.Place{Name: at.Name, Pos: a.node.IRPos()}, alone: alone}
	if a.name.Literal() != "" {
		c.at.Name = a.name.Text
	}
	done := next
	if a.after != nil {
		done = c.sleep(a.after, done)
	}
	first := c.attempts(done)
	if a.before != nil {
		first = c.sleep(a.before, first)
	}
	if a.condition == nil {
		return first
	}
	return c.node(&ir.Branch{Cases: []ir.Case{{When: k.expr(a.condition), Next: c.somewhere(first)}}}, next)
}

func (k *actionCompiler) sleep(d *duration, next ir.NodeID) ir.NodeID {
	next = k.somewhere(next)
	return k.node(&ir.Await{Timeout: k.span(d), OnTimeout: next}, next)
}

// somewhere is a node that goes on at next, which may be the end of the region.
func (k *actionCompiler) somewhere(next ir.NodeID) ir.NodeID {
	if next == 0 {
		return k.node(&ir.Eval{}, 0)
	}
	return next
}

// attempts runs the action in a region where it can fail, time out or wait for events.
func (k *actionCompiler) attempts(next ir.NodeID) ir.NodeID {
	a := k.a
	r := ir.Region{Name: a.title(k.at), Ref: a.ref, Timeout: k.span(k.attemptTimeout()), Catch: k.actionCatches(next)}
	waits := a.subscribe != nil || a.trigger != nil && a.trigger.result != nil
	if !waits && !r.Timeout.Set && len(r.Catch) == 0 {
		return k.invoke(next)
	}
	r.Entry = k.invoke(0)
	return k.node(&ir.Enter{Region: k.Region(r)}, next)
}

// attemptTimeout bounds one attempt: that of an event that is waited for is instead of actionExecTimeout, and the
// single part of stateExecTimeout holds for all.
func (k *actionCompiler) attemptTimeout() *duration {
	a, own := k.a, k.limit.action
	switch {
	case k.detached():
		return nil
	case a.subscribe != nil && a.subscribe.timeout != nil:
		own = a.subscribe.timeout
	case a.trigger != nil && a.trigger.timeout != nil:
		own = a.trigger.timeout
	case a.timeout != nil:
		own = a.timeout
	}
	return shorter(own, k.limit.single)
}

// detached reports whether nothing waits for the action.
func (k *actionCompiler) detached() bool {
	a := k.a
	return a.call != nil && a.call.async || a.flow != nil && a.flow.async
}

// invoke compiles what the action does.
func (k *actionCompiler) invoke(next ir.NodeID) ir.NodeID {
	a := k.a
	switch {
	case a.call != nil && a.call.inlineExpr:
		return k.evaluated(next)
	case a.call != nil && a.call.async:
		return k.aside(k.called(ir.Put{}, 0), false, next)
	case a.call != nil:
		return k.called(k.result(), next)
	case a.flow != nil:
		return k.subflow(next)
	case a.trigger != nil:
		if a.trigger.result != nil && !a.trigger.async {
			next = k.awaited(a.trigger.result, next)
		}
		return k.emit(k.at, a.ref, &a.trigger.produce, a.from, next)
	case a.publish != nil:
		return k.emit(k.at, a.ref, a.publish, a.from, next)
	case a.subscribe != nil:
		return k.awaited(a.subscribe.event, next)
	case a.raise != nil:
		return k.thrown(k.at, a.ref, a.raise)
	}
	return next
}

// awaited waits for an event whose payload is the result of the action.
func (k *actionCompiler) awaited(u *eventUse, next ir.NodeID) ir.NodeID {
	put := k.result()
	put.Pick = k.eventPick(u.def, put.Pick)
	next = k.somewhere(next)
	return k.node(&ir.Await{Need: 1, Arms: []ir.Arm{{Event: u.def.consumedID, Put: put, Next: next}}}, next)
}

// evaluated is the result of an expression function (0.8 §Using Functions for Expression Evaluation).
func (k *actionCompiler) evaluated(next ir.NodeID) ir.NodeID {
	body := *k.a.call.def.body
	if from := k.a.from; from != nil && body.lang == jq.SelectLang {
		body.src = "[(" + ended(from.src) + ") | values] as $lockstepFrom | (if $lockstepFrom == [] then . elif ($lockstepFrom | length) == 1 then $lockstepFrom[0] " +
			"else $lockstepFrom end) | (" + ended(body.src) + ")"
		body.vars = slices.Concat(from.vars, body.vars)
	}
	return k.node(&ir.Eval{From: k.expr(&body), Put: k.result()}, next)
}

// subflow runs another workflow (0.8 §SubFlowRef Definition).
func (k *actionCompiler) subflow(next ir.NodeID) ir.NodeID {
	f := k.a.flow
	at := ir.Place{Name: k.at.Name, Pos: f.workflow.IRPos()} // what is not there, or fails, is told where it is named
	op := &ir.Spawn{Workflow: f.workflow.Text, Version: f.version.Literal(), From: k.expr(k.a.from)}
	spawn := func(next ir.NodeID) ir.NodeID { return k.compiler.at(k.Node(at, op, next), k.a.ref) }
	switch {
	case !f.async:
		op.Wait, op.Result = true, k.result()
		return spawn(next)
	case f.outlives:
		return spawn(next)
	}
	op.Wait = true
	return k.aside(spawn(0), true, next)
}

// aside runs something that nothing waits for, and whose faults do not count. A daemon ends with the instance.
func (k *actionCompiler) aside(entry ir.NodeID, daemon bool, next ir.NodeID) ir.NodeID {
	name := k.a.title(k.at)
	caught := k.node(&ir.Eval{}, 0)
	// The timeout of the workflow ends it, too.
	r := ir.Region{Name: name, Ref: k.a.ref, Entry: entry, Timeout: k.untilExpiry(), Catch: []ir.Catch{{Any: true, Next: caught}}}
	inside := k.node(&ir.Enter{Region: k.Region(r)}, 0)
	return k.node(&ir.Fan{Join: ir.JoinDrop, Branches: []ir.FanBranch{
		{Region: k.Region(ir.Region{Name: name, Entry: inside, Daemon: daemon}), Detached: true},
	}}, next)
}

// result is what becomes of an action's result (0.8 §Action data filters). One that is no object and has no place
// goes under a name: 0.9 says which, before that it is SonataFlow's (docs/semantics.md).
func (k *actionCompiler) result() ir.Put {
	a := k.a
	if a.drop {
		return ir.Put{}
	}
	put := ir.Put{Mode: ir.PutMerge, Warn: true, Pick: ir.Pick{Expr: k.expr(a.results)}}
	switch {
	case k.alone:
		put.Warn = false // it is for the collection, not for the data
	case a.to != nil && len(a.to.path) > 0:
		put.Path = a.to.path
	default:
		put.Pick.Wrap, put.Pick.Key = ir.WrapOther, unplaced
		if k.w.form == form09 && a.name.Literal() != "" {
			put.Pick.Key = a.name.Text + "-output"
		}
	}
	return put
}

// unplaced is the key of a result that is no object and has no place.
const unplaced = "response"

// expressions are all of an action.
func (a *action) expressions() []*expression {
	out := []*expression{a.condition, a.from, a.results}
	waits := []*duration{a.before, a.after, a.timeout}
	for _, h := range a.handlers {
		if h.then != nil && h.then.throw != nil {
			out = append(out, h.then.throw.value)
		}
		if h.retry != nil {
			waits = append(waits, h.retry.delay)
		}
	}
	switch {
	case a.trigger != nil:
		waits = append(waits, a.trigger.timeout)
	case a.subscribe != nil:
		waits = append(waits, a.subscribe.timeout)
	case a.raise != nil:
		out = append(out, a.raise.value)
	}
	for _, d := range waits {
		if d != nil {
			out = append(out, d.expr)
		}
	}
	switch {
	case a.call != nil:
		out = append(out, a.call.arguments, a.call.selection)
		if a.call.def != nil {
			out = append(out, a.call.def.body)
		}
	case a.trigger != nil:
		out = append(out, a.trigger.produce.data, a.trigger.produce.attributes)
	case a.publish != nil:
		out = append(out, a.publish.data, a.publish.attributes)
	}
	return out
}

// asks reports whether an expression of the action uses a variable.
func (a *action) asks(name string) bool {
	return slices.ContainsFunc(a.expressions(), func(e *expression) bool { return e.asks(name) })
}
