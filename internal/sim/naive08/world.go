package naive08

import (
	"errors"
	"fmt"
	"reflect"
	"time"
)

type world struct {
	c      *Case
	now    time.Duration
	seq    int
	roots  []*thread // that nobody waits for
	ready  []*thread
	timers timers
	over   bool
	out    Outcome
	states int

	instances []*instance
	answered  map[string]int
	unmade    map[string]bool // functions whose calls may not have been made

	acted   []act // at this instant
	actedAt time.Duration
	shared  time.Duration // when an event last went to several

	waits    []*wait
	kept     []arrival
	gathered []*gathering // of a start that needs several events
}

// Run says what comes of a case.
func Run(c *Case) Outcome {
	w := &world{c: c, answered: map[string]int{}, unmade: map[string]bool{}, shared: -1}
	w.out.Reached, w.out.Mixed = map[string]bool{}, map[time.Duration]bool{}
	if c.ByHand {
		in := w.newInstance(c.Definitions[0], nil)
		if st, _ := in.state(in.start()); st["type"] == "event" {
			w.isOpen(openByHand)
		}
		w.begin(in, c.Input)
	}
	for _, e := range c.Events {
		w.push(timer{at: e.At, order: atArrival, alive: func() bool { return true }, fire: func() { w.arrive(arrival{event: e.Event, at: w.now}) }})
	}
	w.run()
	w.over = true
	for _, t := range w.roots {
		t.cancel()
	}
	for _, in := range w.instances {
		w.saw("an instance that is " + in.Status)
		w.out.Instances = append(w.out.Instances, in.Instance)
	}
	return w.out
}

// begin runs an instance that nobody waits for, and those that it continues as.
func (w *world) begin(in *instance, input any) *thread {
	return w.spawn(nil, func(t *thread) {
		_, err := in.run(t, input)
		if c := (*continued)(nil); errors.As(err, &c) {
			next := w.newInstance(c.def, nil)
			next.limit = c.limit
			w.needObject(c.data)
			w.begin(next, c.data)
		}
	})
}

// saw notes that the case came by something worth covering.
func (w *world) saw(what string) { w.out.Reached[what] = true }

func (w *world) isOpen(why string) {
	if w.out.Open == "" {
		w.out.Open = why
	}
}

// act is something that can be observed, and who did it.
type act struct {
	t        *thread
	function string
	action   any
	answer   Answer
}

// act notes what a thread does at this instant. Several that call one function race for its answers, unless
// these are alike or they are iterations of one loop, which begin in order.
func (w *world) act(t *thread, function string, action any, answer Answer) {
	if w.actedAt != w.now {
		w.acted, w.actedAt = nil, w.now
	}
	for _, a := range w.acted {
		if a.t.branch == t.branch {
			continue
		}
		w.out.Mixed[w.now] = true
		if function == "" || a.function != function || reflect.DeepEqual(a.answer, answer) {
			continue
		}
		siblings := a.t.branch.parent != nil && a.t.branch.parent == t.branch.parent && reflect.ValueOf(a.action).Pointer() == reflect.ValueOf(action).Pointer()
		if !siblings || w.shared == w.now {
			w.isOpen(openTie)
		}
	}
	w.acted = append(w.acted, act{t, function, action, answer})
}

// losers marks a case as open where branches are cancelled at the instant at which they began, and one did something
// that can be seen: it need not have come to that. Calls are told apart one by one.
//
// It does so too where several went on at this instant, and one of them learned something late.
func (w *world) losers(parent *thread, began time.Duration) {
	ran, late := 0, false
	for _, c := range parent.children {
		if c.ran.isNow(w) {
			ran++
			late = late || c.late.isNow(w)
		}
	}
	if ran > 1 && late {
		w.isOpen(openTie)
	}
	if began != w.now || w.actedAt != w.now {
		return
	}
	for _, c := range parent.children {
		for _, a := range w.acted {
			if a.function == "" && c.above(a.t) {
				w.isOpen(openTie)
			}
		}
	}
}

// first is for places where the first of several counts: an event that went to
// several leaves open which that is.
func (w *world) first() {
	if w.shared == w.now {
		w.isOpen(openTie)
	}
}

