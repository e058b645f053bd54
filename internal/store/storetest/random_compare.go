package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// time lets time pass; sometimes the clock steps back.
func (p *pair) time(t *rapid.T) { p.now += core.Time(rapid.IntRange(-2, 8).Draw(t, "time")) }

// work asks for what there is to do.
func (p *pair) work(t *rapid.T) {
	limit := rapid.IntRange(1, 8).Draw(t, "limit")
	if p.reopened {
		limit = 100
	}
	p.both("ready", func(s store.Store) (string, error) {
		list, err := s.Ready(ctx, p.now, limit)
		if p.reopened {
			slices.Sort(list)
		}
		return fmt.Sprint(list), err
	})
	p.both("next", func(s store.Store) (string, error) {
		at, ok, err := s.Next(ctx, p.now)
		return fmt.Sprint(int64(at), ok), err
	})
	p.both("expired", func(s store.Store) (string, error) {
		list, err := s.Expired(ctx, p.now, limit)
		out := ""
		for _, g := range list {
			out += fmt.Sprint(g.Definition, g.Digest, g.Until, g.Events, " ")
		}
		return out, err
	})
	p.both("schedules", func(s store.Store) (string, error) {
		list, err := s.Schedules(ctx, p.now)
		return fmt.Sprint(list), err
	})
	p.both("held", func(s store.Store) (string, error) {
		list, err := s.Held(ctx, "d", limit)
		return fmt.Sprint(list), err
	})
	p.query(t)
	p.pages(t)
	sent := rapid.IntRange(0, 2).Draw(t, "sent")
	p.both("sent", func(s store.Store) (string, error) {
		list, err := s.Outbound(ctx, sent+1)
		if err != nil || len(list) <= sent {
			return fmt.Sprint(len(list)), err
		}
		return fmt.Sprint(len(list)), s.Sent(ctx, list[sent].Seq)
	})
}

// pages reads pages of events and of records.
func (p *pair) pages(t *rapid.T) {
	q := store.EventQuery{
		Type: pick(t, "type", "", "t", "u"), Untaken: rapid.Bool().Draw(t, "untaken"), Outside: rapid.Bool().Draw(t, "outside"), Newest: rapid.Bool().Draw(t, "newest"),
		Limit: rapid.IntRange(0, 3).Draw(t, "limit"),
	}
	p.both(fmt.Sprintf("%+v", q), func(s store.Store) (out string, err error) {
		for q := q; ; {
			page, err := s.Events(ctx, q)
			if err != nil {
				return "", err
			}
			for _, e := range page.Events {
				out += eventText(e) + "\n"
			}
			if q.After = page.Next; page.Next == 0 {
				return out, nil
			}
		}
	})
	id, after, limit := p.id(t), int64(rapid.IntRange(0, 9).Draw(t, "after")), rapid.IntRange(0, 4).Draw(t, "limit")
	p.both("records of "+id, func(s store.Store) (string, error) {
		list, err := s.Records(ctx, id, after, limit)
		return fmt.Sprintf("%+v", list), err
	})
}

