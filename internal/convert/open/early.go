package open

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/convert"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// early converts a definition of 0.1. What a function answers replaces the data there, as in 1.0.
type early struct {
	*writer
	o     *sw01.Outline
	whole map[string]bool
	named map[string][]string
}

// flow01 is the tasks of a workflow or of a branch.
type flow01 struct {
	e     *early
	s     *sw01.Scope
	scope *scope
	tasks []*task
	names map[*sw01.State]string
	done  string
}

// Early converts a definition of 0.1.
func Early(o *sw01.Outline, opts convert.Options) convert.Result {
	w := &writer{o: &states.Outline{
		Title: convert.Title01(o.Form), ID: o.ID, Name: o.Name, Version: o.Version, Description: o.Description,
		Metadata: o.Metadata, HasMetadata: o.HasMetadata, Extensions: o.Extensions, HasExtensions: o.HasExtensions,
	}, opts: opts, exact: opts.Exact, uses: map[string]expr.Value{}, calls: convert.NewCalls()}
	e := &early{w, o, map[string]bool{}, map[string][]string{}}
	w.keys = correlation{kept: map[string]bool{}}
	main := e.flow(o.Scope, "end")
	doc := obj("document", w.document())
	main.convert()
	if s := e.schedule(); !s.IsNull() {
		doc = doc.With("schedule", s)
	}
	result := w.notes.Result(convert.To10, w.calls, convert.NewDefinition(documentName(o.ID), doc, "do", w.head(), items(main.tasks)))
	result.Whole, result.Named = e.whole, e.named
	result = result.WithErrors(opts.Errors)
	result.Useful = slices.ContainsFunc(o.Scope.States, func(s *sw01.State) bool { return s.Type != "END" && !w.notes.Broken(s.Name) })
	return result
}

func (e *early) flow(s *sw01.Scope, done string) *flow01 {
	f := &flow01{e: e, s: s, scope: newScope(), names: map[*sw01.State]string{}, done: done}
	for _, st := range s.States {
		f.names[st] = f.scope.name(st.Name)
	}
	return f
}

func items(tasks []*task) []convert.Item {
	var out []convert.Item
	for _, t := range tasks {
		out = append(out, convert.Item{Name: t.name, Value: t.item(), Comments: t.comments})
	}
	return out
}

// convert adds the tasks of all states, the start first.
func (f *flow01) convert() {
	f.state(f.s.Start)
	for _, st := range f.s.States {
		if st != f.s.Start {
			f.state(st)
		}
	}
	for i, t := range f.tasks {
		to, _ := t.value.Get("then")
		last := i == len(f.tasks)-1
		if !last && to.Str() == f.tasks[i+1].name || last && to.Str() == f.done {
			t.value = t.value.Without("then")
		}
	}
}

func (f *flow01) add(t *task) *task {
	f.tasks = append(f.tasks, t)
	return t
}

// path01 is a path of 0.1 as one of later versions: it gives the bare value.
func path01(p *sw01.Path) *states.Path {
	if p == nil {
		return nil
	}
	return &states.Path{Pos: p.Pos, Lang: jsonpath.Lang, Src: p.Src, Shape: p.Shape}
}

// shaped is what a result path and an output path make of the data.
func (e *early) shaped(f sw01.Filter) string {
	out := ""
	if o := f.Output; o != nil && o.Keys != nil && len(o.Keys) > 0 && len(o.Keys) <= len(f.Result) && slices.Equal(o.Keys, f.Result[:len(o.Keys)]) {
		// The path leads along the place, so what it selects is known.
		f.Result, f.Output = f.Result[len(o.Keys):], nil
	}
	for _, k := range slices.Backward(f.Result) {
		if out == "" {
			out = "."
		}
		out = fmt.Sprintf("{%s: %s}", key(k), out)
	}
	if then := e.stateFilter(path01(f.Output), view{}); then != "" {
		if out != "" {
			return out + " | " + then
		}
		return then
	}
	return out
}

// next is where a state goes on.
func (f *flow01) next(st, next *sw01.State) string {
	if st.End || next == nil {
		return f.done
	}
	return f.names[next]
}

