package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// openWorkflow compiles tasks of Open Workflow.
func openWorkflow(t *testing.T, name, tasks string) *ir.Program {
	t.Helper()
	text := "document: {dsl: 1.0.3, namespace: test, name: " + name + ", version: 1.0.0}\ndo:\n" + tasks
	c, found := dialect.NewRegistry(sw10.FrontEnd{}).Compile("w.yaml", []byte(text), nil, dialect.Options{})
	if found.HasErrors() {
		t.Fatal(found)
	}
	return c.Program
}

// cycles is a sink that remembers lifecycle events.
type cycles struct {
	mu     sync.Mutex
	got    []event.Event
	answer func(event.Event) error // nil: it takes everything
}

func (c *cycles) take(_ context.Context, e event.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer != nil {
		if err := c.answer(e); err != nil {
			return err
		}
	}
	c.got = append(c.got, e)
	return nil
}

// lines are the events in a few words, and begin anew.
func (c *cycles) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, e := range c.got {
		line := strings.TrimSuffix(strings.TrimPrefix(e.Type, "io.serverlessworkflow."), ".v1")
		if task, ok := e.Data.Get("task"); ok {
			line += " " + task.Str()
		}
		out = append(out, line)
	}
	c.got = nil
	return out
}

func wantLines(t *testing.T, when string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", when, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// TestLifecyclePublished: the sink gets what happens to instances of Open Workflow, from the first Run
// with it on; after a restart it goes on where it was.
func TestLifecyclePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := &cycles{}, memory.New()
		cfg := Config{Store: s, Languages: languages.All()}
		waits := openWorkflow(t, "waits", "- outer: {do: [{nap: {wait: PT1H}}]}\n")
		e, stop := running(t, cfg, waits, build("other").main())
		start := func(definition, id string) {
			t.Helper()
			if _, err := e.Start(t.Context(), StartRequest{Definition: definition, ID: id, Input: parse(t, `{}`)}); err != nil {
				t.Fatal(err)
			}
		}
		control := func(id string, verb core.Verb) {
			t.Helper()
			if err := e.Control(t.Context(), id, core.Control{Verb: verb}); err != nil {
				t.Fatal(err)
			}
		}
		settle := func() {
			time.Sleep(5 * time.Second) // virtual
			synctest.Wait()
		}
		start("test.waits", "before")
		stop()

		cfg.Lifecycle = c.take
		e, stop = running(t, cfg)
		settle()
		wantLines(t, "what was before", c.lines())
		start("test.waits", "a")
		start("other", "b")
		settle()
		c.mu.Lock()
		if first := c.got[0]; first.Source != "lockstep/default/test.waits" || first.Subject != "a" || first.Check() != nil {
			t.Errorf("the first event is %+v", first)
		}
		c.mu.Unlock()
		wantLines(t, "a start", c.lines(), "workflow.started", "task.created /do/0/outer", "task.started /do/0/outer",
			"task.created /do/0/outer/do/0/nap", "task.started /do/0/outer/do/0/nap")
		control("a", core.VerbSuspend)
		control("a", core.VerbResume)
		settle()
		wantLines(t, "a pause", c.lines(), "workflow.suspended", "task.suspended /do/0/outer", "task.suspended /do/0/outer/do/0/nap",
			"workflow.resumed", "task.resumed /do/0/outer", "task.resumed /do/0/outer/do/0/nap")
		stop()

		control("a", core.VerbTerminate) // while nobody publishes
		e, stop = running(t, cfg)
		defer func() { stop() }()
		settle()
		wantLines(t, "after a restart", c.lines(), "task.cancelled /do/0/outer/do/0/nap", "task.cancelled /do/0/outer", "workflow.cancelled")
		control("before", core.VerbCancel)
		settle()
		wantLines(t, "one that began before", c.lines(), "task.cancelled /do/0/outer/do/0/nap", "task.cancelled /do/0/outer", "workflow.cancelled")
		own := event.Event{ID: "x", Source: "lockstep/default/test.waits", Type: "io.serverlessworkflow.workflow.started.v1"}
		if sent, err := e.Send(t.Context(), own); err != nil || sent.Kept || len(sent.Why) != 1 {
			t.Errorf("one of its own: %+v, %v", sent, err)
		}
	})
}

// mortalPublisher is a store whose process is killed when it stores the published position.
type mortalPublisher struct {
	store.Store
	dies bool
}

func (s *mortalPublisher) SetCursor(ctx context.Context, name string, pos int64) error {
	if s.dies {
		return errDead
	}
	return s.Store.SetCursor(ctx, name, pos)
}

