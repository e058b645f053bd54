package open

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// sink says what becomes of the results of actions.
type sink interface {
	// result is the output of a task whose raw output is a result; what names it for an assumption.
	result(pos dialect.Pos, what string, p *states.Path, to placed, in view) string
	// taken is the same for what an event carries, as the stream and the plain expression that give it.
	taken(exact, plain string) string
	// needsInput reports whether the result is put together with the data.
	needsInput() bool
}

// plainResult merges a result into the data.
type plainResult struct{ w *writer }

func (r plainResult) result(pos dialect.Pos, what string, p *states.Path, to placed, in view) string {
	return r.w.merged(pos, what, p, to, in)
}

func (r plainResult) taken(exact, plain string) string {
	if plain != "" && !r.w.exact {
		return "$input * " + operand(plain)
	}
	return r.w.fold("$input", exact)
}
func (plainResult) needsInput() bool { return true }

// onlyResult gives the result itself, null where there is none.
type onlyResult struct{ w *writer }

func (r onlyResult) result(_ dialect.Pos, _ string, p *states.Path, to placed, in view) string {
	exact, plain := r.w.picked(p, to, in)
	if exact == "." || plain == "." && !r.w.exact {
		return ""
	}
	if plain != "" && !r.w.exact && p != nil {
		r.w.assume(p.Pos, p.Src+" is there")
	}
	return r.taken(exact, plain)
}

func (r onlyResult) taken(exact, plain string) string {
	if plain != "" && !r.w.exact {
		return plain
	}
	return exact
}
func (onlyResult) needsInput() bool { return false }

// actions are actions one after the other, or side by side.
func (w *writer) actions(sc *scope, a states.Actions, in view, to sink) []*task {
	if !a.Parallel || len(a.List) < 2 {
		var out []*task
		for _, one := range a.List {
			out = append(out, w.action(sc, one, in, to)...)
		}
		return out
	}
	var branches []*task
	inner := newScope()
	for _, one := range a.List {
		w.answers(one)
		list := w.action(inner, one, in, onlyResult{w})
		if len(list) == 1 {
			branches = append(branches, list[0])
		} else {
			branches = append(branches, block(inner.name(words(actionName(one), "both")), list...))
		}
	}
	t := &task{name: sc.name("side by side"), value: obj("fork", obj("branches", list(branches)))}
	return []*task{t.as(w.joined(a.List[0].Pos, ".[]"))}
}

// joined merges results in order.
func (w *writer) joined(pos dialect.Pos, stream string) string {
	if w.exact {
		return w.fold("$input", stream)
	}
	w.assume(pos, "what is done side by side gives objects, of which no list meets another")
	w.assumeObject()
	return fmt.Sprintf("reduce %s as $result ($input; . * $result)", stream)
}

func actionName(a *states.Action) string {
	switch {
	case a.Name != "":
		return a.Name
	case a.Call != nil:
		return a.Call.Function
	case a.Trigger != nil:
		return a.Trigger.Produce.Event.Name
	case a.Subflow != nil:
		return a.Subflow.Workflow
	}
	return "action"
}

// answers notes that the function of an action is assumed to answer something: without an answer, the output of a task
// is its input.
func (w *writer) answers(a *states.Action) {
	if a.Call != nil {
		w.assume(a.Pos, "function "+quote(a.Call.Function)+" always answers something")
		w.calls.Answering[a.Call.Function] = true
	}
}

// action is one action: a call, a workflow, or an event that is sent and one that is waited for; with its condition, the
// waits around it and its retries.
func (w *writer) action(sc *scope, a *states.Action, in view, to sink) []*task {
	for _, what := range a.Unknown {
		w.lose(a.Pos, what, "it is not converted", "do it by hand")
	}
	name := sc.name(actionName(a))
	t := w.retriedAction(w.plainAction(name, a, in, to), a)
	if t == nil {
		return nil
	}
	tasks := []*task{t}
	if a.Before != nil {
		tasks = append([]*task{{name: words("before", name), value: obj("wait", w.duration(a.Before, in))}}, tasks...)
	}
	if a.After != nil {
		tasks = append(tasks, &task{name: words("after", name), value: obj("wait", w.duration(a.After, in))})
	}
	if len(tasks) > 1 && (a.Condition != nil || !to.needsInput()) {
		tasks = []*task{block(name, tasks...)}
		t.name = "action"
	}
	if a.Condition != nil {
		tasks[0].value = tasks[0].value.With("if", str(w.condition(a.Condition, in)))
		if !to.needsInput() { // what is skipped gives its input
			tasks = []*task{block(name, &task{name: "action", value: tasks[0].value.Without("if")})}
			w.lose(a.Condition.Pos, "the condition of an action beside others", "a task of 1.0 that is skipped gives its input", "put the condition around all of them")
		}
	}
	return tasks
}

