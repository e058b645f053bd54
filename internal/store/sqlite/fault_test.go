package sqlite

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/crashfs"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// watch sees what a database below a directory writes.
func watch(t testing.TB, dir string) *crashfs.Disk {
	w := crashfs.Watch(dir)
	t.Cleanup(w.Close)
	return w
}

// openWatched opens a database whose writes can fail.
func openWatched(t testing.TB) (*DB, *crashfs.Disk) {
	t.Helper()
	dir := t.TempDir()
	w := watch(t, dir)
	db, err := Open(filepath.Join(dir, "test.db"), Options{VFS: crashfs.Name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, w
}

func onWrite(rc int32) func(crashfs.Op) int32 {
	return func(op crashfs.Op) int32 {
		if op.Kind == crashfs.Write {
			return rc
		}
		return 0
	}
}

// TestFailedWrites: what cannot be written is an error with a name, nothing of it is
// there afterwards, and when the disk is well again, so is the store.
func TestFailedWrites(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(crashfs.Op) int32
		full bool
	}{
		{"disk full", onWrite(crashfs.DiskFull), true},
		{"write error", onWrite(crashfs.WriteError), false},
		{"sync error", func(op crashfs.Op) int32 {
			if op.Kind == crashfs.Sync {
				return crashfs.SyncError
			}
			return 0
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, w := openWatched(t)
			s := db.Namespace("default")
			create := func(id string) error {
				return s.Commit(ctx, store.Commit{
					Instance: store.Instance{ID: id, Definition: "d" + id, Status: core.Running, More: true}, Records: []core.Record{{Text: id}},
					Pages: []core.Page{{Data: make([]byte, 10_000)}}, Subscribe: []store.Subscription{{Ticket: 1}},
				})
			}
			if err := create("before"); err != nil {
				t.Fatal(err)
			}
			w.Fail(c.fail)
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					if err := create(fmt.Sprint(i)); err == nil || errors.Is(err, store.ErrFull) != c.full {
						t.Errorf("%d: %v", i, err)
					}
				})
			}
			wg.Wait()
			if row, err := s.Instance(ctx, "before"); err != nil || row.Rev != 1 {
				t.Errorf("reading: %v", err)
			}
			w.Fail(nil)
			for i := range 20 {
				if err := create(fmt.Sprint(i)); err != nil {
					t.Errorf("%d when the disk is well again: %v", i, err)
				}
			}
			ready, err := s.Ready(ctx, 0, 100)
			if err != nil || len(ready) != 21 {
				t.Errorf("%d are ready: %v", len(ready), err)
			}
			sound(t, s)
			t.Logf("20 writes refused, none acknowledged; when the disk is well again all 20 are taken, and %d instances are there", len(ready))
		})
	}
}

// sound fails where a check finds something.
func sound(t *testing.T, s store.Store) {
	t.Helper()
	problems, err := s.Check(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Where, p.Text)
	}
}

// TestPoisonedBatch: a request that fails when it has written something fails alone.
func TestPoisonedBatch(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	poison := func(fail func() error) func(*tx) error {
		return func(tr *tx) error {
			e, err := encode(&store.Commit{Instance: store.Instance{ID: "a", Rev: 1, Status: core.Completed}})
			if err == nil {
				err = tr.commit(s.(*Store).space, e)
			}
			if err != nil {
				return err
			}
			return fail()
		}
	}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint(i), Status: core.Waiting}, Records: []core.Record{{Text: "r"}}})
			if err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := db.writer.submit(ctx, 0, poison(func() error { return broken })); !errors.Is(err, broken) {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := db.writer.submit(ctx, 0, poison(func() error { panic("at the disco") })); err == nil || !strings.Contains(err.Error(), "disco") {
				t.Error(err)
			}
		})
		wg.Go(func() {
			err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Rev: 77}})
			if !errors.Is(err, store.ErrConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := s.Instances(ctx, store.Query{Status: []core.Status{core.Waiting}})
	if err != nil || len(list) != 51 {
		t.Errorf("%d instances: %v", len(list), err)
	}
	for _, in := range list {
		if in.Rev != 1 {
			t.Errorf("%s is at revision %d", in.ID, in.Rev)
		}
	}
	if err := s.Commit(ctx, store.Commit{Instance: list[0]}); err != nil {
		t.Error(err)
	}
	sound(t, s)
}

// killVariable says to the test binary that it is the process to be killed.
const killVariable = "LOCKSTEP_TEST_KILL"

// TestKilled: what a process that is killed had acknowledged is there.
func TestKilled(t *testing.T) {
	if path := os.Getenv(killVariable); path != "" {
		killed(path)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "killed.db")
	acked := map[string]int64{}
	for round := range 3 {
		cmd := exec.Command(exe, "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), killVariable+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); {
			id, rev := "", int64(0)
			if _, err := fmt.Sscan(lines.Text(), &id, &rev); err != nil {
				t.Fatalf("round %d: %q", round, lines.Text())
			}
			acked[id] = max(acked[id], rev)
			if n++; n == 300 {
				_ = cmd.Process.Kill() // what it still says counts too
			}
		}
		_ = cmd.Wait()
		db, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := db.Namespace("default")
		for id, rev := range acked {
			in, err := s.Instance(ctx, id)
			if err != nil || in.Rev < rev {
				t.Errorf("round %d: %s is at revision %d, %d was acknowledged: %v", round, id, in.Rev, rev, err)
				continue
			}
			records, err := s.Records(ctx, id, 0, 0)
			if err != nil || int64(len(records)) != in.Rev {
				t.Errorf("round %d: %s has %d records at revision %d: %v", round, id, len(records), in.Rev, err)
			}
		}
		sound(t, s)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acked) < 20 {
		t.Errorf("only %d instances", len(acked))
	}
}

// killed commits until it is killed, and says what was acknowledged.
func killed(path string) {
	db, err := Open(path, Options{Checkpoint: 100})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s := db.Namespace("default")
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				row := store.Instance{ID: fmt.Sprint(os.Getpid(), "-", w, "-", i), Status: core.Waiting}
				for range 5 {
					if err := s.Commit(ctx, store.Commit{Instance: row, Records: []core.Record{{Text: "r"}}, Pages: []core.Page{{Data: make([]byte, 700)}}}); err != nil {
						fmt.Println(err)
						os.Exit(1)
					}
					row.Rev++
					fmt.Println(row.ID, row.Rev)
				}
			}
		}()
	}
	select {}
}
