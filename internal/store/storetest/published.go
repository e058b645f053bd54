package storetest

var publishedTests = []testCase{
	{"the published position only grows", published},
}

func published(k kit) {
	want := func(when string, pos int64, ok bool) {
		k.t.Helper()
		got, known, err := k.Published(ctx)
		k.check(err)
		if got != pos || known != ok {
			k.t.Errorf("%s: %d %t, want %d %t", when, got, known, pos, ok)
		}
	}
	want("at first", 0, false)
	k.check(k.SetPublished(ctx, 0))
	want("an empty feed", 0, true)
	k.check(k.SetPublished(ctx, 7))
	want("later", 7, true)
	k.check(k.SetPublished(ctx, 5)) // a node that is behind
	want("not back", 7, true)
}
