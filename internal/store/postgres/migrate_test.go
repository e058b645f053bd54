package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// nextVersion is this one with what a next one may add.
func nextVersion(more ...migration) []migration {
	return append(slices.Clone(migrations), more...)
}

var (
	addsThings = migration{name: "adds", since: 1, text: `
		ALTER TABLE instances ADD COLUMN later text NOT NULL DEFAULT 'x';
		CREATE TABLE laters (ns integer PRIMARY KEY, later text NOT NULL);
		CREATE OR REPLACE FUNCTION newest(p_ns integer) RETURNS bigint LANGUAGE sql STABLE AS $$
			SELECT coalesce((SELECT pos FROM history WHERE ns = p_ns ORDER BY pos DESC LIMIT 1), 0)
		$$;`}
	addsIndex = migration{name: "index", since: 1, online: true, text: "DROP INDEX CONCURRENTLY IF EXISTS ~.instances_later;\nCREATE UNIQUE INDEX CONCURRENTLY instances_later ON ~.instances (later, seq);\n"}
)

// admin is a connection of somebody else's.
func admin(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(ctx) })
	return conn
}

// ask1 reads one value.
func ask1[T any](t *testing.T, conn *pgx.Conn, query string) (v T) {
	t.Helper()
	if err := conn.QueryRow(ctx, query).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// load has a store used until stop is called; done counts what was done by each of several users.
func load(t *testing.T, s store.Store, name string) (done []*atomic.Int64, stop func()) {
	var over atomic.Bool
	var wg sync.WaitGroup
	user := func(do func(n int64) error) {
		count := &atomic.Int64{}
		done = append(done, count)
		wg.Go(func() {
			for !over.Load() {
				if err := do(count.Load()); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				count.Add(1)
			}
		})
	}
	for i := range 3 {
		user(func(n int64) error {
			return s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint(name, i), Rev: n, Status: core.Running}, Records: []core.Record{{Text: "x"}}})
		})
	}
	user(func(n int64) error { _, err := s.(*Store).ingestFor(fmt.Sprint(name, n), "t"); return err })
	user(func(int64) error { _, err := s.Ready(ctx, 0, 10); return err })
	user(func(int64) error { _, err := s.Instances(ctx, store.Query{Limit: 3}); return err })
	return done, func() {
		over.Store(true)
		wg.Wait()
	}
}

// goesOn waits until every user has done some more.
func goesOn(t *testing.T, users []*atomic.Int64) {
	t.Helper()
	for _, n := range users {
		before := n.Load()
		waitUntil(func() bool { return t.Failed() || n.Load() > before+5 })
	}
}

// TestMigrateUnderLoad: nodes work without an error while a newer version brings the schema to its own, and
// beside it.
func TestMigrateUnderLoad(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	a, b := joined(t, url, Options{}), joined(t, url, Options{})
	users, stop := load(t, a.Store, "a")
	others, stopOthers := load(t, b.Store, "b")
	users = append(users, others...)
	goesOn(t, users)
	newer := joined(t, url, Options{steps: nextVersion(addsThings, addsIndex)})
	goesOn(t, users)
	third, stopThird := load(t, newer.Store, "newer")
	goesOn(t, append(users, third...))
	waitUntil(func() bool { return t.Failed() || a.parts() > 0 && b.parts() > 0 && newer.parts() > 0 })
	for _, stop := range []func(){stop, stopOthers, stopThird} {
		stop()
	}
	n := int64(0)
	for _, user := range append(users, third...) {
		n += user.Load()
	}
	t.Logf("two nodes of the version before, one newer that brings the schema from %d to %d: %d requests, none failed", len(migrations), len(migrations)+2, n)
	look := admin(t, url)
	if !ask1[bool](t, look, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'lockstep.instances_later'::regclass") {
		t.Error("the index is not valid")
	}
	if n := ask1[int](t, look, "SELECT max(version) FROM lockstep.schema_versions"); n != len(migrations)+2 {
		t.Errorf("the schema is %d", n)
	}
	openURL(t, url, Options{}) // an old one that starts
	for _, m := range []*member{a, b, newer} {
		if err := m.leave(ctx); err != nil {
			t.Error(err)
		}
	}
}

