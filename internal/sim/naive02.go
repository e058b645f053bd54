package sim

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// interpret02 runs a case of version 0.2. What it shares with 0.5 is the interpreter of that, for which its own
// spelling is undone first; errors, branches and iterations of states are read from the text of 0.2 and
// semantics.md §0.1 as released, and 0.2.
func interpret02(c *Case) (out Outcome, open string) {
	plain := *c
	plain.Def = respelled(c.Def, "")
	plain.Subs = nil
	for _, def := range c.Subs {
		plain.Subs = append(plain.Subs, respelled(def, ""))
	}
	out, open = newWorld(&plain, language02{}).interpret()
	for _, rare := range []string{"an event of another instance", "a start event for a running instance"} {
		delete(out.Reached, rare) // cases of 0.5 come by it often enough, and it is the same there
	}
	return out, open
}

type language02 struct{ language05 }

func (language02) flow(in *instance, t *thread, input expr.Value) (expr.Value, error) {
	states := get(in.def, "states").Items()
	out, _, err := in.walk(t, states, in.start(), input, false)
	return out, err
}

// respelled writes a definition in the words of 0.5.
func respelled(v expr.Value, key string) expr.Value {
	switch v.Kind() {
	case expr.KindArray:
		var items []expr.Value
		for _, item := range v.Items() {
			items = append(items, respelled(item, key))
		}
		return expr.Array(items...)
	case expr.KindString:
		switch s := v.Str(); {
		case key == "parameters" && strings.HasPrefix(s, "$."):
			return braced(s)
		case key == "kind" || key == "completionType" || key == "state type":
			return expr.String(strings.ToLower(s))
		}
		return v
	case expr.KindObject:
		out := expr.EmptyObject
		for _, m := range v.Members() {
			name, value := m.Key, m.Value
			inside := name
			switch {
			case key == "parameters" || key == "data":
				inside = key
			case name == "eventsActions":
				name = "onEvents"
			case name == "produceEvent":
				name, value = "produceEvents", expr.Array(value)
			case name == "default" && str(value, "nextState") != "":
				value = obj("transition", value)
			case name == "inputParameter":
				name, value = "iterationParam", expr.String(strings.TrimPrefix(value.Str(), "$."))
			case name == "type" && key == "states":
				inside = "state type"
			}
			out = out.With(name, respelled(value, inside))
		}
		return out
	}
	return v
}

// walk runs states from the named one on, and tells what they added.
func (in *instance) walk(t *thread, states []expr.Value, name string, data expr.Value, inner bool) (out expr.Value, added []expr.Value, err error) {
	for name != "" {
		var st expr.Value
		for _, key := range []string{"id", "name"} { // a name before an id
			for _, one := range states {
				if str(one, key) == name {
					st = one
				}
			}
		}
		var more []expr.Value
		if name, data, more, err = in.execute02(t, st, data, inner); err != nil {
			return data, added, err
		}
		added = append(added, more...)
	}
	return data, added, nil
}

