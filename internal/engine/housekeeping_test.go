package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// overStores runs a test over every store, or over the one that is chosen.
func overStores(t *testing.T, test func(t *testing.T, on option)) {
	t.Helper()
	if os.Getenv(storeVariable) != "" {
		test(t, func(*Config) {})
		return
	}
	for name, open := range map[string]func(t *testing.T) store.Store{
		"memory":   func(*testing.T) store.Store { return memory.New() },
		"sqlite":   func(t *testing.T) store.Store { return sqliteNamespace(t) },
		"postgres": func(t *testing.T) store.Store { return postgresNamespace(t) },
	} {
		t.Run(name, func(t *testing.T) { test(t, func(c *Config) { c.Store = open(t) }) })
	}
}

// keeping says how long things are kept.
func keeping(instances, feed time.Duration) option {
	return func(c *Config) { c.Retention, c.FeedRetention = instances, feed }
}

// inParts makes every turn of a purge small.
func (h *harness) inParts(n int) {
	for _, c := range h.house.chores {
		if p, ok := c.(*purge); ok {
			p.part = n
		}
	}
}

// wantIDs checks which instances are there.
func (h *harness) wantIDs(when, want string) {
	h.t.Helper()
	var ids []string
	for _, row := range h.list() {
		ids = append(ids, row.ID)
	}
	if got := strings.Join(ids, " "); got != want {
		h.t.Errorf("%s: %q are there, want %q", when, got, want)
	}
}

// feed lists what the feed tells of, by instance and type of record.
func (h *harness) feed() (out string, f store.Feed) {
	h.t.Helper()
	f, err := h.Feed(h.t.Context(), 0, 1000)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, item := range f.Items {
		out += item.Instance
		for _, r := range item.Records {
			out += " " + string(r.Type)
		}
		out += "; "
	}
	return out, f
}

// TestInstancesAreDeletedAfterTheirTime: those that are over, workflows as well as jobs, in
// parts, and not before.
func TestInstancesAreDeletedAfterTheirTime(t *testing.T) {
	overStores(t, func(t *testing.T, on option) {
		h := boardHarness(t, on, keeping(24*time.Hour, 0))
		h.inParts(4)
		h.deploy(build("now").main(), build("later").main(delay(12*time.Hour)), build("bad").main(raise("Boom")), build("never").main(delay(1000*time.Hour)))
		const many = 11
		for range many {
			h.start("now", `{}`)
		}
		later, never := h.start("later", `{}`), h.start("never", `{}`)
		h.start("bad", `{}`)
		over, open := h.newJob("over"), h.newJob("open")
		h.move(over.ID, "CLIENT", `{"state":"PROGRESS"}`)
		h.move(over.ID, "WFX", `{"state":"REJECTED"}`)
		h.run(24*time.Hour - time.Nanosecond)
		if n := len(h.list()); n != many+5 {
			t.Errorf("%d are there before their time, want %d", n, many+5)
		}
		h.run(time.Hour)
		h.wantIDs("after a day", strings.Join([]string{later, never, open.ID}, " "))
		if f, ok := h.HouseFigures(); !ok || f.Instances != many+2 || f.FeedItems != 0 || f.Jobs != 0 {
			t.Errorf("figures %+v %t", f, ok)
		}
		if told, _ := h.feed(); strings.Count(told, " deleted; ") != many+2 {
			t.Errorf("the feed does not tell of each deletion: %s", told)
		}
		h.run(12 * time.Hour)
		h.wantIDs("in the end", strings.Join([]string{never, open.ID}, " "))
		h.job(open.ID)
		problems, err := h.store.Check(t.Context())
		if err != nil || len(problems) > 0 {
			t.Errorf("problems %v, %v", problems, err)
		}
		t.Logf("%d instances deleted after their time, none before", many+3)
	})
}

// TestAnEndIsNotLostWithItsInstance: a parent gets the end of a child that was deleted
// before the parent could look; what a deleted parent left behind goes on.
func TestAnEndIsNotLostWithItsInstance(t *testing.T) {
	overStores(t, func(t *testing.T, on option) {
		h := newHarness(t, mock.Mocks{"f": {gives(`{"fromChild":true}`)}}, on, keeping(time.Hour, 0))
		child, slow := build("child"), build("slow")
		h.deploy(child.main(delay(time.Minute), child.call("f")), slow.main(delay(10*time.Hour)),
			build("parent").main(spawn("child", true)), build("careless").main(spawn("slow", false)))
		parent, careless := h.start("parent", `{}`), h.start("careless", `{}`)
		h.poll()
		control := func(verb core.Verb) {
			t.Helper()
			if err := h.Control(t.Context(), parent, core.Control{Verb: verb}); err != nil {
				t.Fatal(err)
			}
		}
		control(core.VerbSuspend)
		h.run(3 * time.Hour)
		h.wantIDs("after three hours", parent+" "+careless+":1.1")
		control(core.VerbResume)
		h.run(0)
		h.want(parent, core.Completed, `{"fromChild":true}`)
		h.run(7 * time.Hour)
		h.want(careless+":1.1", core.Completed, "")
		h.run(2 * time.Hour)
		h.wantIDs("in the end", "")
	})
}

