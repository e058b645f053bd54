package sw08

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// stateBegan is a variable of a state's region: when it was entered.
const stateBegan = "lockstepStateBegan"

// totalTimeout is the stateExecTimeout of the whole body. States that wait for an event have it in parts: see
// waitTimeout.
func (k *stateCompiler) totalTimeout() ir.Span {
	switch k.s.body.(type) {
	case *eventState, *callbackState:
		return ir.Span{}
	}
	return k.span(k.s.timeouts.state)
}

// waitTimeout is how long an event or callback state waits for its event: eventTimeout, or stateExecTimeout where
// that is over earlier, which ends a wait alike (0.8 §Callback State, example). The wait of a callback begins after
// its action, so which is over earlier is known only then.
func (k *stateCompiler) waitTimeout() ir.Span {
	t := k.s.timeouts
	first := shorter(t.event, t.state)
	if _, callback := k.s.body.(*callbackState); callback && first != nil && first != t.state && t.state != nil {
		if event, ok := t.event.millis(); ok {
			if total, ok := t.state.millis(); ok {
				src := fmt.Sprintf(`[%d, ([%d - ($now.epoch.milliseconds - $%s.epoch.milliseconds), 0] | max)] | min | "PT\(. / 1000)S"`, event, total, stateBegan)
				return ir.Span{Set: true, Expr: k.jq(src, t.event.node.IRPos())}
			}
		}
	}
	out := k.span(first)
	if first != nil && first == t.state {
		out.Since = k.began()
	}
	return out
}

// millis is a duration in milliseconds, where that is the same at all times and exact.
func (d *duration) millis() (int64, bool) {
	day := int64(24 * time.Hour / time.Millisecond)
	exact := d.expr == nil && d.value.Months == 0 && d.value.Nanos%int64(time.Millisecond) == 0
	return d.value.Days*day + d.value.Nanos/int64(time.Millisecond), exact
}

func (k *stateCompiler) began() ir.ExprID { return k.jq("$"+stateBegan+".iso8601", k.s.node.IRPos()) }

// bounded runs what an event or callback state does besides waiting, under what is left of its stateExecTimeout.
func (k *stateCompiler) bounded(body func(next ir.NodeID) ir.NodeID, next ir.NodeID) ir.NodeID {
	if k.s.timeouts.state == nil {
		return body(next)
	}
	total := k.span(k.s.timeouts.state)
	total.Since = k.began()
	return k.node(&ir.Enter{Region: k.Region(ir.Region{Name: k.at.Name, Ref: k.s.ref, Entry: body(0), Total: total})}, next)
}

// noted remembers when the state was entered, where its timeout is divided: outside of its region, so that
// retries do not change it.
func (k *stateCompiler) noted(next ir.NodeID) ir.NodeID {
	if k.s.timeouts.state == nil || k.totalTimeout().Set {
		return next
	}
	return k.node(&ir.Eval{From: k.jq("$now", k.s.node.IRPos()), Put: bound(stateBegan)}, next)
}

// starts reports whether events of the state start instances.
func (k *stateCompiler) starts() bool {
	_, ok := k.s.body.(*eventState)
	return ok && k.s == k.w.start
}

// eventState waits for events, then acts (0.8 §Event State).
//
// In the start state the events are there already, so there is no timeout, and a retry repeats the actions with the
// same events (0.6 §Defining Retries). Elsewhere the timeout skips the actions.
func (k *stateCompiler) eventState(b *eventState, next ir.NodeID) ir.NodeID {
	starts := k.starts()
	after := next
	if after == 0 { // a timeout goes on at a node
		after = k.node(&ir.Eval{}, 0)
	}
	act := func(list ...*onEvents) ir.NodeID {
		first := k.bounded(func(next ir.NodeID) ir.NodeID {
			for _, o := range slices.Backward(list) {
				next = k.actions(k.at, o.actions, next)
			}
			return next
		}, next)
		if starts {
			first = k.noted(k.node(&ir.Eval{Checkpoint: true}, first)) // its time begins with the events
		} else if first == 0 {
			first = after
		}
		return first
	}
	await := &ir.Await{Need: 1}
	switch {
	case !starts:
		await.Timeout, await.OnTimeout = k.waitTimeout(), after
	case k.w.keepActive:
		// The first time the events are there; later the timeout of the workflow ends the wait.
		if await.Timeout = k.remaining(); await.Timeout.Set {
			await.OnTimeout = k.outward(1, k.expired)
		}
	}
	if b.exclusive {
		for _, o := range b.onEvents {
			await.Arms = k.arms(await.Arms, o, act(o), false)
		}
		return k.node(await, after)
	}
	first := act(b.onEvents...)
	for _, o := range b.onEvents {
		await.Arms = k.arms(await.Arms, o, first, true)
	}
	await.Need = len(await.Arms)
	return k.node(await, first)
}

