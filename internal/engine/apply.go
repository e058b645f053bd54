package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// input is one thing that an instance is given.
type input struct {
	in      core.Input
	at      core.Time // when it happened: decides the order
	message int64     // Seq in the inbox, 0: it did not come that way
	event   bool      // the message carries an event
	timer   bool      // it is a timer that is due since at
	call    core.Ticket
	created core.Time // of the instance that made the call; another may have its id now
	rev     int64     // where not 0: the instance must be at this revision
	extra   int       // position + 1 among those that came neither by inbox nor by timer
	taken   *bool     // if not nil, set to whether someone waited for it
	ask     *ask      // if not nil: the caller waits for its own answer
}

// maxConflicts is how often a commit may lose against others before it is an error.
const maxConflicts = 16

// apply gives an instance the messages in its inbox, the timers that are due and the
// given inputs, in order of time, and commits the outcome. An input that is not allowed
// now is a *core.Rejected; everything else is committed nevertheless.
func (e *Engine) apply(ctx context.Context, id string, how mode, extra ...input) error {
	extra = slices.Clone(extra) // what is done is taken out
	for i := range extra {
		extra[i].extra = i + 1
	}
	l, err := e.live.acquire(ctx, id, how)
	if err != nil {
		return err
	}
	defer e.live.release(l)
	return e.applyUntil(ctx, l, extra)
}

// applyUntil applies, again after each conflict with another writer.
func (e *Engine) applyUntil(ctx context.Context, l *live, extra []input) error {
	if done, err := e.applyUnread(ctx, l, extra); done {
		return err
	}
	for range maxConflicts {
		err := e.applyTo(ctx, l, &extra)
		if !errors.Is(err, store.ErrConflict) {
			return err
		} // else look again
	}
	return fmt.Errorf("instance %s: %w, %d times", l.id, store.ErrConflict, maxConflicts)
}

// applyTo applies once. Inputs are folded into one commit; where one of them breaks an
// invariant, those before it are committed without it. What is committed of extra is
// taken out of it.
func (e *Engine) applyTo(ctx context.Context, l *live, extra *[]input) error {
	// mine says that nothing but what the caller brought is applied. A suspect is only ended or
	// paused, like that: what its step was given would hold up the caller as well.
	suspect := e.suspects.has(l.id)
	mine := suspect && l.how == onRequest && slices.ContainsFunc(*extra, input.interrupts)
	for limit := -1; ; {
		for _, in := range *extra {
			if in.taken != nil {
				*in.taken = false // what an attempt found that was not written does not count
			}
		}
		err := e.load(ctx, l)
		if err != nil && !isBroken(err) {
			return err
		}
		if l.row.Quarantine != "" {
			return nil
		}
		if l.row.Status.Final() {
			if over, err := e.afterEnd(ctx, l, extra); over || err != nil {
				return err
			}
		}
		if err != nil {
			return e.setAside(ctx, l, err, *extra)
		}
		if suspect && (!mine || l.state == nil) {
			return &BusyError{l.id} // before long it is paused, or set aside
		}
		if e.isExpensive(l) {
			return errExpensive
		}
		*extra = slices.DeleteFunc(*extra, l.isOfAnother)
		if l.row.Rev > 0 && e.holds(l.row.Definition) {
			if err := e.hold(ctx, l, extra); err != nil {
				return err
			}
			if mine = len(*extra) > 0; !mine && e.holds(l.row.Definition) {
				return nil
			} // else it was resumed meanwhile, and nobody looks for what was held since
		}
		inputs, err := e.inputsFor(ctx, l, *extra)
		if err != nil {
			return e.setAside(ctx, l, err, *extra)
		}
		if l.state == nil && l.row.Rev > 0 && !slices.ContainsFunc(inputs, input.starts) {
			l.forget() // another node took the start after the row was read
			return fmt.Errorf("instance %s: %w", l.id, store.ErrConflict)
		}
		if mine && l.state != nil {
			inputs = inOrder(nil, nil, *extra)
		}
		if limit >= 0 {
			inputs = inputs[:min(limit, len(inputs))]
		}
		f := e.newFold(l)
		f.alone = mine
		broke, rejected, err := f.run(ctx, inputs)
		switch {
		case errors.Is(err, errExpensive) && l.how == onRequest:
			l.forget()
			mine = true // the others wait for the lane, and the caller does not wait for them
			continue
		case isBroken(err) && broke == 0:
			return e.setAside(ctx, l, err, *extra)
		case isBroken(err):
			l.forget()
			limit = broke // what came before it is sound
			continue
		case err != nil:
			l.forget()
			return err
		}
		created := l.row.Rev > 0
		if err := e.commit(ctx, f); err != nil {
			if created && e.outdated(ctx, err) {
				continue // a definition that it starts is not there any more
			}
			return e.setAside(ctx, l, err, *extra)
		}
		inputs = inputs[:len(inputs)-f.left]
		f.settle(inputs)
		for _, in := range inputs {
			if in.timer {
				e.figures.TimerLag.Observe(time.Duration(f.now - in.at))
			}
		}
		if limit < 0 && f.left == 0 {
			return rejected
		}
		*extra = slices.DeleteFunc(*extra, func(o input) bool {
			return slices.ContainsFunc(inputs, func(in input) bool { return in.extra == o.extra })
		})
		limit = -1 // now the rest: the one that breaks comes first
		if f.left > 0 {
			e.wakeUp() // for the inbox and the timers
			if l.how != onRequest && len(*extra) > 0 {
				return errUnfinished
			}
			if len(*extra) == 0 {
				return rejected
			}
			mine = true // what comes by the inbox may take for ever
		}
	}
}

