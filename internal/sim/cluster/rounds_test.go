package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/sim"
)

// rounds is what operators did to the schedule of the definition rounds, and what it started.
type rounds struct {
	overlap engine.Overlap
	ops     []*roundsOp // by client
	starts  []*roundsStart
}

// roundsOp is one thing that an operator wants. It may be done each time it is asked for.
type roundsOp struct {
	verb               string
	first, last, ended int64 // ticks: asked first, asked last, answered; 0: never
	began, over        time.Time
	from, to           core.Time // of a backfill
	asked              int
	refused            bool
}

// roundsStart is an instance of the definition.
type roundsStart struct {
	id           string
	began, ended int64 // ticks; 0: it is not over
	from, until  time.Time
}

// The verbs, in the order in which what they do is undone.
var silences = [][2]string{{"pause", "resume"}, {"hold", "release"}, {"retire", "unretire"}}

// roundsEvery is how often the schedule fires.
const roundsEvery = 20 * time.Second

// roundsOps lets operators pause, resume, retire, trigger and backfill a schedule whose instances overlap, many of
// them about when it fires.
func (g *generator) roundsOps() {
	at := g.soon()
	g.add(Act{Kind: ActSchedule, At: at, What: "deploy", Choice: pick(g, "allow", "skip", "skip", "queue", "queue"), Actor: fmt.Sprint(pick(g, 70, 110, 150))})
	verbs := []string{"pause", "resume", "hold", "release", "retire", "unretire", "trigger", "backfill"}
	for range 1 + g.r.IntN(5) {
		verb := pick(g, verbs...)
		when := at + time.Duration(g.r.IntN(150))*time.Second
		if g.chance(60) {
			when = when.Truncate(roundsEvery) + roundsEvery + pick(g, 0, 0, time.Millisecond, -time.Millisecond, time.Duration(g.r.IntN(2000))*time.Millisecond)
		}
		g.add(Act{Kind: ActSchedule, At: when, What: verb})
		for _, s := range silences {
			if verb == s[0] && g.chance(80) {
				g.add(Act{Kind: ActSchedule, At: when + pick(g, 0, time.Second, 10*time.Second, 25*time.Second, 50*time.Second), What: s[1]})
			}
		}
	}
	g.add(Act{Kind: ActSchedule, At: at + 170*time.Second, What: "settle"})
	if g.chance(30) {
		g.c.Faults = append(g.c.Faults, Fault{Kind: pick(g, FaultCrash, FaultDie), Node: g.r.IntN(g.c.Nodes), On: pick(g, "advance", "commit", "policy"), Op: 1 + g.r.IntN(8), For: time.Duration(g.r.IntN(70)) * time.Second})
	}
	if g.chance(30) { // a node ends after it started an instance, and its operators pause the schedule before another one takes over
		for i := range g.c.Nodes {
			g.c.Faults = append(g.c.Faults, Fault{Kind: FaultCrash, Node: i, On: "advance", Op: 1, For: time.Duration(1+g.r.IntN(5)) * time.Second})
		}
		fire := at.Truncate(roundsEvery) + roundsEvery + pick(g, 10*time.Millisecond, 100*time.Millisecond, 400*time.Millisecond)
		g.add(Act{Kind: ActSchedule, At: fire, What: "pause"})
		g.add(Act{Kind: ActSchedule, At: fire + pick(g, time.Second, 5*time.Second, 15*time.Second), What: "resume"})
	}
}

// schedule does what an operator wants.
func (c *client) schedule(p *process) error {
	r, a := &c.w.ledger.rounds, c.act
	i := slices.IndexFunc(c.w.clients, func(o *client) bool { return o == c })
	for len(r.ops) < len(c.w.clients) {
		r.ops = append(r.ops, nil)
	}
	if a.What == "settle" && slices.ContainsFunc(c.w.clients, func(o *client) bool { return o.act.Kind == ActSchedule && o.act.What != "settle" && !o.done }) {
		return errors.New("others are not done")
	}
	deployed := slices.IndexFunc(r.ops, func(o *roundsOp) bool { return o != nil && o.verb == "deploy" && o.ended != 0 })
	if a.What != "deploy" && a.What != "settle" && (deployed < 0 || c.w.now.Sub(r.ops[deployed].over) < time.Second) {
		return &notYet{"it was not deployed long ago"}
	}
	op := r.ops[i]
	if op == nil {
		op = &roundsOp{verb: a.What, first: c.w.ledger.tick(), began: c.w.now}
		r.ops[i] = op
	}
	op.last = c.w.ledger.tick()
	op.asked++
	err := c.decide(p, op)
	if p.dead {
		return err
	}
	var paused *engine.PausedError
	var invalid *engine.InvalidError
	var missing *engine.NotFoundError
	if errors.As(err, &paused) || errors.As(err, &invalid) || a.What == "settle" && errors.As(err, &missing) {
		op.refused, err = true, nil
	}
	if err == nil {
		op.ended, op.over = c.w.ledger.tick(), c.w.now
	}
	return err
}

