package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var commitTests = []testCase{
	{"a name that PostgreSQL cannot hold is refused", names},
	{"a commit compares the revision", revision},
	{"a commit compares which instance it is", another},
	{"a commit that read no inbox conflicts where there is one", unread},
	{"a commit that conflicts leaves nothing", conflictLeavesNothing},
	{"of many commits of one revision one wins", oneWinner},
	{"a cancelled commit does nothing", cancelled},
	{"a row comes back as it went in", wholeRow},
	{"pages are written, replaced and deleted", pages},
	{"records come back in order", records},
	{"a child and a message are inserted once", children},
	{"messages come back as they went in", messages},
	{"taken messages are gone", taken},
	{"calls are there until they are answered", calls},
	{"an end takes calls and subscriptions along", end},
	{"emits are there until they are ingested", emits},
	{"many commit at a time", concurrent},
	{"a store that can be written says so", writable},
}

func writable(k kit) {
	for range 2 {
		if err := k.Writable(ctx); err != nil {
			k.t.Errorf("%v", err)
		}
	}
	if n, err := k.Count(ctx, store.Query{}); err != nil || n != 0 {
		k.t.Errorf("there are %d instances: %v", n, err)
	}
	feed, err := k.Feed(ctx, 0, 10)
	if err != nil || len(feed.Items) != 0 {
		k.t.Errorf("the feed tells of it: %+v %v", feed, err)
	}
}

func revision(k kit) {
	a := k.create(store.Instance{ID: "a"})
	k.want("revision of a new one", a.Rev, 1)
	if a.Seq == 0 {
		k.t.Error("no Seq was given")
	}
	if err := k.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a"}}); !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("created twice: %v", err)
	}
	k.commit(store.Commit{Instance: a})
	k.want("after a commit", k.row("a").Rev, 2)
	if err := k.Commit(ctx, store.Commit{Instance: a}); !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("an old revision: %v", err)
	}
	a.Rev = 3
	if err := k.Commit(ctx, store.Commit{Instance: a}); !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("a revision that is yet to come: %v", err)
	}
	k.want("Seq stays", k.row("a").Seq, a.Seq)
	if err := k.Commit(ctx, store.Commit{Instance: store.Instance{ID: "b", Rev: 3}}); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("nobody's commit: %v", err)
	}
	if _, err := k.Instance(ctx, "b"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("nobody: %v", err)
	}
}

func another(k kit) {
	old := k.create(store.Instance{ID: "a", Created: 1, Status: core.Completed})
	if err := k.DeleteInstance(ctx, "a", store.Deletion{At: 2}); err != nil {
		k.t.Fatal(err)
	}
	k.create(store.Instance{ID: "a", Created: 3})
	if err := k.Commit(ctx, store.Commit{Instance: old, Records: []core.Record{{Text: "x"}}}); !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("a commit to one that is gone: %v", err)
	}
	if list, _ := k.Records(ctx, "a", 0, 0); len(list) != 0 || k.row("a").Rev != 1 {
		k.t.Errorf("it changed another: %+v, records %v", k.row("a"), list)
	}
	k.commit(store.Commit{Instance: k.row("a")})
}

func unread(k kit) {
	a := k.create(store.Instance{ID: "a"})
	k.create(store.Instance{ID: "b"})
	k.commit(store.Commit{Instance: a, Unread: true, Records: []core.Record{{Text: "1"}}})
	k.commit(store.Commit{Instance: k.row("b"), Messages: []store.Message{{To: "a", Input: core.Continue{}}}})
	if err := k.Commit(ctx, store.Commit{Instance: k.row("a"), Unread: true, Records: []core.Record{{Text: "2"}}}); !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("with a message: %v", err)
	}
	k.want("ready", k.ready(0, 10), "[a]")
	k.commit(store.Commit{Instance: k.row("a"), Records: []core.Record{{Text: "3"}}, Taken: []int64{k.inbox("a")[0].Seq}})
	k.commit(store.Commit{Instance: k.row("a"), Unread: true, Records: []core.Record{{Text: "4"}}})
	list, _ := k.Records(ctx, "a", 0, 0)
	text := ""
	for _, r := range list {
		text += r.Text
	}
	k.want("what was committed", text, "134")
	k.want("ready in the end", k.ready(0, 10), "[]")
	k.commit(store.Commit{Instance: store.Instance{ID: "c"}, Unread: true})
}

