package postgres

import (
	"context"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// DeleteInstance removes an instance.
func (s *Store) DeleteInstance(ctx context.Context, id string, d store.Deletion) error {
	if !storable(id) {
		return nobody(id)
	}
	var verdict, status int16
	var rev int64
	args := []any{id, d.Rev, d.Live, int64(d.At), s.db.value(codec.AppendDeletion(nil, d))}
	if err := s.call(ctx, "SELECT o_verdict, o_rev, o_status FROM ~.delete_instance", args, func([]int16) { verdict = deleted }, &verdict, &rev, &status); err != nil {
		return err
	}
	switch verdict {
	case deleted:
		return nil
	case deleteChanged:
		return fmt.Errorf("delete instance %s at revision %d, it is at %d: %w", id, d.Rev, rev, store.ErrConflict)
	case deleteLive:
		return fmt.Errorf("delete instance %s, which is %s: %w", id, codec.StatusOf(int64(status)), store.ErrLive)
	}
	return nobody(id)
}

// What the function that deletes answers.
const (
	deleted       = 0
	deleteChanged = 1
	deleteLive    = 3
)

// PurgeInstances deletes instances that ended long ago.
func (s *Store) PurgeInstances(ctx context.Context, before, at core.Time, limit int) (n int, err error) {
	d := store.Deletion{At: at}
	args := []any{int64(before), limit, int64(at), s.db.value(codec.AppendDeletion(nil, d))}
	if err := s.call(ctx, "SELECT ~.purge_instances", args, func(gone []int16) { n = len(gone) }, &n); err != nil {
		return 0, err
	}
	return n, nil
}

// feedGarbage is about how many rows of history one transaction counts that become garbage with what the feed
// forgets ("feed-garbage"): nobody else commits meanwhile.
const feedGarbage = 20_000

// PurgeFeed forgets what happened long ago. The history of instances that are still there
// stays: the feed only begins later.
func (s *Store) PurgeFeed(ctx context.Context, before core.Time, limit int) (n int, err error) {
	err = s.write(ctx, func(ns int32) error {
		for more := true; more && n < limit; {
			part := 0
			// Where an answer is lost, what was forgotten then is not counted.
			err := s.db.attempts(ctx, func(ctx context.Context) error {
				return s.db.one(ctx, "SELECT o_n, o_more FROM ~.purge_feed($1, $2, $3, $4)", []any{ns, int64(before), limit - n, feedGarbage}, &part, &more)
			})
			if err != nil {
				return err
			}
			n += part
		}
		return nil
	})
	return n, err
}
