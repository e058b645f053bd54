package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLockByFile: the lock is that of the file, not of its name.
func TestLockByFile(t *testing.T) {
	db := openTest(t)
	other := filepath.Join(filepath.Dir(db.path), "other.db")
	if err := os.Rename(db.path, other); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(other, Options{}); err == nil || !strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("a file that is in use under a name that it had: %v", err)
	}
}
