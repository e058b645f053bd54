package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// A relay passes the feed on to one receiver: lifecycle events to a sink, notices to a webhook, spans to a collector. What
// it sends is made of the feed and not stored: a step costs nothing more. The store keeps how far the relay is. The
// position moves once the receiver has everything up to it, so a process that is killed leaves nothing out, and the next
// one may send some again, under the ids that it had. Of several nodes one runs a relay. A receiver that
// does not answer holds up its own relay only.

const (
	// relaySkip is how far the position may be ahead of the stored one while nothing is to be sent.
	relaySkip = 1 << 16
	// relayPause is how long items are gathered, so that the position is not stored for each.
	relayPause = 10 * time.Millisecond
	// relayLook is how long a node waits for changes at most, and for its turn.
	relayLook = time.Second
)

// relay is one of them. Only its goroutine uses what is not atomic.
type relay struct {
	name  string        // of its cursor. It is no instance: the node runs the relay that would have an instance of this id
	what  string        // that is sent, for messages: one of them
	batch int           // how many items are read at a time
	age   time.Duration // how old items must be to be passed on

	// pass passes items on. It reports whether something was sent; otherwise the position need not be stored.
	pass  func(ctx context.Context, items []store.FeedItem) (sent bool, err error)
	begin func() // forgets what it remembers of earlier items

	begun    bool
	pos      int64 // everything up to here is with the receiver
	saved    int64 // what the store knows of that
	accepted map[string]bool
	due      time.Time // nothing is old enough before
	failures int
	reported time.Time // the last failure
	refused  time.Time // the last refusal that was reported

	counts relayCounts
}

// relayCounts count what became of what a relay sent since the engine began.
type relayCounts struct {
	sent, refused, failed atomic.Int64
	gaps                  atomic.Int64 // how often items were deleted before they were passed on
	since                 atomic.Int64 // the time of the oldest item that is not passed on; 0: it is up to date
}

// RelayFigures tell what a relay of this node did.
type RelayFigures struct {
	Name                  string // of the relay
	Sent, Refused, Failed int64
	Gaps                  int64         // how often the feed was deleted before it was passed on
	Behind                time.Duration // the age of the oldest item that the receiver has not accepted; 0: it is up to date
}

func (e *Engine) relayFigures(r *relay) RelayFigures {
	c := &r.counts
	out := RelayFigures{Name: r.name, Sent: c.sent.Load(), Refused: c.refused.Load(), Failed: c.failed.Load(), Gaps: c.gaps.Load()}
	if since := c.since.Load(); since != 0 {
		out.Behind = max(e.cfg.Clock.Now().Sub(time.Unix(0, since)), 1)
	}
	return out
}

// RelayFigures tell what the relays of this node did.
func (e *Engine) RelayFigures() (out []RelayFigures) {
	for _, r := range e.relays() {
		out = append(out, e.relayFigures(r))
	}
	return out
}

// runRelay runs a relay until ctx ends.
func (e *Engine) runRelay(ctx context.Context, r *relay) {
	for ctx.Err() == nil {
		if !e.has(r.name) {
			r.begun = false // another node goes on
			r.counts.since.Store(0)
			e.pause(ctx, nil, relayLook)
			continue
		}
		fresh := e.Changes() // before reading, so that none is missed
		more, err := e.relayPart(ctx, r)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			e.relayFailed(r, err)
			e.pause(ctx, nil, min(firstRest<<min(r.failures-1, 6), longestRest))
		case !more:
			r.failures = 0
			if r.age > 0 {
				fresh = nil // what is new is not old enough
			}
			e.pause(ctx, fresh, relayLook)
			e.pause(ctx, nil, relayPause)
		}
	}
}

// pause waits for a channel, at most for d.
func (e *Engine) pause(ctx context.Context, until <-chan struct{}, d time.Duration) {
	alarm, stop := e.cfg.Clock.After(d)
	defer stop()
	select {
	case <-ctx.Done():
	case <-until:
	case <-alarm:
	}
}

