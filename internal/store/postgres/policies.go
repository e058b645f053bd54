package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Policies lists what operators decided about definitions.
func (s *Store) Policies(ctx context.Context) (out []store.Policy, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, "SELECT definition, rev, data FROM ~.policies WHERE ns = $1", []any{ns}, func(r pgx.Rows) error {
			var p store.Policy
			err := r.Scan(&p.Definition, &p.Rev, &p.Data)
			out = append(out, p)
			return err
		})
	})
	slices.SortFunc(out, func(a, b store.Policy) int { return strings.Compare(a.Definition, b.Definition) })
	return out, err
}

// SetPolicy stores the next revision of a policy.
func (s *Store) SetPolicy(ctx context.Context, p store.Policy) error {
	if !storable(p.Definition) {
		return fmt.Errorf("definition %s: %w", p.Definition, store.ErrNotFound)
	}
	return s.transact(ctx, func(ctx context.Context, t *tx) error {
		if err := t.exclusive(ctx); err != nil {
			return err
		}
		if err := t.setPolicy(ctx, p); err != nil {
			return err
		}
		return t.deployed(ctx)
	})
}

func (t *tx) setPolicy(ctx context.Context, p store.Policy) error {
	defined := false
	if err := t.one(ctx, "SELECT EXISTS (SELECT 1 FROM ~.aliases WHERE ns = $1 AND id = $2)", []any{t.ns, p.Definition}, &defined); err != nil {
		return err
	}
	if !defined {
		return fmt.Errorf("definition %s: %w", p.Definition, store.ErrNotFound)
	}
	rev := int64(0)
	err := t.one(ctx, "SELECT rev FROM ~.policies WHERE ns = $1 AND definition = $2", []any{t.ns, p.Definition}, &rev)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return err
	case rev != p.Rev:
		return fmt.Errorf("policy of %s: %w", p.Definition, store.ErrConflict)
	}
	_, err = t.do(ctx, "INSERT INTO ~.policies (ns, definition, rev, data) VALUES ($1, $2, $3, $4) "+
		"ON CONFLICT (ns, definition) DO UPDATE SET rev = excluded.rev, data = excluded.data", t.ns, p.Definition, p.Rev+1, p.Data)
	return err
}

// Held lists the instances of a definition that are held. Those in quarantine, which are few, have the same
// mark in the table.
func (s *Store) Held(ctx context.Context, definition string, limit int) ([]string, error) {
	var found []store.Instance
	err := s.ask(ctx, func(ns int32) error {
		if !storable(definition) {
			return nil
		}
		query := "SELECT " + instanceFields + " FROM ~.kinds k JOIN ~.instances i ON i.kind = k.kind AND i.aside WHERE k.ns = $1 AND k.definition = $2 ORDER BY i.seq LIMIT $3"
		for most := limit; ; most *= 2 {
			found = nil
			rows := 0
			err := s.db.each(ctx, s.db.pool, query, []any{ns, definition, most}, func(r pgx.Rows) error {
				rows++
				in, err := readInstance(r)
				if err == nil && in.Held { // a damaged one is in quarantine before long
					found = append(found, in)
				}
				if errors.Is(err, store.ErrDamaged) {
					err = nil
				}
				return err
			})
			if err != nil || len(found) >= limit || rows < most {
				return err
			}
		}
	})
	var out []string
	for _, in := range found[:min(limit, len(found))] {
		out = append(out, in.ID)
	}
	return out, err
}
