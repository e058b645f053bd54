package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// DeleteInstance removes an instance.
func (s *Store) DeleteInstance(ctx context.Context, id string, d store.Deletion) error {
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		h, err := t.head(s.space, id)
		switch {
		case err != nil:
			return err
		case h == nil:
			return fmt.Errorf("instance %s: %w", id, store.ErrNotFound)
		case d.Rev != 0 && d.Rev != h.rev:
			return fmt.Errorf("delete instance %s at revision %d, it is at %d: %w", id, d.Rev, h.rev, store.ErrConflict)
		case !d.Live && !h.final():
			return fmt.Errorf("delete instance %s: %w", id, store.ErrLive)
		}
		return t.remove(s.space, h, d)
	})
}

// remove forgets an instance, but for what the feed tells of it.
func (t *tx) remove(sp *space, h *head, d store.Deletion) error {
	t.changes++ // from here on the head is ahead of the file
	messages, err := t.conn.messages(sp.ns, h.seq, h.id)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	if h.damaged != nil { // then they are found by looking at everybody's
		for _, table := range []string{"owners", "labels"} {
			if _, err := t.exec("DELETE FROM "+table+" WHERE ns = ? AND inst = ?", sp.ns, h.seq); err != nil {
				return err
			}
		}
	}
	for _, m := range messages {
		if reply, ok := m.Input.(core.Reply); ok && m.Event != 0 {
			if err := t.refuse(sp, h, m.Event, reply.Ticket); err != nil {
				return err
			}
		}
	}
	if err := t.finish(sp, h); err != nil {
		return err
	}
	old := *h
	h.keys, h.found = nil, found{}
	if err := t.setOwner(sp, h, old.kind, old.keys, old.final()); err != nil {
		return err
	}
	if err := t.setFound(sp, h, &old); err != nil {
		return err
	}
	tables := []string{"inbox", "pages", "bulk"}
	if h.inRow {
		tables = tables[:1]
	}
	for _, table := range tables {
		if _, err := t.exec("DELETE FROM "+table+" WHERE ns = ? AND inst = ?", sp.ns, h.seq); err != nil {
			return err
		}
	}
	if _, err := t.exec("DELETE FROM instances WHERE seq = ?", h.seq); err != nil {
		return err
	}
	if h.last, err = t.next(); err != nil {
		return err
	}
	h.told++
	if err := t.tell(sp, h, old.last, d.At, codec.AppendDeletion(nil, d)); err != nil {
		return err
	}
	client := any(nil)
	if old.found.client != "" {
		client = old.found.client
	}
	if _, err := t.exec("INSERT INTO gone (inst, ns, id, definition, last, client) VALUES (?, ?, ?, ?, ?, ?)", h.seq, sp.ns, h.id, t.kindRow(h.kind).definition, h.last, client); err != nil {
		return err
	}
	t.count(sp.ns, h.kind, h.status, -1)
	t.countLane(h.lane, -1)
	t.w.heads.drop(headKey{sp.ns, h.id})
	seq, wake := h.seq, h.wake
	t.then(func() {
		sp.deleted(seq)
		sp.wakeGone(wake)
	})
	return nil
}

// forgetHistory drops the history of an instance from a position back.
func (t *tx) forgetHistory(last int64) error {
	for last != 0 {
		prev, _, err := t.conn.number("SELECT prev FROM history WHERE pos = ?", last)
		if err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM history WHERE pos = ?", last); err != nil {
			return err
		}
		last = prev
	}
	return nil
}

// PurgeInstances deletes instances that ended long ago.
func (s *Store) PurgeInstances(ctx context.Context, before, at core.Time, limit int) (n int, err error) {
	err = s.db.writer.submit(ctx, 0, func(t *tx) error {
		n = 0
		var ids []string
		err := t.conn.query(
			"SELECT id FROM instances i WHERE ns = ? AND status >= 4 AND ended < ? AND "+
				"NOT EXISTS (SELECT 1 FROM inbox b WHERE b.ns = i.ns AND b.inst = i.seq) ORDER BY ended, seq LIMIT ?",
			func(r row) error {
				ids = append(ids, r.ColumnText(0))
				return nil
			}, s.ns, int64(before), limit)
		if err != nil {
			return err
		}
		for _, id := range ids {
			h, err := t.head(s.space, id)
			if err != nil {
				return err
			}
			if err := t.remove(s.space, h, store.Deletion{At: at}); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// PurgeFeed forgets what happened long ago. The history of instances that are still
// there stays: the feed only begins later.
func (s *Store) PurgeFeed(ctx context.Context, before core.Time, limit int) (n int, err error) {
	err = s.db.writer.submit(ctx, 0, func(t *tx) error {
		n = 0
		oldest, _, err := t.conn.number("SELECT oldest FROM namespaces WHERE ns = ?", s.ns)
		if err != nil {
			return err
		}
		err = t.conn.query("SELECT pos, at FROM history WHERE pos > ? AND ns = ? ORDER BY pos LIMIT ?", func(r row) error {
			if core.Time(r.ColumnInt64(1)) >= before {
				return errEnough
			}
			oldest = r.ColumnInt64(0)
			n++
			return nil
		}, oldest, s.ns, limit)
		if err != nil && err != errEnough {
			return err
		}
		if n == 0 {
			return nil
		}
		if _, err := t.exec("UPDATE namespaces SET oldest = ? WHERE ns = ?", oldest, s.ns); err != nil {
			return err
		}
		return t.forgetGone(s.space, oldest)
	})
	return n, err
}

// forgetGone drops what is left of deleted instances that the feed does not tell of any
// more.
func (t *tx) forgetGone(sp *space, oldest int64) error {
	type gone struct{ inst, last int64 }
	var list []gone
	err := t.conn.query("SELECT inst, last FROM gone WHERE ns = ? AND last <= ?", func(r row) error {
		list = append(list, gone{r.ColumnInt64(0), r.ColumnInt64(1)})
		return nil
	}, sp.ns, oldest)
	if err != nil {
		return err
	}
	for _, g := range list {
		if err := t.forgetHistory(g.last); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM gone WHERE inst = ?", g.inst); err != nil {
			return err
		}
	}
	return nil
}
