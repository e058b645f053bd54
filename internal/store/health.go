package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

// probePause is how long the outcome of a write answers for those that would come next.
const probePause = time.Second

// WriteHealth remembers how the last write ended, for a store's Writable. The zero value is
// ready to use.
type WriteHealth struct {
	mu    sync.Mutex
	known bool // err is the outcome of a write
	at    time.Time
	err   error
	probe chan struct{} // closed when the one that is under way is over; nil: there is none
}

// Note tells how a write ended. Errors that are the request's own are no outcome.
func (h *WriteHealth) Note(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known, h.at, h.err = true, time.Now(), err
}

// Ask is how the last write ended. Where none did lately it calls write, which writes
// something small and durable; however many ask, once at a time.
func (h *WriteHealth) Ask(ctx context.Context, write func(context.Context) error) error {
	h.mu.Lock()
	if h.probe == nil && h.known && time.Since(h.at) < probePause {
		defer h.mu.Unlock()
		return h.err
	}
	done := h.probe
	if done == nil {
		done = make(chan struct{})
		h.probe = done
		go func() {
			err := write(context.WithoutCancel(ctx))
			h.Note(err)
			h.mu.Lock()
			h.probe = nil
			h.mu.Unlock()
			close(done)
		}()
	}
	h.mu.Unlock()
	select {
	case <-done:
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.err
	case <-ctx.Done():
		return errors.Join(errors.New("a write to the store takes too long"), ctx.Err())
	}
}
