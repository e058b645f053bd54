package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/ir"
	"github.com/lockstep-workflows/lockstep/store"
)

var ctx = context.Background()

func commit(t *testing.T, s *Store, c store.Commit) {
	t.Helper()
	if err := s.Commit(ctx, c); err != nil {
		t.Fatal(err)
	}
}

func row(t *testing.T, s *Store, id string) store.Instance {
	t.Helper()
	r, err := s.Instance(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRevision(t *testing.T) {
	s := New()
	c := store.Commit{Instance: store.Instance{ID: "a", Status: core.Running}, Records: []core.Record{{Text: "1"}}}
	commit(t, s, c)
	if err := s.Commit(ctx, c); !errors.Is(err, store.ErrConflict) {
		t.Errorf("created twice: %v", err)
	}
	c.Instance = row(t, s, "a")
	if c.Instance.Rev != 1 || c.Instance.Seq == 0 {
		t.Errorf("row %+v", c.Instance)
	}
	commit(t, s, c)
	c.Calls = []store.Call{{Invoke: core.Invoke{Ticket: 1}}}
	if err := s.Commit(ctx, c); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an old revision: %v", err)
	}
	if records, _ := s.Records(ctx, "a"); len(records) != 2 {
		t.Errorf("%d records", len(records))
	}
	if calls, _ := s.Calls(ctx, ""); len(calls) != 0 {
		t.Error("a commit that failed left a call")
	}
	c.Instance = store.Instance{ID: "b", Rev: 3}
	if err := s.Commit(ctx, c); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nobody's commit: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Commit(cancelled, store.Commit{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a commit nobody waits for: %v", err)
	}
}

// TestOneWinner: of many commits of one revision one wins.
func TestOneWinner(t *testing.T) {
	s := New()
	commit(t, s, store.Commit{Instance: store.Instance{ID: "a"}})
	read := row(t, s, "a")
	var wg sync.WaitGroup
	wins := make(chan int, 50)
	for i := range 50 {
		wg.Go(func() {
			if s.Commit(ctx, store.Commit{Instance: read}) == nil {
				wins <- i
			}
		})
	}
	wg.Wait()
	if len(wins) != 1 {
		t.Errorf("%d winners", len(wins))
	}
}

func TestPages(t *testing.T) {
	s := New()
	commit(t, s, store.Commit{Instance: store.Instance{ID: "a"}, Pages: []core.Page{
		{Frame: 2, Part: 1, Data: []byte("d")}, {Data: []byte("a")}, {Frame: 1, Data: []byte("b")}, {Frame: 2, Data: []byte("c")},
	}})
	commit(t, s, store.Commit{Instance: row(t, s, "a"), Pages: []core.Page{{Frame: 1}, {Data: []byte("A")}}})
	pages, _ := s.Pages(ctx, "a")
	text := ""
	for _, p := range pages {
		text += fmt.Sprintf("%d.%d=%s ", p.Frame, p.Part, p.Data)
	}
	if text != "0.0=A 2.0=c 2.1=d " {
		t.Errorf("pages %s", text)
	}
}

func TestInbox(t *testing.T) {
	s := New()
	commit(t, s, store.Commit{
		Instance: store.Instance{ID: "a", Status: core.Waiting},
		Children: []store.NewInstance{{Instance: store.Instance{ID: "b", Status: core.Running}, Start: core.Start{Seed: 7}}},
		Messages: []store.Message{{To: "b", Input: core.Continue{}}, {To: "nobody", Input: core.Continue{}}},
	})
	again := store.NewInstance{Instance: store.Instance{ID: "b"}, Start: core.Start{Seed: 8}}
	commit(t, s, store.Commit{Instance: row(t, s, "a"), Children: []store.NewInstance{again}})
	list, _ := s.Messages(ctx, "b")
	if len(list) != 2 || list[0].Input.(core.Start).Seed != 7 || list[0].Seq >= list[1].Seq {
		t.Fatalf("inbox %+v", list)
	}
	if ready, _ := s.Ready(ctx, 0, 10); !slices.Equal(ready, []string{"b"}) {
		t.Errorf("ready %v", ready)
	}
	if at, ok, _ := s.Next(ctx, 0); ok {
		t.Errorf("what is ready already will be at %v", at)
	}
	b := row(t, s, "b")
	commit(t, s, store.Commit{Instance: b, Taken: []int64{list[0].Seq}})
	if left, _ := s.Messages(ctx, "b"); len(left) != 1 || left[0].Seq != list[1].Seq {
		t.Errorf("left %+v", left)
	}
	b = row(t, s, "b")
	b.Quarantine = "broken"
	commit(t, s, store.Commit{Instance: b, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}}})
	ready, _ := s.Ready(ctx, 0, 10)
	calls, _ := s.Calls(ctx, "")
	if len(ready) != 0 || len(calls) != 0 {
		t.Errorf("in quarantine: ready %v, calls %v", ready, calls)
	}
}