func (c *client) decide(p *process, op *roundsOp) error {
	const id = "rounds"
	e, ctx := p.engine, p.ctx
	switch op.verb {
	case "deploy":
		prog := *programs()[id]
		s := *prog.Start.Schedule
		s.Until = sim.Epoch.Add(roundsUntil(c.act)).Format(time.RFC3339)
		prog.Start.Schedule = &s
		if err := e.Deploy(ctx, &prog); err != nil {
			return err
		}
		c.w.ledger.rounds.overlap = engine.Overlap(c.act.Choice)
		return e.SetSchedule(ctx, id, func(r *engine.ScheduleRules) { r.Overlap = engine.Overlap(c.act.Choice) })
	case "pause":
		return e.PauseSchedule(ctx, id, "", "")
	case "resume":
		return e.ResumeSchedule(ctx, id)
	case "hold":
		return e.PauseDefinition(ctx, id, "", "")
	case "release":
		return e.ResumeDefinition(ctx, id)
	case "retire":
		return e.RetireDefinition(ctx, id, "", "")
	case "unretire":
		return e.UnretireDefinition(ctx, id)
	case "trigger":
		_, err := e.Trigger(ctx, id)
		return err
	case "backfill":
		op.from, op.to = core.TimeOf(c.due.Add(-45*time.Second)), core.TimeOf(c.due)
		if op.asked > 1 { // the same as before
			op.from, op.to = core.TimeOf(op.began.Add(-45*time.Second)), core.TimeOf(op.began)
		}
		_, err := e.Backfill(ctx, id, op.from, op.to, false)
		return err
	case "settle":
		for _, undo := range []func(context.Context, string) error{e.ResumeDefinition, e.UnretireDefinition, e.ResumeSchedule} {
			if err := undo(ctx, id); err != nil {
				return err
			}
		}
		return nil
	}
	panic("unknown verb " + op.verb)
}

// roundsUntil is when the schedule is over.
func roundsUntil(deploy *Act) time.Duration {
	var seconds int
	_, _ = fmt.Sscan(deploy.Actor, &seconds)
	return time.Duration(seconds) * time.Second
}

// committed notes a step of an instance.
func (r *rounds) committed(w *world, me life, over bool) {
	i := slices.IndexFunc(r.starts, func(s *roundsStart) bool { return s.id == me.id })
	if i < 0 {
		i = len(r.starts)
		r.starts = append(r.starts, &roundsStart{id: me.id, began: w.ledger.tick(), from: w.now})
		for _, s := range silences[1:] {
			if w.check(SilentDefinition); r.surely(s, w.ledger.ticks, time.Time{}) {
				w.violate("instance %s is started, and a %s of its definition was acknowledged", me.id, s[0])
			}
		}
	}
	if s := r.starts[i]; over && s.ended == 0 {
		s.ended, s.until = w.ledger.tick(), w.now
	}
}

// surely reports whether a silence is in effect at a tick; at: at a time instead, and for a second from then.
func (r *rounds) surely(s [2]string, tick int64, at time.Time) bool {
	before := func(t int64, when time.Time) bool {
		if at.IsZero() {
			return t < tick
		}
		return when.Before(at)
	}
	return slices.ContainsFunc(r.ops, func(on *roundsOp) bool {
		return on != nil && on.verb == s[0] && on.ended != 0 && !on.refused && before(on.ended, on.over) && !slices.ContainsFunc(r.ops, func(off *roundsOp) bool {
			ends := off != nil && (off.verb == s[1] || off.verb == "settle") && (off.ended == 0 || off.ended > on.last)
			return ends && before(off.first, off.began.Add(-time.Second))
		})
	})
}

// perhaps reports whether something may be silent about a time.
func (r *rounds) perhaps(at time.Time) bool {
	for _, s := range silences {
		for _, on := range r.ops {
			if on == nil || on.verb != s[0] || on.began.After(at.Add(5*time.Second)) {
				continue
			}
			if on.ended == 0 || !slices.ContainsFunc(r.ops, func(off *roundsOp) bool {
				return off != nil && (off.verb == s[1] || off.verb == "settle") && off.ended != 0 && !off.refused && off.first > on.ended && off.over.Before(at.Add(-time.Second))
			}) {
				return true
			}
		}
	}
	return false
}

