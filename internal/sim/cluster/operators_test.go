package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/jobcheck"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func (d *deployment) String() string {
	return fmt.Sprintf("\n%s from %d to %d: %d", d.what, d.began, d.ended, d.answer)
}

// intervention is what an operator was told of a control.
type intervention struct {
	instance, actor string
	rev             int64 // that it named; 0: none
	verdict         jobcheck.Verdict
}

// patience is how often an operator asks for what can be done only to an instance that failed.
const patience = 10

// control intervenes, each time under another name.
func (c *client) control(p *process) error {
	a, l := c.act, &c.w.ledger
	id := l.started[a.What]
	if id == "" {
		return &notYet{"it has not been started"}
	}
	i := &intervention{instance: id, actor: fmt.Sprintf("%s/%d", c.name(), c.tries)}
	if a.Since {
		row, err := p.engine.Get(p.ctx, id)
		if err != nil {
			return err
		}
		i.rev = row.Rev
	}
	l.interventions = append(l.interventions, i)
	control := core.Control{Verb: a.Verb, Actor: i.actor, Data: a.Input, HasData: !a.Input.IsNull()}
	var err error
	if a.Since {
		err = p.engine.ControlAt(p.ctx, id, control, i.rev)
	} else {
		err = p.engine.Control(p.ctx, id, control)
	}
	i.verdict = verdict(p, err)
	if i.verdict == jobcheck.Stale && a.Since && c.tries < patience {
		return &notYet{err.Error()}
	}
	if i.verdict == jobcheck.Refused && (a.Verb == core.VerbRetry || a.Verb == core.VerbSkip) && c.tries < patience {
		return &notYet{err.Error()}
	}
	return err
}

// answer answers the call that waits for a person.
func (c *client) answer(p *process) error {
	l := &c.w.ledger
	id := l.started[c.act.What]
	if id == "" {
		return &notYet{"it has not been started"}
	}
	calls, err := p.engine.OpenCalls(p.ctx, id)
	if err != nil {
		return err
	}
	if len(calls) == 0 && c.act.Since {
		return &notYet{"there is no call"}
	}
	if len(calls) == 0 {
		return nil // another operator was faster
	}
	if !calls[0].Parked {
		return &notYet{"the call is not made"}
	}
	err = p.engine.Answer(p.ctx, id, calls[0].Ticket, effect.Outcome{Value: object("said", expr.String(c.act.Choice))})
	if missing := (*engine.NotFoundError)(nil); !p.dead && errors.As(err, &missing) {
		c.answerable(p.ctx, &calls[0])
		if c.act.Since {
			return &notYet{err.Error()} // another one was faster
		}
	}
	if err == nil && !p.dead {
		me := life{id, calls[0].Created}
		l.answers[me] = append(l.answers[me], c.act.Choice)
	}
	return err
}

// answerable: who is told that there is no call is told so of one that is over.
func (c *client) answerable(ctx context.Context, call *engine.OpenCall) {
	c.w.check(Answerable)
	open, _ := c.w.db.Store.Calls(ctx, call.Instance)
	for i := range open {
		if idOf(&open[i]) == idOf(&call.Call) {
			c.w.violate("the answer to call %s of %s finds no call, and it is open", call.Ticket, call.Instance)
		}
	}
}

// atRevision: an intervention at a revision follows what was read there, and nothing else.
func (l *ledger) atRevision(c *store.Commit, at int) {
	r := &c.Records[at]
	if r.Type != core.RecControl {
		return
	}
	for _, i := range l.interventions {
		if i.rev == 0 || i.instance != c.Instance.ID || i.actor != r.Text {
			continue
		}
		if l.w.check(AtRevision); i.rev != c.Instance.Rev || at > 0 {
			l.w.violate("the intervention %s in %s is for revision %d, and it is made at %d, after %d records", i.actor, i.instance, i.rev, c.Instance.Rev, at)
		}
	}
}

