package memory

import (
	"cmp"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// view is the store inside a transaction.
type view struct{ s *Store }

var _ store.View = view{}

func (v view) Event(seq int64) (store.Event, bool) {
	e := v.s.events[seq]
	if e == nil {
		return store.Event{}, false
	}
	row := e.view()
	_, _, row.Again = v.s.again.find(seq)
	return row, true
}

func (v view) Subscriptions(e event.Event) []store.Subscription { return v.s.subs.candidates(e) }

func (v view) Near(e event.Event, limit int) []store.Subscription {
	return v.s.subs.near(e.Type, limit)
}

func (v view) Fresh(instance string) []store.Subscription {
	in := v.s.instances[instance]
	if in == nil {
		return nil
	}
	var out []store.Subscription
	for _, sub := range in.subs {
		if !sub.busy && sub.held() {
			out = append(out, sub.row)
		}
	}
	return out
}

func (v view) Kept(s store.Subscription) []store.Event {
	var out []store.Event
	for _, e := range v.s.kept(&s.Filter) {
		if !mayMatch(&s.Filter, &e.row.Event) {
			continue // without a word why
		}
		if ok, _ := s.Filter.Match(e.row.Event); ok && e.open(s) {
			out = append(out, e.view())
		}
	}
	return out
}

func (v view) Owner(definition string, keys []core.Key) (store.Instance, bool) {
	var found *instance
	if len(keys) == 0 {
		return store.Instance{}, false
	}
	k := keys[0]
	for _, in := range v.s.owners[ownerKey{definition, k.Name, k.Value}] {
		if (found == nil || in.row.Seq < found.row.Seq) && in.row.Fixed(keys) {
			found = in
		}
	}
	if found == nil {
		return store.Instance{}, false
	}
	return found.row, true
}

func (v view) Got(event int64, definition string, keys []core.Key) bool {
	e := v.s.events[event]
	if e == nil || len(keys) == 0 {
		return false
	}
	return slices.ContainsFunc(e.delivered, func(d delivery) bool {
		i, there := slices.BinarySearchFunc(v.s.order, d.instance, func(in *instance, seq int64) int { return cmp.Compare(in.row.Seq, seq) })
		return there && !d.refused && v.s.order[i].row.Definition == definition && v.s.order[i].row.Fixed(keys)
	})
}
