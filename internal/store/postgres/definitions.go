package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// PutDefinitions stores definitions and makes them current.
func (s *Store) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) (out []store.Definition, err error) {
	for _, d := range ds {
		if err := d.CheckText(); err != nil {
			return nil, err
		}
	}
	err = s.transact(ctx, func(ctx context.Context, t *tx) (err error) {
		if err := t.exclusive(ctx); err != nil {
			return err
		}
		out = make([]store.Definition, len(ds))
		for i, d := range ds {
			if out[i], err = t.define(ctx, d.Definition, d.Schedule, move); err != nil {
				return err
			}
		}
		return t.deployed(ctx)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// deployed counts a change of the definitions, for other nodes to see.
func (t *tx) deployed(ctx context.Context) error {
	_, err := t.do(ctx, "UPDATE ~.namespaces SET deployments = deployments + 1 WHERE ns = $1", t.ns)
	return err
}

func (t *tx) define(ctx context.Context, d store.Definition, sched *store.Schedule, move bool) (out store.Definition, err error) {
	old, err := t.definition(ctx, "a.id = $2 AND a.version = $3", d.ID, d.Version)
	if errors.Is(err, store.ErrDamaged) { // what is stored now takes its place
		old = d
		err = t.one(ctx, "SELECT digest FROM ~.aliases WHERE ns = $1 AND id = $2 AND version = $3", []any{t.ns, d.ID, d.Version}, &old.Digest)
	}
	known := err == nil
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return out, err
	case old.Digest == d.Digest:
		d.Deployed = old.Deployed
	case !move:
		return out, &store.ContentError{ID: d.ID, Version: d.Version}
	}
	info, err := codec.AliasInfo(d)
	if err != nil {
		return out, err
	}
	content, err := codec.ContentInfo(d)
	if err != nil {
		return out, err
	}
	edition := codec.EditionOf(d.Program)
	if err := t.dropDamaged(ctx, d.Digest, edition); err != nil {
		return out, err
	}
	if _, err := t.do(ctx, "INSERT INTO ~.contents (ns, digest, edition, info, program, source) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING", t.ns, d.Digest, edition, content, list(d.Program), d.Source); err != nil {
		return out, err
	}
	if _, err := t.do(ctx, "UPDATE ~.aliases SET current = false WHERE ns = $1 AND id = $2 AND current", t.ns, d.ID); err != nil {
		return out, err
	}
	if known {
		_, err = t.do(ctx, "UPDATE ~.aliases SET current = true, digest = $4, edition = $5, info = $6, source = $7 WHERE ns = $1 AND id = $2 AND version = $3",
			t.ns, d.ID, d.Version, d.Digest, edition, info, d.Source)
	} else {
		seq := int64(0)
		if seq, err = t.number(ctx); err == nil {
			_, err = t.do(ctx, "INSERT INTO ~.aliases (ns, id, version, seq, current, digest, edition, info, source) VALUES ($1, $2, $3, $4, true, $5, $6, $7, $8)", t.ns, d.ID, d.Version, seq, d.Digest, edition, info, d.Source)
		}
	}
	if err != nil {
		return out, err
	}
	if err := t.supersede(ctx, d.ID, d.Digest); err != nil {
		return out, err
	}
	if err := t.reschedule(ctx, d.ID, sched); err != nil {
		return out, err
	}
	return t.definition(ctx, "a.id = $2 AND a.version = $3", d.ID, d.Version)
}

// dropDamaged removes a content that cannot be read.
func (t *tx) dropDamaged(ctx context.Context, digest string, edition int64) error {
	err := t.each(ctx, "SELECT digest, info, program, source FROM ~.contents WHERE ns = $1 AND digest = $2 AND edition = $3", []any{t.ns, digest, edition}, func(r pgx.Rows) error {
		_, err := readContent(r)
		return err
	})
	if errors.Is(err, store.ErrDamaged) {
		_, err = t.do(ctx, "DELETE FROM ~.contents WHERE ns = $1 AND digest = $2 AND edition = $3", t.ns, digest, edition)
	}
	return err
}

// supersede ends the gatherings of a definition that are of another content than the current
// one; "": of any.
func (t *tx) supersede(ctx context.Context, definition, digest string) error {
	ver, err := t.number(ctx)
	if err == nil {
		_, err = t.do(ctx, "UPDATE ~.gatherings SET until = 0, ver = $4 WHERE ns = $1 AND definition = $2 AND digest <> $3 AND until <> 0", t.ns, definition, digest, ver)
	}
	return err
}

// reschedule replaces the schedule of a definition, unless it is of the same content.
func (t *tx) reschedule(ctx context.Context, id string, sched *store.Schedule) (err error) {
	if sched == nil {
		_, err = t.do(ctx, "DELETE FROM ~.schedules WHERE ns = $1 AND definition = $2", t.ns, id)
		return err
	}
	_, err = t.do(ctx, "INSERT INTO ~.schedules AS s (ns, definition, digest, next) VALUES ($1, $2, $3, $4) "+
		"ON CONFLICT (ns, definition) DO UPDATE SET digest = excluded.digest, next = excluded.next WHERE s.digest <> excluded.digest",
		t.ns, id, sched.Digest, int64(sched.Next))
	return err
}

// Advance moves a schedule to its next fire time.
func (s *Store) Advance(ctx context.Context, was store.Schedule, next *core.Time, fires string) error {
	moved := false
	if storable(was.Definition, was.Digest) {
		err := s.call(ctx, "SELECT ~.advance_schedule(p_ns => @ns, p_token => @token, p_definition => @definition, p_digest => @digest, "+
			"p_from => @from, p_was => @was, p_next => @next, p_fires => @fires)",
			pgx.NamedArgs{
				"definition": was.Definition, "digest": was.Digest, "from": int64(was.Next), "was": was.Fires, "next": (*int64)(next), "fires": fires,
			}, func([]int16) { moved = true }, &moved)
		if err != nil {
			return err
		}
	}
	if !moved {
		return fmt.Errorf("schedule of %s: %w", was.Definition, store.ErrConflict)
	}
	return nil
}

const definitionQuery = "SELECT a.id, a.version, a.digest, a.info, a.source, a.current, a.seq, c.info, c.program FROM ~.aliases a JOIN ~.contents c ON c.ns = a.ns AND c.digest = a.digest AND c.edition = a.edition WHERE a.ns = $1 AND "

func readDefinition(r pgx.Rows) (d store.Definition, seq int64, err error) {
	var a codec.Alias
	var c codec.Content
	current := false
	if err := r.Scan(&a.ID, &a.Version, &a.Digest, &a.Info, &a.Source, &current, &seq, &c.Info, &c.Program); err != nil {
		return d, 0, err
	}
	c.Digest = a.Digest
	if d, err = codec.DecodeAlias(a); err == nil {
		err = codec.CheckProgram(c)
	}
	if err != nil {
		return d, 0, err
	}
	if len(c.Program) > 0 {
		d.Program = c.Program
	}
	d.Current = current
	return d, seq, nil
}

// readContent reads a definition of its content alone.
func readContent(r pgx.Rows) (store.Definition, error) {
	var c codec.Content
	var source []byte
	if err := r.Scan(&c.Digest, &c.Info, &c.Program, &source); err != nil {
		return store.Definition{}, err
	}
	return codec.DecodeContent(c, source)
}

// definition finds the first one of a query.
func (db *DB) definition(ctx context.Context, q querier, text string, args []any, read func(pgx.Rows) (store.Definition, error)) (d store.Definition, err error) {
	found := false
	err = db.each(ctx, q, text, args, func(r pgx.Rows) (err error) {
		if !found {
			d, err = read(r)
			found = true
		}
		return err
	})
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return d, err
}

func (t *tx) definition(ctx context.Context, where string, args ...any) (store.Definition, error) {
	return t.db.definition(ctx, t.Tx, definitionQuery+where, append([]any{t.ns}, args...), readAlias)
}

func readAlias(r pgx.Rows) (store.Definition, error) {
	d, _, err := readDefinition(r)
	return d, err
}

// Definition finds a definition by alias.
func (s *Store) Definition(ctx context.Context, id, version string) (d store.Definition, err error) {
	err = s.ask(ctx, func(ns int32) error {
		where, args := "a.id = $2 AND a.current", []any{ns, id}
		if version != "" {
			where, args = "a.id = $2 AND a.version = $3", append(args, version)
		}
		if err = store.ErrNotFound; storable(id, version) {
			d, err = s.db.definition(ctx, s.db.pool, definitionQuery+where, args, readAlias)
		}
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("definition %s version %q: %w", id, version, err)
		}
		return err
	})
	return d, err
}

// Content finds a definition by digest: the first that was stored with it.
func (s *Store) Content(ctx context.Context, digest string) (d store.Definition, err error) {
	err = s.ask(ctx, func(ns int32) error {
		if err = store.ErrNotFound; storable(digest) {
			d, err = s.db.definition(ctx, s.db.pool, "SELECT digest, info, program, source FROM ~.contents WHERE ns = $1 AND digest = $2 ORDER BY edition LIMIT 1", []any{ns, digest}, readContent)
		}
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("definition with digest %s: %w", digest, err)
		}
		return err
	})
	return d, err
}

