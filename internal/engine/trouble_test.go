package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

var errTooLarge = errors.New("row too large")

// picky is a store that refuses some commits, and whose views can be spoiled.
type picky struct {
	store.Store
	refuses atomic.Pointer[func(store.Commit) bool]
	spoil   func(store.View) store.View
	refused atomic.Int64
	panics  int // that came through
}

func newPicky() *picky { return &picky{Store: memory.New()} }

// refuse sets which commits fail.
func (p *picky) refuse(f func(store.Commit) bool) { p.refuses.Store(&f) }

// sick makes the steps of some instances fail; they can be set aside, though.
func (p *picky) sick(ids ...string) {
	p.refuse(func(c store.Commit) bool {
		for _, id := range ids {
			if c.Instance.ID == id && c.Instance.Quarantine == "" {
				return true
			}
		}
		return false
	})
}

func (p *picky) Commit(ctx context.Context, c store.Commit) error {
	if f := p.refuses.Load(); f != nil && (*f)(c) {
		p.refused.Add(1)
		return errTooLarge
	}
	return p.Store.Commit(ctx, c)
}

func (p *picky) Ingest(ctx context.Context, e store.Event, emit int64, route func(store.Event, store.View) (store.Routing, error)) (store.Event, error) {
	return p.Store.Ingest(ctx, e, emit, func(e store.Event, v store.View) (store.Routing, error) {
		defer p.passing()
		return route(e, p.view(v))
	})
}

func (p *picky) Preview(ctx context.Context, e store.Event, route func(store.Event, store.View) (store.Routing, error)) error {
	return p.Store.Preview(ctx, e, func(e store.Event, v store.View) (store.Routing, error) {
		defer p.passing()
		return route(e, p.view(v))
	})
}

func (p *picky) Route(ctx context.Context, route store.Router) error {
	return p.Store.Route(ctx, func(v store.View) (store.Routing, error) {
		defer p.passing()
		return route(p.view(v))
	})
}

// passing counts panics that a transaction would have to cope with.
func (p *picky) passing() {
	if r := recover(); r != nil {
		p.panics++
		panic(r)
	}
}

func (p *picky) view(v store.View) store.View {
	if p.spoil == nil {
		return v
	}
	return p.spoil(v)
}

// TestOneSickInstanceSlowsAllDown: others go on at once, whatever they do and however
// often the sick ones are tried.
func TestOneSickInstanceSlowsAllDown(t *testing.T) {
	for _, sick := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			b := build("w")
			var steps []stepOp
			for range 10 {
				steps = append(steps, b.call("f"), spawn("child", true))
			}
			p := newPicky()
			e, stop := running(t, Config{Store: p, OnError: func(error) {}, Invoker: effect.Func(constant)},
				build("bad").main(delay(time.Second)), build("child").main(), b.main(steps...))
			defer stop()
			ctx := context.Background()
			var ids []string
			for range sick {
				id, err := e.Start(ctx, StartRequest{Definition: "bad"})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, id)
			}
			p.refuse(func(c store.Commit) bool { // they cannot even be set aside
				return strings.Contains(strings.Join(ids, " "), c.Instance.ID)
			})
			for range 100 { // also at the very instants at which they are tried again
				<-time.After(500 * time.Millisecond)
				begin := time.Now()
				id, err := e.Start(ctx, StartRequest{Definition: "w"})
				if err != nil {
					t.Fatal(err)
				}
				if got, err := e.Wait(ctx, id); err != nil || got.Status != core.Completed || time.Since(begin) != 0 {
					t.Fatalf("beside %d sick ones it is %s after %v (%v)", sick, got.Status, time.Since(begin), err)
				}
			}
			if n := p.refused.Load(); n < 3 || n > int64(10*sick) {
				t.Errorf("%d sick ones were tried %d times in %v", sick, n, 50*time.Second)
			}
		})
	}
}

// TestInstanceThatNeverCommitsIsTriedForEver: it is tried later and later, then set
// aside; others do not notice.
func TestInstanceThatNeverCommitsIsTriedForEver(t *testing.T) {
	p := newPicky()
	h := newHarness(t, nil, func(c *Config) { c.Store = p })
	h.deploy(build("w").main(delay(time.Second)), build("long").main(delay(time.Hour)))
	sick, well := h.start("w", `{}`), h.start("long", `{}`)
	p.sick(sick)
	var tried []time.Duration
	for h.get(well).Status != core.Completed {
		before := p.refused.Load()
		_, err := h.Poll(context.Background())
		if refused := p.refused.Load() - before; refused > 0 {
			tried = append(tried, h.clock.Now().Sub(t0))
			if !errors.Is(err, errTooLarge) || refused != 1 {
				t.Fatalf("refused %d times at once: %v", refused, err)
			}
		} else if err != nil {
			t.Fatal(err)
		}
		next, ok := h.Next()
		if !ok {
			break
		}
		h.clock.Advance(next)
	}
	want := "[1s 2s 4s 8s 16s 32s 1m4s 2m4s 3m4s 4m4s]"
	if fmt.Sprint(tried) != want {
		t.Errorf("tried at %v, want %s", tried, want)
	}
	if row := h.get(sick); !strings.Contains(row.Quarantine, "10 times in a row") || !strings.Contains(row.Quarantine, errTooLarge.Error()) {
		t.Errorf("%s, quarantine %q", row.Status, row.Quarantine)
	}
	h.want(well, core.Completed, "")
	if n := h.troubles.count(); n != 0 {
		t.Errorf("%d troubles are left", n)
	}
	p.sick()
	if err := h.Control(context.Background(), sick, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Minute)
	h.want(sick, core.Completed, "")
}

