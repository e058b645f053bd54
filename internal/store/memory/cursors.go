package memory

import "context"

// Cursor returns up to where the feed is passed on.
func (s *Store) Cursor(ctx context.Context, name string) (int64, bool, error) {
	if err := s.begin(ctx); err != nil {
		return 0, false, err
	}
	defer s.mu.Unlock()
	pos, ok := s.cursors[name]
	return pos, ok, nil
}

// SetCursor says up to where the feed is passed on.
func (s *Store) SetCursor(ctx context.Context, name string, pos int64) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.cursors[name] = max(s.cursors[name], pos)
	return nil
}
