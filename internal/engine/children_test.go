package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func TestSpawn(t *testing.T) {
	h := newHarness(t, mock.Mocks{"f": {gives(`{"fromChild":true}`)}})
	child, parent := build("child"), build("parent")
	h.deploy(child.main(delay(time.Minute), child.call("f")), parent.main(spawn("child", true)))
	id := h.start("parent", `{"a":1}`)
	h.run(time.Hour)
	h.want(id, core.Completed, `{"a":1,"fromChild":true}`)
	list := h.list()
	if len(list) != 2 || list[1].ID != id+":1.1" || list[1].Parent != id || list[1].Depth != 1 {
		t.Errorf("instances %+v", list)
	}
	if h.elapsed(id) != time.Minute {
		t.Errorf("took %v", h.elapsed(id))
	}
}

func TestSpawnWithoutWaiting(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("child").main(delay(time.Hour)), build("parent").main(spawn("child", false)))
	id := h.start("parent", `{}`)
	h.poll()
	h.want(id, core.Completed, "")
	h.want(id+":1.1", core.Waiting, "")
	h.run(2 * time.Hour)
	h.want(id+":1.1", core.Completed, "")
}

func TestSpawnOfNothing(t *testing.T) {
	h := newHarness(t, nil)
	b := build("parent")
	caught := b.region(ir.Region{Name: "R", Catch: []ir.Catch{{Error: core.FaultNoWorkflow, Next: 3}}}, spawn("nobody", true))
	h.deploy(b.main(caught), build("careless").main(spawn("nobody", false)), build("bare").main(spawn("nobody", true)))
	id, bare := h.start("parent", `{}`), h.start("bare", `{}`)
	h.poll()
	h.want(id, core.Completed, "")
	h.wantFault(bare, core.FaultNoWorkflow)
	id = h.start("careless", `{}`)
	h.poll()
	h.want(id, core.Completed, "")
	records, _ := h.History(context.Background(), id)
	warned := false
	for _, r := range records {
		warned = warned || r.Type == core.RecWarning
	}
	if !warned {
		t.Error("nobody is told that the child was not started")
	}
}

// TestChildFault: the child's error keeps its name.
func TestChildFault(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("child").main(raise("Boom")), build("parent").main(spawn("child", true)))
	id := h.start("parent", `{}`)
	h.poll()
	h.wantFault(id, "Boom")
	if f := h.get(id).Fault; f.Node != "Spawn child" {
		t.Errorf("the fault is located at %q", f.Node)
	}
}

func TestChildIsCancelled(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("grandchild").main(delay(time.Hour)), build("child").main(spawn("grandchild", true)), build("parent").main(spawn("child", true)))
	ctx := context.Background()
	id := h.start("parent", `{}`)
	h.poll()
	if err := h.Control(ctx, id, core.Control{Verb: core.VerbCancel}); err != nil {
		t.Fatal(err)
	}
	h.poll()
	h.want(id, core.Cancelled, "")
	h.want(id+":1.1", core.Cancelled, "")
	h.want(id+":1.1:1.1", core.Cancelled, "")

	id = h.start("parent", `{}`)
	h.poll()
	if err := h.Control(ctx, id+":1.1", core.Control{Verb: core.VerbTerminate}); err != nil {
		t.Fatal(err)
	}
	h.poll()
	h.wantFault(id, core.FaultCancelled)
}

// TestChildOfTheSameStep: what is decided and taken back in one step never begins.
func TestChildOfTheSameStep(t *testing.T) {
	h := newHarness(t, mock.Mocks{"f": {gives(`{}`)}})
	b := build("parent")
	one := b.region(ir.Region{Name: "Child", Collect: true}, spawn("child", true))
	two := b.region(ir.Region{Name: "Call", Collect: true}, b.call("f"))
	quick := b.region(ir.Region{Name: "Quick", Collect: true}, stepOp{"Quick", &ir.Eval{}})
	fan := &ir.Fan{Join: ir.JoinMerge, Need: b.expr("jsonpath", "$.need")}
	for _, s := range []stepOp{one, two, quick} {
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: s.op.(*ir.Enter).Region})
	}
	h.deploy(build("child").main(), b.main(stepOp{"Fan", fan}))
	id := h.start("parent", `{"need":1}`)
	h.poll()
	h.want(id, core.Completed, "")
	if len(h.list()) != 1 || len(h.mock.Calls()) != 0 {
		t.Errorf("%d instances, %d calls", len(h.list()), len(h.mock.Calls()))
	}
}

func TestChildTerminates(t *testing.T) {
	h := newHarness(t, nil)
	child := build("child")
	child.p.Regions[0].Entry = child.row([]stepOp{{"Stop", &ir.End{Terminate: true}}})
	h.deploy(child.p, build("parent").main(spawn("child", true), delay(time.Hour)))
	id := h.start("parent", `{}`)
	h.poll()
	h.want(id, core.Completed, "")
}

func TestSpawnDepth(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("w").main(spawn("w", true)))
	id := h.start("w", `{}`)
	h.poll()
	h.wantFault(id, core.FaultStateLimit)
	if got := len(h.list()); got != maxSpawnDepth+1 {
		t.Errorf("%d instances", got)
	}
}

// TestEndlessSpawning without anybody waiting is told, not endured.
func TestEndlessSpawning(t *testing.T) {
	h := newHarness(t, nil)
	h.maxPasses = 100
	h.deploy(build("w").main(spawn("w", false)))
	h.start("w", `{}`)
	if _, err := h.Poll(context.Background()); !errors.Is(err, ErrRunaway) {
		t.Errorf("%v", err)
	}
}

func TestChildIDsStayShort(t *testing.T) {
	id := "i"
	seen := map[string]bool{}
	for range 1000 {
		id = childID(id, 1<<32|1)
		if len(id) > maxIDLength || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}
