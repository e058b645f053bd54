package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var queryTests = []testCase{
	{"instances by what they are", instances},
	{"a list goes on where it ended", cursor},
	{"an instance that changes is in every list", listed},
	{"labels", labels},
	{"names, keys, texts and roots", finds},
	{"texts are no part of a statement", texts},
	{"counts by definition and status", stats},
	{"the feed has every commit in order", feed},
	{"a part of the feed is not large", largeFeed},
	{"lists without outputs", bare},
	{"a healthy store has no problems", healthy},
}

// listed: while an instance goes from one status to another and back, no list leaves it
// out or has it twice.
func listed(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Definition: "d", Status: core.Running}})
	k.listedAlways(func(row *store.Instance, i int) {
		row.Status = []core.Status{core.Waiting, core.Running}[i%2]
	}, store.Query{Definition: "d"})
}

// listedAlways changes instance a again and again; meanwhile each query finds it once.
func (k kit) listedAlways(change func(row *store.Instance, i int), queries ...store.Query) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 60 {
			row, err := k.Instance(ctx, "a")
			if err == nil {
				change(&row, i)
				err = k.Commit(ctx, store.Commit{Instance: row})
			}
			if err != nil {
				k.t.Error(err)
				return
			}
		}
	}()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		for _, q := range queries {
			list, err := k.Instances(ctx, q)
			if err != nil || len(list) != 1 {
				k.t.Errorf("%+v: %d instances, %v", q, len(list), err)
				over = true
			}
		}
	}
	<-done
}

func instances(k kit) {
	for i := range 8 {
		row := store.Instance{
			ID: fmt.Sprint(i), Definition: fmt.Sprint("d", i/4), Version: fmt.Sprint(i % 2), Digest: fmt.Sprint("x", i/4, i%2), Status: core.Running,
			Parent: []string{"", "p"}[i%2], Active: []string{"outer", fmt.Sprint("s", i%3)}, Created: core.Time(10 * i), Updated: core.Time(10*i + 5),
		}
		switch i % 3 {
		case 0:
			row.Status, row.Fault = core.Failed, &core.Fault{Name: fmt.Sprint("E", i%2)}
		case 1:
			row.Status = core.Waiting
		}
		k.content(row.Digest)
		k.commit(store.Commit{Instance: row})
	}
	for _, c := range []struct {
		want string
		q    store.Query
	}{
		{"[0 1 2 3 4 5 6 7]", store.Query{}},
		{"[7 6 5 4 3 2 1 0]", store.Query{Newest: true}},
		{"[4 5 6 7]", store.Query{Definition: "d1"}},
		{"[5 7]", store.Query{Definition: "d1", Version: "1"}},
		{"[1 3 5 7]", store.Query{Version: "1"}},
		{"[]", store.Query{Definition: "d2"}},
		{"[0 3]", store.Query{Definition: "d0", Status: []core.Status{core.Failed}}},
		{"[0 1 3 4 6 7]", store.Query{Status: []core.Status{core.Failed, core.Waiting}}},
		{"[7 6 4 3]", store.Query{Status: []core.Status{core.Failed, core.Waiting}, Newest: true, Limit: 4}},
		{"[1 3 5 7]", store.Query{Parent: "p"}},
		{"[7 5]", store.Query{Parent: "p", Newest: true, Limit: 2}},
		{"[3]", store.Query{Parent: "p", Status: []core.Status{core.Failed}}},
		{"[0 6]", store.Query{Error: "E0"}},
		{"[6]", store.Query{Error: "E0", Definition: "d1"}},
		{"[2 5]", store.Query{State: "s2"}},
		{"[5]", store.Query{State: "s2", Definition: "d1"}},
		{"[2 3]", store.Query{CreatedFrom: 20, CreatedTo: 40}},
		{"[6 7]", store.Query{UpdatedFrom: 65}},
		{"[0 1]", store.Query{UpdatedTo: 16, Limit: 5}},
		{"[2 3 4]", store.Query{CreatedFrom: 20, Limit: 3, ByCreated: true}},
		{"[5 4 3]", store.Query{CreatedTo: 60, Limit: 3, ByCreated: true, Newest: true}},
		{"[4 2]", store.Query{CreatedTo: 60, Limit: 2, ByCreated: true, Newest: true, Root: true}},
	} {
		list, err := k.Instances(ctx, c.q)
		k.check(err)
		k.want(fmt.Sprintf("%+v", c.q), idsOf(list), c.want)
		n, err := k.Count(ctx, c.q) // up to the limit, as the list
		k.check(err)
		k.want(fmt.Sprintf("count of %+v", c.q), n, len(list))
	}
	for i := range 2 { // what a store leaves out of these is not in the state, or has another id
		near, err := k.Instances(ctx, store.Query{Near: "s2", Newest: i == 0})
		k.check(err)
		near = slices.DeleteFunc(near, func(in store.Instance) bool { return !in.InState("s2") })
		k.want("in a state", idsOf(near), []string{"[5 2]", "[2 5]"}[i])
		prefix, err := k.Instances(ctx, store.Query{Prefix: "3", Newest: i == 0})
		k.check(err)
		k.want("a beginning of ids", slices.Contains(idsOf(prefix), "3"), true)
	}
	list, _ := k.Instances(ctx, store.Query{Limit: 1})
	k.want("a whole row", printRow(list[0]), printRow(k.row("0")))
}