// TestAKeyIsFreeAfterTheDeletion: the key of a start that was deleted starts anew, and is
// no reason to refuse another input; functions see another key.
func TestAKeyIsFreeAfterTheDeletion(t *testing.T) {
	overStores(t, func(t *testing.T, on option) {
		h := newHarness(t, mock.Mocks{"f": {gives(`{}`)}}, on, keeping(time.Hour, 0))
		w := build("w")
		h.deploy(w.main(w.call("f")))
		start := func(input string) (string, bool, error) {
			id, again, err := h.StartOnce(t.Context(), StartRequest{Definition: "w", Input: parse(t, input)}, "k")
			h.poll()
			return id, again, err
		}
		first, again, err := start(`{"n":1}`)
		if err != nil || again {
			t.Fatal(again, err)
		}
		if id, again, err := start(`{"n":1}`); id != first || !again || err != nil {
			t.Errorf("before the deletion: %s %t %v", id, again, err)
		}
		var other *KeyConflictError
		if _, _, err := start(`{"n":2}`); !errors.As(err, &other) {
			t.Errorf("another input before the deletion: %v", err)
		}
		h.run(2 * time.Hour)
		h.wantIDs("after the deletion", "")
		if id, again, err := start(`{"n":2}`); id != first || again || err != nil {
			t.Errorf("after the deletion: %s %t %v", id, again, err)
		}
		h.want(first, core.Completed, "")
		if calls := h.mock.Calls(); len(calls) != 2 || calls[0].Key == calls[1].Key {
			t.Errorf("calls %+v", calls)
		}
	})
}

// TestTheFeedForgets what happened long ago, in parts; instances keep their history, and
// what is left of deleted ones goes.
func TestTheFeedForgets(t *testing.T) {
	overStores(t, func(t *testing.T, on option) {
		h := newHarness(t, nil, on, keeping(0, 24*time.Hour))
		h.inParts(2)
		h.deploy(build("now").main(), build("day").main(delay(20*time.Hour)))
		for range 5 {
			h.start("now", `{}`)
		}
		gone, day := h.start("now", `{}`), h.start("day", `{}`)
		if err := h.DeleteInstance(t.Context(), gone, 0); err != nil {
			t.Fatal(err)
		}
		h.run(24*time.Hour - time.Nanosecond)
		all, before := h.feed()
		if before.Oldest != 0 || !strings.Contains(all, gone+" deleted; ") {
			t.Errorf("forgotten too early, up to %d: %s", before.Oldest, all)
		}
		history, err := h.History(t.Context(), day)
		if err != nil {
			t.Fatal(err)
		}
		h.run(time.Hour)
		left, f := h.feed()
		if strings.Contains(left, "started") || !strings.HasPrefix(left, day+" ") || f.Oldest == 0 || f.Last != before.Last {
			t.Errorf("after a day the feed tells, after %d: %s", f.Oldest, left)
		}
		if now, err := h.History(t.Context(), day); err != nil || len(now) != len(history) || len(now) < 3 {
			t.Errorf("its history has %d records, %v; want %d", len(now), err, len(history))
		}
		h.run(20 * time.Hour)
		if left, f := h.feed(); left != "" || f.Oldest != before.Last {
			t.Errorf("in the end the feed tells, after %d: %s", f.Oldest, left)
		}
		if fig, _ := h.HouseFigures(); fig.FeedItems != int64(len(before.Items)) || fig.Instances != 0 {
			t.Errorf("figures %+v, of %d items", fig, len(before.Items))
		}
		h.start("now", `{}`)
		if left, _ := h.feed(); !strings.Contains(left, "started") {
			t.Errorf("what comes after is not told: %q", left)
		}
		problems, err := h.store.Check(t.Context())
		if err != nil || len(problems) > 0 {
			t.Errorf("problems %v, %v", problems, err)
		}
	})
}

// purgeStore says what a purge does.
type purgeStore struct {
	store.Store
	purged func() error // before it purges
	times  int
}

func (s *purgeStore) PurgeInstances(ctx context.Context, before, at core.Time, limit int) (int, error) {
	s.times++
	if s.purged != nil {
		if err := s.purged(); err != nil {
			return 0, err
		}
	}
	return s.Store.PurgeInstances(ctx, before, at, limit)
}

func purgeHarness(t *testing.T, opts ...option) (*harness, *purgeStore) {
	t.Helper()
	s := &purgeStore{Store: newStore(t)}
	h := newHarness(t, nil, append([]option{func(c *Config) { c.Store = s }}, opts...)...)
	h.deploy(build("now").main())
	return h, s
}

