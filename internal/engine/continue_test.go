package engine

import (
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func continueAs(workflow string) stepOp {
	return stepOp{"Continue", &ir.Spawn{Workflow: workflow, Continue: true, Result: ir.Put{Mode: ir.PutReplace}}}
}

// chain deploys a parent that waits for first, which continues as second, and that as third.
func chain(h *harness, third *builder, last ...stepOp) {
	h.deploy(
		build("parent").main(spawn("first", true)),
		build("first").main(delay(time.Minute), continueAs("second")),
		build("second").main(delay(time.Minute), continueAs("third")),
		third.main(append([]stepOp{delay(time.Minute)}, last...)...),
	)
}

// TestContinue: an instance that nobody waits for is over when it continues as another.
func TestContinue(t *testing.T) {
	h := newHarness(t, nil)
	chain(h, build("third"))
	id := h.start("first", `{"n":1}`)
	h.run(90 * time.Second)
	h.want(id, core.Completed, `{"n":1}`)
	h.want(id+":1.2", core.Waiting, "")
	h.run(time.Hour)
	h.want(id+":1.2", core.Completed, `{"n":1}`)
	h.want(id+":1.2:1.2", core.Completed, `{"n":1}`)
	for _, in := range h.list() {
		if in.Depth != 0 || in.Awaited {
			t.Errorf("%s is %d deep, awaited %t", in.ID, in.Depth, in.Awaited)
		}
	}
}

// TestContinueWithoutPause: a chain whose instances do not wait ends, and one that waits goes on.
func TestContinueWithoutPause(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("loop").main(continueAs("loop")), build("slow").main(delay(time.Second), continueAs("slow")))
	h.start("loop", `{}`)
	h.run(time.Second)
	failed, most := 0, 0
	for _, in := range h.list() {
		if most = max(most, in.Continued); in.Status == core.Failed {
			failed++
			if in.Fault.Name != core.FaultStateLimit || in.Continued != maxContinued {
				t.Errorf("%v after %d", in.Fault, in.Continued)
			}
		}
	}
	if failed != 1 || most != maxContinued || len(h.list()) != maxContinued+1 {
		t.Errorf("%d failed, %d in a row of %d", failed, most, len(h.list()))
	}
	h.start("slow", `{}`)
	h.run(10 * time.Second)
	for _, in := range h.list() {
		if in.Definition == "slow" && (in.Continued != 0 || in.Status == core.Failed) {
			t.Errorf("%s: %s, %d in a row", in.ID, in.Status, in.Continued)
		}
	}
}

// TestContinueAwaited: who waits for an instance waits for those that continue it, also across restarts.
func TestContinueAwaited(t *testing.T) {
	h := newHarness(t, mock.Mocks{"f": {gives(`{"last":true}`)}})
	b := build("third")
	chain(h, b, b.call("f"))
	id := h.start("parent", `{"n":1}`)
	for range 7 {
		h.run(30 * time.Second)
		h = h.again()
	}
	for _, ticket := range []string{"", ":1.1", ":1.1:1.2", ":1.1:1.2:1.2"} {
		h.want(id+ticket, core.Completed, `{"last":true,"n":1}`)
	}
	if h.elapsed(id) != 3*time.Minute || len(h.list()) != 4 {
		t.Errorf("took %v, %d instances", h.elapsed(id), len(h.list()))
	}
	if last := h.get(id + ":1.1:1.2:1.2"); last.Depth != 3 {
		t.Errorf("the last is %d deep", last.Depth)
	}
}

// TestContinuedFaultIsTheParents: under its own name.
func TestContinuedFaultIsTheParents(t *testing.T) {
	h := newHarness(t, nil)
	chain(h, build("third"), raise("Boom"))
	id := h.start("parent", `{}`)
	h.run(time.Hour)
	h.wantFault(id, "Boom")
	h.wantFault(id+":1.1", "Boom")
}

// TestContinuedIsCancelled with the instance that waits for the one that it continues.
func TestContinuedIsCancelled(t *testing.T) {
	h := newHarness(t, nil)
	chain(h, build("third"))
	id := h.start("parent", `{}`)
	h.run(150 * time.Second)
	h.want(id+":1.1:1.2:1.2", core.Waiting, "")
	if err := h.Control(t.Context(), id, core.Control{Verb: core.VerbCancel}); err != nil {
		t.Fatal(err)
	}
	h.poll()
	for _, ticket := range []string{"", ":1.1", ":1.1:1.2", ":1.1:1.2:1.2"} {
		h.want(id+ticket, core.Cancelled, "")
	}
}

// TestStartChain: instances that start the next one without waiting for it stop as well.
func TestStartChain(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("a").main(spawn("b", true)), build("b").main(spawn("a", false)))
	h.start("a", `{}`)
	h.run(time.Minute)
	if got := len(h.list()); got != 2*maxContinued+2 {
		t.Errorf("%d instances", got)
	}
	h.deploy(build("slow").main(delay(time.Second), spawn("slow", false)))
	h.start("slow", `{}`)
	h.run(2 * maxContinued * time.Second)
	if got := h.open(); got != 1 {
		t.Errorf("%d are open: one that takes its time must go on", got)
	}
}