// arms adds an arm for each event of an entry. An event that stands twice needs no second arm where one
// arrival serves both, or where the first entry takes it.
func (k *stateCompiler) arms(arms []ir.Arm, o *onEvents, next ir.NodeID, all bool) []ir.Arm {
	for _, u := range o.events {
		arm := ir.Arm{Event: u.def.consumedID, Put: k.eventPut(u.def, o.filter), Next: next}
		k.spend(len(arms) / 16)
		if slices.ContainsFunc(arms, func(a ir.Arm) bool { return a.Event == arm.Event && (!all || k.samePut(a.Put, arm.Put)) }) {
			continue
		}
		arms = append(arms, arm)
	}
	return arms
}

// samePut reports whether two puts do the same, wherever they stand.
func (k *stateCompiler) samePut(a, b ir.Put) bool {
	same := k.Program.Exprs[a.Pick.Expr].Src == k.Program.Exprs[b.Pick.Expr].Src && slices.Equal(a.Path, b.Path)
	return same && a.Mode == b.Mode && a.Pick.First == b.Pick.First
}

// callbackState runs its action, then waits for the event that its region listens to (0.8 §Callback State).
func (k *stateCompiler) callbackState(b *callbackState, next ir.NodeID) ir.NodeID {
	after := next
	if after == 0 {
		after = k.node(&ir.Eval{}, 0)
	}
	wait := k.node(&ir.Await{
		Need: 1, Timeout: k.waitTimeout(), OnTimeout: after,
		Arms: []ir.Arm{{Event: b.event.def.consumedID, Listen: 1, Put: k.eventPut(b.event.def, b.filter), Next: after}},
	}, after)
	return k.bounded(func(next ir.NodeID) ir.NodeID { return k.action(k.at, b.action, false, next) }, wait)
}

// parallelState runs branches side by side and merges what they add (0.8 §Parallel State).
func (k *stateCompiler) parallelState(b *parallelState, next ir.NodeID) ir.NodeID {
	fan := &ir.Fan{Need: k.quantity(b.need), Join: ir.JoinMerge}
	for _, br := range b.branches {
		here := ir.Place{Name: br.name.Literal(), Pos: br.node.IRPos()}
		k.limit = br.timeouts
		r := ir.Region{Name: here.Name, Ref: k.s.ref, Entry: k.work(here, br.actions, br.workflow), Timeout: k.span(br.timeouts.branch), Collect: true}
		fan.Branches = append(fan.Branches, k.Branch(r))
	}
	k.limit = k.s.timeouts
	return k.node(fan, next)
}

// foreachState runs its actions per item (0.8 §ForEach State). The iteration parameter is a key of the data, and a
// variable where an expression asks for it.
func (k *stateCompiler) foreachState(b *foreachState, next ir.NodeID) ir.NodeID {
	entry := ir.NodeID(0)
	switch {
	case b.workflow != nil:
		entry = k.spawn(k.at, b.workflow, true, 0)
		k.Program.Nodes[entry].Op.(*ir.Spawn).Result = ir.Put{Mode: ir.PutMerge} // the element is what it gives
	case len(b.actions.list) == 1:
		entry = k.action(k.at, b.actions.list[0], true, 0)
	default:
		entry = k.actions(k.at, b.actions, 0)
	}
	if !reserved(b.variable) && slices.ContainsFunc(b.actions.list, func(a *action) bool { return a.asks(b.variable) }) {
		src := ".[" + expr.String(b.variable).String() + "]"
		entry = k.node(&ir.Eval{From: k.jq(src, k.s.node.IRPos()), Put: bound(b.variable)}, entry)
	}
	each := &ir.Each{
		Over: k.expr(b.over), Var: b.variable, Max: k.quantity(b.most), Batch: b.batch && b.most != nil,
		Body: k.Region(ir.Region{Name: k.at.Name, Entry: entry, Collect: true}),
	}
	if b.sequential {
		each.Max, each.Batch = k.jq("1", k.s.node.IRPos()), false
	}
	fan := &ir.Fan{Each: each, Join: ir.JoinDrop}
	if b.keep {
		fan.Join, fan.Path = ir.JoinAppend, b.into
	}
	return k.node(fan, next)
}

