package storetest

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var standingTests = []testCase{
	{"a standing subscription stays open", standing},
	{"a standing subscription is fresh as long as one of its wait is", freshWait},
	{"what is on its way to a standing subscription that goes is put back", putBack},
	{"an event that is on its way twice is put back as often as it is", putBackTwice},
	{"a delivery to a standing subscription shares the commit of its step", standingDirectly},
}

// Tickets that stay open, of one wait and of another one.
var (
	stand1, stand2 = ticket("1.1+"), ticket("1.2+")
	other1         = ticket("2.1+")
)

func ticket(s string) core.Ticket {
	t, err := core.ParseTicket(s)
	if err != nil {
		panic(err)
	}
	return t
}

// underway lists the events in an inbox, with their tickets.
func (k kit) underway(id string) (out []string) {
	k.t.Helper()
	for _, m := range k.inbox(id) {
		out = append(out, fmt.Sprintf("%d to %s", m.Event, m.Input.(core.Reply).Ticket))
	}
	return out
}

// standing: events go into the inbox one behind the other, and a refusal is of one event.
func standing(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{on(stand1)}})
	first, second := k.ingest(ev("1"), give), k.ingest(ev("2"), give)
	k.look(func(v store.View) { k.want("near", len(v.Near(ev("3"), 10)), 1) })
	k.want("inbox", k.underway("a"), []string{fmt.Sprint(first.Seq, " to 1.1+"), fmt.Sprint(second.Seq, " to 1.1+")})
	inbox := k.inbox("a")
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{inbox[0].Seq}})
	k.want("after one is taken", k.underway("a"), []string{fmt.Sprint(second.Seq, " to 1.1+")})
	third := k.ingest(ev("3"), give)
	if !third.Taken {
		k.t.Error("nobody has the third")
	}
	k.route(func(store.View) store.Routing { return store.Routing{Checked: []string{"a"}} })
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{inbox[1].Seq}, Release: []int64{inbox[1].Seq}})
	k.want("after one is refused", k.underway("a"), []string{fmt.Sprint(third.Seq, " to 1.1+")})
	k.want("unchecked", k.unchecked(), "[a]")
	k.look(func(v store.View) {
		for _, s := range v.Fresh("a") {
			k.want("kept for the same ticket", len(v.Kept(s)), 0)
		}
		k.want("still open", len(v.Subscriptions(ev("4"))), 1)
	})
}

// freshWait: who routes an event sees that others come first, also where only another filter of the wait selects them.
func freshWait(k kit) {
	k.ingest(ev("0", "k", "1"), nil)
	k.commit(store.Commit{
		Instance:  store.Instance{ID: "a", Status: core.Waiting},
		Subscribe: []store.Subscription{on(stand1, "k", "1"), on(stand2, "k", "2"), on(other1, "k", "2")},
	})
	two := ev("2", "k", "2")
	fresh := func(v store.View) (out []string) {
		for _, s := range v.Subscriptions(two) {
			if ok, _ := s.Filter.Match(two); ok && s.Fresh {
				out = append(out, s.Ticket.String())
			}
		}
		return out
	}
	k.look(func(v store.View) {
		k.want("one of them may get what is kept", slices.Contains(fresh(v), "1.2+"), true)
	})
	k.route(func(store.View) store.Routing { return store.Routing{Checked: []string{"a"}} })
	k.look(func(v store.View) { k.want("checked", fresh(v), []string(nil)) })
	// One that was replaced may get other events.
	k.commit(store.Commit{Instance: k.row("a"), Subscribe: []store.Subscription{on(stand1)}})
	k.commit(store.Commit{Instance: k.row("a"), Unsubscribe: []core.Ticket{other1}, Subscribe: []store.Subscription{on(ticket("2.2+"), "k", "2")}})
	k.ingest(ev("3", "k", "1"), nil)
	k.route(func(store.View) store.Routing { return store.Routing{Checked: []string{"a"}} })
	k.commit(store.Commit{Instance: k.row("a"), Subscribe: []store.Subscription{on(stand1)}})
	k.look(func(v store.View) { k.want("replaced", fresh(v), []string{"1.1+", "1.2+"}) })
}

