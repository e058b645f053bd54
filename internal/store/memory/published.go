package memory

import "context"

// Published returns up to where the feed is published.
func (s *Store) Published(ctx context.Context) (int64, bool, error) {
	if err := s.begin(ctx); err != nil {
		return 0, false, err
	}
	defer s.mu.Unlock()
	return s.published, s.publishes, nil
}

// SetPublished says up to where the feed is published.
func (s *Store) SetPublished(ctx context.Context, pos int64) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.published, s.publishes = max(s.published, pos), true
	return nil
}
