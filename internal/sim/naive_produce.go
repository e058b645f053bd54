package sim

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

// callback runs the action and then waits for the event; an event that arrived meanwhile was kept. The
// timeout counts from the end of the action (semantics.md §Control flow).
func (in *instance) callback(t *thread, st, data expr.Value) (expr.Value, error) {
	r, err := in.action(t, get(st, "action"), data, expr.Null)
	if err != nil {
		return data, err
	}
	data = r.addTo(data)
	b := t.box()
	defer b.close()
	in.await(b, data, true, str(st, "eventRef"))
	if limit := str(st, "timeout"); limit != "" {
		b.after(in.w.span(limit), timedOut{})
	}
	m, ok := b.receive().(got)
	if !ok {
		in.w.saw("the timeout of a callback")
		return data, nil
	}
	return in.w.addEvent(data, m.event, get(st, "eventDataFilter")), nil
}

// leaveEarly marks a case as open if the action of a callback state failed for good after the event
// had arrived: the specification does not say whether the event is kept for the next time.
func (in *instance) leaveEarly(st, data expr.Value) {
	if str(st, "type") != "callback" {
		return
	}
	x := &wait{in: in, def: in.eventDef(str(st, "eventRef")), data: data}
	if slices.ContainsFunc(in.w.kept, x.takes) {
		in.w.isOpen(openEarly)
	}
}

// produce emits an event; p has its data and contextAttributes.
func (in *instance) produce(t *thread, name string, p, data expr.Value) {
	def := in.eventDef(name)
	source := str(def, "source")
	if source == "" {
		source = "lockstep/default/" + in.Workflow
	}
	e := expr.Object(
		expr.Member{Key: "specversion", Value: expr.String("1.0")},
		expr.Member{Key: "type", Value: get(def, "type")},
		expr.Member{Key: "source", Value: expr.String(source)},
	)
	if payload, ok := p.Get("data"); ok {
		if payload.IsObject() {
			e = e.With("data", in.w.fill(payload, data))
		} else {
			r := in.w.keyed(payload.Str(), data)
			if r.present {
				e = e.With("data", r.value)
			}
		}
	}
	attributes := get(p, "contextAttributes")
	for _, a := range append([]expr.Value{attributes}, attributes.Items()...) {
		for _, m := range a.Members() {
			e = e.With(m.Key, in.w.fill(m.Value, data))
		}
	}
	in.w.saw("a produced event")
	in.w.act(t, "", expr.Null)
	in.w.produced = append(in.w.produced, Produced{in.w.now, e})
	in.w.arrive(arrival{event: e, at: in.w.now, from: in})
}
