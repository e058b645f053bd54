package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Policies lists what operators decided about definitions.
func (s *Store) Policies(ctx context.Context) ([]store.Policy, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.policies), func(a, b store.Policy) int { return cmp.Compare(a.Definition, b.Definition) }), nil
}

// SetPolicy stores the next revision of a policy.
func (s *Store) SetPolicy(ctx context.Context, p store.Policy) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.current[p.Definition] == nil {
		return fmt.Errorf("definition %s: %w", p.Definition, store.ErrNotFound)
	}
	if s.policies[p.Definition].Rev != p.Rev {
		return fmt.Errorf("policy of %s: %w", p.Definition, store.ErrConflict)
	}
	p.Rev++
	s.policies[p.Definition] = p
	return nil
}

// Held lists the instances of a definition that are held.
func (s *Store) Held(ctx context.Context, definition string, limit int) ([]string, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	list := s.held[definition]
	if list == nil {
		return nil, nil
	}
	return ids(list.head(limit)), nil
}

// fileHeld keeps the list of held instances.
func (s *Store) fileHeld(in *instance, held bool) {
	list := s.held[in.row.Definition]
	switch {
	case held:
		if list == nil {
			sorted := sortedBy(func(in *instance) int64 { return in.row.Seq })
			list = &sorted
			s.held[in.row.Definition] = list
		}
		list.add(in)
	case list != nil:
		if list.remove(in); list.size == 0 {
			delete(s.held, in.row.Definition)
		}
	}
}