// starts reports whether an input is the start of an instance.
func (in input) starts() bool { _, ok := in.in.(core.Start); return ok }

// interrupts reports whether an input ends or pauses a running step. An input with a revision does
// not: its caller wants to know what came before.
func (in input) interrupts() bool {
	c, ok := in.in.(core.Control)
	return ok && in.rev == 0 && (c.Verb == core.VerbTerminate || c.Verb == core.VerbCancel || c.Verb == core.VerbSuspend)
}

// afterEnd handles inputs for an instance that is over. It drops messages and answers, whose senders
// could not know yet, and reports whether no input is left. Interventions and choices are left,
// unless the instance is a job that was given up in quarantine, which they cannot change.
func (e *Engine) afterEnd(ctx context.Context, l *live, extra *[]input) (over bool, err error) {
	messages, err := e.messages(ctx, l.id)
	if err != nil {
		return false, err
	}
	if len(messages) > 0 {
		c := store.Commit{Instance: l.row}
		dropAll(&c, messages)
		if err := e.store.Commit(ctx, c); err != nil {
			l.forget()
			return false, fmt.Errorf("commit instance %s: %w", l.id, err)
		}
		l.row.Rev++
	}
	*extra = slices.DeleteFunc(*extra, func(in input) bool { return in.call != 0 })
	switch {
	case len(*extra) == 0:
		return true, nil
	case l.loaded && (l.state == nil || l.prog.Job && l.state.Data().IsNull()):
		return true, &core.Rejected{Msg: fmt.Sprintf("the instance is %s already", l.row.Status)}
	}
	return false, nil
}

// dropAll takes messages without giving them to anybody; events among them are kept.
func dropAll(c *store.Commit, messages []store.Message) {
	for _, m := range messages {
		c.Taken = append(c.Taken, m.Seq)
		if m.Event != 0 {
			c.Release = append(c.Release, m.Seq)
		}
	}
}

// commit makes a fold durable and then acts on it.
func (e *Engine) commit(ctx context.Context, f *fold) error {
	if !f.changed() {
		return nil
	}
	c := &f.c
	err := guard(func() error { return f.finish(e.mayTell()) })
	if err == nil && e.cfg.Probe.Fold != nil {
		e.cfg.Probe.Fold(c, f.given)
	}
	if err == nil {
		began := time.Now()
		err = e.store.Commit(ctx, *c)
		e.figures.committed(time.Since(began), err)
	}
	if err != nil {
		f.giveUp()
		f.l.forget()
		return fmt.Errorf("commit instance %s: %w", f.l.id, err)
	}
	e.stored.Add(1)
	e.observe(c)
	if f.l.row.Held && !c.Instance.Held {
		defer e.findCalls(ctx, f.l.id)
	}
	e.quotas.committed(c, f.l.row.Rev == 0)
	f.l.large.note(c.Pages)
	f.l.row = c.Instance
	f.l.row.Rev++
	f.l.row.Records += int64(len(c.Records))
	for _, t := range c.Answered {
		e.calls.done(callKey(f.l.id, t), c.Instance.Created)
	}
	if len(c.Calls) > 0 {
		trace := c.Instance.Trace
		for i := range c.Calls {
			c.Calls[i].Instance, c.Calls[i].Created, c.Calls[i].Trace = f.l.id, c.Instance.Created, &trace
		}
		e.enqueue(c.Calls)
		e.beginCalls()
	}
	if e.cfg.Sink != nil && len(c.Emits) > 0 {
		e.outbox.hear()
	}
	if e.cfg.OnRecord != nil {
		for _, r := range c.Records {
			e.cfg.OnRecord(f.l.id, r)
		}
	}
	e.wakeWatchers(f.l.id, &f.l.row)
	e.changes.tell()
	if f.madeWork() {
		e.wakeUp()
	}
	return nil
}

