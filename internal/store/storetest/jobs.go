package storetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var jobTests = []testCase{
	{"jobs by where they are", jobsByPlace},
	{"jobs of many workflows", jobsOfMany},
	{"a job is found where it went", jobsMove},
	{"a job that moves is in every list", jobsListed},
	{"jobs are counted by state", jobStats},
	{"a job is deleted while it lives", deleteLive},
	{"a deletion is refused at another revision", deleteAtRevision},
	{"the feed tells of deletions", feedOfDeletions},
	{"clients are no labels", clients},
}

// tags are labels as jobs have them.
func tags(list ...string) expr.Value {
	var items []expr.Value
	for _, tag := range list {
		items = append(items, expr.String(tag))
	}
	return expr.Object(expr.Member{Key: "tags", Value: expr.Array(items...)})
}

func tagged(list ...string) (out []store.Label) {
	for _, tag := range list {
		out = append(out, store.Label{Name: "tags", Value: tag})
	}
	return out
}

// groupOf are the groups of the states that tests use.
var groupOf = map[string]string{"NEW": "OPEN", "WORK": "OPEN", "DONE": "CLOSED", "FAILED": "CLOSED", "ODD": ""}

func job(client, state string) store.Job {
	return store.Job{Client: client, State: state, Group: groupOf[state]}
}

// agree compares what a store selects with what the query says of every instance.
func (k kit) agree(q store.Query) {
	k.t.Helper()
	all, err := k.Instances(ctx, store.Query{Newest: q.Newest})
	k.check(err)
	whole := slices.DeleteFunc(slices.Clone(all), func(in store.Instance) bool { return !q.Selects(&in) })
	want := slices.DeleteFunc(slices.Clone(whole), func(in store.Instance) bool {
		return q.After != 0 && (in.Seq == q.After || (in.Seq < q.After) != q.Newest)
	})
	want = want[min(q.Offset, len(want)):]
	if q.Limit > 0 {
		want = want[:min(q.Limit, len(want))]
	}
	list, err := k.Instances(ctx, q)
	k.check(err)
	k.want(fmt.Sprintf("%+v", q), idsOf(list), idsOf(want))
	q.Limit = 0
	n, err := k.Count(ctx, q)
	k.check(err)
	k.want(fmt.Sprintf("count of %+v", q), n, len(whole))
}

func jobsByPlace(k kit) {
	k.content("x")
	states := []string{"NEW", "WORK", "DONE", "ODD"}
	for i := range 24 {
		in := store.Instance{
			ID: fmt.Sprint(i), Definition: fmt.Sprint("w", i%2), Version: "1", Digest: "x", Status: core.Waiting, Created: core.Time(i),
			Labels: tags([]string{"a", "b", "c"}[i%3], []string{"a", "d"}[i/12]), Job: job(fmt.Sprint("c", i%5), states[i%4]),
		}
		switch {
		case i == 7: // no job, but has the label
			in.Job = store.Job{}
		case i == 8: // not yet
			in.Job = store.Job{Client: "c3"}
		case i == 9:
			in.Labels = expr.EmptyObject
		case in.Job.State == "DONE": // over: it is in no state, but in its last as a job
			in.Status, in.Ended = core.Completed, 1
		default:
			in.Active = []string{in.Job.State}
		}
		k.commit(store.Commit{Instance: in})
	}
	for _, q := range []store.Query{
		{Jobs: true},
		{Jobs: true, Definition: "w1"},
		{Jobs: true, State: "DONE"},
		{Jobs: true, Groups: []string{"OPEN"}},
		{Jobs: true, Groups: []string{"OPEN", "CLOSED"}, Definition: "w0"},
		{Jobs: true, Groups: []string{""}},
		{Jobs: true, Client: "c3"},
		{Jobs: true, Client: "c3", State: "NEW"},
		{Jobs: true, Client: "c3", Groups: []string{"OPEN"}, Tagged: tagged("a", "b")},
		{Jobs: true, Tagged: tagged("a")},
		{Jobs: true, Tagged: tagged("a", "b")},
		{Jobs: true, Tagged: tagged("a", "a")},
		{Jobs: true, Groups: []string{"OPEN"}, Tagged: tagged("a", "d")},
		{Jobs: true, Labels: tagged("a"), Tagged: tagged("b", "d")},
		{Jobs: true, Labels: tagged("a", "d")},
		{Jobs: true, Labels: tagged("a"), State: "NEW", Definition: "w0", Version: "1"},
		{Jobs: true, Tagged: []store.Label{{Name: "tags", Any: true}}},
		{Jobs: true, Tagged: tagged("z")},
		{Jobs: true, Status: []core.Status{core.Completed}},
		{Jobs: true, Status: []core.Status{core.Waiting}, State: "NEW"},
		{Jobs: true, CreatedFrom: 5, CreatedTo: 9, Groups: []string{"OPEN"}},
		{State: "DONE"},
		{State: "NEW"},
		{Client: "c3"},
		{Client: "nobody"},
		{Groups: []string{"OPEN"}},
		{Labels: tagged("a")},
		{Tagged: tagged("a", "b", "c")},
		{Tagged: tagged("d"), Definition: "w1"},
	} {
		for _, newest := range []bool{false, true} {
			q.Newest = newest
			k.agree(q)
			q.Limit = 3
			k.agree(q)
			for _, offset := range []int{1, 3, 5, 100, int(^uint(0) >> 1)} {
				q.Offset = offset
				k.agree(q)
			}
			q.After, q.Offset = k.row("11").Seq, 1
			k.agree(q)
			q.After, q.Offset, q.Limit = 0, 0, 0
		}
	}
}

