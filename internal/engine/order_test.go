package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestMessagesKeepTheirOrder: the messages of an inbox are applied in the order in which they
// came, also where the clock stepped back between them, and no input comes before a message
// that was there before it.
func TestMessagesKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var messages []store.Message
		for i, at := range rapid.SliceOfN(rapid.Int64Range(-5, 5), 1, 6).Draw(t, "times") {
			messages = append(messages, store.Message{Seq: int64(i + 1), At: core.Time(at), Input: core.Continue{}})
		}
		var timers []input
		for _, at := range rapid.SliceOfN(rapid.Int64Range(-5, 5), 0, 4).Draw(t, "timers") {
			timers = append(timers, input{in: core.Reply{Ticket: 1}, at: core.Time(at)})
		}
		list := inOrder(timers, messages, []input{{in: core.Control{}, at: core.Time(rapid.Int64Range(-9, 9).Draw(t, "extra"))}})
		var seqs []int64
		for i, in := range list {
			if in.message != 0 {
				seqs = append(seqs, in.message)
			}
			if i > 0 && in.at < list[i-1].at {
				t.Errorf("%d goes back in time", i)
			}
			if _, control := in.in.(core.Control); control && len(seqs) < len(messages) {
				t.Errorf("the intervention comes before message %d of %d", len(seqs)+1, len(messages))
			}
		}
		if len(seqs) != len(messages) || !slices.IsSorted(seqs) {
			t.Errorf("messages are applied as %v", seqs)
		}
	})
}

// TestNothingIsDeletedBeforeItsTime: retention keeps an instance for all of it, whenever the
// sweeps come.
func TestNothingIsDeletedBeforeItsTime(t *testing.T) {
	const kept = 10 * time.Hour
	for _, began := range []time.Duration{0, time.Second, 10 * time.Minute, 59 * time.Minute} {
		h := newHarness(t, nil, keeping(kept, kept))
		b := build("w")
		h.deploy(b.main(delay(0)))
		h.run(began)
		id := h.start("w", `{}`)
		h.poll()
		h.want(id, core.Completed, "")
		for range 64 { // many sweeps
			h.run((kept - time.Nanosecond) / 64)
		}
		h.wantIDs(fmt.Sprint("begun after ", began), id)
		h.run(kept / 8)
		h.wantIDs("later", "")
	}
}

// TestJitterGoesBothWays: a retry comes up to the jitter earlier or later than its delay, never
// beyond, and not always to the same side.
func TestJitterGoesBothWays(t *testing.T) {
	const wait, most = time.Minute, 30 * time.Second
	for name, retry := range map[string]ir.Retry{
		"share":    {Delay: span(wait), Max: 1, JitterMillis: 500},
		"duration": {Delay: span(wait), Max: 1, JitterAtMost: span(most)},
	} {
		h := newHarness(t, nil)
		b := build("w")
		h.deploy(b.main(b.region(ir.Region{Name: "R", Catch: []ir.Catch{{Error: "Boom", Retry: &retry}}}, raise("Boom"))))
		var sooner, later int
		for range 40 {
			id := h.start("w", `{}`)
			h.run(time.Hour)
			h.wantFault(id, "Boom")
			took := h.elapsed(id)
			switch {
			case took < wait-most || took > wait+most:
				t.Errorf("%s: a retry after %s", name, took)
			case took < wait:
				sooner++
			case took > wait:
				later++
			}
		}
		if sooner < 5 || later < 5 { // each has a chance of one half; the seeds are fixed
			t.Errorf("%s: %d retries are sooner and %d later than the delay", name, sooner, later)
		}
	}
}
