package storetest

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var readyTests = []testCase{
	{"wake times come in order", wake},
	{"a wake time that passed already", wakeInThePast},
	{"an instance that stays ready goes behind the others", turns},
	{"the instance that became ready first goes first", becameReady},
	{"the clock steps back", clockStepsBack},
	{"instances in quarantine are left alone", quarantine},
	{"the next instant", next},
}

func wake(k kit) {
	for i, at := range []core.Time{30, 10, 20, 10} {
		k.create(store.Instance{ID: fmt.Sprint(i), Wake: at, HasWake: true})
	}
	k.want("early", k.ready(9, 10), "[]")
	for range 2 { // what was not handled stays
		k.want("ready", k.ready(20, 10), "[1 3 2]")
	}
	k.want("two of them", k.ready(20, 2), "[1 3]")
	k.change("1", func(r *store.Instance) { r.Wake = 40 })
	k.change("3", func(r *store.Instance) { r.HasWake = false })
	k.want("later", k.ready(35, 10), "[2 0]")
	k.want("at last", k.ready(40, 10), "[2 0 1]")
}

func wakeInThePast(k kit) {
	k.create(store.Instance{ID: "a", Wake: 20, HasWake: true})
	k.want("ready", k.ready(30, 10), "[a]")
	k.create(store.Instance{ID: "b", Wake: 10, HasWake: true})
	k.want("one more", k.ready(30, 10), "[a b]")
	k.change("a", func(r *store.Instance) { r.Wake = 5 })
	k.want("one of them once more", k.ready(30, 10), "[b a]")
	k.change("a", func(*store.Instance) {})
	k.change("b", func(*store.Instance) {})
	k.want("both at a time", k.ready(30, 10), "[a b]") // by wake time
}

func turns(k kit) {
	for _, id := range []string{"a", "b", "c"} {
		k.create(store.Instance{ID: id, Status: core.Running, More: true})
	}
	k.want("ready", k.ready(0, 10), "[a b c]")
	k.commit(store.Commit{Instance: k.row("a")})
	k.want("after one", k.ready(0, 10), "[b c a]")
	k.commit(store.Commit{Instance: k.row("b"), Messages: []store.Message{{To: "c", Input: core.Continue{}}, {To: "a", Input: core.Continue{}}}})
	k.want("a message to one that is ready changes nothing", k.ready(0, 10), "[c a b]")
	k.want("the first", k.ready(0, 1), "[c]")
}

func becameReady(k kit) {
	for _, id := range []string{"a", "b", "c", "d"} {
		k.create(store.Instance{ID: id})
	}
	post := func(to string) {
		k.commit(store.Commit{Instance: k.row("d"), Messages: []store.Message{{To: to, Input: core.Continue{}}}})
	}
	post("c")
	k.change("b", func(r *store.Instance) { r.Wake, r.HasWake = 10, true })
	k.want("ready", k.ready(10, 10), "[c b]")
	post("a")
	post("c")
	k.want("then", k.ready(10, 10), "[c b a]")
	k.commit(store.Commit{Instance: k.row("c"), Taken: []int64{k.inbox("c")[0].Seq}})
	k.want("one message is left", k.ready(10, 10), "[b a c]")
}

func clockStepsBack(k kit) {
	k.create(store.Instance{ID: "a", Wake: 10, HasWake: true})
	k.create(store.Instance{ID: "b", Wake: 20, HasWake: true})
	k.want("ready", k.ready(30, 10), "[a b]")
	k.want("earlier", k.ready(15, 10), "[a]")
	if at, ok, _ := k.Next(ctx, 15); !ok || at != 20 {
		k.t.Errorf("next %v %t", int64(at), ok)
	}
	k.want("again", k.ready(20, 10), "[a b]")
}

func quarantine(k kit) {
	k.create(store.Instance{ID: "b"})
	k.ingest(ev("0", "k", "1"), nil)
	k.commit(store.Commit{
		Instance: store.Instance{ID: "a", Wake: 1, HasWake: true, More: true}, Subscribe: []store.Subscription{on(1, "k", "1")},
		Messages: []store.Message{{To: "a", Input: core.Continue{}}},
	})
	k.want("ready", k.ready(5, 10), "[a]")
	k.change("a", func(r *store.Instance) { r.Quarantine = "broken" })
	k.commit(store.Commit{Instance: k.row("b"), Messages: []store.Message{{To: "a", Input: core.Continue{}}}})
	k.want("in quarantine", k.ready(5, 10), "[]")
	k.want("unchecked", k.unchecked(), "[]")
	k.want("its inbox", len(k.inbox("a")), 2)
	if _, ok, _ := k.Next(ctx, 0); ok {
		k.t.Error("it wakes")
	}
	row := k.row("a")
	if !row.HasWake || row.Wake != 1 || !row.More {
		k.t.Errorf("row %+v", row)
	}
	k.change("a", func(r *store.Instance) { r.Quarantine = "" })
	k.want("after quarantine", k.ready(5, 10), "[a]")
	k.want("unchecked", k.unchecked(), "[a]")
}

func next(k kit) {
	at := func(after core.Time) int64 {
		t, ok, err := k.Next(ctx, after)
		k.check(err)
		if !ok {
			return -1
		}
		return int64(t)
	}
	k.want("nothing", at(0), -1)
	k.create(store.Instance{ID: "a", Wake: 10, HasWake: true})
	k.create(store.Instance{ID: "b", Wake: 40, HasWake: true})
	k.want("a timer", at(0), 10)
	k.want("the next timer", at(10), 40)
	_, err := store.PutDefinition(ctx, k, store.Definition{ID: "d", Digest: "x"}, &store.Schedule{Definition: "d", Digest: "x", Next: 20}, false)
	k.check(err)
	k.route(func(store.View) store.Routing {
		return store.Routing{Gather: []store.Gathering{{Definition: "d", Digest: "x", Until: 30}}}
	})
	k.want("a schedule", at(10), 20)
	k.want("a gathering", at(20), 30)
	k.want("the last timer", at(30), 40)
	k.want("the end", at(40), -1)
	k.want("from the beginning", at(0), 10)
	k.change("a", func(r *store.Instance) { r.HasWake = false })
	k.want("without the first timer", at(0), 20)
}
