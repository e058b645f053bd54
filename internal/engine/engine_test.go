package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func TestCall(t *testing.T) {
	h := newHarness(t, mock.Mocks{"f": {gives(`{"ok":true}`)}})
	b := build("w")
	h.deploy(b.main(b.call("f")))
	id := h.start("w", `{"a":1}`)
	h.want(id, core.Running, "")
	h.poll()
	h.want(id, core.Completed, `{"a":1,"ok":true}`)
	calls := h.mock.Calls()
	if len(calls) != 1 || calls[0].Args.String() != `{"a":1}` || calls[0].Key != "i1/1.1" || calls[0].Instance != "i1" || calls[0].Attempt != 1 {
		t.Errorf("calls %+v", calls)
	}
	if h.InFlight() != 0 {
		t.Errorf("%d in flight", h.InFlight())
	}
	if _, ok := h.Next(); ok {
		t.Error("there is a next instant though nothing is left to do")
	}
}

// TestRetry: 1, 3, 5 minutes (semantics.md §Time).
func TestRetry(t *testing.T) {
	h := newHarness(t, mock.Mocks{"f": {fails("Boom"), fails("Boom"), fails("Boom"), gives(`{"ok":true}`)}})
	b := build("w")
	h.deploy(b.main(b.region(ir.Region{Name: "R", Catch: []ir.Catch{{
		Error: "Boom", Retry: &ir.Retry{Delay: span(time.Minute), Add: span(2 * time.Minute), Max: 3},
	}}}, b.call("f"))))
	id := h.start("w", `{}`)
	h.run(time.Hour)
	h.want(id, core.Completed, `{"ok":true}`)
	if got := h.elapsed(id); got != 9*time.Minute {
		t.Errorf("took %v, want 9m", got)
	}
	for i, c := range h.mock.Calls() {
		if c.Attempt != i+1 {
			t.Errorf("call %d is attempt %d", i, c.Attempt)
		}
	}
	keys := map[string]bool{}
	for _, c := range h.mock.Calls() {
		keys[c.Key] = true
	}
	if len(keys) != 4 {
		t.Errorf("%d idempotency keys for 4 attempts", len(keys))
	}
}

// TestDelayedAnswer: an answer counts once its delay has passed; a deadline at the same
// instant comes first.
func TestDelayedAnswer(t *testing.T) {
	for _, c := range []struct {
		timeout time.Duration
		status  core.Status
		took    time.Duration
	}{
		{time.Minute, core.Completed, 5 * time.Second},
		{5 * time.Second, core.Failed, 5 * time.Second},
		{time.Second, core.Failed, time.Second},
	} {
		h := newHarness(t, mock.Mocks{"f": {after(5*time.Second, gives(`{}`))}})
		b := build("w")
		h.deploy(b.main(b.region(ir.Region{Name: "R", Timeout: span(c.timeout)}, b.call("f"))))
		id := h.start("w", `{}`)
		h.run(time.Hour)
		h.want(id, c.status, "")
		if got := h.elapsed(id); got != c.took {
			t.Errorf("timeout %v: took %v, want %v", c.timeout, got, c.took)
		}
		if calls, _ := h.store.Calls(context.Background(), ""); len(calls) != 0 {
			t.Errorf("timeout %v: %d calls are left", c.timeout, len(calls))
		}
	}
}

// TestLatePoll: what is found late is applied in order of time nevertheless.
func TestLatePoll(t *testing.T) {
	h := newHarness(t, mock.Mocks{"f": {after(4*time.Second, gives(`{}`))}})
	b := build("w")
	h.deploy(b.main(b.region(ir.Region{Name: "R", Timeout: span(5 * time.Second)}, b.call("f"))))
	id := h.start("w", `{}`)
	h.poll()
	h.clock.Advance(t0.Add(time.Hour))
	h.poll()
	h.want(id, core.Completed, "")
}

func TestTimer(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(delay(90*time.Second), delay(0)))
	id := h.start("w", `{}`)
	h.poll()
	if at, ok := h.Next(); !ok || !at.Equal(t0.Add(90*time.Second)) {
		t.Errorf("next is %v %t", at, ok)
	}
	h.clock.Advance(t0.Add(89 * time.Second))
	if did, _ := h.Poll(context.Background()); did {
		t.Error("a timer fired early")
	}
	h.clock.Advance(t0.Add(90 * time.Second))
	h.poll()
	h.want(id, core.Completed, "{}")
}

// TestThirtyDays is a month of hourly work, at once.
func TestThirtyDays(t *testing.T) {
	h := newHarness(t, mock.Mocks{"tick": {gives(`{}`)}})
	b := build("w")
	p := b.main(b.call("tick"), delay(time.Hour))
	p.Nodes[2].Op.(*ir.Await).OnTimeout = 1 // forever
	h.deploy(p)
	h.start("w", `{}`)
	h.run(30 * 24 * time.Hour)
	if got := len(h.mock.Calls()); got != 721 {
		t.Errorf("%d calls, want 721", got)
	}
}