// TestOutageSetsInstancesAside: a store that fails for all of them is nobody's own
// trouble, however long that lasts; when it is over, all go on at once.
func TestOutageSetsInstancesAside(t *testing.T) {
	p := newPicky()
	h := newHarness(t, nil, func(c *Config) { c.Store = p })
	h.deploy(build("w").main(delay(time.Second)))
	ids := []string{h.start("w", `{}`), h.start("w", `{}`), h.start("w", `{}`)}
	p.sick(ids...)
	h.clock.Advance(t0.Add(time.Second))
	for range 1000 {
		if _, err := h.Poll(context.Background()); !errors.Is(err, errTooLarge) {
			t.Fatalf("during the outage: %v", err)
		}
		h.clock.Advance(h.clock.Now().Add(outageRest))
	}
	p.sick()
	h.poll()
	for _, id := range ids {
		h.want(id, core.Completed, "")
	}
}

// TestManySickInstancesKeepOthersOut: those behind them get their turn.
func TestManySickInstancesKeepOthersOut(t *testing.T) {
	p := newPicky()
	h := newHarness(t, nil, func(c *Config) { c.Store = p })
	h.deploy(build("sick").main(delay(time.Second)), build("w").main(delay(2*time.Second)))
	for range batch + 1 {
		h.start("sick", `{}`)
	}
	p.refuse(func(c store.Commit) bool { return c.Instance.Definition == "sick" })
	id := h.start("w", `{}`)
	for range 5 {
		_, _ = h.Poll(context.Background())
		h.clock.Advance(h.clock.Now().Add(errorPause))
	}
	h.want(id, core.Completed, "")
	if n := p.refused.Load(); n > 3*batch {
		t.Errorf("the sick ones were tried %d times in 5 s", n)
	}
}

// TestListFailure: what can be listed is done, and the store's error is told.
func TestListFailure(t *testing.T) {
	h := newHarness(t, nil, func(c *Config) { c.Store = unlisted{c.Store} })
	h.deploy(build("w").main(delay(time.Second)))
	id := h.start("w", `{}`)
	h.clock.Advance(t0.Add(time.Second))
	if _, err := h.Poll(context.Background()); !errors.Is(err, errTooLarge) {
		t.Errorf("poll: %v", err)
	}
	h.want(id, core.Completed, "")
	if at, ok := h.Next(); !ok || at.After(h.clock.Now()) {
		t.Errorf("next is %v %t", at, ok)
	}
}

// unlisted cannot say which gatherings are over.
type unlisted struct{ store.Store }

func (unlisted) Expired(context.Context, core.Time, int) ([]store.Gathering, error) {
	return nil, errTooLarge
}

// TestBusyInstancesStarveOthers: who always has more to do goes behind the others.
func TestBusyInstancesStarveOthers(t *testing.T) {
	limits := core.DefaultLimits
	limits.Fuel, limits.Steps = 5, 1<<30
	h := newHarness(t, nil, func(c *Config) { c.Limits, c.OnRecord = &limits, nil })
	b := build("busy")
	p := b.main(stepOp{"A", &ir.Eval{}}, stepOp{"B", &ir.Eval{}})
	p.Nodes[2].Next = 1
	h.deploy(p, build("w").main(delay(time.Millisecond)))
	for range batch + 1 {
		h.start("busy", `{}`)
	}
	id := h.start("w", `{}`)
	h.clock.Advance(t0.Add(time.Second))
	for range 3 {
		if _, err := h.pass(context.Background(), context.Background(), 0, func(err error) { t.Error(err) }); err != nil {
			t.Fatal(err)
		}
	}
	h.want(id, core.Completed, "")
}

// spoiled is a view in which a look at something panics.
type spoiled struct {
	store.View
	kept, subscriptions func() bool
}

func (v spoiled) Kept(s store.Subscription) []store.Event {
	if v.kept != nil && v.kept() {
		panic("cannot look at kept events")
	}
	return v.View.Kept(s)
}

func (v spoiled) Subscriptions(e event.Event) []store.Subscription {
	if v.subscriptions != nil && v.subscriptions() {
		panic("cannot look at subscriptions")
	}
	return v.View.Subscriptions(e)
}

