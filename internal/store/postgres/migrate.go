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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// migration is one file of the schema. CONTRIBUTING.md says how to write one.
type migration struct {
	name, text string
	// since is the oldest schema whose programs still work once this one is there. Files
	// only add, so that nodes of the version before go on while a newer one migrates; one
	// that says otherwise waits until they are gone, and so do those behind it.
	since int
	// online: each statement is run outside a transaction, because the locks of a long transaction would
	// stop all nodes. The statements must be idempotent.
	online bool
}

func (m *migration) sum() string {
	h := sha256.Sum256([]byte(m.text))
	return hex.EncodeToString(h[:])
}

const (
	// baseline is the schema with which a new database begins. Those before were never released; a database
	// that came that far by steps has the same tables.
	baseline = 13
	// lastStep is the sum of the file that ended those steps.
	lastStep = "b4b486c06e113cc3732d9c98cd005a90f4003ba9920a630f9d55c80abd4de78f"
)

// newFunctions are those of the schema that older ones do not have, without which programs do as before: tests let them
// know an older schema.
type newFunctions struct{ standing, commitOne, work, jobsInOrder, commitEvent bool }

func functionsOf(steps []migration) newFunctions {
	has := func(name string) bool {
		return slices.ContainsFunc(steps, func(m migration) bool { return strings.HasSuffix(m.name, "_"+name+".sql") })
	}
	return newFunctions{has("standing"), has("commit_one"), has("work"), has("jobs_in_order"), has("commit_event")}
}

// migrations are the files of schema in order; the n-th leads from version n-1 to n, and the one of the
// baseline from nothing. One that was released is never changed: what comes after is a new file.
var migrations = func() []migration {
	names, err := fs.Glob(schemaFiles, "schema/*.sql")
	if err != nil {
		panic(err)
	}
	out := make([]migration, baseline-1)
	for _, name := range names {
		text, err := fs.ReadFile(schemaFiles, name)
		if err != nil {
			panic(err)
		}
		m, err := parseMigration(path.Base(name), string(text))
		if err != nil {
			panic(err)
		}
		out = append(out, m)
	}
	return out
}()

// parseMigration reads what the first line of a file may say: "-- migration: online since=8".
func parseMigration(name, text string) (migration, error) {
	m := migration{name: name, text: text, since: 1}
	first, _, _ := strings.Cut(text, "\n")
	words, ok := strings.CutPrefix(first, "-- migration:")
	if !ok {
		return m, nil
	}
	for _, word := range strings.Fields(words) {
		since, isSince := strings.CutPrefix(word, "since=")
		n, err := strconv.Atoi(since)
		switch {
		case word == "online":
			m.online = true
		case isSince && err == nil && n > 0:
			m.since = n
		default:
			return m, fmt.Errorf("%s: its first line says %q: known are online and since=N", name, word)
		}
	}
	return m, nil
}

const (
	// lockWait is how long a migration waits for a lock: meanwhile everything queues behind it.
	lockWait = "200ms"
	// lockPause is how long it lets others go on before it tries again, and maxLockPause the longest.
	lockPause    = 100 * time.Millisecond
	maxLockPause = time.Second
	// migrateLimit is how long a migration is tried while others have locks that it needs ("migrate-limit").
	migrateLimit = time.Minute
	// upgradeWait is how long a node counts that was not heard of any more, where a file waits for nodes of an
	// older version to go, and how often that is looked at. One that stops in order is gone at once ("upgrade-wait").
	upgradeWait = time.Minute
)

// errMigrating says that another process is at it.
var errMigrating = errors.New("another process brings the schema to its version")

// migrate brings the schema to this version's, one file after the other, each all of it or nothing. Of several
// processes that start at a time one does it, and the others wait for it.
func (db *DB) migrate(ctx context.Context, steps []migration) error {
	version, err := db.version(ctx, db.pool, steps)
	if err != nil || version >= len(steps) {
		return err
	}
	if db.opts.KeepSchema {
		if version > 0 && steps[version].since > 1 { // it waits for others to go
			return nil
		}
		return fmt.Errorf("it has schema %d, this version would migrate it to %d; use the version that wrote it, or let a server migrate it", version, len(steps))
	}
	began, wait := time.Now(), lockPause
	for {
		done, err := db.migrateOne(ctx, steps)
		switch {
		case err == nil && done:
			return nil
		case err == nil:
			began, wait = time.Now(), lockPause
			continue
		case errors.Is(err, errMigrating):
			began = time.Now()
		case time.Since(began)+wait > db.migrateTime(err):
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, maxLockPause)
	}
}

// migrateTime is how long a migration is tried that fails with an error.
func (db *DB) migrateTime(err error) time.Duration {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "55P03" || pg.Code == "40P01") { // others have locks
		return db.opts.migration
	}
	if again, _ := passing(err); again || errors.As(err, new(*lostError)) { // it is seen how far it came
		return db.opts.Patience
	}
	return 0
}

