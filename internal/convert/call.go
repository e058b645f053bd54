package convert

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// actions runs actions; what the last one answers is the data.
func (ch *chain) actions(a sw01.Actions) {
	if a.Parallel && len(a.List) > 1 {
		ch.sideBySide(a.List)
		return
	}
	whole := true // the data still begins with what the state was given
	for _, one := range a.List {
		if !whole && leadsOn(one) {
			ch.sc.c.lose(one.Pos, ch.base, "the retry of "+quote(one.Function),
				"after it the data is what the state was given, which is gone in 0.5 once an action's filter has changed it",
				"put the action into a state of its own")
		}
		ch.call(one)
		if selects(one.Filter.Input) && !leadsOn(one) {
			whole = false
		}
		if len(one.Filter.Result) > 0 || selects(one.Filter.Output) {
			ch.build(one.Filter.Result, one.Filter.Output)
			whole = false
		}
	}
	if a.Parallel && len(a.List) == 1 {
		// One result is an array too (semantics.md §Data filters 13).
		ch.narrow()
		ch.flush()
		ch.set("results", expr.Array(text("$[0]")))
		ch.keys = nil
	}
}

// selects reports whether a path does more than pass the data.
func selects(p *sw01.Path) bool { return p != nil && !p.Root }

func leadsOn(a *sw01.Action) bool {
	for _, r := range a.Retries {
		if r.Next != nil {
			return true
		}
	}
	return false
}

// call invokes a function: a foreach over the one item appends what it answers. Its
// input filter comes before; but where a retry needs what the state was given, there
// are two calls instead, for a path that selects something and for one that does not.
func (ch *chain) call(a *sw01.Action) {
	in := a.Filter.Input
	if !selects(in) || !leadsOn(a) {
		ch.filter(in)
		ch.widen()
		ch.invoke(a, "$.data", ch.keys)
		ch.keys = nil
		return
	}
	ch.sc.c.assume(a.Pos, "function "+quote(a.Function)+" always answers something")
	ch.sc.c.result.Answering[a.Function] = true
	ch.widen()
	l := ch.pass("chooses")
	root := "$.data[-1:]"
	if !goesOn(in) {
		root = "$.data[-1]"
		ch.sc.c.lose(in.Pos, ch.base, "the input path "+in.Src+" of a call with a next state", "it gives a list, or an object of some names, and the parameters of 0.5 cannot be taken from that",
			"put the path on the state, or the action into a state of its own")
	}
	l.value = obj("type", str("switch"), "dataConditions", expr.Array(obj("condition", text(rebase(in.Src, root)))))
	l.skip = true
	filtered := ch.invoke(a, rebase(in.Src, "$.data"), nil)
	before := len(ch.links)
	ch.invoke(a, "$.data", ch.keys)
	filtered.jump = len(ch.links) - before + 1
	ch.pass("goes on")
	ch.keys = nil
}

// goesOn reports whether a path with another name behind it selects from what the path
// selects: not from the items of a list, one by one, nor from each of several names.
func goesOn(p *sw01.Path) bool {
	longer, err := jsonpath.Describe(p.Src + ".x")
	return err == nil && longer.Definite && p.Function == ""
}

// invoke appends the foreach with its retries. data is where the action's data stands
// in the data of the iteration. It returns the last link that makes the call.
func (ch *chain) invoke(a *sw01.Action, data string, keys []string) *link {
	action := obj("functionRef", obj("refName", str(a.Function), "parameters", ch.parameters(a, data, keys)))
	if a.Timeout != nil {
		action = action.With("timeout", str(a.Timeout.Value.String()))
	}
	body := obj("type", str("foreach"), "inputCollection", text("$.data[-1:]"), "iterationParam", str("data"),
		"outputCollection", text("$.data"), "actions", expr.Array(action))
	suffix := "calls " + a.Function
	l := ch.add(suffix, body)
	l.array, l.bare = "$.data[-1:]", "$.data[-1]"
	return ch.retried(l, a, suffix, body)
}

// parameters are what the function receives. In 0.5 each has a name: where 0.1 hands
// over the data, the names must be known.
func (ch *chain) parameters(a *sw01.Action, data string, keys []string) expr.Value {
	c := ch.sc.c
	if a.Parameters != nil {
		return templated(*a.Parameters, data)
	}
	if keys == nil {
		keys = c.opts.Parameters[a.Function]
		if keys == nil {
			c.result.Whole[a.Function] = true
			c.lose(a.Pos, ch.base, "the call of "+quote(a.Function),
				"it receives the data itself, and in 0.5 every parameter has a name; it gets the data as the parameter \"data\"",
				"say --parameters "+a.Function+"=NAME,… if it is known what it takes, or let it take \"data\"")
			return obj("data", text(data))
		}
		c.result.Named[a.Function] = keys
	}
	out := expr.EmptyObject
	for _, key := range keys {
		out = out.With(key, text(member(data, key)))
	}
	return out
}

// templated makes expressions of the paths in parameters (semantics.md §Data filters 10).
func templated(v expr.Value, data string) expr.Value {
	switch v.Kind() {
	case expr.KindArray:
		var items []expr.Value
		for _, it := range v.Items() {
			items = append(items, templated(it, data))
		}
		return expr.Array(items...)
	case expr.KindObject:
		out := expr.EmptyObject
		for _, m := range v.Members() {
			out = out.With(m.Key, templated(m.Value, data))
		}
		return out
	case expr.KindString:
		if s := strings.TrimSpace(v.Str()); s == "$" || strings.HasPrefix(s, "$.") || strings.HasPrefix(s, "$[") {
			return text(rebase(s, data))
		}
		return str(jsonpath.Escape(v.Str()))
	}
	return v
}

func quote(s string) string { return `"` + s + `"` }
