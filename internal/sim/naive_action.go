package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// contribution is what something adds to the data around it.
type contribution struct {
	value   expr.Value
	present bool
	mixed   bool         // of several, some of which were no objects
	parts   []expr.Value // of several: the objects, which merge one by one
}

// addTo merges a contribution; what is no object is not merged (semantics.md §Data filters 9).
func (c contribution) addTo(data expr.Value) expr.Value {
	if !c.present || !c.value.IsObject() {
		return data
	}
	if c.parts == nil {
		return merge(data, c.value)
	}
	for _, v := range c.parts {
		data = merge(data, v)
	}
	return data
}

// result is the data after actions, and what they contributed all together.
type result struct {
	data expr.Value
	contribution
}

// actions runs a list of actions in its mode. Their expressions see the data, and
// under where that lacks a key.
func (in *instance) actions(t *thread, holder, data, under expr.Value) (result, error) {
	list := get(holder, "actions").Items()
	got := make([]contribution, len(list))
	out := result{data: data}
	if strings.EqualFold(str(holder, "actionMode"), "parallel") {
		in.w.saw("parallel actions")
		if err := in.together(t, list, got, data, under); err != nil {
			return result{data: data}, err
		}
	}
	for i, a := range list {
		if !strings.EqualFold(str(holder, "actionMode"), "parallel") {
			var err error
			if got[i], err = in.action(t, a, out.data, under); err != nil {
				return result{data: data}, err
			}
		}
		out.data = got[i].addTo(out.data)
	}
	out.contribution = sumOf(got)
	return out, nil
}

// together runs actions in parallel, each on the same data.
func (in *instance) together(t *thread, list []expr.Value, got []contribution, data, under expr.Value) error {
	b := t.box()
	for i, a := range list {
		in.w.spawn(t, func(t *thread) {
			r, err := in.action(t, a, data, under)
			b.post(ended{i, r, err})
		})
	}
	for range list {
		e := b.receive().(ended)
		if e.err != nil {
			in.w.first()
			return e.err
		}
		got[e.index] = e.result
	}
	return nil
}

// sumOf is the one contribution of several actions: alone as it is, else merged.
func sumOf(got []contribution) contribution {
	if len(got) == 1 {
		return got[0]
	}
	sum := contribution{value: expr.EmptyObject}
	for _, c := range got {
		if !c.present || !c.value.IsObject() {
			sum.mixed = true
			continue
		}
		sum.value, sum.present = merge(sum.value, c.value), true
		sum.parts = append(sum.parts, c.value)
	}
	return sum
}

// action does one thing and gives what its results filter lets through.
func (in *instance) action(t *thread, a, data, under expr.Value) (contribution, error) {
	filter := get(a, "actionDataFilter")
	view := data
	if data.IsObject() {
		view = overlay(overlay(data, under), t.seen)
		if view.Len() > data.Len() && looksAtAll(a) {
			in.w.isOpen(openWhole)
		}
	}
	whole := view
	view = in.w.stateFilter(str(filter, "dataInputPath"), view)

	var answer contribution
	var err error
	if ref, ok := a.Get("eventRef"); ok {
		answer, err = in.trigger(t, a, ref, view, whole)
	} else {
		answer, err = in.call(t, a, view)
	}
	if err == nil && !(answer.present && answer.value.IsObject()) {
		in.w.saw("a result that is no object")
	}
	if err != nil || !answer.present {
		return answer, err
	}
	return in.w.keyed(str(filter, "dataResultsPath"), answer.value), nil
}

// call calls a function with the filled parameters, {} without any.
func (in *instance) call(t *thread, a, view expr.Value) (contribution, error) {
	w := in.w
	ref := get(a, "functionRef")
	args := expr.EmptyObject
	if p, ok := ref.Get("parameters"); ok {
		args = w.fill(p, view)
	}
	limit := never
	if text := str(a, "timeout"); text != "" {
		limit = w.span(text)
	}
	return w.invoke(t, a, str(ref, "refName"), args, limit)
}

// invoke calls a function and waits for its answer.
func (w *world) invoke(t *thread, a expr.Value, name string, args expr.Value, limit time.Duration) (contribution, error) {
	w.calls = append(w.calls, Call{At: w.now, Function: name, Args: args})
	if len(w.calls) > maxCalls {
		w.isOpen(openLong)
		w.halt(t)
	}
	w.act(t, name, a)
	answer := w.answer(name)
	b := t.box()
	defer b.close()
	made, over := w.now, false
	defer func() {
		if !over && made == w.now { // cancelled at once: was it made at all?
			w.isOpen(openTie)
		}
	}()
	b.after(answer.Delay, answer)
	if limit < never {
		b.after(limit, timedOut{})
	}
	_, late := b.receive().(timedOut)
	over = true
	if late {
		w.saw("the timeout of a call")
		return contribution{}, &Fault{Name: "Timeout"}
	}
	switch {
	case answer.Error != nil:
		return contribution{}, answer.Error
	case answer.Echo:
		return contribution{value: args, present: true}, nil
	default:
		return contribution{value: answer.Result, present: answer.HasResult}, nil
	}
}

// answer takes the next answer of a function; the last one repeats.
func (w *world) answer(function string) Answer {
	for _, m := range w.c.Mocks {
		if m.Function == function {
			n := w.answered[function]
			w.answered[function]++
			return m.Answers[min(n, len(m.Answers)-1)]
		}
	}
	panic("sim: no mock for " + function)
}

// trigger produces one event and waits for another, whose payload is the result.
func (in *instance) trigger(t *thread, a, ref, view, data expr.Value) (contribution, error) {
	b := t.box()
	defer b.close()
	in.produce(t, str(ref, "triggerEventRef"), ref, view)
	in.await(b, data, true, str(ref, "resultEventRef"))
	if limit := str(a, "timeout"); limit != "" {
		b.after(in.w.span(limit), timedOut{})
	}
	m, ok := b.receive().(got)
	if !ok {
		in.w.saw("the timeout of an action by events")
		return contribution{}, &Fault{Name: "Timeout"}
	}
	in.w.saw("an action by events")
	t.see(m.def, m.event)
	payload, ok := m.event.Get("data")
	return contribution{value: payload, present: ok}, nil
}

// looksAtAll reports whether an expression somewhere in v begins with something
// else than a name: $, $..v, $[*].
func looksAtAll(v expr.Value) bool {
	for _, m := range v.Members() {
		if m.Key != "dataResultsPath" && looksAtAll(m.Value) {
			return true
		}
	}
	if slices.ContainsFunc(v.Items(), looksAtAll) {
		return true
	}
	s := v.Str()
	if strings.HasPrefix(s, "$") {
		return describe(s).first == ""
	}
	for {
		_, after, ok := strings.Cut(s, "{{")
		if !ok {
			return false
		}
		inner, rest, ok := cutExpression("{{" + after)
		if ok && strings.HasPrefix(inner, "$") && describe(inner).first == "" {
			return true
		}
		s = rest
	}
}
