package postgres

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// TestUpgrade: a database of schema 13, as the version before left it, is brought to this one while a node of that
// version works. Nothing is lost, and once that node is gone the schema is the same as that of a new database.
func TestUpgrade(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	look := admin(t, url)
	makeSchema13(t, look)
	old := joined(t, url, Options{steps: migrations[:baseline]})
	storetest.Fill(t, old.Store)
	before, err := old.Instance(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	users, stop := load(t, old.Store, "old")
	goesOn(t, users)
	newer := joined(t, url, Options{})
	goesOn(t, users)
	others, stopOthers := load(t, newer.Store, "newer")
	goesOn(t, append(users, others...))
	stop()
	stopOthers()
	if n := ask1[int](t, look, "SELECT max(version) FROM lockstep.schema_versions"); n != chunkSchema-1 || newer.Chunks() {
		t.Errorf("the schema is %d, and chunks may be written: %t", n, newer.Chunks())
	}
	after, err := newer.Instance(ctx, "a")
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("an instance was\n%+v and is\n%+v, %v", before, after, err)
	}
	for _, m := range []*member{old, newer} {
		if problems, err := m.Check(ctx); err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
		if err := m.leave(ctx); err != nil {
			t.Error(err)
		}
	}
	if m := &migrations[chunkSchema-1]; !strings.HasSuffix(m.name, "_chunks.sql") || m.since != chunkSchema {
		t.Errorf("the file that older servers cannot read is %s, since %d", m.name, m.since)
	}
	if last := openURL(t, url, Options{}).Namespace("default").(*Store); !last.Chunks() {
		t.Error("no chunks may be written")
	}
	if n := ask1[int](t, look, "SELECT max(version) FROM lockstep.schema_versions"); n != len(migrations) {
		t.Errorf("the schema is %d", n)
	}
	fresh := pgtest.Start(t).Database(t)
	openURL(t, fresh, Options{})
	want, have := catalogue(t, admin(t, fresh)), catalogue(t, look)
	for _, x := range want {
		if !slices.Contains(have, x) {
			t.Errorf("only a new database has\n%s", x)
		}
	}
	for _, x := range have {
		if !slices.Contains(want, x) {
			t.Errorf("only a database that was upgraded has\n%s", x)
		}
	}
	if len(want) < 200 {
		t.Errorf("the schema has only %d parts", len(want))
	}
}

// makeSchema13 runs the files that made schema 13, one after the other.
func makeSchema13(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	run := func(text string) {
		t.Helper()
		if _, err := conn.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE SCHEMA lockstep; SET search_path = lockstep")
	run("CREATE TABLE schema_versions (version integer PRIMARY KEY, name text NOT NULL, sum text NOT NULL, since integer NOT NULL, applied timestamptz NOT NULL DEFAULT now())")
	names, err := filepath.Glob("testdata/schema13/*.sql")
	if err != nil || len(names) != baseline {
		t.Fatal(names, err)
	}
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := parseMigration(filepath.Base(name), string(text))
		if err != nil {
			t.Fatal(err)
		}
		run(m.text)
		run(fmt.Sprintf("INSERT INTO schema_versions (version, name, sum, since) VALUES (%d, '%s', '%s', %d)", i+1, m.name, m.sum(), m.since))
	}
	run("RESET search_path")
}

