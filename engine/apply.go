package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
)

// input is one thing that an instance is given.
type input struct {
	in      core.Input
	at      core.Time // when it happened: decides the order
	message int64     // Seq in the inbox, 0: it did not come that way
	event   bool      // the message carries an event
	call    core.Ticket
	extra   int // position + 1 among those that came neither by inbox nor by timer
}

// maxConflicts is how often a commit may lose against others before it is an error.
const maxConflicts = 16

// apply gives an instance the messages in its inbox, the timers that are due and the
// given inputs, in order of time, and commits the outcome. An input that is not allowed
// now is a *core.Rejected; everything else is committed nevertheless.
func (e *Engine) apply(ctx context.Context, id string, extra ...input) error {
	for i := range extra {
		extra[i].extra = i + 1
	}
	l := e.live.acquire(id)
	defer e.live.release(l)
	for range maxConflicts {
		err := e.applyTo(ctx, l, &extra)
		if !errors.Is(err, store.ErrConflict) {
			return err
		} // else someone was faster: look again
	}
	return fmt.Errorf("instance %s: %w, %d times", id, store.ErrConflict, maxConflicts)
}

// applyTo applies once. Inputs are folded into one commit; where one of them breaks an
// invariant, those before it are committed without it. What is committed of extra is
// taken out of it.
func (e *Engine) applyTo(ctx context.Context, l *live, extra *[]input) error {
	for limit := -1; ; {
		if err := e.load(ctx, l); err != nil {
			return e.setAside(ctx, l, err, *extra)
		}
		if l.row.Quarantine != "" {
			return nil
		}
		inputs, err := e.inputsFor(ctx, l, *extra)
		if err != nil {
			return err
		}
		if limit >= 0 {
			inputs = inputs[:min(limit, len(inputs))]
		}
		f := e.newFold(l)
		broke, rejected, err := f.run(ctx, inputs)
		var broken *brokenError
		switch {
		case errors.As(err, &broken) && broke == 0:
			return e.setAside(ctx, l, err, *extra)
		case errors.As(err, &broken):
			l.forget()
			limit = broke // what came before it is sound
			continue
		case err != nil:
			l.forget()
			return err
		}
		if err := e.commit(ctx, f); err != nil {
			return err
		}
		if limit < 0 {
			return rejected
		}
		*extra = slices.DeleteFunc(*extra, func(o input) bool {
			return slices.ContainsFunc(inputs, func(in input) bool { return in.extra == o.extra })
		})
		limit = -1 // now the rest: the one that breaks comes first
	}
}

// step is core.Step with panics as errors. All but *core.Rejected are broken invariants.
func step(p *core.Program, s *core.State, now core.Time, in core.Input) (res core.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &brokenError{fmt.Errorf("panic: %v\n%s", r, debug.Stack())}
		}
	}()
	res, err = core.Step(p, s, now, in)
	var rejected *core.Rejected
	if err != nil && !errors.As(err, &rejected) {
		err = &brokenError{err}
	}
	return res, err
}

// commit makes a fold durable and then acts on it.
func (e *Engine) commit(ctx context.Context, f *fold) error {
	if !f.changed() {
		return nil
	}
	c := f.finish()
	if err := e.store.Commit(ctx, c); err != nil {
		f.l.forget()
		return fmt.Errorf("commit instance %s: %w", f.l.id, err)
	}
	f.l.row = c.Instance
	f.l.row.Rev++
	for _, t := range c.Answered {
		e.calls.drop(callKey(f.l.id, t))
	}
	for i := range c.Calls {
		c.Calls[i].Instance = f.l.id
	}
	e.calls.enqueue(c.Calls)
	if e.cfg.OnRecord != nil {
		for _, r := range c.Records {
			e.cfg.OnRecord(f.l.id, r)
		}
	}
	e.changed(f.l.id)
	return nil
}

// changed tells those who wait for an instance, and Run.
func (e *Engine) changed(id string) {
	e.mu.Lock()
	if ch := e.waits[id]; ch != nil {
		close(ch)
		delete(e.waits, id)
	}
	e.mu.Unlock()
	e.wakeUp()
}

// inputsFor lists what the instance is to be given, in order. Messages keep the order of
// their arrival even where the clock stepped back; timers come where their time is.
func (e *Engine) inputsFor(ctx context.Context, l *live, extra []input) ([]input, error) {
	if l.row.Rev == 0 {
		return extra, nil
	}
	messages, err := e.store.Messages(ctx, l.id)
	if err != nil {
		return nil, fmt.Errorf("inbox of %s: %w", l.id, err)
	}
	list := make([]input, 0, len(messages)+len(extra)+1)
	for _, m := range messages {
		list = append(list, input{in: m.Input, at: m.At, message: m.Seq, event: m.Event != 0})
	}
	list = append(list, extra...)
	for i := 1; i < len(list); i++ {
		if list[i].message != 0 {
			list[i].at = max(list[i].at, list[i-1].at)
		}
	}
	if timers := e.due(l); len(timers) > 0 {
		list = append(timers, list...)
	}
	slices.SortStableFunc(list, func(a, b input) int { return int(min(max(a.at-b.at, -1), 1)) })
	if l.row.More && len(list) == 0 {
		list = append(list, input{in: core.Continue{}})
	}
	return list, nil
}

// due lists the timers whose time has come.
func (e *Engine) due(l *live) []input {
	now := e.timeFor(l)
	if l.state == nil || !l.row.HasWake || l.row.Wake > now {
		return nil
	}
	at := map[core.Ticket]core.Time{}
	for _, o := range l.state.Open(l.prog) {
		at[o.Ticket] = o.At
	}
	var out []input
	for _, t := range l.state.Due(now) {
		out = append(out, input{in: core.Reply{Ticket: t}, at: at[t]})
	}
	return out
}

// timeFor is the time of an instance's next step: a clock that stepped back does not
// make its history do so.
func (e *Engine) timeFor(l *live) core.Time { return max(e.now(), l.row.Updated) }

// setAside puts an instance into quarantine after a broken invariant: it keeps its
// stored state and its inbox, and is left alone until a person decides. A new one keeps
// its start in the inbox.
func (e *Engine) setAside(ctx context.Context, l *live, cause error, extra []input) error {
	var broken *brokenError
	if !errors.As(cause, &broken) {
		return cause
	}
	row := l.row
	if row.Rev > 0 {
		var err error
		if row, err = e.store.Instance(ctx, l.id); err != nil {
			return fmt.Errorf("quarantine instance %s: %w", l.id, err)
		}
		if row.Quarantine != "" {
			return nil
		}
	}
	row.Quarantine, row.Updated = broken.Error(), e.timeFor(l)
	if !row.Status.Final() {
		row.Status = core.Paused
	}
	c := store.Commit{Instance: row, Records: []core.Record{{
		Time: row.Updated, Type: core.RecWarning, Text: "quarantined: " + firstLine(broken.Error()),
	}}}
	if row.Rev == 0 {
		for _, in := range extra {
			c.Messages = append(c.Messages, store.Message{To: l.id, At: in.at, Input: in.in})
		}
	}
	l.forget()
	if err := e.store.Commit(ctx, c); err != nil {
		return fmt.Errorf("quarantine instance %s: %w", l.id, err)
	}
	e.calls.dropAll(l.id)
	if e.cfg.OnRecord != nil {
		e.cfg.OnRecord(l.id, c.Records[0])
	}
	e.changed(l.id)
	return nil
}
