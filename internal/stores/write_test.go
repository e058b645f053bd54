package stores

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/backup"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// TestFailedExport: what a failed export leaves behind is not a backup.
func TestFailedExport(t *testing.T) {
	for name, failure := range map[string]error{"whole": nil, "failed": errors.New("disk full")} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "one.partial")
			err := write(file, backup.Head{Store: Postgres}, func(out *backup.Writer) error {
				return errors.Join(writeParts(out, postgres.Tables(0)), failure)
			})
			if !errors.Is(err, failure) {
				t.Fatalf("%v, want %v", err, failure)
			}
			if _, _, _, err := Verify(t.Context(), file); (err == nil) != (failure == nil) {
				t.Errorf("verified: %v", err)
			}
		})
	}
}

// writeParts writes parts without rows.
func writeParts(out *backup.Writer, names []string) (err error) {
	for _, name := range names {
		err = errors.Join(err, out.Part(name, func(io.Writer) (int64, error) { return 0, nil }))
	}
	return err
}

// TestMissingPart: a backup that lacks a part, or whose database is empty, is neither sound nor restored.
func TestMissingPart(t *testing.T) {
	pg := pgtest.Start(t)
	all := postgres.Tables(25)
	for name, c := range map[string]struct {
		kind, missing string
		parts         []string
	}{
		"SQLite without a database": {SQLite, databasePart, nil},
		"SQLite, empty database":    {SQLite, databasePart, []string{databasePart}},
		"PostgreSQL without tables": {Postgres, all[0], nil},
		"PostgreSQL without a last": {Postgres, all[len(all)-1], all[:len(all)-1]},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "backup")
			if err := write(file, backup.Head{Store: c.kind, Schema: 25}, func(out *backup.Writer) error { return writeParts(out, c.parts) }); err != nil {
				t.Fatal(err)
			}
			want := "its part " + c.missing + " is missing"
			if _, _, _, err := Verify(t.Context(), file); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("verified: %v", err)
			}
			to := Address{SQLite, filepath.Join(t.TempDir(), "to.db")}
			if c.kind == Postgres {
				to = Address{Postgres, pg.Database(t)}
			}
			if _, err := to.Restore(t.Context(), file); err == nil || !strings.Contains(err.Error(), want+"; nothing was restored") {
				t.Errorf("restored: %v", err)
			}
			if look, err := to.Look(t.Context()); err != nil || look != "will be created" {
				t.Errorf("the store %s (%v)", look, err)
			}
		})
	}
}