// instance is one run of a definition.
type instance struct {
	Instance
	w       *world
	def     map[string]any
	limit   any            // workflowExecTimeout of a continueAs; nil: the definition's
	fixed   map[string]any // correlation attributes of consumed events
	fixedAt time.Duration  // when one was last fixed
	given   []map[string]any
	held    []arrival // start events that belong to it, though it does not wait
	seq     int       // in one count with events
	done    []string  // compensating states of completed ones, oldest first
	undoing bool
	entered any // the data with which the active state was entered

	awaited  bool          // somebody waits for it
	ends     time.Duration // when its time is over
	deadline time.Duration // the same, where the active state may finish
	pending  []*thread     // asynchronous calls that are not answered
	answers  *box          // where they say that they are
	below    []below       // asynchronous children that end with it
}

type below struct {
	t     *thread
	began time.Duration
}

// The ways in which a state or an action leaves everything around it.
type (
	// terminated ends the instance; in 0.6 also those that wait for it.
	terminated struct{}
	// continued ends the instance, and another one begins.
	continued struct {
		def   map[string]any
		data  any
		limit any
	}
	// overtime says that the workflow's time was over when the active state had finished.
	overtime struct{}
	// outcome is what a handler of an action says (0.9): the state is left.
	outcome struct{ exit map[string]any }
)

func (terminated) Error() string { return "terminate" }
func (*continued) Error() string { return "continueAs" }
func (overtime) Error() string   { return "workflowExecTimeout" }
func (*outcome) Error() string   { return "then" }

// newInstance makes an instance; the events are those that start it.
func (w *world) newInstance(def map[string]any, given []map[string]any) *instance {
	w.seq++
	in := &instance{w: w, def: def, given: given, fixed: map[string]any{}, seq: w.seq, deadline: never, ends: never}
	in.Workflow, in.Status, in.Created = w.id(def), Waiting, w.now
	w.instances = append(w.instances, in)
	return in
}

// id is how definitions refer to one another: by name in 0.9, else by id, else by key.
func (w *world) id(def map[string]any) string {
	for _, key := range []string{"id", "key"} {
		if id := text(def[key]); id != "" && w.c.Form < 9 {
			return id
		}
	}
	return text(def["name"])
}

// definition finds a workflow by its id, and by its version if one is said.
func (w *world) definition(id, version string) map[string]any {
	for _, def := range w.c.Definitions {
		if w.id(def) == id && (version == "" || def["version"] == version) {
			return def
		}
	}
	return nil
}

// run runs an instance to its end and gives its output. The error is a fault, or tells whoever waits for
// it that it was terminated or continues.
func (in *instance) run(t *thread, input any) (any, error) {
	w := in.w
	w.act(t, "", nil, Answer{})
	finished := false
	seen := t.seen // by whoever waits for it
	defer func() {
		t.seen = seen
		if !w.over {
			in.leaveBehind()
		}
		if !finished && !w.over {
			in.Status, in.Ended = Cancelled, w.now
			if in.Ended == in.Created {
				w.isOpen(openTie)
			}
		}
	}()
	in.answers = t.box()
	out, err := in.limited(t, input)
	if next := (*continued)(nil); in.awaited && errors.As(err, &next) {
		out, err = in.pass(t, next)
	}
	finished = true
	in.Ended = w.now
	defer in.releaseHeld()
	if f := (*Fault)(nil); errors.As(err, &f) {
		shown := *f
		if w.c.Form == 9 {
			shown.Type, shown.Status = shown.typeOf(), shown.statusOf()
		}
		in.Status, in.Fault = Failed, &shown
		again := *f // around it, it is an error like any other
		again.final = false
		return nil, &again
	}
	in.Status, in.Output = Completed, out
	return out, err
}

// pass runs what an awaited instance continues as: to whoever waits they are one, so that it ends with the last of them.
func (in *instance) pass(t *thread, c *continued) (any, error) {
	in.w.saw("a child that continues")
	in.begins(t)
	next := in.w.newInstance(c.def, nil)
	next.limit, next.awaited = c.limit, true
	in.w.needObject(c.data)
	out, err := next.run(t, c.data)
	if f := (*Fault)(nil); errors.As(err, &f) {
		again := *f
		again.instance = "" // which is a place in another definition
		err = &again
	}
	if in.w.now >= in.ends {
		in.w.isOpen(openLateExit)
	}
	return out, err
}

