// Package storetest is the test suite that every store must pass: a test for each rule in the
// documentation of package store, and random calls compared with store/memory. The tests use
// only the interface.
//
//	commit.go      revisions, pages, records, the inbox, calls
//	chunks.go      large values that are stored once
//	ready.go       which instances have work to do, and in which order
//	events.go      events, subscriptions, routing, gatherings
//	definitions.go definitions and schedules
//	fresh.go       subscriptions that are compared with kept events
//	standing.go    subscriptions that stay open
//	queries.go     lists, counts, the feed
//	found.go       names, keys and plain text
//	jobs.go        jobs by client, state and group; deletions
//	pages.go       pages of events and of history, events for the sink
//	retention.go   purging
//	names.go       names that every store refuses
//	suspects.go    instances whose step does not end
//	cursors.go     how far the feed is passed on
//	tallies.go     what happened in each hour
//	notes.go       small documents beside instances, and the audit log
//	policies.go    what operators decided about definitions, and instances that are held
//	damage.go      values that were altered underneath the store
//	neighbours.go  undamaged rows beside damaged ones
//	looks.go       routers that are called several times for one decision
//	random.go      random calls to two stores at a time
//	picture.go     the contents of a store as text
package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Run tests a store. Every call of open gives an empty one.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	Cases(t, open)
	for _, looks := range []int{2, 3, maxLooks} {
		t.Run(fmt.Sprint("routers look ", looks, " times"), func(t *testing.T) { cases(t, open, looks, eventTests, standingTests) })
	}
	t.Run("random calls", func(t *testing.T) { Random(t, open) })
}

// Cases tests the rules of package store one at a time.
func Cases(t *testing.T, open func(t *testing.T) store.Store) {
	cases(t, open, 1, commitTests, chunkTests, readyTests, eventTests, standingTests, definitionTests, queryTests, pageTests, retentionTests, jobTests, suspectTests, cursorTests, tallyTests, noteTests, policyTests)
}

func cases(t *testing.T, open func(t *testing.T) store.Store, looks int, groups ...[]testCase) {
	for _, c := range slices.Concat(groups...) {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			if looks > 1 {
				s = Looking(t, s, looks)
			}
			c.run(kit{s, t, looks})
		})
	}
}

type testCase struct {
	name string
	run  func(kit)
}

// kit is a store under test with shorthands.
type kit struct {
	store.Store
	t     *testing.T
	looks int // of every router
}

var ctx = context.Background()

