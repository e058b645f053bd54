package open

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
)

// What 0.1 as released and 0.2 have of their own: branches and iterations of states, and errors told by expressions.

// inner is the states of a branch or an iteration as a list of tasks.
func (w *writer) inner(s *states.Scope) []*task {
	around := w.state
	f := &flow{w: w, scope: newScope(), done: "exit", names: map[*states.State]string{}}
	all := slices.Clone(s.States)
	if i := slices.Index(all, s.Start); i > 0 { // the start comes first
		all = slices.Insert(slices.Delete(all, i, i+1), 0, s.Start)
	}
	for _, one := range all {
		f.names[one] = f.scope.name(one.Name)
	}
	for _, one := range all {
		for _, a := range allActions(one) {
			w.answers(a)
		}
		if f.convert(one); len(attributesOf(one)) > 0 {
			w.lose(one.Pos, "the correlation of events in a branch or an iteration", "what it learns is not known outside of it in 1.0", "wait for the event outside of it")
		}
	}
	f.settle()
	w.state = around
	return f.tasks
}

// addedDef defines added($old) in jq: what an object has that another one has not, deeply.
const addedDef = `def added($old): reduce (keys[] as $k | {key: $k, value: .[$k]}) as $m ({}; ` +
	`if ($old | has($m.key) | not) then .[$m.key] = $m.value elif $old[$m.key] == $m.value then . ` +
	`elif ($m.value | type) == "object" and ($old[$m.key] | type) == "object" then .[$m.key] = ($m.value | added($old[$m.key])) ` +
	`elif ($m.value | type) == "array" and ($old[$m.key] | type) == "array" then .[$m.key] = $m.value - $old[$m.key] ` +
	`else .[$m.key] = $m.value end); `

// added is what states without filters, or actions, added to the data they began with.
func (w *writer) added(pos dialect.Pos) string {
	w.assume(pos, "what is done there gives something, and nothing that is there before with the same value")
	if !w.exact {
		w.assume(pos, "nothing is added there to a part of the data that is there before")
		w.assumeObject()
		return "with_entries(select(.value != $input[.key]))"
	}
	return addedDef + `if type == "object" and ($input | type) == "object" then added($input) else . end`
}

// detached is a branch that nothing waits for.
func (w *writer) detached(t *task, b *states.Branch, several bool) {
	w.lose(b.Pos, "that nothing waits for the branch "+quote(t.name), "a fork of 1.0 waits for all branches; here for this one, too, without its results, and with its errors",
		"say waitForCompletion: true, or start it as a workflow without await")
	if several {
		t.as("[]")
	} else {
		t.as("{}")
	}
}

// iteration is what a foreach state does for an item, which stands in the data. What it adds, or with filters leaves,
// is appended to the results.
func (w *writer) iteration(s *states.State, item string) []*task {
	e := s.Each
	in := ".data | "
	for _, k := range e.In {
		in += "." + key(k)
	}
	var body []*task
	filtered := false
	switch {
	case e.States != nil:
		body, filtered = w.inner(e.States), e.States.Filtered
	case e.Subflow != nil:
		body = []*task{w.subflow(e.Subflow.Workflow, e.Subflow, jq("."), plainResult{w})}
	default:
		body = w.actions(newScope(), e.Actions, view{}, plainResult{w})
	}
	if len(body) == 0 {
		body = []*task{{name: "nothing", value: obj("set", jq("."))}}
	}
	begin := &task{name: "begin", value: obj("set", jq(in+" = $"+item))}
	one := block("item", body...)
	out := ". as $result | $input | .results += [$result]"
	if !filtered {
		one.as(w.added(s.Pos))
		if finds(e) { // what finds nothing adds nothing
			out = ". as $result | $input | if $result == {} then . else .results += [$result] end"
		}
	}
	tasks := []*task{begin, one}
	if e.Pause != nil {
		tasks = append(tasks, &task{name: "pause", value: obj("wait", w.duration(e.Pause, view{}))})
	}
	return []*task{block("iteration", tasks...).as(out)}
}

// finds reports whether an iteration has an action that keeps a part of what it is given.
func finds(e *states.Each) bool {
	all := slices.Clone(e.Actions.List)
	if e.States != nil {
		for _, s := range e.States.States {
			all = append(all, allActions(s)...)
		}
	}
	return slices.ContainsFunc(all, func(a *states.Action) bool { return a.Results != nil })
}

