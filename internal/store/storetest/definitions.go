package storetest

import (
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var definitionTests = []testCase{
	{"definitions by alias and by digest", definitions},
	{"definitions are deployed all or none", together},
	{"a definition comes back as it went in", wholeDefinition},
	{"a schedule goes from one time to the next", advance},
	{"due schedules come in order", schedules},
	{"a definition is deleted when nobody needs it", deleteDefinition},
	{"when the current version is deleted, the last of the others is current", inherit},
	{"nothing refers to content that is not there", noContent},
	{"gatherings end with the version they are for", superseded},
}

func (k kit) put(version, digest string, at core.Time, sched *store.Schedule, move bool) (store.Definition, error) {
	return store.PutDefinition(ctx, k, store.Definition{ID: "d", Version: version, Digest: digest, Deployed: at}, sched, move)
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
	_, err := store.PutDefinition(ctx, k, store.Definition{ID: "c", Version: "9", Digest: "w"}, nil, false)
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

// together: several definitions are stored in one transaction. Where one of them has other content under its version,
// none is, and nothing else changes either.
func together(k kit) {
	deployment := func(id, version, digest string) store.Deployment {
		return store.Deployment{
			Definition: store.Definition{ID: id, Version: version, Digest: digest, Deployed: 10, Program: Program(digest), Bundle: "b" + version},
			Schedule:   &store.Schedule{Definition: id, Digest: digest, Next: 50},
		}
	}
	shown := func() string {
		list, err := k.ListDefinitions(ctx)
		k.check(err)
		text := ""
		for _, d := range list {
			text += fmt.Sprint(d.ID, "@", d.Version, " ", d.Digest, " ", d.Bundle, " ", d.Current, ", ")
		}
		due, err := k.Schedules(ctx, 100)
		k.check(err)
		for _, s := range due {
			text += s.Definition + " " + s.Digest + ", "
		}
		return text
	}
	rows, err := k.PutDefinitions(ctx, []store.Deployment{deployment("a", "1", "a1"), deployment("b", "1", "b1"), deployment("c", "1", "c1")}, false)
	k.check(err)
	for i, id := range []string{"a", "b", "c"} {
		k.want("definition", rows[i].ID+rows[i].Bundle, id+"b1")
	}
	first := "a@1 a1 b1 true, b@1 b1 b1 true, c@1 c1 b1 true, a a1, b b1, c c1, "
	k.want("the first", shown(), first)

	_, err = k.PutDefinitions(ctx, []store.Deployment{deployment("a", "2", "a2"), deployment("b", "1", "other"), deployment("d", "1", "d1")}, false)
	conflict, ok := errors.AsType[*store.ContentError](err)
	if !ok || conflict.ID != "b" || conflict.Version != "1" || !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("other content: %v", err)
	}
	k.want("after a refusal", shown(), first)
	for _, digest := range []string{"a2", "other", "d1"} {
		if _, err := k.Content(ctx, digest); !errors.Is(err, store.ErrNotFound) {
			k.t.Errorf("content %s that was refused: %v", digest, err)
		}
	}

	_, err = k.PutDefinitions(ctx, []store.Deployment{deployment("a", "2", "a2"), deployment("b", "2", "b2")}, false)
	k.check(err)
	k.want("the second", shown(), "a@1 a1 b1 false, a@2 a2 b2 true, b@1 b1 b1 false, b@2 b2 b2 true, c@1 c1 b1 true, a a2, b b2, c c1, ")
	_, err = k.PutDefinitions(ctx, []store.Deployment{deployment("a", "1", "a1"), deployment("b", "1", "b1")}, false)
	k.check(err)
	k.want("back to the first", shown(), "a@1 a1 b1 true, a@2 a2 b2 false, b@1 b1 b1 true, b@2 b2 b2 false, c@1 c1 b1 true, a a1, b b1, c c1, ")
}

func wholeDefinition(k kit) {
	want := store.Definition{
		ID: "d", Version: "1", Name: "n", Dialect: "x", Digest: "abc", Program: []byte{0, 1, 255}, Source: []byte("source"),
		Diagnostics: []byte("[]"), Deployed: 5, Path: "flows/d.yaml", Bundle: "def",
	}
	got := k.must(store.PutDefinition(ctx, k, want, nil, false))
	content := k.must(k.Content(ctx, "abc"))
	content.Current, want.Current = true, true
	for _, d := range []store.Definition{got, k.must(k.Definition(ctx, "d", "1")), k.must(k.Definition(ctx, "d", "")), content} {
		k.want("definition", fmt.Sprintf("%+v", d), fmt.Sprintf("%+v", want))
	}
}

func advance(k kit) {
	k.must(k.put("1", "x", 0, &store.Schedule{Definition: "d", Digest: "x", Next: 10}, false))
	next := core.Time(20)
	first := store.Schedule{Definition: "d", Digest: "x", Next: 10}
	k.check(k.Advance(ctx, first, &next, "one"))
	second := store.Schedule{Definition: "d", Digest: "x", Next: 20, Fires: "one"}
	nobody, otherFires, otherContent := second, second, second
	nobody.Definition, otherFires.Fires, otherContent.Digest = "nobody", "two", "y"
	for _, was := range []store.Schedule{first, nobody, otherFires, otherContent} {
		if err := k.Advance(ctx, was, &next, "no"); !errors.Is(err, store.ErrConflict) {
			k.t.Errorf("%+v twice: %v", was, err)
		}
	}
	k.want("list", fmt.Sprint(k.mustSchedules()), fmt.Sprint([]store.Schedule{second}))
	if at, ok, _ := k.Next(ctx, 0); !ok || at != 20 {
		k.t.Errorf("next %v %t", int64(at), ok)
	}
	k.must(k.put("2", "z", 0, &store.Schedule{Definition: "d", Digest: "z", Next: 30}, false))
	k.want("a new version", fmt.Sprint(k.mustSchedules()), fmt.Sprint([]store.Schedule{{Definition: "d", Digest: "z", Next: 30, Fires: "one"}}))
	k.check(k.Advance(ctx, store.Schedule{Definition: "d", Digest: "z", Next: 30, Fires: "one"}, nil, ""))
	if _, ok, _ := k.Next(ctx, 0); ok {
		k.t.Error("an ended schedule has a next time")
	}
}

func (k kit) mustSchedules() []store.Schedule {
	k.t.Helper()
	list, err := k.ListSchedules(ctx)
	k.check(err)
	return list
}

func schedules(k kit) {
	for id, at := range map[string]core.Time{"a": 20, "b": 10, "c": 20, "d": 30} {
		_, err := store.PutDefinition(ctx, k, store.Definition{ID: id, Digest: id}, &store.Schedule{Definition: id, Digest: id, Next: at}, false)
		k.check(err)
	}
	list, err := k.Schedules(ctx, 20)
	k.check(err)
	k.want("due", fmt.Sprintf("%+v", list), fmt.Sprintf("%+v", []store.Schedule{{Definition: "b", Digest: "b", Next: 10}, {Definition: "a", Digest: "a", Next: 20}, {Definition: "c", Digest: "c", Next: 20}}))
}

// undefine deletes a version that is not the current one, or the last.
func (k kit) undefine(version string) error {
	k.t.Helper()
	heir, err := k.DeleteDefinition(ctx, "d", version, func(store.Definition) *store.Schedule { return nil })
	if heir != nil {
		k.t.Errorf("version %s is current now", heir.Version)
	}
	return err
}

func deleteDefinition(k kit) {
	k.must(k.put("1", "x", 0, nil, false))
	k.must(k.put("2", "x", 0, &store.Schedule{Definition: "d", Digest: "x", Next: 10}, false))
	k.create(store.Instance{ID: "a", Definition: "d", Version: "1", Digest: "x"})
	var used *store.InUseError
	if err := k.undefine("1"); !errors.As(err, &used) || used.Instances != 1 {
		k.t.Errorf("while an instance runs: %v", err)
	}
	k.end("a", 1)
	if err := k.undefine("1"); !errors.As(err, &used) {
		k.t.Errorf("while an instance is there: %v", err)
	}
	k.remove("a")
	k.check(k.undefine("1"))
	if err := k.undefine("1"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("twice: %v", err)
	}
	k.must(k.Content(ctx, "x")) // version 2 has it
	k.route(func(store.View) store.Routing {
		return store.Routing{Gather: []store.Gathering{{Definition: "d", Digest: "x", Until: 5}}}
	})
	k.check(k.undefine("2"))
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

func inherit(k kit) {
	k.must(k.put("1", "x", 0, nil, false))
	k.must(k.put("2", "y", 0, nil, false))
	k.must(k.put("3", "z", 0, &store.Schedule{Definition: "d", Digest: "z", Next: 10}, false))
	k.must(k.put("1", "x", 0, nil, false)) // current again, but not deployed later
	remove := func(version string) string {
		heir, err := k.DeleteDefinition(ctx, "d", version, func(d store.Definition) *store.Schedule {
			return &store.Schedule{Definition: d.ID, Digest: d.Digest, Next: 20}
		})
		k.check(err)
		if heir == nil {
			return ""
		}
		if now := k.must(k.Definition(ctx, "d", "")); now.Version != heir.Version || !now.Current || !heir.Current {
			k.t.Errorf("heir %+v, current %+v", heir, now)
		}
		return heir.Version
	}
	k.want("heir of 1", remove("1"), "3")
	list, err := k.Schedules(ctx, 50)
	k.check(err)
	k.want("its schedule", fmt.Sprint(list), fmt.Sprint([]store.Schedule{{Definition: "d", Digest: "z", Next: 20}}))
	k.want("heir of one that is not current", remove("2"), "")
	k.want("heir of the last", remove("3"), "")
	list, err = k.Schedules(ctx, 50)
	k.check(err)
	k.want("schedules", len(list), 0)
}

func noContent(k kit) {
	row := store.Instance{ID: "a", Definition: "d", Version: "1", Digest: "x", Status: core.Waiting}
	gone := func(what string, err error) {
		k.t.Helper()
		var none *store.NoContentError
		if !errors.As(err, &none) || none.Definition != "d" || none.Digest != "x" {
			k.t.Errorf("%s: %v", what, err)
		}
	}
	start := store.Routing{Start: []store.NewInstance{{Instance: row}}}
	try := func(r store.Routing) error {
		return k.Route(ctx, func(store.View) (store.Routing, error) { return r, nil })
	}
	all := func() []error {
		k.t.Helper()
		e := ev("1")
		_, ingested := k.Ingest(ctx, store.Event{Event: e, Until: 100}, 0, func(store.Event, store.View) (store.Routing, error) { return start, nil })
		return []error{
			k.Commit(ctx, store.Commit{Instance: row}), try(start), ingested,
			try(store.Routing{Gather: []store.Gathering{{Definition: "d", Digest: "x", Until: 5}}}),
			k.Commit(ctx, store.Commit{Instance: k.row("p"), Children: start.Start, Records: []core.Record{{}}}),
		}
	}
	k.create(store.Instance{ID: "p"})
	before := func() string {
		list, err := k.Instances(ctx, store.Query{})
		k.check(err)
		return fmt.Sprint(idsOf(list), k.row("p").Rev, len(k.events()))
	}
	for range 2 {
		for i, err := range all() {
			gone(fmt.Sprint("case ", i), err)
		}
		k.want("nothing happened", before(), "[p] 1 0")
		k.must(k.put("1", "x", 0, nil, false))
		k.check(k.Commit(ctx, store.Commit{Instance: row}))
		k.end("a", 1)
		k.remove("a")
		k.check(k.undefine("1"))
	}
}

func superseded(k kit) {
	over := func() string {
		list, err := k.Expired(ctx, 1, 10)
		k.check(err)
		out := ""
		for _, g := range list {
			out += fmt.Sprint(g.Digest, int64(g.Until), " ")
		}
		return out
	}
	gather := func(digest string) {
		k.route(func(store.View) store.Routing {
			return store.Routing{Gather: []store.Gathering{{Definition: "d", Digest: digest, Until: 50}}}
		})
	}
	k.must(k.put("1", "x", 0, nil, false))
	gather("x")
	k.must(k.put("1", "x", 0, nil, false))
	k.want("after the same again", over(), "")
	k.must(k.put("2", "y", 0, nil, false))
	k.want("after another version", over(), "x0 ")
	gather("x")
	k.want("after one that came late", over(), "x0 x0 ")
	gather("y")
	k.want("after one of the current version", over(), "x0 x0 ")
	_, err := k.DeleteDefinition(ctx, "d", "2", func(store.Definition) *store.Schedule { return nil })
	k.check(err)
	k.want("after its deletion", over(), "x0 x0 y0 ")
	e := k.ingest(ev("1"), nil)
	k.route(func(store.View) store.Routing { return store.Routing{Again: []int64{e.Seq, 999_999}} })
	k.want("again", k.again(), fmt.Sprint([]int64{e.Seq}))
}
