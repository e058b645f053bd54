package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestBackupWhileWriting: a copy has everything that was acknowledged before it began,
// and is sound.
func TestBackupWhileWriting(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	create := func(id string) {
		if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: id, Status: core.Waiting}, Records: []core.Record{{Text: id}}}); err != nil {
			t.Error(err)
		}
	}
	for i := range 50 {
		create(fmt.Sprint("before-", i))
	}
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					create(fmt.Sprint(w, "-", i))
				}
			}
		})
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(ctx, path); err != nil {
		t.Error(err)
	}
	close(stop)
	wg.Wait()
	if err := db.Backup(ctx, path); err == nil {
		t.Error("a file that exists is overwritten")
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Fatalf("the copy: %v", err)
	}
	again, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	copied := again.Namespace("default")
	for i := range 50 {
		if _, err := copied.Instance(ctx, fmt.Sprint("before-", i)); err != nil {
			t.Error(err)
		}
	}
	sound(t, copied)
	there, err := s.Instances(ctx, store.Query{})
	list, failed := copied.Instances(ctx, store.Query{})
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	t.Logf("a copy with %d instances, made while 4 writers wrote %d: sound, and it has all of the 50 before", len(list), len(there))
}
