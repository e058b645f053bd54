package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// keptEvent is an event with the instances that got it.
type keptEvent struct {
	row       store.Event
	delivered []delivery
}

type delivery struct {
	instance int64 // Seq
	ticket   core.Ticket
	refused  bool // the instance did not wait for it any more
}

// view is the row with Taken as it is now.
func (e *keptEvent) view() store.Event {
	row := e.row
	row.Taken = len(row.Used) > 0 || slices.ContainsFunc(e.delivered, func(d delivery) bool { return !d.refused })
	return row
}

// setFor says which instances the event is kept for.
func (e *keptEvent) setFor(s *Store, instances []string) {
	for _, id := range e.row.For {
		delete(s.keptFor[id], e.row.Seq)
		if len(s.keptFor[id]) == 0 {
			delete(s.keptFor, id)
		}
	}
	e.row.For = instances
	for _, id := range instances {
		if s.keptFor[id] == nil {
			s.keptFor[id] = map[int64]*keptEvent{}
		}
		s.keptFor[id][e.row.Seq] = e
	}
}

// open reports whether a subscription may still get the event.
func (e *keptEvent) open(s store.Subscription) bool {
	if e.row.Producer == s.Instance {
		return false
	}
	return !slices.ContainsFunc(e.delivered, func(d delivery) bool {
		return d.instance == s.InstanceSeq && (!d.refused || d.ticket == s.Ticket)
	})
}

// Ingest takes an event and routes it.
func (s *Store) Ingest(ctx context.Context, e store.Event, emit int64, route store.EventRouter) (store.Event, error) {
	if err := s.begin(ctx); err != nil {
		return store.Event{}, err
	}
	defer s.mu.Unlock()
	return s.ingest(e, emit, route, false)
}

// errPreviewed ends an ingest that only looks.
var errPreviewed = errors.New("previewed")

// Preview routes an event without taking it.
func (s *Store) Preview(ctx context.Context, e store.Event, route store.EventRouter) error {
	_, err := s.Ingest(ctx, e, 0, func(e store.Event, v store.View) (store.Routing, error) {
		_, err := route(e, v)
		return store.Routing{}, cmp.Or(err, errPreviewed)
	})
	if errors.Is(err, errPreviewed) {
		return nil
	}
	return err
}

// ingest takes an event. Directly: the step that takes it is in the same transaction.
func (s *Store) ingest(e store.Event, emit int64, route store.EventRouter, directly bool) (store.Event, error) {
	key := eventID{e.Event.Source, e.Event.ID}
	known := s.eventIDs[key]
	if known != nil && known.row.Until <= e.Received {
		s.purge(e.Received)
		known = nil
	}
	if known != nil {
		s.emits.remove(&store.Emit{Seq: emit})
		return known.view(), fmt.Errorf("event %s of %s: %w", key.id, key.source, store.ErrDuplicate)
	}
	e.Seq = s.next()
	kept := &keptEvent{row: e}
	s.events[e.Seq], s.eventIDs[key] = kept, kept
	s.eventOrder = append(s.eventOrder, kept)
	for _, k := range eventKeys(&e.Event) {
		s.eventsBy[k] = append(s.eventsBy[k], kept)
	}
	if len(s.eventOrder) == 1 || e.Until < s.purgeAt {
		s.purgeAt = e.Until
	}
	routing, err := route(e, view{s})
	if err == nil {
		err = s.mayRoute(routing)
	}
	if err != nil {
		s.takeBack(kept)
		return store.Event{}, err
	}
	s.emits.remove(&store.Emit{Seq: emit})
	s.apply(routing, directly)
	return kept.view(), nil
}

// eventKeys are what an event is found by.
func eventKeys(e *event.Event) []eventKey {
	out := []eventKey{{kind: e.Type}}
	for _, x := range e.Extensions {
		out = append(out, eventKey{e.Type, x.Key, x.Value.Text()})
	}
	return out
}

// kept lists events, oldest first: all that a filter selects, and no more of others than it must.
func (s *Store) kept(f *event.Filter) []*keptEvent {
	if f.Type == "" {
		return s.eventOrder
	}
	for _, k := range f.Keys {
		if k.Fixed && k.From == "" && !event.Standard(k.Name) {
			return s.eventsBy[eventKey{f.Type, k.Name, k.Value}]
		}
	}
	return s.eventsBy[eventKey{kind: f.Type}]
}

// takeBack drops the event that was added last. Nobody has seen its number.
func (s *Store) takeBack(kept *keptEvent) {
	s.seq--
	for _, k := range eventKeys(&kept.row.Event) {
		if s.eventsBy[k] = withoutLast(s.eventsBy[k]); len(s.eventsBy[k]) == 0 {
			delete(s.eventsBy, k)
		}
	}
	s.eventOrder = withoutLast(s.eventOrder)
	delete(s.events, kept.row.Seq)
	delete(s.eventIDs, eventID{kept.row.Event.Source, kept.row.Event.ID})
}

