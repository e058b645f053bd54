package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestTalliesAreFewPages: a week is one row per hour and one page per row at most, however many instances there are; adding to
// an hour writes a few statements.
func TestTalliesAreFewPages(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	fillWaiting(t, db, 2_000)
	const week, definitions = 7 * 24, 20
	hour := func(n int) store.Hour {
		h := store.Hour{At: core.Time(time.Duration(n) * time.Hour)}
		for d := range definitions {
			tally := store.Tally{Definition: fmt.Sprint("a definition with a name of its own ", d), Started: 1234, Completed: 1200, Failed: 34}
			for i := range 8 {
				tally.Durations = append(tally.Durations, store.DurationBucket{Bucket: 60 + i, N: 150})
			}
			h.Add(tally)
		}
		return h
	}
	for n := range week {
		if err := s.AddTallies(ctx, []store.Hour{hour(n)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	pages, before := pagesSeen(t, db), db.Counters()
	hours, err := s.ListTallies(ctx, 0, always)
	if err != nil || len(hours) != week || len(hours[9].Tallies) != definitions {
		t.Fatalf("%d hours: %v", len(hours), err)
	}
	rows, pages := db.Counters().Rows-before.Rows, pagesSeen(t, db)-pages
	if rows > 500 || pages > 200 {
		t.Errorf("a week took %d rows and %d pages", rows, pages)
	}
	statements := db.Counters().Statements
	if err := s.AddTallies(ctx, []store.Hour{hour(week - 1)}, 0); err != nil {
		t.Fatal(err)
	}
	if n := db.Counters().Statements - statements; n > 5 {
		t.Errorf("adding to an hour took %d statements", n)
	}
	t.Logf("%d rows, %d pages", rows, pages)
}

const always = core.Time(1<<63 - 1)