func (f *flow01) state(st *sw01.State) {
	e := f.e
	e.state = st.Name
	t := f.add(&task{name: f.names[st]})
	if e.opts.Comments != nil {
		t.comments = e.opts.Comments(st.Pos)
	}
	in := e.stateFilter(path01(st.Filter.Input), view{})
	out := e.shaped(st.Filter)
	switch st.Type {
	case "OPERATION":
		inner := e.actions(newScope(), st.Actions)
		f.acts(t, st, st.Actions, inner, out, ".")
		t.then(f.next(st, st.Next))
	case "DELAY":
		t.value = obj("wait", e.delay(st.Delay))
		t.as(out).then(f.next(st, st.Next))
	case "SWITCH":
		t.value = obj("switch", f.choices(st))
		t.as(out)
	case "PARALLEL":
		t.value = f.parallel(st)
		t.as(out).then(f.next(st, st.Next))
	case "SUBFLOW":
		one := e.subflow("", &states.Subflow{Pos: st.Pos, Workflow: st.Workflow, Wait: st.Wait}, jq("."), merging{e.writer})
		t.value = finished(t.name, []*task{one}, out, nil, "").value
		t.then(f.next(st, st.Next))
	case "END":
		f.end(t, st, out)
	case "EVENT":
		f.event(t, st, out)
	}
	t.from(in)
}

// acts is what actions do, with the next states of their retries: such a retry raises an error that the task of the
// state catches. failed is what the data is then.
func (f *flow01) acts(t *task, st *sw01.State, a sw01.Actions, inner []*task, out, failed string) {
	t.value = finished(t.name, inner, out, nil, "").value
	var nexts []*sw01.State
	for _, one := range a.List {
		for _, r := range one.Retries {
			if r.Next != nil && !slices.Contains(nexts, r.Next) {
				nexts = append(nexts, r.Next)
			}
		}
	}
	if len(nexts) == 0 {
		return
	}
	body := []*task{{name: words(st.Name, "itself"), value: t.value}}
	catch := obj("errors", obj("with", obj("type", str(nextType))))
	if len(nexts) == 1 {
		if failed != "." {
			catch = catch.With("do", list([]*task{{name: "forget", value: obj("set", jq(failed))}}))
		}
		t.value = obj("try", list(body), "catch", catch.With("then", str(f.names[nexts[0]])))
		return
	}
	route := f.add(&task{name: f.scope.name(words(st.Name, "failed"))})
	var cases []expr.Value
	for _, n := range nexts {
		cases = append(cases, obj(f.names[n], obj("when", str(".next == "+text(n.Name)), "then", str(f.names[n]))))
	}
	route.value = obj("switch", expr.Array(cases...))
	route.as(".data")
	catch = catch.With("do", list([]*task{{name: "keep", value: obj("set", obj("data", jq(failed), "next", jq("$error.title")))}}))
	t.value = obj("try", list(body), "catch", catch.With("then", str(route.name)))
}

// nextType is the type of the error by which a retry leads to another state; its title is the name of that.
const nextType = "urn:next-state"

func (e *early) actions(sc *scope, a sw01.Actions) []*task {
	if !a.Parallel || len(a.List) == 0 {
		var out []*task
		for _, one := range a.List {
			out = append(out, e.action(sc, one))
		}
		return out
	}
	inner := newScope()
	var branches []*task
	for _, one := range a.List {
		branches = append(branches, e.action(inner, one))
	}
	return []*task{{name: sc.name("side by side"), value: obj("fork", obj("branches", list(branches)))}}
}

// action is one call with its filters and retries.
func (e *early) action(sc *scope, a *sw01.Action) *task {
	name := sc.name(a.Function)
	if _, ok := ir.JobWorkflow(a.Type); ok {
		e.lose(a.Pos, "the type "+a.Type+" of function "+quote(a.Function), "a task of 1.0 cannot create a job", "add a function of that name to the catalogue that does")
	}
	t := &task{name: name, value: e.writer.call(a.Pos, a.Function, nil, e.arguments(a))}
	if a.Timeout != nil {
		t.value = t.value.With("timeout", obj("after", str(a.Timeout.Value.String())))
	}
	in, out := e.stateFilter(path01(a.Filter.Input), view{}), e.shaped(a.Filter)
	tasks := []*task{t.from(in)}
	checks := e.unwanted(a)
	if len(checks) == 0 {
		t.as(out)
	} else {
		tasks = append(tasks, checks...)
		if out != "" {
			tasks = append(tasks, (&task{name: "answer", value: obj("set", jq("."))}).as(out))
		}
	}
	return e.retried(name, a, tasks)
}

