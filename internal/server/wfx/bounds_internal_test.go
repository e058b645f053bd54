package wfx

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestHashesWithinACommit: a status before a change of the definition has the hash of the
// definition before it, whoever reads it.
func TestHashesWithinACommit(t *testing.T) {
	defined := func(n int64) expr.Value { return object("n", expr.Int(n)) }
	taken := core.Record{Type: core.RecTaken, Name: "CLIENT", HasData: true, Data: object("state", expr.String("NEW"))}
	amended := func(from, to int64) core.Record {
		return core.Record{Type: core.RecControl, Name: string(core.VerbAmend), HasData: true, Data: object(jobdata.Replaced, defined(from), jobdata.Definition, defined(to))}
	}
	item := &store.FeedItem{Pos: 1, Instance: "j", Client: "c", Definition: "w", Records: []core.Record{taken, taken, amended(1, 2), taken, amended(2, 3), taken}}
	for _, known := range []string{"", definitionHash(defined(1))} {
		events, err := (&View{}).events(t.Context(), item, known)
		if err != nil || len(events) != 6 {
			t.Fatalf("%d events: %v", len(events), err)
		}
		for i, n := range []int64{1, 1, 2, 2, 3, 3} {
			if want := definitionHash(defined(n)); !strings.Contains(string(events[i].frame), want) || events[i].hash != want {
				t.Errorf("event %d, where %q was known: %s, want the hash of %d", i, known, events[i].frame, n)
			}
		}
	}
}
