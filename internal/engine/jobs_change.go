package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// JobUpdate is a status that an actor sends.
type JobUpdate struct {
	Actor  string     // "CLIENT" or "WFX"
	Status expr.Value // an object whose "state" is the choice
	Rev    int64      // that the caller read; 0: any
	Client string     // where not empty: the job must be this client's
}

// UpdateJob applies a status from an actor. If the move is not allowed in the current state, the
// error is a *core.Rejected that lists what is allowed.
//
// Concurrent updates of one job share a commit. They are checked one after the other, each against
// the state that the one before left, and each returns the job as it was right after it. A revision
// counts commits: with Rev an update is applied only if nothing changed since that commit, else the
// error is a *RevisionError; so it is always the first of its commit. A job that was changed again
// within the same commit is returned with the previous revision, with which no update succeeds.
func (e *Engine) UpdateJob(ctx context.Context, id string, u JobUpdate) (Job, error) {
	state, _ := u.Status.Get(jobdata.State)
	if state.Kind() != expr.KindString {
		return Job{}, &core.Rejected{Msg: "the status must be an object whose state is a text"}
	}
	if err := checkNumbers(id, "", u.Status); err != nil {
		return Job{}, err
	}
	return e.ask(ctx, id, &ask{client: u.Client, rev: u.Rev, bytes: sizeOf(u.Status), input: func(*core.State) (core.Input, error) {
		return core.Take{Actor: u.Actor, Choice: state.Str(), Value: u.Status}, nil
	}})
}

// DefineJob replaces a job's definition, in whatever state it is; Null removes it.
// Revision and client are as in JobUpdate.
func (e *Engine) DefineJob(ctx context.Context, id string, definition expr.Value, rev int64, client string) (Job, error) {
	if err := checkNumbers(id, "/"+jobdata.Definition, definition); err != nil {
		return Job{}, err
	}
	return e.ask(ctx, id, &ask{client: client, rev: rev, bytes: sizeOf(definition), input: func(*core.State) (core.Input, error) {
		return core.Control{Verb: core.VerbAmend, HasData: true, Data: expr.Object(expr.Member{Key: jobdata.Definition, Value: definition})}, nil
	}})
}

// TagJob adds and removes tags, unless the job was given up from outside. Where that
// changes nothing, nothing is committed.
// Its record tells the tags that the job has then, and which came and went.
func (e *Engine) TagJob(ctx context.Context, id string, add, remove []string, rev int64) (Job, error) {
	return e.ask(ctx, id, &ask{rev: rev, input: func(s *core.State) (core.Input, error) {
		if givenUp(s.Status()) {
			return nil, &core.Rejected{Msg: fmt.Sprintf("the instance is %s already", s.Status())}
		}
		have := tagsOf(s.Labels())
		next := slices.DeleteFunc(tidy(slices.Concat(have, add)), func(tag string) bool { return slices.Contains(remove, tag) })
		if slices.Equal(have, next) {
			return nil, nil
		}
		if why := badTags(next); why != "" {
			return nil, &core.Rejected{Msg: why}
		}
		return core.Control{Verb: core.VerbLabel, HasData: true, Data: expr.Object(expr.Member{Key: jobdata.Tags, Value: texts(next)})}, nil
	}})
}

// DeleteJob deletes a job in any state, only at revision rev if that is not 0. For a parent that
// waits for it, it was terminated.
func (e *Engine) DeleteJob(ctx context.Context, id string, rev int64) error {
	var last error
	for range maxConflicts {
		row, err := e.jobRow(ctx, id)
		switch {
		case err != nil:
			return err
		case rev != 0 && row.Rev != rev:
			return &RevisionError{id, rev, row.Rev}
		case row.Awaited && !row.Status.Final():
			if err = e.endJob(ctx, row); err == nil {
				rev = 0 // that was at the revision
				continue
			}
		default:
			err = e.removeJob(ctx, row)
		}
		if last = err; !overtaken(err) {
			return noJob(err, id)
		}
	}
	return fmt.Errorf("delete job %s: tried %d times: %w", id, maxConflicts, last)
}

// overtaken reports whether something else happened to a job that was about to be ended
// or deleted, so that it is to be looked at again.
func overtaken(err error) bool {
	var changed *RevisionError
	var over *core.Rejected
	var aside *QuarantineError
	return errors.As(err, &changed) || errors.As(err, &over) || errors.As(err, &aside) || errors.Is(err, store.ErrConflict)
}

// endJob terminates a job that is about to be deleted.
func (e *Engine) endJob(ctx context.Context, row Instance) error {
	end := core.Control{Verb: core.VerbTerminate}
	if row.Quarantine != "" {
		return e.release(ctx, row.ID, end, row.Rev)
	}
	if err := e.applyAt(ctx, row.ID, row.Rev, input{in: end, at: e.now(), extra: 1}); err != nil {
		return err
	}
	return e.quarantined(ctx, row.ID) // then it was not ended
}

// removeJob deletes a job that nobody waits for.
func (e *Engine) removeJob(ctx context.Context, row Instance) error {
	l, err := e.live.acquire(ctx, row.ID, onRequest)
	if err != nil {
		return err
	}
	defer e.live.release(l)
	l.forget()
	d := store.Deletion{At: max(e.now(), row.Updated), Rev: row.Rev, Live: true}
	err = e.store.DeleteInstance(ctx, row.ID, d)
	switch {
	case errors.Is(err, store.ErrConflict):
		return &RevisionError{row.ID, row.Rev, 0}
	case err != nil:
		return notFound(err, row.ID)
	}
	e.deleted(row.ID, d)
	return nil
}
