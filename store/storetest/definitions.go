package storetest

import (
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
)

var definitionTests = []testCase{
	{"definitions by alias and by digest", definitions},
	{"a definition comes back as it went in", wholeDefinition},
	{"a schedule goes from one time to the next", advance},
	{"due schedules come in order", schedules},
	{"a definition is deleted when nobody needs it", deleteDefinition},
}

func (k kit) put(version, digest string, at core.Time, sched *store.Schedule, move bool) (store.Definition, error) {
	return k.PutDefinition(ctx, store.Definition{ID: "d", Version: version, Digest: digest, Deployed: at}, sched, move)
}

func (k kit) must(d store.Definition, err error) store.Definition {
	k.t.Helper()
	k.check(err)
	return d
}

func definitions(k kit) {
	at := func(digest string, next core.Time) *store.Schedule {
		return &store.Schedule{Definition: "d", Digest: digest, Next: next}
	}
	due := func(now core.Time) int {
		list, err := k.Schedules(ctx, now)
		k.check(err)
		return len(list)
	}
	k.must(k.put("1", "x", 10, at("x", 50), false))
	k.want("deployed again at", int64(k.must(k.put("1", "x", 20, at("x", 60), false)).Deployed), 10)
	k.want("schedules after deploying again", due(50), 1)
	if _, err := k.put("1", "y", 20, nil, false); !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("other content: %v", err)
	}
	if _, err := k.Content(ctx, "y"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("content that was refused: %v", err)
	}
	k.must(k.put("2", "z", 30, at("z", 70), false))
	k.want("the old schedule", due(69), 0)
	if d := k.must(k.Definition(ctx, "d", "")); d.Version != "2" || !d.Current {
		k.t.Errorf("current %+v", d)
	}
	if d := k.must(k.Definition(ctx, "d", "1")); d.Current {
		k.t.Errorf("two are current: %+v", d)
	}
	k.must(k.put("1", "y", 40, nil, true))
	if d := k.must(k.Definition(ctx, "d", "1")); d.Digest != "y" || !d.Current || d.Deployed != 40 {
		k.t.Errorf("moved %+v", d)
	}
	k.want("content that no alias leads to", k.must(k.Content(ctx, "x")).Digest, "x") // instances may still need it
	k.want("schedules", due(100), 0)
	_, err := k.PutDefinition(ctx, store.Definition{ID: "c", Version: "9", Digest: "w"}, nil, false)
	k.check(err)
	list, err := k.ListDefinitions(ctx)
	k.check(err)
	text := ""
	for _, d := range list {
		text += fmt.Sprint(d.ID, d.Version, d.Current, " ")
	}
	k.want("list", text, "c9true d1true d2false ")
	for _, id := range []string{"d", "e"} {
		if _, err := k.Definition(ctx, id, "7"); !errors.Is(err, store.ErrNotFound) {
			k.t.Error(err)
		}
	}
	if _, err := k.Definition(ctx, "e", ""); !errors.Is(err, store.ErrNotFound) {
		k.t.Error(err)
	}
}

func wholeDefinition(k kit) {
	want := store.Definition{
		ID: "d", Version: "1", Name: "n", Dialect: "x", Digest: "abc", Program: []byte{0, 1, 255}, Source: []byte("source"),
		Diagnostics: []byte("[]"), Deployed: 5,
	}
	got := k.must(k.PutDefinition(ctx, want, nil, false))
	content := k.must(k.Content(ctx, "abc"))
	content.Current, want.Current = true, true
	for _, d := range []store.Definition{got, k.must(k.Definition(ctx, "d", "1")), k.must(k.Definition(ctx, "d", "")), content} {
		k.want("definition", fmt.Sprintf("%+v", d), fmt.Sprintf("%+v", want))
	}
}

func advance(k kit) {
	k.must(k.put("1", "x", 0, &store.Schedule{Definition: "d", Digest: "x", Next: 10}, false))
	next := core.Time(20)
	k.check(k.Advance(ctx, "d", 10, &next))
	for _, id := range []string{"d", "nobody"} {
		if err := k.Advance(ctx, id, 10, &next); !errors.Is(err, store.ErrConflict) {
			k.t.Errorf("%s twice: %v", id, err)
		}
	}
	if at, ok, _ := k.Next(ctx, 0); !ok || at != 20 {
		k.t.Errorf("next %v %t", int64(at), ok)
	}
	k.check(k.Advance(ctx, "d", 20, nil))
	if _, ok, _ := k.Next(ctx, 0); ok {
		k.t.Error("an ended schedule has a next time")
	}
}

func schedules(k kit) {
	for id, at := range map[string]core.Time{"a": 20, "b": 10, "c": 20, "d": 30} {
		_, err := k.PutDefinition(ctx, store.Definition{ID: id, Digest: id}, &store.Schedule{Definition: id, Digest: id, Next: at}, false)
		k.check(err)
	}
	list, err := k.Schedules(ctx, 20)
	k.check(err)
	k.want("due", fmt.Sprintf("%+v", list), fmt.Sprintf("%+v", []store.Schedule{{Definition: "b", Digest: "b", Next: 10}, {Definition: "a", Digest: "a", Next: 20}, {Definition: "c", Digest: "c", Next: 20}}))
}

func deleteDefinition(k kit) {
	k.must(k.put("1", "x", 0, nil, false))
	k.must(k.put("2", "x", 0, &store.Schedule{Definition: "d", Digest: "x", Next: 10}, false))
	k.create(store.Instance{ID: "a", Definition: "d", Version: "1", Digest: "x"})
	var used *store.InUseError
	if err := k.DeleteDefinition(ctx, "d", "1"); !errors.As(err, &used) || used.Instances != 1 {
		k.t.Errorf("while an instance runs: %v", err)
	}
	k.end("a", 1)
	if err := k.DeleteDefinition(ctx, "d", "1"); !errors.As(err, &used) {
		k.t.Errorf("while an instance is there: %v", err)
	}
	k.check(k.DeleteInstance(ctx, "a"))
	k.check(k.DeleteDefinition(ctx, "d", "1"))
	if err := k.DeleteDefinition(ctx, "d", "1"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("twice: %v", err)
	}
	k.must(k.Content(ctx, "x")) // version 2 has it
	k.route(func(store.View) store.Routing {
		return store.Routing{Gather: []store.Gathering{{Definition: "d", Digest: "x", Until: 5}}}
	})
	k.check(k.DeleteDefinition(ctx, "d", "2"))
	if _, err := k.Content(ctx, "x"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("content: %v", err)
	}
	if _, err := k.Definition(ctx, "d", ""); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("current: %v", err)
	}
	if at, ok, _ := k.Next(ctx, 0); ok {
		k.t.Errorf("something is due at %d", at)
	}
	k.must(k.put("1", "y", 0, nil, false))
}
