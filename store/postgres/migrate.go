package postgres

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// migration is one file of the schema.
type migration struct {
	name, text string
	// since is the oldest schema whose programs still work once this one is there. Files
	// only add, so that nodes of the version before go on while a newer one migrates.
	since int
}

func (m *migration) sum() string {
	h := sha256.Sum256([]byte(m.text))
	return hex.EncodeToString(h[:])
}

// migrations are the files of schema in order; the n-th leads from version n-1 to n. One
// that was released is never changed: what comes after is a new file.
var migrations = func() (out []migration) {
	names, err := fs.Glob(schemaFiles, "schema/*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(schemaFiles, name)
		if err != nil {
			panic(err)
		}
		out = append(out, migration{path.Base(name), string(text), 1})
	}
	return out
}()

// migrate brings the schema to this version's, all of it or nothing. Of several processes
// that start at a time one does it.
func (db *DB) migrate(ctx context.Context, steps []migration) error {
	version, err := db.version(ctx, db.pool, steps)
	if err != nil || version >= len(steps) {
		return err
	}
	if db.opts.KeepSchema {
		return fmt.Errorf("it has schema %d, this version would migrate it to %d; use the version that wrote it, or let a server migrate it", version, len(steps))
	}
	return db.retry(ctx, func(ctx context.Context) error {
		return db.begin(ctx, 0, func(t *tx) error {
			defer unhurried(t.Conn())() // tables may be large, and another process may be at it
			if _, err := t.do(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "lockstep schema "+db.prefix); err != nil {
				return err
			}
			version, err := db.version(ctx, t.Tx, steps)
			if err != nil {
				return err
			}
			if version == 0 {
				if err := t.makeSchema(ctx); err != nil {
					return err
				}
			}
			for i := version; i < len(steps); i++ {
				m := &steps[i]
				if err := t.script(ctx, m.text); err != nil {
					return fmt.Errorf("migrate to schema %d (%s): %w", i+1, m.name, err)
				}
				if _, err := t.do(ctx, "INSERT INTO ~.schema_versions (version, name, sum, since) VALUES ($1, $2, $3, $4)", i+1, m.name, m.sum(), m.since); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// makeSchema makes the schema where it is not there, and the table of its versions. IF NOT EXISTS
// would ask for the right to make one also where it is there.
func (t *tx) makeSchema(ctx context.Context) error {
	name := t.db.opts.Schema
	there := false
	if err := t.one(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", []any{name}, &there); err != nil {
		return err
	}
	if !there {
		if err := t.script(ctx, "CREATE SCHEMA "+pgx.Identifier{name}.Sanitize()); err != nil {
			return err
		}
	}
	return t.script(ctx, "CREATE TABLE schema_versions (version integer PRIMARY KEY, name text NOT NULL, sum text NOT NULL, since integer NOT NULL, applied timestamptz NOT NULL DEFAULT now())")
}

// script runs statements without parameters.
func (t *tx) script(ctx context.Context, text string) error {
	_, err := t.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol)
	return wrap(err)
}

// version reads which schema there is, and refuses one that this program does not fit.
func (db *DB) version(ctx context.Context, q querier, steps []migration) (version int, err error) {
	there := false
	if err := db.oneOf(ctx, q, "SELECT to_regclass($1) IS NOT NULL", []any{db.prefix + "schema_versions"}, &there); err != nil || !there {
		return 0, err
	}
	since := 0
	err = db.each(ctx, q, "SELECT version, sum, since FROM ~.schema_versions ORDER BY version", nil, func(r pgx.Rows) error {
		n, sum := 0, ""
		if err := r.Scan(&n, &sum, &since); err != nil {
			return err
		}
		if n <= len(steps) && sum != steps[n-1].sum() {
			return fmt.Errorf("schema %d is not the one that this lockstep knows (%s): it was made by an unreleased version", n, steps[n-1].name)
		}
		version = n
		return nil
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P01" { // another process is making it
		return 0, nil
	}
	if err == nil && since > len(steps) {
		err = fmt.Errorf("its schema is version %d, which needs a lockstep that knows schema %d; this one knows %d: start a newer one", version, since, len(steps))
	}
	return version, err
}