// TestPurgesRest: where there is much to delete, others have as much time as that takes.
func TestPurgesRest(t *testing.T) {
	h, s := purgeHarness(t, keeping(time.Hour, 0))
	h.inParts(2)
	for range 5 {
		h.start("now", `{}`)
	}
	took := 3 * time.Second
	s.purged = func() error {
		h.clock.Advance(h.clock.Now().Add(took))
		return nil
	}
	h.clock.Advance(t0.Add(2 * time.Hour))
	for i, left := range []int{3, 1, 0} {
		h.poll()
		if n := len(h.list()); n != left || s.times != i+1 {
			t.Fatalf("turn %d leaves %d after %d purges", i+1, n, s.times)
		}
		wait := took
		if left == 0 { // it was the last, so it is the pause that counts, from the begin of the turn
			wait = time.Hour/sweepFraction - took
		}
		next, ok := h.Next()
		if !ok || next.Sub(h.clock.Now()) != wait {
			t.Fatalf("turn %d: the next is in %s", i+1, next.Sub(h.clock.Now()))
		}
		h.clock.Advance(next.Add(-time.Nanosecond))
		h.poll()
		if s.times != i+1 {
			t.Fatalf("turn %d: there was no rest", i+1)
		}
		h.clock.Advance(next)
	}
}

// TestAPurgeThatFailsIsTriedAgain, and keeps nothing else from being done.
func TestAPurgeThatFailsIsTriedAgain(t *testing.T) {
	h, s := purgeHarness(t, keeping(time.Hour, 0)) // which is looked at every 112.5 s
	h.deploy(build("timer").main(delay(90 * time.Minute)))
	id := h.start("timer", `{}`)
	h.start("now", `{}`)
	broken := errors.New("for a test")
	s.purged = func() error { return broken }
	h.clock.Advance(t0.Add(90 * time.Minute))
	if _, err := h.Poll(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), "housekeeping: retention of instances") {
		t.Errorf("it is told as %v", err)
	}
	h.want(id, core.Completed, "")
	s.purged = nil
	next, _ := h.Next()
	if rest := next.Sub(h.clock.Now()); rest != longestRest {
		t.Errorf("it is tried again after %s", rest)
	}
	h.clock.Advance(next)
	h.poll()
	h.wantIDs("after another try", id)
}

// TestRetentionAfterTheClockStepsBack: it does not wait until the clock is where it was.
func TestRetentionAfterTheClockStepsBack(t *testing.T) {
	h, _ := purgeHarness(t, keeping(time.Hour, 0))
	for _, c := range h.house.chores {
		c.putOff(core.TimeOf(t0.Add(1000 * time.Hour)))
	}
	h.start("now", `{}`)
	h.run(2 * time.Hour)
	h.wantIDs("after two hours", "")
}

// TestOneThatIsOverIsNotAnsweredFromMemory: someone may have deleted it.
func TestOneThatIsOverIsNotAnsweredFromMemory(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("now").main())
	start := func() (string, error) {
		return h.Start(t.Context(), StartRequest{Definition: "now", ID: "chosen"})
	}
	l := h.live.enter("chosen") // as long as someone uses it, it stays in memory
	if _, err := start(); err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	if _, err := start(); !errors.As(err, &exists) {
		t.Errorf("a start while it is there: %v", err)
	}
	choose := func() error { return h.Take(t.Context(), "chosen", core.Take{Actor: "A", Choice: "B"}) }
	var no *core.Rejected
	if err := choose(); !errors.As(err, &no) {
		t.Errorf("a choice while it is there: %v", err)
	}
	if n, err := h.store.PurgeInstances(t.Context(), core.TimeOf(t0.Add(time.Hour)), 0, 10); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := choose(); !isMissing(err) {
		t.Errorf("a choice when it is gone: %v", err)
	}
	if _, err := start(); err != nil {
		t.Errorf("a start when it is gone: %v", err)
	}
	h.want("chosen", core.Completed, "")
	if err := h.live.wait(t.Context(), l, onRequest); err != nil {
		t.Fatal(err)
	}
	h.live.release(l)
}

func TestRetentionThatCannotBe(t *testing.T) {
	for says, o := range map[string]option{
		"retention of instances": keeping(-time.Second, 0),
		"retention of the feed":  keeping(0, -time.Second),
		"limit retention":        keeping(MaxRetention+1, 0),
		"876000h":                keeping(0, MaxRetention+1),
	} {
		cfg := Config{Store: memory.New()}
		o(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	// The longest there is deletes nothing, also where the clock is at its beginning.
	first := time.Unix(0, -1<<63+int64(time.Hour))
	h := newHarness(t, nil, keeping(MaxRetention, MaxRetention), func(c *Config) { c.Clock = NewVirtualClock(first) })
	h.deploy(build("now").main())
	id := h.start("now", `{}`)
	h.poll()
	h.want(id, core.Completed, "")
	if told, f := h.feed(); told == "" || f.Oldest != 0 {
		t.Errorf("the feed forgot up to %d: %s", f.Oldest, fmt.Sprintf("%q", told))
	}
}
