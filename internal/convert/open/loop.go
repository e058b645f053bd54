package open

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
)

// parallel runs branches side by side, each on the state's data; what they give is merged in order.
func (w *writer) parallel(sc *scope, s *states.State) []*task {
	several := false // a branch gives a list of results
	for _, b := range s.Branches {
		several = several || b.Subflow == nil && b.States == nil && len(b.Actions.List) != 1
	}
	var branches []*task
	inner := newScope()
	for i, b := range s.Branches {
		name := b.Name
		if name == "" {
			name = "branch " + expr.Int(int64(i+1)).String()
		}
		t := w.branch(inner.name(name), b, several)
		if b.Detached {
			w.detached(t, b, several)
		}
		branches = append(branches, w.timed(t, b.Timeout))
	}
	if len(branches) == 0 {
		return nil
	}
	compete, ok := w.needed(s)
	if !ok {
		compete = false
	}
	fork := obj("branches", list(branches))
	stream := ".[]"
	if compete {
		fork = fork.With("compete", expr.Bool(true))
		stream = "."
	}
	if several {
		stream += "[]"
	}
	if stream == ".[][]" && compete {
		stream = ".[]"
	}
	return []*task{(&task{name: sc.name("branches"), value: obj("fork", fork)}).as(w.joined(s.Pos, stream))}
}

// needed reports whether the first branch that is done is enough, and whether 1.0 has what is needed.
func (w *writer) needed(s *states.State) (first, ok bool) {
	n := s.Need
	switch {
	case n == nil || n.Expr == nil && n.Value >= int64(len(s.Branches)):
		return false, true
	case n.Expr == nil && n.Value == 1:
		return true, true
	}
	w.lose(n.Pos, "how many branches are needed", "a fork of 1.0 waits for all branches or for the first; here for all", "split the branches, or wait for all")
	return false, false
}

// branch is one branch: it gives its result, or with several the list of those.
func (w *writer) branch(name string, b *states.Branch, several bool) *task {
	var t *task
	switch {
	case b.Subflow != nil:
		t = w.subflow(name, b.Subflow, jq("."), onlyResult{w})
		if several {
			t.as("[.]")
		}
		return t
	case b.States != nil:
		out := "."
		if t = block(name, w.inner(b.States)...); !b.States.Filtered {
			out = w.added(b.Pos)
		}
		if several {
			out = "[" + out + "]"
		}
		if out != "." {
			t.as(out)
		}
		return t
	case len(b.Actions.List) == 1 && !several:
		w.answers(b.Actions.List[0])
		if list := w.action(newScope(), b.Actions.List[0], view{}, onlyResult{w}); len(list) == 1 {
			list[0].name = name
			return list[0]
		}
	}
	return w.gathered(name, b.Actions, jq("{data: ., results: []}"), view{over: ".data"}, ".results")
}

// gathered is actions that see what the ones before them gave, and give the list of results. The data is {data, results}
// meanwhile.
func (w *writer) gathered(name string, a states.Actions, begin expr.Value, in view, out string) *task {
	sc := newScope()
	tasks := []*task{{name: sc.name("begin"), value: obj("set", begin)}}
	for _, one := range a.List {
		w.answers(one)
	}
	tasks = append(tasks, w.actions(sc, a, in, gatheredResult{w, "data"})...)
	return block(name, tasks...).as(out)
}

// gatheredResult merges a result into a member of the data, and adds it to the list of results.
type gatheredResult struct {
	w  *writer
	to string
}

func (r gatheredResult) result(pos dialect.Pos, what string, p *states.Path, to placed, in view) string {
	exact, plain := r.w.picked(p, to, in)
	if plain != "" && !r.w.exact {
		r.w.assume(pos, what+" is an object, and no list of it meets a list in the data")
		r.w.assumeObject()
	}
	return r.taken(exact, plain)
}

func (r gatheredResult) taken(exact, plain string) string {
	if plain != "" && !r.w.exact {
		return fmt.Sprintf("%s as $result | $input | .%s *= $result | .results += [$result]", operand(plain), r.to)
	}
	return mergeDef + fmt.Sprintf("reduce (%s) as $new ($input; .results += [$new] | if ($new | type) == \"object\" then .%s |= merge($new) else . end)", exact, r.to)
}
func (gatheredResult) needsInput() bool { return true }