// TestMigrateBehindReader: a migration that needs a table that somebody reads for long does not stop those who use it, and
// goes on when it can; when its time is over, it says what to do.
func TestMigrateBehindReader(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	old := openURL(t, url, Options{}).Namespace("x")
	reader, look := admin(t, url), admin(t, url)
	for _, statement := range []string{"BEGIN", "SELECT 1 FROM lockstep.instances"} {
		if _, err := reader.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	next := nextVersion(addsThings)
	if _, err := Open(ctx, url, Options{steps: next, migration: time.Nanosecond}); err == nil || !strings.Contains(err.Error(), "migrate-limit") || !strings.Contains(err.Error(), "pg_stat_activity") {
		t.Errorf("its time is over: %v", err)
	}
	opened := make(chan error)
	go func() {
		db, err := Open(ctx, url, Options{steps: next, migration: time.Hour})
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}()
	waiting := func() bool {
		return ask1[int](t, look, "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'") > 0
	}
	waitUntil(waiting)
	users, stop := load(t, old, "old")
	for range 3 {
		goesOn(t, users)
		waitUntil(waiting)
	}
	if n := ask1[int](t, look, "SELECT max(version) FROM lockstep.schema_versions"); n != len(migrations) {
		t.Errorf("the schema is %d while somebody has the table", n)
	}
	if _, err := reader.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
	goesOn(t, users)
	stop()
}

// TestMigrateTogether: of several processes of the next version one builds the index, and the others wait for it
// without being in its way. What one left half done another does again.
func TestMigrateTogether(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	s := openURL(t, url, Options{}).Namespace("x")
	ended(t, s, "a", "b")
	clash := migration{name: "clash", since: 1, online: true, text: strings.ReplaceAll(addsIndex.text, "(later, seq)", "(later)")}
	next := nextVersion(addsThings, clash)
	if _, err := Open(ctx, url, Options{steps: next}); err == nil || !strings.Contains(err.Error(), "clash") {
		t.Fatalf("an index that cannot be: %v", err)
	}
	look := admin(t, url)
	if ask1[bool](t, look, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'lockstep.instances_later'::regclass") {
		t.Error("nothing is left of it: this shows nothing")
	}
	if err := s.DeleteInstance(ctx, "b", store.Deletion{}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			db, err := Open(ctx, url, Options{steps: next, Connections: 1})
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if !ask1[bool](t, look, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'lockstep.instances_later'::regclass") {
		t.Error("the index is not valid")
	}
}

// TestOutgrown: a node that a newer version leaves behind sees it with its next heartbeat: it gives its parts to others,
// writes nothing any more, and says what to do. None like it starts.
func TestOutgrown(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	old := joined(t, url, Options{})
	waitUntil(func() bool { return old.parts() == shardCount })
	next := nextVersion(migration{name: "breaks", text: "SELECT 1", since: len(migrations) + 1})
	newer := joined(t, url, Options{steps: next, upgrade: time.Nanosecond}) // as after a minute without a heartbeat
	waitUntil(func() bool { return newer.parts() == shardCount })
	if old.parts() != 0 {
		t.Errorf("the old one has %d parts", old.parts())
	}
	_, ready := old.Deployments(ctx)
	_, refused := Open(ctx, url, Options{})
	for what, err := range map[string]error{
		"whether it is ready": ready, "a start": refused,
		"a write": old.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}}),
	} {
		if err == nil || !strings.Contains(err.Error(), "start a newer one") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := newer.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}}); err != nil {
		t.Error(err)
	}
	if list, err := newer.Nodes(ctx); err != nil || len(list) != 1 {
		t.Errorf("the nodes are %v, %v", list, err)
	}
	if err := errors.Join(old.leave(ctx), newer.leave(ctx)); err != nil {
		t.Error(err)
	}
}

func TestParseMigration(t *testing.T) {
	for text, want := range map[string]migration{
		"SELECT 1":                               {since: 1},
		"-- a remark\nSELECT 1":                  {since: 1},
		"-- migration: online\nSELECT 1":         {since: 1, online: true},
		"-- migration: since=3 online\nSELECT 1": {since: 3, online: true},
	} {
		m, err := parseMigration("x", text)
		want.name, want.text = "x", text
		if err != nil || m != want {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
	for _, text := range []string{"-- migration: onlin", "-- migration: since=0", "-- migration: since=x"} {
		if _, err := parseMigration("x.sql", text); err == nil || !strings.Contains(err.Error(), "x.sql") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
