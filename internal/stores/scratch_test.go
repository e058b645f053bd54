package stores_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/stores"
)

// TestBackupsAtOnce: of several backups to one file one is made, the others are refused, and so with restores.
func TestBackupsAtOnce(t *testing.T) {
	pg := pgtest.Start(t)
	for _, address := range []string{"sqlite:" + filepath.Join(t.TempDir(), "a.db"), pg.Database(t)} {
		at := parse(t, address)
		t.Run(at.Kind, func(t *testing.T) {
			openEngine(t, address).Close()
			dir := t.TempDir()
			for round := range 5 {
				file := filepath.Join(dir, fmt.Sprint(round))
				one(t, "exists already", func() error {
					_, _, _, err := at.Backup(t.Context(), file)
					return err
				})
				if _, _, _, err := stores.Verify(t.Context(), file); err != nil {
					t.Fatal(err)
				}
				if at.Kind == stores.SQLite {
					to := parse(t, "sqlite:"+filepath.Join(dir, fmt.Sprint(round, ".db")))
					one(t, "already", func() error {
						_, err := to.Restore(t.Context(), file)
						return err
					})
					openEngine(t, to.String(), lockstep.ResumeRestored()).Close()
				}
			}
			left, _ := filepath.Glob(filepath.Join(dir, "*.*ing"))
			more, _ := filepath.Glob(filepath.Join(dir, "*.partial*"))
			if len(left)+len(more) > 0 {
				t.Error(left, more)
			}
		})
	}
}

// one calls a function several times at once. It must succeed once, and else be refused with some text, or because
// another process is at it.
func one(t *testing.T, text string, f func() error) {
	t.Helper()
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() { errs[i] = f() })
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else if !strings.Contains(err.Error(), text) && !strings.Contains(err.Error(), "another process uses it") {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Fatalf("%d were made: %v", made, errs)
	}
}

// TestLeftovers: what a backup that was killed left is named if it is old, and cleared by the next one to its file.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	at := parse(t, "sqlite:"+filepath.Join(dir, "a.db"))
	openEngine(t, at.String()).Close()
	file := filepath.Join(dir, "b.backup")
	for _, name := range []string{"b.backup.partial", "c.backup.partial", "young.partial", "mine.partial"} {
		write := func(part, text string) {
			if err := os.WriteFile(filepath.Join(dir, name, part), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write("backup", "half")
		write("copy.db", "half")
		write("copy.db-wal", "half")
		if name == "mine.partial" { // of another program
			continue
		}
		write("lock", "")
		if name != "young.partial" {
			if err := os.Chtimes(filepath.Join(dir, name, "lock"), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{filepath.Join(dir, "b.backup.partial"), filepath.Join(dir, "c.backup.partial")}
	if left := stores.Leftovers(file); fmt.Sprint(left) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", left, want)
	}
	if _, _, _, err := at.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if left := stores.Leftovers(file); fmt.Sprint(left) != fmt.Sprint(want[1:]) {
		t.Errorf("%v, want %v", left, want[1:])
	}
}