// TestClockStepsBack: history does not, and no timer is lost.
func TestClockStepsBack(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(delay(time.Minute), delay(time.Minute)))
	id := h.start("w", `{}`)
	h.clock.Advance(t0.Add(time.Minute))
	h.poll()
	h.clock.mu.Lock()
	h.clock.now = t0
	h.clock.mu.Unlock()
	if err := h.Control(context.Background(), id, core.Control{Verb: core.VerbLabel, Data: parse(t, `{"a":"b"}`)}); err != nil {
		t.Fatal(err)
	}
	h.run(10 * time.Minute)
	h.want(id, core.Completed, "")
	records, _ := h.History(context.Background(), id)
	for i := 1; i < len(records); i++ {
		if records[i].Time < records[i-1].Time {
			t.Errorf("record %d goes back in time", i)
		}
	}
}

func TestStepLimit(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	p := b.main(stepOp{"A", &ir.Eval{}}, stepOp{"B", &ir.Eval{}})
	p.Nodes[2].Next = 1
	other := build("other")
	h.deploy(p, other.main(delay(time.Second)))
	id, beside := h.start("w", `{}`), h.start("other", `{}`)
	if row := h.get(id); row.Status != core.Running || !row.More {
		t.Errorf("after the first step it is %s, more %t", row.Status, row.More)
	}
	h.run(time.Minute)
	h.wantFault(id, core.FaultStepLimit)
	h.want(beside, core.Completed, "")

	// A loop through delays of no length does not pass time either.
	b = build("z")
	p = b.main(delay(0), delay(0))
	p.Nodes[2].Op.(*ir.Await).OnTimeout = 1
	limits := core.DefaultLimits
	limits.Steps = 1000
	h = newHarness(t, nil, func(c *Config) { c.Limits = &limits })
	h.deploy(p)
	id = h.start("z", `{}`)
	h.run(time.Minute)
	h.wantFault(id, core.FaultStepLimit)
}

func TestStartIsRefused(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main())
	ctx := context.Background()
	var missing *NotFoundError
	if _, err := h.Start(ctx, StartRequest{Definition: "x"}); !errors.As(err, &missing) || missing.ID != "x" {
		t.Errorf("unknown definition: %v", err)
	}
	if _, err := h.Start(ctx, StartRequest{Definition: "w", Version: "9"}); !errors.As(err, &missing) || missing.Version != "9" {
		t.Errorf("unknown version: %v", err)
	}
	var input *InputError
	if _, err := h.Start(ctx, StartRequest{Definition: "w", Input: expr.Array()}); !errors.As(err, &input) {
		t.Errorf("an array as input: %v", err)
	}
	if _, err := h.Start(ctx, StartRequest{Definition: "w", ID: "mine"}); err != nil {
		t.Error(err)
	}
	var exists *ExistsError
	if _, err := h.Start(ctx, StartRequest{Definition: "w", ID: "mine"}); !errors.As(err, &exists) {
		t.Errorf("the same id again: %v", err)
	}
	if got := len(h.list()); got != 1 {
		t.Errorf("%d instances, want 1", got)
	}
	if _, err := h.Get(ctx, "nobody"); !errors.As(err, &missing) {
		t.Errorf("unknown instance: %v", err)
	}
	if err := h.Control(ctx, "nobody", core.Control{Verb: core.VerbCancel}); !errors.As(err, &missing) {
		t.Errorf("control of an unknown instance: %v", err)
	}
}

// schemaLang finds the violation that its source names in every input that has "bad".
type schemaLang struct{}

func (schemaLang) Compile(src string) (expr.Program, error) { return schemaProgram(src), nil }

type schemaProgram string

func (p schemaProgram) Eval(data expr.Value, _ *expr.Budget) (expr.Result, error) {
	if _, bad := data.Get("bad"); !bad {
		return expr.Result{Value: expr.Array()}, nil
	}
	return expr.Result{Value: expr.Array(expr.Object(
		expr.Member{Key: "pointer", Value: expr.String("/bad")}, expr.Member{Key: "message", Value: expr.String(string(p))},
	))}, nil
}

func TestInputSchema(t *testing.T) {
	languages := func(c *Config) { c.Languages["schema"] = schemaLang{} }
	h := newHarness(t, nil, languages)
	strict, warn, parent := build("strict"), build("warn"), build("parent")
	strict.p.InputSchema = strict.expr("schema", "must not be there")
	warn.p.InputSchema, warn.p.WarnSchemas = warn.expr("schema", "must not be there"), true
	lenient, other := build("lenient"), build("other")
	lenient.p.InputSchema, lenient.p.WarnInput = lenient.expr("schema", "must not be there"), true
	h.deploy(strict.main(), warn.main(), parent.main(spawn("strict", true)), lenient.main(), other.main(spawn("lenient", true)))
	var input *InputError
	_, err := h.Start(context.Background(), StartRequest{Definition: "strict", Input: parse(t, `{"bad":1}`)})
	if !errors.As(err, &input) || len(input.Violations) != 1 || input.Violations[0] != (Violation{"/bad", "must not be there"}) {
		t.Errorf("violations: %v", err)
	}
	h.want(h.start("warn", `{"bad":1}`), core.Completed, `{"bad":1}`)
	h.want(h.start("lenient", `{"bad":1}`), core.Completed, `{"bad":1}`)
	child := h.start("other", `{"bad":1}`)
	h.poll()
	h.want(child, core.Completed, `{"bad":1}`)
	id := h.start("parent", `{"bad":1}`)
	h.poll()
	h.wantFault(id, core.FaultSchema)
}

