package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/backup"
)

// A database that was restored from a backup has a table restored until it is resumed. It is made before anything is
// restored, and gets a row when everything is there: what is left of a restore that failed is never taken for a store.

// The tables that a backup leaves out: which nodes there are and what they hold, outcomes of transactions in flight, and
// what the restoring program makes itself.
const leftOut = "'nodes', 'shards', 'outcomes_0', 'outcomes_1', 'outcomes_2', 'outcomes_3', 'schema_versions', 'restored'"

// Tables lists the tables that a backup of a schema must have. A migration that makes another adds it here.
func Tables(schema int) []string {
	out := strings.Fields("aliases calls contents counts differences emits folds gatherings generations gone inbox instances job_states kept_for kinds labels " +
		"namespaces owners pages purges ready rings schedules shapes subs suspects wakes walked")
	for family, partitions := range map[string]int{"history": 8, "events": 4, "event_keys": 4, "deliveries": 4} {
		for i := range partitions {
			out = append(out, fmt.Sprintf("%s_%d", family, i))
		}
	}
	for name, since := range map[string]int{"cursors": 21, "notes": 22, "audit": 22, "policies": 23, "tallies": 26} {
		if schema >= since {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Restored reports whether the database was restored from a backup and not resumed since.
func (db *DB) Restored(ctx context.Context) (yes bool, err error) {
	if err := db.one(ctx, "SELECT to_regclass($1) IS NOT NULL", []any{db.prefix + "restored"}, &yes); err != nil || !yes {
		return false, err
	}
	whole := false
	if err := db.one(ctx, "SELECT EXISTS (SELECT 1 FROM ~.restored)", nil, &whole); err != nil {
		return false, err
	}
	if !whole {
		return false, fmt.Errorf("the restore did not finish: drop the schema %s and restore again (unless it still runs)", db.opts.Schema)
	}
	return true, nil
}

// Resume says that a restored database may run again.
func (db *DB) Resume(ctx context.Context) error {
	_, err := db.pool.Exec(ctx, db.sql("DROP TABLE IF EXISTS ~.restored"))
	return wrap(err)
}

// Namespaces lists the namespaces that the database has.
func (db *DB) Namespaces(ctx context.Context) (out []string, err error) {
	err = db.each(ctx, db.pool, "SELECT name FROM ~.namespaces ORDER BY name", nil, func(r pgx.Rows) error {
		name := ""
		err := r.Scan(&name)
		out = append(out, name)
		return err
	})
	return out, err
}

// Export writes all tables, as they were at one moment, while nodes go on.
func (db *DB) Export(ctx context.Context, w *backup.Writer) error {
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return wrap(err)
	}
	defer c.Release()
	defer unhurried(c.Conn())() // tables may be large
	tables, err := db.tables(ctx, c.Conn())
	if err != nil {
		return err
	}
	if _, err := c.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return wrap(err)
	}
	defer func() { _, _ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK") }()
	// The locks come before the view: a table that is emptied meanwhile would be missing in it.
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = db.prefix + t.name
	}
	if _, err := c.Exec(ctx, "LOCK TABLE "+strings.Join(names, ", ")+" IN ACCESS SHARE MODE"); err != nil {
		return wrap(err)
	}
	for _, t := range tables {
		err := w.Part(t.name, func(to io.Writer) (int64, error) {
			tag, err := c.Conn().PgConn().CopyTo(ctx, to, fmt.Sprintf("COPY %s%s (%s) TO STDOUT", db.prefix, t.name, t.columns))
			return tag.RowsAffected(), err
		})
		if err != nil {
			return err
		}
	}
	// A sequence is not part of the view: it is beyond every number in it.
	return c.QueryRow(ctx, db.sql("SELECT last_value FROM ~.seqs")).Scan(&w.Manifest.Sequence)
}

// table is a table of a backup.
type table struct{ name, columns string }

func (db *DB) tables(ctx context.Context, q querier) (out []table, err error) {
	err = db.each(ctx, q, "SELECT c.relname, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "+
		"JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' "+
		"WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname NOT IN ("+leftOut+") GROUP BY c.relname ORDER BY c.relname", []any{db.opts.Schema}, func(r pgx.Rows) error {
		var t table
		err := r.Scan(&t.name, &t.columns)
		out = append(out, t)
		return err
	})
	return out, err
}

// Schema is the version of the schema that the database has.
func (db *DB) Schema(ctx context.Context) (int, error) {
	return db.version(ctx, db.pool, db.opts.steps)
}

// Restore makes the schema that a backup has in a database that has none, and fills it. It is paused: see Restored.
func Restore(ctx context.Context, address string, head backup.Head, r io.Reader) (err error) {
	db, err := connect(ctx, address, Options{})
	if err != nil {
		return err
	}
	defer db.pool.Close()
	if _, err := db.Restored(ctx); err != nil { // one that did not finish
		return err
	}
	version, err := db.version(ctx, db.pool, db.opts.steps)
	switch {
	case err != nil:
		return err
	case version > 0:
		return fmt.Errorf("the database has a schema %s already: restore into an empty database, or with another schema= in the address", db.opts.Schema)
	case head.Schema > len(db.opts.steps) || head.Schema < baseline:
		return fmt.Errorf("the backup has schema %d, and this lockstep knows %d to %d", head.Schema, baseline, len(db.opts.steps))
	}
	if err := db.begin(ctx, 0, func(t *tx) error {
		if err := t.makeSchema(ctx); err != nil {
			return err
		}
		return t.script(ctx, "CREATE TABLE restored (at timestamptz NOT NULL DEFAULT now())")
	}); err != nil {
		return err
	}
	if err := db.migrate(ctx, db.opts.steps[:head.Schema]); err != nil {
		return err
	}
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return wrap(err)
	}
	defer c.Release()
	defer unhurried(c.Conn())()
	return pgx.BeginFunc(ctx, c.Conn(), func(t pgx.Tx) error { return db.fill(ctx, t, r) })
}

