package feed

import (
	"context"
	"testing"
)

// TestReplaysAreBounded: who comes when enough is under way waits until something ended.
func TestReplaysAreBounded(t *testing.T) {
	ctx := t.Context()
	over, cancel := context.WithCancel(ctx)
	cancel()
	var r replays
	full := func(what string) {
		t.Helper()
		if _, ok := r.enter(over, nil); ok {
			t.Fatalf("%s: there is a place", what)
		}
		stopped := make(chan struct{})
		close(stopped)
		if _, ok := r.enter(ctx, stopped); ok {
			t.Fatalf("%s: there is a place", what)
		}
	}
	enter := func() *replay {
		t.Helper()
		p, ok := r.enter(over, nil)
		if !ok {
			t.Fatalf("there is no place: %d read, %d bytes wait", r.reading, r.pending)
		}
		return p
	}
	var list []*replay
	for range maxReplays {
		list = append(list, enter())
	}
	full("all read")
	entered := make(chan *replay)
	go func() {
		p, _ := r.enter(ctx, nil)
		entered <- p
	}()
	list[0].built(smallPending)
	list = append(list, <-entered)
	full("all read again")
	for _, p := range list[1:] {
		p.built(maxPending)
	}
	full("much waits to be sent")
	for _, p := range list {
		p.done()
		p.done()
	}
	if enter().done(); r.reading != 0 || r.pending != 0 {
		t.Errorf("%d read, %d bytes wait, of none", r.reading, r.pending)
	}
	var none *replay // of the tail
	none.built(5)
	none.done()
}
