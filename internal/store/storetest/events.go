package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var eventTests = []testCase{
	{"an event is known by source and id", duplicates},
	{"an event comes back as it went in", wholeEvent},
	{"a delivery is taken or refused", deliveries},
	{"a delivery shares the commit of its step", directly},
	{"a router that fails changes nothing", routerFails},
	{"a router that panics changes nothing", routerPanics},
	{"a preview sees what the routing will, and changes nothing", previews},
	{"a subscription is replaced by one of its ticket", replaced},
	{"the index finds what looking at all finds", index},
	{"kept events are found by what is fixed", kept},
	{"a subscription of a new kind finds earlier events", newShape},
	{"the owner of correlation keys", owner},
	{"events of an instance that ends are routed again", keptFor},
	{"fresh subscriptions are those not compared yet", fresh},
	{"a subscription finds what is kept, or is found", nothingKept},
	{"a routing starts instances once", starts},
	{"a router that looks again gets the event as it came", asItCame},
	{"an event starts an instance, however often its router looks", startedOnce},
	{"who got an event, also after its end", whoGot},
	{"gatherings", gatherings},
	{"purge", purge},
}

func duplicates(k kit) {
	one := k.ingest(ev("1"), nil)
	called := false
	again := func(received core.Time) (store.Event, error) {
		called = false
		e := ev("1")
		e.Subject = "other"
		return k.Ingest(ctx, store.Event{Event: e, Received: received, Until: 200}, 0, func(store.Event, store.View) (store.Routing, error) {
			called = true
			return store.Routing{}, nil
		})
	}
	old, err := again(99)
	if !errors.Is(err, store.ErrDuplicate) || old.Until != 100 || old.Seq != one.Seq || old.Event.Subject != "" || called {
		k.t.Errorf("%+v %v %t", old, err, called)
	}
	other := ev("1")
	other.Source = "s2"
	k.ingest(other, nil)
	if e, err := again(100); err != nil || e.Seq <= one.Seq || !called {
		k.t.Errorf("after its time: %v", err)
	}
	k.want("events", len(k.events()), 1) // the other one's time is up too
}

func wholeEvent(k kit) {
	e := event.Event{
		ID: "1", Source: "s", Type: "t", Subject: "u", Time: "2026-01-01T00:00:00Z", DataContentType: "c", DataSchema: "x",
		Extensions: []expr.Member{{Key: "a", Value: expr.Int(1)}}, Data: expr.Object(expr.Member{Key: "x", Value: expr.Null}), HasData: true,
	}
	in := store.Event{Event: e, Received: 3, Until: 50, Producer: "p", Origin: "o"}
	k.create(store.Instance{ID: "f"})
	got, err := k.Ingest(ctx, in, 0, func(ev store.Event, v store.View) (store.Routing, error) {
		in.Seq = ev.Seq
		k.want("in the router", fmt.Sprintf("%+v", ev), fmt.Sprintf("%+v", in))
		seen, ok := v.Event(ev.Seq)
		k.want("in the view", fmt.Sprintf("%+v %t", seen, ok), fmt.Sprintf("%+v true", in))
		ev.Until, ev.For, ev.Used, ev.Why = 60, []string{"f", "g"}, []string{"d"}, []string{"w", "v"}
		return store.Routing{Events: []store.Event{ev}}, nil
	})
	k.check(err)
	in.Until, in.For, in.Used, in.Why, in.Taken = 60, []string{"f", "g"}, []string{"d"}, []string{"w", "v"}, true
	k.want("stored", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", in))
	k.want("listed", fmt.Sprintf("%+v", k.events()[0]), fmt.Sprintf("%+v", in))
	k.look(func(v store.View) {
		if _, ok := v.Event(in.Seq + 100); ok {
			k.t.Error("an event that does not exist")
		}
	})
}

// deliveries: a subscription with an event on its way is closed to others; a refusal
// opens it again, but not for the same event.
func deliveries(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{on(5)}})
	first := k.ingest(ev("1"), give)
	if !first.Taken {
		k.t.Fatalf("not taken: %+v", first)
	}
	second := k.ingest(ev("2"), func(e store.Event, v store.View) store.Routing {
		k.want("a busy subscription is offered", len(v.Subscriptions(e.Event)), 0)
		k.want("a busy subscription is near", len(v.Near(e.Event, 10)), 0)
		k.want("a busy subscription is fresh", len(v.Fresh("a")), 0)
		return store.Routing{}
	})
	if second.Taken {
		k.t.Error("nobody has the second")
	}
	inbox := k.inbox("a")
	if len(inbox) != 1 || inbox[0].Event != first.Seq || inbox[0].Input.(core.Reply).Ticket != 5 {
		k.t.Fatalf("inbox %+v", inbox)
	}
	k.route(func(store.View) store.Routing { return store.Routing{Checked: []string{"a", "nobody"}} })
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{inbox[0].Seq}, Release: []int64{inbox[0].Seq}})
	k.want("unchecked", k.unchecked(), "[a]")
	k.route(func(v store.View) store.Routing {
		list := v.Fresh("a")
		if len(list) != 1 {
			k.t.Fatalf("fresh %+v", list)
		}
		k.want("kept for the same ticket", seqs(v.Kept(list[0])), []int64{second.Seq})
		other := list[0]
		other.Ticket = 6
		kept := v.Kept(other)
		k.want("kept for another ticket", seqs(kept), []int64{first.Seq, second.Seq})
		if kept[0].Taken || !slices.Equal(kept[0].For, []string{"a"}) {
			k.t.Errorf("the refused one %+v", kept[0])
		}
		return store.Routing{Checked: []string{"a"}}
	})
	k.want("unchecked after that", k.unchecked(), "[]")
	k.end("a", 1)
	k.want("again", k.again(), []int64{first.Seq})
	k.want("nobody's any more", len(k.events()[0].For), 0)
}