func conflictLeavesNothing(k kit) {
	k.create(store.Instance{ID: "a"})
	k.create(store.Instance{ID: "b"})
	all := store.Commit{
		Pages: []core.Page{{Data: []byte("x")}}, Records: []core.Record{{Text: "x"}},
		Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}}, Emits: []store.Emit{{Event: ev("1")}},
		Subscribe: []store.Subscription{on(1)}, Children: []store.NewInstance{{Instance: store.Instance{ID: "c"}}},
		Messages: []store.Message{{To: "b", Input: core.Continue{}}},
	}
	for _, rev := range []int64{0, 7} {
		all.Instance = store.Instance{ID: "a", Rev: rev}
		if err := k.Commit(ctx, all); !errors.Is(err, store.ErrConflict) {
			k.t.Fatalf("revision %d: %v", rev, err)
		}
	}
	p, _ := k.Pages(ctx, "a")
	r, _ := k.Records(ctx, "a", 0, 0)
	emits, _ := k.Emits(ctx, 10)
	subs, _ := k.Store.Subscriptions(ctx, "a")
	left := len(p) + len(r) + len(emits) + len(subs) + len(k.calls("")) + len(k.inbox("b")) + len(k.ready(0, 10)) + len(k.unchecked())
	if _, err := k.Instance(ctx, "c"); left != 0 || !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("%d things are left, the child: %v", left, err)
	}
}

