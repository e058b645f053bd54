package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Control intervenes in an instance. What is not allowed now is a *core.Rejected.
func (e *Engine) Control(ctx context.Context, id string, c core.Control) error {
	row, err := e.Get(ctx, id)
	if err != nil {
		return err
	}
	if row.Quarantine != "" {
		return e.release(ctx, id, c, 0)
	}
	return e.direct(ctx, id, c)
}

// Take lets an actor choose among an instance's offers.
func (e *Engine) Take(ctx context.Context, id string, t core.Take) error {
	return e.direct(ctx, id, t)
}

func (e *Engine) direct(ctx context.Context, id string, in core.Input) error {
	if err := e.apply(ctx, id, onRequest, input{in: in, at: e.now()}); err != nil {
		return err
	}
	return e.setAsideInstead(ctx, id)
}

// setAsideInstead is quarantined for an instance that was given an input: if it is gone by now, it took the input
// before it was deleted.
func (e *Engine) setAsideInstead(ctx context.Context, id string) error {
	if err := e.quarantined(ctx, id); !isMissing(err) {
		return err
	}
	return nil
}

// quarantined tells that an instance is set aside.
func (e *Engine) quarantined(ctx context.Context, id string) error {
	row, err := e.Get(ctx, id)
	if err == nil && row.Quarantine != "" {
		return &QuarantineError{id, firstLine(row.Quarantine)}
	}
	return err
}

// release lets an instance out of quarantine: resume tries again with what is stored,
// terminate gives it up. Where rev is not 0 it must be at that revision.
func (e *Engine) release(ctx context.Context, id string, c core.Control, rev int64) error {
	l, err := e.live.acquire(ctx, id, onRequest)
	if err != nil {
		return err
	}
	defer e.live.release(l)
	l.forget()
	err = e.load(ctx, l)
	var broken *brokenError
	if err != nil && !errors.As(err, &broken) {
		return err
	}
	row := l.row
	if rev != 0 && row.Rev != rev {
		return &RevisionError{id, rev, row.Rev}
	}
	if row.Quarantine == "" {
		return &core.Rejected{Msg: "the instance is not in quarantine any more"}
	}
	now := e.timeFor(l)
	commit := store.Commit{Instance: row, Records: []core.Record{{Time: now, Type: core.RecControl, Name: string(c.Verb), Text: c.Actor}}}
	next := &commit.Instance
	next.Quarantine, next.Updated = "", now
	switch {
	case c.Verb == core.VerbTerminate:
		if err := e.giveUp(ctx, &commit, now); err != nil {
			return fmt.Errorf("release instance %s: %w", id, err)
		}
	case c.Verb == core.VerbResume && err != nil:
		return &QuarantineError{id, firstLine(err.Error())}
	case c.Verb == core.VerbResume:
		next.Status = core.Running
		if l.state != nil {
			next.Status = l.state.Status()
		}
	default:
		return &QuarantineError{id, firstLine(row.Quarantine)}
	}
	l.forget()
	if e.shared != nil { // before the commit: whose they are looks for them once it is there
		if err := e.shared.HandOver(ctx, id); err != nil {
			return fmt.Errorf("release instance %s: %w", id, err)
		}
	}
	if err := e.store.Commit(ctx, commit); err != nil {
		return fmt.Errorf("release instance %s: %w", id, err)
	}
	e.stored.Add(1)
	e.observe(&commit)
	e.calls.dropAll(id)
	calls, err := e.store.Calls(ctx, id)
	if errors.Is(err, store.ErrDamaged) {
		if l.row, err = e.store.Instance(ctx, id); err == nil {
			err = e.setAside(ctx, l, &brokenError{errors.New("a call that it waits for is damaged")}, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("release instance %s: %w", id, err)
	}
	e.enqueue(calls)
	if e.cfg.OnRecord != nil {
		for _, r := range commit.Records {
			e.cfg.OnRecord(id, r)
		}
	}
	e.changed(id)
	return nil
}

// giveUp makes a commit the end of an instance whose state cannot be trusted. Of the state only
// what the instance was started with stays; the inbox goes. A parent that waits gets an answer, and
// children are cancelled: the store knows them, whatever the state says.
func (e *Engine) giveUp(ctx context.Context, c *store.Commit, now core.Time) error {
	row := &c.Instance
	row.Status, row.Ended, row.Job.Group = core.Terminated, now, ""
	row.Wake, row.HasWake, row.More, row.Active, row.Offers = 0, false, false, nil, nil
	c.Records = append(c.Records, core.Record{Time: now, Type: core.RecFinished, Status: core.Terminated})
	pages, err := e.store.Pages(ctx, row.ID)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return fmt.Errorf("read state: %w", err)
	}
	if state, err := e.readState(ctx, *row, &store.State{Pages: pages, Damaged: err}); err == nil && state != nil {
		c.Pages = state.GivenUp().TakeDirty(nil)
	}
	for _, p := range pages {
		if p.Chunk == 0 && !slices.ContainsFunc(c.Pages, func(o core.Page) bool { return o.Frame == p.Frame && o.Part == p.Part }) {
			c.Pages = append(c.Pages, core.Page{Frame: p.Frame, Part: p.Part})
		}
	}
	messages, err := e.store.Messages(ctx, row.ID)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return fmt.Errorf("read inbox: %w", err)
	}
	dropAll(c, messages)
	children, err := e.store.Instances(ctx, store.Query{Parent: row.ID})
	if err != nil {
		return fmt.Errorf("read children: %w", err)
	}
	for _, child := range children {
		if child.Awaited && !child.Status.Final() {
			c.Messages = append(c.Messages, store.Message{To: child.ID, At: now, Input: core.Control{Verb: core.VerbCancel, Actor: row.ID}})
		}
	}
	if row.Awaited {
		c.Messages = append(c.Messages, store.Message{To: row.Parent, At: now, Input: endReply(row, core.Finish{Status: core.Terminated, Output: expr.Null})})
	}
	return nil
}
