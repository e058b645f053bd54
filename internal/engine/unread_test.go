package engine

import (
	"context"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// readCounter counts what is read of instances.
type readCounter struct {
	store.Store
	reads int
}

func (s *readCounter) Instance(ctx context.Context, id string) (store.Instance, error) {
	s.reads++
	return s.Store.Instance(ctx, id)
}

func (s *readCounter) Messages(ctx context.Context, id string) ([]store.Message, error) {
	s.reads++
	return s.Store.Messages(ctx, id)
}

// TestNoReadBeforeWrite: where others write too, the answer to a call is committed without
// reading what this process wrote itself.
func TestNoReadBeforeWrite(t *testing.T) {
	counted := &readCounter{Store: newStore(t)}
	h := newHarness(t, nil, func(c *Config) {
		c.Store = counted
		c.Invoker = effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{Value: parse(t, `{"a":1}`)} })
	})
	h.alone = false
	h.deploy(callTwice("w", "1"))
	id := h.start("w", "{}")
	h.poll()
	if counted.reads != 0 {
		t.Errorf("%d reads for two answers", counted.reads)
	}
	h.want(id, core.Completed, "")
}

// TestUnreadInbox: what is in the inbox comes before an answer that came later.
func TestUnreadInbox(t *testing.T) {
	var h *harness
	h = newHarness(t, nil, func(c *Config) {
		c.Invoker = effect.Func(func(ctx context.Context, call effect.Call) effect.Outcome {
			other, err := h.store.Instance(ctx, "i1")
			if err == nil { // another node lets the caller end
				err = h.store.Commit(ctx, store.Commit{Instance: other, Messages: []store.Message{{To: call.Instance, Input: core.Control{Verb: core.VerbTerminate}}}})
			}
			if err != nil {
				t.Error(err)
			}
			return effect.Outcome{Value: parse(t, `{"a":1}`)}
		})
	})
	h.alone = false
	once, b := build("w"), build("waits")
	h.deploy(once.main(once.call("one")), b.main(await("go", 0, b.event("go"))))
	h.start("waits", "{}")
	id := h.start("w", "{}")
	h.poll()
	h.want(id, core.Terminated, "")
	if calls, _ := h.store.Calls(t.Context(), ""); len(calls) != 0 {
		t.Errorf("calls are left: %v", calls)
	}
}

// TestAnswerOfAnotherLife: the answer to a call of an instance that had the id before, or has it
// after, is not this one's, whether the store is read first or not.
func TestAnswerOfAnotherLife(t *testing.T) {
	for _, alone := range []bool{true, false} {
		h := newHarness(t, nil, func(c *Config) {
			c.Invoker = effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{Parked: true} })
		})
		h.alone = alone
		b := build("w")
		h.deploy(b.main(b.call("one")))
		id := h.start("w", "{}")
		h.poll()
		calls, err := h.store.Calls(t.Context(), id)
		if err != nil || len(calls) != 1 {
			t.Fatal(calls, err)
		}
		for _, off := range []core.Time{-1, 1, 0} {
			in := input{in: core.Reply{Ticket: calls[0].Ticket, Value: parse(t, "{}")}, at: h.now(), call: calls[0].Ticket, created: calls[0].Created + off}
			if err := h.apply(t.Context(), id, ordinary, in); err != nil {
				t.Error(err)
			}
			if got := h.get(id); (got.Status == core.Completed) != (off == 0) {
				t.Errorf("alone %t, off by %d: it is %s", alone, off, got.Status)
			}
		}
	}
}
