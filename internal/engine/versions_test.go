package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// meddled is a store where something happens right before a write or after a read.
type meddled struct {
	store.Store
	before func() // a commit, an event or a routing
	read   func() // a definition
	put    func(store.Definition)
	commit func() error
	seen   int // gatherings that the router was shown when it looked last

	content error // of reading one
}

func (m *meddled) Content(ctx context.Context, digest string) (store.Definition, error) {
	if m.content != nil {
		return store.Definition{}, m.content
	}
	return m.Store.Content(ctx, digest)
}

func meddle(m *meddled) option { return func(c *Config) { m.Store, c.Store = c.Store, m } }

func once(f *func()) {
	if g := *f; g != nil {
		*f = nil
		g()
	}
}

func (m *meddled) Commit(ctx context.Context, c store.Commit) error {
	once(&m.before)
	if m.commit != nil {
		if err := m.commit(); err != nil {
			return err
		}
	}
	return m.Store.Commit(ctx, c)
}

func (m *meddled) Ingest(ctx context.Context, e store.Event, emit int64, route func(store.Event, store.View) (store.Routing, error)) (store.Event, error) {
	once(&m.before)
	return m.Store.Ingest(ctx, e, emit, func(e store.Event, v store.View) (store.Routing, error) {
		m.seen = 0
		return route(e, counted{v, m})
	})
}

func (m *meddled) Definition(ctx context.Context, id, version string) (store.Definition, error) {
	row, err := m.Store.Definition(ctx, id, version)
	once(&m.read)
	return row, err
}

func (m *meddled) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) ([]store.Definition, error) {
	rows, err := m.Store.PutDefinitions(ctx, ds, move)
	if m.put != nil {
		m.put(ds[0].Definition)
	}
	return rows, err
}

type counted struct {
	store.View
	m *meddled
}

func (v counted) Gatherings(definition, digest, key string) []store.Gathering {
	list := v.View.Gatherings(definition, digest, key)
	v.m.seen += len(list)
	return list
}

// TestStartWhileDeleted: a definition that is deleted between the decision to start it and
// the commit leaves no instance without a program.
func TestStartWhileDeleted(t *testing.T) {
	ctx := context.Background()
	m := &meddled{}
	h := newHarness(t, nil, meddle(m))
	child, byEvent := build("child"), build("event")
	eventual := byEvent.main(await("A", 0, byEvent.event("go")))
	eventual.Start.Events = append(eventual.Start.Events, 0)
	h.deploy(child.main(delay(time.Minute)), eventual, build("parent").main(delay(time.Second), spawn("child", true)))
	remove := func(id string) func() {
		return func() {
			if _, err := m.DeleteDefinition(ctx, id, "1", func(store.Definition) *store.Schedule { return nil }); err != nil {
				t.Error(err)
			}
		}
	}
	m.before = remove("event")
	if sent, err := h.Send(ctx, ev(t, "go 1")); err != nil || len(sent.Started) != 0 || !sent.Kept {
		t.Errorf("by event: %+v, %v", sent, err)
	}
	parent := h.start("parent", `{}`)
	h.clock.Advance(t0.Add(time.Second))
	m.before = remove("child")
	h.poll()
	h.wantFault(parent, core.FaultNoWorkflow)
	h.deploy(child.p)
	m.before = remove("child")
	var missing *NotFoundError
	if _, err := h.Start(ctx, StartRequest{Definition: "child"}); !errors.As(err, &missing) {
		t.Errorf("by hand: %v", err)
	}
	if list := h.list(); len(list) != 1 {
		t.Errorf("instances %+v", list)
	}
}

func version(v string, p *ir.Program) *ir.Program {
	p.Version = v
	return p
}

func (h *harness) wantCurrent(version string) {
	h.t.Helper()
	d, err := h.find(context.Background(), "w", "")
	if err != nil {
		h.t.Fatal(err)
	}
	row, err := h.store.Definition(context.Background(), "w", "")
	if err != nil || row.Version != version || d.row.Version != version {
		h.t.Errorf("the store has %q (%v), the engine %q, want %q", row.Version, err, d.row.Version, version)
	}
}

