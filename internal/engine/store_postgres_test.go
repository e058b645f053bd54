package engine

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// openPostgres opens a database.
func openPostgres(t testing.TB, url string, opts postgres.Options) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(context.Background(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

var overPostgres = flag.Bool("engine.postgres", false, "run the tests of this package over PostgreSQL, too")

var (
	oneDatabase sync.Once
	theDatabase *postgres.DB
	namespaces  atomic.Int64
)

// postgresNamespace is a new namespace of a database that tests share.
func postgresNamespace(t testing.TB) store.Store {
	t.Helper()
	oneDatabase.Do(func() {
		db, err := postgres.Open(context.Background(), pgtest.Start(t).Database(t), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		theDatabase = db
	})
	return theDatabase.Namespace(fmt.Sprint(namespaces.Add(1)))
}

// TestOverPostgres runs the tests of this package once more, over a database that others
// could use, too: nothing is answered from memory.
func TestOverPostgres(t *testing.T) {
	if !*overPostgres || os.Getenv(storeVariable) != "" {
		return // too long for every day, or that is where we are
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Of a namespace among others the numbers are not the same twice.
	cmd := exec.Command(exe, "-test.count=1", "-test.skip=^(TestNodes|TestSameHistory)")
	cmd.Env = append(os.Environ(), storeVariable+"=postgres")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
