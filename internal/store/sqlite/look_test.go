package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// TestLook: what opening a file would do, without a lock and without changing it.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.db")
	look := func(path string, fresh bool, refused string) {
		t.Helper()
		have, want, err := sqlite.Look(path)
		switch {
		case refused != "":
			if err == nil || !strings.Contains(err.Error(), refused) {
				t.Errorf("%s: %v, want %q", path, err, refused)
			}
		case err != nil || want == 0 || (have == 0) != fresh || have != 0 && have != want:
			t.Errorf("%s: schema %d of %d, %v", path, have, want, err)
		}
	}
	look(file, true, "")
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was made")
	}
	db, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	look(file, false, "")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	look(write("text", strings.Repeat("text ", 30)), false, "not an SQLite database")
	look(write("short", "SQLite format 3\x00"), false, "not an SQLite database")
	look(write("empty", ""), true, "")
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other, newer := string(sound[:68])+"abcd"+string(sound[72:]), string(sound[:60])+"\x00\x00\x7f\x00"+string(sound[64:])
	look(write("other", other), false, "not one of lockstep's")
	look(write("newer", newer), false, "written by a newer one")
	write("gone-wal", "frames")
	look(filepath.Join(dir, "gone"), false, "put the database back")
}
