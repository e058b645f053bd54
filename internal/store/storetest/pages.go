package storetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var pageTests = []testCase{
	{"the state of several instances", states},
	{"pages of events", eventPages},
	{"a page of events looks at no more than a bound", eventScan},
	{"events from outside are found behind those of instances", outsideEvents},
	{"pages of history", recordPages},
	{"events for the sink stay until they are sent", outbound},
}

func eventPages(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{on(1), on(2, "k", "4")}})
	for i := range 9 {
		e := ev(fmt.Sprint(i), "k", fmt.Sprint(i))
		if i%3 == 2 {
			e.Type = "u"
		}
		k.ingest(e, func(e store.Event, v store.View) store.Routing {
			switch i {
			case 0, 4: // a subscription takes them
				return give(e, v)
			case 3: // a start
				e.Used = []string{"d"}
				return store.Routing{Events: []store.Event{e}}
			}
			return store.Routing{}
		})
	}
	for _, c := range []struct {
		want string
		q    store.EventQuery
	}{
		{"012345678", store.EventQuery{}},
		{"876543210", store.EventQuery{Newest: true}},
		{"258", store.EventQuery{Type: "u"}},
		{"852", store.EventQuery{Type: "u", Newest: true}},
		{"125678", store.EventQuery{Untaken: true}},
		{"761", store.EventQuery{Untaken: true, Type: "t", Newest: true}},
		{"", store.EventQuery{Type: "v"}},
	} {
		for limit := range 5 {
			got, parts := "", 0
			for q := c.q; ; parts++ {
				q.Limit = limit
				page, err := k.Events(ctx, q)
				k.check(err)
				if limit > 0 && len(page.Events) > limit {
					k.t.Errorf("%+v has %d events", q, len(page.Events))
				}
				for _, e := range page.Events {
					got += e.Event.ID
				}
				if q.After = page.Next; page.Next == 0 || parts > 20 {
					break
				}
			}
			k.want(fmt.Sprintf("%+v by %d", c.q, limit), got, c.want)
		}
	}
	page, err := k.Events(ctx, store.EventQuery{Newest: true, Limit: 1})
	k.check(err)
	k.want("a whole event", fmt.Sprintf("%+v", page.Events[0]), fmt.Sprintf("%+v", k.events()[8]))
}

// outsideEvents: instances may produce many events that nobody here is meant to take.
func outsideEvents(k kit) {
	produce := func(id, producer string, taken bool) {
		e := store.Event{Event: ev(id), Until: 100, Producer: producer}
		_, err := k.Ingest(ctx, e, 0, func(e store.Event, _ store.View) (store.Routing, error) {
			if taken {
				e.Used = []string{"d"}
			}
			return store.Routing{Events: []store.Event{e}}, nil
		})
		k.check(err)
	}
	produce("a", "", false)
	produce("b", "", true)
	for i := range 5 {
		produce(fmt.Sprint(i), "p", i%2 == 0)
	}
	produce("c", "", false)
	produce("d", "p", false)
	for _, c := range []struct {
		want string
		q    store.EventQuery
	}{
		{"cba", store.EventQuery{Outside: true, Newest: true}},
		{"abc", store.EventQuery{Outside: true, Type: "t"}},
		{"ca", store.EventQuery{Outside: true, Untaken: true, Newest: true}},
		{"ca", store.EventQuery{Outside: true, Untaken: true, Newest: true, Limit: 1}},
		{"ca", store.EventQuery{Outside: true, Untaken: true, Newest: true, Limit: 2, Type: "t"}},
		{"a13cd", store.EventQuery{Untaken: true}},
	} {
		got := ""
		for q := c.q; ; {
			page, err := k.Events(ctx, q)
			k.check(err)
			for _, e := range page.Events {
				got += e.Event.ID
			}
			if q.After = page.Next; page.Next == 0 {
				break
			}
			if len(page.Events) != q.Limit { // there are fewer events than are looked at
				k.t.Fatalf("%+v: a page of %d events", q, len(page.Events))
			}
		}
		k.want(fmt.Sprintf("%+v", c.q), got, c.want)
	}
}

// eventScan: those that are looked for may be behind many that are not.
func eventScan(k kit) {
	k.ingest(ev("first"), nil)
	for i := range store.MaxEventScan + 5 {
		k.ingest(ev(fmt.Sprint(i)), func(e store.Event, _ store.View) store.Routing {
			e.Used = []string{"d"}
			return store.Routing{Events: []store.Event{e}}
		})
	}
	last := k.ingest(ev("last"), nil)
	q := store.EventQuery{Untaken: true, Limit: 2}
	page, err := k.Events(ctx, q)
	k.check(err)
	if len(page.Events) != 1 || page.Events[0].Event.ID != "first" || page.Next == 0 {
		k.t.Fatalf("%d events, next %d", len(page.Events), page.Next)
	}
	q.After = page.Next
	page, err = k.Events(ctx, q)
	k.check(err)
	k.want("behind the bound", seqs(page.Events), []int64{last.Seq})
	all, err := k.Events(ctx, store.EventQuery{})
	k.check(err)
	k.want("without a limit", len(all.Events), store.MaxEventScan)
}

