// Package memory keeps a namespace in memory: for scenarios, `lockstep run` and
// tests, and as the reference for what a store does. One lock stands for every
// transaction; lists have an order that does not depend on hashing, so that the same
// calls in the same order give the same answers.
package memory

import (
	"context"
	"slices"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Store is a store in memory. It is safe for concurrent use.
type Store struct {
	mu    sync.Mutex
	seq   int64 // the last one given out
	turns int64 // likewise

	contents  map[string]store.Definition // by digest
	aliases   map[alias]*version
	current   map[string]*version // by id
	schedules map[string]store.Schedule
	cursors   map[string]int64

	instances map[string]*instance
	order     []*instance            // by Seq
	children  map[string][]*instance // by parent; by Seq
	ready     sorted[*instance]      // by turn
	unchecked sorted[*instance]      // have fresh subscriptions; by Seq
	wakes     sorted[wake]
	woken     core.Time // up to when instances were woken
	owners    map[ownerKey]map[string]*instance

	calling map[string]*instance // have calls without an answer
	emits   sorted[*store.Emit]  // by Seq; those to be ingested
	sends   sorted[*store.Emit]  // by Seq; those for the sink
	subs    index

	events     map[int64]*keptEvent
	eventOrder []*keptEvent              // by Seq
	eventsBy   map[eventKey][]*keptEvent // likewise
	eventIDs   map[eventID]*keptEvent
	keptFor    map[string]map[int64]*keptEvent // by instance
	again      sorted[int64]                   // Seqs of events
	purgeAt    core.Time                       // nothing is to be purged before

	gatherings map[int64]store.Gathering
	gathered   map[gatheringKey]*sorted[int64] // their Seqs
	expiries   sorted[expiry]

	suspects map[string]bool
	notes    map[noteKey]store.Note
	audit    []store.Entry // by Seq
	audits   int64         // the last Seq of an entry
	tallies  []store.Hour  // by time

	policies map[string]store.Policy
	held     map[string]*sorted[*instance] // by definition; by Seq

	feed   []store.FeedItem // by Pos
	oldest int64            // items up to here may be forgotten
}

var _ store.Store = (*Store)(nil)

type (
	alias   struct{ id, version string }
	pageKey struct {
		frame core.FrameID
		part  int32
	}
	ownerKey     struct{ definition, name, value string }
	eventID      struct{ source, id string }
	eventKey     struct{ kind, attribute, value string } // a type alone, or with an extension attribute
	gatheringKey struct{ definition, digest, key string }
)

// instance is a row with everything that hangs on it.
type instance struct {
	row     store.Instance
	pages   map[pageKey][]byte
	chunks  core.ChunkReader
	records []core.Record
	inbox   []store.Message // by Seq
	subs    []*subscription // by ticket
	calls   map[core.Ticket]store.Call
	turn    int64 // its place among those that are ready; 0: it is not
	waking  *wake // its place among those that sleep
	due     bool  // its wake time has come
}

// New returns an empty store.
func New() *Store {
	return &Store{
		contents:   map[string]store.Definition{},
		aliases:    map[alias]*version{},
		current:    map[string]*version{},
		schedules:  map[string]store.Schedule{},
		cursors:    map[string]int64{},
		instances:  map[string]*instance{},
		children:   map[string][]*instance{},
		ready:      sortedBy(func(in *instance) int64 { return in.turn }),
		unchecked:  sortedBy(func(in *instance) int64 { return in.row.Seq }),
		wakes:      sorted[wake]{compare: wake.compare},
		owners:     map[ownerKey]map[string]*instance{},
		calling:    map[string]*instance{},
		emits:      sortedBy(func(e *store.Emit) int64 { return e.Seq }),
		sends:      sortedBy(func(e *store.Emit) int64 { return e.Seq }),
		subs:       index{buckets: map[bucket]map[*subscription]struct{}{}, types: map[string]*sorted[*subscription]{}},
		events:     map[int64]*keptEvent{},
		eventsBy:   map[eventKey][]*keptEvent{},
		eventIDs:   map[eventID]*keptEvent{},
		keptFor:    map[string]map[int64]*keptEvent{},
		again:      sortedBy(func(seq int64) int64 { return seq }),
		gatherings: map[int64]store.Gathering{},
		gathered:   map[gatheringKey]*sorted[int64]{},
		expiries:   sorted[expiry]{compare: expiry.compare},
		suspects:   map[string]bool{},
		notes:      map[noteKey]store.Note{},
		policies:   map[string]store.Policy{},
		held:       map[string]*sorted[*instance]{},
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

// Writable is always nil: memory has no disk that could be full.
func (s *Store) Writable(ctx context.Context) error { return ctx.Err() }

func (s *Store) next() int64 {
	s.seq++
	return s.seq
}

// file puts an instance where its row says that it belongs.
func (s *Store) file(in *instance) {
	live := !in.row.Aside()
	s.fileHeld(in, in.row.Held)
	s.enqueue(in, live && (len(in.inbox) > 0 || in.row.More || in.due))
	if live && len(in.calls) > 0 {
		s.calling[in.row.ID] = in
	} else {
		delete(s.calling, in.row.ID)
	}
	if live && slices.ContainsFunc(in.subs, (*subscription).fresh) {
		s.unchecked.add(in)
	} else {
		s.unchecked.remove(in)
	}
}

// enqueue puts an instance behind those that are ready, where it is not among them
// yet, or takes it out.
func (s *Store) enqueue(in *instance, ready bool) {
	switch {
	case ready && in.turn == 0:
		s.turns++
		in.turn = s.turns
		s.ready.add(in)
	case !ready && in.turn != 0:
		s.ready.remove(in)
		in.turn = 0
	}
}

// indexKeys keeps the index of correlation keys.
func (s *Store) indexKeys(in *instance, old []core.Key, wasFinal bool) {
	if !wasFinal {
		s.disown(in, old)
	}
	if in.row.Status.Final() {
		return
	}
	for _, k := range in.row.Keys {
		key := ownerKey{in.row.Definition, k.Name, k.Value}
		if s.owners[key] == nil {
			s.owners[key] = map[string]*instance{}
		}
		s.owners[key][in.row.ID] = in
	}
}

// disown takes an instance from those that are found by correlation keys.
func (s *Store) disown(in *instance, keys []core.Key) {
	for _, k := range keys {
		key := ownerKey{in.row.Definition, k.Name, k.Value}
		if delete(s.owners[key], in.row.ID); len(s.owners[key]) == 0 {
			delete(s.owners, key)
		}
	}
}

func ids(list []*instance) []string {
	out := make([]string, len(list))
	for i, in := range list {
		out[i] = in.row.ID
	}
	return out
}
