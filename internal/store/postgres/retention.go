package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

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
	err := s.call(ctx, "SELECT o_verdict, o_rev, o_status FROM ~.delete_instance(p_ns => @ns, p_token => @token, "+
		"p_id => @id, p_rev => @rev, p_live => @live, p_at => @at, p_records => @records)",
		pgx.NamedArgs{"id": id, "rev": d.Rev, "live": d.Live, "at": int64(d.At), "records": codec.AppendDeletion(nil, d)},
		func([]int16) { verdict = deleted }, &verdict, &rev, &status)
	if err != nil {
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

// The verdicts of the SQL function delete_instance.
const (
	deleted       = 0
	deleteChanged = 1
	deleteLive    = 3
)

// PurgeInstances deletes instances that ended long ago.
func (s *Store) PurgeInstances(ctx context.Context, before, at core.Time, limit int) (n int, err error) {
	d := store.Deletion{At: at}
	err = s.call(ctx, "SELECT ~.purge_instances(p_ns => @ns, p_token => @token, "+
		"p_before => @before, p_limit => @limit, p_at => @at, p_records => @records)",
		pgx.NamedArgs{"before": int64(before), "limit": limit, "at": int64(at), "records": codec.AppendDeletion(nil, d)},
		func(gone []int16) { n = len(gone) }, &n)
	if err != nil {
		return 0, err
	}
	return n, nil
}

// feedGarbage limits, roughly, how many rows of history one transaction of PurgeFeed turns into garbage
// ("feed-garbage"). It must be short: nothing else commits while it runs.
const feedGarbage = 20_000

// PurgeFeed forgets the oldest part of the feed. The history of instances that still exist
// stays: the feed only begins later.
func (s *Store) PurgeFeed(ctx context.Context, before core.Time, limit int) (n int, err error) {
	err = s.write(ctx, func(ns int32) error {
		for more := true; more && n < limit; {
			part := 0
			// If an answer is lost, n does not count what that attempt forgot.
			err := s.db.attempts(ctx, func(ctx context.Context) error {
				args := pgx.NamedArgs{"ns": ns, "before": int64(before), "limit": limit - n, "rows": feedGarbage}
				return s.db.named(ctx, "SELECT o_n, o_more FROM ~.purge_feed("+
					"p_ns => @ns, p_before => @before, p_limit => @limit, p_rows => @rows)", args, &part, &more)
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