// TestProgramThatCannotBeReadNow: a store that does not answer for a moment is no reason to
// set an instance aside.
func TestProgramThatCannotBeReadNow(t *testing.T) {
	m := &meddled{}
	h := newHarness(t, nil, meddle(m))
	h.deploy(build("w").main(delay(time.Minute)))
	id := h.start("w", `{}`)
	again, err := New(h.cfg)
	if err != nil {
		t.Fatal(err)
	}
	clear(again.linked)
	m.content = errors.New("the store does not answer")
	h.clock.Advance(t0.Add(time.Minute))
	if _, err := again.Poll(context.Background()); err == nil {
		t.Error("nobody is told")
	}
	m.content = nil
	if row := h.get(id); row.Quarantine != "" {
		t.Errorf("it is set aside: %s", row.Quarantine)
	}
	h.Engine = again
	h.run(time.Hour)
	h.want(id, core.Completed, "")
}

// TestParallelDeploys: which version is current is the same for engine and store.
func TestParallelDeploys(t *testing.T) {
	m, second, began := &meddled{}, make(chan struct{}), make(chan struct{})
	h := newHarness(t, nil, meddle(m))
	m.put = func(d store.Definition) {
		if d.Version == "1" {
			close(began)
			select {
			case <-second: // must not come between
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { h.deploy(build("w").main(delay(time.Minute))) })
	wg.Go(func() {
		<-began
		h.deploy(version("2", build("w").main(delay(time.Hour))))
		close(second)
	})
	wg.Wait()
	h.wantCurrent("2")
}

// TestFindWhileDeployed: who looked before a deployment does not bring the old version back.
func TestFindWhileDeployed(t *testing.T) {
	m := &meddled{}
	h := newHarness(t, nil, meddle(m))
	h.deploy(build("w").main(delay(time.Minute)))
	h.mu.Lock()
	clear(h.byID)
	h.mu.Unlock()
	m.read = func() { h.deploy(version("2", build("w").main(delay(time.Hour)))) }
	h.start("w", `{}`)
	h.wantCurrent("2")
}

// TestDeletedCurrentVersion: the one before it is current again.
func TestDeletedCurrentVersion(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, nil)
	begins := func(v, typ string) *ir.Program {
		b := build("w")
		p := version(v, b.main(await("A", 0, b.event(typ))))
		p.Start.Events = append(p.Start.Events, 0)
		return p
	}
	h.deploy(begins("1", "one"), begins("2", "two"), begins("3", "three"))
	if err := h.DeleteDefinition(ctx, "w", "3"); err != nil {
		t.Fatal(err)
	}
	h.wantCurrent("2")
	if sent := h.send("three 1"); len(sent.Started) != 0 {
		t.Errorf("the deleted version: %+v", sent)
	}
	if sent := h.send("two 2"); len(sent.Started) != 1 {
		t.Errorf("the current version: %+v", sent)
	}
}

func parking(c *Config) {
	c.Invoker = effect.Func(func(context.Context, effect.Call) effect.Outcome { return effect.Outcome{Parked: true} })
}

func ok(n int64) effect.Outcome {
	return effect.Outcome{Value: expr.Object(expr.Member{Key: "n", Value: expr.Int(n)})}
}

// TestRefusedAnswerHasNoEffect: a person who is told that the answer was not taken may give
// another one.
func TestRefusedAnswerHasNoEffect(t *testing.T) {
	ctx := context.Background()
	m := &meddled{}
	h := newHarness(t, nil, parking, meddle(m))
	b := build("w")
	h.deploy(b.main(b.call("approve")))
	id := h.start("w", `{}`)
	h.poll()
	calls, err := h.OpenCalls(ctx, id)
	if err != nil || len(calls) != 1 {
		t.Fatalf("%+v, %v", calls, err)
	}
	m.commit = func() error { return store.ErrFull }
	if err := h.Answer(ctx, id, calls[0].Ticket, ok(1)); !errors.Is(err, store.ErrFull) {
		t.Fatalf("while the disk is full: %v", err)
	}
	m.commit = nil
	h.run(time.Hour)
	h.want(id, core.Running, "")
	if err := h.Answer(ctx, id, calls[0].Ticket, ok(2)); err != nil {
		t.Fatal(err)
	}
	h.want(id, core.Completed, `{"n":2}`)
}

// TestOneAnswerCounts: of several people only one is told that the answer was taken.
func TestOneAnswerCounts(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, nil, parking)
	b := build("w")
	h.deploy(b.main(b.call("approve"), b.call("again")))
	id := h.start("w", `{}`)
	h.poll()
	calls, err := h.OpenCalls(ctx, id)
	if err != nil || len(calls) != 1 {
		t.Fatalf("%+v, %v", calls, err)
	}
	c := h.calls.parked(callKey(id, calls[0].Ticket))
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs { // all of them found the call parked
		wg.Go(func() { errs[i] = h.answerByHand(ctx, c, replyOf(c.row.Invoke, ok(int64(i)))) })
	}
	wg.Wait()
	taken := 0
	for _, err := range errs {
		var missing *NotFoundError
		switch {
		case err == nil:
			taken++
		case !errors.As(err, &missing):
			t.Error(err)
		}
	}
	if taken != 1 {
		t.Errorf("%d answers were taken", taken)
	}
}