// madeWork reports whether a commit may have made something that only Poll finds. The end of
// one that waited for events lets go of those that were kept for it, and that of a standing
// subscription of those on their way to it.
func (f *fold) madeWork() bool {
	c := &f.c
	return c.Instance.HasWake || c.Instance.More || c.Instance.Status.Final() && len(f.l.prog.Events) > 0 ||
		len(c.Messages)+len(c.Children)+len(c.Emits)+len(c.Subscribe)+len(c.Release) > 0 ||
		slices.ContainsFunc(c.Unsubscribe, core.Ticket.Standing) || f.e.cfg.Inline && len(c.Calls) > 0
}

// changed wakes the callers that wait for an instance, the followers of the feed, and Run.
func (e *Engine) changed(id string) {
	e.wakeWatchers(id, nil)
	e.changes.tell()
	e.wakeUp()
}

// inputsFor lists what the instance is to be given, in order. Messages keep the order of
// their arrival even where the clock stepped back, and interventions come after them: the
// first may be the start. Timers and answers come where their time is.
func (e *Engine) inputsFor(ctx context.Context, l *live, extra []input) ([]input, error) {
	if l.row.Rev == 0 {
		return extra, nil
	}
	messages, err := e.messages(ctx, l.id)
	if err != nil {
		return nil, err
	}
	var list []input
	if err := guard(func() error { list = e.due(l); return nil }); err != nil {
		return nil, err
	}
	list = inOrder(list, messages, extra)
	if l.row.More && len(list) == 0 {
		list = append(list, input{in: core.Continue{}})
	}
	return list, nil
}

// inOrder adds messages and other inputs to those of timers.
func inOrder(list []input, messages []store.Message, extra []input) []input {
	latest := core.Time(math.MinInt64)
	for _, m := range messages {
		latest = max(latest, m.At)
		list = append(list, input{in: m.Input, at: latest, message: m.Seq, event: m.Event != 0})
	}
	for _, in := range extra {
		if in.call == 0 {
			in.at = max(in.at, latest)
		}
		list = append(list, in)
	}
	slices.SortStableFunc(list, func(a, b input) int { return cmp.Compare(a.at, b.at) })
	return list
}

// due lists the timers whose time has come.
func (e *Engine) due(l *live) []input {
	if l.state == nil || !e.overdue(l) {
		return nil
	}
	now := e.timeFor(l)
	at := map[core.Ticket]core.Time{}
	for _, o := range l.state.Open(l.prog) {
		at[o.Ticket] = o.At
	}
	var out []input
	for _, t := range l.state.Due(now) {
		out = append(out, input{in: core.Reply{Ticket: t}, at: at[t], timer: true})
	}
	return out
}

// timeFor is the time of an instance's next step: a clock that stepped back does not
// make its history do so.
func (e *Engine) timeFor(l *live) core.Time {
	if l.row.Rev == 0 { // what happens at its creation happens at that time
		return max(l.row.Created, l.row.Updated)
	}
	return max(e.now(), l.row.Updated)
}

// quarantined begins the text of the warning that an instance was set aside.
const quarantined = "quarantined: "

// setAside puts an instance into quarantine after a broken invariant: it keeps its
// stored state and its inbox, and is left alone until a person decides. A new one keeps
// its start in the inbox. Other errors it returns.
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
	row.Quarantine, row.Held, row.Updated = broken.Error(), false, e.timeFor(l)
	if !row.Status.Final() {
		row.Status = core.Paused
	}
	c := store.Commit{Instance: row, Records: []core.Record{{
		Time: row.Updated, Type: core.RecWarning, Text: quarantined + firstLine(broken.Error()),
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
	e.observe(&c)
	if e.cfg.OnRecord != nil {
		e.cfg.OnRecord(l.id, c.Records[0])
	}
	e.changed(l.id)
	return nil
}
