package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// damages remembers the damaged rows that were reported: they stay in their lists until a person
// repairs them.
type damages struct {
	mu    sync.Mutex
	known map[string]bool  // the texts of their errors
	open  map[string]error // instances that are yet to be set aside, and why
}

// maxDamages is how many of them are remembered; then all are reported anew.
const maxDamages = 10_000

// add notes a row, and reports whether it is a new one.
func (d *damages) add(row store.DamagedRow) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := row.Err.Error()
	if d.known[text] {
		return false
	}
	if d.known == nil || len(d.known) >= maxDamages {
		d.known = map[string]bool{}
	}
	d.known[text] = true
	if row.Instance != "" {
		if d.open == nil {
			d.open = map[string]error{}
		}
		d.open[row.Instance] = row.Err
	}
	return true
}

func (d *damages) list() map[string]error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.open)
}

func (d *damages) done(instance string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, instance)
}

// withoutDamage is the error of a list, nil where only some of its rows are damaged: the others are
// listed. Each damaged row is reported once, and its instance set aside.
func (e *Engine) withoutDamage(ctx context.Context, err error) error {
	var damaged *store.DamagedError
	if !errors.As(err, &damaged) {
		return err
	}
	for _, row := range damaged.Rows {
		if e.damages.add(row) {
			e.report(row.Err)
		}
	}
	e.setDamagedAside(ctx)
	return nil
}

// setDamagedAside sets instances aside that something damaged belongs to. Where that fails, the next pass tries again: what is
// damaged may be in no list any more.
func (e *Engine) setDamagedAside(ctx context.Context) {
	list := e.damages.list()
	for _, id := range slices.Sorted(maps.Keys(list)) {
		if e.damagedIn(ctx, id, list[id]) == nil {
			e.damages.done(id)
		}
	}
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