// plainAction is what an action does.
func (w *writer) plainAction(name string, a *states.Action, in view, to sink) *task {
	switch {
	case a.Call != nil && a.Call.Def != nil && a.Call.Def.Type == states.FunctionLog:
		w.lose(a.Pos, "the function "+quote(a.Call.Function)+", which writes to the log", "1.0 has nothing like it", "add a function of that name to the catalogue")
		return w.callAction(name, a, in, to)
	case a.Call != nil && a.Async:
		w.lose(a.Pos, "that nothing waits for "+quote(a.Call.Function), "a call of 1.0 is waited for", "start a workflow that makes the call, with run and await: false")
		call := w.callAction("call", a, in, onlyResult{w})
		return (&task{name: name, value: obj("try", list([]*task{call}), "catch", expr.EmptyObject)}).as("$input")
	case a.Call != nil:
		return w.callAction(name, a, in, to)
	case a.Evaluate != nil:
		return w.evaluated(name, a, in, to)
	case a.Subflow != nil:
		return w.timed(w.subflowAction(name, a, in, to), a.Timeout)
	case a.Trigger != nil:
		return w.timed(w.triggered(name, a, in, to), a.Timeout)
	}
	return &task{name: name, value: obj("set", jq("."))}
}

// evaluated is an expression function: its result is computed.
func (w *writer) evaluated(name string, a *states.Action, in view, to sink) *task {
	see := in
	if filter := w.inputFilter(a, in); filter != "" {
		see = view{over: "(" + filter + ")"}
	}
	p := w.path(a.Evaluate, see)
	value := p.exact
	if p.list {
		value = "[" + value + "]"
	}
	t := &task{name: name, value: obj("set", jq(value))}
	return t.as(to.result(a.Pos, "what "+quote(actionName(a))+" gives", a.Results, placing(a), view{}))
}

// subflowAction starts a workflow on what the action sees.
func (w *writer) subflowAction(name string, a *states.Action, in view, to sink) *task {
	src := in.jq(".")
	if filter := w.inputFilter(a, in); filter != "" {
		src = filter
	}
	s := *a.Subflow
	t := w.subflow(name, &s, jq(src), onlyResult{w})
	if !s.Wait {
		return t
	}
	t.value = t.value.Without("output")
	return t.as(to.result(a.Pos, "what workflow "+quote(s.Workflow)+" gives", a.Results, placing(a), view{}))
}

func placing(a *states.Action) placed { return placed{to: a.To, wrap: a.Wrap, drop: a.DropResults} }

// retriedAction tries an action again; the error goes on in the end.
func (w *writer) retriedAction(t *task, a *states.Action) *task {
	if a.Retry == nil || !a.Retry.Always && a.Retry.Max == 0 {
		return t
	}
	catch := obj("retry", w.retry(a.Retry))
	if len(a.RetryErrors) > 0 {
		catch = catch.With("when", str(w.matches(&states.Handler{Pos: a.Pos, Errors: a.RetryErrors}, "$error")))
	}
	if len(a.RetryExcept) > 0 {
		catch = catch.With("exceptWhen", str(w.matches(&states.Handler{Pos: a.Pos, Errors: a.RetryExcept}, "$error")))
	}
	return &task{name: t.name, value: obj("try", list([]*task{{name: "attempt", value: t.value}}), "catch", catch)}
}

// timed gives a task its time.
func (w *writer) timed(t *task, d *states.Duration) *task {
	if d != nil {
		t.value = t.value.With("timeout", obj("after", w.duration(d, view{})))
	}
	return t
}