func cursor(k kit) {
	for i := range 25 {
		k.create(store.Instance{ID: fmt.Sprint(i), Definition: fmt.Sprint("d", i%3), Parent: "p"})
	}
	for _, q := range []store.Query{{}, {Newest: true}, {Definition: "d1"}, {Definition: "d1", Newest: true}, {Parent: "p"}, {Parent: "p", Newest: true, CreatedTo: 1}} {
		all, err := k.Instances(ctx, q)
		k.check(err)
		var got []string
		for q.Limit = 4; ; {
			list, err := k.Instances(ctx, q)
			k.check(err)
			got = append(got, idsOf(list)...)
			if len(list) < q.Limit {
				break
			}
			q.After = list[len(list)-1].Seq
		}
		k.want(fmt.Sprintf("%+v", q), got, idsOf(all))
	}
}

func labels(k kit) {
	label := func(text string) expr.Value {
		v, err := expr.ParseJSON([]byte(text))
		k.check(err)
		return v
	}
	for i, text := range []string{`{"a":"1"}`, `{"a":1,"b":true}`, `{"a":["x","1"],"b":""}`, `{}`, `{"":"e","a":"x"}`} {
		k.create(store.Instance{ID: fmt.Sprint(i), Labels: label(text)})
	}
	by := func(list ...store.Label) []string {
		rows, err := k.Instances(ctx, store.Query{Labels: list})
		k.check(err)
		n, _ := k.Count(ctx, store.Query{Labels: list})
		k.want("count", n, len(rows))
		return idsOf(rows)
	}
	k.want("by value", by(store.Label{Name: "a", Value: "1"}), "[0 1 2]")
	k.want("by one of a list", by(store.Label{Name: "a", Value: "x"}), "[2 4]")
	k.want("by name", by(store.Label{Name: "b", Any: true}), "[1 2]")
	k.want("by an empty value", by(store.Label{Name: "b"}), "[2]")
	k.want("by an empty name", by(store.Label{Value: "e"}), "[4]")
	k.want("by two", by(store.Label{Name: "b", Any: true}, store.Label{Name: "a", Value: "x"}), "[2]")
	k.want("by none that is there", by(store.Label{Name: "c", Any: true}), "[]")
	k.change("2", func(r *store.Instance) { r.Labels = label(`{"c":"1"}`) })
	k.want("after a change", by(store.Label{Name: "a", Value: "1"}), "[0 1]")
	k.want("the new one", by(store.Label{Name: "c", Value: "1"}), "[2]")
}