// attempts is the tasks of a state with its retries: a try for each.
func (w *writer) attempts(s *states.State, inner []*task) []*task {
	count := 0
	for i, a := range s.Retries {
		switch {
		case a.Results:
			w.lose(a.Retry.Pos, "the retry for "+a.When.Src, "it looks at what the state gave; a retry of 1.0 is for errors", "raise an error where that holds, and catch it")
			continue
		case a.Retry.Max == 0 && i == len(s.Retries)-1:
			continue
		case a.Retry.Max == 0:
			w.lose(a.Retry.Pos, "that "+a.When.Src+" is never tried again", "those after it may be for the same error", "exclude it there")
			continue
		}
		if count++; count > 1 {
			w.lose(a.Retry.Pos, "the retries for "+a.When.Src, "several retries of one state count their attempts one by one; in 1.0 they are inside of each other, and the inner ones count again after an outer one",
				"keep one of them, or join their expressions")
		}
		c := obj("when", str(w.errorTest(a.When.Pos, a.When.Tree, "$error")), "retry", w.retry(a.Retry))
		inner = []*task{{name: words("attempt", expr.Int(int64(count)).String()), value: obj("try", list(inner), "catch", c)}}
	}
	return inner
}

// errorTest is a condition over an error.
func (w *writer) errorTest(pos dialect.Pos, c choice.Condition, err string) string {
	switch c.Op {
	case choice.Not:
		return "(" + w.errorTest(pos, c.Items[0], err) + " | not)"
	case choice.And, choice.Or:
		parts := make([]string, len(c.Items))
		for i, item := range c.Items {
			parts[i] = w.errorTest(pos, item, err)
		}
		return "(" + strings.Join(parts, " "+c.Op+" ") + ")"
	}
	named := c.Path == "$.error.name" || c.Path == "$.name"
	switch {
	case c.Path == "$.error" && (c.Op == choice.Holds || c.Op == choice.Exists && !choice.IsFalse(c.Value)):
		w.assumeError(pos)
		return "true"
	case c.Path == "$.error" && c.Op == choice.Equal && c.Value.IsNull():
		w.assumeError(pos)
		return "false" // there is one
	case named && c.Op == choice.Equal && c.Value.Kind() == expr.KindString:
		w.assumeError(pos)
		return "(" + w.matches(&states.Handler{Pos: pos, Errors: []*states.Error{{Name: c.Value.Str()}}}, err) + ")"
	}
	w.lose(pos, fmt.Sprintf("%s %s %s as a condition over an error", c.Path, choice.Sign(c.Op), c.Value), "of an error only the name has an equal in 1.0, its title; here this never holds", "write it over $error by hand")
	return "false"
}

func (w *writer) assumeError(pos dialect.Pos) {
	w.assume(pos, "the data has no error or name of its own where an expression asks for those of the error")
}

// errorData is the data that a handler goes on with: it has the error in it.
func (w *writer) errorData(h *states.Handler, failed string) string {
	p := h.Put
	w.lose(p.Pos, "the error in the data of what follows", "an error of 1.0 has type, status, title and detail; here its name is the title and its message the detail", "use what $error has")
	value := ""
	switch {
	case p.Odd || len(p.Keys) > 1:
		value = "null"
	case len(p.Keys) == 0:
		value = "({name: $error.title, message: $error.detail} | map_values(values))"
	case p.Keys[0] == "name":
		value = "$error.title"
	case p.Keys[0] == "message":
		value = "$error.detail"
	default:
		value = "$error[" + text(p.Keys[0]) + "]"
	}
	name := p.Name
	if name == "" {
		name = "error"
	}
	return fmt.Sprintf("%s * {%s: %s}", failed, key(name), value)
}

// errorsData is the same for the first of several handlers that is for the error.
func (w *writer) errorsData(handlers []*states.Handler, failed string) string {
	out := ""
	for _, h := range handlers {
		if h.Put != nil {
			out += fmt.Sprintf("if %s then %s else ", w.matches(h, "$error"), w.errorData(h, failed))
		}
	}
	return out + failed + strings.Repeat(" end", strings.Count(out, "if "))
}
