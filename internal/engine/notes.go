package engine

import (
	"context"
	"math"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// The engine passes through what servers share beside instances: notes, and the audit log.

// PutNote stores a note in place of one with the same kind and key.
func (e *Engine) PutNote(ctx context.Context, n store.Note) error {
	return e.store.PutNote(ctx, n, e.now())
}

// Note returns a note, or store.ErrNotFound. One that has expired is not found.
func (e *Engine) Note(ctx context.Context, kind, key string) (store.Note, error) {
	n, err := e.store.Note(ctx, kind, key)
	if err == nil && n.Until != 0 && n.Until < e.now() {
		return store.Note{}, store.ErrNotFound
	}
	return n, err
}

// Notes lists the notes of a kind by key, those after a key; it leaves out what has expired.
func (e *Engine) Notes(ctx context.Context, kind, after string, limit int) ([]store.Note, error) {
	list, err := e.store.Notes(ctx, kind, after, limit)
	now := e.now()
	kept := list[:0]
	for _, n := range list {
		if n.Until == 0 || n.Until >= now {
			kept = append(kept, n)
		}
	}
	return kept, err
}

// DeleteNote removes a note, and reports whether there was one.
func (e *Engine) DeleteNote(ctx context.Context, kind, key string) (bool, error) {
	return e.store.DeleteNote(ctx, kind, key)
}

// AppendEntry appends an entry to the audit log.
func (e *Engine) AppendEntry(ctx context.Context, entry store.Entry) error {
	oldest := core.Time(math.MinInt64)
	if e.cfg.AuditRetention > 0 {
		oldest = e.now() - core.Time(e.cfg.AuditRetention)
	}
	return e.store.AppendEntry(ctx, entry, oldest)
}

// Entries lists the audit log, the newest first.
func (e *Engine) Entries(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	return e.store.Entries(ctx, q)
}