// texts: whatever a text has that means something in a statement, it is found by itself and finds nothing else.
func texts(k kit) {
	odd := []string{"it's", "' OR '1'='1", "\"; --", "%", "_", "\\", "?", "$1", "~.", ":a", "{a,\"b"}
	for _, text := range odd {
		label := expr.Object(expr.Member{Key: text, Value: expr.String(text)})
		k.create(store.Instance{ID: text, Definition: text, Version: text, Parent: text, Name: text, Key: text, Indexed: true, Labels: label, Job: store.Job{Client: text, State: text, Group: text}, Fault: &core.Fault{Name: text}})
		k.ingest(event.Event{ID: text, Source: text, Type: text}, nil)
	}
	for _, text := range odd {
		k.want("by id", k.row(text).ID, text)
		for _, q := range []store.Query{
			{Definition: text},
			{Definition: text, Version: text},
			{Parent: text},
			{Error: text},
			{Labels: []store.Label{{Name: text, Value: text}}},
			{Labels: []store.Label{{Name: text, Any: true}}},
			{Tagged: []store.Label{{Name: text, Value: text}}},
			{Name: text},
			{Key: text},
			{Text: text},
			{Jobs: true, Client: text},
			{Jobs: true, State: text},
			{Jobs: true, Groups: []string{text}},
		} {
			list, err := k.Instances(ctx, q)
			k.check(err)
			k.want(fmt.Sprintf("%+v", q), idsOf(list), []string{text})
		}
		page, err := k.Events(ctx, store.EventQuery{Type: text})
		k.check(err)
		if len(page.Events) != 1 || page.Events[0].Event.ID != text {
			k.t.Errorf("events of type %s: %+v", text, page.Events)
		}
	}
}

func stats(k kit) {
	show := func() (out string) {
		list, err := k.Stats(ctx)
		k.check(err)
		for _, s := range list {
			out += fmt.Sprint(s.Definition, s.Version, " ", s.Status, " ", s.Count, "; ")
		}
		return out
	}
	k.want("nothing", show(), "")
	for i := range 5 {
		k.create(store.Instance{ID: fmt.Sprint(i), Definition: "d", Version: fmt.Sprint(i % 2), Digest: fmt.Sprint(i % 4)})
	}
	k.want("all wait", show(), "d0 waiting 3; d1 waiting 2; ")
	k.end("0", 1)
	k.end("1", 1)
	k.change("0", func(r *store.Instance) { r.Status = core.Running })
	k.commit(store.Commit{Instance: k.row("2"), Children: []store.NewInstance{{Instance: store.Instance{ID: "c", Definition: "c", Status: core.Running}}}})
	k.want("later", show(), "c running 1; d0 running 1; d0 waiting 2; d1 completed 1; d1 waiting 1; ")
	k.remove("1")
	k.want("after a deletion", show(), "c running 1; d0 running 1; d0 waiting 2; d1 waiting 1; ")
}

func feed(k kit) {
	read := func(after int64, limit int) store.Feed {
		f, err := k.Feed(ctx, after, limit)
		k.check(err)
		return f
	}
	k.want("nothing", len(read(0, 10).Items), 0)
	for i := range 3 {
		k.commit(store.Commit{Instance: store.Instance{ID: fmt.Sprint(i), Definition: "d", Status: core.Waiting, Updated: core.Time(i)}, Records: []core.Record{{Text: fmt.Sprint("r", i)}, {Text: "s"}}})
	}
	k.commit(store.Commit{Instance: k.row("1")}) // nothing to tell
	k.change("1", func(r *store.Instance) { r.Status = core.Running })
	k.commit(store.Commit{Instance: k.row("0"), Records: []core.Record{{Text: "t"}}})
	show := func(items []store.FeedItem) (out string) {
		for _, f := range items {
			out += fmt.Sprint(f.Instance, " ", f.Definition, " ", f.Status, " ", int64(f.At))
			for _, r := range f.Records {
				out += " " + r.Text
			}
			out += "; "
		}
		return out
	}
	all := read(0, 10)
	k.want("feed", show(all.Items), "0 d waiting 0 r0 s; 1 d waiting 1 r1 s; 2 d waiting 2 r2 s; 1 d running 1; 0 d waiting 0 t; ")
	if !slices.IsSortedFunc(all.Items, func(a, b store.FeedItem) int { return int(a.Pos - b.Pos) }) || all.Oldest > 0 {
		k.t.Errorf("positions %+v", all)
	}
	var got []store.FeedItem
	for after := int64(0); ; {
		f := read(after, 2)
		if len(f.Items) == 0 {
			break
		}
		got = append(got, f.Items...)
		after = f.Next
	}
	k.want("in parts", show(got), show(all.Items))
	k.want("from the end", len(read(all.Next, 10).Items), 0)
}

