package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Lifecycle events are read from the feed, not stored: a step costs nothing more where they are published. The
// store keeps how far that is. The position moves once the sink has all events up to it, so a process that
// is killed leaves nothing out, and the next one may send some again, with the ids that they had.

const (
	// publisher is no instance: of several nodes the one publishes that would have it.
	publisher = "lifecycle"
	// publishBatch is how many items of the feed are read at a time; their events are on their way together
	// ("lifecycle-batch").
	publishBatch = 64
	// publishSkip is how far the position may be ahead of the stored one while nothing is to be sent.
	publishSkip = 1 << 16
	// publishPause is how long items are gathered, so that the position is not stored for each.
	publishPause = 10 * time.Millisecond
	// publishLook is how long a node waits for changes at most, and for its turn.
	publishLook = time.Second
	// publishKnown is how many instances are in memory with what is needed for their events.
	publishKnown = 4096
)

// publishing is how far the publisher is. Only its goroutine uses it.
type publishing struct {
	begun     bool
	pos       int64 // everything up to here is with the sink
	saved     int64 // what the store knows of that
	accepted  map[string]bool
	programs  map[string]*Lifecycle // by digest
	instances map[string]published
	failures  int
	told      time.Time
}

// published is what the events of an instance need.
type published struct {
	lifecycle *Lifecycle // nil: it has none
	version   string
}

// publishCounts counts what became of lifecycle events since the engine began.
type publishCounts struct{ sent, refused, failed atomic.Int64 }

// LifecycleFigures tells what became of lifecycle events here, without Waiting; false: they are not published.
func (e *Engine) LifecycleFigures() (SinkFigures, bool) {
	c := &e.published
	return SinkFigures{Sent: c.sent.Load(), Refused: c.refused.Load(), Failed: c.failed.Load()}, e.cfg.Lifecycle != nil
}