func whoGot(k kit) {
	key := func(value string) []core.Key { return []core.Key{{Name: "k", Value: value, Fixed: true}} }
	k.commit(store.Commit{
		Instance:  store.Instance{ID: "a", Definition: "d", Status: core.Waiting, Keys: append(key("v"), core.Key{Name: "l", Value: "w", Fixed: true})},
		Subscribe: []store.Subscription{on(1, "k", "v"), on(2, "k", "v")},
	})
	k.create(store.Instance{ID: "b", Definition: "d", Keys: key("u")})
	e := k.ingest(ev("1", "k", "v"), func(e store.Event, v store.View) (out store.Routing) {
		for _, s := range v.Subscriptions(e.Event) {
			out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: s.Instance, Reply: core.Reply{Ticket: s.Ticket}})
		}
		return out
	})
	k.ingest(ev("2", "k", "v"), nil)
	got := func(when string, want bool) {
		k.look(func(v store.View) {
			k.want(when, v.Got(e.Seq, "d", key("v")), want)
			k.want(when+", by both keys", v.Got(e.Seq, "d", append(key("v"), core.Key{Name: "l", Value: "w"})), want)
			k.want(when+", by another definition's", v.Got(e.Seq, "c", key("v")), false)
			k.want(when+", by one of another key", v.Got(e.Seq, "d", key("u")), false)
			k.want(when+", by one that has more keys", v.Got(e.Seq, "d", append(key("v"), core.Key{Name: "m", Value: "w"})), false)
			k.want(when+", by one without keys", v.Got(e.Seq, "d", nil), false)
			k.want(when+", of the other event", v.Got(e.Seq+1, "d", key("v")), false)
		})
	}
	got("in the inbox", true)
	inbox := k.inbox("a")
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{inbox[0].Seq}, Release: []int64{inbox[0].Seq}})
	got("refused by one of two waits", true)
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{inbox[1].Seq}})
	k.end("a", 1)
	got("after its end", true)
	k.check(k.DeleteInstance(ctx, "a", store.Deletion{At: 1}))
	got("after it was deleted", false)
	// One that its only wait refused, nobody got: it may start another instance.
	k.commit(store.Commit{Instance: store.Instance{ID: "c", Definition: "d", Status: core.Waiting, Keys: key("w")}, Subscribe: []store.Subscription{on(1, "k", "w")}})
	e = k.ingest(ev("3", "k", "w"), give)
	inbox = k.inbox("c")
	k.commit(store.Commit{Instance: k.row("c"), Taken: []int64{inbox[0].Seq}, Release: []int64{inbox[0].Seq}})
	k.look(func(v store.View) { k.want("refused", v.Got(e.Seq, "d", key("w")), false) })
	k.end("c", 1)
	k.look(func(v store.View) { k.want("refused, after its end", v.Got(e.Seq, "d", key("w")), false) })
}

