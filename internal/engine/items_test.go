package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// scorer answers calls after a second, and counts them. Item bad fails until it is mended.
type scorer struct {
	calls  atomic.Int64
	bad    int64
	mended atomic.Bool
}

func (s *scorer) Invoke(_ context.Context, c effect.Call) effect.Outcome {
	s.calls.Add(1)
	n, _ := c.Args.Get("n")
	if i, _ := n.Int(); i == s.bad && !s.mended.Load() {
		return effect.Outcome{Failure: &effect.Failure{Name: "BadItem", Code: "422"}, Delay: time.Second}
	}
	return effect.Outcome{Value: expr.Object(expr.Member{Key: "s", Value: n}), Delay: time.Second}
}

// scoring calls a function for each item, fifty at a time.
func scoring() *ir.Program {
	b := build("map")
	call := b.call("score")
	call.op.(*ir.Call).Args = b.expr(jsonpath.TemplateLang, `{"n":"{{ $.item.n }}"}`)
	body := b.region(ir.Region{Name: "item", Collect: true}, call)
	return b.main(stepOp{"Score", &ir.Fan{
		Each: &ir.Each{Over: b.expr(jsonpath.Lang, "$.items"), Body: body.op.(*ir.Enter).Region, Var: "item", Max: b.expr(jsonpath.TemplateLang, "50")},
		Join: ir.JoinAppend, Path: []string{"scores"},
	}})
}

func numbered(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	return `{"items":[` + strings.Join(items, ",") + `]}`
}

// TestOneBadItemOfAThousand: the instance names it, and the retry calls exactly one.
func TestOneBadItemOfAThousand(t *testing.T) {
	ctx := t.Context()
	s := &scorer{bad: 517}
	h := newHarness(t, nil, func(c *Config) { c.Invoker = s })
	h.deploy(scoring())
	id := h.start("map", numbered(1000))
	h.run(7 * time.Second)
	row := h.get(id)
	if p := row.Progress; row.Status != core.Running || len(p) != 1 || p[0].State != "Score" || p[0].Total != 1000 || p[0].Done != 350 || p[0].InFlight != 50 || p[0].Failed != 0 {
		t.Errorf("after seven batches: %s, %+v", row.Status, p)
	}
	running, err := h.Query(ctx, store.Query{Status: []core.Status{core.Running}})
	if err != nil || len(running) != 1 {
		t.Errorf("running: %d, %v", len(running), err)
	}

	h = h.again() // as after a kill: those in flight are called again
	h.cfg.Invoker = s
	h.run(time.Hour)
	h.wantFault(id, "BadItem")
	row = h.get(id)
	if item := row.Fault.Item; item == nil || item.Index != 517 || item.Value.String() != `{"n":517}` {
		t.Errorf("the error is of item %+v", item)
	}
	p := row.Progress[0]
	if p.Done != 999 || p.Failed != 1 || p.InFlight != 0 || len(p.Failures) != 1 || p.Failures[0].Index != 517 || p.Failures[0].Fault.Code != "422" {
		t.Errorf("failed: %+v", p)
	}
	if calls := s.calls.Load(); calls != 1050 {
		t.Errorf("%d calls, want 1000 and those that were in flight", calls)
	}

	s.mended.Store(true)
	h = h.again()
	h.cfg.Invoker = s
	if err := h.Control(ctx, id, core.Control{Verb: core.VerbRetry, Items: true}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	if calls := s.calls.Load(); calls != 1051 {
		t.Errorf("the retry called %d", calls-1050)
	}
	row = h.get(id)
	scores, _ := row.Output.Get("scores")
	if row.Status != core.Completed || scores.Len() != 1000 || scores.Items()[517].String() != `{"s":517}` || row.Progress != nil {
		t.Errorf("%s with %d scores, %+v", row.Status, scores.Len(), row.Progress)
	}
}

// TestRetryOfAllItems: a retry without that flag runs the whole foreach, and nothing is left of the first run.
func TestRetryOfAllItems(t *testing.T) {
	s := &scorer{bad: 1}
	h := newHarness(t, nil, func(c *Config) { c.Invoker = s })
	h.deploy(scoring())
	id := h.start("map", numbered(3))
	h.run(time.Minute)
	h.wantFault(id, "BadItem")
	s.mended.Store(true)
	if err := h.Control(t.Context(), id, core.Control{Verb: core.VerbRetry}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Minute)
	if row := h.get(id); row.Status != core.Completed || s.calls.Load() != 6 {
		t.Errorf("%s after %d calls", row.Status, s.calls.Load())
	}
	pages, err := h.store.Pages(t.Context(), id)
	pages = slices.DeleteFunc(pages, func(p core.Page) bool { return p.Chunk != 0 })
	if err != nil || len(pages) > 2 {
		t.Errorf("%d pages are left, %v", len(pages), err)
	}
}

// TestStatusOfAParkedCall: an instance whose only call waits for a person is waiting.
func TestStatusOfAParkedCall(t *testing.T) {
	for parks, want := range map[bool]core.Status{true: core.Waiting, false: core.Running} {
		h := newHarness(t, nil, func(c *Config) {
			c.Invoker = effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{Parked: true} })
			c.Parks = func(*ir.Function) bool { return parks }
		})
		b := build("w")
		h.deploy(b.main(b.call("approve")))
		id := h.start("w", `{}`)
		h.run(time.Minute)
		h.want(id, want, "")
	}
}
