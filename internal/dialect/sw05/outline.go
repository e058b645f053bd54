package sw05

import (
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// Outline reads and checks a definition. It is nil if the diagnostics include an error.
func (e FrontEnd) Outline(src dialect.Source) (*states.Outline, dialect.Diagnostics) {
	r := &dialect.Reporter{File: src.Document.File, Budget: src.Budget}
	p := newParser(r, src)
	p.form = e.form
	w := p.workflow(src.Document.Root)
	check(r, w, src.Options)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	o := outliner{
		states: map[*state]*states.State{}, events: map[*event]*states.Event{}, functions: map[*function]*states.Function{},
	}
	out := o.workflow(w)
	out.Title = e.Title()
	return out, r.Diagnostics()
}

// outliner copies a checked workflow.
type outliner struct {
	states    map[*state]*states.State
	events    map[*event]*states.Event
	functions map[*function]*states.Function
}

func (o *outliner) workflow(w *workflow) *states.Outline {
	out := &states.Outline{
		Version05: true, StateRetries: true, ID: w.id.Literal(), Name: text(w.name), Version: text(w.version), Description: text(w.description),
		Metadata: w.metadata.Value(), HasMetadata: w.metadata != nil, Extensions: w.extensions.Value(), HasExtensions: w.extensions != nil,
		InputSchema: o.schema(w.inputSchema), OutputSchema: o.schema(w.outputSchema),
	}
	for _, f := range w.functions {
		one := &states.Function{Pos: f.node.Pos(), Name: f.name.Literal(), Operation: f.operation.Literal(), Metadata: f.metadata.Value()}
		o.functions[f] = one
		out.Functions = append(out.Functions, one)
	}
	for _, e := range w.events {
		one := &states.Event{Pos: e.node.Pos(), Name: e.name.Literal(), Source: e.source.Literal(), Type: e.typ.Literal(), Produced: e.produced}
		for _, k := range e.correlation {
			one.Correlation = append(one.Correlation, states.Correlation{Pos: k.attribute.Pos(), Attribute: k.attribute.Text, Value: o.template(k.value)})
		}
		o.events[e] = one
		out.Events = append(out.Events, one)
	}
	for _, s := range w.states { // create all of them before filling any: they refer to each other
		one := &states.State{
			Pos: s.node.Pos(), Name: s.nameText(), Type: s.typ, Compensates: s.compensation, Inside: s.scope.parent != nil, Metadata: s.metadata.Value(),
			Input: o.path(s.input), Output: o.path(s.output), InputSchema: o.schema(s.inputSchema), OutputSchema: o.schema(s.outputSchema),
		}
		o.states[s] = one
		out.States = append(out.States, one)
	}
	for _, s := range w.states {
		o.fill(s, o.states[s])
	}
	out.Start = o.states[w.start]
	if s := w.start.start; s != nil && s.schedule != nil {
		k := s.schedule
		out.Schedule = &states.Schedule{Pos: s.node.Pos(), Interval: k.interval, Window: true, Cron: k.cron, Zone: k.zone, DirectInvoke: k.directInvoke}
	}
	return out
}

// text is a label; one with expressions is only shown.
func text(t *template) string {
	if t == nil {
		return ""
	}
	return t.value.Str()
}

func (o *outliner) fill(s *state, out *states.State) {
	out.Exit = o.exit(s.exit)
	if s.undoneBy != nil {
		out.CompensatedBy = o.states[s.undoneBy]
	}
	out.Retries = o.attempts(s.retries)
	for _, e := range s.onErrors {
		if e.test != nil {
			out.Handlers = append(out.Handlers, o.handler(e))
			continue
		}
		out.Handlers = append(out.Handlers, &states.Handler{
			Pos: e.node.Pos(), Any: e.error.Text == "*", Errors: []*states.Error{{Name: e.error.Text, Code: e.code.Literal()}},
			Retry: o.retry(e.retry), Exit: o.exit(e.exit),
		})
	}
	switch b := s.body.(type) {
	case *eventState:
		out.Exclusive, out.Wait = b.exclusive, o.duration(b.timeout)
		for _, e := range b.onEvents {
			one := &states.Entry{Pos: e.node.Pos(), Actions: o.actions(e.actions)}
			for _, u := range e.events {
				one.Events = append(one.Events, o.use(u, e.filter))
			}
			out.Entries = append(out.Entries, one)
		}
	case *operationState:
		out.Actions = o.actions(b.actions)
	case *switchState:
		otherwise := o.exit(b.otherwise)
		out.OnEvents, out.Wait, out.Default = b.onEvents, o.duration(b.timeout), &otherwise
		for _, k := range b.conditions {
			one := &states.Case{Pos: k.node.Pos(), Name: k.name.Literal(), When: o.when(k), Exit: o.exit(k.exit)}
			if k.event != nil {
				one.Event = o.use(k.event, k.filter)
			}
			out.Conditions = append(out.Conditions, one)
		}
	case *delayState:
		out.Wait = o.duration(b.delay)
	case *parallelState:
		out.Need = o.quantity(b.need)
		for _, br := range b.branches {
			out.Branches = append(out.Branches, &states.Branch{
				Pos: br.node.Pos(), Name: br.name.Literal(), Actions: o.actions(br.actions), Subflow: subflow(br.workflow, true),
				States: o.scope(br.states), Detached: br.detached,
			})
		}
	case *subflowState:
		out.Subflow = subflow(b.workflow, b.wait)
	case *injectState:
		out.Data = o.template(b.data)
	case *foreachState:
		out.Each = &states.Each{
			Over: o.path(b.over), Variable: b.variable.Literal(), Into: b.into, Keep: b.keep, Max: o.quantity(b.max),
			Actions: o.actions(b.actions), Subflow: subflow(b.workflow, true),
			States: o.scope(b.states), In: b.in, Pause: o.duration(b.pause),
		}
	case *callbackState:
		out.Action, out.Event, out.Wait = o.action(b.action), o.use(b.event, b.filter), o.duration(b.timeout)
	}
}

func subflow(n *dialect.Node, wait bool) *states.Subflow {
	if n == nil {
		return nil
	}
	return &states.Subflow{Pos: n.Pos(), Workflow: n.Text, Wait: wait}
}

func (o *outliner) exit(e exit) states.Exit {
	switch {
	case e.transition != nil:
		t := e.transition
		return states.Exit{
			Pos: t.node.Pos(), Next: o.states[t.to], Guard: o.guard(t), Produce: o.produced(t.produce), Compensate: t.compensate != nil,
		}
	case e.end != nil:
		return states.Exit{
			Pos: e.end.node.Pos(), End: true, Terminate: e.end.terminate, Produce: o.produced(e.end.produce), Compensate: e.end.compensate != nil,
		}
	}
	return states.Exit{}
}

func (o *outliner) produced(list []*produced) []states.Produced {
	var out []states.Produced
	for _, p := range list {
		out = append(out, o.produce(*p))
	}
	return out
}

func (o *outliner) produce(p produced) states.Produced {
	return states.Produced{
		Pos: p.event.node.Pos(), Event: o.events[p.event.def], Selects: o.path(p.selects), Data: o.template(p.data), Attributes: o.template(p.attributes),
	}
}

func (o *outliner) use(u *eventUse, filter *path) *states.EventUse {
	return &states.EventUse{Pos: u.node.Pos(), Event: o.events[u.def], Filter: o.path(filter)}
}

func (o *outliner) actions(a actions) states.Actions {
	out := states.Actions{Parallel: a.parallel}
	for _, one := range a.list {
		out.List = append(out.List, o.action(one))
	}
	return out
}

func (o *outliner) action(a *action) *states.Action {
	out := &states.Action{Pos: a.node.Pos(), Name: a.name.Literal(), Timeout: o.duration(a.timeout), Input: o.path(a.input), Results: o.path(a.results)}
	switch {
	case a.call != nil:
		out.Call = &states.Call{Function: a.call.refName.Text, Def: o.functions[a.call.def], Arguments: o.template(a.call.parameters)}
	case a.trigger != nil:
		out.Trigger = &states.Trigger{Produce: o.produce(a.trigger.produce), Result: o.events[a.trigger.result.def]}
	}
	return out
}

func (o *outliner) retry(r *retry) *states.Retry {
	if r == nil {
		return nil
	}
	return &states.Retry{
		Pos: r.node.Pos(), Name: r.name.Literal(), Delay: o.duration(r.delay), Add: o.duration(r.multiplier), Max: r.maxAttempts,
		JitterMillis: r.jitterMillis, JitterAtMost: o.duration(r.jitterAtMost),
	}
}

func (o *outliner) path(p *path) *states.Path {
	if p == nil {
		return nil
	}
	return &states.Path{Pos: p.node.Pos(), Lang: jsonpath.Lang, Src: p.src, Shape: p.Shape}
}

func (o *outliner) template(t *template) *states.Template {
	if t == nil {
		return nil
	}
	return &states.Template{Pos: t.node.Pos(), Lang: jsonpath.Lang, Value: t.value}
}

func (o *outliner) duration(d *duration) *states.Duration {
	if d == nil {
		return nil
	}
	return &states.Duration{Pos: d.node.Pos(), Value: d.value, Expr: o.template(d.expr)}
}

func (o *outliner) quantity(q *quantity) *states.Quantity {
	if q == nil {
		return nil
	}
	return &states.Quantity{Pos: q.node.Pos(), Value: q.value, Expr: o.template(q.expr)}
}

func (o *outliner) schema(s *schema) *states.Schema {
	if s == nil {
		return nil
	}
	return &states.Schema{Pos: s.node.Pos(), Text: s.text}
}