// callAction calls a function. Where its arguments see other data than the result is merged into, a block is
// around the call.
func (w *writer) callAction(name string, a *states.Action, in view, to sink) *task {
	filter := w.inputFilter(a, in)
	args := in
	if filter != "" {
		args = view{}
	}
	t := &task{value: w.call(a.Pos, a.Call.Function, a.Call.Def, w.callArguments(a, args, filter))}
	if a.Results != nil && !a.Results.Shape.Root || len(a.To) > 0 {
		w.answers(a)
	}
	out := to.result(a.Pos, "what "+quote(a.Call.Function)+" answers", a.Results, placing(a), view{})
	if filter == "" || !to.needsInput() {
		t.name = name
		return w.timed(t.from(filter).as(out), a.Timeout)
	}
	w.answers(a)
	t.name = "call"
	return w.timed(block(name, t.from(filter)).as(out), a.Timeout)
}

// callArguments are those of a call. 1.0 names each: what is one expression cannot be said.
func (w *writer) callArguments(a *states.Action, in view, filter string) expr.Value {
	switch {
	case a.Call.Arguments == nil && (filter == "" || w.o.Version05):
		return expr.EmptyObject
	case a.Call.Arguments == nil:
		w.calls.Whole[a.Call.Function] = true
		w.lose(a.Pos, "the call of "+quote(a.Call.Function)+" without arguments", "it receives what the action selects, and in 1.0 every argument of a function has a name; it gets that as the argument \"data\"", "write the arguments")
		return obj("data", jq("."))
	case a.Call.Arguments.Value.IsObject():
		return w.template(a.Call.Arguments, in)
	}
	w.calls.Whole[a.Call.Function] = true
	w.lose(a.Call.Arguments.Pos, "the arguments of "+quote(a.Call.Function), "they are one expression, and in 1.0 every argument of a function has a name; it gets them as the argument \"data\"", "write the arguments")
	return obj("data", w.templated(a.Call.Arguments, a.Call.Arguments.Value, in))
}

// inputFilter is what the expressions of an action see of the data; "": all.
func (w *writer) inputFilter(a *states.Action, in view) string {
	if in.begin != nil && a.Input != nil && !a.Input.Shape.Root && a.Input.Lang == jsonpath.Lang {
		w.lose(a.Input.Pos, "the input filter of "+quote(actionName(a)), "besides what it selects, expressions see the data of the loop or the attributes of events", "write the paths of its arguments in full")
		return ""
	}
	return w.stateFilter(a.Input, in)
}

// call is a call of a function.
func (w *writer) call(pos dialect.Pos, name string, def *states.Function, args expr.Value) expr.Value {
	called := w.function(pos, name, def)
	if called == "" {
		return obj("raise", obj("error", obj("type", str(errorBase+"configuration"), "status", expr.Int(400), "title", str("Not converted"))))
	}
	out := obj("call", str(called))
	if args.Len() > 0 {
		out = out.With("with", args)
	}
	return out
}

// subflow starts another workflow.
func (w *writer) subflow(name string, s *states.Subflow, input expr.Value, to sink) *task {
	child := w.childName(s.Workflow)
	if w.exact && input.Kind() == expr.KindString {
		src := strings.TrimSuffix(strings.TrimPrefix(input.Str(), "${ "), " }")
		input = jq(src + ` | if type == "object" then . else error("the input of a workflow must be an object") end`)
	}
	if child != s.Workflow {
		w.assume(s.Pos, "workflow "+quote(s.Workflow)+" is there as "+quote(child))
	}
	version := "latest"
	if s.Version != "" {
		version = semanticVersion(s.Version)
		w.calls.Versions[s.Workflow] = version
		if version != s.Version {
			w.assume(s.Pos, fmt.Sprintf("workflow %q of version %q is there as version %s", s.Workflow, s.Version, version))
		}
	}
	run := obj("workflow", obj("namespace", str("default"), "name", str(child), "version", str(version), "input", input))
	t := &task{name: name}
	if !s.Wait {
		t.value = obj("run", run.With("await", expr.Bool(false)))
		return t
	}
	t.value = obj("run", run)
	return t.as(to.result(s.Pos, "what workflow "+quote(s.Workflow)+" gives", nil, placed{}, view{}))
}
