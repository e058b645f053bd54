package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// TestAfter: the first start is at the deployment, the next one after the end of the one before, however
// that came. What is started by hand is not part of it.
func TestAfter(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	b.p.Start.Schedule = &ir.Schedule{After: span(10 * time.Minute), DirectInvoke: true}
	h.deploy(b.main(await("Go", time.Hour, b.event("go")), raise("Late")))
	starts := func() (list []time.Duration) {
		for _, in := range h.list() {
			if len(in.ID) == plainID { // the harness gives others
				list = append(list, in.Created.Std().Sub(t0))
			}
		}
		return list
	}
	newest := func() string { list := h.list(); return list[len(list)-1].ID }
	want := func(when ...time.Duration) {
		t.Helper()
		for i := range when {
			when[i] *= time.Minute
		}
		if got := starts(); fmt.Sprint(got) != fmt.Sprint(when) {
			t.Errorf("started at %v, want %v", got, when)
		}
	}
	h.poll()
	want(0)
	h.run(65 * time.Minute) // it fails at 60
	want(0)
	h.run(6 * time.Minute)
	want(0, 70)
	if err := h.Control(t.Context(), newest(), core.Control{Verb: core.VerbCancel}); err != nil { // at 71
		t.Fatal(err)
	}
	h.start("w", `{}`)
	h.run(10 * time.Minute)
	want(0, 70, 81)
	if err := h.Control(t.Context(), newest(), core.Control{Verb: core.VerbTerminate}); err != nil { // at 81
		t.Fatal(err)
	}
	h.run(15 * time.Minute)
	want(0, 70, 81, 91)
	next := build("w")
	next.p.Version = "2"
	h.deploy(next.main())
	h.run(100 * time.Hour)
	want(0, 70, 81, 91)
}

// TestAfterMissed: a start that comes too late is made up for once, or left out.
func TestAfterMissed(t *testing.T) {
	for policy, want := range map[MissedFires]string{
		MissedLatest: "[0s 3h0m0s]", MissedAll: "[0s 3h0m0s]", MissedNone: "[0s 4h0m0s]",
	} {
		h := newHarness(t, nil, func(c *Config) { c.MissedFires = policy })
		h.deploy(scheduled("w", ir.Schedule{After: span(time.Hour)}))
		h.poll()
		h.clock.Advance(t0.Add(3 * time.Hour))
		h.run(time.Hour)
		var got []time.Duration
		for _, in := range h.list()[:2] {
			got = append(got, in.Created.Std().Sub(t0))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: started at %v, want %s", policy, got, want)
		}
	}
}

// mortalStore is a store whose process ends at a write: before it is done, or right after. Nobody
// learns which.
type mortalStore struct {
	store.Store
	left  int // writes until then
	after bool
	dead  bool
}

var errDead = errors.New("the process is dead")

func (s *mortalStore) write(do func() error) error {
	if s.dead {
		return errDead
	}
	if s.left--; s.left == 0 {
		s.dead = true
		if s.after {
			_ = do()
		}
		return errDead
	}
	return do()
}

func (s *mortalStore) Commit(ctx context.Context, c store.Commit) error {
	return s.write(func() error { return s.Store.Commit(ctx, c) })
}

func (s *mortalStore) SetPolicy(ctx context.Context, p store.Policy) error {
	return s.write(func() error { return s.Store.SetPolicy(ctx, p) })
}

func (s *mortalStore) Advance(ctx context.Context, was store.Schedule, next *core.Time, fires string) error {
	return s.write(func() error { return s.Store.Advance(ctx, was, next, fires) })
}

// TestAfterSurvives kills the process at each write of a chain, before it and after it. The next process
// begins an instant later, or when the next start is long due. The chain goes on, and has no start twice.
func TestAfterSurvives(t *testing.T) {
	const span10, took = 10 * time.Minute, 5 * time.Minute
	program := func() *ir.Program { return scheduled("w", ir.Schedule{After: span(span10)}, delay(took)) }
	for write := 1; ; write++ {
		died := false
		for _, after := range []bool{false, true} {
			for _, down := range []time.Duration{time.Nanosecond, time.Hour} {
				mortal := &mortalStore{left: write, after: after}
				h := newHarness(t, nil, func(c *Config) { mortal.Store, c.Store = c.Store, mortal })
				h.deploy(program())
				for !mortal.dead && h.clock.Now().Before(t0.Add(35*time.Minute)) {
					_, _ = h.Poll(t.Context())
					if next, ok := h.Next(); ok && !mortal.dead {
						h.clock.Advance(next)
					}
				}
				died = died || mortal.dead
				clock := h.clock
				clock.Advance(clock.Now().Add(down))
				h = newHarness(t, nil, func(c *Config) { c.Store, c.Clock = mortal.Store, clock })
				h.clock = clock
				h.run(2 * time.Hour)
				checkChain(t, fmt.Sprintf("write %d, after it %t, down %v", write, after, down), h.list(), span10, took, down)
			}
		}
		if !died {
			if write < 8 {
				t.Errorf("only %d writes", write)
			}
			return
		}
	}
}

// checkChain checks that each instance began the time of the schedule after the one before ended, or as
// soon as there was a process again.
func checkChain(t *testing.T, what string, list []Instance, span, took, down time.Duration) {
	t.Helper()
	if len(list) < 8 {
		t.Errorf("%s: %d instances", what, len(list))
	}
	late := time.Duration(0)
	for i, in := range list {
		if i > 0 {
			if in.Created < list[i-1].Ended || list[i-1].Ended == 0 {
				t.Errorf("%s: instance %d began before the one before ended", what, i)
				continue
			}
			late += time.Duration(in.Created-list[i-1].Ended) - span
		}
		if in.Status.Final() {
			late += time.Duration(in.Ended-in.Created) - took
		}
	}
	if late < 0 || late > down {
		t.Errorf("%s: the instances are %v late", what, late)
	}
}

// TestNodesAfter: the node that ends an instance is not always the one that has the schedule.
func TestNodesAfter(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	a, b := runNode(t, url, "a", postgres.Options{}, s), runNode(t, url, "b", postgres.Options{}, s)
	settle(a, b)
	const after = 20 * time.Millisecond
	if err := a.Deploy(t.Context(), scheduled("w", ir.Schedule{After: span(after)}, delay(time.Millisecond))); err != nil {
		t.Fatal(err)
	}
	list := func(n int) (out []Instance) {
		until(func() bool {
			var err error
			out, err = b.List(t.Context())
			return err != nil || len(out) >= n
		})
		return out
	}
	list(5)
	a.stop()
	instances := list(9)
	for i, in := range instances[1:] {
		if before := instances[i]; before.Ended == 0 || in.Created < before.Ended+core.Time(after) {
			t.Errorf("instance %d began at %v, and the one before ended at %v", i+1, in.Created, before.Ended)
		}
	}
}