// TestLifecycleSurvives kills the process that publishes after each event, and before it stores how far it is. The
// sink has all events nevertheless, in order, and more than once only under the same id.
func TestLifecycleSurvives(t *testing.T) {
	record := func(dies int) (ids []string, died bool) {
		left := dies
		c := &cycles{answer: func(event.Event) error {
			if left == 0 {
				return errDead
			}
			left--
			return nil
		}}
		mortal := &mortalPublisher{}
		h := newHarness(t, nil, func(cfg *Config) {
			mortal.Store, cfg.Store, cfg.Languages, cfg.Lifecycle = cfg.Store, mortal, languages.All(), c.take
		})
		first := h.lifecycleRelay()
		if _, err := h.relayPart(t.Context(), first); err != nil { // it is on from here
			t.Fatal(err)
		}
		h.deploy(openWorkflow(t, "w", "- a: {wait: PT1M}\n- b: {set: {n: 1}}\n- c: {wait: PT1M}\n"))
		for range 3 {
			h.start("test.w", `{}`)
			h.run(90 * time.Second)
			mortal.dies = left < 3
			if !died {
				_, err := h.relayPart(t.Context(), first)
				died = err != nil
			}
		}
		h.run(time.Hour)
		left, mortal.dies = -1, false
		for next, p, err := true, h.lifecycleRelay(), error(nil); next; {
			if next, err = h.relayPart(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		number := map[string]int{} // of the events of an instance
		for _, e := range c.got {
			if slices.Contains(ids, e.ID) {
				continue
			}
			ids = append(ids, e.ID)
			order := []string{
				"workflow.started", "task.created", "task.started", "task.completed", "task.created", "task.started", "task.completed",
				"task.created", "task.started", "task.completed", "workflow.completed",
			}
			if i := number[e.Subject]; i >= len(order) || e.Type != "io.serverlessworkflow."+order[i]+".v1" {
				t.Errorf("dies after %d: event %d of %s is %s", dies, i, e.Subject, e.Type)
			}
			number[e.Subject]++
		}
		return ids, died
	}
	for dies := 0; ; dies++ {
		ids, died := record(dies)
		if len(ids) != 33 { // a start and an end, and three of each task
			t.Errorf("dies after %d: %d events: %v", dies, len(ids), ids)
		}
		if !died {
			if dies < 20 {
				t.Errorf("only %d events", dies)
			}
			return
		}
	}
}

// TestLifecycleSinkFails: what the sink accepted is not sent again by the same process; what it refuses for
// good is dropped, and what it does not take holds up that instance only.
func TestLifecycleSinkFails(t *testing.T) {
	c := &cycles{answer: func(e event.Event) error {
		switch {
		case e.Subject == "i1" && strings.Contains(e.Type, "task"):
			return errDown
		case e.Subject == "i2" && strings.Contains(e.Type, "created"):
			return refusal{errDown}
		}
		return nil
	}}
	var told []error
	h := newHarness(t, nil, func(cfg *Config) {
		cfg.Languages, cfg.Lifecycle, cfg.OnError = languages.All(), c.take, func(err error) { told = append(told, err) }
	})
	p := h.lifecycle
	if _, err := h.relayPart(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.deploy(openWorkflow(t, "w", "- a: {set: {n: 1}}\n"))
	h.start("test.w", `{}`)
	h.start("test.w", `{}`)
	if _, err := h.relayPart(t.Context(), p); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	got := c.lines()
	slices.Sort(got)
	wantLines(t, "while one fails", got, "task.completed /do/0/a", "task.started /do/0/a", "workflow.completed", "workflow.started", "workflow.started")
	if len(told) != 1 {
		t.Errorf("told: %v", told)
	}
	c.answer = nil
	if _, err := h.relayPart(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "later", c.lines(), "task.created /do/0/a", "task.started /do/0/a", "task.completed /do/0/a", "workflow.completed")
	if f, ok := h.LifecycleFigures(); !ok || f != (RelayFigures{Name: "lifecycle", Sent: 9, Refused: 1, Failed: 1}) {
		t.Errorf("figures %+v", f)
	}
	if more, err := h.relayPart(t.Context(), p); more || err != nil || len(c.lines()) > 0 {
		t.Errorf("more %t, %v", more, err)
	}
}

// TestLifecycleOfDeleted: an instance that is deleted before its events were sent has them nevertheless.
func TestLifecycleOfDeleted(t *testing.T) {
	c := &cycles{}
	h := newHarness(t, nil, func(cfg *Config) { cfg.Languages, cfg.Lifecycle = languages.All(), c.take })
	p := h.lifecycleRelay()
	if _, err := h.relayPart(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.deploy(openWorkflow(t, "w", "- a: {set: {n: 1}}\n"))
	id := h.start("test.w", `{}`)
	if err := h.DeleteInstance(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := h.relayPart(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	wantLines(t, "deleted", c.lines(), "workflow.started", "task.created /do/0/a", "task.started /do/0/a", "task.completed /do/0/a", "workflow.completed")
}

// TestNodesLifecycle: one node publishes what all do, and when it stops another goes on.
func TestNodesLifecycle(t *testing.T) {
	url, s, c := pgtest.Start(t).Database(t), newCallService(), &cycles{}
	on := func(cfg *Config) { cfg.Lifecycle, cfg.Languages = c.take, languages.All() }
	a, b := runNode(t, url, "a", postgres.Options{}, s, on), runNode(t, url, "b", postgres.Options{}, s, on)
	settle(a, b)
	until(func() bool { _, ok, err := a.store.Cursor(t.Context(), "lifecycle"); return err != nil || ok })
	if err := a.Deploy(t.Context(), openWorkflow(t, "w", "- a: {set: {n: 1}}\n")); err != nil {
		t.Fatal(err)
	}
	run := func(n *testNode, from, to int) {
		for i := from; i < to; i++ {
			n.completed(n.begin("test.w", fmt.Sprint("i", i)))
		}
	}
	count := func() (all, different int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		ids := map[string]bool{}
		for _, e := range c.got {
			ids[e.ID] = true
		}
		return len(c.got), len(ids)
	}
	run(a, 0, 5)
	run(b, 5, 10)
	until(func() bool { _, n := count(); return n == 50 })
	if all, _ := count(); all != 50 {
		t.Errorf("%d events for 50", all)
	}
	publishes, other := a, b
	if b.has("lifecycle") {
		publishes, other = b, a
	}
	publishes.stop()
	run(other, 10, 20)
	until(func() bool { _, n := count(); return n == 100 })
}
