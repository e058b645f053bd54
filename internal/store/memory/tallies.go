package memory

import (
	"context"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// AddTallies adds to the tallies of some hours.
func (s *Store) AddTallies(ctx context.Context, hours []store.Hour, oldest core.Time) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, h := range hours {
		for _, t := range h.Tallies {
			s.tallies = store.AddTally(s.tallies, h.At, t)
		}
	}
	s.tallies = slices.DeleteFunc(s.tallies, func(h store.Hour) bool { return h.At < oldest })
	return nil
}

// ListTallies lists hours with their tallies.
func (s *Store) ListTallies(ctx context.Context, from, until core.Time) (out []store.Hour, err error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, h := range s.tallies {
		if h.At >= from && h.At < until {
			out = append(out, h.Clone())
		}
	}
	return out, nil
}
