package postgres

import (
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestDoubts: after a commit of which nobody knows whether it happened, the calls of all parts
// are listed again for a while; while the process has no part, that does not count.
func TestDoubts(t *testing.T) {
	var d doubts
	now := time.Now()
	if d.due(now) {
		t.Error("there is no doubt at first")
	}
	d.again()
	now = time.Now()
	for range 2 {
		if !d.due(now) {
			t.Error("what could not be listed is to be listed until it was")
		}
	}
	if d.listed(now); d.due(now.Add(doubtPause)) {
		t.Error("it is listed again and again")
	}
	d.begin()
	now = time.Now().Add(2 * doubtTime) // so long nothing could be listed
	times := 0
	for at := now; at.Before(now.Add(2 * doubtTime)); at = at.Add(time.Second) {
		if d.due(at) {
			d.listed(at)
			times++
		}
	}
	if want := int(doubtTime / doubtPause); times < want || times > want+1 {
		t.Errorf("listed %d times, want about %d", times, want)
	}
}

// TestHandedAfterDoubt: a call that was stored by such a commit is handed to its node, as soon
// as that has its parts again.
func TestHandedAfterDoubt(t *testing.T) {
	s := openTest(t, Options{}).Namespace("x").(*Store)
	leave, err := s.Join(t.Context(), store.Member{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = leave(t.Context()) }()
	waitUntil(func() bool { held, _ := s.leases.held(true); return len(held) == shardCount })
	c := store.Commit{Instance: store.Instance{ID: "i", Status: core.Waiting}, Calls: []store.Call{{Shard: s.CallShard("i"), Invoke: core.Invoke{Ticket: 1}}}}
	if err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if calls, err := s.Handed(t.Context()); err != nil || len(calls) != 0 {
		t.Fatalf("its own call is handed to it: %v, %v", calls, err)
	}
	s.doubts.begin()
	s.leases.mu.Lock()
	s.leases.until = time.Time{} // its time is over
	s.leases.mu.Unlock()
	var calls []store.Call
	waitUntil(func() bool { // until its time is renewed, there are none
		calls, err = s.Handed(t.Context())
		return err != nil || len(calls) > 0
	})
	if err != nil || len(calls) != 1 || calls[0].Instance != "i" {
		t.Errorf("handed %v, %v; want the call", calls, err)
	}
}
