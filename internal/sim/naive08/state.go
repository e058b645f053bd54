package naive08

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// flow runs states one after another from the named one.
func (in *instance) flow(t *thread, name string, data any) (any, error) {
	for name != "" {
		if in.w.now >= in.deadline {
			if in.undoing {
				in.w.isOpen(openUndoLate)
			}
			return data, overtime{}
		}
		var err error
		if name, data, err = in.execute(t, name, data); err != nil {
			return data, err
		}
	}
	return data, nil
}

// frame is the execution of one state: what its parts need to know of it.
type frame struct {
	in       *instance
	st       map[string]any
	ptr      string
	deadline time.Duration // of the state
	retried  map[string]*attempts
}

// execute runs one state and says which comes next, "" if none.
func (in *instance) execute(t *thread, name string, input any) (string, any, error) {
	if in.w.states++; in.w.states > maxStates {
		in.w.halt(t, openLong)
	}
	st, i := in.state(name)
	if slices.Contains(in.Path, text(st["name"])) {
		in.w.saw("a state that is entered again")
	}
	in.w.saw("state " + text(st["type"]))
	in.Path = append(in.Path, text(st["name"]))
	in.entered, t.seen = input, nil
	fr := &frame{in: in, st: st, ptr: fmt.Sprintf("/states/%d", i), deadline: never, retried: map[string]*attempts{}}
	data, err := in.selected(object(st["stateDataFilter"])["input"], input, nil)
	if err != nil { // the state has not begun, so that it does not handle this
		in.w.saw("an input filter that fails")
		return "", input, fr.upward(err, fr.ptr)
	}
	if limit, ok := in.stateLimit(st, data); ok {
		fr.deadline = in.w.now + limit
	}
	for {
		exit, out, err := fr.attempt(t, data)
		t.cancelChildren()
		if err == nil {
			if by := text(st["compensatedBy"]); by != "" {
				in.done = append(in.done, by)
			}
			return in.leave(t, exit, out)
		}
		f := (*Fault)(nil)
		if !errors.As(err, &f) {
			if o := (*outcome)(nil); errors.As(err, &o) {
				return in.leave(t, o.exit, data)
			}
			in.w.saw("a terminate inside a " + text(st["type"]))
			return "", out, err
		}
		if in.w.c.Form == 6 || in.w.c.Form == 9 { // the state is what is tried again
			if delay, again := fr.retryState(f); again {
				in.w.saw("a retry of a state")
				if in.w.now+delay >= fr.deadline {
					t.sleep(fr.deadline - in.w.now)
					return in.failed(t, fr, timeout(fr.ptr, true), data)
				}
				t.sleep(delay)
				continue
			}
		}
		return in.failed(t, fr, err, data)
	}
}

// failed leaves a state after an error that nobody tries again. Its data is the
// filtered input, and the output filter does not apply.
func (in *instance) failed(t *thread, fr *frame, err error, data any) (string, any, error) {
	f := (*Fault)(nil)
	if !errors.As(err, &f) {
		return "", data, err
	}
	f = located(f, fr.ptr)
	exit, err := fr.handle(f, data)
	if err != nil {
		return "", data, err
	}
	in.leaveEarly(fr.st, data)
	in.w.saw("an error that is handled")
	return in.leave(t, exit, data)
}

// attempt runs a state once, within the time that is left of its time.
func (fr *frame) attempt(t *thread, data any) (exit map[string]any, out any, err error) {
	in := fr.in
	body := func(t *thread) {
		if exit, out, err = fr.body(t, data); err == nil {
			out, err = in.selected(object(fr.st["stateDataFilter"])["output"], out, nil)
		}
	}
	switch fr.st["type"] {
	case "event", "callback": // which look at their time themselves
		body(t)
		return exit, out, err
	}
	if t.until(fr.deadline, body) {
		in.w.saw("the timeout of a state")
		return nil, data, timeout(fr.ptr, true)
	}
	return exit, out, err
}

// leave follows a transition or an end: compensation, events, then the next state, the end or another
// workflow, in that order (§Triggering Compensation).
func (in *instance) leave(t *thread, exit map[string]any, data any) (string, any, error) {
	move, moves := exit["transition"]
	if !moves {
		move = exit["end"]
	}
	next := text(move)
	o := object(move)
	if o != nil {
		next = text(o["nextState"])
	}
	if in.w.now >= in.deadline && (o["compensate"] == true || len(list(o["produceEvents"])) > 0 || o["continueAs"] != nil || o["terminate"] == true) {
		in.w.isOpen(openLateExit)
	}
	if o["compensate"] == true {
		var err error
		if data, err = in.compensate(t, data); err != nil {
			return "", data, err
		}
	}
	for _, p := range list(o["produceEvents"]) {
		if err := in.produce(t, text(object(p)["eventRef"]), object(p), data, nil); err != nil {
			in.w.isOpen(openExit)
			return "", data, err
		}
	}
	if moves {
		return next, data, nil
	}
	return "", data, in.end(exit, o, data)
}

// end says how the flow ends: by itself, by terminate or as another workflow.
func (in *instance) end(exit, end map[string]any, data any) error {
	if _, ok := exit["end"]; !ok || in.undoing { // a compensating state, whose end is ignored
		return nil
	}
	if as, ok := end["continueAs"]; ok {
		return in.continueAs(as, data)
	}
	if end["terminate"] == true {
		in.w.saw("end terminate")
		return terminated{}
	}
	in.w.saw("end")
	return nil
}

func (in *instance) continueAs(as, data any) error {
	for _, c := range in.pending {
		if !c.dead {
			in.w.isOpen(openAsync)
		}
	}
	in.w.saw("continueAs")
	o := object(as)
	if o == nil {
		o = map[string]any{"workflowId": as}
	}
	def := in.w.definition(text(o["workflowId"]), text(o["version"]))
	if def == nil {
		panic("naive08: no workflow to continue as")
	}
	c := &continued{def: def, data: data, limit: o["workflowExecTimeout"]}
	switch given := o["data"].(type) {
	case nil:
	case string:
		v, err := in.filter(given, data, nil)
		if err != nil {
			in.w.isOpen(openExit)
			return err
		}
		c.data = v
	default:
		c.data = given // literally
	}
	return c
}

// compensate undoes completed states, newest first, the data flowing through.
func (in *instance) compensate(t *thread, data any) (any, error) {
	for _, c := range in.pending {
		if !c.dead {
			in.w.isOpen(openAsync)
		}
	}
	for len(in.done) > 0 {
		in.w.saw("a compensation")
		in.undoing = true
		by := in.done[len(in.done)-1]
		in.done = in.done[:len(in.done)-1]
		var err error
		if data, err = in.flow(t, by, data); err != nil {
			return data, err
		}
	}
	in.undoing = false
	return data, nil
}
