package main

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// TestForeachIsLinear: a foreach over several times as many items writes so many times the
// bytes and looks at so many times the pages, whether answers share commits or each has one
// of its own, and the heap does not grow beyond what the items and their results need.
func TestForeachIsLinear(t *testing.T) {
	for _, x := range []struct {
		name   string
		few    fan
		times  int
		writes int64 // per item, at least
	}{
		{name: "side by side", few: fan{items: 2000, looks: 4}, times: 5},
		{name: "one by one", few: fan{items: 2500, looks: 4, single: true}, times: 3, writes: 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			perItem := func(f fan) (bytes, pages float64) {
				got, err := f.run(t.Context(), t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				if got.results != f.items || got.calls != int64(f.items) || got.writes < x.writes*int64(f.items) {
					t.Errorf("%d items gave %d results with %d calls and %d commits", f.items, got.results, got.calls, got.writes)
				}
				if got.heap == 0 || got.heap > mostHeap {
					t.Errorf("%d items had %s of the heap, want at most %s", f.items, mebibytes(got.heap), mebibytes(mostHeap))
				}
				bytes, pages = float64(got.bytes)/float64(f.items), float64(got.pages)/float64(f.items)
				t.Logf("%d items: %.0f bytes and %.1f pages each, %d commits, heap %s", f.items, bytes, pages, got.writes, mebibytes(got.heap))
				return bytes, pages
			}
			many := x.few
			many.items *= x.times
			fewBytes, fewPages := perItem(x.few)
			bytes, pages := perItem(many)
			if bytes > 1.3*fewBytes {
				t.Errorf("an item writes %.0f bytes, and %.0f among %d times as many", fewBytes, bytes, x.times)
			}
			if pages > 1.5*fewPages { // the trees may be a level deeper
				t.Errorf("an item looks at %.1f pages, and at %.1f among %d times as many", fewPages, pages, x.times)
			}
		})
	}
}

// mostHeap is how much of the heap may be in use during such a foreach. With 10,000 items
// it is 4 MiB; SQLite's cache is not in it.
const mostHeap = 16 << 20

// TestWaitingCostsNothing: what an event costs the engine and the store together does not
// depend on how many instances wait beside the one that takes it.
func TestWaitingCostsNothing(t *testing.T) {
	cost := func(n int) eventCost {
		db, err := openDatabase(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := fill(t.Context(), db.store, n, forEvent, forTimer); err != nil {
			t.Fatal(err)
		}
		e, err := deployed(t.Context(), db.store, engine.Config{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := costOfEvents(t.Context(), db, e, n)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("among %d: %+v", n, got)
		return got
	}
	few, many := cost(1000), cost(20_000)
	if few.Statements != many.Statements || few.Rows != many.Rows {
		t.Error("an event reads more among many")
	}
	if few.Statements > 13.5 {
		t.Errorf("an event and its step run %.1f statements, and should run 13", few.Statements)
	}
	// Trees have two levels at least: one more is half as many pages again. What is written are leaves.
	if many.Pages > few.Pages*1.5 || many.Written > few.Written*1.2 {
		t.Error("an event touches more pages than those of one more level of each tree")
	}
}