func routerFails(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a"}, Emits: []store.Emit{{Event: ev("1")}}})
	emits, _ := k.Emits(ctx, 10)
	broken := errors.New("broken")
	start := store.Routing{Start: []store.NewInstance{{Instance: store.Instance{ID: "b"}}}}
	_, err := k.Ingest(ctx, store.Event{Event: ev("1"), Until: 100}, emits[0].Seq, func(e store.Event, v store.View) (store.Routing, error) {
		if _, ok := v.Event(e.Seq); !ok {
			k.t.Error("the router does not see the event")
		}
		return start, broken
	})
	if !errors.Is(err, broken) {
		k.t.Errorf("ingest: %v", err)
	}
	if err := k.Route(ctx, func(store.View) (store.Routing, error) { return start, broken }); !errors.Is(err, broken) {
		k.t.Errorf("route: %v", err)
	}
	left, _ := k.Emits(ctx, 10)
	if _, err := k.Instance(ctx, "b"); !errors.Is(err, store.ErrNotFound) || len(k.events()) != 0 || len(left) != 1 {
		k.t.Errorf("%v, %d events, %d emits", err, len(k.events()), len(left))
	}
	k.ingest(ev("1"), nil)
}

func routerPanics(k kit) {
	func() {
		defer func() { _ = recover() }() // a store may hand the panic on, or make it an error
		if err := k.Route(ctx, func(store.View) (store.Routing, error) { panic("broken") }); err == nil {
			k.t.Error("a panic is no error")
		}
	}()
	k.create(store.Instance{ID: "a"})
	k.want("after that", k.row("a").Rev, 1)
}

func replaced(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{on(2, "k", "1"), on(1, "k", "1")}})
	k.commit(store.Commit{Instance: k.row("a"), Subscribe: []store.Subscription{on(2, "k", "2")}})
	list, err := k.Store.Subscriptions(ctx, "a")
	k.check(err)
	if len(list) != 2 || list[0].Ticket != 1 || list[1].Name != "e2" || list[1].Filter.Keys[0].Value != "2" || list[1].InstanceSeq != k.row("a").Seq {
		k.t.Errorf("subscriptions %+v", list)
	}
	one, two := ev("1", "k", "1"), ev("2", "k", "2")
	k.look(func(v store.View) {
		k.want("the old one", matching(v.Subscriptions(one), one), "[a/1]")
		k.want("the new one", matching(v.Subscriptions(two), two), "[a/2]")
	})
	k.commit(store.Commit{Instance: k.row("a"), Unsubscribe: []core.Ticket{1, 9}})
	k.look(func(v store.View) { k.want("gone", matching(v.Subscriptions(one), one), "[]") })
	// The ticket of a delivery under way is replaced: the delivery stays under way.
	k.ingest(two, give)
	k.commit(store.Commit{Instance: k.row("a"), Subscribe: []store.Subscription{on(2)}})
	k.look(func(v store.View) { k.want("busy", len(v.Subscriptions(one)), 0) })
	k.commit(store.Commit{Instance: k.row("a"), Unsubscribe: []core.Ticket{2}})
	k.commit(store.Commit{Instance: k.row("a"), Subscribe: []store.Subscription{on(2)}})
	k.look(func(v store.View) { k.want("anew", matching(v.Subscriptions(one), one), "[a/2]") })
	if _, err := k.Store.Subscriptions(ctx, "nobody"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("nobody's: %v", err)
	}
}