func (e *Engine) relayFailed(r *relay, err error) {
	now := e.cfg.Clock.Now()
	if r.failures++; r.failures > 1 && !now.Before(r.reported) && now.Sub(r.reported) < tellAgain {
		return
	}
	r.reported = now
	e.report(fmt.Errorf("%ss are not sent (%d failures in a row), and are sent again: %w", r.what, r.failures, err))
}

// relayPart passes on the next items of the feed. It reports whether there may be more.
func (e *Engine) relayPart(ctx context.Context, r *relay) (more bool, err error) {
	if !r.begun {
		if err := e.beginRelay(ctx, r); err != nil {
			return false, err
		}
	}
	now := e.cfg.Clock.Now()
	if now.Before(r.due) {
		return false, nil
	}
	feed, err := e.store.Feed(ctx, r.pos, r.batch)
	if err != nil {
		return false, fmt.Errorf("read the feed: %w", err)
	}
	if feed.Oldest > r.pos {
		e.report(fmt.Errorf("%ss between positions %d and %d of the feed are lost: it was not kept that long", r.what, r.pos, feed.Oldest))
		r.counts.gaps.Add(1)
		r.begin()
	}
	next, items := max(feed.Next, feed.Oldest), feed.Items
	for i := range items {
		if at := items[i].At.Std().Add(r.age); r.age > 0 && now.Before(at) {
			r.due, next, items = at, r.pos, items[:i]
			if i > 0 {
				next = items[i-1].Pos
			}
			break
		}
	}
	if len(items) > 0 {
		r.counts.since.Store(int64(items[0].At))
	}
	sent, err := r.pass(ctx, items)
	if err != nil {
		return false, err
	}
	if sent || next-r.saved > relaySkip {
		if err := e.store.SetCursor(ctx, r.name, next); err != nil {
			return false, fmt.Errorf("store the position in the feed: %w", err)
		}
		r.saved = next
	}
	held := len(items) < len(feed.Items)
	r.pos, r.accepted = next, nil
	if held || next >= feed.Last {
		r.counts.since.Store(0)
		return false, nil
	}
	return true, nil
}

// beginRelay reads how far the relay is. One that never was begins at the end of the feed.
func (e *Engine) beginRelay(ctx context.Context, r *relay) error {
	pos, ok, err := e.store.Cursor(ctx, r.name)
	if err == nil && !ok {
		if pos, err = e.FeedEnd(ctx); err == nil {
			err = e.store.SetCursor(ctx, r.name, pos)
		}
	}
	if err != nil {
		return fmt.Errorf("read the position in the feed: %w", err)
	}
	r.begun, r.pos, r.saved, r.accepted, r.due = true, pos, pos, nil, time.Time{}
	r.begin()
	return nil
}

// deliver gives events to a sink: those of one instance in order, those of others side by side. What it accepted is
// not sent again by this process, if others fail.
func (e *Engine) deliver(ctx context.Context, r *relay, sink event.Sink, queues map[string][]event.Event) error {
	if r.accepted == nil {
		r.accepted = map[string]bool{}
	}
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxSends)
	for _, queue := range queues {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			for _, ev := range queue {
				mu.Lock()
				done := r.accepted[ev.ID]
				mu.Unlock()
				if done {
					continue
				}
				err := e.giveRelayed(ctx, r, sink, ev)
				mu.Lock()
				if err != nil {
					failed = err
					mu.Unlock()
					return // what follows waits for it
				}
				r.accepted[ev.ID] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}

// giveRelayed gives one event to a sink, and counts what became of it.
func (e *Engine) giveRelayed(ctx context.Context, r *relay, sink event.Sink, ev event.Event) error {
	refused, err := e.handOut(ctx, sink, r.what, ev)
	switch {
	case err != nil:
		r.counts.failed.Add(1)
	case refused:
		r.counts.refused.Add(1)
	default:
		r.counts.sent.Add(1)
	}
	return err
}
