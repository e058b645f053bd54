package sqlite

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var update = flag.Bool("update", false, "write the database file of this version of the schema anew")

func fixture(version int) string { return filepath.Join("testdata", fmt.Sprintf("v%d.db.gz", version)) }

// TestMigrations opens a file of every version of the schema, this one's included.
func TestMigrations(t *testing.T) {
	if *update {
		writeFixture(t, fixture(len(migrations)))
	}
	for version := 1; version <= len(migrations); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			db, err := Open(unpack(t, fixture(version)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			s := db.Namespace("default")
			sound(t, s)
			have, err := describe(s, version)
			if err != nil {
				t.Fatal(err)
			}
			fresh := openTest(t).Namespace("default")
			if version == 1 {
				fillFirst(t, fresh)
			} else {
				fillStore(t, fresh)
			}
			want, err := describe(fresh, version)
			if err != nil {
				t.Fatal(err)
			}
			if have != want {
				t.Errorf("it has\n%s\nwant\n%s", have, want)
			}
			if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "new", Status: core.Running}}); err != nil {
				t.Error(err)
			}
			sound(t, s)
		})
	}
}

// describe prints what a version of the schema had of what was written.
func describe(s store.Store, version int) (string, error) {
	var out strings.Builder
	rows, err := s.Instances(ctx, store.Query{})
	if err != nil {
		return "", err
	}
	for _, in := range rows {
		records, err := s.Records(ctx, in.ID, 0, 0)
		if err != nil {
			return "", err
		}
		pages, err := s.Pages(ctx, in.ID)
		if err != nil {
			return "", err
		}
		subs, err := s.Subscriptions(ctx, in.ID)
		if err != nil {
			return "", err
		}
		inbox, err := s.Messages(ctx, in.ID)
		if err != nil {
			return "", err
		}
		in.Fault = nil
		fmt.Fprintf(&out, "%+v\n%+v\n%d pages\n%+v\n%+v\n", in, records, len(pages), subs, inbox)
	}
	defs, err := s.ListDefinitions(ctx)
	if err != nil {
		return "", err
	}
	events, err := s.Events(ctx, store.EventQuery{})
	if err != nil {
		return "", err
	}
	outbound, err := s.Outbound(ctx, 10)
	if err != nil {
		return "", err
	}
	calls, err := s.Calls(ctx, "")
	if err != nil {
		return "", err
	}
	feed, err := s.Feed(ctx, 0, 100)
	if err != nil {
		return "", err
	}
	if version == 1 { // it did not tell of deletions
		feed.Items = slices.DeleteFunc(feed.Items, func(f store.FeedItem) bool { return len(f.Records) > 0 && f.Records[0].Type == core.RecDeleted })
	}
	jobs, err := s.JobStats(ctx)
	if err != nil {
		return "", err
	}
	labelled, err := s.Count(ctx, store.Query{Labels: []store.Label{{Name: "l", Value: "1"}}})
	if err != nil {
		return "", err
	}
	due, err := s.Schedules(ctx, 1000)
	if err != nil {
		return "", err
	}
	over, err := s.Expired(ctx, 1000, 10)
	if err != nil {
		return "", err
	}
	ready, err := s.Ready(ctx, 1000, 10)
	fmt.Fprintf(&out, "%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%v\n%v\n%d\n", defs, events, outbound, calls, feed.Items, due, over, ready, jobs, labelled)
	return out.String(), err
}

func writeFixture(t *testing.T, path string) {
	t.Helper()
	db := openTest(t)
	fillStore(t, db.Namespace("default"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(db.path)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, err = z.Write(data)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "fixture.db")
	if err := os.WriteFile(out, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMigrationIsWhole: a step that fails leaves the file as it was; what comes later
// goes on from there.
func TestMigrationIsWhole(t *testing.T) {
	raw, err := sqlite.OpenConn(filepath.Join(t.TempDir(), "x.db"), sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{Conn: raw}
	defer c.Close()
	version := func() int64 {
		n, _, err := c.number("PRAGMA user_version")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	one, two := "CREATE TABLE a (x); INSERT INTO a VALUES (1);", "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1"
	if err := migrate(c, []string{one}); err != nil || version() != 1 {
		t.Fatalf("version %d: %v", version(), err)
	}
	if err := migrate(c, []string{one, two, "this is no SQL"}); err == nil || version() != 1 {
		t.Errorf("version %d after a step that fails: %v", version(), err)
	}
	if _, _, err := c.number("SELECT y FROM a"); err == nil {
		t.Error("the step before the one that failed is there")
	}
	for range 2 {
		if err := migrate(c, []string{one, two}); err != nil || version() != 2 {
			t.Fatalf("version %d: %v", version(), err)
		}
	}
	if y, _, err := c.number("SELECT y FROM a"); err != nil || y != 2 {
		t.Errorf("y is %d: %v", y, err)
	}
}

// TestKeptSchema: who only looks finds an older file as it was afterwards.
func TestKeptSchema(t *testing.T) {
	path := unpack(t, fixture(1))
	for range 2 { // the second time it is still like that
		if db, err := Open(path, Options{KeepSchema: true}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("it has schema 1, this version would migrate it to %d", len(migrations))) {
			t.Fatalf("an older one: %v, %v", db, err)
		}
	}
	for _, keep := range []bool{false, true} {
		db, err := Open(path, Options{KeepSchema: keep})
		if err != nil {
			t.Fatalf("keep %t: %v", keep, err)
		}
		sound(t, db.Namespace("default"))
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
