package engine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/pagestat"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// listening runs a test over every store.
func listening(t *testing.T, test func(h *harness)) {
	overStores(t, func(t *testing.T, on option) { test(newHarness(t, nil, on)) })
}

// listen takes events, and gives their ids.
func (b *builder) listen(feed ir.Feed) stepOp {
	b.p.Variables = true
	feed.Read = b.expr("jsonpath", "$.id")
	return stepOp{"Listen", &ir.Fan{Feed: &feed, Join: ir.JoinArray}}
}

// whileBusy does something while somebody runs a step of the instance.
func (h *harness) whileBusy(id string, do func()) {
	h.t.Helper()
	l, err := h.live.acquire(h.t.Context(), id, ordinary)
	if err != nil {
		h.t.Fatal(err)
	}
	defer h.live.release(l)
	do()
}

// sendAll sends events of which only type and id matter.
func (h *harness) sendAll(list string) {
	h.t.Helper()
	for one := range strings.SplitSeq(list, ", ") {
		h.send(one)
	}
}

// consumed lists the ids of the events that an instance took.
func (h *harness) consumed(id string) (out []string) {
	h.t.Helper()
	records, err := h.History(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range records {
		if r.Type == core.RecConsumed {
			v, _ := r.Data.Get("id")
			out = append(out, v.Str())
		}
	}
	return out
}

// TestAnEventThatEndsAListenDoesNotOvertake: the instance is busy while they come.
func TestAnEventThatEndsAListenDoesNotOvertake(t *testing.T) {
	listening(t, func(h *harness) {
		b := build("w")
		h.deploy(b.main(b.listen(ir.Feed{Events: []ir.EventID{b.event("tick")}, Stop: []ir.EventID{b.event("stop")}})))
		id := h.start("w", `{}`)
		h.poll()
		h.whileBusy(id, func() { h.sendAll("tick 1, tick 2, stop 3, tick 4") })
		h.poll()
		h.want(id, core.Completed, `["1","2"]`)
		// Also where each may be taken at once, and one of them comes while others are.
		id = h.start("w", `{}`)
		h.poll()
		h.sendAll("tick 5")
		h.whileBusy(id, func() { h.sendAll("tick 6") })
		h.sendAll("tick 7, stop 8, tick 9")
		h.poll()
		h.want(id, core.Completed, `["5","6","7"]`)
	})
}

// TestEventsFromBeforeAListenComeFirst: those that come while nobody has looked yet for what is kept wait for
// that, whichever filter selects them.
func TestEventsFromBeforeAListenComeFirst(t *testing.T) {
	listening(t, func(h *harness) {
		b := build("w")
		h.deploy(b.main(await("Delay", 0, b.event("go")), b.listen(ir.Feed{
			Events: []ir.EventID{b.event("a"), b.event("b")}, Stop: []ir.EventID{b.event("stop")},
		})))
		id := h.start("w", `{}`)
		h.poll()
		h.sendAll("a 1, b 2, a 3")
		h.whileBusy(id, func() { h.sendAll("go 4, b 5, a 6") })
		if err := h.apply(h.t.Context(), id, ordinary); err != nil { // the listen begins, and nobody looks for what is kept
			h.t.Fatal(err)
		}
		h.sendAll("b 7, a 8, stop 9")
		h.poll()
		h.want(id, core.Completed, `["1","2","3","5","6","7","8"]`)
	})
}

// TestManyKeptEventsComeInOrder: more than one routing gives.
func TestManyKeptEventsComeInOrder(t *testing.T) {
	listening(t, func(h *harness) {
		b := build("w")
		h.deploy(b.main(await("Delay", 0, b.event("go")), b.listen(ir.Feed{
			Events: []ir.EventID{b.event("a"), b.event("b")}, Stop: []ir.EventID{b.event("stop")},
		})))
		id := h.start("w", `{}`)
		h.poll()
		var want []string
		for i := range 2*keptBatch + 10 {
			h.sendAll(fmt.Sprint(string("ab"[i%2]), " ", i))
			want = append(want, fmt.Sprint(i))
		}
		h.sendAll("go g")
		if err := h.apply(h.t.Context(), id, ordinary); err != nil {
			h.t.Fatal(err)
		}
		if sent := h.send("a last"); !slices.Contains(sent.Why, fmt.Sprintf("instance %q waits for it, and gets an earlier event first", id)) {
			h.t.Errorf("%+v", sent)
		}
		h.sendAll("stop s")
		h.poll()
		h.want(id, core.Completed, "")
		want = slices.Concat([]string{"g"}, want, []string{"last", "s"})
		if got := h.consumed(id); !slices.Equal(got, want) {
			h.t.Errorf("taken: %v", got)
		}
	})
}

// TestTheNextListenGetsWhatTheLastDidNot: in order, also what was on its way to the one that ended.
func TestTheNextListenGetsWhatTheLastDidNot(t *testing.T) {
	listening(t, func(h *harness) {
		b := build("w")
		tick, stop := b.event("tick"), b.event("stop")
		h.deploy(b.main(
			b.listen(ir.Feed{Events: []ir.EventID{tick}}), b.listen(ir.Feed{Events: []ir.EventID{tick}}),
			b.listen(ir.Feed{Events: []ir.EventID{tick}, Stop: []ir.EventID{stop}}),
		))
		id := h.start("w", `{}`)
		h.poll()
		h.whileBusy(id, func() { h.sendAll("tick 1, tick 2, tick 3") })
		if err := h.apply(h.t.Context(), id, ordinary); err != nil {
			h.t.Fatal(err)
		}
		h.sendAll("tick 4, stop 5, tick 6")
		h.poll()
		h.want(id, core.Completed, `["3","4"]`)
		if got := fmt.Sprint(h.consumed(id)); got != "[1 2 3 4 5]" {
			h.t.Error(got)
		}
	})
}

// TestAListenForOneEventGetsOne: what it does not want is not put on its way.
func TestAListenForOneEventGetsOne(t *testing.T) {
	listening(t, func(h *harness) {
		b := build("w")
		h.deploy(b.main(await("Delay", 0, b.event("go")), b.listen(ir.Feed{Events: []ir.EventID{b.event("a"), b.event("b")}})))
		id := h.start("w", `{}`)
		h.poll()
		h.sendAll("a 1, b 2, a 3, go 4")
		if err := h.apply(h.t.Context(), id, ordinary); err != nil {
			h.t.Fatal(err)
		}
		if err := h.route(h.t.Context(), func(r *router, v store.View) store.Routing { return r.fresh(id, v) }); err != nil {
			h.t.Fatal(err)
		}
		if inbox, err := h.store.Messages(h.t.Context(), id); err != nil || len(inbox) != 1 {
			h.t.Errorf("on their way are %v, %v", inbox, err)
		}
		h.poll()
		h.want(id, core.Completed, `["1"]`)
	})
}

// TestAllTakesTheOldestForEachFilter: one event serves one filter, in the order in which they came, and which of
// them is still wanted changes while others are on their way.
func TestAllTakesTheOldestForEachFilter(t *testing.T) {
	listening(t, func(h *harness) {
		b := build("w")
		all := b.event("x")
		b.p.Events[all].Type = "" // every event of the source
		h.deploy(b.main(b.listen(ir.Feed{Events: []ir.EventID{b.event("a"), all, b.event("b")}, All: true})))
		id := h.start("w", `{}`)
		h.poll()
		h.whileBusy(id, func() { h.sendAll("a 1, a 2, b 3, b 4") })
		h.poll()
		h.want(id, core.Completed, `["1","2","3"]`)
	})
}

// TestAKeyThatIsFixedShowsEarlierEvents: those come before what was on its way when the key was fixed.
func TestAKeyThatIsFixedShowsEarlierEvents(t *testing.T) {
	listening(t, func(h *harness) {
		b := build("w")
		h.deploy(b.main(b.listen(ir.Feed{Events: []ir.EventID{b.event("a", "room")}, Stop: []ir.EventID{b.event("stop")}})))
		h.sendAll("a 1 room=7, a 2 room=8")
		id := h.start("w", `{}`)
		h.poll()
		h.whileBusy(id, func() { h.sendAll("a 3 room=7, a 4 room=8, a 5 room=7, stop 6") })
		h.poll()
		h.want(id, core.Completed, `["3","1","5"]`)
	})
}

// TestAListenToEveryEventLosesNone: it gets none from before, and all that came since, also while the instance is
// busy, a key of what ends it becomes fixed, or nobody has looked yet for what is kept.
func TestAListenToEveryEventLosesNone(t *testing.T) {
	listening(t, func(h *harness) {
		b := build("w")
		every := b.event("every event")
		b.p.Events[every] = ir.Event{Name: "every event", New: true}
		h.deploy(b.main(delay(time.Minute), b.listen(ir.Feed{
			Events: []ir.EventID{every}, Stop: []ir.EventID{b.event("one", "k"), b.event("two", "k")}, StopAll: true,
		})))
		id := h.start("w", `{}`)
		h.sendAll("x 1, two 2 k=8")
		h.clock.Advance(h.clock.Now().Add(time.Minute))
		if err := h.apply(h.t.Context(), id, ordinary); err != nil {
			h.t.Fatal(err)
		}
		h.sendAll("x 3")
		h.whileBusy(id, func() { h.sendAll("x 4, one 5 k=7, x 6, one 7 k=8, x 8") })
		h.poll()
		h.want(id, core.Completed, "") // the one from before has a key
		if got := fmt.Sprint(h.consumed(id)); got != "[2 3 4 5 6 7]" {
			h.t.Error(got)
		}
	})
}

// TestTheCostOfAnEventDoesNotGrowWithAListen: however many events several listeners have taken, the next one costs
// as many statements, rows and pages as the first ones did.
func TestTheCostOfAnEventDoesNotGrowWithAListen(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "listen.db"), sqlite.Options{Inline: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	h := newHarness(t, nil, func(c *Config) { c.Store = db.Namespace("default") })
	b := build("w")
	h.deploy(b.main(b.listen(ir.Feed{Events: []ir.EventID{b.event("tick"), b.event("tock")}, Stop: []ir.EventID{b.event("stop")}})))
	ids := []string{h.start("w", `{}`), h.start("w", `{}`), h.start("w", `{}`)}
	h.poll()
	sent := 0
	send := func(n int) (statements, rows, pages int64) {
		t.Helper()
		traffic := func() int64 {
			seen, err := pagestat.Of(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return seen.Seen
		}
		before, at := db.Counters(), traffic()
		for range n {
			sent++
			h.send(fmt.Sprint("tick ", sent))
			h.poll()
		}
		after := db.Counters()
		return after.Statements + after.Queries - before.Statements - before.Queries, after.Rows - before.Rows, traffic() - at
	}
	send(300) // what is remembered from then on; the states are too large for their rows
	statements, rows, pages := send(50)
	send(600)
	laterStatements, laterRows, laterPages := send(50)
	t.Logf("statements %d and %d, rows %d and %d, pages %d and %d", statements, laterStatements, rows, laterRows, pages, laterPages)
	if laterStatements != statements || laterRows != rows || laterPages > pages*3/2 { // trees have grown
		t.Errorf("50 events cost %d statements, %d rows and %d pages, and after 600 more %d, %d and %d",
			statements, rows, pages, laterStatements, laterRows, laterPages)
	}
	h.sendAll("stop s")
	h.poll()
	for _, id := range ids {
		h.want(id, core.Completed, "")
		if n := len(h.consumed(id)); n != sent+1 {
			t.Errorf("%s took %d events, want %d", id, n, sent+1)
		}
	}
}