// execute02 runs one state, with its retries and error definitions.
func (in *instance) execute02(t *thread, st, input expr.Value, inner bool) (next string, out expr.Value, added []expr.Value, err error) {
	if in.w.states++; in.w.states > maxStates {
		in.w.isOpen(openLong)
		in.w.halt(t)
	}
	if inner {
		in.w.saw("a state inside of a state")
	} else {
		in.w.saw("state " + str(st, "type"))
		in.Path = append(in.Path, str(st, "name"))
	}
	t.seen = expr.EmptyObject
	filter := get(st, "stateDataFilter")
	data := in.w.stateFilter(str(filter, "dataInputPath"), input)
	retried := map[int]int64{}
	for {
		handled := func(f *Fault) bool {
			if i := firstTest(get(st, "retry"), f); i >= 0 {
				if _, again := in.olderRetry(get(st, "retry").Items()[i], retried[i]); again {
					return true
				}
			}
			return inner || in.undoing || firstTest(get(st, "onError"), f) >= 0
		}
		exit, result, added, err := in.body02(t, st, data, handled)
		t.cancelChildren()
		if err == nil {
			next, out, err := in.leave(t, exit, in.w.stateFilter(str(filter, "dataOutputPath"), result))
			return next, out, added, err
		}
		f, ok := err.(*Fault)
		if !ok {
			in.w.saw("a terminate inside a " + str(st, "type"))
			return "", result, nil, err
		}
		if i := firstTest(get(st, "retry"), f); i >= 0 {
			if delay, again := in.olderRetry(get(st, "retry").Items()[i], retried[i]); again {
				in.w.saw("a retry")
				retried[i]++
				t.sleep(delay)
				continue
			}
			if retried[i] > 0 {
				in.w.saw("retries used up")
			}
		}
		i := firstTest(get(st, "onError"), f)
		if i < 0 {
			return "", data, nil, err
		}
		in.leaveEarly(st, data)
		in.w.saw("an error that is handled")
		handler := get(st, "onError").Items()[i]
		if str(get(handler, "errorDataFilter"), "dataOutputPath") == "" {
			in.w.isOpen(openMessage)
		}
		part := errorPart(str(get(handler, "errorDataFilter"), "dataOutputPath"), f)
		if part.Len() > 0 && data.IsObject() {
			in.w.saw("a part of an error in the data")
			data, added = merge(data, part), append(added, part)
		} else if part.Len() > 0 {
			in.w.isOpen(openInput)
		}
		next, out, err := in.leave(t, handler, data)
		return next, out, added, err
	}
}

// body02 does what a state is for, and tells what it added.
func (in *instance) body02(t *thread, st, data expr.Value, handled func(*Fault) bool) (exit, out expr.Value, added []expr.Value, err error) {
	switch str(st, "type") {
	case "parallel":
		out, err = in.parallel02(t, st, data)
		return st, out, nil, err
	case "foreach":
		out, err = in.foreach02(t, st, data, handled)
		return st, out, nil, err
	case "inject":
		exit, out, err = in.body(t, st, data)
		if get(st, "data").Len() > 0 {
			added = []expr.Value{in.w.fill(get(st, "data"), data)}
		}
		return exit, out, added, err
	case "operation":
		r, err := in.actions(t, st, data, expr.Null)
		if r.present && r.parts == nil {
			added = []expr.Value{r.value}
		}
		return st, r.data, append(added, r.parts...), err
	}
	exit, out, err = in.body(t, st, data)
	return exit, out, nil, err
}

// parallel02 runs branches of states beside those of 0.5.
func (in *instance) parallel02(t *thread, st, data expr.Value) (expr.Value, error) {
	branches := get(st, "branches").Items()
	in.w.saw("parallel " + str(st, "completionType"))
	need := len(branches)
	switch str(st, "completionType") {
	case "xor":
		need = 1
	case "n_of_m":
		if need = int(in.w.number(get(st, "n"), data)); need < 1 || need > len(branches) {
			in.w.isOpen(openNeed)
		}
	}
	begin := in.w.now
	b := t.box()
	for i, br := range branches {
		in.w.spawn(t, func(t *thread) {
			r, err := in.inside(t, br, data, expr.Null)
			b.post(ended{i, r, err})
		})
	}
	results := make([]contribution, len(branches))
	for range need {
		e := b.receive().(ended)
		if e.err != nil {
			if in.w.first(); in.w.now == begin && len(branches) > 1 { // how far had the others come?
				in.w.isOpen(openTie)
			}
			in.w.saw("a failing branch")
			return data, e.err
		}
		results[e.index] = e.result
	}
	if need < len(branches) {
		if in.w.first(); in.w.now == begin { // which of those that need no time is first?
			in.w.isOpen(openTie)
		}
	}
	for _, r := range results {
		data = r.addTo(data)
	}
	return data, nil
}

