package stores_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/stores"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const calling = `
id: calling
version: "1"
name: Calling
functions:
- name: work
states:
- name: Work
  type: operation
  start: {kind: default}
  actions:
  - functionRef: {refName: work}
  end: {kind: default}
`

// parked answers no call: all of them are in flight.
type parked struct{}

func (parked) Invoke(context.Context, effect.Call) effect.Outcome {
	return effect.Outcome{Parked: true}
}

func parse(t *testing.T, text string) stores.Address {
	t.Helper()
	at, err := stores.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func openEngine(t *testing.T, address string, options ...lockstep.Option) *lockstep.Engine {
	t.Helper()
	e, err := lockstep.Open(t.Context(), address, append(options, lockstep.Invoker(parked{}))...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestBackupUnderLoad: a backup that is made while instances start has every start that was acknowledged before it
// began, is whole, and is restored paused.
func TestBackupUnderLoad(t *testing.T) {
	pg := pgtest.Start(t)
	for kind, addresses := range map[string][2]string{
		stores.SQLite:   {"sqlite:" + filepath.Join(t.TempDir(), "a.db"), "sqlite:" + filepath.Join(t.TempDir(), "b.db")},
		stores.Postgres: {pg.Database(t), pg.Database(t)},
	} {
		t.Run(kind, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "backup")
			before, after := backUpUnderLoad(t, addresses[0], file)
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file has mode %v (%v)", info.Mode(), err)
			}
			if _, err := os.Stat(file + ".partial"); err == nil {
				t.Error("the partial file is still there")
			}
			to := parse(t, addresses[1])
			if _, err := to.Restore(t.Context(), file); err != nil {
				t.Fatal(err)
			}
			if _, err := to.Restore(t.Context(), file); err == nil || !strings.Contains(err.Error(), "already") {
				t.Errorf("restored twice: %v", err)
			}
			var paused *stores.RestoredError
			if _, err := lockstep.Open(t.Context(), addresses[1]); !errors.As(err, &paused) {
				t.Fatalf("a restored store runs at once: %v", err)
			}
			e := openEngine(t, addresses[1], lockstep.ResumeRestored())
			for _, id := range before {
				if _, err := e.Get(t.Context(), id); err != nil {
					t.Errorf("%s was acknowledged before the backup: %v", id, err)
				}
			}
			extra := 0
			for _, id := range after {
				if _, err := e.Get(t.Context(), id); err == nil {
					extra++
				}
			}
			t.Logf("%d before, %d of %d while it was made", len(before), extra, len(after))
			if _, err := e.Start(t.Context(), "calling", nil); err != nil { // its numbers go on
				t.Error(err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			openEngine(t, addresses[1]).Close() // resumed for good
			s, err := to.Open(t.Context(), stores.Options{Namespace: "default"})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
				t.Errorf("the restored store: %v %v", problems, err)
			}
			if calls, err := s.Calls(t.Context(), ""); err != nil || len(calls) < len(before) {
				t.Errorf("%d calls are in flight, want %d at least (%v)", len(calls), len(before), err)
			}
		})
	}
}

// backUpUnderLoad backs a store up while instances start. before were acknowledged before it began, after since.
func backUpUnderLoad(t *testing.T, address, file string) (before, after []string) {
	t.Helper()
	e := openEngine(t, address)
	defer e.Close()
	if _, err := e.Deploy(t.Context(), lockstep.Text(calling)); err != nil {
		t.Fatal(err)
	}
	var began, done atomic.Bool
	var mu sync.Mutex
	var all sync.WaitGroup
	ready := make(chan struct{})
	for w := range 4 {
		all.Go(func() {
			for i := 0; !done.Load(); i++ {
				late := began.Load()
				id, err := e.Start(t.Context(), "calling", nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if late {
					after = append(after, id)
				} else if !began.Load() {
					before = append(before, id)
				}
				mu.Unlock()
				if w == 0 && i == 20 {
					close(ready)
				}
			}
		})
	}
	<-ready
	mu.Lock()
	began.Store(true)
	mu.Unlock()
	_, m, problems, err := parse(t, address).Backup(t.Context(), file)
	done.Store(true)
	all.Wait()
	if err != nil || len(problems) > 0 || len(m.Parts) == 0 {
		t.Fatalf("%v %v %v", m, problems, err)
	}
	return before, after
}

// TestBackupRefused: what is in the way is told, and nothing is left behind.
func TestBackupRefused(t *testing.T) {
	dir := t.TempDir()
	at := parse(t, "sqlite:"+filepath.Join(dir, "a.db"))
	openEngine(t, at.String()).Close()
	file := filepath.Join(dir, "backup")
	if _, _, _, err := at.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := at.Backup(t.Context(), file); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Error(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	to := parse(t, "sqlite:"+filepath.Join(dir, "new", "b.db"))
	for name, damaged := range map[string][]byte{
		"short":   data[:len(data)*2/3],
		"flipped": append(append([]byte{}, data[:len(data)/2]...), append([]byte{data[len(data)/2] ^ 1}, data[len(data)/2+1:]...)...),
		"text":    []byte("not a backup"),
	} {
		bad := filepath.Join(dir, name)
		if err := os.WriteFile(bad, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Restore(t.Context(), bad); err == nil {
			t.Errorf("%s was restored", name)
		}
		if _, _, _, err := stores.Verify(t.Context(), bad); err == nil {
			t.Errorf("%s was verified", name)
		}
		if to.Exists() {
			t.Fatalf("%s left a store behind", name)
		}
	}
	if _, err := parse(t, "postgres://nobody@127.0.0.1:1/x").Restore(t.Context(), file); err == nil || !strings.Contains(err.Error(), "a backup of a store of the kind sqlite:") {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.partial*"))
	if more, _ := filepath.Glob(filepath.Join(dir, "new", "*restoring*")); err != nil || len(left)+len(more) > 0 {
		t.Error(fmt.Sprint(left, more, err))
	}
}

// TestDamagedBackupOfPostgres: a backup that is damaged leaves nothing behind in the database, and the next one is
// restored.
func TestDamagedBackupOfPostgres(t *testing.T) {
	pg := pgtest.Start(t)
	from, to := pg.Database(t), parse(t, pg.Database(t))
	openEngine(t, from).Close()
	file := filepath.Join(t.TempDir(), "backup")
	if _, _, _, err := parse(t, from).Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(bad, data[:len(data)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Restore(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "nothing was restored") {
		t.Error(err)
	}
	if _, err := to.Restore(t.Context(), file); err != nil {
		t.Error(err)
	}
}
