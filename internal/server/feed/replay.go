package feed

import (
	"context"
	"sync"
)

const (
	// maxReplays is how many streams read the store at a time ("stream-replays").
	maxReplays = 4
	// maxPending is how many bytes of them may wait to be read by clients ("stream-pending-bytes"). Small
	// amounts do not count.
	maxPending   = 64 << 20
	smallPending = 64 << 10
)

// replays bounds the memory of all streams that are behind the tail. When the bound is reached, further
// streams wait; their items stay in the store.
type replays struct {
	mu      sync.Mutex
	reading int
	pending int
	free    chan struct{} // closed when something was released; nil: no stream waits
}

// enter takes a place to read a part, until built or done is called. It reports false if the caller must
// stop.
func (r *replays) enter(ctx context.Context, stop <-chan struct{}) (*replay, bool) {
	for {
		r.mu.Lock()
		if r.reading < maxReplays && r.pending < maxPending {
			r.reading++
			r.mu.Unlock()
			return &replay{of: r, reading: true}, true
		}
		if r.free == nil {
			r.free = make(chan struct{})
		}
		free := r.free
		r.mu.Unlock()
		select {
		case <-free:
		case <-stop:
			return nil, false
		case <-ctx.Done():
			return nil, false
		}
	}
}

// replay is a part that was read from the store for one stream; nil: a part of the tail.
type replay struct {
	of      *replays
	reading bool
	pending int
}

// built says that the items are no longer needed, only this number of bytes to be sent.
func (p *replay) built(bytes int) {
	if p == nil {
		return
	}
	if bytes <= smallPending {
		bytes = 0
	}
	p.set(false, bytes)
}

func (p *replay) done() {
	if p != nil {
		p.set(false, 0)
	}
}

func (p *replay) set(reading bool, pending int) {
	r := p.of
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.reading && !reading {
		r.reading--
	}
	r.pending += pending - p.pending
	p.reading, p.pending = reading, pending
	if r.free != nil {
		close(r.free)
		r.free = nil
	}
}