func index(k kit) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	var all []store.Subscription
	for i := range 200 {
		f := event.Filter{Type: pick("", "t", "u"), Source: pick("", "s", "r")}
		for _, name := range []string{"a", "b", "subject"} {
			if rnd.IntN(2) == 0 {
				f.Keys = append(f.Keys, event.Key{Name: name, Value: pick("1", "2"), Fixed: rnd.IntN(3) > 0, Void: rnd.IntN(20) == 0})
			}
		}
		sub := store.Subscription{Ticket: core.Ticket(rnd.IntN(3) + 1), Filter: f}
		id := fmt.Sprint(i % 90)
		in, err := k.Instance(ctx, id)
		if err != nil {
			in = store.Instance{ID: id}
		}
		k.commit(store.Commit{Instance: in, Subscribe: []store.Subscription{sub}})
		all = slices.DeleteFunc(all, func(o store.Subscription) bool { return o.Instance == id && o.Ticket == sub.Ticket })
		sub.Instance, sub.InstanceSeq = id, k.row(id).Seq
		all = append(all, sub)
	}
	slices.SortFunc(all, func(a, b store.Subscription) int {
		return cmp.Or(cmp.Compare(a.InstanceSeq, b.InstanceSeq), cmp.Compare(a.Ticket, b.Ticket))
	})
	for range 100 {
		e := event.Event{ID: "1", Type: pick("t", "u", "v"), Source: pick("s", "r"), Subject: pick("", "1", "2")}
		for _, name := range []string{"a", "b"} {
			if rnd.IntN(2) == 0 {
				e.Extensions = append(e.Extensions, expr.Member{Key: name, Value: expr.String(pick("1", "2"))})
			}
		}
		k.look(func(v store.View) {
			k.want("candidates for "+e.Value().String(), matching(v.Subscriptions(e), e), matching(all, e))
			near := v.Near(e, 20)
			typed := func(s store.Subscription) bool { return s.Filter.Type == "" || s.Filter.Type == e.Type }
			if len(near) != 20 || !slices.IsSortedFunc(near, func(a, b store.Subscription) int {
				return cmp.Or(cmp.Compare(a.InstanceSeq, b.InstanceSeq), cmp.Compare(a.Ticket, b.Ticket))
			}) || slices.ContainsFunc(near, func(s store.Subscription) bool { return !typed(s) }) {
				k.t.Errorf("near: %+v", near)
			}
		})
	}
}