// check: what the schedule started is what its rules and its operators say.
func (r *rounds) check(w *world) error {
	deploy := slices.IndexFunc(r.ops, func(o *roundsOp) bool { return o != nil && o.verb == "deploy" && o.ended != 0 })
	settled := slices.ContainsFunc(r.ops, func(o *roundsOp) bool { return o != nil && o.verb == "settle" && o.ended != 0 && !o.refused })
	if deploy < 0 || !settled || w.faults[FaultStep] > 0 {
		return nil
	}
	e, err := engine.New(engine.Config{Store: w.store(w.db.Connect("check", direct{w.db.now})), Clock: w.clockOf(w.nodes[0]), Languages: languages.All(), Timezone: "UTC", Inline: true})
	if err != nil {
		return err
	}
	until := sim.Epoch.Add(min(roundsUntil(w.clients[deploy].act), w.since()))
	fires, err := e.Backfill(context.Background(), "rounds", core.TimeOf(sim.Epoch.Add(-time.Hour)), core.TimeOf(until), true)
	if err != nil {
		return err
	}
	others := len(r.starts)
	fired := map[string]*roundsStart{}
	for _, f := range fires {
		if i := slices.IndexFunc(r.starts, func(s *roundsStart) bool { return s.id == f.Instance }); i >= 0 {
			fired[f.Instance] = r.starts[i]
			others--
		}
	}
	if err := r.triggers(w, others); err != nil {
		return err
	}
	for _, f := range fires {
		at, s := f.At.Std(), fired[f.Instance]
		backfilled := slices.ContainsFunc(r.ops, func(o *roundsOp) bool { return o != nil && o.verb == "backfill" && o.from <= f.At && f.At < o.to })
		if s != nil {
			if w.check(NeverEarly); s.from.Before(at) {
				return fmt.Errorf("the fire time %s starts an instance at %s", at, s.from)
			}
		}
		if s != nil && !backfilled {
			if w.check(SilentSchedule); r.surely(silences[0], s.began, time.Time{}) {
				return fmt.Errorf("the fire time %s starts an instance at %s, when the schedule is paused", at, s.from)
			}
			for _, silence := range silences {
				if r.surely(silence, 0, at) {
					return fmt.Errorf("the fire time %s starts an instance at %s, and it is of the time of a %s", at, s.from, silence[0])
				}
			}
			if err := r.alone(w, s, fired, r.ops[deploy].ended, fires); err != nil {
				return err
			}
		}
		if s == nil && w.calm() && w.c.Join == 0 && at.After(r.ops[deploy].over.Add(time.Second)) && !r.perhaps(at) {
			if w.check(AccountedFire); !r.leftOut(at, fired) {
				return fmt.Errorf("the fire time %s starts no instance (overlap %s)", at, r.overlap)
			}
		}
	}
	return nil
}

// triggers: what is of no fire time was triggered, each time that was acknowledged, and not more often than asked for.
func (r *rounds) triggers(w *world, n int) error {
	w.check(EachTrigger)
	least, most := 0, 0
	for _, o := range r.ops {
		if o != nil && o.verb == "trigger" {
			most += o.asked
			if o.ended != 0 && !o.refused {
				least++
			}
		}
	}
	if n < least || n > most {
		return fmt.Errorf("%d instances are of no fire time, and %d triggers were acknowledged, and %d asked for", n, least, most)
	}
	return nil
}

// alone: no two instances of fire times overlap, other than those of backfills, where the rule says so.
func (r *rounds) alone(w *world, s *roundsStart, fired map[string]*roundsStart, since int64, fires []engine.Backfilled) error {
	if r.overlap == engine.OverlapAllow || s.began < since {
		return nil
	}
	w.check(NoOverlap)
	for _, f := range fires {
		o := fired[f.Instance]
		if o == nil || o == s || o.began > s.began || o.ended != 0 && o.ended < s.began {
			continue
		}
		if !slices.ContainsFunc(r.ops, func(x *roundsOp) bool { return x != nil && x.verb == "backfill" && x.from <= f.At && f.At < x.to }) {
			return fmt.Errorf("an instance is started at %s, and that of %s, which was started at %s, is not over (overlap %s)", s.from, f.At, o.from, r.overlap)
		}
	}
	return nil
}

// leftOut reports whether a fire time starts nothing because of another instance: one that is not over (skip), or one
// that waits already (queue).
func (r *rounds) leftOut(at time.Time, fired map[string]*roundsStart) bool {
	switch r.overlap {
	case engine.OverlapSkip:
		return slices.ContainsFunc(r.starts, func(s *roundsStart) bool {
			return s.from.Before(at.Add(time.Second)) && (s.ended == 0 || s.until.After(at.Add(-time.Second)))
		})
	case engine.OverlapQueue:
		for _, s := range fired {
			if s.from.After(at) {
				return true
			}
		}
	}
	return false
}
