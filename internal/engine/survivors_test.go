package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// lateMail is a store where something comes right after an inbox was read.
type lateMail struct {
	store.Store
	come func()
}

func (s *lateMail) Messages(ctx context.Context, id string) ([]store.Message, error) {
	list, err := s.Store.Messages(ctx, id)
	if come := s.come; come != nil {
		s.come = nil
		come()
	}
	return list, err
}

// TestEventAfterTheTimeout: an event is delivered to a wait whose timeout is being committed.
// Then it is all that the instance is given, and nobody waits for it there: it is kept for others.
func TestEventAfterTheTimeout(t *testing.T) {
	s := &lateMail{Store: newStore(t)}
	h := newHarness(t, nil, func(c *Config) { c.Store = s })
	b := build("w")
	h.deploy(b.main(await("Wait", time.Minute, b.event("go", "key=1")), delay(time.Hour)), waiter("other", time.Second, "go", "key=1"))
	x := h.start("w", `{}`)
	h.clock.Advance(t0.Add(time.Minute))
	s.come = func() {
		if sent := h.send(`go e1 key=1 {"n":1}`); len(sent.Matched) != 1 {
			t.Errorf("%+v", sent)
		}
	}
	h.poll()
	h.want(x, core.Waiting, "") // in the delay
	if left, err := h.store.Messages(t.Context(), x); s.come != nil || err != nil || len(left) != 0 {
		t.Errorf("inbox %v, %v", left, err)
	}
	if kept, err := h.Kept(t.Context()); err != nil || len(kept) != 1 || kept[0].Taken {
		t.Errorf("kept %+v, %v", kept, err)
	}
	y := h.start("other", `{}`)
	h.run(time.Minute)
	h.want(y, core.Completed, `{"n":1}`)
}

// TestTimerBeforeALaterInput: where others write too, an input that is committed without reading
// does not come before a timer that was due earlier.
func TestTimerBeforeALaterInput(t *testing.T) {
	for _, alone := range []bool{true, false} {
		h := newHarness(t, nil, func(c *Config) {
			c.Invoker = effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{Parked: true} })
		})
		h.alone = alone
		waits, calls := build("waits"), build("calls")
		h.deploy(waits.main(await("Wait", time.Minute, waits.event("go"))), calls.main(calls.region(ir.Region{Name: "R", Timeout: span(time.Minute)}, calls.call("one"))))
		x, y := h.start("waits", `{}`), h.start("calls", `{}`)
		h.poll()
		open, err := h.store.Calls(t.Context(), y)
		if err != nil || len(open) != 1 {
			t.Fatal(open, err)
		}
		h.clock.Advance(t0.Add(time.Minute + time.Second))

		err = h.Control(t.Context(), x, core.Control{Verb: core.VerbTerminate})
		var no *core.Rejected
		if !errors.As(err, &no) {
			t.Errorf("alone %t: terminated after the timeout: %v", alone, err)
		}
		h.want(x, core.Completed, "")

		answer := core.Reply{Ticket: open[0].Ticket, Value: parse(t, `{}`)}
		err = h.post(t.Context(), y, input{in: answer, at: h.now(), call: answer.Ticket, created: open[0].Created})
		if err != nil {
			t.Error(err)
		}
		h.want(y, core.Failed, "")
	}
}