// arguments are what a function receives: 1.0 gives each a name.
func (e *early) arguments(a *sw01.Action) expr.Value {
	if a.Parameters != nil {
		return e.parameters(a, *a.Parameters)
	}
	if names, ok := e.opts.Parameters[a.Function]; ok {
		e.named[a.Function] = names
		out := expr.EmptyObject
		for _, n := range names {
			out = out.With(n, jq("objects | ."+key(n))) // nothing is null
			if !e.exact {
				e.assumeObject()
				out = out.With(n, jq("."+key(n)))
			}
		}
		return out
	}
	e.whole[a.Function] = true
	e.lose(a.Pos, "the call of "+quote(a.Function), "it receives the data itself, and in 1.0 every argument of a function has a name; it gets the data as the argument \"data\"",
		"say --parameters "+a.Function+"=NAME,… if it is known what it takes, or let it take \"data\"")
	return obj("data", jq("."))
}

// parameters makes expressions of the paths in parameters.
func (e *early) parameters(a *sw01.Action, v expr.Value) expr.Value {
	switch v.Kind() {
	case expr.KindArray:
		var out []expr.Value
		for _, it := range v.Items() {
			out = append(out, e.parameters(a, it))
		}
		return expr.Array(out...)
	case expr.KindObject:
		out := expr.EmptyObject
		for _, m := range v.Members() {
			out = out.With(m.Key, e.parameters(a, m.Value))
		}
		return out
	case expr.KindString:
		s := strings.TrimSpace(v.Str())
		if s != "$" && !strings.HasPrefix(s, "$.") && !strings.HasPrefix(s, "$[") {
			return literalText(v.Str())
		}
		shape, _ := jsonpath.Describe(s)
		p := e.path(&states.Path{Pos: a.Pos, Lang: jsonpath.Lang, Src: s, Shape: shape}, view{})
		switch {
		case p.list:
			return jq("[" + p.exact + "]")
		case p.plain != "" && !e.exact:
			e.assumeObject()
			return jq(p.plain)
		}
		return jq(p.exact)
	}
	return v
}

func (e *early) delay(a *sw01.Amount) expr.Value {
	if a.Until == "" {
		return str(a.Value.String())
	}
	at, err := time.Parse(time.RFC3339, a.Until)
	if err != nil {
		return str("PT0S")
	}
	return jq(fmt.Sprintf(`[(%s | fromdate) - now, 0] | max | "PT\(.)S"`, text(at.UTC().Format("2006-01-02T15:04:05Z"))))
}

// parallel runs branches side by side; each is a list of tasks.
func (f *flow01) parallel(st *sw01.State) expr.Value {
	e := f.e
	var branches []*task
	sc := newScope()
	for _, b := range st.Branches {
		inner := e.flow(b, "exit")
		inner.convert()
		e.state = st.Name
		t := block(sc.name(b.Name), inner.tasks...)
		if !b.Wait {
			e.lose(b.Pos, fmt.Sprintf("branch %q, which is not waited for", b.Name), "a fork of 1.0 waits for all its branches", "start a workflow that is not waited for, with run and await: false")
			t.as("null")
		}
		branches = append(branches, t)
	}
	return obj("fork", obj("branches", list(branches)))
}

// end is the end of the workflow, or of a branch.
func (f *flow01) end(t *task, st *sw01.State, out string) {
	if !st.Failure {
		t.value = obj("set", jq("."))
		t.as(out).then(f.done)
		return
	}
	if f.done == "end" {
		f.e.lose(st.Pos, "END with status FAILURE", "a workflow of 1.0 that fails has no output", "keep what is needed of the output elsewhere")
	}
	t.value = failure(sw01.SysFail)
}

// merging merges what a sub-workflow gives: an object, or nothing.
type merging struct{ w *writer }

func (m merging) result(pos dialect.Pos, what string, _ *states.Path, _ placed, _ view) string {
	if !m.w.exact {
		m.w.assume(pos, what+" is an object, and no list of it meets a list in the data")
		m.w.assumeObject()
	}
	return m.taken(".", ".")
}
func (m merging) taken(exact, plain string) string { return plainResult(m).taken(exact, plain) }
func (merging) needsInput() bool                   { return true }

// failure is a task that fails.
func failure(title string) expr.Value {
	return obj("raise", obj("error", obj("type", str(errorBase+"runtime"), "status", expr.Int(500), "title", str(title))))
}
