package open

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
)

// way is where a way out of a state leads: a task, or the end. What it does before that is done by tasks behind
// those of the state, in the order guard, compensation, events.
func (f *flow) way(s *states.State, e states.Exit, label string) string {
	w := f.w
	to := f.done
	if e.Next != nil {
		to = f.names[e.Next]
	}
	if e.Terminate && s.Inside {
		to = "end"
		w.lose(e.Pos, "the output of a workflow that ends inside of a branch or an iteration", "it is the data around it; in 1.0 it is that of the branch", "lead out of the branch, and end there")
	}
	if e.Terminate {
		w.assume(e.Pos, "no workflow waits for this one: at this end it would be over as well")
	}
	for _, what := range e.Unknown {
		w.lose(e.Pos, what, "it is not converted", "do it by hand")
	}
	if e.Guard == nil && !e.Compensate && len(e.Produce) == 0 {
		return to
	}
	name := func(what string) string {
		if label != "" {
			return f.scope.name(words(s.Name, label, what))
		}
		return f.scope.name(words(s.Name, what))
	}
	var chain []*task
	if e.Guard != nil {
		refused := f.refuse(s, "goes no further", "TransitionRestricted")
		chain = append(chain, &task{name: name("may go on"), value: obj("switch", expr.Array(
			obj("allowed", obj("when", str(w.condition(e.Guard, view{})), "then", str(""))),
			obj("refused", obj("then", str(refused)))))})
	}
	if e.Compensate {
		chain = append(chain, f.undo(s, strings.HasPrefix(label, "failed"), name("undoes")))
	}
	for _, p := range e.Produce {
		chain = append(chain, w.emit(f.scope.name(words(s.Name, "sends", p.Event.Name)), p, view{}))
	}
	for i, t := range chain {
		next := to
		if i+1 < len(chain) {
			next = chain[i+1].name
		}
		if cases, ok := t.value.Get("switch"); ok {
			items := cases.Items()
			one, _ := items[0].Get("allowed")
			t.value = t.value.With("switch", expr.Array(obj("allowed", one.With("then", str(next))), items[1]))
		} else {
			t.then(next)
		}
		f.add(t)
	}
	return chain[0].name
}

// refuse is a task that fails.
func (f *flow) refuse(s *states.State, what, title string) string {
	t := &task{name: f.scope.name(words(s.Name, what)), value: obj("raise", obj("error", obj(
		"type", str(errorBase+"runtime"), "status", expr.Int(500), "title", str(title))))}
	f.add(t)
	return t.name
}

// emit sends an event; the data stays.
func (w *writer) emit(name string, p states.Produced, in view) *task {
	with := expr.EmptyObject
	if p.Attributes != nil {
		for _, m := range p.Attributes.Value.Members() {
			with = with.With(m.Key, w.templated(p.Attributes, m.Value, in))
		}
	}
	with = with.With("type", str(p.Event.Type))
	if p.Event.Source != "" {
		with = with.With("source", literalText(p.Event.Source))
	} else {
		w.calls.NoSource[p.Event.Type] = true
		w.assume(p.Pos, "nobody looks at the source of "+quote(p.Event.Name)+": it names the workflow, in another way")
	}
	switch {
	case p.Data != nil:
		with = with.With("data", w.templated(p.Data, p.Data.Value, in))
	case p.Selects != nil:
		exact, plain := w.picked(p.Selects, placed{}, in)
		if plain != "" && !w.exact {
			if !p.Selects.Shape.Root {
				w.assume(p.Selects.Pos, p.Selects.Src+" is there")
			}
			exact = plain
		}
		with = with.With("data", jq(exact))
	}
	return (&task{name: name, value: obj("emit", obj("event", obj("with", with)))}).as("$input")
}
