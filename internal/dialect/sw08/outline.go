package sw08

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Outline reads and checks a definition. It is nil if the diagnostics include an error.
func (f frontEnd) Outline(src dialect.Source) (*states.Outline, dialect.Diagnostics) {
	r := &dialect.Reporter{File: src.Document.File, Budget: src.Budget}
	w := newParser(r, src, f.form).workflow(src.Document.Root)
	check(r, w, src.Options)
	if r.HasErrors() {
		return nil, r.Diagnostics()
	}
	o := outliner{w: w, states: map[*state]*states.State{}, events: map[*event]*states.Event{}, functions: map[*function]*states.Function{}}
	out := o.workflow()
	out.Title = f.Title()
	return out, r.Diagnostics()
}

// outliner copies a checked workflow.
type outliner struct {
	w         *workflow
	states    map[*state]*states.State
	events    map[*event]*states.Event
	functions map[*function]*states.Function
}

func (o *outliner) workflow() *states.Outline {
	w := o.w
	out := &states.Outline{
		ID: w.id.Literal(), Name: labelText(w.name), Version: w.version.Literal(), Description: labelText(w.description),
		Metadata: w.metadata.Value(), HasMetadata: w.metadata != nil, Extensions: w.extensions.Value(), HasExtensions: w.extensions != nil,
		InputSchema: o.schema(w.inputSchema), OutputSchema: o.schema(w.outputSchema),
		Constants: w.constants, KeepActive: w.keepActive, StateRetries: w.form == form06,
	}
	for _, n := range w.secrets {
		out.Secrets = append(out.Secrets, n.Text)
	}
	for _, f := range w.functions {
		o.function(out, f)
	}
	for _, e := range w.events {
		one := &states.Event{Pos: e.node.Pos(), Name: e.name.Literal(), Source: e.source.Literal(), Type: e.typ.Literal(), Produced: e.produced, Envelope: e.whole, Either: w.form == form06}
		for _, k := range e.correlation {
			one.Correlation = append(one.Correlation, states.Correlation{Pos: k.attribute.Pos(), Attribute: k.attribute.Text, Value: o.template(k.value)})
		}
		o.events[e] = one
		out.Events = append(out.Events, one)
	}
	for _, s := range w.states { // create all of them before filling any: they refer to each other
		one := &states.State{
			Pos: s.node.Pos(), Name: s.nameText(), Type: stateType(s.typ), Compensates: s.compensation, Metadata: s.metadata.Value(),
			Input: o.path(s.input), Output: o.path(s.output), Timeout: o.duration(s.timeouts.state), UnknownPos: s.node.Pos(),
		}
		o.states[s] = one
		out.States = append(out.States, one)
	}
	for _, s := range w.states {
		o.fill(s, o.states[s])
	}
	out.Start = o.states[w.start]
	o.schedule(out)
	if t := w.timeouts.workflow; t != nil {
		out.Timeout, out.Interrupt = o.duration(t.duration), t.interrupt
		if t.before != nil {
			out.RunBefore = o.states[t.before]
		}
	}
	return out
}

func labelText(e *expression) string {
	if e == nil {
		return ""
	}
	return e.value.Str()
}

func stateType(typ string) string {
	if typ == typeSleep {
		return states.TypeDelay
	}
	return typ
}

func (o *outliner) function(out *states.Outline, f *function) {
	one := &states.Function{Pos: f.node.Pos(), Name: f.name.Literal(), Type: f.typ, Metadata: f.metadata.Value()}
	if f.typ == typeOpenAPI && f.auth == nil {
		one.Operation = beside(f.operation.Literal())
	}
	if r := f.request; r != nil && f.auth == nil {
		one.Type, one.Operation = states.FunctionHTTP, r.method+" "+r.address
	}
	if f.log != "" {
		one.Type = states.FunctionLog
	}
	o.functions[f] = one
	out.Functions = append(out.Functions, one)
}

