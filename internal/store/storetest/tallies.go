package storetest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var tallyTests = []testCase{
	{"tallies add up", talliesAdd},
	{"tallies that are added at a time are all counted", talliesTogether},
	{"the tallies of an hour have so many definitions", talliesOfMany},
	{"old hours are forgotten", talliesForgotten},
}

// hourOf is the n-th hour after 1970.
func hourOf(n int, list ...store.Tally) store.Hour {
	return store.Hour{At: core.Time(time.Duration(n) * time.Hour), Tallies: list}
}

func (k kit) tallies(from, until int) string {
	k.t.Helper()
	hours, err := k.ListTallies(ctx, hourOf(from).At, hourOf(until).At)
	k.check(err)
	out := ""
	for _, h := range hours {
		for _, t := range h.Tallies {
			out += fmt.Sprintf("%d %s %d %d %d %d %v\n", h.At/core.Time(time.Hour), t.Definition, t.Started, t.Completed, t.Failed, t.Cancelled, t.Durations)
		}
	}
	return out
}

func talliesAdd(k kit) {
	k.want("at first", k.tallies(0, 9), "")
	a := store.Tally{Definition: "a", Started: 2, Completed: 1, Durations: store.Durations{{Bucket: 40, N: 1}}}
	b := store.Tally{Definition: "b", Failed: 1, Cancelled: 3}
	given := []store.Hour{hourOf(3, b), hourOf(5, a, b)}
	k.check(k.AddTallies(ctx, given, 0))
	k.check(k.AddTallies(ctx, []store.Hour{hourOf(5, store.Tally{Definition: "a", Completed: 2, Durations: store.Durations{{Bucket: 7, N: 1}, {Bucket: 40, N: 1}}})}, 0))
	k.want("all", k.tallies(0, 9), "3 b 0 0 1 3 []\n5 a 2 3 0 0 [{7 1} {40 2}]\n5 b 0 0 1 3 []\n")
	k.want("what was given", given[1].Tallies[0].Durations, "[{40 1}]")
	k.want("before an hour", k.tallies(0, 5), "3 b 0 0 1 3 []\n")
	k.want("from an hour", k.tallies(4, 9), "5 a 2 3 0 0 [{7 1} {40 2}]\n5 b 0 0 1 3 []\n")
}

func talliesTogether(k kit) {
	const many = 20
	var all sync.WaitGroup
	errs := make([]error, many)
	for i := range many {
		all.Go(func() {
			errs[i] = k.AddTallies(ctx, []store.Hour{hourOf(1, store.Tally{Definition: "a", Started: 1}), hourOf(2, store.Tally{Definition: fmt.Sprint("d", i), Failed: 1})}, 0)
		})
	}
	all.Wait()
	for _, err := range errs {
		k.check(err)
	}
	k.want("of one", k.tallies(1, 2), fmt.Sprintf("1 a %d 0 0 0 []\n", many))
	k.want("of each", strings.Count(k.tallies(2, 3), " 0 0 1 0 "), many)
}

func talliesOfMany(k kit) {
	for i := range store.MaxTallied + 10 {
		k.check(k.AddTallies(ctx, []store.Hour{hourOf(1, store.Tally{Definition: fmt.Sprintf("d%03d", i), Started: 1, Durations: store.Durations{{Bucket: i, N: 1}}})}, 0))
	}
	k.check(k.AddTallies(ctx, []store.Hour{hourOf(1, store.Tally{Definition: "d000", Started: 1}, store.Tally{Definition: strings.Repeat("x", 300), Started: 1})}, 0))
	hours, err := k.ListTallies(ctx, 0, hourOf(2).At)
	k.check(err)
	list := hours[0].Tallies
	k.want("definitions", len(list), store.MaxTallied+1)
	k.want("the others", fmt.Sprint(list[0].Definition == store.OtherDefinitions, list[0].Started, list[0].Durations.Count()), "true 11 10")
	k.want("one of those that were there", list[1].Started, 2)
}

func talliesForgotten(k kit) {
	one := store.Tally{Definition: "a", Started: 1}
	k.check(k.AddTallies(ctx, []store.Hour{hourOf(1, one), hourOf(2, one), hourOf(3, one)}, 0))
	k.check(k.AddTallies(ctx, []store.Hour{hourOf(1, one), hourOf(4, one)}, hourOf(3).At))
	k.want("left", k.tallies(0, 9), "3 a 1 0 0 0 []\n4 a 1 0 0 0 []\n")
}