// TestPanicInRouterKillsTheProcess: it fails that event alone.
func TestPanicInRouterKillsTheProcess(t *testing.T) {
	ctx := context.Background()
	p := newPicky()
	bad := false
	p.spoil = func(v store.View) store.View { return spoiled{View: v, subscriptions: func() bool { return bad }} }
	h := newHarness(t, nil, func(c *Config) { c.Store = p })
	b, listener := build("w"), build("listener")
	listener.p.Start.Events = []ir.EventID{listener.event("done")}
	h.deploy(b.main(await("Go", 0, b.event("go")), b.emit("done", "")), listener.main(await("Done", 0, 0)))
	id := h.start("w", `{}`)
	bad = true
	if _, err := h.Send(ctx, ev(t, `go e1`)); err == nil || !strings.Contains(err.Error(), "cannot look") {
		t.Errorf("send: %v", err)
	}
	if kept, _ := h.Kept(ctx); len(kept) != 0 {
		t.Errorf("an event that could not be routed is kept: %+v", kept)
	}
	bad = false
	if sent := h.send(`go e1`); sent.Duplicate || len(sent.Matched) != 1 {
		t.Errorf("sent again: %+v", sent)
	}
	bad = true
	if _, err := h.Poll(ctx); err == nil || !strings.Contains(err.Error(), "cannot look") {
		t.Errorf("publish: %v", err)
	}
	h.want(id, core.Completed, "")
	if emits, _ := p.Emits(ctx, 10); len(emits) != 1 {
		t.Errorf("the event that was produced is lost: %+v", emits)
	}
	bad = false
	h.run(time.Minute)
	if list := h.list(); len(list) != 2 || list[1].Status != core.Completed || p.panics != 0 {
		t.Errorf("%d panics, instances %+v", p.panics, list)
	}
}

// TestPanicInMatchingKillsTheProcess: the instance whose wait it was is set aside.
func TestPanicInMatchingKillsTheProcess(t *testing.T) {
	p := newPicky()
	looks := 0
	p.spoil = func(v store.View) store.View {
		return spoiled{View: v, kept: func() bool { looks++; return looks == 1 }}
	}
	h := newHarness(t, nil, func(c *Config) { c.Store = p })
	b := build("w")
	h.deploy(b.main(delay(time.Second), await("Go", 0, b.event("go"))))
	sick, well := h.start("w", `{}`), h.start("w", `{}`)
	h.poll()
	h.send(`go e1`) // before they wait for it: it is compared then
	h.clock.Advance(t0.Add(time.Second))
	if _, err := h.Poll(context.Background()); err == nil {
		t.Error("nobody is told")
	}
	h.poll()
	h.want(well, core.Completed, "")
	if !strings.Contains(h.get(sick).Quarantine, "cannot look") || p.panics != 0 {
		t.Errorf("quarantine %q, %d panics", h.get(sick).Quarantine, p.panics)
	}
}

// TestPanicBesideTheStepKillsTheProcess: what the engine asks of a state may panic too.
func TestPanicBesideTheStepKillsTheProcess(t *testing.T) {
	ctx := context.Background()
	for name, do := range map[string]func(h *harness, id string) error{
		"timers": func(h *harness, _ string) error {
			h.clock.Advance(t0.Add(time.Minute))
			_, err := h.Poll(ctx)
			return err
		},
		"finish": func(h *harness, id string) error {
			err := h.Control(ctx, id, core.Control{Verb: core.VerbSuspend})
			var q *QuarantineError
			if !errors.As(err, &q) {
				t.Errorf("control: %v", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, nil)
			h.deploy(build("w").main(delay(time.Minute)))
			sick, well := h.start("w", `{}`), h.start("w", `{}`)
			l, err := h.live.acquire(ctx, sick, onRequest)
			if err != nil {
				t.Fatal(err)
			}
			program := *l.prog.Program
			program.Nodes = program.Nodes[:1] // the state is in a node that does not exist
			broken := *l.prog
			broken.Program = &program
			l.prog = &broken
			h.live.release(l)
			if err := do(h, sick); err != nil {
				t.Error(err)
			}
			if !strings.Contains(h.get(sick).Quarantine, "index out of range") {
				t.Errorf("quarantine %q", firstLine(h.get(sick).Quarantine))
			}
			h.run(time.Hour)
			h.want(well, core.Completed, "")
			if err := h.Control(ctx, sick, core.Control{Verb: core.VerbResume}); err != nil {
				t.Fatal(err)
			}
			h.run(time.Hour)
			h.want(sick, core.Completed, "")
		})
	}
}

// TestPanicInInputSchemaKillsTheProcess: a start is refused; a parent is set aside.
func TestPanicInInputSchemaKillsTheProcess(t *testing.T) {
	repaired := false
	h := newHarness(t, nil, func(c *Config) { c.Languages["fragile"] = fragile{&repaired} })
	b := build("w")
	b.p.InputSchema = b.expr("fragile", "")
	h.deploy(b.main(), build("parent").main(delay(time.Second), spawn("w", true)))
	if _, err := h.Start(context.Background(), StartRequest{Definition: "w", Input: parse(t, `{"boom":1}`)}); err == nil {
		t.Error("started")
	}
	parent := h.start("parent", `{"boom":1}`)
	h.run(time.Minute)
	if h.get(parent).Quarantine == "" {
		t.Errorf("the parent is %s", h.get(parent).Status)
	}
}
