//go:build unix

package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFileModes: only the owner reads what is made, also in a folder that others can read.
func TestFileModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.db")
	db, told := openLogged(t, path)
	if err := add(db.Namespace("default"), "a"); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(ctx, filepath.Join(dir, "copy.db")); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 6 {
		t.Fatalf("%v %v", list, err)
	}
	for _, entry := range list {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v: %v", entry.Name(), info.Mode(), err)
		}
	}
	if err := db.Close(); err != nil || told.Len() > 0 {
		t.Fatalf("%v %s", err, told)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	_, told = openLogged(t, path)
	if !strings.Contains(told.String(), "others than the owner may read") {
		t.Errorf("no warning: %s", told)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode was changed: %v %v", info.Mode(), err)
	}
}