func (p *pair) query(t *rapid.T) {
	q := store.Query{
		Definition: pick(t, "definition", "", "d"), Version: pick(t, "version", "", "", "1"), Parent: pick(t, "parent", "", "", "a"),
		Error: pick(t, "error", "", "", "E"), State: pick(t, "state", "", "", "y", "NEW"), Newest: rapid.Bool().Draw(t, "newest"),
		Status: pick(t, "status", nil, []core.Status{core.Waiting}, []core.Status{core.Failed, core.Running}),
		Labels: pick(t, "labels", nil, nil, []store.Label{{Name: "a", Value: "1"}}, []store.Label{{Name: "b", Any: true}}),
		Jobs:   rapid.Bool().Draw(t, "jobs"),
		Client: pick(t, "client", "", "", "", "c1", "c2"),
		Groups: pick(t, "groups", nil, nil, []string{"OPEN"}, []string{"OPEN", "CLOSED"}, []string{""}),
		Tagged: pick(t, "tagged", nil, nil, []store.Label{{Name: "a", Value: "1"}}, []store.Label{{Name: "a", Value: "1"}, {Name: "a", Value: "x"}, {Name: "b", Any: true}}),
		Name:   pick(t, "name", "", "", "", "1"),
		Key:    pick(t, "key", "", "", "", "1", "k"),
		Text:   pick(t, "text", "", "", "", "1", "a", "x"),
		Root:   chance(t, "root", 3),
		Near:   pick(t, "near", "", "", "", "x", "NEW"),
		Prefix: pick(t, "prefix", "", "", "", "a", "b"),
		Offset: pick(t, "offset", 0, 0, 1, 3),
		Limit:  rapid.IntRange(0, 4).Draw(t, "limit"),

		ByCreated: chance(t, "by created", 3),
	}
	if chance(t, "created", 4) {
		q.CreatedFrom, q.CreatedTo = p.now-core.Time(rapid.IntRange(0, 30).Draw(t, "from")), p.now-core.Time(rapid.IntRange(0, 10).Draw(t, "to"))
	}
	if rapid.Bool().Draw(t, "indexed") {
		q = p.indexed(q)
	}
	hinted := q.Near != "" || q.Prefix != ""
	if hinted { // a store may leave out others, and need not
		q.Offset, q.Limit = 0, 0
	}
	if p.compared%2 == 0 { // else most queries select nothing
		q.Parent, q.Error, q.Status = "", "", nil
	}
	if list, err := p.model.Instances(ctx, store.Query{}); err == nil && len(list) > 0 && chance(t, "after", 3) {
		q.Behind(&list[rapid.IntRange(0, len(list)-1).Draw(t, "of")])
	}
	p.both(fmt.Sprintf("%+v", q), func(s store.Store) (string, error) {
		q := q
		if s == p.real && q.After != 0 {
			for real, model := range p.toModel {
				if model == q.After {
					q.After = real
					break // another instance may have this number in the model
				}
			}
		}
		list, err := s.Instances(ctx, q)
		if err != nil {
			return "", err
		}
		if hinted {
			list = slices.DeleteFunc(list, func(in store.Instance) bool {
				return q.Near != "" && !in.InState(q.Near) || !strings.HasPrefix(in.ID, q.Prefix)
			})
			return fmt.Sprint(idsOf(list)), nil
		}
		n, err := s.Count(ctx, q)
		return fmt.Sprint(idsOf(list), n), err
	})
}

// indexed is the part of a query that indexes answer. It selects what the query does, and if it is the whole, no more.
func (p *pair) indexed(q store.Query) store.Query {
	part, whole := q.Indexed()
	all, _ := p.model.Instances(ctx, store.Query{})
	for i := range all {
		if q.Selects(&all[i]) && !part.Selects(&all[i]) || whole && part.Selects(&all[i]) && !q.Selects(&all[i]) {
			p.Fatalf("%+v has the part %+v (%t), by which %s is not the same", q, part, whole, all[i].ID)
		}
	}
	return part
}

// define deploys, schedules and deletes.
func (p *pair) define(t *rapid.T) {
	id, version, digest := pick(t, "id", "d", "e"), pick(t, "version", "1", "2"), pick(t, "digest", "x", "y", "z")
	next := p.now + core.Time(rapid.IntRange(-2, 9).Draw(t, "next"))
	switch pick(t, "verb", "put", "put", "advance", "delete", "policy") {
	case "put":
		var sched *store.Schedule
		if rapid.Bool().Draw(t, "scheduled") {
			sched = &store.Schedule{Definition: id, Digest: digest, Next: next}
		}
		move := rapid.Bool().Draw(t, "move")
		ds := []store.Deployment{{Definition: store.Definition{ID: id, Version: version, Digest: digest, Deployed: p.now, Program: Program(digest)}, Schedule: sched}}
		if rapid.Bool().Draw(t, "with another") {
			other := ds[0].Definition
			other.ID, other.Digest = "f", pick(t, "its digest", "x", "y", "z")
			other.Program = Program(other.Digest)
			ds = append(ds, store.Deployment{Definition: other})
		}
		p.both("put", func(s store.Store) (string, error) {
			rows, err := s.PutDefinitions(ctx, ds, move)
			return fmt.Sprint(rows), err
		})
	case "advance":
		was := store.Schedule{Definition: id}
		if list, _ := p.model.Schedules(ctx, 1<<40); len(list) > 0 {
			was = list[0]
		}
		fires := pick(t, "fires", "", "f", "g")
		var to *core.Time
		if rapid.Bool().Draw(t, "goes on") {
			to = &next
		}
		p.both("advance", func(s store.Store) (string, error) { return "", s.Advance(ctx, was, to, fires) })
	case "policy":
		rev := rapid.Int64Range(0, 2).Draw(t, "rev")
		p.both("policy", func(s store.Store) (string, error) {
			return "", s.SetPolicy(ctx, store.Policy{Definition: id, Rev: rev, Data: fmt.Sprint("data ", p.now)})
		})
	default:
		p.both("delete definition", func(s store.Store) (string, error) {
			heir, err := s.DeleteDefinition(ctx, id, version, func(d store.Definition) *store.Schedule {
				return &store.Schedule{Definition: d.ID, Digest: d.Digest, Next: next}
			})
			return fmt.Sprint(heir != nil), err
		})
	}
	p.both("policies", func(s store.Store) (string, error) {
		list, err := s.Policies(ctx)
		return fmt.Sprint(list), err
	})
	p.both("definitions", func(s store.Store) (string, error) {
		list, err := s.ListDefinitions(ctx)
		return fmt.Sprint(list), err
	})
}