func (k kit) check(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// want compares two values as they print.
func (k kit) want(what string, got, want any) {
	k.t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		k.t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func (k kit) commit(c store.Commit) {
	k.t.Helper()
	k.check(k.Commit(ctx, c))
}

// create commits a new instance with the given row.
func (k kit) create(row store.Instance) store.Instance {
	k.t.Helper()
	if row.Status == "" {
		row.Status = core.Waiting
	}
	k.content(row.Digest)
	k.commit(store.Commit{Instance: row})
	return k.row(row.ID)
}

// content makes sure that a content with this digest exists.
func (k kit) content(digest string) {
	k.t.Helper()
	if _, err := k.Content(ctx, digest); digest == "" || err == nil {
		return
	}
	d := store.Definition{ID: "content " + digest, Version: "1", Digest: digest, Program: Program(digest)}
	_, err := store.PutDefinition(ctx, k, d, nil, false)
	k.check(err)
}

// Program returns the encoding of a program that does nothing.
func Program(id string) []byte {
	text, err := ir.Encode(&ir.Program{
		ID: id, Version: "1", Dialect: "test", Edition: ir.Edition, Exprs: make([]ir.Expr, 1),
		Nodes: []ir.Node{{}, {Name: "End", Op: &ir.End{}}}, Regions: []ir.Region{{Name: id, Entry: 1}},
	})
	if err != nil {
		panic(err)
	}
	return text
}

func (k kit) row(id string) store.Instance {
	k.t.Helper()
	r, err := k.Instance(ctx, id)
	k.check(err)
	return r
}

// change commits a row after a change to it.
func (k kit) change(id string, change func(*store.Instance)) {
	k.t.Helper()
	r := k.row(id)
	change(&r)
	k.commit(store.Commit{Instance: r})
}

// end finishes an instance.
func (k kit) end(id string, at core.Time) {
	k.t.Helper()
	k.change(id, func(r *store.Instance) { r.Status, r.Ended, r.Updated = core.Completed, at, at })
}

// remove deletes an instance that is over.
func (k kit) remove(id string) {
	k.t.Helper()
	k.check(k.DeleteInstance(ctx, id, store.Deletion{At: 30}))
}

func (k kit) ready(now core.Time, limit int) []string {
	k.t.Helper()
	list, err := k.Ready(ctx, now, limit)
	k.check(err)
	return list
}

func (k kit) inbox(id string) []store.Message {
	k.t.Helper()
	list, err := k.Messages(ctx, id)
	k.check(err)
	return list
}

func (k kit) unchecked() []string {
	k.t.Helper()
	list, err := k.Unchecked(ctx, 100)
	k.check(err)
	return list
}

func (k kit) again() []int64 {
	k.t.Helper()
	list, err := k.Again(ctx, 100)
	k.check(err)
	return list
}

func (k kit) events() []store.Event {
	k.t.Helper()
	list, err := allEvents(k.Store)
	k.check(err)
	return list
}

// allEvents lists all kept events, oldest first.
func allEvents(s store.Store) (out []store.Event, err error) {
	for q := (store.EventQuery{}); ; {
		page, err := s.Events(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Events...)
		q.After = page.Next
		if page.Next == 0 {
			return out, nil
		}
	}
}

// calls prints the calls of an instance, or of all.
func (k kit) calls(id string) []string {
	k.t.Helper()
	list, err := k.Calls(ctx, id)
	k.check(err)
	out := []string{}
	for _, c := range list {
		out = append(out, fmt.Sprint(c.Instance, uint64(c.Ticket)))
	}
	return out
}

// look runs a router that changes nothing.
func (k kit) look(see func(store.View)) {
	k.t.Helper()
	k.route(func(v store.View) store.Routing { see(v); return store.Routing{} })
}

func (k kit) route(r func(store.View) store.Routing) {
	k.t.Helper()
	k.check(k.Route(ctx, func(v store.View) (store.Routing, error) { return r(v), nil }))
}

// ingest takes an event until 100 and routes it.
func (k kit) ingest(e event.Event, route func(store.Event, store.View) store.Routing) store.Event {
	k.t.Helper()
	out, err := k.Ingest(ctx, store.Event{Event: e, Until: 100}, 0, func(e store.Event, v store.View) (store.Routing, error) {
		if route == nil {
			return store.Routing{}, nil
		}
		return route(e, v), nil
	})
	k.check(err)
	return out
}

// give routes an event to all subscriptions that match.
func give(e store.Event, v store.View) store.Routing {
	var out store.Routing
	for _, s := range v.Subscriptions(e.Event) {
		if ok, _ := s.Filter.Match(e.Event); ok {
			out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: s.Instance, Reply: core.Reply{Ticket: s.Ticket, Value: e.Event.Value()}})
		}
	}
	return out
}

// ev is an event of type t with attributes.
func ev(id string, attributes ...string) event.Event {
	e := event.Event{ID: id, Source: "s", Type: "t"}
	for i := 0; i < len(attributes); i += 2 {
		e.Put(attributes[i], expr.String(attributes[i+1]))
	}
	return e
}

// on subscribes to events of type t with fixed keys.
func on(ticket core.Ticket, keys ...string) store.Subscription {
	f := event.Filter{Type: "t"}
	for i := 0; i < len(keys); i += 2 {
		f.Keys = append(f.Keys, event.Key{Name: keys[i], Value: keys[i+1], Fixed: true})
	}
	return store.Subscription{Ticket: ticket, Name: fmt.Sprint("e", uint64(ticket)), Filter: f}
}

// matching prints the subscriptions that an event matches.
func matching(list []store.Subscription, e event.Event) []string {
	out := []string{}
	for _, s := range list {
		if ok, _ := s.Filter.Match(e); ok {
			out = append(out, fmt.Sprint(s.Instance, "/", uint64(s.Ticket)))
		}
	}
	return out
}

func seqs(list []store.Event) []int64 {
	out := []int64{}
	for _, e := range list {
		out = append(out, e.Seq)
	}
	return out
}

func idsOf(list []store.Instance) []string {
	out := []string{}
	for _, in := range list {
		out = append(out, in.ID)
	}
	return out
}

func ascending(list []int64) bool {
	return slices.IsSorted(list) && len(slices.Compact(slices.Clone(list))) == len(list)
}