func kept(k kit) {
	k.create(store.Instance{ID: "old"})
	var all []store.Event
	for i := range 12 {
		e := ev(fmt.Sprint(i), "k", fmt.Sprint(i%3), "l", fmt.Sprint(i%2))
		if i >= 10 {
			e.Type = "u"
		}
		all = append(all, k.ingest(e, nil))
	}
	k.create(store.Instance{ID: "new"})
	for _, c := range []struct {
		sub  store.Subscription
		want []int
	}{
		{on(1), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{on(1, "k", "1"), []int{1, 4, 7}},
		{on(1, "k", "1", "l", "0"), []int{4}},
		{on(1, "l", "1", "k", "0"), []int{3, 9}},
		{on(1, "k", "9"), nil},
		{store.Subscription{Filter: event.Filter{Keys: []event.Key{{Name: "k", Value: "1", Fixed: true}}}}, []int{1, 4, 7, 10}},
		{store.Subscription{Filter: event.Filter{Source: "s"}}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{store.Subscription{Filter: event.Filter{Source: "elsewhere"}}, nil},
		{store.Subscription{Filter: event.Filter{Type: "t", Keys: []event.Key{{Name: "k", Void: true}}}}, nil},
	} {
		var want []int64
		for _, i := range c.want {
			want = append(want, all[i].Seq)
		}
		for _, id := range []string{"old", "new"} {
			k.commit(store.Commit{Instance: k.row(id), Subscribe: []store.Subscription{c.sub}})
			subs, _ := k.Store.Subscriptions(ctx, id)
			k.look(func(v store.View) {
				list := slices.DeleteFunc(v.Kept(subs[0]), func(e store.Event) bool { ok, _ := subs[0].Filter.Match(e.Event); return !ok })
				if id == "new" && !subs[0].Filter.Correlated() {
					return // may be left out
				}
				k.want(fmt.Sprintf("kept for %s, %+v", id, c.sub.Filter), seqs(list), want)
			})
			k.commit(store.Commit{Instance: k.row(id), Unsubscribe: []core.Ticket{c.sub.Ticket}})
		}
	}
	// Not what the instance produced or took itself.
	own := ev("own")
	_, err := k.Ingest(ctx, store.Event{Event: own, Until: 100, Producer: "new"}, 0, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil })
	k.check(err)
	k.commit(store.Commit{Instance: k.row("new"), Subscribe: []store.Subscription{on(1)}})
	got := k.ingest(ev("got"), give)
	subs, _ := k.Store.Subscriptions(ctx, "new")
	k.look(func(v store.View) {
		mine := subs[0]
		mine.Ticket = 7
		for _, e := range v.Kept(mine) {
			if e.Event.ID == "own" || e.Seq == got.Seq {
				k.t.Errorf("kept: %+v", e)
			}
		}
	})
}

func newShape(k kit) {
	a := k.ingest(ev("1", "k", "1", "m", "2"), nil)
	k.ingest(ev("2", "k", "1", "m", "3"), nil)
	for i, sub := range []store.Subscription{on(1, "m", "2"), on(1, "m", "2", "k", "1"), {Ticket: 1, Filter: event.Filter{Keys: []event.Key{{Name: "m", Value: "2", Fixed: true}}}}} {
		id := fmt.Sprint(i)
		k.commit(store.Commit{Instance: store.Instance{ID: id, Status: core.Waiting}, Subscribe: []store.Subscription{sub}})
		k.want("unchecked", k.unchecked(), []string{id})
		k.route(func(v store.View) store.Routing {
			list := v.Fresh(id)
			k.want("kept", seqs(v.Kept(list[0])), []int64{a.Seq})
			return store.Routing{Checked: []string{id}}
		})
	}
}

func owner(k kit) {
	key := func(name, value string) core.Key { return core.Key{Name: name, Value: value, Fixed: true} }
	for _, id := range []string{"a", "b"} {
		k.create(store.Instance{ID: id, Definition: "d", Keys: []core.Key{key("k", "1"), key("l", "2")}})
	}
	owner := func(definition string, keys ...core.Key) (id string) {
		k.look(func(v store.View) {
			in, ok := v.Owner(definition, keys)
			if ok != (in.ID != "") {
				k.t.Errorf("%t with %q", ok, in.ID)
			}
			id = in.ID
		})
		return id
	}
	k.want("the oldest", owner("d", key("k", "1")), "a")
	k.want("by two keys", owner("d", key("l", "2"), key("k", "1")), "a")
	k.want("another value", owner("d", key("k", "1"), key("l", "3")), "")
	k.want("another definition", owner("e", key("k", "1")), "")
	k.want("without keys", owner("d"), "")
	k.change("a", func(r *store.Instance) { r.Status = core.Failed })
	k.want("after the end", owner("d", key("k", "1")), "b")
	k.change("a", func(r *store.Instance) { r.Status = core.Running }) // retried
	k.want("after a retry", owner("d", key("k", "1")), "a")
	k.change("a", func(r *store.Instance) { r.Keys = []core.Key{key("k", "3")} })
	k.want("with other keys", owner("d", key("k", "1")), "b")
	k.want("by the other key", owner("d", key("k", "3")), "a")
}

func keptFor(k kit) {
	for _, id := range []string{"a", "b"} {
		k.create(store.Instance{ID: id})
	}
	keep := func(e store.Event, _ store.View) store.Routing {
		e.For = []string{"a", "b"}
		return store.Routing{Events: []store.Event{e}}
	}
	one, two := k.ingest(ev("1"), keep), k.ingest(ev("2"), keep)
	k.want("while they run", k.again(), "[]")
	k.end("a", 1)
	k.want("after an end", k.again(), []int64{one.Seq, two.Seq})
	few, _ := k.Again(ctx, 1)
	k.want("one of them", few, []int64{one.Seq})
	k.want("still for", k.events()[0].For, "[b]")
	k.route(func(v store.View) store.Routing {
		e, _ := v.Event(one.Seq)
		k.want("again", e.Again, true)
		return store.Routing{Events: []store.Event{e}, Again: []int64{e.Seq}}
	})
	k.want("after a change", k.again(), []int64{one.Seq, two.Seq})
	k.route(func(v store.View) store.Routing {
		e, _ := v.Event(one.Seq)
		k.want("again", e.Again, true)
		return store.Routing{Events: []store.Event{e}}
	})
	k.want("after routing", k.again(), []int64{two.Seq})
	k.look(func(v store.View) {
		e, _ := v.Event(one.Seq)
		k.want("again after routing", e.Again, false)
	})
	k.end("b", 1)
	k.want("after both", k.again(), []int64{one.Seq, two.Seq})
	k.check(k.Purge(ctx, 100))
	k.want("after their time", k.again(), "[]")
}

func starts(k kit) {
	start := func(store.Event, store.View) store.Routing {
		return store.Routing{Start: []store.NewInstance{{Instance: store.Instance{ID: "a", Status: core.Running, Created: 7}, Start: core.Start{Seed: 3}}}}
	}
	e := k.ingest(ev("1"), start)
	k.ingest(ev("2"), start)
	list := k.inbox("a")
	if len(list) != 1 || list[0].At != 7 || list[0].Input.(core.Start).Seed != 3 || k.row("a").Seq < e.Seq {
		k.t.Errorf("inbox %+v", list)
	}
	k.want("ready", k.ready(0, 10), "[a]")
}

func gatherings(k kit) {
	k.must(k.put("1", "x", 0, nil, false))
	for _, until := range []core.Time{20, 10, 20} {
		k.route(func(store.View) store.Routing {
			return store.Routing{Gather: []store.Gathering{{Definition: "d", Digest: "x", Events: []int64{0, 7}, Keys: []core.Key{{Name: "k", Value: "v", Fixed: true}}, Until: until}}}
		})
	}
	var list []store.Gathering
	look := func() {
		k.look(func(v store.View) {
			list = v.Gatherings("d", "x", "any")
			k.want("another's", len(v.Gatherings("d", "y", ""))+len(v.Gatherings("e", "x", "")), 0)
		})
	}
	look()
	if len(list) != 3 || list[0].Until != 20 || list[0].Seq == 0 || list[0].Events[1] != 7 || list[0].Keys[0].Value != "v" || !ascending([]int64{list[0].Seq, list[1].Seq, list[2].Seq}) {
		k.t.Fatalf("gatherings %+v", list)
	}
	over, err := k.Expired(ctx, 10, 5)
	k.check(err)
	if len(over) != 1 || over[0].Seq != list[1].Seq {
		k.t.Errorf("expired %+v", over)
	}
	over, _ = k.Expired(ctx, 20, 2)
	if len(over) != 2 || over[0].Seq != list[1].Seq || over[1].Seq != list[0].Seq {
		k.t.Errorf("expired later %+v", over)
	}
	changed := list[0]
	changed.Until, changed.Events = 5, []int64{3, 7}
	k.route(func(store.View) store.Routing {
		return store.Routing{Gather: []store.Gathering{changed}, Drop: []int64{list[1].Seq, 999_999}}
	})
	was := list
	look()
	if len(list) != 2 || list[0].Seq != was[0].Seq || list[0].Until != 5 || list[0].Events[0] != 3 {
		k.t.Errorf("changed %+v", list)
	}
	over, _ = k.Expired(ctx, 5, 5)
	k.want("expired after the change", len(over), 1)
}

func purge(k kit) {
	for i := range 4 {
		_, err := k.Ingest(ctx, store.Event{Event: ev(fmt.Sprint(i), "k", "1"), Until: core.Time(10 * (i + 1))}, 0, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil })
		k.check(err)
	}
	k.check(k.Purge(ctx, 9))
	k.want("too early", len(k.events()), 4)
	k.check(k.Purge(ctx, 20))
	list := k.events()
	k.want("left", len(list), 2)
	k.route(func(store.View) store.Routing {
		list[0].Until = 100
		return store.Routing{Events: list[:1]}
	})
	k.check(k.Purge(ctx, 40))
	k.want("the one that is kept longer", seqs(k.events()), []int64{list[0].Seq})
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{on(1, "k", "1")}})
	k.look(func(v store.View) { k.want("kept", seqs(v.Kept(v.Fresh("a")[0])), []int64{list[0].Seq}) })
}