// jobsOfMany: where there are many workflows, lists by client and tag still have all.
func jobsOfMany(k kit) {
	for i := range 60 {
		k.create(store.Instance{
			ID: fmt.Sprint(i), Definition: fmt.Sprint("w", i%20), Labels: tags(fmt.Sprint("t", i%2)), Job: job(fmt.Sprint("c", i%3), []string{"NEW", "DONE"}[i/30]),
		})
	}
	for _, q := range []store.Query{
		{Jobs: true, Client: "c1"},
		{Jobs: true, Client: "c1", Groups: []string{"CLOSED"}, Newest: true},
		{Jobs: true, Tagged: tagged("t0", "t1"), Limit: 7, Offset: 9},
		{Jobs: true, Tagged: tagged("t1"), Groups: []string{"OPEN"}, Limit: 5},
		{Labels: tagged("t0"), Newest: true},
		{Jobs: true, Newest: true, Limit: 11},
	} {
		k.agree(q)
	}
}

func jobsMove(k kit) {
	k.create(store.Instance{ID: "a", Definition: "w", Labels: tags("x", "y"), Job: job("c", "NEW")})
	at := func() (out []string) {
		for _, state := range []string{"NEW", "WORK", "DONE"} {
			for _, q := range []store.Query{
				{Jobs: true, State: state},
				{Jobs: true, State: state, Client: "c"},
				{Jobs: true, State: state, Tagged: tagged("x")},
				{Jobs: true, State: state, Tagged: tagged("z")},
			} {
				list, err := k.Instances(ctx, q)
				k.check(err)
				n, err := k.Count(ctx, q)
				k.check(err)
				k.want("count", n, len(list))
				out = append(out, fmt.Sprint(n))
			}
		}
		return out
	}
	k.want("new", at(), "[1 1 1 0 0 0 0 0 0 0 0 0]")
	k.change("a", func(r *store.Instance) { r.Job = job("c", "WORK") })
	k.want("at work", at(), "[0 0 0 0 1 1 1 0 0 0 0 0]")
	k.change("a", func(r *store.Instance) { r.Updated++ })
	k.want("still", at(), "[0 0 0 0 1 1 1 0 0 0 0 0]")
	k.change("a", func(r *store.Instance) { r.Labels = tags("y", "z") })
	k.want("with other tags", at(), "[0 0 0 0 1 1 0 1 0 0 0 0]")
	k.change("a", func(r *store.Instance) {
		r.Labels, r.Job, r.Status, r.Ended = tags("x"), job("c", "DONE"), core.Completed, 1
	})
	k.want("done, with others again", at(), "[0 0 0 0 0 0 0 0 1 1 1 0]")
	k.remove("a")
	k.want("deleted", at(), "[0 0 0 0 0 0 0 0 0 0 0 0]")
	problems, err := k.Check(ctx)
	k.check(err)
	k.want("problems", problems, "[]")
}

