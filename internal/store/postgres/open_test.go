package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func TestBadAddress(t *testing.T) {
	for address, want := range map[string]string{
		"":                                     "postgres://",
		"host=x":                               "postgres://",
		"postgres://u:secret@h:p/d":            "no URL",
		"postgres://127.0.0.1:1/d?schema=Bad-": "small letters",
		"postgres://u:secret@127.0.0.1:1/d":    "connect",
		"postgres://127.0.0.1:1/d?sslmode=require;password=secret": "separated by &",
		"postgres://127.0.0.1:1/d?sslmode=require&x=%zz":           "separated by &",
		"postgres://127.0.0.1:1/d#?sslmode=require":                "separated by &",
		`postgres://127.0.0.1:1/d?schema=a";drop`:                  "separated by &",
	} {
		_, err := Open(ctx, address, Options{Patience: 1})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := Open(ctx, "postgres://127.0.0.1:1/d", Options{Shards: []int16{64}}); err == nil {
		t.Error("there is no such shard")
	}
}

// TestTogether: processes that start at a time make one schema; two schemas are apart.
func TestTogether(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			db, err := Open(ctx, url, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Namespace("x").Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}}); err != nil && !errors.Is(err, store.ErrConflict) {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if err := db.Namespace("x").Commit(ctx, store.Commit{Instance: store.Instance{ID: "b", Status: core.Waiting}}); err == nil {
				t.Error("a closed database takes a commit")
			}
		})
	}
	wg.Wait()
	other := openURL(t, url+"&schema=other", Options{})
	if list, err := other.Namespace("x").Instances(ctx, store.Query{}); err != nil || len(list) != 0 {
		t.Errorf("another schema: %v %v", list, err)
	}
	if list, err := openURL(t, url, Options{}).Namespace("x").Instances(ctx, store.Query{}); err != nil || len(list) != 1 {
		t.Errorf("%d instances, %v", len(list), err)
	}
}

// TestNewerSchema: a node goes on while a newer one migrates, unless the newer one says that
// it cannot.
func TestNewerSchema(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	old := openURL(t, url, Options{})
	newer := append(slices.Clone(migrations), migration{name: "next", text: "ALTER TABLE instances ADD COLUMN later text", since: 1})
	if err := old.migrate(ctx, newer); err != nil {
		t.Fatal(err)
	}
	row := store.Instance{ID: "a", Status: core.Waiting}
	if err := old.Namespace("x").Commit(ctx, store.Commit{Instance: row}); err != nil {
		t.Errorf("a node of the version before: %v", err)
	}
	openURL(t, url, Options{}) // and one that starts
	breaking := append(newer, migration{name: "breaking", text: "SELECT 1", since: len(newer) + 1})
	if err := old.migrate(ctx, breaking); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, url, Options{}); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("a schema that it does not fit: %v", err)
	}
	changed := slices.Clone(migrations)
	for i := baseline - 1; i < len(changed); i++ {
		changed[i].text += " "
		if err := old.migrate(ctx, changed); err == nil || !strings.Contains(err.Error(), "unreleased") {
			t.Errorf("%s was changed: %v", changed[i].name, err)
		}
		changed[i].text = migrations[i].text
	}
}

// TestKeptSchema: who only looks makes no tables.
func TestKeptSchema(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	for range 2 { // the second time it is still like that
		if _, err := Open(ctx, url, Options{KeepSchema: true}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("it has schema 0, this version would migrate it to %d", len(migrations))) {
			t.Fatalf("an empty database: %v", err)
		}
	}
	openURL(t, url, Options{})
	openURL(t, url, Options{KeepSchema: true})
}

// TestOwnSchema: who owns the schema needs no right to make one.
func TestOwnSchema(t *testing.T) {
	address := pgtest.Start(t).Database(t)
	admin, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(ctx) }()
	as, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	as.User = url.User("limited")
	for _, s := range []string{"DROP ROLE IF EXISTS limited", "CREATE ROLE limited LOGIN"} {
		if _, err := admin.Exec(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(ctx, as.String(), Options{}); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Fatalf("who may not make a schema: %v", err)
	}
	if _, err := admin.Exec(ctx, "CREATE SCHEMA lockstep AUTHORIZATION limited"); err != nil {
		t.Fatal(err)
	}
	s := openURL(t, as.String(), Options{}).Namespace("x")
	if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}}); err != nil {
		t.Error(err)
	}
}

// TestShards: lists of work are narrowed to the shards of a process, which has all where
// nobody says otherwise.
func TestShards(t *testing.T) {
	db := openTest(t, Options{})
	s := db.Namespace("x")
	if _, err := s.Ingest(ctx, store.Event{Event: event.Event{ID: "1", Source: "s", Type: "t"}, Until: 100}, 0, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil }); err != nil {
		t.Fatal(err)
	}
	want := map[int16]int{}
	for i := range 100 {
		id := fmt.Sprint(i)
		want[shardOf(id)]++
		err := s.Commit(ctx, store.Commit{
			Instance: store.Instance{ID: id, Status: core.Waiting, HasWake: true, Wake: core.Time(i)}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}},
			Emits:     []store.Emit{{Event: event.Event{ID: id, Source: "s", Type: "u"}}},
			Subscribe: []store.Subscription{{Ticket: 2, Filter: event.Filter{Type: "t", Source: "s"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all, shards := 0, 0
	for n := range int16(shardCount) {
		db.listOnly([]int16{n})
		ready, err1 := s.Ready(ctx, 1000, 1000)
		calls, err2 := s.Calls(ctx, "")
		emits, err3 := s.Emits(ctx, 1000)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if len(ready) != want[n] || len(calls) != want[n] || len(emits) != want[n] {
			t.Errorf("shard %d: %d are ready, %d calls, %d emits; want %d", n, len(ready), len(calls), len(emits), want[n])
		}
		if all += len(ready); len(ready) > 0 {
			shards++
		}
	}
	if all != 100 || shards < shardCount/3 {
		t.Errorf("%d in %d shards", all, shards)
	}
	db.listOnly(nil)
	if ready, err := s.Ready(ctx, 1000, 1000); err != nil || len(ready) != 100 {
		t.Errorf("%d are ready, %v", len(ready), err)
	}
}
