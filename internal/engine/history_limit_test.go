package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

// TestHistoryLimit: an instance pauses each time that its history grew by the limit, and a person lets it go on.
func TestHistoryLimit(t *testing.T) {
	const limit = 40
	h := newHarness(t, nil, func(c *Config) { c.HistoryRecords = limit })
	b := build("long")
	var steps []stepOp
	for range 60 {
		steps = append(steps, delay(time.Minute))
	}
	h.deploy(b.main(steps...))
	id := h.start("long", `{}`)
	pauses := int64(0)
	for ; pauses < 10; pauses++ {
		h.run(4 * time.Hour)
		row := h.get(id)
		if row.Status.Final() {
			break
		}
		h.want(id, core.Paused, "")
		if got := row.Records / limit; got != pauses+1 {
			t.Fatalf("pause %d at %d records", pauses+1, row.Records)
		}
		if err := h.Control(t.Context(), id, core.Control{Verb: core.VerbResume}); err != nil {
			t.Fatal(err)
		}
	}
	h.want(id, core.Completed, "")
	records, err := h.store.Records(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if told := slices.ContainsFunc(records, func(r core.Record) bool { return strings.Contains(r.Text, "limit history-records") }); !told || pauses < 2 {
		t.Errorf("told %t, %d pauses", told, pauses)
	}
}
