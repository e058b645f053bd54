package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// version is an alias of a definition.
type version struct {
	row store.Definition
	seq int64 // order of first deployment
}

// PutDefinitions stores definitions and makes them current.
func (s *Store) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) ([]store.Definition, error) {
	for _, d := range ds {
		if err := d.CheckText(); err != nil {
			return nil, err
		}
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, d := range ds {
		if v := s.aliases[alias{d.ID, d.Version}]; v != nil && v.row.Digest != d.Digest && !move {
			return nil, &store.ContentError{ID: d.ID, Version: d.Version}
		}
	}
	var out []store.Definition
	for _, d := range ds {
		out = append(out, s.define(d.Definition, d.Schedule))
	}
	return out, nil
}

func (s *Store) define(d store.Definition, sched *store.Schedule) store.Definition {
	key := alias{d.ID, d.Version}
	v := s.aliases[key]
	switch {
	case v == nil:
		v = &version{seq: s.next()}
		s.aliases[key] = v
	case v.row.Digest == d.Digest:
		d.Deployed = v.row.Deployed
	}
	if known, ok := s.contents[d.Digest]; ok {
		d.Program = known.Program // instances run it already
	} else {
		s.contents[d.Digest] = d
	}
	if old := s.current[d.ID]; old != nil {
		old.row.Current = false
	}
	d.Current = true
	v.row = d
	s.current[d.ID] = v
	s.supersede(d.ID, d.Digest)
	old, scheduled := s.schedules[d.ID]
	switch {
	case sched == nil:
		delete(s.schedules, d.ID)
	case !scheduled || old.Digest != sched.Digest:
		next := *sched
		next.Fires = old.Fires
		s.schedules[d.ID] = next
	}
	return d
}

// Definition finds a definition by alias.
func (s *Store) Definition(ctx context.Context, id, ver string) (store.Definition, error) {
	if err := s.begin(ctx); err != nil {
		return store.Definition{}, err
	}
	defer s.mu.Unlock()
	v := s.aliases[alias{id, ver}]
	if ver == "" {
		v = s.current[id]
	}
	if v == nil {
		return store.Definition{}, fmt.Errorf("definition %s version %q: %w", id, ver, store.ErrNotFound)
	}
	return v.row, nil
}

// Content finds a definition by digest.
func (s *Store) Content(ctx context.Context, digest string) (store.Definition, error) {
	if err := s.begin(ctx); err != nil {
		return store.Definition{}, err
	}
	defer s.mu.Unlock()
	d, ok := s.contents[digest]
	if !ok {
		return store.Definition{}, fmt.Errorf("definition with digest %s: %w", digest, store.ErrNotFound)
	}
	return d, nil
}

// ListDefinitions lists all versions.
func (s *Store) ListDefinitions(ctx context.Context) ([]store.Definition, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	list := make([]*version, 0, len(s.aliases))
	for _, v := range s.aliases {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b *version) int {
		return cmp.Or(cmp.Compare(a.row.ID, b.row.ID), cmp.Compare(a.seq, b.seq))
	})
	out := make([]store.Definition, len(list))
	for i, v := range list {
		out[i] = v.row
	}
	return out, nil
}