func ev(id string, keys ...string) event.Event {
	e := event.Event{ID: id, Source: "s", Type: "t"}
	for i := 0; i < len(keys); i += 2 {
		e.Extensions = append(e.Extensions, expr.Member{Key: keys[i], Value: expr.String(keys[i+1])})
	}
	return e
}

func nothing(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil }

// TestDeliveryIsTakenOrRefused: a subscription with an event on its way is closed to
// others; a refusal opens it again, but not for the same event.
func TestDeliveryIsTakenOrRefused(t *testing.T) {
	s := New()
	sub := store.Subscription{Ticket: 5, Filter: event.Filter{Type: "t"}}
	commit(t, s, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{sub}})
	give := func(e store.Event, v store.View) (store.Routing, error) {
		subs := v.Subscriptions(e.Event)
		if len(subs) != 1 || subs[0].Instance != "a" || subs[0].InstanceSeq == 0 {
			t.Errorf("subscriptions %+v", subs)
			return store.Routing{}, nil
		}
		return store.Routing{Deliver: []store.Delivery{{Event: e.Seq, Instance: "a", Reply: core.Reply{Ticket: 5}}}}, nil
	}
	first, err := s.Ingest(ctx, store.Event{Event: ev("1"), Until: 100}, 0, give)
	if err != nil || !first.Taken {
		t.Fatalf("%+v %v", first, err)
	}
	second, _ := s.Ingest(ctx, store.Event{Event: ev("2"), Until: 100}, 0, func(e store.Event, v store.View) (store.Routing, error) {
		if subs := v.Subscriptions(e.Event); len(subs) != 0 {
			t.Errorf("a busy subscription is offered: %+v", subs)
		}
		if near := v.Near(e.Event, 10); len(near) != 0 {
			t.Errorf("a busy subscription is near: %+v", near)
		}
		return store.Routing{}, nil
	})
	if second.Taken {
		t.Error("nobody has the second")
	}
	inbox, _ := s.Messages(ctx, "a")
	_ = s.Route(ctx, func(store.View) (store.Routing, error) { return store.Routing{Checked: []string{"a"}}, nil })
	commit(t, s, store.Commit{Instance: row(t, s, "a"), Taken: []int64{inbox[0].Seq}, Release: []int64{inbox[0].Seq}})
	if ids, _ := s.Unchecked(ctx, 10); !slices.Equal(ids, []string{"a"}) {
		t.Errorf("unchecked %v", ids)
	}
	err = s.Route(ctx, func(v store.View) (store.Routing, error) {
		fresh := v.Fresh("a")
		if len(fresh) != 1 {
			t.Fatalf("fresh %+v", fresh)
		}
		kept := v.Kept(fresh[0])
		if len(kept) != 1 || kept[0].Seq != second.Seq {
			t.Errorf("kept %+v", kept)
		}
		other := fresh[0]
		other.Ticket = 6
		if kept := v.Kept(other); len(kept) != 2 || kept[0].Taken || !slices.Equal(kept[0].For, []string{"a"}) {
			t.Errorf("kept for another ticket %+v", kept)
		}
		return store.Routing{Checked: []string{"a"}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if ids, _ := s.Unchecked(ctx, 10); len(ids) != 0 {
		t.Errorf("unchecked %v", ids)
	}
	end := row(t, s, "a")
	end.Status = core.Completed
	commit(t, s, store.Commit{Instance: end})
	if again, _ := s.Again(ctx, 10); !slices.Equal(again, []int64{first.Seq}) {
		t.Errorf("again %v", again)
	}
	if subs, _ := s.Subscriptions(ctx, "a"); len(subs) != 0 {
		t.Errorf("subscriptions outlive their instance: %+v", subs)
	}
}

func TestDuplicates(t *testing.T) {
	s := New()
	commit(t, s, store.Commit{Instance: store.Instance{ID: "a"}, Emits: []store.Emit{{Event: ev("1")}, {Event: ev("2")}}})
	emits, _ := s.Emits(ctx, 10)
	if len(emits) != 2 || emits[0].Instance != "a" {
		t.Fatalf("emits %+v", emits)
	}
	if _, err := s.Ingest(ctx, store.Event{Event: ev("1"), Until: 100}, emits[0].Seq, nothing); err != nil {
		t.Fatal(err)
	}
	old, err := s.Ingest(ctx, store.Event{Event: ev("1"), Received: 99, Until: 200}, emits[1].Seq, nothing)
	if !errors.Is(err, store.ErrDuplicate) || old.Until != 100 {
		t.Errorf("%+v %v", old, err)
	}
	if left, _ := s.Emits(ctx, 10); len(left) != 0 {
		t.Errorf("emits %+v", left)
	}
	if _, err := s.Ingest(ctx, store.Event{Event: ev("1"), Received: 100, Until: 200}, 0, nothing); err != nil {
		t.Errorf("after its time: %v", err)
	}
	if list, _ := s.Events(ctx); len(list) != 1 {
		t.Errorf("%d events", len(list))
	}
	if err := s.Purge(ctx, 200); err != nil {
		t.Fatal(err)
	}
	if list, _ := s.Events(ctx); len(list) != 0 || len(s.eventTypes) != 0 || len(s.eventIDs) != 0 {
		t.Errorf("%d events", len(list))
	}
}

// TestIndex: the index finds what looking at every subscription finds.
func TestIndex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	s := New()
	var all []store.Subscription
	for i := range 300 {
		f := event.Filter{Type: pick("", "t", "u"), Source: pick("", "s", "r")}
		for _, name := range []string{"a", "b", "subject"} {
			if rnd.IntN(2) == 0 {
				f.Keys = append(f.Keys, event.Key{Name: name, Value: pick("1", "2"), Fixed: rnd.IntN(3) > 0})
			}
		}
		sub := store.Subscription{Ticket: core.Ticket(rnd.IntN(3) + 1), Filter: f}
		id := fmt.Sprint(i % 120)
		in, err := s.Instance(ctx, id)
		if err != nil {
			in = store.Instance{ID: id}
		}
		commit(t, s, store.Commit{Instance: in, Subscribe: []store.Subscription{sub}})
		all = slices.DeleteFunc(all, func(o store.Subscription) bool { return o.Instance == id && o.Ticket == sub.Ticket })
		sub.Instance, sub.InstanceSeq = id, row(t, s, id).Seq
		all = append(all, sub)
	}
	slices.SortFunc(all, func(a, b store.Subscription) int {
		return cmp.Or(cmp.Compare(a.InstanceSeq, b.InstanceSeq), cmp.Compare(a.Ticket, b.Ticket))
	})
	for range 200 {
		e := event.Event{ID: "1", Type: pick("t", "u", "v"), Source: pick("s", "r"), Subject: pick("", "1", "2")}
		for _, name := range []string{"a", "b"} {
			if rnd.IntN(2) == 0 {
				e.Extensions = append(e.Extensions, expr.Member{Key: name, Value: expr.String(pick("1", "2"))})
			}
		}
		matching := func(list []store.Subscription) (out []string) {
			for _, sub := range list {
				if ok, _ := sub.Filter.Match(e); ok {
					out = append(out, fmt.Sprint(sub.Instance, "/", sub.Ticket))
				}
			}
			return out
		}
		if got, want := matching(view{s}.Subscriptions(e)), matching(all); !slices.Equal(got, want) {
			t.Fatalf("%s:\n got %v\nwant %v", e.Value(), got, want)
		}
		typed := slices.DeleteFunc(slices.Clone(all), func(s store.Subscription) bool { return s.Filter.Type != "" && s.Filter.Type != e.Type })
		if got, want := matching(view{s}.Near(e, 20)), matching(typed[:20]); !slices.Equal(got, want) {
			t.Fatalf("near %s:\n got %v\nwant %v", e.Value(), got, want)
		}
	}
}

func TestOwner(t *testing.T) {
	s := New()
	key := func(name, value string) core.Key { return core.Key{Name: name, Value: value, Fixed: true} }
	for _, id := range []string{"a", "b"} {
		commit(t, s, store.Commit{Instance: store.Instance{ID: id, Definition: "d", Status: core.Waiting, Keys: []core.Key{key("k", "1"), key("l", "2")}}})
	}
	owner := func(definition string, keys ...core.Key) string {
		in, _ := view{s}.Owner(definition, keys)
		return in.ID
	}
	if owner("d", key("k", "1")) != "a" || owner("d", key("l", "2"), key("k", "1")) != "a" {
		t.Error("the oldest is not found")
	}
	if owner("d", key("k", "1"), key("l", "3")) != "" || owner("e", key("k", "1")) != "" || owner("d") != "" {
		t.Error("someone else is found")
	}
	a := row(t, s, "a")
	a.Status = core.Failed
	commit(t, s, store.Commit{Instance: a})
	if got := owner("d", key("k", "1")); got != "b" {
		t.Errorf("after the end: %q", got)
	}
	a = row(t, s, "a")
	a.Status = core.Running // retried
	commit(t, s, store.Commit{Instance: a})
	if got := owner("d", key("k", "1")); got != "a" {
		t.Errorf("after a retry: %q", got)
	}
}

func TestDefinitions(t *testing.T) {
	s := New()
	put := func(version, digest string, at core.Time, sched *store.Schedule, move bool) (store.Definition, error) {
		return s.PutDefinition(ctx, store.Definition{ID: "d", Version: version, Digest: digest, Deployed: at}, sched, move)
	}
	at := func(digest string, next core.Time) *store.Schedule {
		return &store.Schedule{Definition: "d", Digest: digest, Next: next}
	}
	must := func(d store.Definition, err error) store.Definition {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	must(put("1", "x", 10, at("x", 50), false))
	if d := must(put("1", "x", 20, at("x", 60), false)); d.Deployed != 10 {
		t.Errorf("deployed again at %d", d.Deployed)
	}
	if due, _ := s.Schedules(ctx, 50); len(due) != 1 {
		t.Errorf("deploying again moved the schedule: %+v", due)
	}
	if _, err := put("1", "y", 20, nil, false); !errors.Is(err, store.ErrConflict) {
		t.Errorf("other content: %v", err)
	}
	must(put("2", "z", 30, at("z", 70), false))
	if due, _ := s.Schedules(ctx, 69); len(due) != 0 {
		t.Errorf("the old schedule is still there: %+v", due)
	}
	if d := must(s.Definition(ctx, "d", "")); d.Version != "2" || !d.Current {
		t.Errorf("current %+v", d)
	}
	must(put("1", "y", 40, nil, true))
	if d := must(s.Definition(ctx, "d", "1")); d.Digest != "y" || !d.Current {
		t.Errorf("moved %+v", d)
	}
	must(s.Content(ctx, "x")) // instances may still need it
	if due, _ := s.Schedules(ctx, 100); len(due) != 0 {
		t.Errorf("schedules %+v", due)
	}
	list, _ := s.ListDefinitions(ctx)
	if len(list) != 2 || list[0].Version != "1" || list[1].Current {
		t.Errorf("list %+v", list)
	}
	for _, id := range []string{"d", "e"} {
		if _, err := s.Definition(ctx, id, "9"); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
}

func TestAdvance(t *testing.T) {
	s := New()
	if _, err := s.PutDefinition(ctx, store.Definition{ID: "d", Digest: "x"}, &store.Schedule{Definition: "d", Digest: "x", Next: 10}, false); err != nil {
		t.Fatal(err)
	}
	next := core.Time(20)
	if err := s.Advance(ctx, "d", 10, &next); err != nil {
		t.Fatal(err)
	}
	if err := s.Advance(ctx, "d", 10, &next); !errors.Is(err, store.ErrConflict) {
		t.Errorf("twice: %v", err)
	}
	if at, ok, _ := s.Next(ctx, 0); !ok || at != 20 {
		t.Errorf("next %v %t", at, ok)
	}
	if err := s.Advance(ctx, "d", 20, nil); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s.Next(ctx, 0); ok {
		t.Error("an ended schedule has a next time")
	}
}

func TestGatherings(t *testing.T) {
	s := New()
	for _, until := range []core.Time{20, 10} {
		err := s.Route(ctx, func(store.View) (store.Routing, error) {
			return store.Routing{Gather: []store.Gathering{{Definition: "d", Digest: "x", Events: []int64{0, 0}, Until: until}}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	list := view{s}.Gatherings("d", "x")
	if len(list) != 2 || list[0].Until != 20 || list[0].Seq == 0 {
		t.Fatalf("gatherings %+v", list)
	}
	if at, _, _ := s.Next(ctx, 0); at != 10 {
		t.Errorf("next %v", at)
	}
	if over, _ := s.Expired(ctx, 10, 5); len(over) != 1 || over[0].Seq != list[1].Seq {
		t.Errorf("expired %+v", over)
	}
	_ = s.Route(ctx, func(store.View) (store.Routing, error) {
		return store.Routing{Drop: []int64{list[0].Seq, list[1].Seq}}, nil
	})
	if left := (view{s}).Gatherings("d", "x"); len(left) != 0 || s.expiries.size != 0 {
		t.Errorf("left %+v", left)
	}
}

func TestInstances(t *testing.T) {
	s := New()
	for i := range 6 {
		status := core.Running
		if i%2 == 0 {
			status = core.Failed
		}
		commit(t, s, store.Commit{Instance: store.Instance{
			ID: fmt.Sprint(i), Definition: fmt.Sprint("d", i/3), Status: status, Parent: []string{"", "p"}[i%2],
			Offers: []store.Offer{{Ticket: 1, Offer: ir.Offer{Actor: "A"}}},
		}})
	}
	ids := func(q store.Query) (out []string) {
		list, _ := s.Instances(ctx, q)
		for _, in := range list {
			out = append(out, in.ID)
		}
		return out
	}
	for want, q := range map[string]store.Query{
		"[0 1 2 3 4 5]": {},
		"[3 4 5]":       {Definition: "d1"},
		"[0 2]":         {Definition: "d0", Status: core.Failed},
		"[2 3]":         {After: row(t, s, "1").Seq, Limit: 2},
		"[1 3 5]":       {Parent: "p"},
		"[3]":           {Parent: "p", After: row(t, s, "2").Seq, Limit: 1},
	} {
		if got := fmt.Sprint(ids(q)); got != want {
			t.Errorf("%+v gives %s, want %s", q, got, want)
		}
	}
}

// TestRouterFailsHalfway: nothing has happened.
func TestRouterFailsHalfway(t *testing.T) {
	s := New()
	commit(t, s, store.Commit{Instance: store.Instance{ID: "a"}, Emits: []store.Emit{{Event: ev("1")}}})
	emits, _ := s.Emits(ctx, 10)
	broken := errors.New("broken")
	_, err := s.Ingest(ctx, store.Event{Event: ev("1"), Until: 100}, emits[0].Seq, func(e store.Event, v store.View) (store.Routing, error) {
		if _, ok := v.Event(e.Seq); !ok {
			t.Error("the router does not see the event")
		}
		return store.Routing{Start: []store.NewInstance{{Instance: store.Instance{ID: "b"}}}}, broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("ingest: %v", err)
	}
	err = s.Route(ctx, func(store.View) (store.Routing, error) {
		return store.Routing{Start: []store.NewInstance{{Instance: store.Instance{ID: "b"}}}}, broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("route: %v", err)
	}
	events, _ := s.Events(ctx)
	left, _ := s.Emits(ctx, 10)
	if _, err := s.Instance(ctx, "b"); !errors.Is(err, store.ErrNotFound) || len(events) != 0 || len(left) != 1 || len(s.eventTypes) != 0 {
		t.Errorf("%v, %d events, %d emits", err, len(events), len(left))
	}
	if _, err := s.Ingest(ctx, store.Event{Event: ev("1"), Until: 100}, emits[0].Seq, nothing); err != nil {
		t.Errorf("again: %v", err)
	}
}
