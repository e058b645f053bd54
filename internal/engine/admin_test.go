package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func object(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestStartOnce: a key finds its instance, also when the definition cannot be started
// any more; another input or version under it is refused.
func TestStartOnce(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(delay(time.Minute)))
	ask := func(key, input, version string) (string, bool, error) {
		return h.StartOnce(ctx, StartRequest{Definition: "w", Version: version, Input: object(t, input)}, key)
	}
	id, again, err := ask("k", `{"a":1}`, "")
	if err != nil || again {
		t.Fatalf("%s, %t, %v", id, again, err)
	}
	if same, again, err := ask("k", `{"a":1.0}`, "1"); err != nil || !again || same != id {
		t.Errorf("%s, %t, %v, want %s", same, again, err, id)
	}
	var conflict *KeyConflictError
	if _, _, err := ask("k", `{"a":2}`, ""); !errors.As(err, &conflict) || conflict.ID != id {
		t.Errorf("another input: %v", err)
	}
	if _, _, err := ask("k", `{"a":1}`, "2"); !errors.As(err, &conflict) {
		t.Errorf("another version: %v", err)
	}
	if other, again, err := ask("k2", `{"a":1}`, ""); err != nil || again || other == id {
		t.Errorf("another key: %s, %t, %v", other, again, err)
	}
	if _, err := h.Start(ctx, StartRequest{Definition: "w", ID: id}); err == nil {
		t.Error("an id of a key can be chosen by hand")
	}
	h.run(time.Hour)
	if same, again, err := ask("k", `{"a":1}`, ""); err != nil || !again || same != id {
		t.Errorf("after the end: %s, %t, %v", same, again, err)
	}
	h.want(id, core.Completed, `{"a":1}`)
}

// TestControlAt: at another revision nothing happens, in quarantine as elsewhere.
func TestControlAt(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(delay(time.Minute)))
	id := h.start("w", `{}`)
	row, err := h.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	pause := core.Control{Verb: core.VerbSuspend}
	var changed *RevisionError
	if err := h.ControlAt(ctx, id, pause, row.Rev+1); !errors.As(err, &changed) || changed.Have != row.Rev {
		t.Errorf("at another revision: %v", err)
	}
	if err := h.applyAt(ctx, id, row.Rev+1, input{in: pause, at: h.now(), extra: 1}); !errors.As(err, &changed) {
		t.Errorf("changed between reading and writing: %v", err)
	}
	h.want(id, core.Waiting, "")
	if err := h.ControlAt(ctx, id, pause, row.Rev); err != nil {
		t.Fatal(err)
	}
	h.want(id, core.Paused, "")
	if err := h.quarantine(ctx, id, &brokenError{errors.New("on purpose")}); err != nil {
		t.Fatal(err)
	}
	if row, err = h.Get(ctx, id); err != nil || row.Quarantine == "" {
		t.Fatalf("%+v, %v", row, err)
	}
	end := core.Control{Verb: core.VerbTerminate}
	if err := h.ControlAt(ctx, id, end, row.Rev-1); !errors.As(err, &changed) {
		t.Errorf("in quarantine, at another revision: %v", err)
	}
	if err := h.ControlAt(ctx, id, end, row.Rev); err != nil {
		t.Fatal(err)
	}
	h.want(id, core.Terminated, "")
}

// TestDeletedDefinitionStartsNothing: not by hand, not by events; deployed anew it does.
func TestDeletedDefinitionStartsNothing(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, nil)
	b := build("w")
	p := b.main(await("A", 0, b.event("go")))
	p.Start.Events = append(p.Start.Events, 0)
	h.deploy(p)
	if err := h.DeleteDefinition(ctx, "w", ""); err != nil {
		t.Fatal(err)
	}
	var missing *NotFoundError
	if _, err := h.Start(ctx, StartRequest{Definition: "w"}); !errors.As(err, &missing) {
		t.Errorf("by hand: %v", err)
	}
	if _, err := h.Start(ctx, StartRequest{Definition: "w", Version: "1"}); !errors.As(err, &missing) {
		t.Errorf("by hand, with its version: %v", err)
	}
	if sent, err := h.Send(ctx, ev(t, "go 1")); err != nil || len(sent.Started) != 0 {
		t.Errorf("by event: %+v, %v", sent, err)
	}
	if err := h.DeleteDefinition(ctx, "w", ""); !errors.As(err, &missing) {
		t.Errorf("deleted twice: %v", err)
	}
	h.deploy(p)
	if sent, err := h.Send(ctx, ev(t, "go 2")); err != nil || len(sent.Started) != 1 {
		t.Errorf("deployed anew: %+v, %v", sent, err)
	}
	var used *store.InUseError
	if err := h.DeleteDefinition(ctx, "w", "1"); !errors.As(err, &used) || used.Instances != 1 {
		t.Errorf("in use: %v", err)
	}
}

// TestChanges: the channel closes with a commit, and only then.
func TestChanges(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(delay(time.Minute)))
	changed := h.Changes()
	if again := h.Changes(); again != changed {
		t.Error("those who wait do not share a channel")
	}
	select {
	case <-changed:
		t.Error("it closed without a change")
	default:
	}
	h.start("w", `{}`)
	select {
	case <-changed:
	default:
		t.Error("it did not close")
	}
}
