package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/jobcheck"
	"github.com/lockstep-workflows/lockstep/internal/sim"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// window is how long events are kept.
const window = 24 * time.Hour

// ledger is what the world knows from outside: what was acknowledged, and what was decided.
type ledger struct {
	w        *world
	ids      int
	started  map[string]string // instances by the key of their start, acknowledged
	events   map[string]*Act   // by id, acknowledged
	logs     map[string]*jobcheck.Log
	ticks    int64             // see tick
	answers  map[life][]string // to calls that wait for a person, acknowledged
	registry registry
	sink     sink

	followers     []*follower
	interventions []*intervention

	deleting    map[string]bool    // somebody wants them to go
	dropping    map[string]bool    // clients whose job somebody wants to go
	gone        map[life]bool      // that were deleted
	revs        map[life]int64     // revisions that were stored
	ended       map[life]core.Time // when, of those that are there; 0: they are not over
	before      core.Time          // what ended before may be gone
	broken      map[string]bool    // instances whose call failed
	decided     map[string]bool    // calls
	history     map[life][]core.Record
	lives       []life // in order of creation
	definitions map[life]string
	replays     replays
	fires       fires
	rounds      rounds
	produced    []sim.Produced
	replies     []sim.Reply // to updates of the generated job
}

// life names an instance for ever: its id may be used again.
type life struct {
	id      string
	created core.Time
}

func (l *ledger) init(w *world) {
	*l = ledger{
		w: w, started: map[string]string{}, events: map[string]*Act{}, logs: map[string]*jobcheck.Log{}, answers: map[life][]string{}, registry: registry{l: l},
		sink:     sink{w: w, known: map[string]string{}, sent: map[life][]string{}, whose: map[string]life{}},
		deleting: map[string]bool{}, dropping: map[string]bool{}, gone: map[life]bool{}, revs: map[life]int64{}, ended: map[life]core.Time{}, broken: map[string]bool{}, decided: map[string]bool{}, history: map[life][]core.Record{}, definitions: map[life]string{},
	}
}

// start notes an acknowledged start.
func (l *ledger) start(key, id string) {
	if l.started[key] != "" {
		l.w.check(OneStart)
	}
	if old := l.started[key]; old != "" && old != id {
		l.w.violate("the starts under key %s are acknowledged as %s and as %s", key, old, id)
	}
	l.started[key] = id
}

// committed checks a step that was stored.
func (l *ledger) committed(node string, before *store.Instance, c *store.Commit) {
	w, in := l.w, &c.Instance
	if in.Quarantine != "" {
		w.violate("instance %s is set aside: %s", in.ID, in.Quarantine)
	}
	over := before != nil && before.Created == in.Created && before.Status.Final()
	if over {
		w.check(StaysOver)
	}
	if over && !in.Status.Final() && !slices.ContainsFunc(c.Records, revives) {
		w.violate("instance %s was %s and is %s", in.ID, before.Status, in.Status)
	}
	me := life{in.ID, in.Created}
	if _, known := l.history[me]; !known {
		l.lives = append(l.lives, me)
		l.definitions[me] = in.Definition
	}
	l.ended[me] = in.Ended
	if in.Definition == "rounds" {
		l.rounds.committed(w, me, in.Status.Final())
	}
	now, last := core.TimeOf(w.latest()), core.Time(0)
	if n := len(l.history[me]); n > 0 {
		last = l.history[me][n-1].Time
	}
	if l.revs[me] = in.Rev + 1; l.gone[me] && in.Rev > 0 {
		w.violate("instance %s was deleted, and takes a step", in.ID)
	}
	delete(l.gone, me)
	for i, r := range c.Records {
		w.check(TimesGrow)
		if r.Time > now {
			w.violate("instance %s has a record of %s, and it is %s", in.ID, r.Time, now)
		}
		if r.Time < last {
			w.violate("instance %s has a record of %s after one of %s", in.ID, r.Time, last)
		}
		last = r.Time
		l.ownAnswer(me, r)
		l.atRevision(c, i)
	}
	l.history[me] = append(l.history[me], c.Records...)
	l.folded(node, me, in.Rev)
	l.sink.decided(me, c.Emits)
	if w.disk != nil {
		w.disk.committed(me, c)
	}
	for i := range c.Calls {
		l.decided[in.ID+"/"+c.Calls[i].Ticket.String()] = true
	}
}

// revives reports whether a record tells that an instance goes on which was over.
func revives(r core.Record) bool {
	return r.Type == core.RecControl && (r.Name == string(core.VerbRetry) || r.Name == string(core.VerbSkip))
}

