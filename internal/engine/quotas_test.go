package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

func withQuotas(q Quotas) option { return func(c *Config) { c.Quotas = q } }

// open counts the instances that are not over.
func (h *harness) open() (n int64) {
	for _, row := range h.list() {
		if !row.Status.Final() {
			n++
		}
	}
	return n
}

// TestForkBomb: two workflows that start each other twice come to an end.
func TestForkBomb(t *testing.T) {
	for _, wait := range []bool{true, false} {
		h := newHarness(t, nil, withQuotas(Quotas{Instances: 150, DefinitionInstances: 100}))
		for _, id := range []string{"a", "b"} {
			other := map[string]string{"a": "b", "b": "a"}[id]
			b := build(id)
			fan := &ir.Fan{Join: ir.JoinMerge}
			for _, name := range []string{"One", "Two"} {
				branch := b.region(ir.Region{Name: name, Collect: true}, spawn(other, wait))
				fan.Branches = append(fan.Branches, ir.FanBranch{Region: branch.op.(*ir.Enter).Region})
			}
			h.deploy(b.main(stepOp{"Both", fan}, delay(time.Hour)))
		}
		h.start("a", `{}`)
		h.start("b", `{}`)
		h.poll()
		if got := len(h.list()); got > 150 {
			t.Errorf("wait %t: %d instances", wait, got)
		}
		h.run(24 * time.Hour)
		if got := h.open(); got != 0 {
			t.Errorf("wait %t: %d instances are left", wait, got)
		}
	}
}

// TestQuotaOfATree: it bounds what one instance brings about, however deep, and keeps others from nothing.
func TestQuotaOfATree(t *testing.T) {
	for _, wait := range []bool{true, false} {
		h := newHarness(t, nil, withQuotas(Quotas{TreeInstances: 40}))
		b := build("bomb")
		fan := &ir.Fan{Join: ir.JoinMerge}
		for _, name := range []string{"One", "Two"} {
			branch := b.region(ir.Region{Name: name, Collect: true}, spawn("bomb", wait))
			fan.Branches = append(fan.Branches, ir.FanBranch{Region: branch.op.(*ir.Enter).Region})
		}
		h.deploy(b.main(stepOp{"Both", fan}, delay(time.Hour)), build("leaf").main(delay(time.Hour)), build("other").main(spawn("leaf", true)))
		h.start("bomb", `{}`)
		h.poll()
		if got := len(h.list()); got > 41 {
			t.Errorf("wait %t: %d instances", wait, got)
		}
		id := h.start("other", `{}`)
		h.poll()
		h.want(id, core.Waiting, "")
		h.run(24 * time.Hour)
		h.want(id, core.Completed, "")
		if got := h.open(); got != 0 {
			t.Errorf("wait %t: %d instances are left", wait, got)
		}
		var refused int64
		h.QuotaRefusals(func(quota string, n int64) {
			if quota == quotaTree {
				refused = n
			}
		})
		if refused == 0 {
			t.Errorf("wait %t: nothing was refused", wait)
		}
	}
}

// TestRefusedChildIsInTheHistory: an instance that does not wait for a child has in its history why that was not started.
func TestRefusedChildIsInTheHistory(t *testing.T) {
	h := newHarness(t, nil, withQuotas(Quotas{DefinitionInstances: 1}))
	h.deploy(build("leaf").main(delay(time.Hour)), build("root").main(spawn("leaf", false), spawn("leaf", false)))
	id := h.start("root", `{}`)
	h.poll()
	h.want(id, core.Completed, "")
	var told []string
	records, _ := h.History(t.Context(), id)
	for _, r := range records {
		if r.Type == core.RecWarning {
			told = append(told, r.Text)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], `workflow "leaf" is not started`) || !strings.Contains(told[0], "limit quota-definition-instances") {
		t.Errorf("warnings %q", told)
	}
}

// TestQuotaOfABroadTree: one foreach, which takes its step in several parts, starts no more than the quota allows.
func TestQuotaOfABroadTree(t *testing.T) {
	for _, wait := range []bool{true, false} {
		for _, quotas := range []Quotas{{TreeInstances: 500}, {DefinitionInstances: 500}} {
			h := newHarness(t, nil, withQuotas(quotas))
			b := build("broad")
			body := b.region(ir.Region{Name: "item", Collect: true, Catch: []ir.Catch{{Error: core.FaultStateLimit}}}, spawn("leaf", wait))
			h.deploy(build("leaf").main(delay(time.Hour)), b.main(stepOp{"Each", &ir.Fan{
				Each: &ir.Each{Over: b.expr(jsonpath.Lang, "$.items"), Body: body.op.(*ir.Enter).Region, Var: "item"},
				Join: ir.JoinMerge,
			}}, delay(2*time.Hour)))
			h.start("broad", numbered(3000))
			h.poll()
			n, err := h.store.Count(t.Context(), store.Query{Definition: "leaf"})
			if err != nil || n != 500 {
				t.Errorf("wait %t, %+v: %d leaves, %v", wait, quotas, n, err)
			}
		}
	}
}