// forget purges and deletes.
func (p *pair) forget(t *rapid.T) {
	before, limit, id := p.now-core.Time(rapid.IntRange(0, 9).Draw(t, "before")), rapid.IntRange(1, 3).Draw(t, "limit"), p.id(t)
	verb := pick(t, "verb", "events", "instance", "instances", "feed")
	d := store.Deletion{At: p.now, Live: rapid.Bool().Draw(t, "live"), Rev: pick(t, "rev", int64(0), 0, 1, 2), Actor: pick(t, "actor", "", "WFX")}
	p.both("forget "+verb, func(s store.Store) (string, error) {
		switch verb {
		case "events":
			return "", s.Purge(ctx, p.now)
		case "instance":
			return "", s.DeleteInstance(ctx, id, d)
		case "instances":
			n, err := s.PurgeInstances(ctx, before, p.now, limit)
			return fmt.Sprint(n), err
		}
		n, err := s.PurgeFeed(ctx, before, limit)
		return fmt.Sprint(n), err
	})
}

// learn notes that two Seqs are of the same thing.
func (p *pair) learn(model, real int64) {
	if known, ok := p.toModel[real]; ok && known != model {
		p.Fatalf("seq %d of the store was %d of the model, and is %d", real, known, model)
	}
	p.toModel[real] = model
}

// align learns the Seqs of two lists of the same things.
func align[T any](p *pair, list func(store.Store) ([]T, error), seq func(T) int64) {
	m, err := list(p.model)
	if err != nil {
		return
	}
	r, err := list(p.real)
	if err != nil || len(m) != len(r) {
		return // what is compared then tells more
	}
	for i := range m {
		p.learn(seq(m[i]), seq(r[i]))
	}
}

// compare looks at everything.
func (p *pair) compare(*rapid.T) {
	p.both("instances", func(s store.Store) (string, error) { return showRows(s) })
	align(p, func(s store.Store) ([]store.Instance, error) { return s.Instances(ctx, store.Query{}) }, func(in store.Instance) int64 { return in.Seq })
	align(p, allEvents, func(e store.Event) int64 { return e.Seq })
	align(p, func(s store.Store) ([]store.Emit, error) { return s.Emits(ctx, 100) }, func(e store.Emit) int64 { return e.Seq })
	align(p, func(s store.Store) ([]store.Emit, error) { return s.Outbound(ctx, 100) }, func(e store.Emit) int64 { return e.Seq })
	align(p, func(s store.Store) ([]store.Call, error) { return s.Calls(ctx, "") }, func(c store.Call) int64 { return c.Seq })
	rows, err := p.model.Instances(ctx, store.Query{})
	if err != nil {
		p.Fatal(err)
	}
	for _, in := range rows {
		align(p, func(s store.Store) ([]store.Message, error) { return s.Messages(ctx, in.ID) }, func(m store.Message) int64 { return m.Seq })
		p.both("instance "+in.ID, func(s store.Store) (string, error) { return p.showing(s).instance(in.ID) })
	}
	p.both("states", func(s store.Store) (string, error) {
		list, through, err := s.States(ctx, []string{"f", "nobody", "e", "d", "c", "b", "a"})
		return fmt.Sprint(list, through), err
	})
	p.both("lists", func(s store.Store) (string, error) { return p.showing(s).lists() })
	var pairs [][2]int64
	for r, m := range p.toModel {
		pairs = append(pairs, [2]int64{r, m})
	}
	slices.SortFunc(pairs, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	if !slices.IsSortedFunc(pairs, func(a, b [2]int64) int { return cmp.Compare(a[1], b[1]) }) {
		p.Fatalf("the order of Seqs differs: %v", pairs)
	}
	if p.compared++; p.compared%8 != 0 {
		return
	}
	if problems, err := p.real.Check(ctx); err != nil || len(problems) > 0 {
		p.Fatalf("check: %v %v", problems, err)
	}
}

func (p *pair) showing(s store.Store) showing {
	return showing{Store: s, seq: func(seq int64) int64 { return p.seq(s, seq) }}
}
