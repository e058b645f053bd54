package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// storeVariable chooses the store of the tests that do not bring their own.
const storeVariable = "LOCKSTEP_TEST_STORE"

func newStore(t testing.TB) store.Store {
	t.Helper()
	switch os.Getenv(storeVariable) {
	case "postgres":
		return postgresNamespace(t)
	case "":
		return storetest.Looking(t, memory.New(), 2) // every router must stand being called again
	}
	return sqliteNamespace(t)
}

func sqliteNamespace(t testing.TB) store.Store {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "engine.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db.Namespace("default")
}

// TestOverSQLite runs the tests of this package once more, over a file.
func TestOverSQLite(t *testing.T) {
	if os.Getenv(storeVariable) != "" {
		return // that is where we are
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.count=1")
	cmd.Env = append(os.Environ(), storeVariable+"=sqlite")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