// purged: nothing goes before its time. What goes by an attempt that failed is seen at the next one.
func (l *ledger) purged(ctx context.Context, before core.Time) {
	l.before = max(l.before, before)
	for _, me := range l.lives {
		ended, kept := l.ended[me]
		if !kept || l.deleting[me.id] {
			continue
		}
		row, err := l.w.db.Store.Instance(ctx, me.id)
		if err == nil && row.Created == me.created || err != nil && !errors.Is(err, store.ErrNotFound) {
			continue
		}
		delete(l.ended, me)
		if ended == 0 && l.w.disk != nil {
			continue // its last commit may have failed after it was written
		}
		if l.w.check(Retained); ended == 0 || ended >= l.before {
			l.w.violate("instance %s is gone with what ended before %s, and it ended at %s", me.id, l.before, ended)
		}
	}
	if now := core.TimeOf(l.w.latest()); before > now-core.Time(l.w.c.Retain) {
		l.w.violate("what ended before %s goes, and it is %s: it should stay for %s", before, now, l.w.c.Retain)
	}
}

// atRest checks what is left when nothing happens any more.
func (w *world) atRest() error {
	ctx := context.Background()
	for _, check := range []func(context.Context) error{w.nothingLeft, w.acknowledged, w.histories, w.foldedAgain, w.fixedRules, w.stayGone, w.asInterpreted} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	if w.disk != nil {
		w.disk.atRest(ctx)
	}
	return w.violation
}

// nothingLeft: whatever can be done was done.
func (w *world) nothingLeft(ctx context.Context) error {
	s, now := w.db.Store, core.TimeOf(w.clock())
	for _, c := range w.clients {
		if !c.done {
			return fmt.Errorf("client %d has no answer to: %s", c.number, c.act)
		}
	}
	ready, err1 := s.Ready(ctx, now, everything)
	emits, err2 := s.Emits(ctx, everything)
	fresh, err3 := s.Unchecked(ctx, everything)
	again, err4 := s.Again(ctx, everything)
	over, err5 := s.Expired(ctx, now, everything)
	out, err7 := s.Outbound(ctx, everything)
	if len(ready)+len(emits)+len(fresh)+len(again)+len(over)+len(out) > 0 {
		return fmt.Errorf("nobody does what is left: ready %v, %d produced events, fresh %v, events %v, %d gatherings, %d events for the sink", ready, len(emits), fresh, again, len(over), len(out))
	}
	calls, err6 := s.Calls(ctx, "")
	for _, c := range calls {
		in, _ := s.Instance(ctx, c.Instance)
		if in.Status != core.Paused && !w.unasked(&in) {
			return fmt.Errorf("nobody makes call %s of %s", c.Ticket, c.Instance)
		}
	}
	if at, ok, err := s.Next(ctx, now); ok {
		return fmt.Errorf("nobody waits for %s, when there is something to do: %v", at, err)
	}
	for _, err := range []error{err1, err2, err3, err4, err5, err6, err7} {
		if err != nil {
			return err
		}
	}
	return nil
}

// acknowledged: nothing that was acknowledged is lost.
func (w *world) acknowledged(ctx context.Context) error {
	s, l := w.db.Store, &w.ledger
	for _, key := range slices.Sorted(maps.Keys(l.started)) {
		id := l.started[key]
		if l.deleting[id] || w.c.Retain > 0 {
			continue
		}
		w.check(KeptStart)
		if _, err := s.Instance(ctx, id); err != nil {
			return fmt.Errorf("the start under key %s was acknowledged, and instance %s: %w", key, id, err)
		}
	}
	page, err := s.Events(ctx, store.EventQuery{Limit: store.MaxEventScan})
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, e := range page.Events {
		kept[e.Event.ID] = true
	}
	for _, id := range slices.Sorted(maps.Keys(l.events)) {
		if w.since() >= l.events[id].At+window-time.Second { // clocks may be late
			continue
		}
		if w.check(KeptEvent); !kept[id] {
			return fmt.Errorf("event %s was acknowledged and is not there", id)
		}
	}
	return nil
}

