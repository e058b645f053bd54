package memory

import (
	"context"
	"maps"
	"slices"
)

// Suspect adds a suspect.
func (s *Store) Suspect(ctx context.Context, instance string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.suspects[instance] = true
	return nil
}

// Suspects lists the suspects.
func (s *Store) Suspects(ctx context.Context) ([]string, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.suspects)), nil
}

// Unsuspect removes a suspect.
func (s *Store) Unsuspect(ctx context.Context, instance string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.suspects, instance)
	return nil
}