func withoutLast(list []*keptEvent) []*keptEvent {
	last := len(list) - 1
	list[last] = nil
	return list[:last]
}

// Route decides again about events that are kept.
func (s *Store) Route(ctx context.Context, route store.Router) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	routing, err := route(view{s})
	if err == nil {
		err = s.mayRoute(routing)
	}
	if err != nil {
		return err
	}
	s.apply(routing, false)
	return nil
}

func (s *Store) apply(r store.Routing, directly bool) {
	for _, e := range r.Events {
		if kept := s.events[e.Seq]; kept != nil {
			kept.row.Until, kept.row.Used, kept.row.Why = e.Until, e.Used, e.Why
			kept.setFor(s, e.For)
			s.again.remove(e.Seq)
			s.purgeAt = min(s.purgeAt, e.Until)
		}
	}
	for _, d := range r.Deliver {
		s.deliver(d, directly)
	}
	for _, g := range r.Gather {
		if g.Seq == 0 {
			g.Seq = s.next()
		}
		s.collect(g)
	}
	for _, seq := range r.Drop {
		s.drop(seq)
	}
	for _, seq := range r.Again {
		if s.events[seq] != nil {
			s.again.add(seq)
		}
	}
	for _, n := range r.Start {
		s.insert(n, n.Instance.Created)
	}
	for _, id := range r.Checked {
		if in := s.instances[id]; in != nil {
			for _, sub := range in.subs {
				sub.unchecked = false
			}
			s.file(in)
		}
	}
}

// deliver gives an event to an instance: directly, where the step that takes it is in the same transaction.
func (s *Store) deliver(d store.Delivery, directly bool) {
	in, e := s.instances[d.Instance], s.events[d.Event]
	if in == nil || e == nil {
		return
	}
	if sub := in.sub(d.Reply.Ticket); sub != nil && !directly && !d.Reply.Ticket.Standing() {
		s.subs.setBusy(sub, true)
	}
	e.delivered = append(e.delivered, delivery{instance: in.row.Seq, ticket: d.Reply.Ticket})
	e.setFor(s, slices.DeleteFunc(slices.Clone(e.row.For), func(id string) bool { return id == d.Instance }))
	if !directly {
		s.post(store.Message{To: d.Instance, At: d.At, Input: d.Reply, Event: d.Event})
	}
}

// refuse puts back an event that arrived after its subscription was closed. It is kept for the
// instance: another subscription may take it; if none does, it is routed again.
func (s *Store) refuse(in *instance, m store.Message) {
	reply, _ := m.Input.(core.Reply)
	if sub := in.sub(reply.Ticket); sub != nil {
		s.subs.setBusy(sub, false)
	}
	for _, sub := range in.subs {
		sub.unchecked = true
	}
	e := s.events[m.Event]
	if e == nil {
		return
	}
	for i := range e.delivered {
		if d := &e.delivered[i]; d.instance == in.row.Seq && d.ticket == reply.Ticket {
			d.refused = true
		}
	}
	if !slices.Contains(e.row.For, in.row.ID) {
		e.setFor(s, append(slices.Clone(e.row.For), in.row.ID))
	}
}

// putBack refuses the events that are on their way to a standing subscription which is removed.
func (s *Store) putBack(in *instance, t core.Ticket) {
	var left []store.Message
	for _, m := range in.inbox {
		if reply, ok := m.Input.(core.Reply); ok && m.Event != 0 && reply.Ticket == t {
			s.refuse(in, m)
		} else {
			left = append(left, m)
		}
	}
	in.inbox = left
}

// Purge forgets events whose time is up.
func (s *Store) Purge(ctx context.Context, now core.Time) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.purge(now)
	return nil
}

func (s *Store) purge(now core.Time) {
	if now < s.purgeAt {
		return
	}
	s.forget(func(e *keptEvent) bool { return e.row.Until <= now })
	for i, e := range s.eventOrder {
		if i == 0 || e.row.Until < s.purgeAt {
			s.purgeAt = e.row.Until
		}
	}
}

// forget drops events.
func (s *Store) forget(over func(*keptEvent) bool) {
	for _, e := range s.eventOrder {
		if !over(e) {
			continue
		}
		for _, k := range eventKeys(&e.row.Event) {
			if s.eventsBy[k] = slices.DeleteFunc(s.eventsBy[k], over); len(s.eventsBy[k]) == 0 {
				delete(s.eventsBy, k)
			}
		}
		delete(s.events, e.row.Seq)
		delete(s.eventIDs, eventID{e.row.Event.Source, e.row.Event.ID})
		s.again.remove(e.row.Seq)
		e.setFor(s, nil)
	}
	s.eventOrder = slices.DeleteFunc(s.eventOrder, over)
}