// ListDefinitions lists all versions.
func (s *Store) ListDefinitions(ctx context.Context) ([]store.Definition, error) {
	type version struct {
		store.Definition
		seq int64
	}
	var versions []version
	var damaged store.DamagedError
	err := s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, definitionQuery+"true", []any{ns}, func(r pgx.Rows) error {
			d, seq, err := readDefinition(r)
			return keep(&versions, &damaged, version{d, seq}, 0, "", err)
		})
	})
	slices.SortFunc(versions, func(a, b version) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.seq, b.seq)) })
	var out []store.Definition
	for _, v := range versions {
		out = append(out, v.Definition)
	}
	return out, cmp.Or(err, damaged.Err())
}

// DeleteDefinition removes an alias.
func (s *Store) DeleteDefinition(ctx context.Context, id, version string, next func(store.Definition) *store.Schedule) (heir *store.Definition, err error) {
	err = s.transact(ctx, func(ctx context.Context, t *tx) (err error) {
		heir = nil
		if err := t.exclusive(ctx); err != nil {
			return err
		}
		if heir, err = t.undefine(ctx, id, version, next); err != nil {
			return err
		}
		return t.deployed(ctx)
	})
	if err != nil {
		return nil, err
	}
	return heir, nil
}

func (t *tx) undefine(ctx context.Context, id, version string, next func(store.Definition) *store.Schedule) (*store.Definition, error) {
	if !storable(id, version) {
		return nil, fmt.Errorf("definition %s version %q: %w", id, version, store.ErrNotFound)
	}
	d, err := t.definition(ctx, "a.id = $2 AND a.version = $3", id, version)
	if err != nil {
		return nil, fmt.Errorf("definition %s version %q: %w", id, version, err)
	}
	used := int64(0)
	err = t.one(ctx, "SELECT coalesce(sum(c.n), 0)::bigint FROM ~.kinds k JOIN "+counted+" c ON c.kind = k.kind WHERE k.ns = $1 AND k.digest = $2", []any{t.ns, d.Digest}, &used)
	if err != nil {
		return nil, err
	}
	if used > 0 {
		return nil, &store.InUseError{Definition: id, Version: version, Instances: used}
	}
	if _, err := t.do(ctx, "DELETE FROM ~.aliases WHERE ns = $1 AND id = $2 AND version = $3", t.ns, id, version); err != nil {
		return nil, err
	}
	var heir *store.Definition
	if d.Current {
		if heir, err = t.inherit(ctx, id, next); err != nil {
			return nil, err
		}
	}
	_, err = t.do(ctx, "DELETE FROM ~.contents WHERE ns = $1 AND digest = $2 AND NOT EXISTS (SELECT 1 FROM ~.aliases WHERE ns = $1 AND digest = $2)", t.ns, d.Digest)
	return heir, err
}

// inherit makes the version current that was deployed last, if there is one.
func (t *tx) inherit(ctx context.Context, id string, next func(store.Definition) *store.Schedule) (*store.Definition, error) {
	if err := t.reschedule(ctx, id, nil); err != nil {
		return nil, err
	}
	heir, err := t.definition(ctx, "a.id = $2 ORDER BY a.seq DESC LIMIT 1", id)
	if errors.Is(err, store.ErrNotFound) {
		if _, err := t.do(ctx, "DELETE FROM ~.policies WHERE ns = $1 AND definition = $2", t.ns, id); err != nil {
			return nil, err
		}
		return nil, t.supersede(ctx, id, "")
	}
	if err != nil {
		return nil, err
	}
	if _, err := t.do(ctx, "UPDATE ~.aliases SET current = true WHERE ns = $1 AND id = $2 AND version = $3", t.ns, id, heir.Version); err != nil {
		return nil, err
	}
	heir.Current = true
	if err := t.supersede(ctx, id, heir.Digest); err != nil {
		return nil, err
	}
	return &heir, t.reschedule(ctx, id, next(heir))
}