// publish sends lifecycle events until ctx ends.
func (e *Engine) publish(ctx context.Context) {
	p := &publishing{}
	for ctx.Err() == nil {
		if !e.has(publisher) {
			p.begun = false // another node goes on
			e.pause(ctx, nil, publishLook)
			continue
		}
		fresh := e.Changes() // before reading, so that none is missed
		more, err := e.publishPart(ctx, p)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			e.publishFailed(p, err)
			e.pause(ctx, nil, min(firstRest<<min(p.failures-1, 6), longestRest))
		case !more:
			p.failures = 0
			e.pause(ctx, fresh, publishLook)
			e.pause(ctx, nil, publishPause)
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

func (e *Engine) publishFailed(p *publishing, err error) {
	now := e.cfg.Clock.Now()
	if p.failures++; p.failures > 1 && !now.Before(p.told) && now.Sub(p.told) < tellAgain {
		return
	}
	p.told = now
	e.report(fmt.Errorf("lifecycle events are not published (%d failures in a row), and sent again: %w", p.failures, err))
}

// publishPart sends the events of the next items of the feed. It reports whether there may be more.
func (e *Engine) publishPart(ctx context.Context, p *publishing) (more bool, err error) {
	if !p.begun {
		if err := e.beginPublishing(ctx, p); err != nil {
			return false, err
		}
	}
	feed, err := e.store.Feed(ctx, p.pos, publishBatch)
	if err != nil {
		return false, fmt.Errorf("read the feed: %w", err)
	}
	if feed.Oldest > p.pos {
		e.report(fmt.Errorf("lifecycle events between positions %d and %d are lost: the feed was not kept that long", p.pos, feed.Oldest))
	}
	queues := map[string][]event.Event{} // by instance: those of one are sent in order
	for i := range feed.Items {
		item := &feed.Items[i]
		events, err := e.lifecycleOf(ctx, p, item)
		if err != nil {
			return false, err
		}
		if len(events) > 0 {
			queues[item.Instance] = append(queues[item.Instance], events...)
		}
	}
	if err := e.sendLifecycle(ctx, p, queues); err != nil {
		return false, err
	}
	next := max(feed.Next, feed.Oldest)
	if len(queues) > 0 || next-p.saved > publishSkip {
		if err := e.store.SetPublished(ctx, next); err != nil {
			return false, fmt.Errorf("store the published position: %w", err)
		}
		p.saved = next
	}
	p.pos, p.accepted = next, nil
	return next < feed.Last, nil
}

// beginPublishing reads how far the feed is published. Where it never was, that begins now.
func (e *Engine) beginPublishing(ctx context.Context, p *publishing) error {
	pos, ok, err := e.store.Published(ctx)
	if err == nil && !ok {
		if pos, err = e.FeedEnd(ctx); err == nil {
			err = e.store.SetPublished(ctx, pos)
		}
	}
	if err != nil {
		return fmt.Errorf("read the published position: %w", err)
	}
	*p = publishing{
		begun: true, pos: pos, saved: pos, failures: p.failures, told: p.told,
		programs: map[string]*Lifecycle{}, instances: map[string]published{},
	}
	return nil
}

// lifecycleOf makes the events of an item of the feed. Their ids follow from its position.
func (e *Engine) lifecycleOf(ctx context.Context, p *publishing, item *store.FeedItem) ([]event.Event, error) {
	if len(item.Records) == 0 {
		return nil, nil
	}
	of, known := p.instances[item.Instance]
	if !known {
		var err error
		if of, err = e.publishedOf(ctx, p, item); err != nil {
			return nil, err
		}
		if len(p.instances) >= publishKnown {
			clear(p.instances)
		}
		p.instances[item.Instance] = of
	}
	if item.Status.Final() {
		delete(p.instances, item.Instance)
	}
	if of.lifecycle == nil {
		return nil, nil
	}
	events := of.lifecycle.Events(item.Instance, of.version, item.Records)
	for i := range events {
		events[i].ID = fmt.Sprintf("%s/%d.%d", item.Instance, item.Pos, i+1)
		events[i].Source = e.lifecycleSource() + item.Definition
	}
	return events, nil
}

// publishedOf finds what the events of an instance need. Of an instance that was deleted meanwhile only the
// definition is known: its current version is taken.
func (e *Engine) publishedOf(ctx context.Context, p *publishing, item *store.FeedItem) (published, error) {
	row, err := e.store.Instance(ctx, item.Instance)
	if errors.Is(err, store.ErrNotFound) {
		d, err := e.find(ctx, item.Definition, "")
		if missing := (*NotFoundError)(nil); errors.As(err, &missing) {
			return published{}, nil
		} else if err != nil {
			return published{}, err
		}
		row.Digest, row.Version = d.row.Digest, d.row.Version
	} else if err != nil && !errors.Is(err, store.ErrDamaged) {
		return published{}, fmt.Errorf("read instance %s: %w", item.Instance, err)
	}
	l, known := p.programs[row.Digest]
	if !known {
		prog, err := e.program(ctx, row.Digest)
		switch {
		case err == nil:
			l = NewLifecycle(prog.Program)
		case !unusable(err):
			return published{}, err
		default:
			e.report(fmt.Errorf("no lifecycle events of instance %s: %w", item.Instance, err))
			return published{}, nil
		}
		p.programs[row.Digest] = l
	}
	return published{l, row.Version}, nil
}

// unusable reports whether an error says that a program is not there, or cannot be used, now or later.
func unusable(err error) bool {
	beyond := (*UnloadableError)(nil)
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) || errors.As(err, &beyond)
}

// sendLifecycle gives events to the sink: those of one instance in order, those of others side by side. What
// it accepted is not sent again by this process, if others fail.
func (e *Engine) sendLifecycle(ctx context.Context, p *publishing, queues map[string][]event.Event) error {
	if p.accepted == nil {
		p.accepted = map[string]bool{}
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
				done := p.accepted[ev.ID]
				mu.Unlock()
				if done {
					continue
				}
				err := e.giveLifecycle(ctx, ev)
				mu.Lock()
				if err != nil {
					failed = err
					mu.Unlock()
					return // what follows waits for it
				}
				p.accepted[ev.ID] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}

// giveLifecycle gives one event to the sink, and counts what became of it.
func (e *Engine) giveLifecycle(ctx context.Context, ev event.Event) error {
	refused, err := e.handOut(ctx, e.cfg.Lifecycle, "lifecycle event", ev)
	switch {
	case err != nil:
		e.published.failed.Add(1)
	case refused:
		e.published.refused.Add(1)
	default:
		e.published.sent.Add(1)
	}
	return err
}

// lifecycleSource begins the source of the lifecycle events of this namespace.
func (e *Engine) lifecycleSource() string { return "lockstep/" + e.cfg.Namespace + "/" }

// isLifecycle reports whether an event is one that this namespace published. It may come back by a stream
// that the sink and a source share; workflows do not get it.
func (e *Engine) isLifecycle(ev *event.Event) bool {
	return strings.HasPrefix(ev.Source, e.lifecycleSource()) &&
		(strings.HasPrefix(ev.Type, workflowEvents) || strings.HasPrefix(ev.Type, taskEvents))
}