// leaveBehind ends what must not outlive an instance.
func (in *instance) leaveBehind() {
	for _, t := range in.pending {
		t.cancel()
	}
	for _, b := range in.below {
		if b.began == in.w.now { // need it have begun?
			in.w.isOpen(openTie)
		}
		if !b.t.dead {
			in.w.saw("an asynchronous child that ends with its parent")
			b.t.cancel()
		}
	}
}

// limited runs the flow within the workflow's time. When that is over the instance is completed
// all the same (§End Definition).
func (in *instance) limited(t *thread, input any) (out any, err error) {
	limit := in.limit
	if limit == nil {
		limit = object(in.def["timeouts"])["workflowExecTimeout"]
	}
	if in.w.c.Form == 6 {
		limit = in.def["execTimeout"]
	}
	if limit == nil {
		return in.whole(t, input, never)
	}
	o := object(limit)
	duration := limit
	if o != nil {
		duration = o["duration"]
	}
	d, err := in.duration(duration, input, nil)
	if err != nil {
		return nil, err
	}
	deadline := in.w.now + d
	in.ends = deadline
	late := false
	if o["interrupt"] == true {
		late = t.until(deadline, func(t *thread) { out, err = in.whole(t, input, never) })
		if late {
			in.w.saw("a workflow that is interrupted")
			out, err = in.entered, nil
			if in.undoing {
				in.w.isOpen(openUndoLate)
			}
		}
	} else {
		in.deadline = deadline
		out, err = in.whole(t, input, deadline)
		if late = in.w.now >= deadline; late {
			in.w.saw("a workflow whose state finishes after its time")
			if err != nil && !errors.As(err, new(*Fault)) && err != (overtime{}) {
				in.w.isOpen(openLateExit)
			}
		}
		if err == (overtime{}) {
			err = nil
		}
		in.deadline = never
	}
	if !late || err != nil {
		return out, err
	}
	for _, c := range in.pending {
		if !c.dead {
			in.w.isOpen(openAsync)
		}
	}
	name := text(o["runBefore"])
	if name == "" {
		return out, nil
	}
	in.w.saw("runBefore")
	if out, err = in.flow(t, name, out); err == nil {
		in.settle(t, never)
	}
	return out, err
}

// whole runs the states, and waits for what keeps the instance from being over.
func (in *instance) whole(t *thread, input any, deadline time.Duration) (any, error) {
	out, err := in.flow(t, in.start(), input)
	if err != nil {
		return out, err
	}
	in.entered = out
	if in.def["keepActive"] == true {
		in.w.saw("an instance that is kept active")
		if in.given != nil { // its start waits again, with data that nobody speaks of
			in.w.isOpen(openKept)
		}
		if deadline == never {
			in.idle(t, never)
		}
		if deadline > in.w.now {
			in.idle(t, deadline-in.w.now)
		}
		return out, nil
	}
	in.settle(t, deadline)
	return out, nil
}

// settle waits until all asynchronous calls are answered.
func (in *instance) settle(t *thread, deadline time.Duration) {
	for _, c := range in.pending {
		for !c.dead {
			in.w.saw("an instance that waits for an asynchronous call")
			in.answers.t = t
			in.answers.receive()
			if in.w.now >= deadline {
				in.w.isOpen(openAsync)
			}
		}
	}
}

// idle does nothing for a while, or for ever.
func (in *instance) idle(t *thread, d time.Duration) {
	b := t.box()
	if d < never {
		b.after(d, atDeadline, nil)
	}
	b.receive()
}

// start is the state in which the flow begins: the named one, else the first.
func (in *instance) start() string {
	switch s := in.def["start"].(type) {
	case string:
		return s
	case map[string]any:
		if name := text(s["stateName"]); name != "" {
			return name
		}
	}
	return text(object(list(in.def["states"])[0])["name"])
}

// state finds a state by name, else (before 0.9) by id.
func (in *instance) state(name string) (map[string]any, int) {
	for _, key := range []string{"name", "id"} {
		for i, st := range list(in.def["states"]) {
			if object(st)[key] == name {
				return object(st), i
			}
		}
	}
	panic(fmt.Sprintf("naive08: no state %s", name))
}
