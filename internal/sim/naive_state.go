package sim

import (
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
)

// body does what a state is for. exit is what holds the transition or end to take.
func (in *instance) body(t *thread, st, data expr.Value) (exit, out expr.Value, err error) {
	exit = st
	switch str(st, "type") {
	case "inject":
		out = data
		if get(st, "data").Len() > 0 { // else it adds nothing, whatever the data is
			out = merge(data, in.w.fill(get(st, "data"), data))
		}
	case "delay":
		t.sleep(in.w.span(str(st, "timeDelay")))
		out = data
	case "operation":
		var r result
		r, err = in.actions(t, st, data, expr.Null)
		out = r.data
	case "switch":
		return in.choose(t, st, data)
	case "parallel":
		out, err = in.parallel(t, st, data)
	case "foreach":
		out, err = in.foreach(t, st, data)
	case "subflow":
		out, err = in.subflow(t, st, data)
	case "callback":
		out, err = in.callback(t, st, data)
	case "event":
		out, err = in.eventState(t, st, data)
	default:
		panic("sim: no state type " + str(st, "type"))
	}
	return exit, out, err
}

// choose is the switch state: the first condition that holds, or the first event.
func (in *instance) choose(t *thread, st, data expr.Value) (exit, out expr.Value, err error) {
	if conditions, ok := st.Get("dataConditions"); ok {
		for _, c := range conditions.Items() {
			if in.w.truth(str(c, "condition"), data) {
				in.w.saw("a data condition")
				return c, data, nil
			}
		}
		in.w.saw("the default of a switch")
		return get(st, "default"), data, nil
	}
	b := t.box()
	defer b.close()
	conditions := get(st, "eventConditions").Items()
	names := make([]string, len(conditions))
	for i, c := range conditions {
		names[i] = str(c, "eventRef")
	}
	in.await(b, data, true, names...)
	b.after(in.w.span(str(st, "eventTimeout")), timedOut{})
	switch m := b.receive().(type) {
	case got:
		c := conditions[m.index]
		in.w.saw("an event condition")
		return c, in.w.addEvent(data, m.event, get(c, "eventDataFilter")), nil
	default:
		in.w.saw("the timeout of a switch")
		return get(st, "default"), data, nil
	}
}

// ended is how a branch or an iteration tells that it is over.
type ended struct {
	index  int
	result contribution
	err    error
}

// parallel runs the branches, each on a copy of the data; the results of those that
// count merge in the order of declaration (0.5 §Parallel State).
func (in *instance) parallel(t *thread, st, data expr.Value) (expr.Value, error) {
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
	b := t.box()
	for i, br := range branches {
		in.w.spawn(t, func(t *thread) {
			r, err := in.work(t, br, data, expr.Null)
			b.post(ended{i, r, err})
		})
	}
	results := make([]contribution, len(branches))
	for range need {
		e := b.receive().(ended)
		if e.err != nil {
			in.w.first()
			in.w.saw("a failing branch")
			return data, e.err
		}
		results[e.index] = e.result
	}
	if need < len(branches) {
		in.w.first()
	}
	for _, r := range results {
		data = r.addTo(data)
	}
	return data, nil
}

// first is for places where the first of several counts: an event that went to
// several leaves open which that is.
func (w *world) first() {
	if w.shared == w.now {
		w.isOpen(openTie)
	}
}

// work runs the actions, or the workflow, of a branch or an iteration. The workflow
// gets own, the actions see under where own lacks a key.
func (in *instance) work(t *thread, holder, own, under expr.Value) (contribution, error) {
	if id := str(holder, "workflowId"); id != "" {
		return in.child(t, id, own)
	}
	r, err := in.actions(t, holder, own, under)
	return r.contribution, err
}

// foreach runs the work for each item, at most max at once, and appends the results
// in the order of the items (0.5 §ForEach State).
func (in *instance) foreach(t *thread, st, data expr.Value) (expr.Value, error) {
	handled := func(f *Fault) bool { return in.undoing || handler(get(st, "onErrors"), f) >= 0 }
	return in.each(t, st, data, handled, func(t *thread, item expr.Value) (contribution, error) {
		return in.work(t, st, expr.Object(expr.Member{Key: str(st, "iterationParam"), Value: item}), data)
	})
}

