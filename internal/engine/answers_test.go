package engine

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// slowStore lets a commit wait until the test lets it go, and counts them.
type slowStore struct {
	store.Store
	gate     chan struct{}
	commits  atomic.Int64
	answered atomic.Int64
}

func (s *slowStore) Commit(ctx context.Context, c store.Commit) error {
	if len(c.Answered) > 0 {
		s.commits.Add(1)
		s.answered.Add(int64(len(c.Answered)))
		<-s.gate
	}
	return s.Store.Commit(ctx, c)
}

// TestAnswersShareCommits: answers that come while a commit is under way are one commit.
func TestAnswersShareCommits(t *testing.T) {
	const items = 100
	slow := &slowStore{Store: memory.New(), gate: make(chan struct{})}
	var called sync.WaitGroup
	called.Add(items)
	h := newHarness(t, nil, func(c *Config) {
		c.Store, c.Inline, c.MaxCallsPerEndpoint = slow, false, items
		c.Invoker = effect.Func(func(_ context.Context, c effect.Call) effect.Outcome {
			called.Done()
			return effect.Outcome{Value: c.Args}
		})
	})
	w := build("w")
	body := w.region(ir.Region{Name: "item", Collect: true}, w.call("f")).op.(*ir.Enter).Region
	each := &ir.Each{Over: w.expr(jsonpath.Lang, "$.items"), Body: body, Var: "x"}
	h.deploy(w.main(stepOp{"Every", &ir.Fan{Each: each, Join: ir.JoinAppend, Path: []string{"out"}}}))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	id := h.start("w", `{"items":[`+strings.Repeat("1,", items-1)+`1]}`)
	called.Wait()
	for slow.answered.Load()+posts(h, id) < items { // all of them wait, the first ones for the store
		runtime.Gosched()
	}
	close(slow.gate)
	row, err := h.Wait(ctx, id)
	cancel()
	running.Wait()
	if err != nil || row.Status != core.Completed {
		t.Fatalf("%v %v", row.Status, err)
	}
	out, _ := row.Output.Get("out")
	if out.Len() != items {
		t.Errorf("%d results", out.Len())
	}
	if n := slow.commits.Load(); n > 3 {
		t.Errorf("%d commits for %d answers", n, items)
	}
}

func posts(h *harness, id string) int64 {
	l := h.live.enter(id)
	l.box.Lock()
	defer l.box.Unlock()
	h.live.mu.Lock()
	l.refs--
	h.live.mu.Unlock()
	return int64(len(l.posted))
}