// largeFeed reads a feed whose items are large in parts that are not.
func largeFeed(k kit) {
	text := expr.String(strings.Repeat("x", store.MaxFeedBytes*2/5))
	for i := range 6 {
		records := []core.Record{{Text: fmt.Sprint(i), Data: text, HasData: true}}
		if i == 3 { // by itself more than a part may have
			records = append(records, records[0], records[0])
		}
		k.commit(store.Commit{Instance: store.Instance{ID: fmt.Sprint(i), Definition: "d", Status: core.Waiting}, Records: records})
	}
	got := ""
	for after := int64(0); ; {
		f, err := k.Feed(ctx, after, 100)
		k.check(err)
		for _, item := range f.Items {
			got += item.Records[0].Text
		}
		got += " "
		if f.Next >= f.Last {
			break
		}
		after = f.Next
	}
	k.want("parts", got, "01 2 3 45 ")
}

// bare lists rows without what may be large.
func bare(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Definition: "d", Status: core.Completed, Output: expr.Int(7), Job: job("c", "DONE")}})
	for _, q := range []store.Query{{}, {Jobs: true, Limit: 5}, {Jobs: true, Client: "c"}} {
		whole, err := k.Instances(ctx, q)
		k.check(err)
		q.Bare = true
		rows, err := k.Instances(ctx, q)
		k.check(err)
		if len(whole) != 1 || len(rows) != 1 || !rows[0].Output.IsNull() || whole[0].Output.String() != "7" {
			k.t.Errorf("%+v: %+v, bare %+v", q, whole, rows)
		}
	}
	k.want("the row itself", k.row("a").Output.String(), "7")
}

func healthy(k kit) {
	k.commit(store.Commit{
		Instance: store.Instance{ID: "a", Definition: "d", Status: core.Waiting, HasWake: true, Wake: 5, Labels: expr.Object(expr.Member{Key: "l", Value: expr.Int(1)}), Keys: []core.Key{{Name: "k", Value: "v", Fixed: true}}},
		Pages:    []core.Page{{Data: []byte("x")}}, Records: []core.Record{{Text: "r"}}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}},
		Emits: []store.Emit{{Event: ev("9")}}, Subscribe: []store.Subscription{on(2), on(3, "k", "v")},
		Children: []store.NewInstance{{Instance: store.Instance{ID: "b", Status: core.Running, Parent: "a"}}},
	})
	k.ingest(ev("1", "k", "v"), give)
	k.ingest(ev("2", "k", "v"), func(e store.Event, _ store.View) store.Routing {
		e.For = []string{"a"}
		return store.Routing{Events: []store.Event{e}, Gather: []store.Gathering{{Definition: "d", Events: []int64{e.Seq}, Until: 5}}}
	})
	k.create(store.Instance{ID: "c"})
	k.end("c", 1)
	k.remove("c")
	list, err := k.Check(ctx)
	k.check(err)
	for _, p := range list {
		k.t.Errorf("%s: %s", p.Where, p.Text)
	}
	if _, err := k.Instance(ctx, "c"); !errors.Is(err, store.ErrNotFound) {
		k.t.Error(err)
	}
}