// catalogue lists what a schema is made of.
func catalogue(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(ctx, `
		SELECT concat_ws(' ', 'column', c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid), c.reloptions)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind IN ('r', 'p', 'S')
		UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid)) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = 'lockstep'::regnamespace
		UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = 'lockstep'::regnamespace
		UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'lockstep'::regnamespace
		UNION ALL SELECT concat_ws(' ', 'ring', ring, current) FROM lockstep.rings UNION ALL SELECT concat_ws(' ', 'generation', ring, gen, state) FROM lockstep.generations`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestRollingUpgrade: while a node of the version before is there, a file of the schema that it could not live with
// waits, and both work. Once it is gone, the schema is changed, and none like it starts.
func TestRollingUpgrade(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	next := nextVersion(migration{name: "breaks", text: "SELECT 1", since: len(migrations) + 1})
	old := joined(t, url, Options{})
	look := admin(t, url)
	version := func() int { return ask1[int](t, look, "SELECT max(version) FROM lockstep.schema_versions") }
	waitUntil(func() bool { return old.parts() == shardCount })
	if _, err := look.Exec(ctx, "UPDATE lockstep.nodes SET knows = NULL"); err != nil { // that of a version that does not know the column
		t.Fatal(err)
	}
	var told logged
	log := slog.New(slog.NewTextHandler(&told, nil))
	newer := joined(t, url, Options{steps: next, upgrade: 2 * defaultLease, Log: log})
	if text := told.String(); !strings.Contains(text, "upgrade-wait") || !strings.Contains(text, "[node 1]") {
		t.Fatalf("while it waits, the operator reads %q", text)
	}
	waitUntil(func() bool { return newer.parts() > 0 && old.parts() > 0 })
	storetest.Fill(t, newer.Store)
	openURL(t, url, Options{steps: next, KeepSchema: true}) // who only looks need not wait
	if version() != len(migrations) {
		t.Errorf("beside an old node the schema is %d", version())
	}
	problems, err := old.Check(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("the old node reads: %v %v", problems, err)
	}
	second := joined(t, url, Options{}) // it comes while the others wait
	waitUntil(func() bool { return second.parts() > 0 })
	if err := old.leave(ctx); err != nil {
		t.Fatal(err)
	}
	if err := newer.db.migrate(ctx, next); err != nil || version() != len(migrations) {
		t.Errorf("beside another old node: %v, at schema %d", err, version())
	}
	if err := second.leave(ctx); err != nil {
		t.Fatal(err)
	}
	var starts sync.WaitGroup
	for range 3 { // together with the one that waits: one of them does it
		starts.Go(func() {
			db, err := Open(ctx, url, Options{steps: next})
			if err != nil {
				t.Error(err)
				return
			}
			_ = db.Close()
		})
	}
	starts.Wait()
	waitUntil(func() bool { return strings.Contains(told.String(), "the schema is changed") })
	if problems, err := newer.Check(ctx); err != nil || len(problems) > 0 || version() != len(next) {
		t.Errorf("after the old nodes are gone: %v %v, at schema %d", problems, err, version())
	}
	if _, err := Open(ctx, url, Options{}); err == nil || !strings.Contains(err.Error(), "start a newer one") {
		t.Errorf("an old one that starts: %v", err)
	}
	if err := newer.leave(ctx); err != nil {
		t.Error(err)
	}
}

// TestTooOld: a database of a schema before those that this version migrates is refused.
func TestTooOld(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	look := admin(t, url)
	makeSchema13(t, look)
	if _, err := look.Exec(ctx, "DELETE FROM lockstep.schema_versions WHERE version > 5"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, url, Options{}); err == nil || !strings.Contains(err.Error(), "start the version before") {
		t.Errorf("%v", err)
	}
}

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestNodeSaysWhatItKnows: also where it could not say so with its first heartbeat. Else others would wait for it for ever.
func TestNodeSaysWhatItKnows(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	openURL(t, url, Options{})
	look := admin(t, url)
	do := func(text string) {
		t.Helper()
		if _, err := look.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	// A number that was given out stays so, also where the statement fails.
	do("SET search_path = lockstep; CREATE SEQUENCE refused; " +
		"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('lockstep.refused'); RAISE 'not now'; END $$; " +
		"CREATE TRIGGER refuse BEFORE UPDATE OF knows ON nodes FOR EACH ROW EXECUTE FUNCTION refuse()")
	node := joined(t, url, Options{Lease: 4 * time.Second}) // so that its second heartbeat is not late
	waitUntil(func() bool { return ask1[bool](t, look, "SELECT is_called FROM refused") })
	do("DROP TRIGGER refuse ON nodes")
	waitUntil(func() bool {
		return ask1[int](t, look, "SELECT coalesce(max(knows), 0) FROM lockstep.nodes") == len(migrations)
	})
	if err := node.leave(ctx); err != nil {
		t.Error(err)
	}
}