// TestQuotaCountsWhatIsUnderWay: commits at the same moment do not exceed it together, and one that fails frees its places.
func TestQuotaCountsWhatIsUnderWay(t *testing.T) {
	h := newHarness(t, nil, withQuotas(Quotas{TreeInstances: 1}))
	child := store.NewInstance{Instance: store.Instance{Definition: "leaf", Tree: "tree"}}
	reserve := func() *QuotaError {
		t.Helper()
		over, err := h.quotas.reserve(t.Context(), h.store, &child.Instance, false)
		if err != nil {
			t.Fatal(err)
		}
		return over
	}
	if over := reserve(); over != nil {
		t.Fatal(over)
	}
	if reserve() == nil {
		t.Error("two commits have one place")
	}
	if err := h.quotas.readTrees(t.Context(), h.store); err != nil || reserve() == nil {
		t.Errorf("the place is free before the commit is over: %v", err)
	}
	h.quotas.release([]store.NewInstance{child})
	if over := reserve(); over != nil {
		t.Errorf("the commit failed: %v", over)
	}
}

// TestQuotaOfATreeAcrossLives: what an instance started counts for the one that it goes on as, and frees its place
// when it ends.
func TestQuotaOfATreeAcrossLives(t *testing.T) {
	h := newHarness(t, nil, withQuotas(Quotas{TreeInstances: 3}))
	h.deploy(build("leaf").main(delay(150*time.Minute)), build("root").main(spawn("leaf", false), delay(time.Hour), continueAs("root")))
	h.start("root", `{}`)
	most := int64(0)
	for range 12 {
		h.run(time.Hour)
		most = max(most, h.open())
	}
	started := 0
	for _, row := range h.list() {
		if row.Definition == "leaf" {
			started++
		}
	}
	if most != 3 || started < 4 || started > 10 {
		t.Errorf("%d were open, %d leaves were started", most, started)
	}
}

// TestQuotaOfALargeTree: it is known as large until the store says that it is not.
func TestQuotaOfALargeTree(t *testing.T) {
	h := newHarness(t, nil, withQuotas(Quotas{TreeInstances: 2}))
	h.deploy(build("leaf").main(delay(time.Hour)), build("root").main(spawn("leaf", false), spawn("leaf", false), spawn("leaf", false), delay(2*time.Hour), spawn("leaf", true)))
	id := h.start("root", `{}`)
	h.poll()
	if got := h.open(); got != 3 {
		t.Fatalf("%d are open", got)
	}
	row := h.get(id)
	if over, err := h.quotas.reserve(t.Context(), h.store, &store.Instance{Tree: treeOf(&row)}, false); over == nil || err != nil {
		t.Fatalf("%v %v", over, err)
	}
	if len(h.quotas.trees) != 1 {
		t.Fatalf("trees %v", h.quotas.trees)
	}
	h.run(90 * time.Minute)
	if err := h.quotas.readTrees(t.Context(), h.store); err != nil || len(h.quotas.trees) != 0 {
		t.Errorf("%v %v", h.quotas.trees, err)
	}
	h.run(4 * time.Hour)
	h.want(id, core.Completed, "")
}

// TestQuotaOfADefinition: it keeps other definitions from nothing, and ends with the instances.
func TestQuotaOfADefinition(t *testing.T) {
	h := newHarness(t, nil, withQuotas(Quotas{Instances: 4, DefinitionInstances: 2}))
	h.deploy(build("full").main(delay(time.Hour)), build("other").main(delay(2*time.Hour)))
	h.start("full", `{}`)
	h.start("full", `{}`)
	refused := func(definition, limit string) {
		t.Helper()
		_, err := h.Start(t.Context(), StartRequest{Definition: definition})
		var over *QuotaError
		if !errors.As(err, &over) || over.Limit != limit || !strings.Contains(err.Error(), limit) {
			t.Errorf("%s: %v, want %s", definition, err, limit)
		}
	}
	refused("full", "quota-definition-instances")
	h.start("other", `{}`)
	h.start("other", `{}`)
	h.deploy(build("third").main(delay(time.Hour)))
	refused("third", "quota-instances")
	h.run(time.Hour)
	h.start("full", `{}`)
	var counts []int64
	h.QuotaRefusals(func(_ string, n int64) { counts = append(counts, n) })
	if !slices.Equal(counts, []int64{1, 1, 0}) {
		t.Errorf("refusals %v", counts)
	}
}

// TestQuotaOfASubWorkflow is a fault that a workflow can catch; continueAs replaces an instance.
func TestQuotaOfASubWorkflow(t *testing.T) {
	h := newHarness(t, nil, withQuotas(Quotas{DefinitionInstances: 1}))
	b, next := build("parent"), build("next")
	caught := b.region(ir.Region{Name: "R", Catch: []ir.Catch{{Error: core.FaultStateLimit, Next: 3}}}, spawn("child", true))
	h.deploy(build("child").main(delay(time.Hour)), b.main(caught), build("bare").main(spawn("child", true)), next.main(delay(time.Minute), continueAs("next")))
	h.start("child", `{}`)
	id, bare := h.start("parent", `{}`), h.start("bare", `{}`)
	h.poll()
	h.want(id, core.Completed, "")
	h.wantFault(bare, core.FaultStateLimit)
	if f := h.get(bare).Fault; !strings.Contains(f.Detail, "limit quota-definition-instances") {
		t.Errorf("fault %+v", f)
	}
	id = h.start("next", `{}`)
	h.run(90 * time.Second)
	h.want(id, core.Completed, "")
	if got := h.open(); got != 2 { // the child, and the next one
		t.Errorf("%d are open", got)
	}
}

