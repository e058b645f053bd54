package postgres

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/backup"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestAuditAfterRestore: the audit log goes on behind the entries of the backup.
func TestAuditAfterRestore(t *testing.T) {
	db := openTest(t, Options{})
	s := db.Namespace("default")
	add := func(s store.Store, from, to int) {
		for i := from; i < to; i++ {
			if err := s.AppendEntry(ctx, store.Entry{ID: fmt.Sprint(i), Who: "w"}, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(s, 0, 3)
	version, err := db.Schema(ctx)
	if err != nil {
		t.Fatal(err)
	}
	head := backup.Head{Store: "postgres", Schema: version, Created: time.Unix(1, 0)}
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, head)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Export(ctx, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	to := pgtest.Start(t).Database(t)
	if err := Restore(ctx, to, head, &file); err != nil {
		t.Fatal(err)
	}
	restored, err := Open(ctx, to, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	add(restored.Namespace("default"), 2, 6) // the first is there already
	list, err := restored.Namespace("default").Entries(ctx, store.EntryQuery{Limit: 10})
	if err != nil || len(list) != 6 || list[0].ID != "5" {
		t.Errorf("%+v, %v", list, err)
	}
}
