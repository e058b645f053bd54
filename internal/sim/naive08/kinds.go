package naive08

import (
	"errors"
	"time"
)

// body does what a state is for. exit is what holds the transition or end to take.
func (fr *frame) body(t *thread, data any) (exit map[string]any, out any, err error) {
	in, st := fr.in, fr.st
	out = data
	switch st["type"] {
	case "inject":
		var v any
		if v, err = in.template(st["data"], data, nil); err == nil {
			out = merge(data, v)
		}
	case "sleep", "delay":
		var d time.Duration
		length := st["duration"]
		if st["type"] == "delay" {
			length = st["timeDelay"]
		}
		if d, err = in.duration(length, data, nil); err == nil {
			t.sleep(d)
		}
	case "operation":
		out, err = fr.operation(t, data)
	case "switch":
		return fr.choose(t, data)
	case "parallel":
		out, err = fr.parallel(t, data)
	case "foreach":
		out, err = fr.foreach(t, data)
	case "subflow":
		out, err = fr.subflow(t, data)
	case "callback":
		out, err = fr.callback(t, data)
	case "event":
		out, err = fr.event(t, data)
	default:
		panic("naive08: no state type " + text(st["type"]))
	}
	return st, out, err
}

func (fr *frame) operation(t *thread, data any) (any, error) {
	got, err := fr.actions(t, fr.ptr+"/actions", fr.st, scope{own: data})
	if err != nil {
		return data, err
	}
	return fr.in.apply(data, got)
}

// choose is the switch state: the first condition that is true, or the first event.
func (fr *frame) choose(t *thread, data any) (exit map[string]any, out any, err error) {
	in, st := fr.in, fr.st
	otherwise := func(why string) (map[string]any, any, error) {
		for _, key := range []string{"defaultCondition", "default"} {
			if exit, ok := st[key]; ok {
				in.w.saw(why)
				return object(exit), data, nil
			}
		}
		in.w.saw("a switch without a match")
		return nil, data, &Fault{Name: "NoMatch"}
	}
	if conditions, ok := st["dataConditions"]; ok {
		for _, c := range list(conditions) {
			holds, err := in.holds(object(c)["condition"], data, nil)
			if err != nil {
				return nil, data, err
			}
			if holds {
				in.w.saw("a data condition")
				return object(c), data, nil
			}
		}
		return otherwise("the default of a switch")
	}
	b := t.box()
	defer b.close()
	conditions := list(st["eventConditions"])
	names := make([]string, len(conditions))
	for i, c := range conditions {
		names[i] = text(object(c)["eventRef"])
	}
	limit, limited, err := in.eventLimit(st, "eventTimeout", data)
	if err != nil {
		return nil, data, err
	}
	in.await(b, data, true, names...)
	if limited {
		b.after(limit, atDeadline, timedOut{})
	}
	m, ok := b.receive().(gotEvent)
	if !ok {
		return otherwise("the timeout of a switch")
	}
	c := object(conditions[m.index])
	in.w.saw("an event condition")
	out, err = in.addEvent(data, m, object(c["eventDataFilter"]))
	return c, out, err
}

// subflow is the state of 0.6 that runs another workflow, perhaps again and again.
func (fr *frame) subflow(t *thread, data any) (any, error) {
	in, st := fr.in, fr.st
	id := text(st["workflowId"])
	if st["waitForCompletion"] == false { // absent is true
		in.detach(in.w.definition(id, ""), data, false)
		return data, nil
	}
	repeat, repeats := st["repeat"].(map[string]any)
	if !repeats {
		out, err := in.child(t, id, "", data)
		if err != nil && !errors.As(err, new(terminated)) {
			return data, err
		}
		merged, failed := in.apply(data, []contribution{in.unnamed(out)})
		if failed != nil {
			return data, failed
		}
		return merged, err
	}
	stop := t.box()
	defer stop.close()
	for _, name := range list(repeat["stopOnEvents"]) {
		in.await(stop, data, true, text(name))
	}
	if len(stop.msgs) > 0 {
		in.w.isOpen(openStop)
	}
	max, limited := repeat["max"].(int)
	again := func(before bool) (bool, error) {
		if before != (repeat["checkBefore"] != false) {
			return true, nil
		}
		if _, ok := repeat["expression"]; !ok {
			return true, nil
		}
		return in.holds(repeat["expression"], data, nil)
	}
	for n := 0; !limited || n < max; n++ {
		if len(stop.msgs) > 0 {
			in.w.saw("an event that stops a repetition")
			break
		}
		if more, err := again(true); err != nil || !more {
			in.w.saw("a repetition that its expression ends")
			return data, err
		}
		in.w.saw("a repetition")
		out, err := in.child(t, id, "", data)
		f := (*Fault)(nil)
		switch {
		case errors.As(err, &f) && repeat["continueOnError"] == true && !in.handles6(st, f): // 0.6 §Repeat Definition: unhandled ones
			in.w.saw("a repetition after an error")
		case errors.As(err, &f):
			return data, err
		default:
			var failed error
			if data, failed = in.apply(data, []contribution{in.unnamed(out)}); failed != nil || err != nil {
				return data, errors.Join(failed, err)
			}
		}
		if more, err := again(false); err != nil || !more {
			in.w.saw("a repetition that its expression ends")
			return data, err
		}
	}
	return data, nil
}

// callback runs the action and then waits for the event; an event that arrived meanwhile was kept. The
// timeout counts from the end of the action. While it only waits, the time of the state
// is as one of the event.
func (fr *frame) callback(t *thread, data any) (any, error) {
	in, st := fr.in, fr.st
	var got []contribution
	var err error
	act := func(t *thread) {
		got, err = fr.actions(t, fr.ptr+"/action", map[string]any{"action": st["action"]}, scope{own: data})
	}
	if t.until(fr.deadline, act) {
		in.w.saw("the timeout of a state")
		return data, timeout(fr.ptr, true)
	}
	if err != nil {
		return data, err
	}
	before := data
	if data, err = in.apply(data, got); err != nil {
		return before, err
	}
	b := t.box()
	defer b.close()
	limit, limited, err := in.eventLimit(st, "timeout", data)
	if err != nil {
		return before, err
	}
	in.await(b, data, true, text(st["eventRef"]))
	fr.waitFor(b, limit, limited)
	m, ok := b.receive().(gotEvent)
	if !ok {
		in.w.saw("the timeout of a callback")
		return data, nil
	}
	return in.addEvent(data, m, object(st["eventDataFilter"]))
}

// waitFor bounds a wait for events by its own time and by that of the state.
func (fr *frame) waitFor(b *box, limit time.Duration, limited bool) {
	if left := fr.deadline - fr.in.w.now; fr.deadline < never && (!limited || left < limit) {
		limit, limited = left, true
	}
	if limited {
		b.after(limit, atDeadline, timedOut{})
	}
}

// leaveEarly marks a case as open if the action of a callback state failed for good after the event
// had arrived: the specification does not say whether the event is kept for the next time.
func (in *instance) leaveEarly(st map[string]any, data any) {
	if st["type"] != "callback" {
		return
	}
	x := &wait{in: in, def: in.eventDef(text(st["eventRef"])), data: data}
	for _, a := range in.w.kept {
		if x.takes(a) {
			in.w.isOpen(openEarly)
		}
	}
}
