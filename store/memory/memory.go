// Package memory keeps a namespace in memory: for scenarios, `lockstep run` and
// tests, and as the reference for what a store does. One lock stands for every
// transaction; lists are ordered by Seq, so that the same calls in the same order
// give the same answers.
package memory

import (
	"context"
	"slices"
	"sync"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
)

// Store is a store in memory. It is safe for concurrent use.
type Store struct {
	mu  sync.Mutex
	seq int64 // the last one given out

	contents  map[string]store.Definition // by digest
	aliases   map[alias]*version
	current   map[string]*version // by id
	schedules map[string]store.Schedule

	instances map[string]*instance
	order     []*instance // by Seq
	ready     map[string]*instance
	unchecked map[string]*instance // have fresh subscriptions
	wakes     wakes
	owners    map[ownerKey]map[string]*instance

	calling map[string]*instance // have calls without an answer
	emits   []store.Emit         // by Seq
	subs    index

	events     map[int64]*keptEvent
	eventOrder []*keptEvent            // by Seq
	eventTypes map[string][]*keptEvent // likewise
	eventIDs   map[eventID]*keptEvent
	keptFor    map[string]map[int64]*keptEvent // by instance
	again      map[int64]*keptEvent
	purgeAt    core.Time // nothing is to be purged before

	gatherings map[int64]store.Gathering
}

var _ store.Store = (*Store)(nil)

type (
	alias   struct{ id, version string }
	pageKey struct {
		frame core.FrameID
		part  int32
	}
	ownerKey struct{ definition, name, value string }
	eventID  struct{ source, id string }
)

// instance is a row with everything that hangs on it.
type instance struct {
	row     store.Instance
	pages   map[pageKey][]byte
	records []core.Record
	inbox   []store.Message // by Seq
	subs    []*subscription // by ticket
	calls   map[core.Ticket]store.Call
	due     bool // its wake time has come
}

// New returns an empty store.
func New() *Store {
	return &Store{
		contents:   map[string]store.Definition{},
		aliases:    map[alias]*version{},
		current:    map[string]*version{},
		schedules:  map[string]store.Schedule{},
		instances:  map[string]*instance{},
		ready:      map[string]*instance{},
		unchecked:  map[string]*instance{},
		owners:     map[ownerKey]map[string]*instance{},
		calling:    map[string]*instance{},
		subs:       index{},
		events:     map[int64]*keptEvent{},
		eventTypes: map[string][]*keptEvent{},
		eventIDs:   map[eventID]*keptEvent{},
		keptFor:    map[string]map[int64]*keptEvent{},
		again:      map[int64]*keptEvent{},
		gatherings: map[int64]store.Gathering{},
	}
}

// begin starts a transaction; the caller unlocks.
func (s *Store) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	return nil
}

func (s *Store) next() int64 {
	s.seq++
	return s.seq
}

// file puts an instance where its row says that it belongs.
func (s *Store) file(in *instance) {
	id := in.row.ID
	put := func(set map[string]*instance, there bool) {
		if there {
			set[id] = in
		} else {
			delete(set, id)
		}
	}
	live := in.row.Quarantine == ""
	put(s.ready, live && (len(in.inbox) > 0 || in.row.More || in.due))
	put(s.calling, live && len(in.calls) > 0)
	put(s.unchecked, live && slices.ContainsFunc(in.subs, (*subscription).fresh))
}

// own keeps the index of correlation keys.
func (s *Store) own(in *instance, old []core.Key, wasFinal bool) {
	key := func(k core.Key) ownerKey { return ownerKey{in.row.Definition, k.Name, k.Value} }
	if !wasFinal {
		for _, k := range old {
			delete(s.owners[key(k)], in.row.ID)
		}
	}
	if in.row.Status.Final() {
		return
	}
	for _, k := range in.row.Keys {
		if s.owners[key(k)] == nil {
			s.owners[key(k)] = map[string]*instance{}
		}
		s.owners[key(k)][in.row.ID] = in
	}
}

// oldest lists the first instances of a set by Seq.
func oldest(set map[string]*instance, limit int) []string {
	list := make([]*instance, 0, len(set))
	for _, in := range set {
		list = append(list, in)
	}
	slices.SortFunc(list, func(a, b *instance) int { return compare(a.row.Seq, b.row.Seq) })
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	out := make([]string, len(list))
	for i, in := range list {
		out[i] = in.row.ID
	}
	return out
}

func compare[T int64 | core.Time | core.Ticket](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