func (o *outliner) schedule(out *states.Outline) {
	k := o.w.schedule
	if k == nil {
		return
	}
	out.Schedule = &states.Schedule{Pos: k.node.Pos(), Cron: k.cron, Zone: k.zone, DirectInvoke: true}
	if k.zone == "" {
		out.Schedule.Zone = "UTC"
	}
	if r := k.repeating; r != nil {
		out.Schedule.Every = &states.Duration{Pos: k.node.Pos(), Value: r.Every}
		if !r.From.IsZero() || !r.Until.IsZero() || r.Back {
			out.Unknown = append(out.Unknown, "the beginning or the end of the schedule")
		}
	}
	if !k.until.IsZero() {
		out.Unknown = append(out.Unknown, "the end of the schedule, validUntil")
	}
}

func (o *outliner) fill(s *state, out *states.State) {
	out.Exit = o.exit(s.exit)
	if s.undoneBy != nil {
		out.CompensatedBy = o.states[s.undoneBy]
	}
	o.handlers(s, out)
	wait := o.duration(s.timeouts.event)
	switch b := s.body.(type) {
	case *eventState:
		out.Exclusive, out.Wait = b.exclusive, wait
		for _, e := range b.onEvents {
			one := &states.Entry{Pos: e.node.Pos(), Actions: o.actions(e.actions, s.timeouts)}
			for _, u := range e.events {
				one.Events = append(one.Events, o.use(u, e.filter))
			}
			out.Entries = append(out.Entries, one)
		}
	case *operationState:
		out.Actions = o.actions(b.actions, s.timeouts)
	case *switchState:
		out.OnEvents = b.onEvents
		if b.onEvents {
			out.Wait = wait
		}
		if b.hasDefault {
			otherwise := o.exit(b.otherwise)
			out.Default = &otherwise
		}
		for _, k := range b.conditions {
			one := &states.Case{Pos: k.node.Pos(), Name: k.name.Literal(), When: o.path(k.when), Exit: o.exit(k.exit)}
			if k.event != nil {
				one.Event = o.use(k.event, k.filter)
			}
			out.Conditions = append(out.Conditions, one)
		}
	case *sleepState:
		out.Wait = o.duration(b.duration)
	case *parallelState:
		out.Need = o.quantity(b.need)
		for _, br := range b.branches {
			out.Branches = append(out.Branches, &states.Branch{
				Pos: br.node.Pos(), Name: br.name.Literal(), Actions: o.actions(br.actions, br.timeouts), Subflow: subflowOf(br.workflow, true),
				Timeout: o.duration(br.timeouts.branch),
			})
		}
	case *subflowState:
		out.Subflow = subflowOf(b.workflow, b.wait)
		if b.repeat != nil {
			out.Unknown = append(out.Unknown, "the repetition of a sub-workflow")
		}
	case *injectState:
		out.Data = o.template(b.data)
	case *foreachState:
		out.Each = &states.Each{
			Over: o.path(b.over), Variable: b.variable, Into: b.into, Keep: b.keep, Max: o.quantity(b.most), Sequential: b.sequential,
			Actions: o.actions(b.actions, s.timeouts), Subflow: subflowOf(b.workflow, true),
		}
	case *callbackState:
		out.Action, out.Event, out.Wait = o.action(b.action, s.timeouts), o.use(b.event, b.filter), wait
	}
}

// handlers are the error definitions of a state.
func (o *outliner) handlers(s *state, out *states.State) {
	for _, e := range s.onErrors {
		h := &states.Handler{Pos: e.node.Pos(), Exit: o.exit(e.exit), Retry: o.retry(e.retry)}
		if e.error != nil {
			h.Any = e.error.Text == "*"
			h.Errors = []*states.Error{{Name: e.error.Text, Code: e.code.Literal()}}
		}
		for _, u := range e.errors {
			o.known(h, u.def)
		}
		out.Handlers = append(out.Handlers, h)
	}
	for _, h := range s.handlers {
		one := &states.Handler{Pos: h.node.Pos(), Exit: o.exit(s.ownExit()), Retry: o.retry(h.retry), Any: len(h.when) == 0}
		for _, m := range h.when {
			if m.def != nil {
				o.known(one, m.def)
				continue
			}
			if m.instance != nil {
				out.Unknown = append(out.Unknown, "an error handler for the errors of one place, by its instance")
			}
			one.Errors = append(one.Errors, &states.Error{Type: m.typ.Literal(), Status: m.status.Literal()})
		}
		if h.then != nil {
			one.Exit = o.exit(h.then.withCompensation())
			if h.then.throw != nil {
				out.Unknown = append(out.Unknown, "an error handler that throws")
			}
		}
		if len(h.except) > 0 {
			out.Unknown = append(out.Unknown, "exceptWhen of an error handler")
		}
		out.Handlers = append(out.Handlers, one)
	}
}