// foreach does something for each item of a list.
func (w *writer) foreach(sc *scope, s *states.State) []*task {
	e := s.Each
	item := variable(e.Variable)
	if len(e.In) > 0 {
		item = variable(e.In[len(e.In)-1])
	}
	if !e.Sequential && e.Pause == nil && !(e.Max != nil && e.Max.Expr == nil && e.Max.Value == 1) {
		w.lose(s.Pos, "foreach, item by item at the same time", "a loop of 1.0 takes one item after the other, so it takes longer, and after an error the rest is not begun",
			"nothing, if time does not matter; else a fork, if the number of items is known")
	}
	over := w.path(e.Over, view{})
	in := over.plain
	switch {
	case over.list:
		in = "[" + over.exact + "]"
	case in == "" || w.exact:
		in = over.exact
	}
	loop := obj("each", str(item), "in", str(in))
	into := ""
	for _, k := range e.Into {
		into += "." + key(k)
	}
	if e.In != nil {
		return []*task{w.looped(&task{name: sc.name("each"), value: obj("for", loop, "do", list(w.iteration(s, item)))}, e, into)}
	}
	if len(e.Actions.List) > 1 {
		return []*task{w.foreachSeveral(sc, e, loop, item, into)}
	}
	see := view{scope: fmt.Sprintf("(.data + {%s: $%s})", key(e.Variable), item), begin: func(name string) (string, bool) {
		switch name {
		case e.Variable:
			return "$" + item, true
		case "":
			return fmt.Sprintf("{%s: $%s}", key(e.Variable), item), false
		}
		return ".data", false
	}}
	body := newScope()
	var inner []*task
	switch {
	case e.Subflow != nil:
		inner = []*task{w.subflow(body.name(e.Subflow.Workflow), e.Subflow, obj(e.Variable, jq("$"+item)), listResult{w})}
	case len(e.Actions.List) == 1:
		w.answers(e.Actions.List[0])
		one := *e.Actions.List[0]
		if one.Wrap, one.To = "", nil; !w.o.Version05 && one.DropResults {
			one.DropResults = true
		}
		inner = w.action(body, &one, see, listResult{w})
	default:
		inner = []*task{{name: body.name("nothing"), value: obj("set", jq("."))}}
	}
	t := &task{name: sc.name("each"), value: obj("for", loop, "do", list(inner))}
	return []*task{w.looped(t, e, into)}
}

// looped gives a loop its data: {data, results}, of which the list of results goes to its place in the end.
func (w *writer) looped(t *task, e *states.Each, into string) *task {
	in, _ := t.value.Lookup("for", "in")
	loop, _ := t.value.Get("for")
	t.value = t.value.With("for", loop.With("in", str(view{over: ".data"}.apply(in.Str()))))
	t.from("{data: ., results: []}")
	if !e.Keep {
		return t.as(".data")
	}
	if w.exact {
		return t.as(fmt.Sprintf(".results as $results | .data | %s = ((try %s catch null | arrays) // []) + $results", into, into))
	}
	w.assume(e.Over.Pos, "$"+into+" is a list, or not there")
	return t.as(fmt.Sprintf(".results as $results | .data | %s += $results", into))
}

// listResult adds a result to the list of results.
type listResult struct{ w *writer }

func (r listResult) result(_ dialect.Pos, _ string, p *states.Path, to placed, in view) string {
	exact, plain := r.w.picked(p, to, in)
	if plain != "" && !r.w.exact {
		if p != nil && !p.Shape.Root {
			r.w.assume(p.Pos, p.Src+" is there")
		}
	}
	return r.taken(exact, plain)
}

func (r listResult) taken(exact, plain string) string {
	if plain != "" && !r.w.exact {
		return operand(plain) + " as $result | $input | .results += [$result]"
	}
	return fmt.Sprintf("[%s] as $result | $input | .results += $result", exact)
}
func (listResult) needsInput() bool { return true }

// foreachSeveral is a loop with several actions: they see what the ones before them gave.
func (w *writer) foreachSeveral(sc *scope, e *states.Each, loop expr.Value, item, into string) *task {
	see := view{scope: "(.data + .item)", begin: func(name string) (string, bool) {
		if name == "" {
			return ".item", false
		}
		return fmt.Sprintf("(if (.item | has(%s)) then .item else .data end)", text(name)), false
	}}
	begin := jq(fmt.Sprintf("{data: .data, before: .results, item: {%s: $%s}, results: []}", key(e.Variable), item))
	body := newScope()
	tasks := []*task{{name: body.name("begin"), value: obj("set", begin)}}
	for _, one := range e.Actions.List {
		w.answers(one)
	}
	tasks = append(tasks, w.actions(body, e.Actions, see, gatheredResult{w, "item"})...)
	end := "{data, results: (.before + [reduce .results[] as $r ({}; . * $r)])}"
	if w.exact {
		end = mergeDef + `{data, results: (.before + [.results | select(length > 0) | reduce .[1:][] as $r (.[0]; if ($r | type) == "object" or type != "object" then merge($r) else . end)])}`
	}
	tasks = append(tasks, &task{name: body.name("result"), value: obj("set", jq(end))})
	t := &task{name: sc.name("each"), value: obj("for", loop, "do", list(tasks))}
	return w.looped(t, e, into)
}
