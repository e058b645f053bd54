package sim

import (
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// The reference interpreter. It is written from the specification 0.5 and docs/semantics.md alone
// and shares no code with the kernel but JSON values, paths and durations, which
// have tests of their own. It reads the definition as a JSON document each time it
// needs a word of it, recurses where the definition nests, and blocks where the
// definition waits. It checks nothing: definitions are valid.

// Epoch is the virtual time at which a case starts.
var Epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Why a case is left alone: what comes of it is not said, or said to be a race.
const (
	openTie      = "two things at one instant"
	openLong     = "too long"
	openInput    = "a child's input that is no object"
	openNothing  = "an iteration without a result"
	openScalars  = "several actions of an iteration, one without an object"
	openTarget   = "an outputCollection that is no array"
	openItems    = "an inputCollection that is no array"
	openOld      = "a correlated event older than the instance"
	openPartial  = "a timeout after half of the correlated events"
	openUnnamed  = "a result path without a name"
	openTextList = "a list inside text"
	openNeed     = "n that is not between 1 and the number of branches"
	openUndoEnd  = "an end in compensation"
	openHeld     = "a start event of an instance that ended, for a start with a timeout"
	openEarly    = "a callback that fails after its event came"
	openGiven    = "a correlation value that is no text"
	openWhole    = "a path over everything where more than the data is visible"
	openTwice    = "an event for several waits of one instance"
	openMessage  = "0.2: the message of an error"
)

// limits of a case; beyond them it is left alone.
const (
	maxStates = 150
	maxCalls  = 300
)

type world struct {
	c      *Case
	lang   language
	now    time.Duration
	seq    int
	roots  []*thread // that nobody waits for
	ready  []*thread
	timers timers
	over   bool
	open   string // why the case is left alone

	instances []*instance
	calls     []Call
	produced  []Produced
	answered  map[string]int
	states    int
	reached   map[string]bool // what the case came by, see Features

	acted   []act // at this instant
	actedAt time.Duration
	mixed   map[time.Duration]bool
	shared  time.Duration // when an event last went to several

	waits []*wait
	kept  []arrival

	gathered []*gathering // of a start that needs several events
}

// interpret05 runs a case of version 0.5.
func interpret05(c *Case) (out Outcome, open string) {
	return newWorld(c, language05{}).interpret()
}

// language is what differs between the versions of Serverless Workflow.
type language interface {
	// flow runs the states of an instance.
	flow(in *instance, t *thread, input expr.Value) (expr.Value, error)
	// starts begins an instance of the case's definition if the event does, and reports
	// whether the event was used.
	starts(w *world, a arrival) bool
	// gathersInTime reports whether a start needs several events within a time.
	gathersInTime(in *instance) bool
}

type language05 struct{}

func (language05) flow(in *instance, t *thread, input expr.Value) (expr.Value, error) {
	return in.flow(t, in.start(), input)
}

func (language05) starts(w *world, a arrival) bool { return w.starts(a) }

func newWorld(c *Case, lang language) *world {
	return &world{c: c, lang: lang, answered: map[string]int{}, reached: map[string]bool{}, mixed: map[time.Duration]bool{}, shared: -1}
}

// interpret starts the instance, lets the events come, and tells what became of them.
func (w *world) interpret() (out Outcome, open string) {
	c := w.c
	if c.ByHand {
		in := w.newInstance(c.Def, nil)
		w.spawn(nil, func(t *thread) { _, _ = in.run(t, c.Input) })
	}
	for _, e := range c.Events {
		w.at(e.At, func() bool { return true }, func() { w.arrive(arrival{event: e.Event, at: w.now}) })
	}
	w.run()
	w.over = true
	for _, t := range w.roots {
		t.cancel()
	}
	for _, in := range w.instances {
		w.saw("an instance that is " + in.Status)
		out.Instances = append(out.Instances, in.Instance)
	}
	out.Reached = w.reached
	out.Calls, out.Produced, out.Mixed = w.calls, w.produced, w.mixed
	return out, w.open
}

// saw notes that the case came by something worth covering.
func (w *world) saw(what string) { w.reached[what] = true }

func (w *world) isOpen(why string) {
	if w.open == "" {
		w.open = why
	}
}

// instance is one run of a definition.
type instance struct {
	Instance
	w       *world
	def     expr.Value
	fixed   map[string]expr.Value // correlation attributes of consumed events
	done    []string              // compensating states of completed ones, oldest first
	given   []expr.Value          // the events that started it
	givenAs []string              // 0.1: their names
	// when an attribute was last fixed
	fixedAt time.Duration
	seq     int // in one count with events
	undoing bool
	loose   *box          // 0.1: where branches say that they are over
	running int           // those that did not yet
	left    time.Duration // 0.1: 1 ns after it last started a child that nobody waits for
	held    []arrival     // start events that belong to it, though it does not wait
}

// terminated is how a terminate end leaves everything around it. Each instance
// on the way is completed with the data of its active state.
type terminated struct{}

func (terminated) Error() string { return "terminate" }

// newInstance makes an instance; the events are those that start it.
func (w *world) newInstance(def expr.Value, given []expr.Value) *instance {
	in := &instance{w: w, def: def, given: given, fixed: map[string]expr.Value{}}
	in.Workflow, in.Status, in.Created = idOf(def), Waiting, w.now
	w.seq++
	in.seq = w.seq
	w.instances = append(w.instances, in)
	return in
}

// run runs an instance to its end and gives its output.
func (in *instance) run(t *thread, input expr.Value) (expr.Value, error) {
	w := in.w
	t.depth++
	defer func() { t.depth-- }()
	if t.depth > 2 {
		w.saw("a child's child")
	}
	w.act(t, "", expr.Null)
	finished := false
	defer func() {
		if !finished && !w.over {
			in.Status, in.Ended = Cancelled, w.now
			if in.Ended == in.Created {
				w.isOpen(openTie)
			}
		}
	}()
	out, err := w.lang.flow(in, t, input)
	finished = true
	in.Ended = w.now
	defer in.releaseHeld()
	if f, ok := err.(*Fault); ok {
		in.Status, in.Error = Failed, f.Name
		// What nothing in the child can catch is a fault like any other around it.
		caught := *f
		caught.uncatchable = false
		return out, &caught
	}
	in.Status, in.Output = Completed, out
	return out, err
}

// start is the state marked as the start, else the first.
func (in *instance) start() string {
	states := get(in.def, "states").Items()
	for _, st := range states {
		if _, ok := st.Get("start"); ok {
			return str(st, "name")
		}
	}
	return str(states[0], "name")
}

// flow runs states one after another from the named one.
func (in *instance) flow(t *thread, name string, data expr.Value) (expr.Value, error) {
	for name != "" {
		var err error
		if name, data, err = in.execute(t, in.state(name), data); err != nil {
			return data, err
		}
	}
	return data, nil
}

// state finds a state by name, else by id (semantics.md §Control flow).
func (in *instance) state(name string) expr.Value {
	for _, key := range []string{"name", "id"} {
		for _, st := range get(in.def, "states").Items() {
			if str(st, key) == name {
				return st
			}
		}
	}
	panic("sim: no state " + name)
}

// execute runs one state and says which comes next, "" if none.
func (in *instance) execute(t *thread, st, input expr.Value) (string, expr.Value, error) {
	if in.w.states++; in.w.states > maxStates {
		in.w.isOpen(openLong)
		in.w.halt(t)
	}
	if slices.Contains(in.Path, str(st, "name")) {
		in.w.saw("a state that is entered again")
	}
	in.w.saw("state " + str(st, "type"))
	in.Path = append(in.Path, str(st, "name"))
	t.seen = expr.EmptyObject
	filter := get(st, "stateDataFilter")
	data := in.w.stateFilter(str(filter, "dataInputPath"), input)

	if !data.IsObject() {
		in.w.saw("data that is no object")
	}
	retried := map[int]int64{}
	for {
		exit, out, err := in.body(t, st, data)
		t.cancelChildren()
		if err == nil {
			if by := str(st, "compensatedBy"); by != "" {
				in.done = append(in.done, by)
			}
			return in.leave(t, exit, in.w.stateFilter(str(filter, "dataOutputPath"), out))
		}
		f, ok := err.(*Fault)
		if !ok {
			in.w.saw("a terminate inside a " + str(st, "type"))
			return "", out, err
		}
		i := handler(get(st, "onErrors"), f)
		if i < 0 {
			return "", data, err
		}
		exit = get(st, "onErrors").Items()[i]
		if delay, again := in.retry(exit, retried[i]); again {
			in.w.saw("a retry")
			retried[i]++
			t.sleep(delay)
			continue
		}
		if retried[i] > 0 {
			in.w.saw("retries used up")
		}
		in.leaveEarly(st, data)
		in.w.saw("an error that is handled")
		// The data after an error is the filtered input (semantics.md §Data filters 12).
		return in.leave(t, exit, data)
	}
}

// leave follows a transition or an end: restriction, compensation, events, in that order.
func (in *instance) leave(t *thread, exit, data expr.Value) (string, expr.Value, error) {
	move, ok := exit.Get("transition")
	if !ok {
		move = get(exit, "end")
	}
	if e := str(move, "expression"); e != "" && !in.w.truth(e, data) {
		in.w.saw("a restricted transition")
		return "", data, &Fault{Name: "TransitionRestricted", uncatchable: true}
	}
	if get(move, "compensateBefore").Bool() {
		var err error
		if data, err = in.compensate(t, data); err != nil {
			return "", data, err
		}
	}
	for _, p := range get(move, "produceEvents").Items() {
		in.produce(t, str(p, "eventRef"), p, data)
	}
	if _, end := exit.Get("end"); end {
		if in.undoing {
			in.w.isOpen(openUndoEnd)
		}
		in.w.saw("end " + str(move, "kind"))
	}
	if str(move, "kind") == "terminate" {
		return "", data, terminated{}
	}
	return str(move, "nextState"), data, nil
}

// compensate undoes completed states, newest first, the data flowing through.
func (in *instance) compensate(t *thread, data expr.Value) (expr.Value, error) {
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

// act is something that can be observed, and who did it.
type act struct {
	t        *thread
	function string
	action   expr.Value
	depth    int
}

// act notes what a thread does at this instant. Several that call one function from
// different places would race for its answers.
func (w *world) act(t *thread, function string, action expr.Value) {
	if w.actedAt != w.now {
		w.acted, w.actedAt = nil, w.now
	}
	for _, a := range w.acted {
		if a.t != t {
			w.mixed[w.now] = true
			if function != "" && a.function == function && (!a.action.Same(action) || w.shared == w.now || a.t.parent != t.parent || t.parent == nil || a.depth != t.depth) {
				w.isOpen(openTie)
			}
		}
	}
	w.acted = append(w.acted, act{t, function, action, t.depth})
}

// halt ends a thread of a case that is left alone.
func (w *world) halt(t *thread) {
	for {
		t.block()
	}
}

// idOf is how other definitions know one: by its id, else its key, else its name.
func idOf(def expr.Value) string {
	if document, ok := def.Get("document"); ok { // 1.0: the name, in its namespace
		return str(document, "namespace") + "." + str(document, "name")
	}
	for _, key := range []string{"id", "key"} { // which definitions of 0.9 do not have
		if id := str(def, key); id != "" {
			return id
		}
	}
	return str(def, "name")
}

func get(v expr.Value, key string) expr.Value {
	m, _ := v.Get(key)
	return m
}

func str(v expr.Value, key string) string { return get(v, key).Str() }