// fixedRules: what the fixed definitions promise.
func (w *world) fixedRules(ctx context.Context) error {
	l := &w.ledger
	got := map[string][]string{} // instances by the events that they got
	pairs := 0
	for _, me := range l.lives {
		if l.definitions[me] == "pair" {
			pairs++
		}
		for _, r := range l.history[me] {
			if id, ok := r.Data.Get("id"); ok && r.Type == core.RecConsumed {
				got[id.Str()] = append(got[id.Str()], me.id)
			}
		}
	}
	rows, err := w.db.Store.Instances(ctx, store.Query{})
	if err != nil {
		return err
	}
	for i := range rows {
		in := &rows[i]
		records := l.history[life{in.ID, in.Created}]
		switch in.Definition {
		case "timer", "retry", "parent", "gather", "nudged", "fragile", "question", "bells", "brief", "slow", "rounds":
			w.check(Ends)
			if !in.Status.Final() && in.Status != core.Paused && !w.heldUp(ctx, in) && !w.unasked(in) {
				return fmt.Errorf("%s instance %s is %s for ever", in.Definition, in.ID, in.Status)
			}
			if in.Status == core.Failed && !w.mayFail(ctx, in) {
				return fmt.Errorf("%s instance %s failed: %s", in.Definition, in.ID, in.Fault.Name)
			}
			if err := inTime(in, records); err != nil {
				return err
			}
		case "campaign":
			if err := w.campaigned(in, rows, records); err != nil {
				return err
			}
		}
	}
	for _, check := range []func() error{l.linearJobs, l.intervened, l.answeredOnce, l.registry.linear, l.sink.complete} {
		if err := check(); err != nil {
			return err
		}
	}
	late := 15 * time.Second // a fire that nobody got to before the schedule went is no more
	switch {
	case w.calm() && w.c.Join == 0:
		late = time.Nanosecond
	case l.fires.ending.Sub(l.fires.up) < late:
		late += w.outage()
	}
	if err := l.fires.check(w, l.count("cron", rows, w.c.Retain > 0 || w.faults[FaultStep] > 0), late); err != nil {
		return err
	}
	if err := l.rounds.check(w); err != nil {
		return err
	}
	if err := w.eachOnce(got, pairs); err != nil {
		return err
	}
	return w.released(ctx, got)
}

// count is how many instances of a definition there are; -1: some may be gone.
func (l *ledger) count(definition string, rows []store.Instance, some bool) (n int) {
	if some {
		return -1
	}
	for i := range rows {
		if rows[i].Definition == definition {
			n++
		}
	}
	return n
}

// mayFail reports whether a call of an instance, or of a child, was made to fail.
func (w *world) mayFail(ctx context.Context, in *store.Instance) bool {
	children, _ := w.db.Store.Instances(ctx, store.Query{Parent: in.ID})
	return in.Definition == "fragile" || w.ledger.broken[in.ID] || slices.ContainsFunc(children, func(c store.Instance) bool { return c.Status != core.Completed })
}

// heldUp reports whether an instance waits for one that is paused.
func (w *world) heldUp(ctx context.Context, in *store.Instance) bool {
	children, _ := w.db.Store.Instances(ctx, store.Query{Parent: in.ID})
	return slices.ContainsFunc(children, func(c store.Instance) bool { return c.Status == core.Paused })
}

// unasked reports whether an instance is a question that nobody may be left to answer: they answered the one that had
// its id before.
func (w *world) unasked(in *store.Instance) bool {
	return in.Definition == "question" && w.ledger.hadID(life{in.ID, in.Created})
}

// inTime: a delay of five seconds is over after five seconds, not before.
func inTime(in *store.Instance, records []core.Record) error {
	began := core.Time(0)
	for _, r := range records {
		switch {
		case r.Node != "Wait" || in.Definition != "timer":
		case r.Type == core.RecEntered:
			began = r.Time
		case r.Type == core.RecLeft && r.Time-began < 5_000_000_000:
			return fmt.Errorf("instance %s waited from %s to %s, and should for 5 s", in.ID, began, r.Time)
		}
	}
	return nil
}

// asInterpreted: what came of the generated definitions is what the reference interpreter says.
func (w *world) asInterpreted(ctx context.Context) error {
	if w.c.Oracle == nil || !w.calm() {
		return nil
	}
	w.check(AsInterpreted)
	want, _ := sim.Interpret(w.c.Oracle)
	want.History = nil // the store does not tell it
	var got sim.Outcome
	if err := sim.Observe(ctx, w.db.Store, &got); err != nil {
		return err
	}
	got.Instances = slices.DeleteFunc(got.Instances, func(in sim.Instance) bool { return programs()[in.Workflow] != nil })
	got.Calls, got.Replies = w.endpoints.first, w.ledger.replies
	for _, p := range w.ledger.produced {
		if s, _ := p.Event.Get("source"); s.Str() != source {
			got.Produced = append(got.Produced, p)
		}
	}
	if diff := sim.DifferenceInAnyOrder(want, got); diff != "" {
		return fmt.Errorf("the reference interpreter says something else:\n%s", diff)
	}
	return nil
}