// known adds an error that the definition names to a handler.
func (o *outliner) known(h *states.Handler, d *errorDef) {
	m := d.match()
	if m == (ir.Match{}) {
		h.Any = true
	}
	h.Errors = append(h.Errors, known(d))
}

func known(d *errorDef) *states.Error {
	m := d.match()
	return &states.Error{Name: m.Error, Code: m.Code, Type: m.Type, Status: m.Status}
}

func subflowOf(n *dialect.Node, wait bool) *states.Subflow {
	if n == nil {
		return nil
	}
	return &states.Subflow{Pos: n.Pos(), Workflow: n.Text, Wait: wait}
}

func (o *outliner) exit(e exit) states.Exit {
	switch {
	case e.transition != nil:
		t := e.transition
		return states.Exit{Pos: t.node.Pos(), Next: o.states[t.to], Produce: o.produced(t.produce), Compensate: t.compensate != nil}
	case e.end != nil:
		out := states.Exit{Pos: e.end.node.Pos(), End: true, Produce: o.produced(e.end.produce), Compensate: e.end.compensate != nil}
		out.Terminate = e.end.terminate && o.w.form == form06
		if e.end.continueAs != nil {
			out.Unknown = append(out.Unknown, "continueAs")
		}
		return out
	}
	return states.Exit{}
}

func (o *outliner) produced(list []*produced) []states.Produced {
	var out []states.Produced
	for _, p := range list {
		out = append(out, o.produce(p))
	}
	return out
}

func (o *outliner) produce(p *produced) states.Produced {
	return states.Produced{Pos: p.event.node.Pos(), Event: o.events[p.event.def], Data: o.template(p.data), Attributes: o.template(p.attributes)}
}

func (o *outliner) use(u *eventUse, f eventFilter) *states.EventUse {
	out := &states.EventUse{Pos: u.node.Pos(), Event: o.events[u.def], Filter: o.path(f.data), Drop: f.drop}
	if f.to != nil {
		out.To = f.to.path
	}
	return out
}

func (o *outliner) actions(a actions, t timeouts) states.Actions {
	out := states.Actions{Parallel: a.parallel}
	for _, one := range a.list {
		out.List = append(out.List, o.action(one, t))
	}
	return out
}

func (o *outliner) action(a *action, t timeouts) *states.Action {
	out := &states.Action{
		Pos: a.node.Pos(), Name: a.name.Literal(), Input: o.path(a.from), Results: o.path(a.results), DropResults: a.drop,
		Condition: o.path(a.condition), Before: o.duration(a.before), After: o.duration(a.after), Wrap: "response",
	}
	if o.w.form == form09 && out.Name != "" {
		out.Wrap = out.Name + "-output"
	}
	if a.to != nil && len(a.to.path) > 0 {
		out.To = a.to.path
	}
	k := &actionCompiler{stateCompiler: &stateCompiler{limit: t}, a: a}
	out.Timeout = o.duration(k.attemptTimeout())
	o.attempts(a, out)
	switch {
	case a.call != nil && a.call.inlineExpr:
		out.Evaluate = o.path(a.call.def.body)
	case a.call != nil:
		out.Async = a.call.async
		out.Call = &states.Call{Function: a.call.refName.Text, Def: o.functions[a.call.def], Arguments: o.arguments(a.call)}
		if def := a.call.def; def != nil && def.auth != nil {
			out.Unknown = append(out.Unknown, fmt.Sprintf("the credentials of function %q", def.name.Literal()))
		}
	case a.flow != nil:
		out.Async = a.flow.async
		out.Subflow = &states.Subflow{Pos: a.flow.node.Pos(), Workflow: a.flow.workflow.Text, Version: a.flow.version.Literal(), Wait: !a.flow.async}
		if a.flow.async && !a.flow.outlives {
			out.Unknown = append(out.Unknown, "that the sub-workflow ends with this one")
		}
	case a.trigger != nil:
		out.Trigger = &states.Trigger{Produce: o.produce(&a.trigger.produce)}
		if a.trigger.result != nil && !a.trigger.async {
			out.Trigger.Result = o.events[a.trigger.result.def]
		}
	case a.publish != nil:
		out.Trigger = &states.Trigger{Produce: o.produce(a.publish)}
	default:
		out.Unknown = append(out.Unknown, "an action that waits for an event or throws an error")
	}
	return out
}

