package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/backup"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestAuditAfterRestore: the audit log goes on behind the entries of the backup.
func TestAuditAfterRestore(t *testing.T) {
	db := openTest(t, Options{})
	s := db.Namespace("default")
	add := func(s store.Store, from, to int) {
		for i := from; i < to; i++ {
			if err := s.AppendEntry(ctx, store.Entry{ID: fmt.Sprint(i), Who: "w"}, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(s, 0, 3)
	head, file := exported(t, db)
	to := pgtest.Start(t).Database(t)
	if err := Restore(ctx, to, head, bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	restored, err := Open(ctx, to, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	add(restored.Namespace("default"), 2, 6) // the first is there already
	list, err := restored.Namespace("default").Entries(ctx, store.EntryQuery{Limit: 10})
	if err != nil || len(list) != 6 || list[0].ID != "5" {
		t.Errorf("%+v, %v", list, err)
	}
}

// exported is a backup of a database.
func exported(t *testing.T, db *DB) (backup.Head, []byte) {
	t.Helper()
	version, err := db.Schema(ctx)
	if err != nil {
		t.Fatal(err)
	}
	head := backup.Head{Store: "postgres", Schema: version, Created: time.Unix(1, 0)}
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, head)
	if err == nil {
		err = errors.Join(db.Export(ctx, w), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return head, file.Bytes()
}

// TestCallsAfterRestore: a node is told every call of a backup, however often the shards changed hands before it was made.
func TestCallsAfterRestore(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	db := openURL(t, url, Options{})
	for n := range 3 { // the shards get the epochs 1 to 3
		m := joined(t, url, Options{})
		waitUntil(func() bool { return m.parts() == shardCount })
		id := fmt.Sprint("i", n)
		c := store.Commit{Instance: store.Instance{ID: id, Status: core.Waiting}}
		c.Calls = []store.Call{{Shard: m.CallShard(id), Invoke: core.Invoke{Ticket: 1}}}
		if err := m.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
		if err := m.leave(ctx); err != nil {
			t.Fatal(err)
		}
	}
	head, file := exported(t, db)
	to := pgtest.Start(t).Database(t)
	if err := Restore(ctx, to, head, bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	m := joined(t, to, Options{})
	waitUntil(func() bool { return m.parts() == shardCount })
	if got, want := m.handed(t), []string{"i0/1", "i1/1", "i2/1"}; !slices.Equal(got, want) {
		t.Errorf("handed %v, want %v", got, want)
	}
}

// TestRestoreThatStopped: wherever a restore stops, what it leaves behind is never taken for a store, and the next
// restore says what to do.
func TestRestoreThatStopped(t *testing.T) {
	head, file := exported(t, openTest(t, Options{}))
	for n := 1; ; n += 1 + n/3 { // fails at the n-th statement that changes the schema
		to := pgtest.Start(t).Database(t)
		db, err := connect(ctx, to, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.pool.Close()
		if _, err := db.pool.Exec(ctx, fmt.Sprintf(`CREATE SEQUENCE public.statements;
			CREATE FUNCTION public.stop() RETURNS event_trigger LANGUAGE plpgsql AS
			$$ BEGIN IF nextval('public.statements') >= %d THEN RAISE 'stopped'; END IF; END $$;
			CREATE EVENT TRIGGER stop ON ddl_command_start EXECUTE FUNCTION public.stop()`, n), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		failed := Restore(ctx, to, head, bytes.NewReader(file))
		if _, err := db.pool.Exec(ctx, "DROP EVENT TRIGGER stop"); err != nil {
			t.Fatal(err)
		}
		if failed == nil {
			return
		}
		there := false
		if err := db.one(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'lockstep')", nil, &there); err != nil {
			t.Fatal(err)
		}
		if !there {
			if err := Restore(ctx, to, head, bytes.NewReader(file)); err != nil {
				t.Errorf("%d: nothing was made, and yet %v", n, err)
			}
			continue
		}
		if err := Restore(ctx, to, head, bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), "did not finish: drop the schema lockstep") {
			t.Errorf("%d: restored again: %v", n, err)
		}
		opened := openURL(t, to, Options{})
		if _, err := opened.Restored(ctx); err == nil || !strings.Contains(err.Error(), "did not finish: drop the schema lockstep") {
			t.Errorf("%d: it is a store: %v", n, err)
		}
	}
}

// TestTablesOfBackup: the tables that a backup must have are those that the schema has.
func TestTablesOfBackup(t *testing.T) {
	for schema := baseline; schema <= len(migrations); schema++ {
		db := openTest(t, Options{steps: migrations[:schema]})
		tables, err := db.tables(ctx, db.pool)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, table := range tables {
			have = append(have, table.name)
		}
		slices.Sort(have)
		if want := Tables(schema); !slices.Equal(have, want) {
			t.Errorf("schema %d has %v\nwant %v", schema, have, want)
		}
	}
}