func TestDeploy(t *testing.T) {
	h := newHarness(t, nil)
	ctx := context.Background()
	first := build("w").main()
	h.deploy(first, first)
	other := build("w")
	changed := other.main(delay(time.Second))
	var conflict *VersionConflictError
	if err := h.Deploy(ctx, changed); !errors.As(err, &conflict) {
		t.Errorf("other content under the same version: %v", err)
	}
	changed.Version = "2"
	h.deploy(changed)
	old, err := h.Start(ctx, StartRequest{Definition: "w", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	h.want(old, core.Completed, "")
	h.want(h.start("w", `{}`), core.Waiting, "")
	if list, _ := h.Definitions(ctx); len(list) != 2 || list[0].Current || !list[1].Current {
		t.Errorf("definitions: %+v", list)
	}

	// In development content moves; what runs keeps its own.
	h = newHarness(t, nil, func(c *Config) { c.Redeploy = true })
	slow := build("w").main(delay(time.Minute))
	h.deploy(slow)
	id := h.start("w", `{}`)
	h.deploy(build("w").main())
	withoutCache(h)
	h.run(time.Hour)
	h.want(id, core.Completed, "")
	if h.elapsed(id) != time.Minute {
		t.Error("a running instance met a new definition")
	}

	broken := build("x")
	broken.p.Exprs = append(broken.p.Exprs, ir.Expr{Lang: "cobol", Src: "x"})
	if err := h.Deploy(ctx, broken.main()); err == nil || !strings.Contains(err.Error(), "cobol") {
		t.Errorf("an unknown language: %v", err)
	}
}

// TestSameHistory runs everything twice, with states in memory and with states read
// back from the store, and compares every byte.
func TestSameHistory(t *testing.T) {
	run := func(cached bool) string {
		h := newHarness(t, mock.Mocks{"f": {fails("Boom"), gives(`{"n":1}`)}, "g": {after(time.Second, gives(`{"g":2}`))}})
		if !cached {
			withoutCache(h)
		}
		h.deploy(everything()...)
		h.start("parent", `{"a":1}`)
		h.send(`begin e1 key=1 {"x":1}`)
		h.send(`begin e2 key=2 {"x":2}`)
		h.run(time.Minute)
		h.send(`go e3 key=2 {"y":2}`)
		h.send(`go e4 key=1 {"y":1}`)
		h.run(48 * time.Hour)
		for _, in := range h.list() {
			h.log = append(h.log, fmt.Sprintf("%+v", in))
			if !in.Status.Final() {
				t.Errorf("instance %s is %s in %v", in.ID, in.Status, in.Active)
			}
			pages, _ := h.store.Pages(context.Background(), in.ID)
			h.log = append(h.log, fmt.Sprintf("%x", pages))
		}
		return strings.Join(h.log, "\n")
	}
	first := run(true)
	if again := run(true); again != first {
		t.Errorf("two runs differ:\n%s", difference(first, again))
	}
	if stored := run(false); stored != first {
		t.Errorf("states read from the store go another way:\n%s", difference(first, stored))
	}
	if !strings.Contains(first, "retrying") || !strings.Contains(first, "emits") {
		t.Errorf("the history is too short:\n%s", first)
	}
}

func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n- %s\n+ %s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

// everything is a set of definitions that use all of the engine.
func everything() []*ir.Program {
	child := build("child")
	parent := build("parent")
	begun := build("begun")
	begin, goOn := begun.event("begin", "key"), begun.event("go", "key")
	begun.p.Start.Events = []ir.EventID{begin}
	listener := build("listener")
	listener.p.Start.Events = []ir.EventID{listener.event("done")}
	work := child.region(ir.Region{Name: "Work", Catch: []ir.Catch{{Any: true, Retry: &ir.Retry{
		Delay: span(time.Minute), Max: 2, JitterMillis: 500,
	}}}}, child.call("f"))
	branches := func(b *builder, steps ...stepOp) stepOp {
		op := &ir.Fan{Join: ir.JoinMerge}
		for i, s := range steps {
			in := b.region(ir.Region{Name: fmt.Sprint("Branch ", i), Collect: true}, s)
			op.Branches = append(op.Branches, ir.FanBranch{Region: in.op.(*ir.Enter).Region})
		}
		return stepOp{"Fan", op}
	}
	return []*ir.Program{
		child.main(work, child.call("g")),
		parent.main(branches(parent, spawn("child", true), delay(time.Hour), parent.call("g")), parent.emit("done", "")),
		begun.main(await("Begin", 0, begin), begun.call("g"), await("Go", 0, goOn), begun.emit("done", "")),
		listener.main(await("Done", 0, 0)),
	}
}
