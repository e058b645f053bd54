package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

type noteKey struct{ kind, key string }

// PutNote stores a note.
func (s *Store) PutNote(ctx context.Context, n store.Note, now core.Time) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := n.CheckText(); err != nil {
		return err
	}
	s.notes[noteKey{n.Kind, n.Key}] = n
	var over []store.Note
	for _, n := range s.notes {
		if n.Until != 0 && n.Until < now {
			over = append(over, n)
		}
	}
	slices.SortFunc(over, func(a, b store.Note) int {
		return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	for _, n := range over[:min(len(over), store.Forgotten)] {
		delete(s.notes, noteKey{n.Kind, n.Key})
	}
	return nil
}

// Note returns a note.
func (s *Store) Note(ctx context.Context, kind, key string) (store.Note, error) {
	if err := s.begin(ctx); err != nil {
		return store.Note{}, err
	}
	defer s.mu.Unlock()
	n, ok := s.notes[noteKey{kind, key}]
	if !ok {
		return n, store.ErrNotFound
	}
	return n, nil
}

// Notes lists notes.
func (s *Store) Notes(ctx context.Context, kind, after string, limit int) (out []store.Note, err error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for n := range maps.Values(s.notes) {
		if n.Kind == kind && n.Key > after {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b store.Note) int { return cmp.Compare(a.Key, b.Key) })
	return out[:min(len(out), limit)], nil
}

// DeleteNote removes a note.
func (s *Store) DeleteNote(ctx context.Context, kind, key string) (bool, error) {
	if err := s.begin(ctx); err != nil {
		return false, err
	}
	defer s.mu.Unlock()
	_, had := s.notes[noteKey{kind, key}]
	delete(s.notes, noteKey{kind, key})
	return had, nil
}

// AppendEntry appends to the audit log.
func (s *Store) AppendEntry(ctx context.Context, e store.Entry, oldest core.Time) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := e.CheckText(); err != nil {
		return err
	}
	if slices.ContainsFunc(s.audit, func(o store.Entry) bool { return o.ID == e.ID }) {
		return nil
	}
	s.audits++
	e.Seq = s.audits
	s.audit = append(s.audit, e)
	var old []store.Entry
	for _, e := range s.audit {
		if e.At < oldest {
			old = append(old, e)
		}
	}
	slices.SortStableFunc(old, func(a, b store.Entry) int { return cmp.Compare(a.At, b.At) })
	old = old[:min(len(old), store.Forgotten)]
	s.audit = slices.DeleteFunc(s.audit, func(e store.Entry) bool {
		return slices.ContainsFunc(old, func(o store.Entry) bool { return o.Seq == e.Seq })
	})
	return nil
}

// Entries lists the audit log.
func (s *Store) Entries(ctx context.Context, q store.EntryQuery) (out []store.Entry, err error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for i := len(s.audit) - 1; i >= 0 && len(out) < q.Limit; i-- {
		if e := s.audit[i]; q.Matches(&e) {
			out = append(out, e)
		}
	}
	return out, nil
}