func recordPages(k kit) {
	k.create(store.Instance{ID: "other"})
	k.create(store.Instance{ID: "a"})
	var want []core.Record
	for i := range 7 {
		c := store.Commit{Instance: k.row("a")}
		for range i % 4 { // one commit has none
			r := core.Record{Text: fmt.Sprint(len(want) + 1)}
			want, c.Records = append(want, r), append(c.Records, r)
		}
		c.Instance.Status = []core.Status{core.Waiting, core.Running}[i%2]
		k.commit(c)
		k.commit(store.Commit{Instance: k.row("other"), Records: []core.Record{{Text: "another's"}}})
	}
	text := func(list []core.Record) (out string) {
		for _, r := range list {
			out += r.Text + " "
		}
		return out
	}
	for after := -1; after < len(want)+3; after++ {
		for limit := range 6 {
			list, err := k.Records(ctx, "a", int64(after), limit)
			k.check(err)
			part := want[min(max(after, 0), len(want)):]
			if limit > 0 {
				part = part[:min(limit, len(part))]
			}
			k.want(fmt.Sprintf("%d after %d", limit, after), text(list), text(part))
		}
	}
	if _, err := k.Records(ctx, "nobody", 3, 1); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("nobody's: %v", err)
	}
}

func outbound(k kit) {
	list := func(limit int) (out string) {
		list, err := k.Outbound(ctx, limit)
		k.check(err)
		for _, e := range list {
			if !e.Sink || e.Seq == 0 {
				k.t.Errorf("%+v", e)
			}
			out += e.Instance + "/" + e.Definition + "/" + e.Event.ID + " "
		}
		return out
	}
	k.want("nothing", list(10), "")
	both := func(e event.Event) []store.Emit {
		return []store.Emit{{Definition: "d", Event: e}, {Definition: "d", Event: e, Sink: true}}
	}
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Emits: both(ev("1"))})
	k.commit(store.Commit{Instance: store.Instance{ID: "b", Status: core.Waiting}, Emits: append(both(ev("2")), both(ev("3"))...)})
	k.want("in order", list(10), "a/d/1 b/d/2 b/d/3 ")
	k.want("two of them", list(2), "a/d/1 b/d/2 ")
	emits, err := k.Emits(ctx, 10)
	k.check(err)
	if len(emits) != 3 || emits[0].Sink || emits[0].Event.ID != "1" {
		k.t.Errorf("to be ingested: %+v", emits)
	}
	_, err = k.Ingest(ctx, store.Event{Event: emits[0].Event, Until: 100}, emits[0].Seq, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil })
	k.check(err)
	k.want("after it was ingested", list(10), "a/d/1 b/d/2 b/d/3 ")
	k.end("a", 1)
	k.remove("a")
	k.change("b", func(r *store.Instance) { r.Quarantine = "broken" })
	k.want("without its instance", list(10), "a/d/1 b/d/2 b/d/3 ")
	out, _ := k.Outbound(ctx, 10)
	k.check(k.Sent(ctx, out[1].Seq))
	k.check(k.Sent(ctx, out[1].Seq)) // once more
	k.check(k.Sent(ctx, emits[1].Seq))
	k.want("after one was sent", list(10), "a/d/1 b/d/3 ")
	left, _ := k.Emits(ctx, 10)
	k.want("an emit that is to be ingested is not sent", len(left), 2)
	k.check(k.Sent(ctx, out[0].Seq))
	k.check(k.Sent(ctx, out[2].Seq))
	k.want("after all", list(10), "")
	k.commit(store.Commit{Instance: k.row("b"), Emits: both(ev("4"))})
	k.want("one more", list(10), "b/d/4 ")
}

func states(k kit) {
	list, through, err := k.States(ctx, []string{"a", "nobody"})
	if err != nil || len(list) != 0 || through != 2 {
		k.t.Errorf("of nobody: %v, %d, %v", list, through, err)
	}
	if _, through, err := k.States(ctx, nil); err != nil || through != 0 {
		k.t.Errorf("of none: %d, %v", through, err)
	}
	large := make([]byte, store.MaxStateBytes/2)
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Created: 7}, Pages: []core.Page{{Frame: 2, Part: 1, Data: []byte("y")}, {Frame: 1, Part: 3, Data: []byte("x")}}})
	k.commit(store.Commit{Instance: store.Instance{ID: "b"}})
	for _, id := range []string{"c", "d", "e"} {
		k.commit(store.Commit{Instance: store.Instance{ID: id}, Pages: []core.Page{{Frame: 1, Data: large}}})
	}
	k.commit(store.Commit{Instance: store.Instance{ID: "f"}, Pages: []core.Page{{Frame: 1, Data: slices.Concat(large, large, large)}}})
	k.commit(store.Commit{Instance: k.row("b")})
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{[]string{"a"}, "a@1 1/3:1 2/1:1 of 1"},
		{[]string{"b", "x\x00", "\xff", "a"}, "b@2 a@1 1/3:1 2/1:1 of 4"},
		{[]string{"c", "nobody", "d", "e"}, fmt.Sprint("c@1 1/0:", len(large), " d@1 1/0:", len(large), " of 3")},
		{[]string{"nobody", "f", "nobody", "a"}, fmt.Sprint("f@1 1/0:", 3*len(large), " of 3")},
		{[]string{"a", "f"}, "a@1 1/3:1 2/1:1 of 1"},
	} {
		list, through, err := k.States(ctx, c.ids)
		k.check(err)
		out := ""
		for _, s := range list {
			out += fmt.Sprintf("%s@%d ", s.ID, s.Rev)
			for _, p := range s.Pages {
				out += fmt.Sprintf("%d/%d:%d ", p.Frame, p.Part, len(p.Data))
			}
			if s.ID == "a" {
				k.want("created", int64(s.Created), 7)
			}
		}
		k.want(fmt.Sprintf("the states of %q", c.ids), out+fmt.Sprint("of ", through), c.want)
	}
}
