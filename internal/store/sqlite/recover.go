package sqlite

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// recover reads from the file what is kept in memory: the instances that have work to do, and the open
// subscriptions.
func (w *writer) recover() error {
	db, c := w.db, w.conn
	w.heads.clear()
	clear(w.contents)
	seq, _, err := c.number("SELECT value FROM meta WHERE name = 'seq'")
	if err != nil {
		return err
	}
	w.seq = max(w.seq, seq) // numbers that were granted and not used are skipped
	w.granted = seq
	db.mu.Lock()
	defer db.mu.Unlock()
	db.kinds = newKinds()
	err = c.query("SELECT kind, ns, definition, version, digest FROM kinds", func(r row) error {
		db.kinds.add(r.ColumnInt64(0), kind{r.ColumnInt64(1), r.ColumnText(2), r.ColumnText(3), r.ColumnText(4)})
		return nil
	})
	if err != nil {
		return err
	}
	err = c.query("SELECT ns, kind, status, n FROM counts WHERE n <> 0", func(r row) error {
		db.kinds.count(countKey{r.ColumnInt64(0), r.ColumnInt64(1), r.ColumnInt64(2)}, r.ColumnInt64(3))
		return nil
	})
	if err != nil {
		return err
	}
	if err := db.lanes.recover(c); err != nil {
		return err
	}
	return db.recoverSpaces(c)
}

// recoverSpaces refills all spaces. Spaces that stores point to are kept and emptied.
func (db *DB) recoverSpaces(c *conn) error {
	byNS := map[int64]*space{}
	for name, sp := range db.spaces {
		*sp = *newSpace(sp.ns, name)
	}
	err := c.query("SELECT ns, name FROM namespaces", func(r row) error {
		ns, name := r.ColumnInt64(0), r.ColumnText(1)
		sp := db.spaces[name]
		if sp == nil {
			sp = newSpace(ns, name)
			db.spaces[name] = sp
		}
		if sp.ns != ns {
			return fmt.Errorf("namespace %q has the numbers %d and %d", name, sp.ns, ns)
		}
		sp.stored = true
		db.lastNS = max(db.lastNS, ns)
		byNS[ns] = sp
		return nil
	})
	if err != nil {
		return err
	}
	for _, sp := range byNS {
		if err := sp.recover(c); err != nil {
			return fmt.Errorf("namespace %q: %w", sp.name, err)
		}
	}
	return nil
}

func (sp *space) recover(c *conn) error {
	// Instances with messages become ready in order of their oldest message, then those whose last
	// step ran out of fuel.
	err := c.query(
		"SELECT b.inst, i.id, i.aside, count(*) FROM inbox b CROSS JOIN instances i ON i.seq = b.inst WHERE b.ns = ? GROUP BY b.inst ORDER BY min(b.seq)",
		func(r row) error {
			w := sp.entry(r.ColumnInt64(0), r.ColumnText(1))
			w.aside, w.messages = !r.ColumnIsNull(2), int(r.ColumnInt64(3))
			sp.file(w)
			return nil
		}, sp.ns)
	if err != nil {
		return err
	}
	err = c.query("SELECT seq, id, aside FROM instances WHERE ns = ? AND more IS NOT NULL ORDER BY updated, seq", func(r row) error {
		w := sp.entry(r.ColumnInt64(0), r.ColumnText(1))
		w.aside, w.more = !r.ColumnIsNull(2), true
		sp.file(w)
		return nil
	}, sp.ns)
	if err != nil {
		return err
	}
	wake, ok, err := c.number("SELECT min(wake) FROM instances WHERE ns = ? AND wake IS NOT NULL", sp.ns)
	if err != nil {
		return err
	}
	if ok {
		sp.wakes, sp.wakeExact = core.Time(wake), true
	}
	until, ok, err := c.number("SELECT min(until) FROM events WHERE ns = ?", sp.ns)
	if err != nil {
		return err
	}
	if ok {
		sp.purgeAt = core.Time(until)
	}
	for rows, known := range map[string]*maybe{
		"emits WHERE ns = ? AND sink = 0": &sp.emits, "emits WHERE ns = ? AND sink = 1": &sp.sends,
		"subs WHERE ns = ?": &sp.unchecked, "events WHERE ns = ?": &sp.again, "gatherings WHERE ns = ?": &sp.gatherings,
	} {
		n, _, err := c.number("SELECT EXISTS (SELECT 1 FROM "+rows+")", sp.ns)
		if err != nil {
			return err
		}
		if n != 0 {
			known.set()
		}
	}
	kept, _, err := c.number("SELECT EXISTS (SELECT 1 FROM kept_for WHERE ns = ?)", sp.ns)
	if err != nil {
		return err
	}
	sp.keptFor = kept != 0
	err = c.query("SELECT definition, digest, next, fires FROM schedules WHERE ns = ?", func(r row) error {
		s := store.Schedule{Definition: r.ColumnText(0), Digest: r.ColumnText(1), Next: core.Time(r.ColumnInt64(2)), Fires: r.ColumnText(3)}
		sp.schedules[s.Definition] = s
		return nil
	}, sp.ns)
	if err != nil {
		return err
	}
	err = c.query("SELECT type, places FROM shapes WHERE ns = ?", func(r row) error {
		s, err := codec.ParseShape(r.ColumnText(1))
		sp.shapes[r.ColumnText(0)] = append(sp.shapes[r.ColumnText(0)], s)
		return err
	}, sp.ns)
	if err != nil {
		return err
	}
	return sp.recoverWaits(c)
}

// recoverWaits reads where the open subscriptions are.
func (sp *space) recoverWaits(c *conn) error {
	lists := map[string][]wait{}
	typ, text := "", []byte(nil)
	err := c.query("SELECT match, inst, ticket, type FROM subs WHERE ns = ? AND busy = 0", func(r row) error {
		text = slices.Grow(text[:0], r.ColumnLen(3))[:r.ColumnLen(3)]
		if r.ColumnBytes(3, text); string(text) != typ { // without a new string for each
			typ = string(text)
		}
		lists[typ] = append(lists[typ], wait{r.ColumnInt64(0), r.ColumnInt64(1), r.ColumnInt64(2)})
		return nil
	}, sp.ns)
	for typ, list := range lists {
		sp.waits[typ] = waitsOf(list)
	}
	return err
}
