package naive10

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
)

type world struct {
	c       *Case
	now     time.Duration
	seq     int
	roots   []*thread // that nobody waits for
	current *thread   // that runs
	ready   []*thread
	timers  timers
	over    bool
	out     Outcome
	tasks   int
	marks   int // beginnings and endings of tasks

	instances []*instance
	listeners []*listener
	kept      []*arrival
	gathered  []*gathering // of a schedule that needs several events

	acted   []act // at this instant
	actedAt time.Duration
	met     []meeting
	metAt   time.Duration
	unmade  map[string]bool // functions whose calls may not have been made
}

// Run says what comes of a case.
func Run(c *Case) Outcome {
	w := &world{c: c, unmade: map[string]bool{}}
	w.out.Reached, w.out.Mixed = map[string]bool{}, map[time.Duration]bool{}
	w.begin()
	for _, e := range c.Events {
		w.at(e.At, atArrival, func() bool { return true }, func() { w.arrive(&arrival{event: e.Event}) })
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

// begin starts what is started by hand or by a schedule.
func (w *world) begin() {
	def := w.c.Definitions[0]
	schedule, scheduled := def["schedule"].(map[string]any)
	switch _, on := schedule["on"]; {
	case w.c.HasInput:
		w.start(def, w.c.Input)
	case !scheduled:
		w.start(def, map[string]any{})
	case on && len(schedule) <= 2 && (len(schedule) == 1 || schedule["read"] != nil):
		// the events start it
	default:
		w.schedule(def, schedule)
	}
}

// start begins an instance that nobody waits for.
func (w *world) start(def map[string]any, input any) *instance {
	in := w.newInstance(def)
	w.ready = append(w.ready, w.spawn(nil, func(t *thread) { _, _ = in.run(t, input) }))
	return in
}

// schedule fires every, cron and after until the end of the case; once where there is none.
func (w *world) schedule(def, schedule map[string]any) {
	always := func() bool { return true }
	in := &instance{w: w, def: def}
	if d, ok := schedule["every"]; ok {
		every, _ := in.duration(scope{}, d, nil)
		var fire func()
		fire = func() {
			w.saw("a schedule that fires")
			w.start(def, map[string]any{})
			if w.c.Until > 0 && w.now+every <= w.c.Until {
				w.at(w.now+every, atWake, always, fire)
			}
		}
		w.at(every, atWake, always, fire)
	}
	if text, ok := schedule["cron"].(string); ok {
		cron, err := calendar.ParseCron(text)
		if err != nil {
			panic("naive10: " + err.Error())
		}
		for from := w.c.Start; ; {
			next, ok := cron.Next(from, time.UTC)
			if !ok || next.Sub(w.c.Start) > w.c.Until && (w.c.Until > 0 || from != w.c.Start) {
				break
			}
			w.at(next.Sub(w.c.Start), atWake, always, func() { w.start(def, map[string]any{}) })
			from = next
		}
	}
	if d, ok := schedule["after"]; ok {
		after, _ := in.duration(scope{}, d, nil)
		w.spawn(nil, func(t *thread) {
			for {
				_, _ = w.newInstance(def).run(t, map[string]any{})
				if w.now+after > w.c.Until {
					return
				}
				t.sleep(after)
			}
		}).begin()
	}
}

// saw notes that the case came by something worth covering.
func (w *world) saw(what string) { w.out.Reached[what] = true }

func (w *world) isOpen(why string) {
	if w.out.Open == "" {
		w.out.Open = why
	}
}

// instant is a point in time that may not have come yet.
type instant struct {
	at  time.Duration
	was bool
}

func (i instant) isNow(w *world) bool { return i.was && i.at == w.now }

// later notes that the thread learns something that a runtime learns of only after what else goes on at
// this instant: what a child gives, an event that was kept, that a retry is due at once.
func (w *world) later() {
	for t := w.current; t != nil; t = t.parent {
		t.late = instant{w.now, true}
	}
}

// decided marks an outcome open if a branch learned something late, and it or another one decides what becomes of all.
func (w *world) decided(branch *thread) {
	if branch.late.isNow(w) {
		w.isOpen(openTie)
	}
}

// lateApart reports whether one of two branches learned something late since they are apart.
func (w *world) lateApart(a, b *thread) bool {
	for ; a != nil && !a.above(b); a = a.parent {
		if a.late.isNow(w) {
			return true
		}
	}
	return false
}

// touch is a look at the context, or a change of it.
type touch struct {
	by    *thread
	at    time.Duration
	write bool
}

// touches marks an outcome open where branches read and change the context at one instant, and one of them is late.
func (in *instance) touches(write bool) {
	w := in.w
	in.touched = slices.DeleteFunc(in.touched, func(o touch) bool { return o.at != w.now })
	now := touch{w.current, w.now, write}
	for _, o := range in.touched {
		if (o.write || write) && !o.by.above(now.by) && !now.by.above(o.by) && (w.lateApart(o.by, now.by) || w.lateApart(now.by, o.by)) {
			w.isOpen(openTie)
		}
	}
	in.touched = append(in.touched, now)
}

// meets marks an outcome open where one instance begins to listen at the instant at which another
// one emits: which is first is nobody's promise.
func (w *world) meets(in *instance, emits bool) {
	if w.metAt != w.now {
		w.met, w.metAt = nil, w.now
	}
	for _, o := range w.met {
		if o.in != in && o.emits != emits {
			w.isOpen(openTie)
		}
	}
	w.met = append(w.met, meeting{in, emits})
}

type meeting struct {
	in    *instance
	emits bool
}

// act is something that can be observed, and who did it.
type act struct {
	branch   *thread
	function string
	answer   Answer
}

// act notes what a branch does at this instant. Several that call one function race for its answers,
// unless these are all alike.
func (w *world) act(t *thread, function string, answer Answer) {
	if w.actedAt != w.now {
		w.acted, w.actedAt = nil, w.now
	}
	for _, a := range w.acted {
		if a.branch != t.branch {
			w.out.Mixed[w.now] = true
			if function != "" && a.function == function && !reflect.DeepEqual(a.answer, answer) {
				w.isOpen(openTie)
			}
		}
	}
	w.acted = append(w.acted, act{t.branch, function, answer})
}

// instance is one run of a definition.
type instance struct {
	Instance
	w       *world
	def     map[string]any
	input   any // raw
	context any
	touched []touch
	seq     int // in one count with events
	id      string
}

func (w *world) newInstance(def map[string]any) *instance {
	document := object(def["document"])
	w.seq++
	in := &instance{w: w, def: def, seq: w.seq, context: map[string]any{}, id: fmt.Sprintf("instance-%d", len(w.instances)+1)}
	in.Namespace, in.Workflow, in.Version = text(document["namespace"]), text(document["name"]), text(document["version"])
	in.Status, in.Created = Waiting, w.now
	w.instances = append(w.instances, in)
	return in
}

// ended is how a directive end leaves everything around it, up to the workflow.
type ended struct{ output any }

func (ended) Error() string { return "end" }

// run runs an instance to its end and gives its output, or its error.
func (in *instance) run(t *thread, input any) (any, error) {
	w := in.w
	w.act(t, "", Answer{})
	in.input = input
	finished := false
	defer func() {
		if !finished && !w.over {
			in.Status, in.Ended = Cancelled, w.now
		}
	}()
	out, err := in.limited(t, input)
	finished = true
	in.Ended = w.now
	if f := (*Error)(nil); errors.As(err, &f) {
		in.Status, in.Error = Failed, f.Object
		return nil, err
	}
	in.Status, in.Output = Completed, out
	return out, nil
}

// limited runs the flow within the workflow's timeout.
func (in *instance) limited(t *thread, input any) (out any, err error) {
	limit, ok := in.named("timeouts", in.def["timeout"])
	if !ok {
		return in.flow(t, input)
	}
	d, err := in.duration(scope{}, limit["after"], input)
	if err != nil {
		return nil, placed(err, "/timeout")
	}
	if t.within(d, func(t *thread) { out, err = in.flow(t, input) }) {
		in.w.saw("the timeout of a workflow")
		return nil, placed(standard("timeout"), "/timeout")
	}
	return out, err
}

// flow is the data flow of the workflow: input, tasks, output.
func (in *instance) flow(t *thread, input any) (any, error) {
	data, err := in.incoming(scope{}, object(in.def["input"]), input)
	if err != nil {
		return nil, placed(err, "/input")
	}
	data, exited, err := in.list(t, "/do", list(in.def["do"]), data, scope{})
	if exited {
		in.w.saw("exit in the main list")
	}
	if e := (ended{}); errors.As(err, &e) {
		data, err = e.output, nil
	}
	if err != nil {
		return nil, err
	}
	output := object(in.def["output"])
	if data, err = in.transform(scope{}, output["as"], data); err == nil {
		err = in.validate(output, data)
	}
	if err != nil {
		return nil, placed(err, "/output")
	}
	return data, nil
}

// incoming validates raw input and transforms it.
func (in *instance) incoming(sc scope, input map[string]any, raw any) (any, error) {
	if err := in.validate(input, raw); err != nil {
		return nil, err
	}
	return in.transform(sc, input["from"], raw)
}