// putBack: with the subscription go its messages, and nobody else's.
func putBack(k kit) {
	k.commit(store.Commit{
		Instance:  store.Instance{ID: "a", Status: core.Waiting},
		Subscribe: []store.Subscription{on(stand1, "k", "1"), on(other1, "k", "2"), on(7, "k", "3")},
	})
	k.commit(store.Commit{Instance: store.Instance{ID: "b", Status: core.Waiting}, Subscribe: []store.Subscription{on(stand1, "k", "4")}})
	k.ingest(ev("0", "k", "1"), give)
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{k.inbox("a")[0].Seq}})
	first, second := k.ingest(ev("1", "k", "1"), give), k.ingest(ev("2", "k", "2"), give)
	third, fourth := k.ingest(ev("3", "k", "3"), give), k.ingest(ev("4", "k", "1"), give)
	k.ingest(ev("5", "k", "4"), give)
	k.commit(store.Commit{Instance: k.row("a"), Unsubscribe: []core.Ticket{stand1, 7}, Subscribe: []store.Subscription{on(stand2, "k", "1")}})
	k.want("the inbox", k.underway("a"), []string{fmt.Sprint(second.Seq, " to 2.1+"), fmt.Sprint(third.Seq, " to 0.7")})
	k.want("another's", len(k.underway("b")), 1)
	k.want("unchecked", k.unchecked(), "[a]")
	k.route(func(v store.View) (out store.Routing) {
		for _, s := range v.Fresh("a") {
			if s.Ticket != stand2 {
				continue
			}
			kept := v.Kept(s)
			k.want("kept", seqs(kept), []int64{first.Seq, fourth.Seq})
			for _, e := range kept {
				k.want("for", fmt.Sprint(e.For, e.Taken), "[a] false")
				out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: "a", Reply: core.Reply{Ticket: stand2}})
			}
		}
		out.Checked = []string{"a"}
		return out
	})
	k.want("again in the inbox", k.underway("a"), []string{
		fmt.Sprint(second.Seq, " to 2.1+"), fmt.Sprint(third.Seq, " to 0.7"), fmt.Sprint(first.Seq, " to 1.2+"), fmt.Sprint(fourth.Seq, " to 1.2+"),
	})
	ready, err := k.Ready(ctx, 0, 10)
	k.check(err)
	k.want("ready", ready, "[b a]")
	// With its end an instance takes the rest from its inbox itself.
	row := k.row("b")
	row.Status = core.Completed
	k.commit(store.Commit{Instance: row, Unsubscribe: []core.Ticket{stand1}})
	k.want("at the end", len(k.underway("b")), 1)
	// An instance without messages is not ready.
	k.commit(store.Commit{Instance: store.Instance{ID: "c", Status: core.Waiting}, Subscribe: []store.Subscription{on(stand1, "k", "5")}})
	k.ingest(ev("6", "k", "5"), give)
	k.commit(store.Commit{Instance: k.row("c"), Unsubscribe: []core.Ticket{stand1}})
	ready, err = k.Ready(ctx, 0, 10)
	k.check(err)
	k.want("without messages", slices.Contains(ready, "c"), false)
	k.check(k.DeleteInstance(ctx, "a", store.Deletion{Live: true}))
	for _, e := range k.events() {
		k.want("nothing is kept for what is deleted: "+e.Event.ID, slices.Contains(e.For, "a"), false)
	}
}

// putBackTwice: one message of an event was refused before the subscription goes; the other one goes with it.
func putBackTwice(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{on(stand1)}})
	e := k.ingest(ev("1"), give)
	for range 2 {
		k.route(func(v store.View) (out store.Routing) {
			again, _ := v.Event(e.Seq)
			return give(again, v)
		})
	}
	inbox := k.inbox("a")
	k.want("on its way", len(inbox), 3)
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{inbox[0].Seq}, Release: []int64{inbox[0].Seq}})
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{inbox[1].Seq}, Release: []int64{inbox[1].Seq}, Unsubscribe: []core.Ticket{stand1}})
	k.want("left", len(k.inbox("a")), 0)
	for _, e := range k.events() {
		k.want("kept for", fmt.Sprint(e.For, e.Taken), "[a] false")
	}
}

// standingDirectly: the step that takes the event leaves the subscription as it is.
func standingDirectly(k kit) {
	s := k.Store
	if l, ok := s.(*looking); ok {
		s = l.Store
	}
	if _, shared := s.(store.Shared); shared { // it takes no event with a commit
		return
	}
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{on(stand1)}})
	for _, id := range []string{"1", "2"} {
		k.commit(store.Commit{Instance: k.row("a"), Unread: true, Event: &store.Arrival{
			Event: store.Event{Event: ev(id), Until: 100},
			Route: func(e store.Event, v store.View) (store.Routing, error) { return give(e, v), nil },
		}})
		k.want("inbox", len(k.inbox("a")), 0)
		k.look(func(v store.View) { k.want("open", len(v.Subscriptions(ev("3"))), 1) })
	}
	for _, e := range k.events() {
		k.want("taken", e.Taken, true)
	}
}
