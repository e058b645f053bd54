package storetest

import (
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var retentionTests = []testCase{
	{"an instance is deleted when it is over", deleteInstance},
	{"a deleted instance lets its events go", deleteWithEvents},
	{"instances that ended long ago are purged", purgeInstances},
	{"the feed outlives instances, and is purged", purgeFeed},
}

func deleteInstance(k kit) {
	k.commit(store.Commit{
		Instance: store.Instance{ID: "a", Definition: "d", Status: core.Waiting, Parent: "p", HasWake: true, Wake: 1, Fault: &core.Fault{Name: "F"}},
		Pages:    []core.Page{{Data: []byte("x")}, {Frame: 1, Data: []byte("y")}}, Records: []core.Record{{Text: "r"}},
		Children: []store.NewInstance{{Instance: store.Instance{ID: "c", Parent: "a", Status: core.Running}}},
	})
	if err := k.DeleteInstance(ctx, "a", store.Deletion{}); !errors.Is(err, store.ErrLive) {
		k.t.Errorf("while it runs: %v", err)
	}
	if err := k.DeleteInstance(ctx, "nobody", store.Deletion{}); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("nobody: %v", err)
	}
	k.end("a", 1)
	k.remove("a")
	if _, err := k.Instance(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("it is still there: %v", err)
	}
	if _, err := k.Pages(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("its pages: %v", err)
	}
	k.want("ready", k.ready(10, 10), "[c]")
	for _, q := range []store.Query{{Definition: "d"}, {Parent: "p"}, {Error: "F"}} {
		list, err := k.Instances(ctx, q)
		k.check(err)
		k.want(fmt.Sprintf("%+v", q), len(list), 0)
	}
	k.want("its child", k.row("c").Parent, "a")
	k.commit(store.Commit{Instance: k.row("c"), Messages: []store.Message{{To: "a", Input: core.Continue{}}}})
	a := k.create(store.Instance{ID: "a"})
	k.want("anew", a.Rev, 1)
	k.want("its inbox", len(k.inbox("a")), 0)
	list, err := k.Records(ctx, "a", 0, 0)
	k.check(err)
	k.want("its records", len(list), 0)
	p, _ := k.Pages(ctx, "a")
	k.want("its pages", len(p), 0)
	if err := k.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Rev: 2}}); !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("a commit of the one before: %v", err)
	}
}

func deleteWithEvents(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{on(1)}})
	e := k.ingest(ev("1"), give)
	k.end("a", 1)
	k.want("in its inbox", len(k.inbox("a")), 1)
	n, err := k.PurgeInstances(ctx, 100, 7, 10)
	k.check(err)
	k.want("purged with a message", n, 0)
	k.remove("a")
	k.want("again", k.again(), []int64{e.Seq})
	list := k.events()
	if list[0].Taken || len(list[0].For) != 0 {
		k.t.Errorf("event %+v", list[0])
	}
	k.want("ready", k.ready(0, 10), "[]")
}

func purgeInstances(k kit) {
	for i, at := range []core.Time{30, 10, 20, 0, 40} {
		id := fmt.Sprint(i)
		k.create(store.Instance{ID: id})
		if at > 0 {
			k.end(id, at)
		}
	}
	purge := func(before core.Time, limit int) (int, []string) {
		n, err := k.PurgeInstances(ctx, before, 7, limit)
		k.check(err)
		list, err := k.Instances(ctx, store.Query{})
		k.check(err)
		return n, idsOf(list)
	}
	n, left := purge(40, 2)
	k.want("the first to end", fmt.Sprint(n, left), "2 [0 3 4]")
	n, left = purge(40, 2)
	k.want("then", fmt.Sprint(n, left), "1 [3 4]")
	n, _ = purge(40, 2)
	k.want("no more", n, 0)
	k.change("4", func(r *store.Instance) { r.Status, r.Ended = core.Running, 0 }) // retried
	n, _ = purge(100, 2)
	k.want("one that runs again", n, 0)
}

func purgeFeed(k kit) {
	for i := range 4 {
		k.commit(store.Commit{Instance: store.Instance{ID: fmt.Sprint(i), Definition: "d", Status: core.Completed, Updated: core.Time(10 * i)}, Records: []core.Record{{Text: fmt.Sprint("r", i)}}})
	}
	k.remove("0")
	k.remove("2")
	show := func(after int64) (out string, f store.Feed) {
		f, err := k.Feed(ctx, after, 10)
		k.check(err)
		for _, item := range f.Items {
			out += fmt.Sprint(item.Instance, item.Definition, item.Records[0].Text, " ")
		}
		return out, f
	}
	text, all := show(0)
	k.want("feed after deletions", text, "0dr0 1dr1 2dr2 3dr3 0d 2d ")
	purge := func(before core.Time, limit int) int {
		n, err := k.PurgeFeed(ctx, before, limit)
		k.check(err)
		return n
	}
	k.want("nothing is old enough", purge(0, 10), 0)
	k.want("purged", purge(30, 2), 2)
	text, f := show(0)
	k.want("left", text, "2dr2 3dr3 0d 2d ")
	k.want("oldest", f.Oldest, all.Items[1].Pos)
	k.want("purged later", purge(1000, 10), 4)
	_, f = show(0)
	k.want("the end", f.Oldest, all.Items[5].Pos)
	k.want("ask from", f.Next, all.Items[5].Pos)
	list, err := k.Records(ctx, "1", 0, 0)
	k.check(err)
	k.want("records of one that is there", len(list), 1)
	k.remove("1")
	text, _ = show(0)
	k.want("its deletion comes, nothing comes back", text, "1d ")
	problems, err := k.Check(ctx)
	k.check(err)
	k.want("problems", problems, "[]")
}
