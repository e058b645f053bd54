package storetest

var cursorTests = []testCase{
	{"a cursor only grows, and is its own", cursors},
}

func cursors(k kit) {
	want := func(when, name string, pos int64, ok bool) {
		k.t.Helper()
		got, known, err := k.Cursor(ctx, name)
		k.check(err)
		if got != pos || known != ok {
			k.t.Errorf("%s: %d %t, want %d %t", when, got, known, pos, ok)
		}
	}
	want("at first", "a", 0, false)
	k.check(k.SetCursor(ctx, "a", 0))
	want("an empty feed", "a", 0, true)
	k.check(k.SetCursor(ctx, "a", 7))
	want("later", "a", 7, true)
	k.check(k.SetCursor(ctx, "a", 5)) // a node that is behind
	want("not back", "a", 7, true)
	want("another", "b", 0, false)
	k.check(k.SetCursor(ctx, "b", 3))
	want("another later", "b", 3, true)
	want("not that of another", "a", 7, true)
}