// fill fills the tables in a transaction.
func (db *DB) fill(ctx context.Context, t pgx.Tx, r io.Reader) error {
	tables, err := db.tables(ctx, t)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range tables {
		names = append(names, db.prefix+t.name)
	}
	if _, err := t.Exec(ctx, "TRUNCATE "+strings.Join(names, ", ")); err != nil {
		return wrap(err)
	}
	_, m, err := backup.Read(r, func(_ backup.Head, name string) (io.WriteCloser, error) {
		i := slices.IndexFunc(tables, func(t table) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("the backup has a table %.100q that its schema does not have", name)
		}
		return copyIn(ctx, t.Conn(), fmt.Sprintf("COPY %s%s (%s) FROM STDIN", db.prefix, name, tables[i].columns)), nil
	})
	if err != nil {
		return err
	}
	for _, table := range tables {
		if !slices.ContainsFunc(m.Parts, func(p backup.Part) bool { return p.Name == table.name }) {
			return fmt.Errorf("the backup has no table %s", table.name)
		}
	}
	for _, p := range m.Parts {
		rows := int64(0)
		if err := t.QueryRow(ctx, "SELECT count(*) FROM "+db.prefix+pgx.Identifier{p.Name}.Sanitize()).Scan(&rows); err != nil {
			return wrap(err)
		}
		if rows != p.Rows {
			return fmt.Errorf("table %s has %d rows after the restore, and the backup %d", p.Name, rows, p.Rows)
		}
	}
	_, err = t.Exec(ctx, db.sql("SELECT setval('~.seqs', greatest($1, (SELECT last_value FROM ~.seqs)))"), m.Sequence)
	for _, id := range [][2]string{{"namespaces", "ns"}, {"kinds", "kind"}, {"audit", "seq"}} {
		there := slices.ContainsFunc(tables, func(t table) bool { return t.name == id[0] }) // an older schema has no audit log
		if err == nil && there {
			_, err = t.Exec(ctx, fmt.Sprintf("SELECT setval(pg_get_serial_sequence($1, $2), coalesce((SELECT max(%s) FROM %s%s), 0) + 1, false)", id[1], db.prefix, id[0]), db.prefix+id[0], id[1])
		}
	}
	if err == nil { // the shards begin again with epoch 1: no node here has been told a call
		_, err = t.Exec(ctx, db.sql("UPDATE ~.calls SET epoch = 0"))
	}
	if err == nil {
		_, err = t.Exec(ctx, db.sql("INSERT INTO ~.restored (at) VALUES (now())"))
	}
	return wrap(err)
}

// copyIn is a writer whose bytes go into a table. Close waits until they are there.
func copyIn(ctx context.Context, c *pgx.Conn, statement string) io.WriteCloser {
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := c.PgConn().CopyFrom(ctx, r, statement)
		_ = r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		done <- err
	}()
	return &copying{w, done}
}

type copying struct {
	*io.PipeWriter
	done chan error
}

// Close ends the copy.
func (c *copying) Close() error {
	_ = c.PipeWriter.Close()
	return wrap(<-c.done)
}
