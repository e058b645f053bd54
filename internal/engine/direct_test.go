package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// unshared gives an engine a store that no other process writes to, where the tests run over one that others
// may: only there waits are known to be fresh.
func unshared(c *Config) {
	if _, shared := c.Store.(store.Shared); shared {
		c.Store = memory.New()
	}
}

// counting counts what is written by commits and by messages.
type counting struct {
	store.Store
	commits, deliveries, direct int
}

func (c *counting) Commit(ctx context.Context, row store.Commit) error {
	err := c.Store.Commit(ctx, row)
	switch {
	case err != nil:
	case row.Event != nil:
		c.direct++
	default:
		c.commits++
	}
	return err
}

func (c *counting) Ingest(ctx context.Context, e store.Event, emit int64, route store.EventRouter) (store.Event, error) {
	given := 0
	out, err := c.Store.Ingest(ctx, e, emit, func(e store.Event, v store.View) (store.Routing, error) {
		r, err := route(e, v)
		given = len(r.Deliver)
		return r, err
	})
	if err == nil {
		c.deliveries += given
	}
	return out, err
}

// TestAnEventAndItsStepShareACommit: from the event to the call that follows it there is one transaction.
func TestAnEventAndItsStepShareACommit(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "direct.db"), sqlite.Options{Inline: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	count := &counting{Store: db.Namespace("default")}
	h := newHarness(t, mock.Mocks{"f": {gives(`{}`)}}, func(c *Config) { c.Store = count })
	b := build("w")
	h.deploy(b.main(await("Wait", 0, b.event("go")), b.call("f")))
	id := h.start("w", `{}`)
	h.poll()
	before := db.Counters().Transactions
	count.commits = 0
	if sent := h.send(`go e1 {"n":1}`); fmt.Sprint(sent.Matched) != fmt.Sprint([]string{id}) {
		t.Fatalf("%+v", sent)
	}
	calls, err := h.store.Calls(t.Context(), id)
	if err != nil || len(calls) != 1 || h.calls.all[callKey(id, calls[0].Ticket)] == nil {
		t.Fatalf("the call is not on its way: %+v, %v", calls, err)
	}
	if n := db.Counters().Transactions - before; n != 1 || count.direct != 1 || count.commits+count.deliveries != 0 {
		t.Errorf("%d transactions, %+v", n, count)
	}
	if sent := h.send(`go e1 {"n":1}`); !sent.Duplicate {
		t.Errorf("the same event again: %+v", sent)
	}
	h.poll()
	h.want(id, core.Completed, `{"n":1}`)
}

// countingShared counts the events that are stored with a step.
type countingShared struct {
	store.Shared
	direct int
}

func (c *countingShared) Commit(ctx context.Context, row store.Commit) error {
	err := c.Shared.Commit(ctx, row)
	if err == nil && row.Event != nil {
		c.direct++
	}
	return err
}

// TestNodesStoreAnEventWithItsStep: in a shared store, too, unless another node deployed something meanwhile. Then the
// event is routed by what is deployed now.
func TestNodesStoreAnEventWithItsStep(t *testing.T) {
	shared := postgresNamespace(t).(store.Shared)
	count := &countingShared{Shared: shared}
	h := newHarness(t, nil, func(c *Config) { c.Store = count })
	b := build("w")
	x, y := b.event("x"), b.event("y")
	h.deploy(b.main(await("X", 0, x), await("Y", 0, y)))
	id := h.start("w", `{}`)
	h.poll()
	if sent := h.send(`x e1 {"a":1}`); fmt.Sprint(sent.Matched) != fmt.Sprint([]string{id}) || count.direct != 1 {
		t.Errorf("%+v, %d went directly", sent, count.direct)
	}
	if messages, err := shared.Messages(t.Context(), id); err != nil || len(messages) != 0 {
		t.Errorf("the inbox has %v, %v", messages, err)
	}
	other := build("other")
	starts := other.event("y")
	p := other.main(await("Z", 0, other.event("z")))
	p.Start.Events = []ir.EventID{starts}
	if _, _, err := newHarness(t, nil, func(c *Config) { c.Store = shared }).DeployDocument(t.Context(), Document{Program: p}); err != nil {
		t.Fatal(err)
	}
	if sent := h.send(`y e2 {"b":2}`); fmt.Sprint(sent.Matched) != fmt.Sprint([]string{id}) || len(sent.Started) != 1 || count.direct != 1 {
		t.Errorf("after a deployment: %+v, %d went directly", sent, count.direct)
	}
	h.poll()
	h.want(id, core.Completed, `{"a":1,"b":2}`)
}

