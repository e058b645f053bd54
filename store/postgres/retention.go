package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/codec"
)

// DeleteInstance removes an instance.
func (s *Store) DeleteInstance(ctx context.Context, id string, d store.Deletion) error {
	if !storable(id) {
		return nobody(id)
	}
	return s.transact(ctx, func(ctx context.Context, t *tx) error {
		found := false
		var rev int64
		var status int16
		err := t.each(ctx, "SELECT rev, status FROM ~.instances WHERE ns = $1 AND id = $2 FOR UPDATE", []any{t.ns, id}, func(r pgx.Rows) error {
			found = true
			return r.Scan(&rev, &status)
		})
		switch {
		case err != nil:
			return err
		case !found:
			return nobody(id)
		case d.Rev != 0 && d.Rev != rev:
			return fmt.Errorf("delete instance %s at revision %d, it is at %d: %w", id, d.Rev, rev, store.ErrConflict)
		case !d.Live && status < firstFinal:
			return fmt.Errorf("delete instance %s, which is %s: %w", id, codec.StatusOf(int64(status)), store.ErrLive)
		}
		return t.remove(ctx, []string{id}, d)
	})
}

// remove forgets instances whose rows are locked.
func (t *tx) remove(ctx context.Context, ids []string, d store.Deletion) error {
	_, err := t.do(ctx, "SELECT ~.remove_instances($1, $2, $3, $4)", t.ns, ids, int64(d.At), codec.AppendRecords(nil, []core.Record{d.Record()}))
	return err
}

// PurgeInstances deletes instances that ended long ago.
func (s *Store) PurgeInstances(ctx context.Context, before, at core.Time, limit int) (n int, err error) {
	err = s.transact(ctx, func(ctx context.Context, t *tx) error {
		var ids []string
		// Others may lock rows in the order of ids: what is taken is left for later.
		err := t.each(ctx, "SELECT i.id FROM ~.instances i WHERE i.ns = $1 AND i.status >= 4 AND i.ended < $2 AND "+
			"NOT EXISTS (SELECT 1 FROM ~.inbox b WHERE b.ns = i.ns AND b.inst = i.seq) ORDER BY i.ended, i.seq LIMIT $3 FOR UPDATE OF i SKIP LOCKED",
			[]any{t.ns, int64(before), limit}, func(r pgx.Rows) error {
				id := ""
				err := r.Scan(&id)
				ids = append(ids, id)
				return err
			})
		n = len(ids)
		if err != nil || n == 0 {
			return err
		}
		return t.remove(ctx, ids, store.Deletion{At: at})
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// PurgeFeed forgets what happened long ago. The history of instances that are still there
// stays: the feed only begins later.
func (s *Store) PurgeFeed(ctx context.Context, before core.Time, limit int) (n int, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.retry(ctx, func(ctx context.Context) error {
			return s.db.one(ctx, "SELECT ~.purge_feed($1, $2, $3)", []any{ns, int64(before), limit}, &n)
		})
	})
	return n, err
}
