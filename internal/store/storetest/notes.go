package storetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var noteTests = []testCase{
	{"notes are kept by kind and key until they expire", notes},
	{"names of notes and entries are text", noteTexts},
	{"the audit log grows, and forgets what is old", audit},
	{"entries of many writers are all there", auditWriters},
}

func notes(k kit) {
	put := func(kind, key, value string, until, now core.Time) {
		k.t.Helper()
		k.check(k.PutNote(ctx, store.Note{Kind: kind, Key: key, Value: value, Until: until}, now))
	}
	want := func(when, kind, after string, limit int, want string) {
		k.t.Helper()
		list, err := k.Notes(ctx, kind, after, limit)
		k.check(err)
		var got []string
		for _, n := range list {
			got = append(got, fmt.Sprintf("%s=%s@%d", n.Key, n.Value, n.Until))
		}
		k.want(when, got, want)
	}
	want("at first", "a", "", 10, "[]")
	put("a", "y", "1", 0, 0)
	put("a", "X", "2", 50, 0)
	put("b", "y", "3", 0, 0)
	put("a", "z", "", 60, 0)
	want("by key", "a", "", 10, "[X=2@50 y=1@0 z=@60]")
	want("a part", "a", "X", 1, "[y=1@0]")
	want("another kind", "b", "", 10, "[y=3@0]")
	put("a", "y", "4", 70, 0)
	n, err := k.Note(ctx, "a", "y")
	if err != nil || n.Value != "4" || n.Until != 70 {
		k.t.Errorf("replaced: %+v, %v", n, err)
	}
	put("c", "d", "", 0, 60)
	want("after one expired", "a", "", 10, "[y=4@70 z=@60]")
	for _, had := range []bool{true, false} {
		if got, err := k.DeleteNote(ctx, "a", "y"); err != nil || got != had {
			k.t.Errorf("delete: %v, %v", got, err)
		}
	}
	if _, err := k.Note(ctx, "a", "y"); !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("a deleted note: %v", err)
	}
	for i := range 3 * store.Forgotten {
		put("many", fmt.Sprintf("%03d", i), "", core.Time(100+i), 0)
	}
	put("c", "d", "", 0, 1000)
	if list, err := k.Notes(ctx, "many", "", 100); err != nil || len(list) >= 3*store.Forgotten {
		k.t.Errorf("%d are left, %v", len(list), err)
	}
	for range 4 {
		put("c", "d", "", 0, 1000)
	}
	want("after several writes", "many", "", 100, "[]")
}

func noteTexts(k kit) {
	for _, bad := range []string{"\x00", "\xff"} {
		for _, n := range []store.Note{{Kind: bad, Key: "k"}, {Kind: "k", Key: bad}} {
			if err := k.PutNote(ctx, n, 0); !errors.Is(err, store.ErrText) {
				k.t.Errorf("%+v: %v", n, err)
			}
		}
		for _, e := range []store.Entry{{ID: bad}, {ID: "1", Who: bad}, {ID: "1", Operation: bad}, {ID: "1", Target: bad}} {
			if err := k.AppendEntry(ctx, e, 0); !errors.Is(err, store.ErrText) {
				k.t.Errorf("%+v: %v", e, err)
			}
		}
		if _, err := k.Note(ctx, "k", bad); !errors.Is(err, store.ErrNotFound) {
			k.t.Errorf("read %q: %v", bad, err)
		}
		if had, err := k.DeleteNote(ctx, bad, "k"); had || err != nil {
			k.t.Errorf("delete %q: %v, %v", bad, had, err)
		}
		if list, err := k.Notes(ctx, bad, "", 1); len(list) > 0 || err != nil {
			k.t.Errorf("list %q: %v, %v", bad, list, err)
		}
		if list, err := k.Entries(ctx, store.EntryQuery{Who: bad, Limit: 1}); len(list) > 0 || err != nil {
			k.t.Errorf("entries of %q: %v, %v", bad, list, err)
		}
	}
}

func audit(k kit) {
	add := func(id, who, operation, target string, at, oldest core.Time) {
		k.t.Helper()
		k.check(k.AppendEntry(ctx, store.Entry{ID: id, At: at, Who: who, Operation: operation, Target: target, Detail: id}, oldest))
	}
	want := func(when string, q store.EntryQuery, want string) []store.Entry {
		k.t.Helper()
		list, err := k.Entries(ctx, q)
		k.check(err)
		var got []string
		for _, e := range list {
			got = append(got, fmt.Sprintf("%s/%s/%s/%s@%d", e.Detail, e.Who, e.Operation, e.Target, e.At))
		}
		k.want(when, got, want)
		return list
	}
	want("at first", store.EntryQuery{Limit: 10}, "[]")
	add("1", "ada", "deploy", "d", 10, 0)
	add("2", "bob", "cancel", "i", 20, 0)
	add("3", "ada", "cancel", "i", 15, 0) // of a node whose clock is behind
	add("2", "bob", "cancel", "i", 21, 0) // again, after a lost answer
	list := want("newest first", store.EntryQuery{Limit: 10}, "[3/ada/cancel/i@15 2/bob/cancel/i@20 1/ada/deploy/d@10]")
	want("a part", store.EntryQuery{Limit: 1}, "[3/ada/cancel/i@15]")
	want("the next", store.EntryQuery{Limit: 10, Before: list[0].Seq}, "[2/bob/cancel/i@20 1/ada/deploy/d@10]")
	want("of one", store.EntryQuery{Limit: 10, Who: "ada"}, "[3/ada/cancel/i@15 1/ada/deploy/d@10]")
	want("of one operation", store.EntryQuery{Limit: 10, Operation: "cancel", Target: "i", Who: "bob"}, "[2/bob/cancel/i@20]")
	add("4", "ada", "deploy", "d", 40, 16)
	want("without the old", store.EntryQuery{Limit: 10}, "[4/ada/deploy/d@40 2/bob/cancel/i@20]")
}

func auditWriters(k kit) {
	const writers, each = 4, 8
	var done sync.WaitGroup
	for w := range writers {
		done.Go(func() {
			for i := range each {
				if err := k.AppendEntry(ctx, store.Entry{ID: fmt.Sprint(w, "/", i), At: 100, Who: "w"}, 50); err != nil {
					k.t.Error(err)
				}
			}
		})
	}
	done.Wait()
	list, err := k.Entries(ctx, store.EntryQuery{Limit: 100})
	k.check(err)
	if len(list) != writers*each {
		k.t.Errorf("%d entries, want %d", len(list), writers*each)
	}
}
