package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// fragile is a language whose programs panic on data that has "boom", until repaired.
type fragile struct{ repaired *bool }

func (f fragile) Compile(string) (expr.Program, error) { return f, nil }

func (f fragile) Eval(data expr.Value, _ *expr.Budget) (expr.Result, error) {
	if _, bad := data.Get("boom"); bad && !*f.repaired {
		panic("an invariant broke")
	}
	return expr.Result{Value: data}, nil
}

// fragileWorkflow waits for an event and then evaluates.
func fragileWorkflow() *ir.Program {
	b := build("w")
	e := b.event("go", "key")
	eval := stepOp{"Eval", &ir.Eval{From: b.expr("fragile", ""), Put: ir.Put{Mode: ir.PutReplace}}}
	return b.main(await("Go", 0, e), eval, b.call("f"))
}

func TestQuarantine(t *testing.T) {
	ctx := context.Background()
	repaired := false
	h := newHarness(t, mock.Mocks{"f": {gives(`{}`)}}, func(c *Config) { c.Languages["fragile"] = fragile{&repaired} })
	h.deploy(fragileWorkflow())
	sick, lost, well := h.start("w", `{"boom":1}`), h.start("w", `{"boom":1}`), h.start("w", `{}`)
	h.send(`go e1`)
	h.run(time.Hour)
	h.want(well, core.Completed, "")
	for _, id := range []string{sick, lost} {
		row := h.get(id)
		if !strings.Contains(row.Quarantine, "an invariant broke") || row.Status != core.Paused {
			t.Errorf("%s is %s, %q", id, row.Status, row.Quarantine)
		}
		var q *QuarantineError
		if err := h.Control(ctx, id, core.Control{Verb: core.VerbSuspend}); !errors.As(err, &q) {
			t.Errorf("control: %v", err)
		}
		if err := h.Take(ctx, id, core.Take{}); !errors.As(err, &q) {
			t.Errorf("take: %v", err)
		}
	}
	records, _ := h.History(ctx, sick)
	if last := records[len(records)-1]; last.Type != core.RecWarning || !strings.Contains(last.Text, "quarantined") {
		t.Errorf("the last record is %+v", last)
	}
	if err := h.Control(ctx, lost, core.Control{Verb: core.VerbTerminate}); err != nil {
		t.Fatal(err)
	}
	h.want(lost, core.Terminated, "")

	// Resumed too soon it goes back; once repaired it takes the event that waits for it.
	if err := h.Control(ctx, sick, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	if h.get(sick).Quarantine == "" {
		t.Error("it is not in quarantine again")
	}
	repaired = true
	if err := h.Control(ctx, sick, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	h.want(sick, core.Completed, `{"boom":1}`)
	if got := len(h.mock.Calls()); got != 2 {
		t.Errorf("%d calls", got)
	}
}

// TestQuarantineKeepsWhatWasSound: inputs before the one that breaks are committed.
func TestQuarantineKeepsWhatWasSound(t *testing.T) {
	repaired := false
	h := newHarness(t, nil, func(c *Config) { c.Languages["fragile"] = fragile{&repaired} })
	b := build("w")
	x, y := b.event("x"), b.event("y")
	one := b.region(ir.Region{Name: "One", Collect: true}, await("X", 0, x))
	two := b.region(ir.Region{Name: "Two", Collect: true}, await("Y", 0, y), stepOp{"Eval", &ir.Eval{From: b.expr("fragile", "")}})
	fan := &ir.Fan{Join: ir.JoinMerge}
	for _, s := range []stepOp{one, two} {
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: s.op.(*ir.Enter).Region})
	}
	// The await in the first branch is the last of its row: it returns.
	h.deploy(b.main(stepOp{"Fan", fan}))
	id := h.start("w", `{"boom":1}`)
	h.send(`x e1`)
	h.send(`y e2`)
	h.poll()
	records, _ := h.History(context.Background(), id)
	var consumed []string
	for _, r := range records {
		if r.Type == core.RecConsumed {
			consumed = append(consumed, r.Name)
		}
	}
	if fmt.Sprint(consumed) != "[x]" || h.get(id).Quarantine == "" {
		t.Errorf("consumed %v, quarantine %q", consumed, firstLine(h.get(id).Quarantine))
	}
	repaired = true
	if err := h.Control(context.Background(), id, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	h.poll()
	h.want(id, core.Completed, "")
}

// TestQuarantineKeepsCalls: they are made once the instance is released.
func TestQuarantineKeepsCalls(t *testing.T) {
	repaired := false
	h := newHarness(t, mock.Mocks{"f": {after(time.Hour, gives(`{"f":1}`)), gives(`{"f":2}`)}}, func(c *Config) { c.Languages["fragile"] = fragile{&repaired} })
	b := build("w")
	one := b.region(ir.Region{Name: "One", Collect: true}, b.call("f"))
	two := b.region(ir.Region{Name: "Two", Collect: true}, await("Y", 0, b.event("y")), stepOp{"Eval", &ir.Eval{From: b.expr("fragile", "")}})
	fan := &ir.Fan{Join: ir.JoinMerge}
	for _, s := range []stepOp{one, two} {
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: s.op.(*ir.Enter).Region})
	}
	h.deploy(b.main(stepOp{"Fan", fan}))
	id := h.start("w", `{"boom":1}`)
	h.poll()
	h.send(`y e1`)
	h.run(2 * time.Hour)
	if h.get(id).Quarantine == "" || len(h.mock.Calls()) != 1 {
		t.Fatalf("quarantine %q, %d calls", firstLine(h.get(id).Quarantine), len(h.mock.Calls()))
	}
	repaired = true
	if err := h.Control(context.Background(), id, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	h.poll()
	h.want(id, core.Completed, `{"boom":1,"f":2}`)
}

