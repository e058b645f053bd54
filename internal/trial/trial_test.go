package trial

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

var start = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

func compile(t *testing.T, text string) *ir.Program {
	t.Helper()
	c, found := dialect.NewRegistry(sw05.FrontEnd{}).Compile("w.yaml", []byte(text), nil, dialect.Options{})
	if found.HasErrors() {
		t.Fatal(found)
	}
	return c.Program
}

// begin starts a workflow that waits an hour in each of its visits of Wait.
func begin(t *testing.T, c Config, transition string) *Run {
	t.Helper()
	c.Clock = engine.NewVirtualClock(start)
	c.Engine.Languages = languages.All()
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	p := compile(t, `
id: w
name: W
states:
- {name: Wait, type: delay, start: {kind: default}, timeDelay: PT1H, `+transition+`}
- {name: End, type: inject, data: {}, end: {kind: default}}
`)
	if err := r.Deploy(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Engine.Start(t.Context(), engine.StartRequest{Definition: "w"}); err != nil {
		t.Fatal(err)
	}
	return r
}

// Arrivals come at their instants, before, between and after the work of the engine, and those of
// one instant in the order of the calls.
func TestArrivals(t *testing.T) {
	r := begin(t, Config{}, "transition: {nextState: End}")
	var got []string
	at := func(name string, after time.Duration) {
		r.At(start.Add(after), func(context.Context) error {
			row, err := r.Engine.Get(t.Context(), "instance-1")
			got = append(got, name+" "+r.Clock.Now().Sub(start).String()+" "+string(row.Status))
			return err
		})
	}
	at("d", 2*time.Hour)
	at("b", time.Minute)
	at("a", 0)
	at("c", time.Minute)
	at("work", time.Hour)
	at("e", 2*time.Hour)
	if err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a 0s waiting", "b 1m0s waiting", "c 1m0s waiting", "work 1h0m0s completed", // the engine's work comes first
		"d 2h0m0s completed", "e 2h0m0s completed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// An arrival waits for the work of its instant, also where Poll left some of it.
func TestWorkComesFirst(t *testing.T) {
	r := begin(t, Config{}, "transition: {nextState: End}")
	arrived := false
	r.At(start.Add(time.Hour), func(context.Context) error {
		arrived = true
		return nil
	})
	r.Clock.Advance(start.Add(time.Hour))
	if more, err := r.Advance(t.Context()); !more || err != nil || arrived {
		t.Errorf("before the timer: more %v, %v, arrived %v", more, err, arrived)
	}
	if more, err := r.Step(t.Context()); !more || err != nil || !arrived {
		t.Errorf("after the timer: more %v, %v, arrived %v", more, err, arrived)
	}
}

// The clock stops at the last instant before Until that has work, and Next is the one after it.
func TestUntil(t *testing.T) {
	r := begin(t, Config{}, "transition: {nextState: Wait}")
	r.Until = start.Add(150 * time.Minute)
	if err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, ok := r.Next()
	if !r.Clock.Now().Equal(start.Add(2*time.Hour)) || !ok || !next.Equal(start.Add(3*time.Hour)) {
		t.Errorf("the clock shows %s, next is %s %v", r.Clock.Now(), next, ok)
	}
	gone := errors.New("gone")
	r.At(r.Until, func(context.Context) error { return gone })
	if err := r.Finish(t.Context()); !errors.Is(err, gone) {
		t.Errorf("the error of an arrival is %v", err)
	}
}

// A run that exceeds a limit ends with its error, where OnLimit ends the context.
func TestLimitEndsRun(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	r := begin(t, Config{Limits: Limits{Of: "test", Steps: 5}, OnLimit: stop}, "transition: {nextState: Wait}")
	var limit *LimitError
	if err := r.Finish(ctx); !errors.As(err, &limit) || limit.Limit != "test-steps" || limit.Max != 5 {
		t.Errorf("it ends with %v", err)
	}
	if err := r.Poll(ctx); !errors.As(err, &limit) {
		t.Errorf("afterwards: %v", err)
	}
}

// Records are kept only where they are asked for.
func TestHistory(t *testing.T) {
	for _, history := range []bool{false, true} {
		r := begin(t, Config{History: history}, "end: {kind: default}")
		records, err := r.Store.Records(t.Context(), "instance-1", 0, 0)
		if err != nil || len(records) > 0 != history {
			t.Errorf("history %v: %v, %v", history, records, err)
		}
	}
}

// An instance counts until it ends: a workflow may start others for ever, a few at a time.
func TestLimitCountsLiveInstances(t *testing.T) {
	var told []error
	g := &guard{Store: memory.New(), limits: Limits{Instances: 3}, onLimit: func(err error) { told = append(told, err) }}
	commit := func(id string, rev int64, status core.Status, children ...string) error {
		c := store.Commit{Instance: store.Instance{ID: id, Rev: rev, Status: status}}
		for _, child := range children {
			c.Children = append(c.Children, store.NewInstance{Instance: store.Instance{ID: child, Status: core.Running}})
		}
		return g.Commit(t.Context(), c)
	}
	rounds := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for i, id := range rounds {
		if err := errors.Join(commit("first", int64(i), core.Running, id+"1", id+"2"),
			commit(id+"1", 1, core.Completed), commit(id+"2", 1, core.Failed)); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
	if err := commit("first", 8, core.Running, "x", "y", "z"); err == nil || len(told) != 1 {
		t.Errorf("three children at a time: %v, told %v", err, told)
	}
	var limit *LimitError
	if err := commit("first", 8, core.Completed); !errors.As(err, &limit) || len(told) != 1 {
		t.Errorf("afterwards: %v, told %v", err, told)
	}
}

// A number fails that is at least ten and not even; one smaller than it is any less by one, two or
// half of it.
func TestShrink(t *testing.T) {
	smaller := func(n int) []int { return []int{n / 2, n - 2, n - 1} }
	fails := func(n int) bool { return n >= 10 && n%2 == 1 }
	if got := Shrink(999, 100, smaller, fails); got != 11 {
		t.Errorf("it shrinks to %d", got)
	}
	tries := 0
	Shrink(1001, 3, smaller, func(int) bool { tries++; return false })
	if tries != 3 {
		t.Errorf("it tries %d where none fails", tries)
	}
	if got := Shrink(1001, 1, smaller, func(n int) bool { return n > 0 }); got != 500 {
		t.Errorf("after one try it has %d", got)
	}
}

// A silent schedule starts nothing.
func TestSilent(t *testing.T) {
	for want, silent := range []func(string) bool{func(string) bool { return true }, func(id string) bool { return id != "w" }, nil} {
		r, err := New(Config{Clock: engine.NewVirtualClock(start), Silent: silent, Engine: engine.Config{Languages: languages.All()}})
		if err != nil {
			t.Fatal(err)
		}
		r.Until = start.Add(time.Minute)
		for _, id := range []string{"v", "w"} {
			p := compile(t, `{"id": "`+id+`", "name": "W", "states": [{"name": "End", "type": "inject", "data": {}, "start": {"kind": "default"}, "end": {"kind": "default"}}]}`)
			p.Start.Schedule = &ir.Schedule{After: ir.Span{Set: true, Nanos: int64(time.Hour)}}
			if err := r.Deploy(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := r.Engine.List(t.Context())
		if err != nil || len(list) != want {
			t.Errorf("%d instances, want %d, %v", len(list), want, err)
		}
	}
}