// jobsListed: while a job goes to and fro, no list leaves it out or has it twice.
func jobsListed(k kit) {
	k.create(store.Instance{ID: "a", Definition: "w", Labels: tags("x", "y"), Job: job("c", "NEW")})
	k.listedAlways(func(row *store.Instance, i int) {
		row.Job = job("c", []string{"WORK", fmt.Sprint("S", i), "NEW"}[i%3]) // new states too
	}, store.Query{Jobs: true}, store.Query{Jobs: true, Client: "c"}, store.Query{Jobs: true, Tagged: tagged("x", "y")})
}

func jobStats(k kit) {
	show := func() (out string) {
		list, err := k.JobStats(ctx)
		k.check(err)
		for _, s := range list {
			out += fmt.Sprint(s.Definition, " ", s.State, " ", s.Group, " ", s.Count, "; ")
		}
		return out
	}
	k.create(store.Instance{ID: "no job", Definition: "d"})
	k.want("nothing", show(), "")
	for i := range 5 {
		k.create(store.Instance{ID: fmt.Sprint(i), Definition: fmt.Sprint("w", i/3), Version: "1", Digest: fmt.Sprint(i % 2), Job: job("c", "NEW")})
	}
	k.want("all new", show(), "w0 NEW OPEN 3; w1 NEW OPEN 2; ")
	k.change("0", func(r *store.Instance) { r.Job = job("c", "DONE") })
	k.change("3", func(r *store.Instance) { r.Job = job("c", "ODD") })
	k.change("4", func(r *store.Instance) { r.Updated++ })
	k.want("two moved", show(), "w0 DONE CLOSED 1; w0 NEW OPEN 2; w1 NEW OPEN 1; w1 ODD  1; ")
	k.end("0", 1)
	k.remove("0")
	k.check(k.DeleteInstance(ctx, "4", store.Deletion{Live: true}))
	k.want("two deleted", show(), "w0 NEW OPEN 2; w1 ODD  1; ")
	row := store.Instance{ID: "5", Definition: "w1", Status: core.Waiting, Job: job("c", "WORK")}
	k.commit(store.Commit{Instance: k.row("1"), Children: []store.NewInstance{{Instance: row}}})
	k.want("a child", show(), "w0 NEW OPEN 2; w1 ODD  1; w1 WORK OPEN 1; ")
}

// deleteLive: nothing is left of an instance that is deleted while it waits for all there is.
func deleteLive(k kit) {
	k.commit(store.Commit{
		Instance: store.Instance{
			ID: "a", Definition: "d", Status: core.Waiting, HasWake: true, Wake: 5, More: true, Labels: tags("x"), Job: job("c", "NEW"),
			Keys: []core.Key{{Name: "k", Value: "v", Fixed: true}},
		},
		Pages: []core.Page{{Data: []byte("x")}}, Records: []core.Record{{Text: "r"}}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}},
		Subscribe: []store.Subscription{on(2), on(3, "k", "v")}, Messages: []store.Message{{To: "a", Input: core.Continue{}}},
	})
	e := k.ingest(ev("1", "k", "v"), give)
	k.want("its inbox", len(k.inbox("a")), 3)
	if err := k.DeleteInstance(ctx, "a", store.Deletion{}); !errors.Is(err, store.ErrLive) {
		k.t.Errorf("without a word: %v", err)
	}
	k.check(k.DeleteInstance(ctx, "a", store.Deletion{At: 9, Live: true}))
	if _, err := k.Instance(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("it is there: %v", err)
	}
	k.want("ready", k.ready(100, 10), "[]")
	_, ok, err := k.Next(ctx, 0)
	k.check(err)
	k.want("wakes", ok, false)
	k.want("calls", k.calls(""), "[]")
	k.want("unchecked", k.unchecked(), "[]")
	k.want("its event is routed again", k.again(), []int64{e.Seq})
	k.look(func(v store.View) {
		k.want("subscriptions", len(v.Subscriptions(ev("2", "k", "v"))), 0)
		_, ok := v.Owner("d", []core.Key{{Name: "k", Value: "v"}})
		k.want("an owner", ok, false)
	})
	stats, err := k.Stats(ctx)
	k.check(err)
	k.want("stats", stats, "[]")
	problems, err := k.Check(ctx)
	k.check(err)
	k.want("problems", problems, "[]")
	k.create(store.Instance{ID: "a", Definition: "d"})
	k.want("anew, to be woken", k.ready(100, 10), "[]")
	k.want("anew, its calls", k.calls("a"), "[]")
}