// TestTwoEngines over one store: who has an old state in memory looks again.
func TestTwoEngines(t *testing.T) {
	mem := memory.New()
	share := func(c *Config) { c.Store = mem }
	a, b := newHarness(t, nil, share), newHarness(t, nil, share)
	w := build("w")
	x, y := w.event("x"), w.event("y")
	a.deploy(w.main(await("X", 0, x), await("Y", 0, y)))
	id := a.start("w", `{}`) // a has the state in memory
	b.send(`x e1 {"x":1}`)
	b.poll()
	a.send(`y e2 {"y":1}`)
	a.poll()
	a.want(id, core.Completed, `{"x":1,"y":1}`)
	if err := b.Control(context.Background(), id, core.Control{Verb: core.VerbCancel}); err == nil {
		t.Error("the other engine cancels what is over")
	}
}

func TestQuarantineAtStart(t *testing.T) {
	repaired := false
	h := newHarness(t, nil, func(c *Config) { c.Languages["fragile"] = fragile{&repaired} })
	b := build("w")
	h.deploy(b.main(stepOp{"Eval", &ir.Eval{From: b.expr("fragile", "")}}), build("parent").main(spawn("w", true)))
	id, err := h.Start(context.Background(), StartRequest{Definition: "w", Input: parse(t, `{"boom":1}`)})
	var q *QuarantineError
	if !errors.As(err, &q) || id == "" {
		t.Fatalf("%q, %v", id, err)
	}
	if got, err := h.Wait(context.Background(), id); err != nil || got.Quarantine == "" {
		t.Errorf("wait: %+v %v", got, err)
	}
	parent := h.start("parent", `{"boom":1}`)
	h.poll()
	h.want(parent, core.Waiting, "")
	repaired = true
	for _, sick := range []string{id, parent + ":1.1"} {
		if err := h.Control(context.Background(), sick, core.Control{Verb: core.VerbResume}); err != nil {
			t.Fatal(err)
		}
	}
	h.poll()
	h.want(id, core.Completed, "")
	h.want(parent, core.Completed, "")
}

// TestPoisonedState: bytes that cannot be read are one instance's trouble.
func TestPoisonedState(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("w").main(delay(time.Minute)))
	sick, well := h.start("w", `{}`), h.start("w", `{}`)
	withoutCache(h)
	h.live.init(0)
	row := h.get(sick)
	if err := h.store.Commit(context.Background(), store.Commit{Instance: row, Pages: []core.Page{{Data: []byte("junk")}}}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	h.want(well, core.Completed, "")
	if h.get(sick).Quarantine == "" {
		t.Error("the poisoned one is not set aside")
	}
	var q *QuarantineError
	if err := h.Control(context.Background(), sick, core.Control{Verb: core.VerbResume}); !errors.As(err, &q) {
		t.Errorf("resume: %v", err)
	}
	if err := h.Control(context.Background(), sick, core.Control{Verb: core.VerbTerminate}); err != nil {
		t.Error(err)
	}
	h.want(sick, core.Terminated, "")
}

var errCrashed = errors.New("crashed")

// crashing is a store that fails for ever after some writes.
type crashing struct {
	store.Store
	writes atomic.Int64 // that still succeed
}

func newCrashing(s store.Store, writes int64) *crashing {
	c := &crashing{Store: s}
	c.writes.Store(writes)
	return c
}

func (s *crashing) write(f func() error) error {
	if s.writes.Add(-1) < 0 {
		return errCrashed
	}
	return f()
}

func (s *crashing) Commit(ctx context.Context, c store.Commit) error {
	return s.write(func() error { return s.Store.Commit(ctx, c) })
}

func (s *crashing) Ingest(ctx context.Context, e store.Event, emit int64, r func(store.Event, store.View) (store.Routing, error)) (out store.Event, err error) {
	err = s.write(func() error { out, err = s.Store.Ingest(ctx, e, emit, r); return err })
	return out, err
}

