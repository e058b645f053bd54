package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// printTallies prints hours, with the time of day at which they begin.
func printTallies(hours []store.Hour, err error) string {
	if err != nil {
		return err.Error()
	}
	out := ""
	for _, h := range hours {
		for _, t := range h.Tallies {
			out += fmt.Sprintf("%s %s: %d started, %d completed, %d failed, %d cancelled", h.At.Std().UTC().Format("02 15h"), t.Definition, t.Started, t.Completed, t.Failed, t.Cancelled)
			if t.Durations != nil {
				out += fmt.Sprintf(" in %.1fs", t.Durations.Quantile(0.5).Seconds())
			}
			out += "\n"
		}
	}
	return out
}

const always = core.Time(1<<63 - 1)

// TestTalliesOfHours: an instance counts in the hour in which something happened to it; a reader sees it at once, the store
// a few seconds later, and another engine after this one has ended.
func TestTalliesOfHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		var bad int
		cfg := Config{Store: s, OnError: func(error) { bad++ }}
		e, stop := running(t, cfg, build("slow").main(delay(3*time.Second)), build("bad").main(raise("E")), build("long").main(delay(time.Hour)))
		<-time.After(59*time.Minute + 58*time.Second)
		for _, id := range []string{"slow", "slow", "bad"} {
			startOne(t, e, id)
		}
		cancelled := startOne(t, e, "long")
		synctest.Wait()
		first := "01 00h bad: 1 started, 0 completed, 1 failed, 0 cancelled\n01 00h long: 1 started, 0 completed, 0 failed, 0 cancelled\n01 00h slow: 2 started, 0 completed, 0 failed, 0 cancelled\n"
		if got := printTallies(e.Tallies(t.Context(), 0, always)); got != first {
			t.Errorf("at once:\n%s\nwant\n%s", got, first)
		}
		if got := printTallies(s.ListTallies(t.Context(), 0, always)); got != "" {
			t.Errorf("the store has at once:\n%s", got)
		}
		<-time.After(2 * tallyPause)
		synctest.Wait()
		both := first + "01 01h slow: 0 started, 2 completed, 0 failed, 0 cancelled in 2.9s\n"
		if got := printTallies(s.ListTallies(t.Context(), 0, always)); got != both {
			t.Errorf("the store has after %s:\n%s\nwant\n%s", 2*tallyPause, got, both)
		}
		if err := e.Control(t.Context(), cancelled, core.Control{Verb: core.VerbCancel}); err != nil {
			t.Fatal(err)
		}
		stop()
		e, stop = running(t, cfg)
		defer stop()
		both = first + "01 01h long: 0 started, 0 completed, 0 failed, 1 cancelled\n01 01h slow: 0 started, 2 completed, 0 failed, 0 cancelled in 2.9s\n"
		if got := printTallies(e.Tallies(t.Context(), 0, always)); got != both {
			t.Errorf("after a restart:\n%s\nwant\n%s", got, both)
		}
		if got := printTallies(e.Tallies(t.Context(), store.HourOf(e.now()), always)); got != both[len(first):] {
			t.Errorf("of this hour:\n%s", got)
		}
		<-time.After(store.TallyHours * time.Hour)
		startOne(t, e, "bad")
		<-time.After(tallyPause)
		synctest.Wait()
		want := "09 01h bad: 1 started, 0 completed, 1 failed, 0 cancelled\n"
		if got := printTallies(s.ListTallies(t.Context(), 0, always)); got != want {
			t.Errorf("the store has after eight days:\n%s\nwant\n%s", got, want)
		}
		if bad > 0 {
			t.Errorf("%d errors were reported", bad)
		}
	})
}

// fullOnce is a store that has no space the first time.
type fullOnce struct {
	store.Store
	asked atomic.Int32
	err   error
}

func (s *fullOnce) AddTallies(ctx context.Context, hours []store.Hour, oldest core.Time) error {
	if s.asked.Add(1) == 1 {
		return s.err
	}
	return s.Store.AddTallies(ctx, hours, oldest)
}

// TestTalliesAreAddedLater: what the store did not take is added the next time, but not what it may have taken.
func TestTalliesAreAddedLater(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{store.ErrFull, "01 00h bad: 2 started, 0 completed, 2 failed, 0 cancelled\n"},
		{store.ErrUncertain, "01 00h bad: 1 started, 0 completed, 1 failed, 0 cancelled\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &fullOnce{Store: memory.New(), err: c.err}
			e, stop := running(t, Config{Store: s, OnError: func(err error) {
				if !errors.Is(err, c.err) {
					t.Error(err)
				}
			}}, build("bad").main(raise("E")))
			defer stop()
			for range 2 {
				startOne(t, e, "bad")
				<-time.After(tallyPause)
				synctest.Wait()
			}
			if got := printTallies(s.ListTallies(t.Context(), 0, always)); got != c.want {
				t.Errorf("%v:\n%s\nwant\n%s", c.err, got, c.want)
			}
		})
	}
}

// TestNodesTallies: the tallies of several nodes add up, also those of one that ended.
func TestNodesTallies(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	a, b := runNode(t, url, "a", postgres.Options{}, s), runNode(t, url, "b", postgres.Options{}, s)
	settle(a, b)
	if err := a.Deploy(t.Context(), build("bad").main(raise("E"))); err != nil {
		t.Fatal(err)
	}
	const many = 6
	for i := range many {
		if _, err := []*testNode{a, b}[i%2].Start(t.Context(), StartRequest{Definition: "bad"}); err != nil {
			t.Fatal(err)
		}
	}
	until(func() bool {
		n, err := a.store.Count(t.Context(), store.Query{Status: []core.Status{core.Failed}})
		return err == nil && n == many
	})
	total := func(hours []store.Hour, err error) (started, failed int64) {
		if err != nil {
			t.Error(err)
		}
		for _, h := range hours { // it may have begun meanwhile
			for _, tally := range h.Tallies {
				started, failed = started+tally.Started, failed+tally.Failed
			}
		}
		return started, failed
	}
	a.stop()
	until(func() bool {
		started, failed := total(b.Tallies(t.Context(), 0, always))
		return started == many && failed == many
	})
	b.stop()
	if started, failed := total(b.store.ListTallies(context.Background(), 0, always)); started != many || failed != many {
		t.Errorf("%d started and %d failed of %d", started, failed, many)
	}
}
