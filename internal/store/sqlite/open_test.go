package sqlite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func TestOneProcess(t *testing.T) {
	db := openTest(t)
	_, err := Open(db.path, Options{})
	if err == nil || !strings.Contains(err.Error(), db.path+"-lock") {
		t.Errorf("a second one: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(db.path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, Options{}); err == nil {
		t.Error("a second one by another name")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(db.path, Options{})
	if err != nil {
		t.Fatalf("after the first is closed: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if err := db.Namespace("default").Commit(ctx, store.Commit{Instance: store.Instance{ID: "a"}}); !errors.Is(err, errClosed) {
		t.Errorf("a commit after closing: %v", err)
	}
	if _, err := db.Namespace("default").Instance(ctx, "a"); !errors.Is(err, errClosed) {
		t.Errorf("a read after closing: %v", err)
	}
}

func TestRefusedFiles(t *testing.T) {
	for _, path := range []string{"", ":memory:", filepath.Join(t.TempDir(), "no", "such", "directory", "x.db")} {
		if db, err := Open(path, Options{}); err == nil {
			_ = db.Close()
			t.Errorf("%q is opened", path)
		}
	}
	for want, script := range map[string]string{
		"newer":              fmt.Sprintf("PRAGMA user_version = %d", len(migrations)+1),
		"not one of":         "PRAGMA application_id = 7",
		"file is not a data": "",
	} {
		path := filepath.Join(t.TempDir(), "x.db")
		db, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.writer.submit(ctx, 0, func(tr *tx) error { return tr.conn.script(script) }); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if script == "" {
			if err := os.WriteFile(path, []byte(strings.Repeat("this is not a database ", 500)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := os.ReadFile(path)
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", want, err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the file was changed", want)
		}
	}
}

// TestNamespaces: namespaces of one file know nothing of each other.
func TestNamespaces(t *testing.T) {
	db := openTest(t)
	a, b := db.Namespace("a"), db.Namespace("b")
	for i, s := range []store.Store{a, b} {
		c := store.Commit{
			Instance:  store.Instance{ID: "x", Definition: "d", Status: core.Waiting, HasWake: true, Wake: core.Time(10 + i)},
			Subscribe: []store.Subscription{{Ticket: 1, Filter: event.Filter{Type: "t"}}}, Records: []core.Record{{Attempt: i}},
			Emits: []store.Emit{{Event: event.Event{ID: "1", Source: "s", Type: "t"}}}[:i],
		}
		if err := s.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	_, err := a.Ingest(ctx, store.Event{Event: event.Event{ID: "1", Source: "s", Type: "t"}, Until: 100}, 0, func(e store.Event, v store.View) (store.Routing, error) {
		seen = len(v.Subscriptions(e.Event))
		return store.Routing{Deliver: []store.Delivery{{Event: e.Seq, Instance: "x", Reply: core.Reply{Ticket: 1}}}}, nil
	})
	if err != nil || seen != 1 {
		t.Errorf("%d subscriptions: %v", seen, err)
	}
	for i, s := range []store.Store{a, b} {
		ready, _ := s.Ready(ctx, 10, 10)
		events, _ := s.Events(ctx, store.EventQuery{})
		emits, _ := s.Emits(ctx, 10)
		feed, _ := s.Feed(ctx, 0, 10)
		n, _ := s.Count(ctx, store.Query{})
		if got, want := fmt.Sprint(len(ready), len(events.Events), len(emits), len(feed.Items), n), []string{"1 1 0 1 1", "0 0 1 1 1"}[i]; got != want {
			t.Errorf("namespace %d: %s, want %s", i, got, want)
		}
		sound(t, s)
	}
	if other := db.Namespace("a"); fmt.Sprint(other.(*Store).ns) != fmt.Sprint(a.(*Store).ns) {
		t.Error("a namespace has two numbers")
	}
}

// TestLibraries: modernc.org/libc must be the very version that modernc.org/sqlite is
// made for.
func TestLibraries(t *testing.T) {
	list := func(module, format string) string {
		cmd := exec.Command("go", "list", "-m", "-f", format, module)
		cmd.Env = append(os.Environ(), "GOPROXY=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list %s: %v", module, err)
		}
		return strings.TrimSpace(string(out))
	}
	mod, err := os.ReadFile(list("modernc.org/sqlite", "{{.GoMod}}"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`modernc\.org/libc (\S+)`).FindSubmatch(mod)
	if have := list("modernc.org/libc", "{{.Version}}"); named == nil || string(named[1]) != have {
		t.Errorf("modernc.org/sqlite names libc %s; go.mod has %s", named, have)
	}
}

// TestOldLibrary: a library with known faults is refused, and so is a file system without WAL.
func TestOldLibrary(t *testing.T) {
	for version, good := range map[string]bool{"3.51.3": true, "3.52.0": true, "4.0.0": true, "3.51.2": false, "3.9.9": false, "3.50.4": false, "three": false} {
		if err := judgeLibrary(version, "wal"); (err == nil) != good {
			t.Errorf("%s: %v", version, err)
		}
	}
	if err := judgeLibrary("3.51.3", "delete"); err == nil {
		t.Error("a database without WAL is opened")
	}
}

var timers = flag.Int("wake.timers", 3*wakeBatch, "how many timers of TestManyWake are due within a millisecond")

// TestManyWake: when very many are due at once, all are woken, in order, a part at a time.
func TestManyWake(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	n := *timers
	err := db.writer.submit(ctx, 0, func(tr *tx) error {
		for i := range n {
			in := store.Instance{ID: fmt.Sprint(i), Status: core.Waiting, HasWake: true, Wake: core.Time(n - i)}
			e, err := encode(&store.Commit{Instance: in})
			if err != nil {
				return err
			}
			if err := tr.commit(s.(*Store).space, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	last, most := n, 0
	for last > 0 {
		ready, err := s.Ready(ctx, core.Time(n), 100)
		if err != nil || len(ready) == 0 {
			t.Fatalf("%d are left: %v", last, err)
		}
		if sp := s.(*Store).space; len(sp.work) > 2*wakeBatch {
			t.Fatalf("%d are in memory", len(sp.work))
		}
		most = max(most, len(s.(*Store).space.work))
		var done []*encoded
		for _, id := range ready {
			if last--; id != fmt.Sprint(last) {
				t.Fatalf("%s is woken instead of %d", id, last)
			}
			in, err := s.Instance(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			in.HasWake = false
			e, err := encode(&store.Commit{Instance: in})
			if err != nil {
				t.Fatal(err)
			}
			done = append(done, e)
		}
		err = db.writer.submit(ctx, 0, func(tr *tx) error {
			for _, e := range done {
				if err := tr.commit(s.(*Store).space, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d timers woke in order, at most %d in memory at a time", n, most)
	if ready, _ := s.Ready(ctx, core.Time(n), 100); len(ready) != 0 {
		t.Errorf("%v are woken again", ready)
	}
}