// TestQuotaOfEvents: an event from outside is refused whole, so that its sender sends it again. One that an instance
// produced is given to everybody else.
func TestQuotaOfEvents(t *testing.T) {
	h := newHarness(t, nil, withQuotas(Quotas{DefinitionInstances: 1}))
	waits := build("waits")
	producer := build("producer")
	h.deploy(starter("w", time.Hour), waits.main(await("Wait", 0, waits.event("reading"))), producer.main(producer.emit("reading", `{"patientId": "3"}`)))
	h.send(`reading e1 patientId=1`)
	id := h.start("waits", `{}`)
	h.poll()
	second := ev(t, `reading e2 patientId=2`)
	var over *QuotaError
	if _, err := h.Send(t.Context(), second); !errors.As(err, &over) {
		t.Fatalf("%v", err)
	}
	h.poll()
	h.want(id, core.Waiting, "")

	h.start("producer", `{}`)
	h.poll()
	h.want(id, core.Completed, "")
	if got := len(h.list()); got != 3 {
		t.Errorf("%d instances", got)
	}
	if err := h.Control(t.Context(), h.list()[0].ID, core.Control{Verb: core.VerbTerminate}); err != nil {
		t.Fatal(err)
	}
	sent, err := h.Send(t.Context(), second)
	if err != nil || sent.Duplicate || len(sent.Started) != 1 {
		t.Errorf("%+v %v", sent, err)
	}
}

// TestQuotaOfAnotherNode: what others started counts once it was read.
func TestQuotaOfAnotherNode(t *testing.T) {
	h := newHarness(t, nil, withQuotas(Quotas{DefinitionInstances: 2}))
	h.deploy(build("w").main(delay(time.Hour)))
	h.start("w", `{}`)
	h.start("w", `{}`)
	other := newHarness(t, nil, withQuotas(Quotas{DefinitionInstances: 2}), func(c *Config) { c.Store, c.Clock = h.store, h.clock })
	if err := other.quotas.read(t.Context(), h.store.Stats); err != nil {
		t.Fatal(err)
	}
	if err := other.checkQuota("w"); err == nil {
		t.Error("those of another node do not count")
	}
	h.run(time.Hour)
	if err := other.quotas.read(t.Context(), h.store.Stats); err != nil {
		t.Fatal(err)
	}
	if err := other.checkQuota("w"); err != nil {
		t.Error(err)
	}
}

// TestQuotaIsReadWhileItRuns: after a restart, what is open counts.
func TestQuotaIsReadWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := memory.New()
		run := func() (*Engine, func()) {
			e, err := New(Config{Store: over, Quotas: Quotas{DefinitionInstances: 1}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); _ = e.Run(ctx) }()
			synctest.Wait()
			return e, func() { stop(); <-done }
		}
		e, stop := run()
		if err := e.Deploy(t.Context(), build("w").main(delay(time.Hour))); err != nil {
			t.Fatal(err)
		}
		start := func() error {
			_, err := e.Start(t.Context(), StartRequest{Definition: "w", Input: expr.EmptyObject})
			return err
		}
		if err := start(); err != nil {
			t.Fatal(err)
		}
		stop()
		e, stop = run()
		var full *QuotaError
		if err := start(); !errors.As(err, &full) {
			t.Errorf("after a restart: %v", err)
		}
		time.Sleep(time.Hour + time.Second)
		if err := start(); err != nil {
			t.Errorf("after the end of the first: %v", err)
		}
		stop()
	})
}

// TestQuotaOfASchedule: the start waits for a place.
func TestQuotaOfASchedule(t *testing.T) {
	h := newHarness(t, nil, withQuotas(Quotas{Instances: 1}))
	cron := build("cron")
	cron.p.Start.Schedule = &ir.Schedule{Cron: "0 * * * *"}
	h.deploy(build("w").main(delay(24*time.Hour)), cron.main())
	id := h.start("w", `{}`)
	h.clock.Advance(t0.Add(61 * time.Minute))
	if _, err := h.Poll(t.Context()); err == nil {
		t.Error("nobody is told that a start waits")
	}
	if got := len(h.list()); got != 1 {
		t.Errorf("%d instances", got)
	}
	if err := h.Control(t.Context(), id, core.Control{Verb: core.VerbTerminate}); err != nil {
		t.Fatal(err)
	}
	h.run(10 * time.Minute)
	if got := len(h.list()); got != 2 {
		t.Errorf("%d instances", got)
	}
}