// TestEventsThatGoByTheInbox: several instances, a message that came before, a timer that is due, a pause, a
// step that somebody else runs. What comes out is the same as with the inbox alone.
func TestEventsThatGoByTheInbox(t *testing.T) {
	count := &counting{}
	h := newHarness(t, nil, unshared, func(c *Config) { count.Store = c.Store; c.Store = count })
	b := build("w")
	x, y := b.event("x"), b.event("y", "key")
	h.deploy(b.main(await("X", 0, x), await("Y", 0, y)))
	wants := func(what string, direct int) {
		t.Helper()
		if count.direct != direct {
			t.Errorf("%s: %d events went directly, want %d", what, count.direct, direct)
		}
	}
	one, two := h.start("w", `{}`), h.start("w", `{}`)
	h.send(`x e1 {"a":1}`)
	wants("two instances wait", 0)
	h.poll()
	if err := h.Control(t.Context(), one, core.Control{Verb: core.VerbSuspend}); err != nil {
		t.Fatal(err)
	}
	if err := h.Control(t.Context(), two, core.Control{Verb: core.VerbTerminate}); err != nil {
		t.Fatal(err)
	}
	h.send(`y e2 {"b":2}`)
	wants("it is paused", 0)
	if err := h.Control(t.Context(), one, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	h.poll()
	h.want(one, core.Completed, `{"a":1,"b":2}`)

	three := h.start("w", `{}`)
	h.send(`x e3 {"a":3}`)
	wants("it waits", 1)
	label := core.Control{Verb: core.VerbLabel, Data: expr.Object(expr.Member{Key: "l", Value: expr.Int(1)})}
	other := build("other")
	h.deploy(other.main(await("Z", 0, other.event("z"))))
	sender := h.get(h.start("other", `{}`))
	message := store.Commit{Instance: sender, Messages: []store.Message{{To: three, At: h.now(), Input: label}}}
	if err := h.store.Commit(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	h.send(`y e4 {"b":4}`)
	wants("a message came before", 1)
	h.poll()
	h.want(three, core.Completed, `{"a":3,"b":4}`)
	records, _ := h.History(t.Context(), three)
	order := ""
	for _, r := range records {
		if r.Type == core.RecControl || r.Type == core.RecConsumed {
			order += fmt.Sprint(r.Type, " ")
		}
	}
	if want := fmt.Sprint(core.RecConsumed, " ", core.RecControl, " ", core.RecConsumed, " "); order != want {
		t.Errorf("in this order: %s, want %s", order, want)
	}
}

// TestAnEventDoesNotOvertakeAnAnswer: an answer that counted before the event came is applied first, also where
// nobody has looked for it since.
func TestAnEventDoesNotOvertakeAnAnswer(t *testing.T) {
	h := newHarness(t, mock.Mocks{"f": {after(time.Second, gives(`{}`))}})
	b := build("w")
	fan := &ir.Fan{Join: ir.JoinMerge, Need: b.expr("jsonpath", "$.need")}
	for _, step := range []stepOp{b.call("f"), await("Wait", 0, b.event("go"))} {
		branch := b.region(ir.Region{Name: step.name}, step)
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: branch.op.(*ir.Enter).Region})
	}
	h.deploy(b.main(stepOp{"Either", fan}))
	for need, want := range map[int][]core.RecordType{
		1: {core.RecReturned},
		2: {core.RecReturned, core.RecConsumed},
	} {
		id := h.start("w", fmt.Sprintf(`{"need":%d}`, need))
		h.poll()
		h.clock.Advance(h.clock.Now().Add(time.Hour))
		h.send(fmt.Sprintf("go e%d", need))
		h.poll()
		h.want(id, core.Completed, "")
		records, err := h.History(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var got []core.RecordType
		for _, r := range records {
			if r.Type == core.RecReturned || r.Type == core.RecConsumed {
				got = append(got, r.Type)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d of them: %v, want %v", need, got, want)
		}
	}
}

// TestFirstInFirstOut: a wait that has just begun gets the event that was kept for it, not one that comes
// before anybody has looked for that.
func TestFirstInFirstOut(t *testing.T) {
	h := newHarness(t, nil, unshared)
	b := build("w")
	x, y := b.event("x"), b.event("y")
	h.deploy(b.main(await("First", 0, x), await("Between", 0, y), await("Second", 0, x), await("Third", 0, x)))
	id := h.start("w", `{}`)
	for _, e := range []string{`x e1 {"a":1}`, `x e2 {"b":2}`, `y e3 {"c":3}`} {
		h.send(e)
	}
	sent := h.send(`x e4 {"d":4}`)
	if why := fmt.Sprint(sent.Why); !sent.Kept || why != `[instance "i1" waits for it, and gets an earlier event first]` {
		t.Errorf("%+v", sent)
	}
	h.poll()
	h.want(id, core.Completed, `{"a":1,"b":2,"c":3,"d":4}`)
	records, err := h.History(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, r := range records {
		if r.Type == core.RecConsumed {
			id, _ := r.Data.Get("id")
			order = append(order, id.String())
		}
	}
	if got := fmt.Sprint(order); got != `["e1" "e3" "e2" "e4"]` {
		t.Error(got)
	}
}

// deaf is a store that does not answer who reads a state.
type deaf struct {
	store.Store
	gaveUp chan struct{}
}

func (d *deaf) Pages(ctx context.Context, _ string) ([]core.Page, error) {
	<-ctx.Done()
	close(d.gaveUp)
	return nil, ctx.Err()
}

// TestAStepThatIsLateIsStopped: whoever sends an event does not wait for a step that takes long, and that does
// not keep the instance for itself.
func TestAStepThatIsLateIsStopped(t *testing.T) {
	d := &deaf{gaveUp: make(chan struct{})}
	h := newHarness(t, nil, unshared, func(c *Config) { d.Store = c.Store; c.Store = d; c.Inline = false })
	withoutCache(h)
	b := build("w")
	h.deploy(b.main(await("Wait", 0, b.event("go"))))
	id := h.start("w", `{}`)
	if sent := h.send(`go e1`); fmt.Sprint(sent.Matched) != fmt.Sprint([]string{id}) {
		t.Errorf("%+v", sent)
	}
	<-d.gaveUp
	messages, err := h.store.Messages(t.Context(), id)
	if err != nil || len(messages) != 1 {
		t.Errorf("the inbox has %v, %v", messages, err)
	}
}