// intervened: what an operator was told is what happened.
func (l *ledger) intervened() error {
	times := map[string]int{}
	for _, me := range l.lives {
		for _, r := range l.history[me] {
			if r.Type == core.RecControl {
				times[me.id+" "+r.Text]++
			}
		}
	}
	for _, i := range l.interventions {
		n := times[i.instance+" "+i.actor]
		if i.verdict != jobcheck.Unknown {
			l.w.check(ToldOperator)
		}
		if n > 1 || i.verdict == jobcheck.Accepted && n == 0 || i.verdict >= jobcheck.Refused && n > 0 {
			return fmt.Errorf("the intervention %s in %s is %d times in its history; the operator was told %d", i.actor, i.instance, n, i.verdict)
		}
	}
	return nil
}

// answeredOnce: of several answers to a call one counts, which is one that was acknowledged, if any was.
func (l *ledger) answeredOnce() error {
	for _, me := range l.lives {
		times := map[core.Ticket]int{}
		for _, r := range l.history[me] {
			if r.Type != core.RecReturned && r.Type != core.RecCallFailed {
				continue
			}
			l.w.check(OneAnswer)
			if times[r.Ticket]++; times[r.Ticket] > 1 {
				return fmt.Errorf("call %s of %s has two answers", r.Ticket, me.id)
			}
			said, _ := r.Data.Get("said")
			told := l.answers[me]
			if len(told) > 0 {
				l.w.check(AckedAnswer)
			}
			if len(told) > 1 || len(told) == 1 && said.Str() != told[0] {
				return fmt.Errorf("question %s was answered with %q, and %q were acknowledged", me.id, said.Str(), told)
			}
		}
	}
	return nil
}

// errSink is what the sink says when it fails.
var errSink = errors.New("the sink does not take it")

// sink takes what instances produce, besides the engines.
type sink struct {
	w     *world
	came  int
	first []string          // ids, in the order in which they came first
	known map[string]string // what they are, by id
	sent  map[life][]string // ids by who decided to produce them, in order
	whose map[string]life
}

// decided notes the events of a commit.
func (s *sink) decided(me life, emits []store.Emit) {
	for i := range emits {
		if emits[i].Sink {
			s.sent[me] = append(s.sent[me], emits[i].Event.ID)
			s.whose[emits[i].Event.ID] = me
		}
	}
}

// take takes an event of a node.
func (s *sink) take(p *process, e event.Event) error {
	w := s.w
	if p.dead {
		return errSink
	}
	s.came++
	w.tell(p.n.name, "sink", "%s", e.ID)
	if _, ok := s.whose[e.ID]; !ok && w.disk == nil {
		w.violate("event %s comes to the sink, and no commit has decided on it", e.ID)
	}
	fails := slices.IndexFunc(w.c.Faults, func(f Fault) bool { return f.Kind == FaultSink && f.Op == s.came })
	if fails >= 0 {
		w.faults[FaultSink]++
		if w.c.Faults[fails].For%2 == 0 {
			return errSink
		}
	}
	text := string(e.Value().AppendJSON(nil))
	switch known, again := s.known[e.ID]; {
	case !again:
		s.first = append(s.first, e.ID)
		s.known[e.ID] = text
	case known != text:
		w.violate("event %s comes to the sink as %s and as %s", e.ID, known, text)
	case w.calm():
		w.violate("event %s comes to the sink twice, and nothing went wrong", e.ID)
	}
	if fails >= 0 {
		return errSink
	}
	return nil
}

// complete: the sink has every event that was decided on, and those of one instance in order.
func (s *sink) complete() error {
	got := map[life][]string{}
	for _, id := range s.first {
		if me, ok := s.whose[id]; ok {
			got[me] = append(got[me], id)
		}
	}
	for _, me := range s.w.ledger.lives {
		if len(s.sent[me]) > 0 {
			s.w.check(InOrderAtSink)
		}
		if !slices.Equal(got[me], s.sent[me]) {
			return fmt.Errorf("the sink got %v of %s, which produced %v", got[me], me.id, s.sent[me])
		}
	}
	return nil
}