func deleteAtRevision(k kit) {
	k.create(store.Instance{ID: "a"})
	k.end("a", 1)
	for _, rev := range []int64{1, 3} {
		if err := k.DeleteInstance(ctx, "a", store.Deletion{Rev: rev}); !errors.Is(err, store.ErrConflict) {
			k.t.Errorf("at revision %d: %v", rev, err)
		}
	}
	k.want("it is there", k.row("a").Rev, 2)
	k.check(k.DeleteInstance(ctx, "a", store.Deletion{Rev: 2}))
	k.create(store.Instance{ID: "b"})
	if err := k.DeleteInstance(ctx, "b", store.Deletion{Rev: 7, Live: true}); !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("a live one at another revision: %v", err)
	}
}

func feedOfDeletions(k kit) {
	for i, id := range []string{"a", "b", "c"} {
		k.commit(store.Commit{
			Instance: store.Instance{ID: id, Definition: "w", Status: core.Waiting, Updated: core.Time(i), Job: job("c"+id, "NEW")},
			Records:  []core.Record{{Type: core.RecStarted}},
		})
	}
	k.end("b", 5)
	k.check(k.DeleteInstance(ctx, "a", store.Deletion{At: 7, Live: true, Actor: "WFX"}))
	n, err := k.PurgeInstances(ctx, 6, 8, 10)
	k.check(err)
	k.want("purged", n, 1)
	show := func() (out string) {
		f, err := k.Feed(ctx, 0, 100)
		k.check(err)
		last := int64(0)
		for _, item := range f.Items {
			out += fmt.Sprint(item.Instance, item.Definition, item.Client, " ", item.Status, " ", int64(item.At))
			for _, r := range item.Records {
				out += fmt.Sprint(" ", r.Type, r.Name, int64(r.Time))
			}
			out += "; "
			if item.Pos <= last {
				k.t.Errorf("position %d after %d", item.Pos, last)
			}
			last = item.Pos
		}
		return out
	}
	before := "awca waiting 0 started0; bwcb waiting 1 started0; cwcc waiting 2 started0; bwcb completed 5; awca waiting 7 deletedWFX7; bwcb completed 8 deleted8; "
	k.want("feed", show(), before)
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Definition: "w", Status: core.Waiting, Updated: 10, Job: job("other", "NEW")}})
	k.want("of another with the id", show(), before+"awother waiting 10; ")
	list, err := k.Records(ctx, "a", 0, 0)
	k.check(err)
	k.want("its records", len(list), 0)
	n, err = k.PurgeFeed(ctx, 8, 100)
	k.check(err)
	k.want("purged from the feed", n, 5)
	k.want("what is left", show(), "bwcb completed 8 deleted8; awother waiting 10; ")
	problems, err := k.Check(ctx)
	k.check(err)
	k.want("problems", problems, "[]")
}

// clients: a client is found by its name alone, whatever the labels say.
func clients(k kit) {
	label := func(name, value string) expr.Value {
		return expr.Object(expr.Member{Key: name, Value: expr.String(value)})
	}
	k.create(store.Instance{ID: "a", Labels: label("", "c"), Job: job("d", "NEW")})
	k.create(store.Instance{ID: "b", Labels: label("", "@c"), Job: job("e", "NEW")})
	k.create(store.Instance{ID: "c", Labels: label("client", "c"), Job: job("c", "NEW")})
	by := func(q store.Query) []string {
		list, err := k.Instances(ctx, q)
		k.check(err)
		return idsOf(list)
	}
	k.want("client c", by(store.Query{Jobs: true, Client: "c"}), "[c]")
	k.want("client d", by(store.Query{Client: "d"}), "[a]")
	k.want("the empty label", by(store.Query{Labels: []store.Label{{Any: true}}}), "[a b]")
	k.want("its value", by(store.Query{Jobs: true, Labels: []store.Label{{Value: "@c"}}}), "[b]")
}
