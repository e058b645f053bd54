package postgres

import (
	"context"
	"sync"
	"time"
)

const (
	// maxBatch and maxBatchBytes bound what shares one transaction ("commit-batch").
	maxBatch      = 1024
	maxBatchBytes = 16 << 20
	// maxFlying is how many batches of a namespace are under way: while one is made durable,
	// the next one is sent. Where other nodes write too, theirs are that: what waits meanwhile
	// is better off in one batch.
	maxFlying = 2
	// answerTimeout is how long the answer to a batch is waited for ("answer-timeout"). Then its
	// outcome is asked for by another connection.
	answerTimeout = 10 * time.Second
)

// request is something that is written together with others.
type request interface {
	context() context.Context
	size() int
	key() string // two with the same key do not share a batch; "": with any
	finish(error)
}

// waiter is how a request is waited for.
type waiter struct {
	ctx  context.Context
	err  error
	done chan struct{}
}

func newWaiter(ctx context.Context) waiter { return waiter{ctx: ctx, done: make(chan struct{})} }

func (w *waiter) context() context.Context { return w.ctx }

func (w *waiter) finish(err error) {
	w.err = err
	close(w.done)
}

// gatherer writes all waiting requests as one batch. Requests that come while batches are being
// written wait for the next one; a single request does not wait.
type gatherer[R request] struct {
	db      *DB
	run     func([]R)   // finishes all of them
	several func() bool // other processes do the same; nil: that does not matter

	mu      sync.Mutex
	waiting []R
	flying  int
}

// submit adds a request and returns at once.
func (g *gatherer[R]) submit(r R) error {
	if err := r.context().Err(); err != nil {
		return err
	}
	if err := g.db.enter(); err != nil {
		return err
	}
	defer g.db.flying.Done()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, r)
	if g.flying < g.most() {
		g.flying++
		g.db.flying.Add(1) // enter said that the database is open
		go g.loop()
	}
	return nil
}

// most is how many batches may be under way.
func (g *gatherer[R]) most() int {
	if g.several != nil && g.several() {
		return 1
	}
	return maxFlying
}

// loop writes batches until no request waits.
func (g *gatherer[R]) loop() {
	defer g.db.flying.Done()
	for {
		batch := g.take()
		if len(batch) == 0 {
			return
		}
		live := batch[:0]
		for _, r := range batch {
			if err := r.context().Err(); err != nil {
				r.finish(err)
				continue
			}
			live = append(live, r)
		}
		if len(live) > 0 {
			g.run(live)
		}
	}
}

// take returns the next batch. It is empty if no request waits, or other loops handle them; then this
// loop ends.
func (g *gatherer[R]) take() []R {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flying > g.most() {
		g.flying--
		return nil
	}
	var batch, left []R
	keys, bytes := map[string]bool{}, 0
	for i, r := range g.waiting {
		if len(batch) == maxBatch || len(batch) > 0 && bytes+r.size() > maxBatchBytes {
			left = append(left, g.waiting[i:]...)
			break
		}
		if k := r.key(); k != "" {
			if keys[k] {
				left = append(left, r)
				continue
			}
			keys[k] = true
		}
		batch = append(batch, r)
		bytes += r.size()
	}
	g.waiting = left
	if len(batch) == 0 {
		g.flying--
	}
	return batch
}
