package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Commit writes the outcome of a step.
func (s *Store) Commit(ctx context.Context, c store.Commit) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.mayCommit(c); err != nil {
		return err
	}
	if e := c.Event; e != nil {
		if _, err := s.ingest(e.Event, e.Emit, e.Route, true); err != nil {
			return err
		}
	}
	s.write(c)
	return nil
}

// mayCommit compares a commit with what is stored.
func (s *Store) mayCommit(c store.Commit) error {
	if err := cmp.Or(c.Instance.CheckText(), c.CheckChunks()); err != nil {
		return err
	}
	for i := range c.Children {
		if err := c.Children[i].Instance.CheckText(); err != nil {
			return err
		}
	}
	id := c.Instance.ID
	in := s.instances[id]
	switch {
	case c.Instance.Rev == 0 && in != nil:
		return fmt.Errorf("create instance %s: it exists: %w", id, store.ErrConflict)
	case c.Instance.Rev == 0:
		if err := s.needs(c.Instance.Definition, c.Instance.Digest); err != nil {
			return fmt.Errorf("create instance %s: %w", id, err)
		}
	case in == nil:
		return fmt.Errorf("commit instance %s: %w", id, store.ErrNotFound)
	case in.row.Rev != c.Instance.Rev:
		return fmt.Errorf("commit instance %s at revision %d, it is at %d: %w", id, c.Instance.Rev, in.row.Rev, store.ErrConflict)
	case in.row.Created != c.Instance.Created:
		return fmt.Errorf("commit instance %s: it was deleted and created again: %w", id, store.ErrConflict)
	case c.Unread && len(in.inbox) > 0:
		return fmt.Errorf("commit instance %s: it has messages: %w", id, store.ErrConflict)
	}
	for _, child := range c.Children {
		if err := s.needs(child.Instance.Definition, child.Instance.Digest); err != nil {
			return fmt.Errorf("commit instance %s: %w", id, err)
		}
	}
	return nil
}

// write does a commit that mayCommit allows.
func (s *Store) write(c store.Commit) {
	in, told := s.instances[c.Instance.ID], len(c.Records) > 0
	if in == nil {
		in, told = s.create(c.Instance), true
	} else {
		told = told || in.row.Status != c.Instance.Status
		s.replace(in, c.Instance)
	}
	for _, p := range c.Pages {
		if p.Data == nil {
			delete(in.pages, pageKey{p.Frame, p.Part})
		} else {
			in.pages[pageKey{p.Frame, p.Part}] = p.Data
		}
	}
	if c.Chunks != nil {
		for i, data := range c.Chunks.Fresh {
			in.chunks.Add(core.ChunkAt(c.Chunks.Total, i), data)
		}
	}
	in.records = append(in.records, c.Records...)
	in.row.Records = int64(len(in.records))
	if told {
		s.appendFeed(in, in.row.Updated, c.Records)
	}
	s.take(in, c.Taken, c.Release)
	s.commands(in, c)
	if in.row.Status.Final() {
		s.finish(in)
	}
	s.enqueue(in, false) // what it still has to do, it does behind the others
	s.file(in)
}

// create inserts a row.
func (s *Store) create(row store.Instance) *instance {
	row.Seq, row.Rev = s.next(), 1
	in := &instance{row: row, pages: map[pageKey][]byte{}, calls: map[core.Ticket]store.Call{}}
	s.instances[row.ID] = in
	s.order = append(s.order, in)
	if row.Parent != "" {
		s.children[row.Parent] = append(s.children[row.Parent], in)
	}
	s.indexKeys(in, nil, true)
	s.sleep(in)
	return in
}

// replace writes a row over another.
func (s *Store) replace(in *instance, row store.Instance) {
	old := in.row
	row.Seq, row.Rev = old.Seq, old.Rev+1
	in.row, in.due = row, false
	s.indexKeys(in, old.Keys, old.Status.Final())
	s.sleep(in)
}

// take removes messages from the inbox and puts back the refused events.
func (s *Store) take(in *instance, taken, release []int64) {
	if len(taken) == 0 {
		return
	}
	for _, m := range in.inbox {
		if m.Event != 0 && slices.Contains(release, m.Seq) {
			s.refuse(in, m)
		}
	}
	gone := slices.Sorted(slices.Values(taken))
	in.inbox = slices.DeleteFunc(slices.Clone(in.inbox), func(m store.Message) bool {
		_, ok := slices.BinarySearch(gone, m.Seq)
		return ok
	})
}

func (s *Store) commands(in *instance, c store.Commit) {
	id := in.row.ID
	for _, t := range c.Answered {
		delete(in.calls, t)
	}
	for _, call := range c.Calls {
		call.Seq, call.Instance, call.Created = s.next(), id, in.row.Created
		in.calls[call.Ticket] = call
	}
	for _, e := range c.Emits {
		e.Seq, e.Instance = s.next(), id
		if e.Sink {
			s.sends.add(&e)
		} else {
			s.emits.add(&e)
		}
	}
	for _, t := range c.Unsubscribe {
		s.unsubscribe(in, t)
		if t.Standing() && !in.row.Status.Final() {
			s.putBack(in, t)
		}
	}
	for _, sub := range c.Subscribe {
		s.subscribe(in, sub)
	}
	for _, child := range c.Children {
		s.insert(child, child.Instance.Created)
	}
	for _, m := range c.Messages {
		s.post(m)
	}
}

// insert creates an instance that is yet to take its start, unless it exists.
func (s *Store) insert(n store.NewInstance, at core.Time) {
	if s.instances[n.Instance.ID] != nil {
		return
	}
	in := s.create(n.Instance)
	s.post(store.Message{To: in.row.ID, At: at, Input: n.Start})
}

// post puts a message into an inbox. It drops the message if the instance was deleted.
func (s *Store) post(m store.Message) {
	in := s.instances[m.To]
	if in == nil {
		return
	}
	m.Seq = s.next()
	in.inbox = append(in.inbox, m)
	s.file(in)
}

// finish lets go of what a finished instance held.
func (s *Store) finish(in *instance) {
	for _, sub := range in.subs {
		s.subs.remove(sub)
	}
	in.subs = nil
	clear(in.calls)
	s.routeAgain(in)
}

// routeAgain lets the events go that are kept for an instance.
func (s *Store) routeAgain(in *instance) {
	for seq, e := range s.keptFor[in.row.ID] {
		s.again.add(seq)
		e.setFor(s, slices.DeleteFunc(slices.Clone(e.row.For), func(id string) bool { return id == in.row.ID }))
	}
}
