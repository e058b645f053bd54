package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// TestTerminatedInQuarantineComesBack: nothing of it stays, and nothing wakes it up.
func TestTerminatedInQuarantineComesBack(t *testing.T) {
	ctx := context.Background()
	repaired := false
	h := newHarness(t, mock.Mocks{"f": {after(time.Hour, gives(`{}`))}}, func(c *Config) { c.Languages["fragile"] = fragile{&repaired} })
	b := build("w")
	y, z := b.event("y"), b.event("z")
	fan := &ir.Fan{Join: ir.JoinMerge}
	for _, s := range []stepOp{
		b.region(ir.Region{Name: "Call", Collect: true}, b.call("f")),
		b.region(ir.Region{Name: "Child", Collect: true}, spawn("child", true)),
		b.region(ir.Region{Name: "Careless", Collect: true}, spawn("child", false)),
		b.region(ir.Region{Name: "Y", Collect: true}, await("Y", 0, y), stepOp{"Eval", &ir.Eval{From: b.expr("fragile", "")}}),
		b.region(ir.Region{Name: "Z", Collect: true}, await("Z", 30*time.Minute, z), delay(0)),
	} {
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: s.op.(*ir.Enter).Region})
	}
	h.deploy(b.main(stepOp{"Fan", fan}), build("child").main(delay(time.Minute)), build("parent").main(spawn("w", true)))
	parent := h.start("parent", `{"boom":1}`)
	h.poll()
	id := parent + ":1.1"
	var awaited, careless string
	for _, in := range h.list() {
		switch {
		case in.Parent == id && in.Awaited:
			awaited = in.ID
		case in.Parent == id:
			careless = in.ID
		}
	}
	h.send(`y e1`)
	h.poll()
	h.send(`z e2`)
	if h.get(id).Quarantine == "" || len(h.mock.Calls()) != 1 {
		t.Fatalf("%s, %d calls", h.get(id).Status, len(h.mock.Calls()))
	}
	if err := h.Control(ctx, id, core.Control{Verb: core.VerbTerminate, Actor: "me"}); err != nil {
		t.Fatal(err)
	}
	pages, _ := h.store.Pages(ctx, id)
	inbox, _ := h.store.Messages(ctx, id)
	calls, _ := h.store.Calls(ctx, "")
	if row := h.get(id); len(pages) != 1 || len(inbox)+len(calls)+len(row.Active)+len(row.Offers) != 0 || row.Ended == 0 || row.HasWake {
		t.Errorf("%d pages, %d messages, %d calls are left of %+v", len(pages), len(inbox), len(calls), row)
	}
	repaired = true
	h.poll()
	h.want(id, core.Terminated, "")
	h.want(awaited, core.Cancelled, "")
	h.want(careless, core.Waiting, "")
	h.wantFault(parent, core.FaultCancelled)
	kept, _ := h.Kept(ctx)
	for _, e := range kept {
		if e.Taken || len(e.For) != 0 {
			t.Errorf("event %s still belongs to it: %+v", e.Event.ID, e)
		}
	}
	// Neither time nor a late message, nor a person, changes anything.
	rev := h.get(id).Rev
	h.run(2 * time.Hour)
	if h.get(id).Rev != rev {
		t.Errorf("it was written again")
	}
	post := store.Commit{Instance: h.get(careless), Messages: []store.Message{
		{To: id, Input: core.Reply{Ticket: 1}}, {To: id, Input: core.Control{Verb: core.VerbResume}},
	}}
	if err := h.store.Commit(ctx, post); err != nil {
		t.Fatal(err)
	}
	h.poll()
	if inbox, _ := h.store.Messages(ctx, id); len(inbox) != 0 {
		t.Errorf("messages stay: %+v", inbox)
	}
	for _, verb := range []core.Verb{core.VerbRetry, core.VerbTerminate, core.VerbAmend} {
		var rejected *core.Rejected
		if err := h.Control(ctx, id, core.Control{Verb: verb, Data: parse(t, `{}`)}); !errors.As(err, &rejected) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if row := h.get(id); row.Status != core.Terminated || row.Quarantine != "" || len(h.mock.Calls()) != 1 {
		t.Errorf("it is %s, quarantine %q, after %d calls", row.Status, row.Quarantine, len(h.mock.Calls()))
	}
}

// TestMessageToWhatCannotBeRead after its end is dropped; nobody has to decide about it.
func TestMessageToWhatCannotBeRead(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, nil)
	h.deploy(build("w").main(raise("Boom")), build("other").main(delay(time.Hour)))
	id, other := h.start("w", `{}`), h.start("other", `{}`)
	if err := h.store.Commit(ctx, store.Commit{Instance: h.get(id), Pages: []core.Page{{Data: []byte("junk")}}}); err != nil {
		t.Fatal(err)
	}
	post := store.Commit{Instance: h.get(other), Messages: []store.Message{{To: id, Input: core.Control{Verb: core.VerbCancel}}}}
	if err := h.store.Commit(ctx, post); err != nil {
		t.Fatal(err)
	}
	h.poll()
	if row := h.get(id); row.Status != core.Failed || row.Quarantine != "" {
		t.Errorf("%s, quarantine %q", row.Status, row.Quarantine)
	}
	if inbox, _ := h.store.Messages(ctx, id); len(inbox) != 0 {
		t.Errorf("messages stay: %+v", inbox)
	}
}

// TestLateAnswerIsHeldForEver: an answer to what is over meanwhile is dropped, not kept.
func TestLateAnswerIsHeldForEver(t *testing.T) {
	ctx := context.Background()
	mem := memory.New()
	h := newHarness(t, mock.Mocks{"f": {after(time.Minute, gives(`{}`))}}, func(c *Config) { c.Store = mem })
	other := newHarness(t, nil, func(c *Config) { c.Store, c.Clock = mem, h.clock })
	b := build("w")
	h.deploy(b.main(b.call("f")))
	id := h.start("w", `{}`)
	h.poll()
	given := h.start("w", `{}`) // up, in quarantine
	h.poll()
	if err := other.quarantine(ctx, given, &brokenError{errTooLarge}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{id, given} {
		if err := other.Control(ctx, id, core.Control{Verb: core.VerbTerminate}); err != nil {
			t.Fatal(err)
		}
	}
	h.run(time.Hour)
	h.want(id, core.Terminated, "")
	h.want(given, core.Terminated, "")
	if _, ok := h.Next(); ok || len(h.calls.all) != 0 {
		t.Errorf("%d calls are known", len(h.calls.all))
	}
}
