package open

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
)

// convert adds the tasks of a state.
func (f *flow) convert(s *states.State) {
	w := f.w
	w.state = s.Name
	at := len(f.tasks)
	switch {
	case s.Type == states.TypeSwitch && s.OnEvents:
		f.eventSwitch(s)
	case s.Type == states.TypeSwitch:
		f.dataSwitch(s)
	case s == w.o.Start && w.graph.startsWithEvents() && f.done == "end":
		f.startEvent(s)
	default:
		f.assemble(s, w.body(s), ".")
	}
	if w.opts.Comments != nil && len(f.tasks) > at {
		f.tasks[at].comments = w.opts.Comments(s.Pos)
	}
	for _, what := range s.Unknown {
		w.lose(s.UnknownPos, what, "it is not converted", "do it by hand")
	}
}

// body is what a state does, as tasks one after the other on its data.
func (w *writer) body(s *states.State) []*task {
	sc := newScope()
	switch s.Type {
	case states.TypeOperation:
		return w.actions(sc, s.Actions, view{}, plainResult{w})
	case states.TypeDelay:
		return []*task{{name: sc.name("wait"), value: obj("wait", w.duration(s.Wait, view{}))}}
	case states.TypeInject:
		return w.inject(sc, s)
	case states.TypeSubflow:
		return []*task{w.subflow(sc.name(s.Subflow.Workflow), s.Subflow, jq("."), plainResult{w})}
	case states.TypeParallel:
		return w.parallel(sc, s)
	case states.TypeForeach:
		return w.foreach(sc, s)
	case states.TypeCallback:
		return w.callback(sc, s)
	case states.TypeEvent:
		return w.eventState(sc, s)
	}
	w.breaks(s.Pos, "a state of type "+quote(s.Type), "1.0 has nothing like it", "write it by hand")
	return nil
}

// inject merges fixed data.
func (w *writer) inject(sc *scope, s *states.State) []*task {
	if s.Data == nil || s.Data.Value.Len() == 0 {
		return nil
	}
	t := &task{name: sc.name("data"), value: obj("set", w.template(s.Data, view{}))}
	if !w.exact && !hasList(s.Data.Value) {
		// Nothing of it can meet a list and be joined with it.
		w.assumeObject()
		return []*task{t.as("$input * .")}
	}
	return []*task{t.as(w.merged(s.Data.Pos, "what the state injects", nil, placed{}, view{}))}
}

// hasList reports whether a template may give a list somewhere.
func hasList(v expr.Value) bool {
	for _, m := range v.Members() {
		if hasList(m.Value) {
			return true
		}
	}
	return v.IsArray() || v.Kind() == expr.KindString
}

// assemble adds the task of a state that does something and goes on. failed is what the data is after an error.
func (f *flow) assemble(s *states.State, inner []*task, failed string) {
	w := f.w
	name := f.names[s]
	out := w.stateFilter(s.Output, view{})
	export := w.completed(s)
	t := &task{name: name}
	f.add(t) // before those of its ways out
	limit := s.Timeout
	if s.Type == states.TypeEvent || s.Type == states.TypeCallback {
		limit = nil // it ends the wait: see waits
	}
	switch {
	case len(s.Handlers)+len(s.Retries) > 0:
		body := inner
		if limit != nil && len(inner) > 0 {
			body = []*task{w.timed(block(words(s.Name, "in time"), inner...), limit)}
			inner = body
			if slices.ContainsFunc(s.Handlers, func(h *states.Handler) bool { return h.Retry != nil }) {
				w.lose(limit.Pos, "the timeout of a state with its retries", "in 1.0 it is for each attempt", "choose a shorter one")
			}
		}
		if out != "" || s.OutputSchema != nil || export != "" {
			// After an error neither has an effect.
			body = []*task{finished(words(s.Name, "itself"), inner, out, s.OutputSchema, export)}
		}
		t.value = f.guarded(s, body, failed)
	default:
		t.value = finished(name, inner, out, s.OutputSchema, export).value
		if limit != nil && t.has("timeout") {
			t.value = block(name, &task{name: words(s.Name, "itself"), value: t.value}).value
		}
		w.timed(t, limit)
	}
	t.from(w.stateFilter(s.Input, view{}))
	if s.InputSchema != nil {
		in, _ := t.value.Get("input")
		if in.IsNull() {
			in = expr.EmptyObject
		}
		t.value = t.value.With("input", in.With("schema", schema(s.InputSchema)))
	}
	t.then(f.way(s, s.Exit, ""))
}

