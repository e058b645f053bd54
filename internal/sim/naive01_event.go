package sim

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// trigger01 is the definition of an event as version 0.5 would have it.
func (in *instance) trigger01(name string) expr.Value {
	for _, e := range word(in.def, "trigger-defs").Items() {
		if str(e, "name") != name {
			continue
		}
		def := expr.EmptyObject
		for _, key := range []string{"source", "type"} {
			if v, ok := e.Get(key); ok {
				def = def.With(key, v)
			}
		}
		if id, ok := e.Get("eventID"); ok {
			def = def.With("either", id)
		}
		if token := word(e, "correlation-token"); !token.IsNull() {
			def = def.With("correlation", expr.Array(obj("contextAttributeName", expr.String("token"), "token", token)))
		}
		return def
	}
	panic("sim: no trigger " + name)
}

// token01 finds what correlates an event: by a path into it, or else into its data; by
// an attribute, else a field of the data.
func token01(token string, event expr.Value) (expr.Value, bool) {
	w := &world{}
	var r expr.Result
	if strings.HasPrefix(token, "$") {
		if r = w.eval(token, event); r.Missing {
			r = w.eval(token, get(event, "data"))
		}
	} else if v, ok := event.Get(token); ok {
		r.Value = v
	} else {
		r.Value = get(get(event, "data"), token)
	}
	if r.Missing || r.Value.IsNull() {
		return expr.Null, false
	}
	return expr.String(literal01(r.Value)), true
}

// hearing is an event state that waits.
type hearing struct {
	s       scope
	entries []expr.Value
	trees   []*eventTree // of each entry
	over    []bool       // its time
	came    map[string]int
	events  []expr.Value // in the order in which they came
	waits   []*wait
}

// deadline says that the time of an entry is over.
type deadline struct{ entry int }

// heard says which entry won, and the events that make it hold.
type heard struct {
	entry int
	by    []string
}

// hear waits until the expression of an entry holds, and runs its actions.
func (s scope) hear(t *thread, st, data expr.Value) (next, out expr.Value, lapsed bool, err error) {
	h := &hearing{s: s, entries: get(st, "events").Items(), came: map[string]int{}}
	for _, e := range h.entries {
		h.trees = append(h.trees, parse01(word(e, "event-expression").Str()))
		h.over = append(h.over, false)
	}
	won := h.wait(t, data)
	if won == nil {
		next, err = s.lapse()
		return next, data, true, err
	}
	e := h.entries[won.entry]
	path := path01(e, "input-path")
	for i, name := range won.by {
		if slices.Index(won.by, name) == i {
			data = s.in.w.addEvent01(data, h.events[h.came[name]], path)
		}
	}
	if next = s.after(st); !get(e, "end").Bool() && word(e, "next-state").Str() != "" {
		next = s.state(word(e, "next-state").Str())
	}
	s.in.w.saw("an entry that holds")
	out, err = s.actions(t, e, data)
	return next, out, false, err
}

// lapse is where a state goes when its time is over: to the only END state.
func (s scope) lapse() (expr.Value, error) {
	var ends []expr.Value
	for _, st := range s.states() {
		if strings.EqualFold(str(st, "type"), "END") {
			ends = append(ends, st)
		}
	}
	if len(ends) == 1 {
		s.in.w.saw("a lapse to the END state")
		return ends[0], nil
	}
	s.in.w.saw("a lapse without one END state")
	return expr.Null, &Fault{Name: sysTimeout}
}

// wait takes events until an entry holds; nil: the time of all is over.
func (h *hearing) wait(t *thread, data expr.Value) *heard {
	in := h.s.in
	w := in.w
	b := t.box()
	defer b.close()
	if in.given != nil && len(in.Path) == 1 && !h.s.branch {
		for i, name := range in.givenAs {
			h.comes(name, in.given[i])
		}
	}
	if won := h.check(-1); won != nil {
		return won
	}
	for _, name := range h.wants() {
		h.waits = append(h.waits, &wait{in: in, b: b, def: in.trigger01(name), data: data, name: name})
	}
	for _, a := range slices.Clone(w.kept) {
		for _, x := range h.waits {
			if x.gone || !x.takes(a) {
				continue
			}
			w.saw("an early event")
			x.consume(a)
			b.msgs = nil
			h.comes(x.name, a.event)
			if won := h.check(-1); won != nil {
				return won
			}
			break
		}
	}
	w.waits = append(w.waits, h.waits...)
	for i, e := range h.entries {
		if v := get(e, "timeout"); !v.IsNull() {
			b.after(w.span01(v), deadline{i})
		}
	}
	for {
		last := -1
		switch m := b.receive().(type) {
		case got:
			h.comes(m.name, m.event)
		case deadline:
			last = m.entry
		}
		if won := h.check(last); won != nil {
			return won
		}
		if last >= 0 {
			h.over[last] = true
			h.forget()
		}
		if !slices.Contains(h.over, false) {
			if len(h.came) > 0 && len(in.fixed) > 0 {
				w.isOpen(openPartial)
			}
			return nil
		}
	}
}

// comes notes an event.
func (h *hearing) comes(name string, event expr.Value) {
	h.came[name] = len(h.events)
	h.events = append(h.events, event)
	h.forget()
}

// wants lists the events that may still matter.
func (h *hearing) wants() (out []string) {
	for i, e := range h.trees {
		if h.over[i] {
			continue
		}
		for _, name := range e.wants(h.came) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// forget ends the waits for what does not matter any more.
func (h *hearing) forget() {
	wants := h.wants()
	for _, x := range h.waits {
		x.gone = !slices.Contains(wants, x.name)
	}
}

// check finds the first entry that holds; last is the one whose time is over just now,
// so that what must not come did not, -1 for none.
func (h *hearing) check(last int) *heard {
	for i, e := range h.trees {
		if h.over[i] {
			continue
		}
		if when, by, ok := e.holds(h.came, last == i); ok {
			if when == atEnd {
				h.s.in.w.saw("an event that did not come")
			}
			return &heard{i, by}
		}
	}
	return nil
}

// addEvent01 adds an event to the data: objects merge, another value takes their place
// where a filter selects it.
func (w *world) addEvent01(data, event expr.Value, path string) expr.Value {
	payload, ok := event.Get("data")
	if path == "" || describe(path).root {
		if !payload.IsObject() {
			return data
		}
		return put01(data, payload)
	}
	p, from := describe(path), payload
	if _, attribute := event.Get(p.first); attribute && p.first != "" {
		from, ok = event, true
	}
	if !ok {
		return data
	}
	r := w.eval(path, from)
	if p.definite && r.Missing || !p.definite && r.Value.Len() == 0 {
		return data
	}
	return put01(data, r.Value)
}

func put01(data, v expr.Value) expr.Value {
	if data.IsObject() && v.IsObject() {
		return merge(data, v)
	}
	return v
}
