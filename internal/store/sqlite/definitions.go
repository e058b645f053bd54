package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// PutDefinitions stores definitions and makes them current.
func (s *Store) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) (out []store.Definition, err error) {
	editions, bytes := make([]int64, len(ds)), 0
	for i, d := range ds {
		if err := d.CheckText(); err != nil {
			return nil, err
		}
		editions[i] = codec.EditionOf(d.Program)
		bytes += len(d.Program) + len(d.Source)
	}
	err = s.db.writer.submit(ctx, bytes, func(t *tx) error {
		out = make([]store.Definition, len(ds))
		for i, d := range ds {
			if out[i], err = t.define(s.space, d.Definition, editions[i], d.Schedule, move); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *tx) define(sp *space, d store.Definition, edition int64, sched *store.Schedule, move bool) (store.Definition, error) {
	old, known, err := t.conn.definition("WHERE a.ns = ? AND a.id = ? AND a.version = ?", sp.ns, d.ID, d.Version)
	if errors.Is(err, store.ErrDamaged) { // what is stored now takes its place
		old, known, err = d, true, nil
		_, err = t.conn.one("SELECT digest FROM aliases WHERE ns = ? AND id = ? AND version = ?", func(r row) error {
			old.Digest = r.ColumnText(0)
			return nil
		}, sp.ns, d.ID, d.Version)
	}
	if err != nil {
		return store.Definition{}, err
	}
	switch {
	case !known:
	case old.Digest == d.Digest:
		d.Deployed = old.Deployed
	case !move:
		return store.Definition{}, &store.ContentError{ID: d.ID, Version: d.Version}
	}
	if err := t.use(sp); err != nil {
		return store.Definition{}, err
	}
	info, err := codec.AliasInfo(d)
	if err != nil {
		return store.Definition{}, err
	}
	content, err := codec.ContentInfo(d)
	if err != nil {
		return store.Definition{}, err
	}
	program := d.Program
	if program == nil {
		program = []byte{}
	}
	if err := t.dropDamaged(sp, d.Digest, edition); err != nil {
		return store.Definition{}, err
	}
	if _, err := t.exec("INSERT OR IGNORE INTO contents (ns, digest, edition, info, program, source) VALUES (?, ?, ?, ?, ?, ?)", sp.ns, d.Digest, edition, content, program, d.Source); err != nil {
		return store.Definition{}, err
	}
	if _, err := t.exec("UPDATE aliases SET current = 0 WHERE ns = ? AND id = ? AND current = 1", sp.ns, d.ID); err != nil {
		return store.Definition{}, err
	}
	if known {
		_, err = t.exec("UPDATE aliases SET current = 1, digest = ?, edition = ?, info = ?, source = ? WHERE ns = ? AND id = ? AND version = ?",
			d.Digest, edition, info, d.Source, sp.ns, d.ID, d.Version)
	} else {
		seq := int64(0)
		if seq, err = t.next(); err == nil {
			_, err = t.exec("INSERT INTO aliases (ns, id, version, seq, current, digest, edition, info, source) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?)", sp.ns, d.ID, d.Version, seq, d.Digest, edition, info, d.Source)
		}
	}
	if err != nil {
		return store.Definition{}, err
	}
	if err := t.supersede(sp, d.ID, d.Digest); err != nil {
		return store.Definition{}, err
	}
	if err := t.reschedule(sp, d.ID, sched); err != nil {
		return store.Definition{}, err
	}
	out, _, err := t.conn.definition("WHERE a.ns = ? AND a.id = ? AND a.version = ?", sp.ns, d.ID, d.Version)
	return out, err
}

// dropDamaged removes a content that cannot be read.
func (t *tx) dropDamaged(sp *space, digest string, edition int64) error {
	_, err := t.conn.one("SELECT info, program, source FROM contents WHERE ns = ? AND digest = ? AND edition = ?", func(r row) error {
		_, err := codec.DecodeContent(codec.Content{Digest: digest, Info: r.ColumnText(0), Program: blob(r, 1)}, blobOrNil(r, 2))
		return err
	}, sp.ns, digest, edition)
	if errors.Is(err, store.ErrDamaged) {
		_, err = t.exec("DELETE FROM contents WHERE ns = ? AND digest = ? AND edition = ?", sp.ns, digest, edition)
	}
	return err
}

// reschedule replaces the schedule of a definition, unless it is of the same content.
func (t *tx) reschedule(sp *space, id string, sched *store.Schedule) error {
	old, scheduled, err := t.schedule(sp, id)
	if err != nil {
		return err
	}
	switch {
	case sched == nil && scheduled:
		return t.unschedule(sp, id)
	case sched != nil && (!scheduled || old.Digest != sched.Digest):
		s := *sched
		s.Fires = old.Fires
		_, err := t.exec("INSERT OR REPLACE INTO schedules (ns, definition, digest, next, fires) VALUES (?, ?, ?, ?, ?)", sp.ns, id, s.Digest, int64(s.Next), s.Fires)
		t.then(func() { sp.schedules[id] = s })
		return err
	}
	return nil
}

// schedule reads the schedule of a definition.
func (t *tx) schedule(sp *space, id string) (s store.Schedule, ok bool, err error) {
	ok, err = t.conn.one("SELECT digest, next, fires FROM schedules WHERE ns = ? AND definition = ?", func(r row) error {
		s = store.Schedule{Definition: id, Digest: r.ColumnText(0), Next: core.Time(r.ColumnInt64(1)), Fires: r.ColumnText(2)}
		return nil
	}, sp.ns, id)
	return s, ok, err
}

func (t *tx) unschedule(sp *space, id string) error {
	_, err := t.exec("DELETE FROM schedules WHERE ns = ? AND definition = ?", sp.ns, id)
	t.then(func() { delete(sp.schedules, id) })
	return err
}

// Advance moves a schedule to its next fire time.
func (s *Store) Advance(ctx context.Context, was store.Schedule, next *core.Time, fires string) error {
	return s.db.writer.submit(ctx, len(fires), func(t *tx) error {
		sp, id := s.space, was.Definition
		now, ok, err := t.schedule(sp, id)
		if err != nil {
			return err
		}
		if !ok || now != was {
			return fmt.Errorf("schedule of %s: %w", id, store.ErrConflict)
		}
		if next == nil {
			return t.unschedule(sp, id)
		}
		now.Next, now.Fires = *next, fires
		_, err = t.exec("UPDATE schedules SET next = ?, fires = ? WHERE ns = ? AND definition = ?", int64(now.Next), fires, sp.ns, id)
		t.then(func() { sp.schedules[id] = now })
		return err
	})
}

const definitionColumns = "SELECT a.id, a.version, a.digest, a.info, a.source, a.current, c.info, c.program FROM aliases a " +
	"CROSS JOIN contents c ON c.ns = a.ns AND c.digest = a.digest AND c.edition = a.edition "

func readDefinition(r row) (store.Definition, error) {
	d, err := codec.DecodeAlias(codec.Alias{ID: r.ColumnText(0), Version: r.ColumnText(1), Digest: r.ColumnText(2), Info: r.ColumnText(3), Source: blobOrNil(r, 4)})
	c := codec.Content{Digest: r.ColumnText(2), Info: r.ColumnText(6), Program: blob(r, 7)}
	if err == nil {
		err = codec.CheckProgram(c)
	}
	if err != nil {
		return store.Definition{ID: r.ColumnText(0), Version: r.ColumnText(1)}, err
	}
	if len(c.Program) > 0 {
		d.Program = c.Program
	}
	d.Current = r.ColumnInt64(5) != 0
	return d, nil
}

func blobOrNil(r row, column int) []byte {
	if r.ColumnIsNull(column) {
		return nil
	}
	return blob(r, column)
}

func (c *conn) definition(where string, args ...any) (d store.Definition, ok bool, err error) {
	ok, err = c.one(definitionColumns+where, func(r row) (err error) {
		d, err = readDefinition(r)
		return err
	}, args...)
	return d, ok, err
}

// Definition finds a definition by alias.
func (s *Store) Definition(ctx context.Context, id, version string) (d store.Definition, err error) {
	found := false
	err = s.db.read(ctx, func(c *conn) (err error) {
		if version == "" {
			d, found, err = c.definition("WHERE a.ns = ? AND a.id = ? AND a.current = 1", s.ns, id)
		} else {
			d, found, err = c.definition("WHERE a.ns = ? AND a.id = ? AND a.version = ?", s.ns, id, version)
		}
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("definition %s version %q: %w", id, version, store.ErrNotFound)
	}
	return d, err
}

// Content finds a definition by digest: the first that was stored with it.
func (s *Store) Content(ctx context.Context, digest string) (d store.Definition, err error) {
	found := false
	err = s.db.read(ctx, func(c *conn) (err error) {
		found, err = c.one("SELECT info, program, source FROM contents WHERE ns = ? AND digest = ? ORDER BY edition LIMIT 1", func(r row) (err error) {
			d, err = codec.DecodeContent(codec.Content{Digest: digest, Info: r.ColumnText(0), Program: blob(r, 1)}, blobOrNil(r, 2))
			return err
		}, s.ns, digest)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("definition with digest %s: %w", digest, store.ErrNotFound)
	}
	return d, err
}

// ListDefinitions lists all versions.
func (s *Store) ListDefinitions(ctx context.Context) (out []store.Definition, err error) {
	var damaged store.DamagedError
	err = s.db.read(ctx, func(c *conn) error {
		return c.query(definitionColumns+"WHERE a.ns = ? ORDER BY a.id, a.seq", func(r row) error {
			d, err := readDefinition(r)
			if err != nil {
				damaged.Add(0, "", err)
				return nil
			}
			out = append(out, d)
			return nil
		}, s.ns)
	})
	return out, cmp.Or(err, damaged.Err())
}

// DeleteDefinition removes an alias.
func (s *Store) DeleteDefinition(ctx context.Context, id, version string, next func(store.Definition) *store.Schedule) (heir *store.Definition, err error) {
	err = s.db.writer.submit(ctx, 0, func(t *tx) (err error) {
		heir, err = t.undefine(s.space, id, version, next)
		return err
	})
	return heir, err
}

func (t *tx) undefine(sp *space, id, version string, next func(store.Definition) *store.Schedule) (*store.Definition, error) {
	d, ok, err := t.conn.definition("WHERE a.ns = ? AND a.id = ? AND a.version = ?", sp.ns, id, version)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("definition %s version %q: %w", id, version, store.ErrNotFound)
	}
	used, _, err := t.conn.number("SELECT sum(n) FROM kinds k CROSS JOIN counts c ON c.ns = k.ns AND c.kind = k.kind WHERE k.ns = ? AND k.digest = ?", sp.ns, d.Digest)
	if err != nil {
		return nil, err
	}
	for key, n := range t.counts { // what this transaction has not written yet
		if key.ns == sp.ns && t.kindRow(key.kind).digest == d.Digest {
			used += n
		}
	}
	if used > 0 {
		return nil, &store.InUseError{Definition: id, Version: version, Instances: used}
	}
	if _, err := t.exec("DELETE FROM aliases WHERE ns = ? AND id = ? AND version = ?", sp.ns, id, version); err != nil {
		return nil, err
	}
	var heir *store.Definition
	if d.Current {
		if heir, err = t.inherit(sp, id, next); err != nil {
			return nil, err
		}
	}
	others, _, err := t.conn.number("SELECT EXISTS (SELECT 1 FROM aliases WHERE ns = ? AND digest = ?)", sp.ns, d.Digest)
	if err != nil || others > 0 {
		return heir, err
	}
	delete(t.w.contents, digestKey{sp.ns, d.Digest})
	_, err = t.exec("DELETE FROM contents WHERE ns = ? AND digest = ?", sp.ns, d.Digest)
	return heir, err
}

// inherit makes the version current that was deployed last, if there is one.
func (t *tx) inherit(sp *space, id string, next func(store.Definition) *store.Schedule) (*store.Definition, error) {
	heir, ok, err := t.conn.definition("WHERE a.ns = ? AND a.id = ? AND a.seq = (SELECT max(seq) FROM aliases WHERE ns = ? AND id = ?)", sp.ns, id, sp.ns, id)
	if err != nil {
		return nil, err
	}
	if err := t.unschedule(sp, id); err != nil {
		return nil, err
	}
	if !ok {
		if _, err := t.exec("DELETE FROM policies WHERE ns = ? AND definition = ?", sp.ns, id); err != nil {
			return nil, err
		}
		return nil, t.supersede(sp, id, "")
	}
	if _, err := t.exec("UPDATE aliases SET current = 1 WHERE ns = ? AND id = ? AND version = ?", sp.ns, id, heir.Version); err != nil {
		return nil, err
	}
	heir.Current = true
	if err := t.supersede(sp, id, heir.Digest); err != nil {
		return nil, err
	}
	return &heir, t.reschedule(sp, id, next(heir))
}
