package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestParkedCall waits for a person, also over a restart, and takes one answer.
func TestParkedCall(t *testing.T) {
	park := func(c *Config) {
		c.Invoker = effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{Parked: true} })
	}
	h := newHarness(t, nil, park)
	b := build("w")
	h.deploy(b.main(b.call("approve")))
	id := h.start("w", `{"a":1}`)
	h.poll()
	ctx := context.Background()
	open := func(e *Engine) OpenCall {
		t.Helper()
		calls, err := e.OpenCalls(ctx, id)
		if err != nil || len(calls) != 1 || !calls[0].Parked || calls[0].Function.Name != "approve" {
			t.Fatalf("open calls: %+v, %v", calls, err)
		}
		return calls[0]
	}
	open(h.Engine)
	if n := h.InFlight(); n != 0 {
		t.Errorf("%d calls in flight", n)
	}
	again, err := New(h.cfg) // another process on the same store
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Poll(ctx); err != nil {
		t.Fatal(err)
	}
	ticket := open(again).Ticket
	yes := effect.Outcome{Value: expr.Object(expr.Member{Key: "ok", Value: expr.Bool(true)})}
	if err := again.Answer(ctx, id, ticket, yes); err != nil {
		t.Fatal(err)
	}
	h.want(id, core.Completed, `{"a":1,"ok":true}`)
	var missing *NotFoundError
	if err := again.Answer(ctx, id, ticket, yes); !errors.As(err, &missing) {
		t.Errorf("a second answer: %v", err)
	}
}

// overtakenStore does something right before a commit.
type overtakenStore struct {
	store.Store
	before func()
}

func (s *overtakenStore) Commit(ctx context.Context, c store.Commit) error {
	if do := s.before; do != nil {
		s.before = nil
		do()
	}
	return s.Store.Commit(ctx, c)
}

// TestAnswerThatWasOvertaken: an answer that a commit took which was not written was not taken. Another process ends
// the instance in between.
func TestAnswerThatWasOvertaken(t *testing.T) {
	overtaken := &overtakenStore{Store: newStore(t)}
	h := newHarness(t, nil, func(c *Config) {
		c.Store = overtaken
		c.Invoker = effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{Parked: true} })
	})
	h.alone = false
	b := build("w")
	h.deploy(b.main(b.call("approve")))
	id := h.start("w", `{}`)
	h.poll()
	calls, err := h.OpenCalls(t.Context(), id)
	if err != nil || len(calls) != 1 {
		t.Fatalf("open calls: %+v, %v", calls, err)
	}
	h.live.init(0) // nothing is in memory: the store is read first
	overtaken.before = func() {
		row, err := overtaken.Instance(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		row.Status, row.Ended = core.Terminated, row.Updated
		if err := overtaken.Store.Commit(t.Context(), store.Commit{Instance: row}); err != nil {
			t.Fatal(err)
		}
	}
	var missing *NotFoundError
	if err := h.Answer(t.Context(), id, calls[0].Ticket, effect.Outcome{Value: expr.EmptyObject}); !errors.As(err, &missing) {
		t.Errorf("the answer to a call that nobody waits for any more: %v", err)
	}
}

// TestAnswerToCallUnderWay is refused: who carries it out will answer.
func TestAnswerToCallUnderWay(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(b.call("f")))
	id := h.start("w", `{}`)
	calls, err := h.OpenCalls(context.Background(), "")
	if err != nil || len(calls) != 1 || calls[0].Parked {
		t.Fatalf("open calls: %+v, %v", calls, err)
	}
	var rejected *core.Rejected
	if err := h.Answer(context.Background(), id, calls[0].Ticket, effect.Outcome{}); !errors.As(err, &rejected) {
		t.Errorf("got %v", err)
	}
}

// parkedStore is a store that tells of every call that it waits for a person, as one does that nodes share.
type parkedStore struct{ store.Store }

func (s *parkedStore) Calls(ctx context.Context, instance string) ([]store.Call, error) {
	list, err := s.Store.Calls(ctx, instance)
	for i := range list {
		list[i].Parked = true
	}
	return list, err
}

// TestAnswerAfterAnotherLife: a node remembers a call that waits for a person. Another node deletes its instance and
// starts one that gets its id: an answer at the first node is for the call that is open.
func TestAnswerAfterAnotherLife(t *testing.T) {
	shared := &parkedStore{newStore(t)}
	node := func() *harness {
		h := newHarness(t, nil, func(c *Config) {
			c.Store = shared
			c.Invoker = effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{Parked: true} })
		})
		h.alone = false
		return h
	}
	first := node()
	b := build("w")
	first.deploy(b.main(b.call("approve")))
	start := func(h *harness) string {
		id, _, err := h.StartOnce(t.Context(), StartRequest{Definition: "w"}, "key")
		if err != nil {
			t.Fatal(err)
		}
		h.poll()
		return id
	}
	id := start(first)
	other := node()
	other.clock.Advance(t0.Add(time.Second))
	if err := other.Control(t.Context(), id, core.Control{Verb: core.VerbTerminate}); err != nil {
		t.Fatal(err)
	}
	if err := other.DeleteInstance(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	if again := start(other); again != id {
		t.Fatalf("%s and %s", id, again)
	}
	calls, err := first.OpenCalls(t.Context(), id)
	if err != nil || len(calls) != 1 || !calls[0].Parked {
		t.Fatalf("open calls: %+v, %v", calls, err)
	}
	first.clock.Advance(t0.Add(time.Second))
	if err := first.Answer(t.Context(), id, calls[0].Ticket, effect.Outcome{Value: expr.EmptyObject}); err != nil {
		t.Errorf("the answer to a call that is open: %v", err)
	}
	first.want(id, core.Completed, "")
}
