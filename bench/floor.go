package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// recorder notes what an engine asks its store to write for one instance.
type recorder struct {
	store.Store
	mu     sync.Mutex
	writes []write
}

// write is one transaction: a commit, or an event with its routing.
type write struct {
	commit  *store.Commit
	event   *store.Event
	routing store.Routing
}

func (r *recorder) Commit(ctx context.Context, c store.Commit) error {
	err := r.Store.Commit(ctx, c)
	if err == nil {
		r.note(write{commit: &c})
	}
	return err
}

func (r *recorder) Ingest(ctx context.Context, e store.Event, emit int64, route func(store.Event, store.View) (store.Routing, error)) (store.Event, error) {
	var routing store.Routing
	stored, err := r.Store.Ingest(ctx, e, emit, func(e store.Event, v store.View) (out store.Routing, err error) {
		out, err = route(e, v)
		routing = out
		return out, err
	})
	if err == nil {
		r.note(write{event: &stored, routing: routing})
	}
	return stored, err
}

func (r *recorder) note(w write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, w)
}

// replay does the recorded writes for another instance. Messages are taken as they are
// found: their numbers differ from instance to instance.
func replay(ctx context.Context, s store.Store, writes []write, prefix string, i int64) error {
	id := fmt.Sprintf("%s%d", prefix, i)
	for _, w := range writes {
		if w.event != nil {
			if err := replayEvent(ctx, s, w, id); err != nil {
				return err
			}
			continue
		}
		c := *w.commit
		c.Instance.ID = id
		if len(c.Taken) > 0 {
			messages, err := s.Messages(ctx, id)
			if err != nil {
				return err
			}
			c.Taken = nil
			for _, m := range messages {
				c.Taken = append(c.Taken, m.Seq)
			}
		}
		c.Subscribe = append([]store.Subscription(nil), c.Subscribe...)
		for k := range c.Subscribe {
			c.Subscribe[k].Instance = id
			keys := append([]event.Key(nil), c.Subscribe[k].Filter.Keys...)
			for j := range keys {
				keys[j].Value = id
			}
			c.Subscribe[k].Filter.Keys = keys
		}
		if err := s.Commit(ctx, c); err != nil {
			return fmt.Errorf("commit %s at %d: %w", id, c.Instance.Rev, err)
		}
	}
	return nil
}

func replayEvent(ctx context.Context, s store.Store, w write, id string) error {
	row := *w.event
	row.Seq, row.Event.ID = 0, id
	_, err := s.Ingest(ctx, row, 0, func(e store.Event, v store.View) (store.Routing, error) {
		out := store.Routing{Events: []store.Event{e}}
		for _, d := range w.routing.Deliver {
			d.Instance, d.Event = id, e.Seq
			out.Deliver = append(out.Deliver, d)
		}
		return out, nil
	})
	return err
}

// floorOf measures the store alone with the given writes.
func floorOf(ctx context.Context, s store.Store, writes []write, prefix string, n int, d time.Duration) (figure, error) {
	return closedLoop(ctx, n, d, func(ctx context.Context, i int64) error { return replay(ctx, s, writes, prefix, i) })
}