func oneWinner(k kit) {
	read := k.create(store.Instance{ID: "a"})
	var wg sync.WaitGroup
	wins := make(chan int, 50)
	for i := range 50 {
		wg.Go(func() {
			err := k.Commit(ctx, store.Commit{Instance: read, Records: []core.Record{{Attempt: i}}})
			switch {
			case err == nil:
				wins <- i
			case !errors.Is(err, store.ErrConflict):
				k.t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(wins) != 1 {
		k.t.Fatalf("%d winners", len(wins))
	}
	list, _ := k.Records(ctx, "a", 0, 0)
	if len(list) != 1 || list[0].Attempt != <-wins {
		k.t.Errorf("records %v", list)
	}
}

func cancelled(k kit) {
	over, cancel := context.WithCancel(ctx)
	cancel()
	if err := k.Commit(over, store.Commit{Instance: store.Instance{ID: "a"}}); !errors.Is(err, context.Canceled) {
		k.t.Errorf("commit: %v", err)
	}
	if _, err := k.Instance(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("it was created: %v", err)
	}
}

func wholeRow(k kit) {
	want := store.Instance{
		ID: "a", Definition: "d", Version: "1", Digest: "abc", Status: core.Failed, Active: []string{"x", "y z", ""},
		Created: 1, Updated: -2, Ended: 3, Wake: 4, HasWake: true, More: true,
		Output: expr.Object(expr.Member{Key: "n", Value: expr.Int(1 << 60)}), Labels: expr.Object(expr.Member{Key: "l", Value: expr.String("v")}),
		Fault:  &core.Fault{Name: "F", Detail: "d", Data: expr.Int(7), Pos: ir.Pos{Line: 3}, Final: true, Trail: []core.Hop{{Workflow: "w"}}},
		Keys:   []core.Key{{Name: "k", Value: "v", Fixed: true}},
		Offers: []store.Offer{{Ticket: 1<<32 | 5, Offer: ir.Offer{Actor: "A", Choice: "C"}}},
		Parent: "p", Ticket: 1<<33 | 9, Awaited: true, Depth: 3, RestartOf: "r", Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Quarantine: "why", PauseReason: core.TooExpensive,
		Progress: []core.Progress{{
			State: "x", Total: 5, Done: 2, Failed: 1, InFlight: 2,
			Failures: []core.FailedItem{{Index: 3, Fault: &core.Fault{Name: "F", Item: &core.Item{Index: 3, Value: expr.Int(7)}}}},
		}},
		Name: "N", Key: "K", Tree: "T", Children: 7, Reusable: true, Indexed: true,
	}
	k.content("abc")
	k.commit(store.Commit{Instance: want})
	got := k.row("a")
	want.Seq, want.Rev = got.Seq, 1
	k.want("row", printRow(got), printRow(want))
	plain := store.Instance{ID: "a", Seq: got.Seq, Rev: 1, Created: 1, Status: core.Running}
	k.commit(store.Commit{Instance: plain})
	plain.Rev = 2
	k.want("row without anything", printRow(k.row("a")), printRow(plain))
}

// printRow prints a row so that nil and empty look the same and nothing is left out.
func printRow(in store.Instance) string {
	fault := ""
	if in.Fault != nil {
		fault = fmt.Sprintf("%+v", *in.Fault)
	}
	progress := ""
	if len(in.Progress) > 0 {
		b, _ := json.Marshal(in.Progress)
		progress = string(b)
	}
	in.Fault, in.Progress = nil, nil
	return fmt.Sprintf("%+v %q %s %s", in, in.Active, fault, progress)
}

func pages(k kit) {
	big := slices.Repeat([]byte("0123456789"), 30_000)
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Pages: []core.Page{
		{Frame: 2, Part: 1, Data: []byte("d")},
		{Data: []byte("a")},
		{Frame: 1, Data: []byte("b")},
		{Frame: 2, Data: []byte("c")},
		{Frame: 2, Part: -1, Data: big},
		{Frame: 1 << 31, Data: []byte("e")},
	}})
	k.create(store.Instance{ID: "b"})
	show := func() (out string) {
		list, err := k.Pages(ctx, "a")
		k.check(err)
		for _, p := range list {
			if slices.Equal(p.Data, big) {
				p.Data = []byte("big")
			}
			out += fmt.Sprintf("%d.%d=%s ", p.Frame, p.Part, p.Data)
		}
		return out
	}
	k.want("pages", show(), "0.0=a 1.0=b 2.-1=big 2.0=c 2.1=d 2147483648.0=e ")
	k.commit(store.Commit{Instance: k.row("a"), Pages: []core.Page{{Frame: 1}, {Data: []byte("A")}, {Frame: 2, Part: -1}, {Frame: 9}}})
	k.want("later", show(), "0.0=A 2.0=c 2.1=d 2147483648.0=e ")
	if list, err := k.Pages(ctx, "b"); err != nil || len(list) != 0 {
		k.t.Errorf("someone else's: %v %v", list, err)
	}
	if _, err := k.Pages(ctx, "nobody"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("nobody's: %v", err)
	}
}

func records(k kit) {
	one := core.Record{
		Time: 1, Type: core.RecCalled, Frame: 2, Depth: 3, Node: "n", Pos: ir.Pos{Line: 4, Column: 5}, Name: "f", Ticket: 6, Attempt: 7, At: 8,
		Data: expr.String("d"), HasData: true, Fault: &core.Fault{Name: "F"}, Text: "t", Status: core.Running,
	}
	var all []core.Record
	k.create(store.Instance{ID: "a"})
	for i := range 5 {
		one.Attempt = i
		list := []core.Record{one, {Type: core.RecLeft, HasData: true}}[:i%3]
		k.commit(store.Commit{Instance: k.row("a"), Records: list})
		k.commit(store.Commit{Instance: store.Instance{ID: fmt.Sprint(i)}, Records: []core.Record{{Text: "another's"}}})
		all = append(all, list...)
	}
	got, err := k.Records(ctx, "a", 0, 0)
	k.check(err)
	text := func(list []core.Record) (out []string) {
		for _, r := range list {
			fault := ""
			if r.Fault != nil {
				fault = r.Fault.Name
			}
			r.Fault = nil
			out = append(out, fmt.Sprintf("%+v %s", r, fault))
		}
		return out
	}
	k.want("records", text(got), text(all))
	if _, err := k.Records(ctx, "nobody", 0, 0); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("nobody's: %v", err)
	}
}

func children(k kit) {
	k.commit(store.Commit{
		Instance: store.Instance{ID: "a", Status: core.Waiting},
		Children: []store.NewInstance{{Instance: store.Instance{ID: "b", Status: core.Running, Created: 5, Parent: "a"}, Start: core.Start{Seed: 7}}},
		Messages: []store.Message{{To: "b", Input: core.Continue{}}, {To: "nobody", Input: core.Continue{}}},
	})
	again := store.NewInstance{Instance: store.Instance{ID: "b"}, Start: core.Start{Seed: 8}}
	k.commit(store.Commit{Instance: k.row("a"), Children: []store.NewInstance{again}})
	list := k.inbox("b")
	if len(list) != 2 || list[0].Input.(core.Start).Seed != 7 || list[0].At != 5 || !ascending([]int64{k.row("a").Seq, k.row("b").Seq, list[0].Seq, list[1].Seq}) {
		k.t.Fatalf("inbox %+v", list)
	}
	k.want("the child's revision", k.row("b").Rev, 1)
	k.want("ready", k.ready(0, 10), "[b]")
	if at, ok, _ := k.Next(ctx, 0); ok {
		k.t.Errorf("what is ready already will be at %v", at)
	}
	k.want("nobody's inbox", k.inbox("nobody"), "[]")
	k.commit(store.Commit{Instance: store.Instance{ID: "c"}, Messages: []store.Message{{To: "c", Input: core.Continue{}}}})
	k.want("a message to itself", len(k.inbox("c")), 1)
}

func messages(k kit) {
	inputs := []core.Input{
		core.Start{Data: expr.EmptyObject, Seed: 1 << 63, Events: []core.Arrival{{Event: 3, Value: expr.Int(1)}}},
		core.Reply{Ticket: 1 << 40, Value: expr.String("v"), None: true, Terminate: true},
		core.Reply{Fault: &core.Fault{Name: "F", Data: expr.Bool(true)}},
		core.Take{Actor: "A", Choice: "C", Value: expr.Int(5)},
		core.Control{Verb: core.VerbCancel, Data: expr.Int(6), HasData: true, Compensate: true, Actor: "x"},
		core.Continue{},
	}
	c := store.Commit{Instance: store.Instance{ID: "a"}}
	for i, in := range inputs {
		c.Messages = append(c.Messages, store.Message{To: "a", At: core.Time(i), Input: in})
	}
	k.commit(c)
	for i, m := range k.inbox("a") {
		print := func(in core.Input) string {
			if r, ok := in.(core.Reply); ok && r.Fault != nil {
				return fmt.Sprintf("%T %+v", in, *r.Fault)
			}
			return fmt.Sprintf("%T %+v", in, in)
		}
		k.want("input", print(m.Input), print(inputs[i]))
		k.want("time", int64(m.At), i)
		k.want("to", m.To, "a")
	}
}

func taken(k kit) {
	k.create(store.Instance{ID: "a"})
	k.create(store.Instance{ID: "b"})
	post := func(to string, n int) {
		c := store.Commit{Instance: k.row("b")}
		for range n {
			c.Messages = append(c.Messages, store.Message{To: to, Input: core.Continue{}})
		}
		k.commit(c)
	}
	post("a", 4)
	post("b", 1)
	list := k.inbox("a")
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{list[2].Seq, list[0].Seq}})
	left := k.inbox("a")
	if len(left) != 2 || left[0].Seq != list[1].Seq || left[1].Seq != list[3].Seq {
		k.t.Errorf("left %+v", left)
	}
	k.want("ready", k.ready(0, 10), "[b a]")
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{left[0].Seq, left[1].Seq, list[0].Seq}})
	k.want("inbox", k.inbox("a"), "[]")
	k.want("ready after all is taken", k.ready(0, 10), "[b]")
	k.want("another's inbox", len(k.inbox("b")), 1)
}

