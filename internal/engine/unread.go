package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// applyUnread gives an instance in memory what came, where other nodes write too, without
// reading first: the commit tells whether one of them did, or put something into the inbox.
// It reports whether that was enough. Only a commit proves what was in memory: where there
// is none, or it conflicts, the store is to be read.
func (e *Engine) applyUnread(ctx context.Context, l *live, extra []input) (done bool, err error) {
	e.renewSecrets(l)
	if e.cacheIsCurrent() || !l.trusted || len(extra) == 0 || l.state == nil || l.row.Status.Final() || l.row.Aside() || e.holds(l.row.Definition) || e.overdue(l) || e.suspects.has(l.id) || slices.ContainsFunc(extra, l.isOfAnother) {
		return false, nil
	}
	if e.isExpensive(l) {
		return true, errExpensive
	}
	inputs := inOrder(nil, nil, extra)
	defer func() {
		for _, in := range inputs {
			if in.taken != nil && !done {
				*in.taken = false // as far as is known
			}
		}
	}()
	f := e.newFold(l)
	_, rejected, err := f.run(ctx, inputs)
	if err != nil || f.left > 0 || !f.changed() {
		if err != nil || f.did {
			f.giveUp()
			l.forget()
		}
		return errors.Is(err, core.ErrStopped), err
	}
	f.c.Unread = true
	var broken *brokenError
	switch err := e.commit(ctx, f); {
	case err == nil:
		f.settle(inputs)
		return true, rejected
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound), errors.As(err, &broken), e.outdated(ctx, err):
		return false, nil
	default: // it may have happened: nobody must do it again
		return true, err
	}
}

// overdue reports whether a timer's time has come. What is in the inbox may have come before.
func (e *Engine) overdue(l *live) bool { return l.row.HasWake && l.row.Wake <= e.timeFor(l) }

// isOfAnother reports whether an input is the answer to a call of another instance, which had
// the id before.
func (l *live) isOfAnother(in input) bool { return in.call != 0 && in.created != l.row.Created }
