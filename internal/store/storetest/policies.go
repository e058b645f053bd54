package storetest

import (
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var policyTests = []testCase{
	{"a policy is stored by revision", policies},
	{"a policy outlives versions, and goes with the last one", policyOfVersions},
	{"held instances are left out of the work", held},
	{"held instances are listed by definition", heldOf},
}

func (k kit) policies() string {
	k.t.Helper()
	list, err := k.Policies(ctx)
	k.check(err)
	return fmt.Sprint(list)
}

func policies(k kit) {
	if err := k.SetPolicy(ctx, store.Policy{Definition: "d", Data: "a"}); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("of no definition: %v", err)
	}
	k.must(k.put("1", "x", 0, nil, false))
	k.check(k.SetPolicy(ctx, store.Policy{Definition: "d", Data: "a"}))
	for _, rev := range []int64{0, 2} {
		if err := k.SetPolicy(ctx, store.Policy{Definition: "d", Rev: rev, Data: "b"}); !errors.Is(err, store.ErrConflict) {
			k.t.Errorf("after revision %d: %v", rev, err)
		}
	}
	k.want("stored", k.policies(), "[{d 1 a}]")
	k.check(k.SetPolicy(ctx, store.Policy{Definition: "d", Rev: 1, Data: "\u2028 b"}))
	k.want("changed", k.policies(), "[{d 2 \u2028 b}]")
}

func policyOfVersions(k kit) {
	k.must(k.put("1", "x", 0, nil, false))
	k.check(k.SetPolicy(ctx, store.Policy{Definition: "d", Data: "a"}))
	k.must(k.put("2", "y", 0, nil, false))
	none := func(store.Definition) *store.Schedule { return nil }
	for _, version := range []string{"2", "1"} {
		k.want("with version "+version, k.policies(), "[{d 1 a}]")
		_, err := k.DeleteDefinition(ctx, "d", version, none)
		k.check(err)
	}
	k.want("without versions", k.policies(), "[]")
}

func held(k kit) {
	k.create(store.Instance{ID: "b"})
	k.commit(store.Commit{
		Instance: store.Instance{ID: "a", Wake: 1, HasWake: true, More: true}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 3}}},
		Messages: []store.Message{{To: "a", Input: core.Continue{}}},
	})
	calls := func() int {
		list, err := k.Calls(ctx, "")
		k.check(err)
		return len(list)
	}
	k.want("ready", k.ready(5, 10), "[a]")
	k.change("a", func(r *store.Instance) { r.Held = true })
	k.commit(store.Commit{Instance: k.row("b"), Messages: []store.Message{{To: "a", Input: core.Continue{}}}})
	k.want("held", k.ready(5, 10), "[]")
	k.want("its inbox", len(k.inbox("a")), 2)
	k.want("its calls", calls(), 0)
	if _, ok, _ := k.Next(ctx, 0); ok {
		k.t.Error("it wakes")
	}
	if row := k.row("a"); !row.Held || row.Quarantine != "" || !row.HasWake || row.Wake != 1 || !row.More {
		k.t.Errorf("row %+v", row)
	}
	k.change("a", func(r *store.Instance) { r.Held = false })
	k.want("later", k.ready(5, 10), "[a]")
	k.want("its calls later", calls(), 1)
	if row := k.row("a"); row.Held {
		k.t.Error("it is held still")
	}
}

func heldOf(k kit) {
	k.must(k.put("1", "x", 0, nil, false))
	for _, in := range []store.Instance{
		{ID: "a", Definition: "d"},
		{ID: "q", Definition: "d", Quarantine: "broken"},
		{ID: "b", Definition: "d", Version: "2"},
		{ID: "o", Definition: "e"},
		{ID: "c", Definition: "d"},
		{ID: "free", Definition: "d"},
	} {
		in.Held = in.ID != "q" && in.ID != "free"
		k.create(in)
	}
	of := func(definition string, limit int) string {
		list, err := k.Held(ctx, definition, limit)
		k.check(err)
		return fmt.Sprint(list)
	}
	k.want("of d", of("d", 10), "[a b c]")
	k.want("the first two", of("d", 2), "[a b]")
	k.want("of e", of("e", 10), "[o]")
	k.want("of nothing", of("x", 10), "[]")
	k.change("b", func(r *store.Instance) { r.Held = false })
	k.check(k.DeleteInstance(ctx, "a", store.Deletion{Live: true}))
	k.want("the rest", of("d", 10), "[c]")
}
