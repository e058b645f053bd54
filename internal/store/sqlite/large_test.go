package sqlite

import (
	"fmt"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestLargeValuesSlowEverybodyDown: a commit that does not touch an instance's large values
// costs the same whether there are any, and so does one of another instance. SQLite reads
// the whole of a row to compare it in a tree whose keys are rows.
func TestLargeValuesSlowEverybodyDown(t *testing.T) {
	cost := func(size int) int64 {
		db := openTest(t)
		s := db.Namespace("default")
		if _, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
			t.Fatal(err)
		}
		commit := func(id string, rev int64, pages ...core.Page) {
			t.Helper()
			in := store.Instance{ID: id, Rev: rev, Definition: "d", Version: "1", Digest: "x", Status: core.Waiting, Labels: expr.EmptyObject}
			if err := s.Commit(ctx, store.Commit{Instance: in, Pages: pages}); err != nil {
				t.Fatal(err)
			}
		}
		small := func(frame core.FrameID) core.Page { return core.Page{Frame: frame, Data: make([]byte, 60)} }
		const instances, commits = 5, 20
		for i := range instances {
			commit(fmt.Sprint("i", i), 0, core.Page{Part: -1, Data: make([]byte, size)}, small(0), small(1))
		}
		before := pagesSeen(t, db)
		for rev := range int64(commits) {
			for i := range instances {
				commit(fmt.Sprint("i", i), 1+rev, small(0), small(1), small(core.FrameID(2+rev)))
			}
		}
		return (pagesSeen(t, db) - before) / (instances * commits)
	}
	few, many := cost(600), cost(4<<20)
	t.Logf("a commit looks at %d pages beside small values, at %d beside large ones", few, many)
	if many > few+2 { // the file is larger
		t.Error("a commit reads the large values beside those that it writes")
	}
}
