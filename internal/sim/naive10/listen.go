package naive10

import (
	"slices"
	"time"
)

// arrival is an event, from which instance if from one, and who took it when.
type arrival struct {
	event map[string]any
	from  *instance
	seq   int // in one count with instances
	by    map[*instance]taking
}

// taking is when an instance took an event; early: after it was kept.
type taking struct {
	at    time.Duration
	early bool
}

// listener is a listen task while it listens.
type listener struct {
	in    *instance
	s     *strategy
	b     *box
	queue []any // taken and not yet worked on
}

func (l *listener) offer(a *arrival, early bool) (took bool) {
	took, counts := l.s.offer(a, early)
	if !took {
		return false
	}
	a.by[l.in] = taking{l.in.w.now, early}
	if counts {
		l.queue = append(l.queue, l.s.taken[len(l.s.taken)-1])
	}
	l.b.post(nil)
	return true
}

// listen takes events until it has enough, and works on one after the other.
func (in *instance) listen(t *thread, ptr string, def map[string]any, input any, sc scope) (any, error) {
	head := object(def["listen"])
	s, err := in.strategy(object(head["to"]), head["read"], sc, input, map[string]any{})
	if err != nil {
		return nil, err
	}
	l := &listener{in: in, s: s, b: t.box()}
	defer func() { l.b.closed = true }()
	in.w.meets(in, false)
	for _, a := range in.w.kept {
		if !in.mayTake(a, s) {
			continue
		}
		if l.offer(a, true) {
			in.w.later()
		}
		if len(l.queue) > 0 {
			in.w.saw("an early event")
		}
	}
	in.w.listeners = append(in.w.listeners, l)
	outs := []any{}
	for {
		switch {
		case s.err != nil:
			return nil, s.err
		case len(l.queue) > 0:
			item := l.queue[0]
			l.queue = l.queue[1:]
			if each, ok := def["foreach"].(map[string]any); ok {
				if item, err = in.iterate(t, ptr, each, item, len(outs), sc); err != nil {
					return nil, err
				}
			}
			outs = append(outs, item)
		case s.done:
			return outs, nil
		default:
			l.b.receive()
		}
	}
}

// mayTake reports whether a kept event is there for an instance: it came after the instance did, is not
// its own, and was not taken by it before.
func (in *instance) mayTake(a *arrival, s *strategy) bool {
	if a.from == in {
		in.w.saw("an event of its own")
		return false
	}
	if t, taken := a.by[in]; taken {
		if t.early && t.at == in.w.now { // both of them wait for it
			in.w.isOpen(openTwice)
		}
		return false
	}
	if a.seq < in.seq {
		for _, f := range s.filters {
			if _, ok := s.matches(f, a.event); ok && len(f.from) > 0 {
				in.w.isOpen(openOld)
			}
		}
		return false
	}
	return true
}

// iterate works on one event, and gives what stands for it in the output.
func (in *instance) iterate(t *thread, ptr string, each map[string]any, item any, i int, sc scope) (any, error) {
	in.w.saw("foreach")
	with := sc.with(named(each["item"], "item"), item).with(named(each["at"], "index"), i)
	out := item
	if do, ok := each["do"]; ok {
		var err error
		if out, _, err = in.list(t, ptr+"/foreach/do", list(do), item, with.without("input", "output", "task")); err != nil {
			return nil, err
		}
	}
	element, output := item, object(each["output"])
	if as, ok := output["as"]; ok {
		var err error
		if element, err = in.transform(with, as, out); err != nil {
			return nil, err
		}
	}
	if err := in.validate(output, element); err != nil {
		return nil, err
	}
	return element, in.export(t, object(each["export"]), with.with("output", element), element)
}

// arrive gives an event to all who listen for it, starts what it starts, and keeps it
// for those who will listen.
func (w *world) arrive(a *arrival) {
	w.seq++
	a.seq, a.by = w.seq, map[*instance]taking{}
	w.listeners = slices.DeleteFunc(w.listeners, func(l *listener) bool { return !l.b.alive() })
	for _, l := range w.listeners {
		if l.in == a.from {
			continue
		}
		l.offer(a, false)
	}
	w.kept = append(w.kept, a)
	for _, def := range w.c.Definitions {
		if on, ok := object(def["schedule"])["on"].(map[string]any); ok && (a.from == nil || a.from.Workflow != text(object(def["document"])["name"])) {
			w.gather(def, on, a)
		}
	}
}

// gathering is a set of events that will start an instance once it is complete.
type gathering struct {
	def map[string]any
	s   *strategy
}

// gather adds an event to the oldest set that it belongs to, else begins another set.
func (w *world) gather(def, on map[string]any, a *arrival) {
	for i, g := range w.gathered {
		if w.same(g.def, def) {
			if took, _ := g.s.offer(a, false); took {
				if g.s.done {
					w.gathered = slices.Delete(w.gathered, i, i+1)
					w.startBy(g)
				}
				return
			}
		}
	}
	in := &instance{w: w, def: def}
	s, err := in.strategy(on, object(def["schedule"])["read"], scope{}, nil, map[string]any{})
	if err != nil {
		return
	}
	if _, counts := s.offer(a, false); !counts {
		return
	}
	if g := (&gathering{def, s}); s.done {
		w.startBy(g)
	} else {
		w.saw("a start that needs several events")
		w.gathered = append(w.gathered, g)
	}
}

func (w *world) same(a, b map[string]any) bool {
	return equal(a["document"], b["document"])
}

func (w *world) startBy(g *gathering) {
	w.saw("a start by events")
	w.start(g.def, append([]any{}, g.s.taken...))
}
