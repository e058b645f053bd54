package naive08

import (
	"errors"
	"fmt"
	"maps"
	"strings"
)

// scope is what the expressions of actions see.
type scope struct {
	own, under any // the data of the actions, and what they see where that lacks a key
	vars       map[string]any
	iterates   bool
}

// view is the data as expressions see it, besides attributes of events where it lacks a key.
func (sc scope) view(seen map[string]any) any {
	own, ok := sc.own.(map[string]any)
	if !ok {
		return sc.own
	}
	out := maps.Clone(seen)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, object(sc.under))
	maps.Copy(out, own)
	return out
}

// actions runs a list of actions in its mode, or the one action of a callback, and gives what each contributes.
func (fr *frame) actions(t *thread, ptr string, holder map[string]any, sc scope) ([]contribution, error) {
	in := fr.in
	if a, ok := holder["action"]; ok {
		c, err := fr.action(t, ptr, object(a), holder, sc)
		return []contribution{c}, err
	}
	all := list(holder["actions"])
	if holder["actionMode"] == "parallel" {
		in.w.saw("parallel actions")
		return fr.together(t, ptr, holder, sc)
	}
	var got []contribution
	for i, a := range all {
		c, err := fr.action(t, fmt.Sprintf("%s/%d", ptr, i), object(a), holder, sc)
		if err != nil {
			return nil, err
		}
		got = append(got, c)
		if sc.own, err = in.apply(sc.own, []contribution{c}); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// together runs actions in parallel, each on the same data.
func (fr *frame) together(t *thread, ptr string, holder map[string]any, sc scope) ([]contribution, error) {
	all := list(holder["actions"])
	got := make([]contribution, len(all))
	b, began := t.box(), fr.in.w.now
	for i, a := range all {
		fr.in.w.spawn(t, func(t *thread) {
			c, err := fr.action(t, fmt.Sprintf("%s/%d", ptr, i), object(a), holder, sc)
			b.post(ended{i, []contribution{c}, err})
		})
	}
	for range all {
		e := b.receive().(ended)
		if e.err != nil {
			fr.in.w.first()
			fr.in.w.losers(t, began)
			return nil, e.err
		}
		got[e.index] = e.got[0]
	}
	return got, nil
}

// action does one thing: condition, sleep, call with retries, results, sleep. The text has the last two the other way round;
// only a filter that fails tells.
func (fr *frame) action(t *thread, ptr string, a, holder map[string]any, sc scope) (c contribution, err error) {
	in := fr.in
	view := sc.view(t.seen)
	if cond, ok := a["condition"]; ok {
		holds, err := in.holds(cond, view, sc.vars)
		if err != nil || !holds {
			in.w.saw("an action that is skipped")
			return c, fr.upward(err, ptr)
		}
	}
	if err := in.nap(t, a, "before", view, sc.vars); err != nil {
		return c, err
	}
	var result any
	var some bool
	retried := map[string]*attempts{}
	for {
		result, some, err = fr.once(t, ptr, a, holder, view, sc)
		if err == nil {
			break
		}
		f := (*Fault)(nil)
		if !errors.As(err, &f) {
			return c, err
		}
		f = located(f, ptr)
		if delay, again := fr.retryAction(a, f, retried); again {
			in.w.saw("a retry of an action")
			t.sleep(delay)
			continue
		}
		ignored, err := fr.handleAction(a, f, view, sc.vars)
		if ignored {
			in.w.saw("an error of an action that is ignored")
			return c, nil
		}
		return c, err
	}
	c, err = fr.results(a, result, some, sc.vars)
	if err != nil {
		if a["onErrors"] != nil || a["retryRef"] != nil || in.def["autoRetries"] == true {
			in.w.isOpen(openResults)
		}
		return c, fr.upward(err, ptr)
	}
	return c, in.nap(t, a, "after", view, sc.vars)
}

// upward is an error of an action that its own handlers do not see.
func (fr *frame) upward(err error, ptr string) error {
	if f := (*Fault)(nil); errors.As(err, &f) {
		return located(f, ptr)
	}
	return err
}

func (in *instance) nap(t *thread, a map[string]any, when string, view any, vars map[string]any) error {
	length, ok := object(a["sleep"])[when]
	if !ok {
		return nil
	}
	d, err := in.duration(length, view, vars)
	if err == nil {
		in.w.saw("a sleep " + when + " an action")
		t.sleep(d)
	}
	return err
}

// results filters what came of an action.
func (fr *frame) results(a map[string]any, result any, some bool, vars map[string]any) (c contribution, err error) {
	in := fr.in
	filter := object(a["actionDataFilter"])
	if filter["useResults"] == false {
		in.w.saw("results that are not used")
		return c, nil
	}
	if !some {
		return c, nil
	}
	c = contribution{value: result, some: true, name: text(a["name"])}
	if src, ok := filter["results"]; ok {
		if c.value, c.some, err = in.eval(text(src), result, vars); err != nil {
			return c, err
		}
	}
	if to, ok := filter["toStateData"]; ok {
		c.place = in.place(text(to))
	}
	return c, nil
}

// once makes one attempt of an action, within its time.
func (fr *frame) once(t *thread, ptr string, a, holder map[string]any, view any, sc scope) (result any, some bool, err error) {
	in := fr.in
	deadline := never
	bound := func(limit any) {
		d, failed := in.duration(limit, view, sc.vars)
		if failed != nil {
			err = failed
			return
		}
		deadline = min(deadline, in.w.now+d)
	}
	own := false // an action by events may have a time of its own
	for _, limit := range []any{object(a["eventRef"])["resultEventTimeout"], object(a["subscribe"])["timeout"]} {
		if limit != nil {
			own = true
			bound(limit)
		}
	}
	if limit, ok := in.timeout("actionExecTimeout", holder, fr.st); ok && !own {
		bound(limit)
	}
	if limit, ok := a["timeout"]; ok { // 0.6
		bound(limit)
	}
	if limit, ok := in.timeout("stateExecTimeout", fr.st, nil); ok && object(limit)["single"] != nil {
		bound(object(limit)["single"])
	}
	if err != nil {
		return nil, false, err
	}
	whole := view
	filtered := false
	if src, ok := object(a["actionDataFilter"])["fromStateData"]; ok {
		filtered = true
		v, some, err := in.eval(text(src), view, sc.vars)
		if async := "async"; err != nil && (object(a["functionRef"])["invoke"] == async || object(a["subFlowRef"])["invoke"] == async) {
			return nil, false, nil // whose errors do not count
		}
		if err != nil {
			return nil, false, err
		}
		if !sc.iterates && !equal(view, sc.own) {
			in.w.isOpen(openWhole) // does it see attributes of events, which are not part of the data?
		}
		if some && v != nil {
			view = v
		} else if in.w.saw("a filter that selects nothing"); !equal(view, sc.own) {
			in.w.isOpen(openWhole) // with or without what can be seen besides?
		}
	}
	if t.until(deadline, func(t *thread) { result, some, err = fr.perform(t, a, view, whole, filtered, sc) }) {
		in.w.saw("the timeout of an action")
		return nil, false, timeout(ptr, false)
	}
	return result, some, err
}

// perform does what an action is.
func (fr *frame) perform(t *thread, a map[string]any, view, whole any, filtered bool, sc scope) (any, bool, error) {
	in := fr.in
	if !filtered && looksAtAll(a) && !equal(view, sc.own) {
		in.w.isOpen(openWhole)
	}
	switch {
	case a["functionRef"] != nil:
		return fr.callFunction(t, a, view, filtered, sc.vars)
	case a["subFlowRef"] != nil:
		if !filtered { // what can be seen besides is not part of the data
			view = sc.own
		}
		return fr.callWorkflow(t, a["subFlowRef"], view)
	case a["publish"] != nil:
		p := object(a["publish"])
		in.w.saw("publish")
		return nil, false, in.produce(t, text(p["event"]), p, view, sc.vars)
	case a["subscribe"] != nil:
		in.w.saw("subscribe")
		return in.subscribe(t, text(object(a["subscribe"])["event"]), whole)
	}
	ref := object(a["eventRef"])
	in.w.saw("an action by events")
	if err := in.produce(t, text(ref["triggerEventRef"]), ref, view, sc.vars); err != nil {
		return nil, false, err
	}
	if ref["resultEventRef"] == nil || ref["invoke"] == "async" {
		in.w.saw("an action that only produces an event")
		return nil, false, nil
	}
	return in.subscribe(t, text(ref["resultEventRef"]), whole)
}

// looksAtAll reports whether an expression of an action is about everything there is.
func looksAtAll(v any) bool {
	switch x := v.(type) {
	case string:
		return strings.Contains(x, "${ . }") || strings.Contains(x, "${ $ }") || strings.Contains(x, "{{ $ }}") || strings.Contains(x, "fn:")
	case []any:
		for _, e := range x {
			if looksAtAll(e) {
				return true
			}
		}
	case map[string]any:
		for key, e := range x {
			if key != "results" && looksAtAll(e) {
				return true
			}
		}
	}
	return false
}

// subscribe waits for an event, whose payload is the result, or all of it where the definition of the event says so.
func (in *instance) subscribe(t *thread, name string, data any) (any, bool, error) {
	b := t.box()
	defer b.close()
	in.await(b, data, true, name)
	m := b.receive().(gotEvent)
	t.see(m)
	if in.wholly(m.def) {
		return m.event, true, nil
	}
	payload, ok := m.event["data"]
	return payload, ok, nil
}

// callFunction calls a function, or evaluates one that is an expression.
func (fr *frame) callFunction(t *thread, a map[string]any, view any, filtered bool, vars map[string]any) (any, bool, error) {
	in := fr.in
	ref := object(a["functionRef"])
	if ref == nil {
		ref = map[string]any{"refName": a["functionRef"]}
	}
	name := text(ref["refName"])
	if f := in.function(name); f["type"] == "expression" {
		in.w.saw("an action that is an expression")
		return in.eval(text(f["operation"]), view, vars)
	}
	var args any = map[string]any{}
	given, ok := ref["arguments"]
	if !ok {
		given, ok = ref["parameters"]
	}
	var err error
	switch {
	case ok:
		args, err = in.template(given, view, vars)
		if err != nil && ref["invoke"] == "async" {
			return nil, false, nil // whose errors do not count
		}
		if err != nil {
			return nil, false, err
		}
	case filtered:
		args = view
	}
	if ref["invoke"] == "async" {
		in.w.saw("an asynchronous call")
		in.w.act(t, "", nil, Answer{})
		made := in.w.create(nil, func(c *thread) {
			_, _, _ = in.w.call(c, name, args, a)
			in.answers.post(nil)
		})
		in.pending = append(in.pending, made)
		made.goOn()
		return nil, false, nil
	}
	return in.w.call(t, name, args, a)
}

// call calls a function and waits for its answer.
func (w *world) call(t *thread, name string, args any, action map[string]any) (any, bool, error) {
	if w.unmade[name] { // which answer is next?
		w.isOpen(openUnmade)
	}
	answers := w.c.Mocks[name]
	if len(answers) == 0 {
		panic("naive08: no mock for " + name)
	}
	answer := answers[min(w.answered[name], len(answers)-1)]
	w.answered[name]++
	w.act(t, name, action, answer)
	w.out.Calls = append(w.out.Calls, Call{At: w.now, Function: name, Args: args})
	i, made, cancelled := len(w.out.Calls)-1, w.now, true
	if i > maxCalls {
		w.halt(t, openLong)
	}
	defer func() {
		if cancelled && w.now == made {
			w.out.Calls[i].Maybe, w.unmade[name] = true, true
		}
	}()
	b := t.box()
	b.after(answer.Delay, atWake, nil)
	b.receive()
	cancelled = false
	switch {
	case answer.Error != nil:
		f := *answer.Error
		if f.Name == "" {
			f.Name = "Error"
		}
		if w.c.Form == 9 && f.Type == "" {
			f.Type = errorTypes + "communication"
		}
		return nil, false, &f
	case answer.Echo:
		return args, true, nil
	}
	return answer.Result, answer.HasResult, nil
}