// finished is tasks as one, with what follows them.
func finished(name string, inner []*task, out string, check *states.Schema, export string) *task {
	var t *task
	switch {
	case len(inner) == 0:
		t = &task{name: name, value: obj("set", jq("."))}
	case len(inner) == 1 && !inner[0].has("export") && !inner[0].has("then") && !inner[0].has("if"): // what is skipped does not follow its then
		t = &task{name: name, value: inner[0].value}
		if inner[0].has("input") { // its expressions see other data than the state's
			t = block(name, inner...)
		}
	default:
		t = block(name, inner...)
	}
	if out != "" {
		if had, ok := t.value.Lookup("output", "as"); ok {
			out = had.Str() + " | " + out
		}
		t.as(out)
	}
	if check != nil {
		o, _ := t.value.Get("output")
		if o.IsNull() {
			o = expr.EmptyObject
		}
		t.value = t.value.With("output", o.With("schema", schema(check)))
	}
	if export != "" {
		t.value = t.value.With("export", obj("as", str(export)))
	}
	return t
}

// dataSwitch chooses by the data.
func (f *flow) dataSwitch(s *states.State) {
	w := f.w
	name := f.names[s]
	out := w.stateFilter(s.Output, view{})
	t := &task{name: name}
	f.add(t)
	var cases []expr.Value
	sc := newScope()
	for i, k := range s.Conditions {
		label := k.Name
		if label == "" {
			if label = "case " + expr.Int(int64(i+1)).String(); k.Exit.Next != nil {
				label = k.Exit.Next.Name
			}
		}
		when := w.condition(k.When, view{})
		cases = append(cases, obj(sc.name(label), obj("when", str(when), "then", str(f.way(s, k.Exit, label)))))
	}
	if s.Default != nil {
		cases = append(cases, obj(sc.name("default"), obj("then", str(f.way(s, *s.Default, "otherwise")))))
	} else {
		cases = append(cases, obj(sc.name("default"), obj("then", str(f.refuse(s, "no match", "NoMatch")))))
	}
	t.value = obj("switch", expr.Array(cases...))
	if len(s.Handlers) > 0 {
		f.switchErrors(s, t)
	}
	if out != "" {
		t.as(out)
	}
	if s.OutputSchema != nil {
		w.lose(s.OutputSchema.Pos, "the schema of the output of a switch", "errors of it are not handled by the state", "check it in the states that follow")
	}
	if export := w.completed(s); export != "" {
		t.value = t.value.With("export", obj("as", str(export)))
	}
	t.from(w.stateFilter(s.Input, view{}))
	if s.InputSchema != nil {
		in, _ := t.value.Get("input")
		if in.IsNull() {
			in = expr.EmptyObject
		}
		t.value = t.value.With("input", in.With("schema", schema(s.InputSchema)))
	}
}

// switchErrors notes that the errors of a switch over data are not handled: a switch inside of a try leads nowhere
// outside of it.
func (f *flow) switchErrors(s *states.State, _ *task) {
	f.w.lose(s.Handlers[0].Pos, "onErrors of a switch", "a task of 1.0 that chooses where to go on cannot stand inside of a try; only an expression that fails is concerned",
		"make sure that its conditions cannot fail")
}
