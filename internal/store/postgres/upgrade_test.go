package postgres

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// TestRollingUpgrade: while a node of the version before is there, what is written has no checksums, and both
// read it. Once it is gone, everything that is written has one, and none like it starts.
func TestRollingUpgrade(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	before := migrations[:sumsSince-1]
	old := joined(t, url, Options{steps: before})
	look := admin(t, url)
	version := func() int { return ask1[int](t, look, "SELECT max(version) FROM lockstep.schema_versions") }
	x := tables{t, look}
	// sealed counts the values that have a checksum, and the others. Definitions, whose checksums anybody reads past, are
	// not among them, nor are names and hashes.
	sealed := func() (with, without int) {
		for _, column := range x.Columns() {
			switch column {
			case "contents.program", "contents.source", "aliases.source", "events.key", "gatherings.key", "subs.name", "outcomes.results":
				continue
			}
			for _, v := range x.Values(column) {
				if v.Data[0] == 0xFE {
					with++
				} else {
					without++
				}
			}
		}
		return with, without
	}
	waitUntil(func() bool { return old.parts() == shardCount })
	if _, err := look.Exec(ctx, "UPDATE lockstep.nodes SET knows = NULL"); err != nil { // that of a version that does not know the column
		t.Fatal(err)
	}
	var told logged
	log := slog.New(slog.NewTextHandler(&told, nil))
	newer := joined(t, url, Options{upgrade: 2 * defaultLease, Log: log})
	if text := told.String(); !strings.Contains(text, "upgrade-wait") || !strings.Contains(text, "[node 1]") {
		t.Fatalf("while it waits, the operator reads %q", text)
	}
	waitUntil(func() bool { return newer.parts() > 0 && old.parts() > 0 })
	storetest.Fill(t, newer.Store)
	openURL(t, url, Options{KeepSchema: true}) // who only looks need not wait
	if with, without := sealed(); with > 0 || without == 0 || version() != len(before) {
		t.Errorf("beside an old node %d of %d values have checksums, at schema %d", with, with+without, version())
	}
	problems, err := old.Check(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("the old node reads: %v %v", problems, err)
	}
	second := joined(t, url, Options{steps: before}) // it comes while the others wait
	waitUntil(func() bool { return second.parts() > 0 })
	if err := old.leave(ctx); err != nil {
		t.Fatal(err)
	}
	if err := newer.db.migrate(ctx, migrations); err != nil || version() != len(before) {
		t.Errorf("beside another old node: %v, at schema %d", err, version())
	}
	if err := second.leave(ctx); err != nil {
		t.Fatal(err)
	}
	var starts sync.WaitGroup
	for range 3 { // together with the one that waits: one of them does it
		starts.Go(func() {
			db, err := Open(ctx, url, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if !db.sums.Load() {
				t.Error("it does not know that there are checksums now")
			}
			_ = db.Close()
		})
	}
	starts.Wait()
	waitUntil(func() bool { return newer.db.sums.Load() && strings.Contains(told.String(), "the schema is changed") })
	in, err := newer.Instance(ctx, "a")
	if err == nil {
		err = newer.Commit(ctx, store.Commit{Instance: in, Records: []core.Record{{Text: "x"}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	if with, _ := sealed(); with != 2 { // the row and its record
		t.Errorf("after the old node is gone, a commit writes %d values with checksums", with)
	}
	if problems, err := newer.Check(ctx); err != nil || len(problems) > 0 || version() != len(migrations) {
		t.Errorf("both kinds are read: %v %v, at schema %d", problems, err, version())
	}
	if _, err := Open(ctx, url, Options{steps: before}); err == nil || !strings.Contains(err.Error(), "start a newer one") {
		t.Errorf("an old one that starts: %v", err)
	}
	if err := newer.leave(ctx); err != nil {
		t.Error(err)
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