func (s *crashing) Route(ctx context.Context, r store.Router) error {
	return s.write(func() error { return s.Store.Route(ctx, r) })
}

func (s *crashing) Advance(ctx context.Context, was store.Schedule, next *core.Time, fires string) error {
	return s.write(func() error { return s.Store.Advance(ctx, was, next, fires) })
}

// service answers by the call, not by how often it was asked: the first attempt of f
// fails. It checks that a key always stands for the same call.
type service struct {
	t    *testing.T
	seen map[string]string
}

func (s *service) Invoke(_ context.Context, c effect.Call) effect.Outcome {
	text := c.Function + c.Args.String()
	if before, ok := s.seen[c.Key]; ok && before != text {
		s.t.Errorf("key %s stands for %s and %s", c.Key, before, text)
	}
	s.seen[c.Key] = text
	switch {
	case c.Function == "f" && c.Attempt == 1:
		return effect.Fail(effect.Failure{Name: "Boom"})
	case c.Function == "g":
		return effect.Outcome{Value: c.Args, Delay: time.Second}
	}
	return effect.Outcome{Value: expr.Object(expr.Member{Key: "n", Value: expr.Int(1)})}
}

// TestCrashAnywhere ends the process after every single write in turn, and goes on
// with a new one over what is stored: nothing is lost, nothing happens twice.
func TestCrashAnywhere(t *testing.T) {
	run := func(crashAfter int64) (outcome string, crashed bool) {
		mem := memory.New()
		svc := &service{t, map[string]string{}}
		clock := NewVirtualClock(t0)
		open := func(writes int64) (*harness, *crashing) {
			c := newCrashing(mem, writes)
			h := newHarness(t, nil, func(cfg *Config) {
				cfg.Store, cfg.Invoker, cfg.Clock = c, svc, clock
			})
			h.clock = clock
			return h, c
		}
		const plenty = 1 << 30
		h, c := open(plenty)
		hourly := scheduled("hourly", ir.Schedule{Cron: "0 * * * *"})
		h.deploy(append(everything(), hourly)...)
		c.writes.Store(crashAfter)
		must := func(err error) bool {
			if err != nil && !errors.Is(err, errCrashed) {
				t.Fatal(err)
			}
			if err != nil {
				if crashed {
					t.Fatal("crashed twice")
				}
				crashed = true
				h, _ = open(plenty)
			}
			return err == nil
		}
		ctx := context.Background()
		start := func() bool {
			_, err := h.Start(ctx, StartRequest{Definition: "parent", ID: "p", Input: parse(t, `{"a":1}`)})
			return must(err)
		}
		send := func(text string) func() bool {
			return func() bool {
				_, err := h.Send(ctx, ev(t, text))
				return must(err)
			}
		}
		wait := func(d time.Duration) func() bool {
			until := t0.Add(d)
			return func() bool { return must(h.runUntil(until)) }
		}
		for _, do := range []func() bool{
			start, send(`begin e1 key=1 {"x":1}`), send(`begin e2 key=2 {"x":2}`), wait(time.Minute),
			send(`go e3 key=2 {"y":2}`), send(`go e4 key=1 {"y":1}`), wait(150 * time.Minute),
		} {
			ok := do()
			if !ok {
				ok = do() // a client that got no answer asks again
			}
			if !ok {
				t.Fatal("failed again after the crash")
			}
		}
		var out []string
		for _, in := range h.list() {
			out = append(out, fmt.Sprintf("%s %s %s %s", in.Definition, in.ID, in.Status, in.Output))
		}
		if calls, _ := mem.Calls(ctx, ""); len(calls) > 0 {
			t.Errorf("calls are left: %+v", calls)
		}
		if emits, _ := mem.Emits(ctx, 10); len(emits) > 0 {
			t.Errorf("emits are left: %+v", emits)
		}
		out = append(out, fmt.Sprint(len(svc.seen), " calls"))
		return strings.Join(out, "\n"), crashed
	}
	want, _ := run(1 << 20)
	if strings.Count(want, "completed") != 9 {
		t.Fatalf("without a crash:\n%s", want)
	}
	n := int64(0)
	for crashed := true; crashed; n++ {
		var got string
		if got, crashed = run(n); !sameLines(got, want) {
			t.Fatalf("after a crash at write %d:\n%s\nwant\n%s", n, got, want)
		}
	}
	if n < 28 {
		t.Errorf("only %d writes", n)
	}
	t.Logf("crashed after each of %d writes", n-1)
}

// sameLines compares without order: which of two instances of one instant comes first
// may differ after a crash.
func sameLines(a, b string) bool {
	count := map[string]int{}
	for _, l := range strings.Split(a, "\n") {
		count[l]++
	}
	for _, l := range strings.Split(b, "\n") {
		count[l]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}
