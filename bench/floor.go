package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// recorder notes what an engine asks its store to write for one instance.
type recorder struct {
	store.Store
	mu     sync.Mutex
	writes []write
}

// write is one transaction: a commit, or an event with its routing, or a commit that takes an event.
type write struct {
	commit  *store.Commit
	event   *store.Event
	routing store.Routing
}

func (r *recorder) Commit(ctx context.Context, c store.Commit) error {
	w := write{commit: &c}
	if c.Event != nil {
		arrival := *c.Event
		arrival.Route = w.noteRouting(arrival.Route)
		c.Event = &arrival
	}
	err := r.Store.Commit(ctx, c)
	if err == nil {
		r.note(w)
	}
	return err
}

func (r *recorder) Ingest(ctx context.Context, e store.Event, emit int64, route store.EventRouter) (store.Event, error) {
	var w write
	stored, err := r.Store.Ingest(ctx, e, emit, w.noteRouting(route))
	if err == nil {
		w.event = &stored
		r.note(w)
	}
	return stored, err
}

// noteRouting has a router leave its routing in the write.
func (w *write) noteRouting(route store.EventRouter) store.EventRouter {
	return func(e store.Event, v store.View) (out store.Routing, err error) {
		out, err = route(e, v)
		w.routing = out
		return out, err
	}
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
		if c.Event != nil {
			c.Event = &store.Arrival{Event: rowOf(c.Event.Event, id), Route: w.routeTo(id)}
		}
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
	_, err := s.Ingest(ctx, rowOf(*w.event, id), 0, w.routeTo(id))
	return err
}

// rowOf is a recorded event as one for another instance.
func rowOf(e store.Event, id string) store.Event {
	e.Seq, e.Event.ID = 0, id
	return e
}

// routeTo routes an event as the recorded one, to another instance.
func (w *write) routeTo(id string) store.EventRouter {
	return func(e store.Event, v store.View) (store.Routing, error) {
		out := store.Routing{Events: []store.Event{e}}
		for _, d := range w.routing.Deliver {
			d.Instance, d.Event = id, e.Seq
			out.Deliver = append(out.Deliver, d)
		}
		return out, nil
	}
}

// floorOf measures the store alone with the given writes.
func floorOf(ctx context.Context, s store.Store, writes []write, prefix string, n int, d time.Duration) (figure, error) {
	return closedLoop(ctx, n, d, func(ctx context.Context, i int64) error { return replay(ctx, s, writes, prefix, i) })
}

// rowsPerCommit is how many rows a commit of batchedRows has.
const rowsPerCommit = 100

// batchedRows is how many small rows a second SQLite takes that share commits, each of which is synced.
func batchedRows(ctx context.Context, d time.Duration) (float64, error) {
	dir, remove, err := workDir()
	if err != nil {
		return 0, err
	}
	defer remove()
	c, err := sqlite.OpenConn(filepath.Join(dir, "floor.db"), sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		return 0, err
	}
	defer func() { complain(c.Close()) }()
	for _, text := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE bare (a INTEGER PRIMARY KEY, b BLOB)"} {
		if err := sqlitex.ExecuteTransient(c, text, nil); err != nil {
			return 0, err
		}
	}
	data := make([]byte, 100)
	got, err := closedLoop(ctx, 1, d, func(context.Context, int64) (err error) {
		end, err := sqlitex.ImmediateTransaction(c)
		if err != nil {
			return err
		}
		defer end(&err)
		insert := c.Prep("INSERT INTO bare (b) VALUES (?)")
		for range rowsPerCommit {
			insert.BindBytes(1, data)
			if _, err := insert.Step(); err != nil {
				return err
			}
			if err := insert.Reset(); err != nil {
				return err
			}
		}
		return nil
	})
	return rowsPerCommit * got.rate(), err
}
