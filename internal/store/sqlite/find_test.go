package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// labelled is the i-th of many instances: each has an order, a name and a key of its own, and a region that all
// have. Of ten, nine are children of the first.
func labelled(i int) store.Instance {
	in := store.Instance{
		ID: fmt.Sprintf("i%07d", i), Name: fmt.Sprintf("Order A-%d", i), Key: fmt.Sprintf("k-%d", i), Indexed: true,
		Definition: "d", Version: "1", Digest: "x", Status: core.Completed,
		Labels: expr.Object(expr.Member{Key: "order", Value: expr.String(fmt.Sprintf("A-%d", i))}, expr.Member{Key: "region", Value: expr.String("eu")}),
	}
	if i%10 != 0 {
		in.Parent = fmt.Sprintf("i%07d", i-i%10)
	}
	return in
}

// fillLabelled makes n of them.
func fillLabelled(t testing.TB, db *DB, n int) {
	t.Helper()
	sp := db.Namespace("default").(*Store).space
	if _, err := store.PutDefinition(ctx, db.Namespace("default"), store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < n; from += 1000 {
		err := db.writer.submit(ctx, 0, func(tr *tx) error {
			for i := from; i < min(n, from+1000); i++ {
				e, err := encode(&store.Commit{Instance: labelled(i)})
				if err == nil {
					err = tr.commit(sp, e)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// searches are the searches that must cost what they find, the i-th instance or a page of them.
func searches(i int) map[string]store.Query {
	order := []store.Label{{Name: "order", Value: fmt.Sprintf("A-%d", i)}}
	region := []store.Label{{Name: "region", Value: "eu"}}
	return map[string]store.Query{
		"a label that one has":            {Labels: order, Newest: true, Limit: 51},
		"a label that all have":           {Labels: region, Newest: true, Limit: 51},
		"a label that all have, last":     {Labels: region, Limit: 51},
		"a label and a definition":        {Labels: order, Definition: "d", Newest: true, Limit: 51},
		"a name":                          {Name: fmt.Sprintf("Order A-%d", i), Newest: true, Limit: 51},
		"a key":                           {Key: fmt.Sprintf("k-%d", i), Newest: true, Limit: 51},
		"plain text that is a value":      {Text: fmt.Sprintf("A-%d", i), Newest: true, Limit: 51},
		"plain text that is an id":        {Text: fmt.Sprintf("i%07d", i), Newest: true, Limit: 51},
		"plain text that nobody has":      {Text: "nobody", Newest: true, Limit: 51},
		"a parent":                        {Parent: fmt.Sprintf("i%07d", i-i%10), Newest: true, Limit: 51},
		"roots":                           {Root: true, Newest: true, Limit: 21},
		"roots by definition and status":  {Root: true, Definition: "d", Status: []core.Status{core.Completed}, Newest: true, Limit: 21},
		"everything, as before":           {Newest: true, Limit: 51},
		"everything by definition":        {Definition: "d", Newest: true, Limit: 51},
		"everything with a status":        {Status: []core.Status{core.Completed}, Newest: true, Limit: 51},
		"a status that nobody has, roots": {Root: true, Status: []core.Status{core.Failed}, Newest: true, Limit: 21},
	}
}

// TestFindingIsFree: a search among many reads the rows and pages of one among few, apart from the levels of the
// trees of indexes. BENCH_FIND=1000000 sets how many; the log tells what each search cost.
func TestFindingIsFree(t *testing.T) {
	type cost struct{ rows, pages int64 }
	costs := func(n int) map[string]cost {
		db, err := Open(filepath.Join(t.TempDir(), "find.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		fillLabelled(t, db, n)
		out := map[string]cost{}
		for name, q := range searches(n / 2) {
			for range 2 { // the first time, statements are prepared
				p := pagesSeen(t, db)
				rows, err := db.Namespace("default").Instances(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				out[name] = cost{int64(len(rows)), pagesSeen(t, db) - p}
			}
		}
		return out
	}
	few, most := 1_000, 30_000
	if raceDetector {
		few, most = 300, 3_000
	}
	if text := os.Getenv("BENCH_FIND"); text != "" {
		if _, err := fmt.Sscan(text, &most); err != nil {
			t.Fatal(err)
		}
	}
	small, large := costs(few), costs(most)
	for name, a := range small {
		b := large[name]
		t.Logf("%-32s %3d rows, %4d pages among %d; %3d, %4d among %d", name, a.rows, a.pages, few, b.rows, b.pages, most)
		if a.rows != b.rows || b.pages > 2*a.pages { // every search passes through a tree, which has up to twice as many levels
			t.Errorf("%s: %+v among %d, %+v among %d", name, a, few, b, most)
		}
	}
}
