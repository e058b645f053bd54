package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
)

// damages remembers the damaged rows that were reported: they stay in their lists until a person
// repairs them.
type damages struct {
	mu    sync.Mutex
	known map[string]bool // by the text of the error; true: there is nothing left to do about it
}

// maxDamages is how many of them are remembered; then all are reported anew.
const maxDamages = 10_000

func (d *damages) find(text string) (known, done bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	done, known = d.known[text]
	return known, done
}

func (d *damages) note(text string, done bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil || len(d.known) >= maxDamages {
		d.known = map[string]bool{}
	}
	d.known[text] = done
}

// withoutDamage is the error of a list, nil where only some of its rows are damaged: the others are
// listed. Each damaged row is reported once, and its instance set aside.
func (e *Engine) withoutDamage(ctx context.Context, err error) error {
	var damaged *store.DamagedError
	if !errors.As(err, &damaged) {
		return err
	}
	for _, row := range damaged.Rows {
		text := row.Err.Error()
		known, done := e.damages.find(text)
		if !known {
			e.report(row.Err)
		}
		if !done {
			e.damages.note(text, row.Instance == "" || e.damagedIn(ctx, row.Instance, row.Err) == nil)
		}
	}
	return nil
}

// damagedIn sets an instance aside that something damaged belongs to. Of one that was given up, or that is gone, what is
// damaged may outlive it; one whose row is damaged cannot be written, and counts as set aside.
func (e *Engine) damagedIn(ctx context.Context, id string, cause error) error {
	in, err := e.store.Instance(ctx, id)
	if err == nil && in.Status == core.Terminated || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
		return nil
	}
	return e.quarantine(ctx, id, &brokenError{cause})
}

// messages reads an inbox. What is damaged in it breaks its instance.
func (e *Engine) messages(ctx context.Context, id string) ([]store.Message, error) {
	list, err := e.store.Messages(ctx, id)
	switch {
	case errors.Is(err, store.ErrDamaged):
		return nil, &brokenError{err}
	case err != nil:
		return nil, fmt.Errorf("inbox of %s: %w", id, err)
	}
	return list, nil
}
