package engine

import (
	"fmt"
	"testing"
	"time"
)

// TestNearMissesOfABusySystem: events that others took are none, those with the keys of others are counted, and the
// closest comes first.
func TestNearMissesOfABusySystem(t *testing.T) {
	h := newHarness(t, nil)
	mine, others := build("mine"), build("others")
	h.deploy(mine.main(await("Wait", 0, mine.event("paid", "order=A-1054"))), others.main(await("Wait", 0, others.event("paid", "order=o2"))))
	id, other := h.start("mine", `{}`), h.start("others", `{}`)
	h.run(time.Second)
	h.send(`paid taken order=o2`)
	h.run(time.Second)
	h.want(other, "completed", "")
	for i := range 30 {
		h.send(fmt.Sprintf(`paid e%d order=o%d`, i, 100+i))
	}
	w, err := h.Waiting(t.Context(), id)
	if err != nil || len(w.NearMisses) != maxOthers || w.Others != 30-maxOthers {
		t.Errorf("%d near misses, %d others, %v", len(w.NearMisses), w.Others, err)
	}
	h.send(`paid typo order=a1054`)
	h.send(`paid none`)
	w, err = h.Waiting(t.Context(), id)
	if err != nil || len(w.NearMisses) != 2 || w.NearMisses[0].Event.Event.ID != "none" || w.NearMisses[1].Event.Event.ID != "typo" || w.Others != 30 {
		t.Errorf("%+v, %d others, %v", w.NearMisses, w.Others, err)
	}
}