func calls(k kit) {
	invoke := core.Invoke{
		Ticket: 1<<32 | 2, Args: expr.String("a"), Attempt: 3, Node: "n", Deadline: 1 << 60,
		Function: ir.Function{Name: "f", Type: "t", Operation: "o", Resource: 1, Metadata: "m", Pos: ir.Pos{Line: 1, Column: 2}},
	}
	k.commit(store.Commit{Instance: store.Instance{ID: "b"}, Calls: []store.Call{{Invoke: invoke}, {Invoke: core.Invoke{Ticket: 1}}}})
	k.commit(store.Commit{Instance: store.Instance{ID: "a"}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 2}}, {Invoke: core.Invoke{Ticket: 1}}}})
	list, _ := k.Calls(ctx, "b")
	k.want("call", fmt.Sprintf("%+v", list[0].Invoke), fmt.Sprintf("%+v", invoke))
	k.want("calls of one", k.calls("a"), "[a2 a1]")
	k.want("calls of all", k.calls(""), fmt.Sprintf("[b%d b1 a2 a1]", invoke.Ticket))
	k.commit(store.Commit{Instance: k.row("a"), Answered: []core.Ticket{2, 9}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 3}}}})
	k.want("after an answer", k.calls("a"), "[a1 a3]")
	k.commit(store.Commit{Instance: k.row("a"), Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}}})
	k.want("a call made again", k.calls("a"), "[a3 a1]")
	k.change("b", func(r *store.Instance) { r.Quarantine = "broken" })
	k.want("in quarantine", k.calls(""), "[a3 a1]")
	k.want("of the one in quarantine", k.calls("b"), "[]")
	k.change("b", func(r *store.Instance) { r.Quarantine = "" })
	k.want("after quarantine", len(k.calls("b")), 2)
	k.want("nobody's", k.calls("nobody"), "[]")
}