// migrateOne applies the first file that the schema does not have yet. done: it has all, or
// that one must wait.
func (db *DB) migrateOne(ctx context.Context, steps []migration) (done bool, err error) {
	err = db.begin(ctx, 0, func(t *tx) error {
		defer unhurried(t.Conn())() // tables may be large
		// Do not wait for this lock: a waiting transaction has a snapshot, and building an index online waits
		// for all snapshots.
		mine := false
		if err := t.one(ctx, "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))", []any{"lockstep schema " + db.prefix}, &mine); err != nil {
			return err
		}
		if !mine {
			return errMigrating
		}
		version, err := db.version(ctx, t.Tx, steps)
		if done = version >= len(steps); err != nil || done {
			return err
		}
		next := max(version, baseline-1)
		m := &steps[next]
		switch {
		case version == 0:
			if err = t.makeSchema(ctx); err == nil {
				err = t.script(ctx, "CREATE TABLE schema_versions (version integer PRIMARY KEY, name text NOT NULL, sum text NOT NULL, since integer NOT NULL, applied timestamptz NOT NULL DEFAULT now())")
			}
		case m.since > 1:
			var older []string
			older, err = t.older(ctx, m.since)
			if done = len(older) > 0; done {
				db.older.Store(&older)
			}
		}
		if err != nil || done {
			return err
		}
		if err := t.apply(ctx, m); err != nil {
			return m.failed(next+1, err)
		}
		_, err = t.do(ctx, "INSERT INTO ~.schema_versions (version, name, sum, since) VALUES ($1, $2, $3, $4)", next+1, m.name, m.sum(), m.since)
		return err
	})
	return done && err == nil, err
}

// older lists the nodes that were heard of lately and do not know a schema. One that comes at the same moment has no
// parts yet, and its next heartbeat tells it.
func (t *tx) older(ctx context.Context, schema int) (names []string, err error) {
	err = t.one(ctx, "SELECT coalesce(array_agg(DISTINCT name || ' ' || version), '{}') FROM ~.nodes WHERE coalesce(knows, 0) < $1 AND seen > clock_timestamp() - $2::interval",
		[]any{schema, t.db.opts.upgrade}, &names)
	return names, err
}

// finishMigration applies what was postponed, once the nodes are gone that it waits for.
func (db *DB) finishMigration(ctx context.Context) {
	for older := db.older.Load(); older != nil; older = db.older.Load() {
		if sleep(ctx, db.opts.upgrade) != nil {
			return
		}
		db.older.Store(nil)
		if err := db.migrate(ctx, db.opts.steps); err != nil {
			db.older.Store(older)
			if db.opts.Log != nil && ctx.Err() == nil {
				db.opts.Log.Warn("the schema stays at an older version for now", "error", err)
			}
		} else if db.older.Load() == nil {
			db.info("the servers of an older version are gone, and the schema is changed", "schema", len(db.opts.steps))
		}
	}
}

func (db *DB) info(message string, args ...any) {
	if db.opts.Log != nil {
		db.opts.Log.Info(message, args...)
	}
}

// failed says what to do about a migration that did not happen.
func (m *migration) failed(version int, err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "55P03" {
		err = fmt.Errorf("others have a table that it must change (migrate-limit): end the long transactions that pg_stat_activity shows, and start again: %w", err)
	}
	return fmt.Errorf("migrate to schema %d (%s): %w", version, m.name, err)
}

// apply runs a file.
func (t *tx) apply(ctx context.Context, m *migration) error {
	if !m.online {
		return t.script(ctx, "SET LOCAL lock_timeout = '"+lockWait+"'; "+m.text)
	}
	// This transaction is only the lock that keeps other processes from doing the same.
	if err := t.script(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
		return err
	}
	other := line{db: t.db}
	defer other.close()
	for _, statement := range strings.Split(m.text, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if err := other.do(ctx, statement); err != nil {
			return wrap(err)
		}
	}
	return nil
}

// makeSchema makes the schema where it is not there. IF NOT EXISTS would ask for the right to make one also where it
// is there.
func (t *tx) makeSchema(ctx context.Context) error {
	name := t.db.opts.Schema
	there := false
	if err := t.one(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", []any{name}, &there); err != nil {
		return err
	}
	if there {
		return nil
	}
	return t.script(ctx, "CREATE SCHEMA "+pgx.Identifier{name}.Sanitize())
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
	err = db.each(ctx, q, "SELECT version, sum, max(since) OVER () FROM ~.schema_versions ORDER BY version", nil, func(r pgx.Rows) error {
		n, sum := 0, ""
		if err := r.Scan(&n, &sum, &since); err != nil {
			return err
		}
		if n >= baseline && n <= len(steps) && sum != steps[n-1].sum() && sum != lastStep {
			return fmt.Errorf("schema %d is not the one that this lockstep knows (%s): it was made by an unreleased version", n, steps[n-1].name)
		}
		version = n
		return nil
	})
	db.since.Store(int64(since))
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P01" { // another process is making it
		return 0, nil
	}
	switch {
	case err != nil:
	case since > len(steps):
		err = tooOld(since, len(steps))
	case 0 < version && version < baseline:
		err = fmt.Errorf("it has schema %d, and this version migrates from %d on: start the version before once", version, baseline)
	}
	return version, err
}

// tooOld says that a program does not fit the schema.
func tooOld(since, knows int) error {
	return fmt.Errorf("the schema of the database needs a lockstep that knows schema %d; this one knows %d: start a newer one instead", since, knows)
}

// fits sees whether a newer version has left this one behind. If so, nothing is written any more.
func (db *DB) fits(since int) error {
	db.since.Store(int64(since))
	if since <= len(db.opts.steps) {
		return nil
	}
	err := tooOld(since, len(db.opts.steps))
	db.outgrown.Store(&err)
	return err
}
