package memory

import (
	"cmp"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// subscription is a row with where it stands.
type subscription struct {
	of        *instance
	row       store.Subscription
	unchecked bool // not compared with kept events yet
	busy      bool // an event is on its way to it
}

func (s *subscription) fresh() bool { return s.unchecked && !s.busy }

// held reports whether events that came before may have to be delivered first: to it or, if it is standing,
// to another one of its wait.
func (s *subscription) held() bool {
	if !s.row.Ticket.Standing() {
		return s.fresh()
	}
	return slices.ContainsFunc(s.of.subs, func(o *subscription) bool {
		return o.fresh() && o.row.Ticket.Standing() && o.row.Ticket.Wait() == s.row.Ticket.Wait()
	})
}

func (in *instance) sub(t core.Ticket) *subscription {
	for _, s := range in.subs {
		if s.row.Ticket == t {
			return s
		}
	}
	return nil
}

// subscribe adds a subscription, or replaces what the ticket asked for before.
func (s *Store) subscribe(in *instance, row store.Subscription) {
	row.Instance, row.InstanceSeq = in.row.ID, in.row.Seq
	sub := in.sub(row.Ticket)
	if sub != nil {
		s.subs.remove(sub)
	} else {
		sub = &subscription{of: in}
		i, _ := slices.BinarySearchFunc(in.subs, row.Ticket, func(o *subscription, t core.Ticket) int { return cmp.Compare(o.row.Ticket, t) })
		in.subs = slices.Insert(in.subs, i, sub)
	}
	sub.row, sub.unchecked = row, len(s.kept(&row.Filter)) > 0
	s.subs.add(sub)
}

func (s *Store) unsubscribe(in *instance, t core.Ticket) {
	if sub := in.sub(t); sub != nil {
		s.subs.remove(sub)
		in.subs = slices.DeleteFunc(in.subs, func(o *subscription) bool { return o == sub })
	}
}

// index finds the subscriptions an event may match without looking at all of them:
// each is filed under its type and the first attribute that is fixed.
type index struct {
	buckets map[bucket]map[*subscription]struct{}
	places  map[string]int                    // where in events keys are looked for besides attributes, with the number of subscriptions filed so
	types   map[string]*sorted[*subscription] // those that are not busy
}

// bucket is a type and a key: an attribute, or a place in the event.
type bucket struct{ typ, key, place, value string }

func bucketOf(f event.Filter) bucket {
	for _, k := range f.Keys {
		if k.Fixed {
			if k.From != "" {
				return bucket{typ: f.Type, place: k.From, value: k.Value}
			}
			return bucket{typ: f.Type, key: k.Name, value: k.Value}
		}
	}
	return bucket{typ: f.Type}
}

// mayMatch reports whether an event has the key that a filter is filed under.
func mayMatch(f *event.Filter, e *event.Event) bool {
	for _, k := range f.Keys {
		if !k.Fixed {
			continue
		}
		value, ok := k.Of(*e)
		return ok && value == k.Value
	}
	return true
}

func (x *index) add(s *subscription) {
	b := bucketOf(s.row.Filter)
	if x.buckets[b] == nil {
		x.buckets[b] = map[*subscription]struct{}{}
	}
	x.buckets[b][s] = struct{}{}
	if b.place != "" {
		if x.places == nil {
			x.places = map[string]int{}
		}
		x.places[b.place]++
	}
	x.show(s, !s.busy)
}

func (x *index) remove(s *subscription) {
	b := bucketOf(s.row.Filter)
	if delete(x.buckets[b], s); len(x.buckets[b]) == 0 {
		delete(x.buckets, b)
	}
	if b.place != "" {
		if x.places[b.place]--; x.places[b.place] == 0 {
			delete(x.places, b.place)
		}
	}
	x.show(s, false)
}

// setBusy says whether an event is on its way to a subscription.
func (x *index) setBusy(s *subscription, busy bool) {
	s.busy = busy
	x.show(s, !busy)
}

// show keeps the list of open subscriptions for a type.
func (x *index) show(s *subscription, open bool) {
	typ := s.row.Filter.Type
	list := x.types[typ]
	switch {
	case open && list == nil:
		x.types[typ] = &sorted[*subscription]{compare: oldest}
		x.types[typ].add(s)
	case open:
		list.add(s)
	case list != nil:
		if list.remove(s); list.size == 0 {
			delete(x.types, typ)
		}
	}
}

// oldest orders subscriptions.
func oldest(a, b *subscription) int {
	return cmp.Or(cmp.Compare(a.row.InstanceSeq, b.row.InstanceSeq), cmp.Compare(a.row.Ticket, b.row.Ticket))
}

// candidates are the open subscriptions that may match an event.
func (x *index) candidates(e event.Event) []store.Subscription {
	names := []string{"specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema"}
	for _, m := range e.Extensions {
		names = append(names, m.Key)
	}
	var list []*subscription
	for _, typ := range []string{"", e.Type} {
		list = x.collect(list, bucket{typ: typ})
		for _, name := range names {
			if value, ok := e.Attribute(name); ok {
				list = x.collect(list, bucket{typ: typ, key: name, value: value})
			}
		}
		for place := range x.places {
			if value, ok := e.Find(place); ok {
				list = x.collect(list, bucket{typ: typ, place: place, value: value})
			}
		}
	}
	return rows(list)
}

func (x *index) collect(list []*subscription, b bucket) []*subscription {
	for s := range x.buckets[b] {
		if !s.busy {
			list = append(list, s)
		}
	}
	return list
}

// near are the first open subscriptions for a type.
func (x *index) near(typ string, limit int) []store.Subscription {
	var list []*subscription
	for _, typ := range []string{"", typ} {
		if open := x.types[typ]; open != nil {
			list = append(list, open.head(limit)...)
		}
	}
	near := rows(list)
	return near[:min(len(near), limit)]
}

func rows(list []*subscription) []store.Subscription {
	slices.SortFunc(list, oldest)
	out := make([]store.Subscription, len(list))
	for i, s := range list {
		out[i] = s.row
		out[i].Fresh = s.held()
	}
	return out
}