func end(k kit) {
	k.ingest(ev("0", "k", "v"), nil)
	for _, id := range []string{"a", "b"} {
		k.commit(store.Commit{
			Instance: store.Instance{ID: id, Status: core.Waiting}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}},
			Subscribe: []store.Subscription{on(2), on(3, "k", "v")},
		})
	}
	k.end("a", 1)
	k.want("calls", k.calls(""), "[b1]")
	subs, _ := k.Store.Subscriptions(ctx, "a")
	k.want("subscriptions", len(subs), 0)
	k.want("unchecked", k.unchecked(), "[b]")
	k.look(func(v store.View) {
		k.want("candidates", matching(v.Subscriptions(ev("1", "k", "v")), ev("1", "k", "v")), "[b/2 b/3]")
		k.want("fresh", len(v.Fresh("a")), 0)
	})
	row := k.row("b")
	row.Status = core.Failed
	k.commit(store.Commit{Instance: row, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 4}}}, Subscribe: []store.Subscription{on(5)}})
	k.want("calls of the very commit", k.calls(""), "[]")
	k.look(func(v store.View) { k.want("nobody waits", len(v.Subscriptions(ev("1"))), 0) })
}

func emits(k kit) {
	e := event.Event{
		ID: "1", Source: "s", Type: "t", Subject: "u", Time: "2026-01-01T00:00:00Z", DataContentType: "c", DataSchema: "x",
		Extensions: []expr.Member{{Key: "a", Value: expr.Int(1)}, {Key: "b", Value: expr.Bool(true)}}, Data: expr.Null, HasData: true,
	}
	k.commit(store.Commit{Instance: store.Instance{ID: "b"}, Emits: []store.Emit{{Definition: "d", Event: e}}})
	k.commit(store.Commit{Instance: store.Instance{ID: "a"}, Emits: []store.Emit{{Event: event.Event{ID: "2", Source: "s", Type: "t", DataBase64: "AQID"}}, {Event: ev("3")}}})
	list, err := k.Emits(ctx, 10)
	k.check(err)
	if len(list) != 3 || list[0].Instance != "b" || list[0].Definition != "d" || !ascending([]int64{list[0].Seq, list[1].Seq, list[2].Seq}) {
		k.t.Fatalf("emits %+v", list)
	}
	k.want("event", fmt.Sprintf("%+v", list[0].Event), fmt.Sprintf("%+v", e))
	k.want("bytes", list[1].Event.DataBase64, "AQID")
	few, _ := k.Emits(ctx, 2)
	k.want("two of them", len(few), 2)
	for i, again := range []bool{false, true} {
		_, err := k.Ingest(ctx, store.Event{Event: e, Until: 100}, list[i].Seq, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil })
		if errors.Is(err, store.ErrDuplicate) != again {
			k.t.Errorf("ingest %d: %v", i, err)
		}
	}
	left, _ := k.Emits(ctx, 10)
	if len(left) != 1 || left[0].Event.ID != "3" {
		k.t.Errorf("left %+v", left)
	}
	k.end("a", 1)
	left, _ = k.Emits(ctx, 10)
	k.want("emits of one that ended", len(left), 1)
}

// concurrent: every commit that returned is there, whatever else goes on.
func concurrent(k kit) {
	const writers, steps = 8, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			id := fmt.Sprint(w)
			row := store.Instance{ID: id, Status: core.Running}
			for i := range steps {
				c := store.Commit{Instance: row, Records: []core.Record{{Attempt: i}}, Pages: []core.Page{{Frame: core.FrameID(i), Data: []byte(id)}}}
				c.Messages = []store.Message{{To: fmt.Sprint((w + 1) % writers), Input: core.Continue{}}}
				if err := k.Commit(ctx, c); err != nil {
					k.t.Error(err)
					return
				}
				var err error
				if row, err = k.Instance(ctx, id); err != nil || row.Rev != int64(i)+1 {
					k.t.Errorf("%s after %d commits: revision %d, %v", id, i+1, row.Rev, err)
					return
				}
				if _, err := k.Ready(ctx, 0, 3); err != nil {
					k.t.Error(err)
				}
				e := ev(fmt.Sprint(w, "-", i))
				if _, err := k.Ingest(ctx, store.Event{Event: e, Until: 100}, 0, func(e store.Event, v store.View) (store.Routing, error) { return give(e, v), nil }); err != nil {
					k.t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for w := range writers {
		list, _ := k.Records(ctx, fmt.Sprint(w), 0, 0)
		p, _ := k.Pages(ctx, fmt.Sprint(w))
		if len(list) != steps || len(p) != steps || !slices.IsSortedFunc(list, func(a, b core.Record) int { return a.Attempt - b.Attempt }) {
			k.t.Errorf("writer %d: %d records, %d pages", w, len(list), len(p))
		}
	}
	k.want("events", len(k.events()), writers*steps)
	feed, err := k.Feed(ctx, 0, 1000)
	k.check(err)
	k.want("feed", len(feed.Items), writers*steps)
}