// each runs something for each item of a foreach. A failing item ends it at once where that is handled, or where items
// come one after the other; else when the others are done (semantics.md §Control flow: ForEach).
func (in *instance) each(t *thread, st, data expr.Value, handled func(*Fault) bool, run func(*thread, expr.Value) (contribution, error)) (expr.Value, error) {
	items, ok := in.collection(str(st, "inputCollection"), data)
	if !ok {
		in.w.saw("a missing collection")
		return data, &Fault{Name: "DataError"}
	}
	most := len(items)
	if n := in.w.number(get(st, "max"), data); n > 0 {
		most = min(most, int(n))
	}
	switch {
	case len(items) == 0:
		in.w.saw("an empty collection")
	case most < len(items):
		in.w.saw("a foreach that is held back by max")
	}
	b := t.box()
	begin := func(i int) {
		in.w.spawn(t, func(t *thread) {
			r, err := run(t, items[i])
			b.post(ended{i, r, err})
		})
	}
	for i := range most {
		begin(i)
	}
	results := make([]expr.Value, len(items))
	failed, first := error(nil), len(items)
	for n := range items {
		e := b.receive().(ended)
		if f, ok := e.err.(*Fault); ok && most > 1 && !f.uncatchable && !handled(f) {
			in.w.saw("items that go on after a failing one")
			if e.index < first {
				failed, first = f, e.index
			}
			if most+n < len(items) {
				begin(most + n)
			}
			continue
		}
		if e.err != nil {
			in.w.first()
			in.w.saw("a failing iteration")
			return data, e.err
		}
		if !e.result.present {
			in.w.isOpen(openNothing)
		}
		if e.result.mixed {
			in.w.isOpen(openScalars)
		}
		results[e.index] = e.result.value
		if most+n < len(items) {
			begin(most + n)
		}
	}
	if failed != nil {
		return data, failed
	}
	target := str(st, "outputCollection")
	if target == "" {
		return data, nil
	}
	keys := describe(target).keys
	old, _ := data.Lookup(keys...)
	if !old.IsArray() && !old.IsNull() {
		in.w.isOpen(openTarget)
	}
	return data.WithPath(keys, expr.Array(append(append([]expr.Value{}, old.Items()...), results...)...)), nil
}

// collection is what a foreach goes over; false where the path is missing.
func (in *instance) collection(path string, data expr.Value) ([]expr.Value, bool) {
	r := in.w.eval(path, data)
	if !describe(path).definite {
		return r.Value.Items(), true
	}
	if r.Missing {
		return nil, false
	}
	if !r.Value.IsArray() {
		in.w.isOpen(openItems)
	}
	return r.Value.Items(), true
}

// subflow starts another workflow on the state's data and merges its output, if it waits.
func (in *instance) subflow(t *thread, st, data expr.Value) (expr.Value, error) {
	id := str(st, "workflowId")
	if !get(st, "waitForCompletion").Bool() {
		def := in.w.workflow(id)
		in.w.needObject(data)
		if in.w.active(def) {
			in.w.saw("a child that nobody waits for")
			in.w.spawn(nil, func(t *thread) { _, _ = in.w.newInstance(def, nil).run(t, data) })
		}
		return data, nil
	}
	r, err := in.child(t, id, data)
	return r.addTo(data), err
}

// child runs an awaited workflow. One whose schedule is not active is over at once.
func (in *instance) child(t *thread, id string, input expr.Value) (contribution, error) {
	def := in.w.workflow(id)
	in.w.needObject(input)
	if !in.w.active(def) {
		in.w.saw("a child that is not active")
		return contribution{}, nil
	}
	begun := false
	defer func() {
		if !begun { // cancelled at once: did it begin at all?
			in.w.isOpen(openTie)
		}
	}()
	t.turn()
	begun = true
	out, err := in.w.newInstance(def, nil).run(t, input)
	return contribution{value: out, present: true}, err
}

func (w *world) needObject(input expr.Value) {
	if !input.IsObject() {
		w.isOpen(openInput)
	}
}

func (w *world) workflow(id string) expr.Value {
	for _, def := range w.c.Subs {
		if idOf(def) == id {
			return def
		}
	}
	panic("sim: no workflow " + id)
}

// active reports whether the start of a definition is in its window now.
func (w *world) active(def expr.Value) bool {
	for _, st := range get(def, "states").Items() {
		text := get(get(get(st, "start"), "schedule"), "interval").Str()
		if text == "" {
			continue
		}
		iv, err := calendar.ParseInterval(text)
		if err != nil {
			panic(err)
		}
		if !iv.Contains(Epoch.Add(w.now), Epoch) {
			return false
		}
	}
	return true
}

// span is how long a duration is from now on.
func (w *world) span(text string) time.Duration {
	d, err := calendar.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	now := Epoch.Add(w.now)
	return d.AddTo(now).Sub(now)
}