// attempts are the retries of an action.
func (o *outliner) attempts(a *action, out *states.Action) {
	if len(a.handlers) > 0 {
		out.Unknown = append(out.Unknown, "the error handlers of an action")
	}
	if o.w.form != form07 && o.w.form != form08 || a.retry == nil && !o.w.autoRetries {
		return
	}
	out.Retry = o.retry(a.retry)
	if out.Retry == nil {
		second := states.Duration{Pos: a.node.Pos()}
		second.Value.Nanos = 1e9
		out.Retry = &states.Retry{Pos: a.node.Pos(), Delay: &second, Factor: 2, Always: true}
	}
	for _, u := range a.nonRetryable {
		out.RetryExcept = append(out.RetryExcept, known(u.def))
	}
	switch {
	case o.w.autoRetries:
	case len(a.retryable) > 0:
		for _, u := range a.retryable {
			out.RetryErrors = append(out.RetryErrors, known(u.def))
		}
	default:
		for _, e := range o.w.errors {
			out.RetryErrors = append(out.RetryErrors, known(e))
		}
		if len(out.RetryErrors) == 0 {
			out.Retry = nil
		}
	}
}

// arguments are what a function gets.
func (o *outliner) arguments(c *call) *states.Template {
	args := o.template(c.arguments)
	if c.def == nil {
		return args
	}
	wrap := func(v expr.Value) *states.Template {
		return &states.Template{Pos: c.node.Pos(), Lang: o.language(), Value: v}
	}
	value := expr.EmptyObject
	switch c.def.typ {
	case typeGraphQL:
		if args != nil {
			value = value.With("arguments", args.Value)
		}
		if c.selection != nil {
			value = value.With("selectionSet", o.template(c.selection).Value)
		}
		return wrap(value)
	case typeAsyncAPI:
		if args != nil {
			value = value.WithPath([]string{"message", "payload"}, args.Value)
		}
		_, id, _ := strings.Cut(c.def.operation.Literal(), "#")
		value = value.With("operation", expr.String(id))
		return wrap(value)
	}
	return args
}

func (o *outliner) retry(r *retry) *states.Retry {
	if r == nil {
		return nil
	}
	return &states.Retry{
		Pos: r.node.Pos(), Name: r.name.Literal(), Delay: o.duration(r.delay), Add: o.duration(r.increment), Factor: r.multiplier, AtMost: o.duration(r.maxDelay),
		Max: r.maxAttempts, JitterMillis: r.jitterMillis, JitterAtMost: o.duration(r.jitterAtMost),
	}
}

func (o *outliner) language() string {
	if o.w.language == langJSONPath {
		return jsonpath.Lang
	}
	return jq.Lang
}

func (o *outliner) path(e *expression) *states.Path {
	if e == nil {
		return nil
	}
	out := &states.Path{Pos: e.node.Pos(), Lang: o.language(), Src: jq.Uncommented(e.src)}
	if out.Lang == jsonpath.Lang {
		out.Shape, _ = jsonpath.Describe(e.src)
	}
	return out
}

// template is a template, or one expression as the text of one.
func (o *outliner) template(e *expression) *states.Template {
	if e == nil {
		return nil
	}
	out := &states.Template{Pos: e.node.Pos(), Lang: o.language()}
	switch e.lang {
	case jq.TextLang, jsonpath.TemplateLang:
		v, err := expr.ParseJSON([]byte(e.src))
		if err != nil {
			v = e.value
		}
		if out.Value = v; e.lang == jq.TextLang {
			out.Value = uncommented(v)
		}
	case jsonpath.Lang:
		out.Value = expr.String("{{ " + e.src + " }}")
	default:
		out.Value = expr.String("${ " + jq.Uncommented(e.src) + " }")
	}
	return out
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
	return &states.Schema{Pos: s.node.Pos(), Text: s.text, Warn: s.warn}
}