// TestKeyOfDeletedInstance: what is started under a key anew is another instance to those
// who are called, and to children.
func TestKeyOfDeletedInstance(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, mock.Mocks{"f": {gives(`{"ok":true}`)}})
	child, b := build("child"), build("w")
	h.deploy(child.main(child.call("f")), b.main(b.call("f"), spawn("child", true), b.emit("done", "")))
	keys, emitted := map[string]bool{}, map[string]bool{}
	for i := range 2 {
		h.clock.Advance(t0.Add(time.Duration(i) * time.Hour))
		id, again, err := h.StartOnce(ctx, StartRequest{Definition: "w"}, "key")
		if err != nil || again {
			t.Fatal(id, again, err)
		}
		h.poll()
		h.want(id, core.Completed, `{"ok":true}`)
		if err := h.DeleteInstance(ctx, id, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range h.mock.Calls() {
		keys[c.Key] = true
	}
	page, err := h.EventPage(ctx, store.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Events {
		emitted[e.Event.ID] = true
	}
	if len(keys) != 4 || len(emitted) != 2 {
		t.Errorf("keys of calls %v, events %v", keys, emitted)
	}
}

// TestChildThatIsOver: a parent whose child is there already, and over, does not wait for ever.
func TestChildThatIsOver(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, mock.Mocks{"f": {gives(`{"ok":true}`)}})
	child := build("child")
	h.deploy(child.main(child.call("f")), build("w").main(spawn("child", true)))
	for range 2 {
		id, err := h.Start(ctx, StartRequest{Definition: "w", ID: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		h.poll()
		h.want(id, core.Completed, `{"ok":true}`)
		if err := h.DeleteInstance(ctx, id, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// pairOf starts with x and y.
func pairOf(v string, keys ...string) *ir.Program {
	b := build("w")
	x, y := b.event("x", keys...), b.event("y", keys...)
	b.p.Start = ir.Start{Events: []ir.EventID{x, y}, All: true}
	return version(v, b.main(await("A", 0, x, y)))
}

// TestGatheringOfOldVersion: events that wait for others start the version that is current
// when those come.
func TestGatheringOfOldVersion(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(pairOf("1"))
	h.send("x 1")
	h.deploy(pairOf("2"))
	h.poll()
	sent := h.send("y 2")
	if len(sent.Started) != 1 || h.get(sent.Started[0]).Version != "2" {
		t.Fatalf("%+v", sent)
	}
	h.send("x 3")
	h.poll()
	h.want(sent.Started[0], core.Completed, "")
	ctx := context.Background()
	if err := h.DeleteInstance(ctx, sent.Started[0], 0); err != nil {
		t.Fatal(err)
	}
	if err := h.DeleteDefinition(ctx, "w", ""); err != nil {
		t.Fatal(err)
	}
	h.poll()
	page, err := h.EventPage(ctx, store.EventQuery{Untaken: true})
	if err != nil || len(page.Events) != 1 || page.Events[0].Event.ID != "3" {
		t.Errorf("events that nobody has: %+v, %v", page, err)
	}
}

// TestGatheringsAreFoundByKey: an event looks at those only that it may fit.
func TestGatheringsAreFoundByKey(t *testing.T) {
	m := &meddled{}
	h := newHarness(t, nil, meddle(m))
	h.deploy(pairOf("1", "order", "site"))
	for i := range 50 {
		if h.send(fmt.Sprintf("x %d order=%d site=a", i, i)); m.seen != 0 {
			t.Errorf("an event with keys of its own looked at %d gatherings", m.seen)
		}
	}
	h.send("x open site=b") // may fit any order
	if sent := h.send("y y7 order=7 site=a"); len(sent.Started) != 1 || m.seen != 2 {
		t.Errorf("started %v, looked at %d", sent.Started, m.seen)
	}
	if sent := h.send("y none site=b"); len(sent.Started) != 1 || m.seen != 1 {
		t.Errorf("without an order: %v, looked at %d", sent.Started, m.seen)
	}
}
