package storetest

import "github.com/lockstep-workflows/lockstep/internal/store"

var suspectTests = []testCase{
	{"suspects are named until the name is removed", suspects},
}

func suspects(k kit) {
	want := func(when, want string) {
		k.t.Helper()
		list, err := k.Suspects(ctx)
		k.check(err)
		k.want(when, list, want)
	}
	want("at first", "[]")
	k.create(store.Instance{ID: "b"})
	for _, id := range []string{"b", "nobody", "Z", "b"} {
		k.check(k.Suspect(ctx, id))
	}
	want("named, one of them twice", "[Z b nobody]")
	k.end("b", 1)
	k.remove("b")
	want("after one was deleted", "[Z b nobody]")
	k.check(k.Unsuspect(ctx, "b"))
	k.check(k.Unsuspect(ctx, "never named"))
	want("after one name was removed", "[Z nobody]")
}