// subflowState compiles 0.6 §SubFlow State. The data of one execution goes into the next.
func (k *stateCompiler) subflowState(b *subflowState, next ir.NodeID) ir.NodeID {
	if b.repeat == nil {
		return k.spawn(k.at, b.workflow, b.wait, next)
	}
	r := b.repeat
	pos := r.node.IRPos()
	after := k.node(&ir.Eval{}, next)
	again := k.node(&ir.Eval{}, 0) // filled below: what is asked before each execution

	// Behind an execution: count it, stop after an event, then again.
	const count, most = "lockstepExecutions", "lockstepMostExecutions"
	behind := again
	if len(r.stop) > 0 {
		look := &ir.Await{Need: 1, Timeout: ir.Span{Set: true}, OnTimeout: again}
		for i, u := range r.stop {
			look.Arms = append(look.Arms, ir.Arm{Event: u.def.consumedID, Listen: i + 1, Next: after})
		}
		behind = k.node(look, again)
	}
	if r.max != nil {
		behind = k.node(&ir.Eval{From: k.jq("$"+count+" + 1", pos), Put: bound(count)}, behind)
	}
	if r.while != nil && !r.checkBefore {
		behind = k.node(&ir.Branch{Cases: []ir.Case{{When: k.expr(r.while), Next: behind}}}, after)
	}
	run := k.spawn(k.at, b.workflow, true, 0)
	region := ir.Region{Name: k.at.Name, Entry: run}
	if r.continueOnError {
		region.Catch = k.ignored(behind)
	}
	run = k.node(&ir.Enter{Region: k.Region(region)}, behind)
	if r.while != nil && r.checkBefore {
		run = k.node(&ir.Branch{Cases: []ir.Case{{When: k.expr(r.while), Next: run}}}, after)
	}
	if r.max != nil {
		run = k.node(&ir.Branch{Cases: []ir.Case{{When: k.jq("$"+count+" < ($"+most+" | tonumber)", pos), Next: run}}}, after)
	}
	k.Program.Nodes[again].Next = run
	if r.max != nil {
		again = k.node(&ir.Eval{From: k.quantity(r.max), Put: bound(most)}, again)
		again = k.node(&ir.Eval{From: k.jq("0", pos), Put: bound(count)}, again)
	}
	return again
}

// ignored goes on after every error that the state does not handle itself: such a one ends the repetition (0.6 §Repeat
// Definition).
func (k *stateCompiler) ignored(next ir.NodeID) []ir.Catch {
	one := ir.Catch{When: []ir.Match{{}}, Next: next}
	for _, e := range k.s.onErrors {
		if e.error.Literal() == "*" {
			return nil
		}
		one.Except = append(one.Except, k.uses(e.errors)...)
		if e.error != nil {
			one.Except = append(one.Except, ir.Match{Error: e.error.Text, Code: e.code.Literal()})
		}
	}
	return []ir.Catch{one}
}

// work is what a branch or an iteration does; an empty one does nothing.
func (k *stateCompiler) work(at ir.Place, a actions, workflow *dialect.Node) ir.NodeID {
	if workflow != nil {
		return k.spawn(at, workflow, true, 0)
	}
	return k.actions(at, a, 0)
}

// spawn starts another workflow with the data; what it gives is merged where it is waited for.
func (k *stateCompiler) spawn(at ir.Place, workflow *dialect.Node, wait bool, next ir.NodeID) ir.NodeID {
	at.Pos = workflow.IRPos() // what is not there, or fails, is told where it is named
	op := &ir.Spawn{Workflow: workflow.Text, Wait: wait}
	if wait {
		op.Result = ir.Put{Mode: ir.PutMerge, Warn: true, Pick: ir.Pick{Wrap: ir.WrapOther, Key: unplaced}}
	}
	return k.Node(at, op, next)
}