// inside runs the states of a branch or an iteration. Without filters it gives what they added, else their output.
func (in *instance) inside(t *thread, holder, own, under expr.Value) (contribution, error) {
	states := get(holder, "states").Items()
	if len(states) == 0 {
		return in.work(t, holder, own, under)
	}
	filtered := false
	for _, st := range states {
		for _, m := range get(st, "stateDataFilter").Members() {
			filtered = filtered || m.Value.Str() != "$" && m.Value.Str() != "{{ $ }}"
		}
	}
	out, added, err := in.walk(t, states, str(states[0], "name"), own, true)
	switch {
	case err != nil:
		return contribution{}, err
	case filtered:
		in.w.saw("the output of filtered states")
		return contribution{value: out, present: true}, nil
	}
	got := make([]contribution, len(added))
	for i, v := range added {
		got[i] = contribution{value: v, present: true}
	}
	return sumOf(got), nil
}

// foreach02 runs iterations, which have the state's data with their item.
func (in *instance) foreach02(t *thread, st, data expr.Value, handled func(*Fault) bool) (expr.Value, error) {
	if len(get(st, "states").Items()) > 0 {
		in.w.saw("iterations of states")
	}
	return in.each(t, st, data, handled, func(t *thread, item expr.Value) (contribution, error) {
		return in.inside(t, st, data.WithPath([]string{str(st, "iterationParam")}, item), expr.Null)
	})
}

// firstTest finds the first definition whose expression holds for an error, -1 where none does.
func firstTest(list expr.Value, f *Fault) int {
	if f.uncatchable {
		return -1
	}
	for i, d := range list.Items() {
		e := get(d, "expression")
		text := e.Str()
		if e.IsObject() {
			text = str(e, "body")
		}
		if errorHolds(text, f) {
			return i
		}
	}
	return -1
}

// errorHolds decides the expressions that the generator writes: comparisons, joined by or, then by and.
func errorHolds(text string, f *Fault) bool {
	for _, one := range strings.Split(text, " or ") {
		all := true
		for _, part := range strings.Split(one, " and ") {
			part, negated := strings.CutPrefix(part, "not ")
			words := strings.Fields(part)
			have := map[string]string{"name": f.Name, "code": f.Code}[words[0][strings.LastIndexByte(words[0], '.')+1:]]
			holds := have == strings.Trim(words[2], "'")
			if words[2] == "null" {
				holds = false // there is always an error here
			}
			if words[1] == "!=" || words[1] == "ne" {
				holds = !holds
			}
			all = all && holds != negated
		}
		if all {
			return true
		}
	}
	return false
}

// errorPart is what a filter selects from an error.
func errorPart(path string, f *Fault) expr.Value {
	switch {
	case strings.HasSuffix(path, ".name"):
		return obj("name", expr.String(f.Name))
	case path == "$.code" && f.Code != "":
		return obj("code", expr.String(f.Code))
	}
	return expr.EmptyObject
}

// olderRetry says whether to try again after n retries, and after how long.
func (in *instance) olderRetry(r expr.Value, n int64) (time.Duration, bool) {
	most := int64(1)
	interval := str(r, "interval")
	times, rest, repeats := strings.Cut(strings.TrimPrefix(interval, "R"), "/")
	if repeats {
		in.w.saw("a repeatable interval")
		most, _ = strconv.ParseInt(times, 10, 64)
		interval = rest
	}
	if v, ok := r.Get("maxAttempts"); ok {
		if attempts := in.w.number(v, expr.Null); !repeats || attempts < most {
			most = attempts
		}
	}
	if n >= most {
		return 0, false
	}
	var delay time.Duration
	if interval != "" {
		delay = in.w.span(interval)
	}
	if s := str(r, "multiplier"); s != "" {
		delay += time.Duration(n) * in.w.span(s)
	}
	return delay, true
}
