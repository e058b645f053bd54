package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// builder makes small programs by hand.
type builder struct{ p *ir.Program }

func build(id string) *builder {
	return &builder{&ir.Program{
		ID: id, Version: "1", Dialect: "test", Edition: ir.Edition,
		Nodes: make([]ir.Node, 1), Exprs: make([]ir.Expr, 1), Regions: []ir.Region{{Name: id}},
	}}
}

func (b *builder) expr(lang, src string) ir.ExprID {
	b.p.Exprs = append(b.p.Exprs, ir.Expr{Lang: lang, Src: src})
	return ir.ExprID(len(b.p.Exprs) - 1)
}

// event declares an event of its name as type, from "src"; keys are correlation
// attributes, or attribute=value.
func (b *builder) event(name string, keys ...string) ir.EventID {
	e := ir.Event{Name: name, Type: name, Source: "src"}
	for _, k := range keys {
		attr, value, given := strings.Cut(k, "=")
		c := ir.Correlation{Attribute: attr}
		if given {
			c.Value = b.expr(jsonpath.TemplateLang, fmt.Sprintf("%q", value))
		}
		e.Correlate = append(e.Correlate, c)
	}
	b.p.Events = append(b.p.Events, e)
	return ir.EventID(len(b.p.Events) - 1)
}

// step is an operation with the name of its state.
type stepOp struct {
	name string
	op   ir.Op
}

func (b *builder) call(function string) stepOp {
	i := slices.IndexFunc(b.p.Functions, func(f ir.Function) bool { return f.Name == function })
	if i < 0 {
		i = len(b.p.Functions)
		b.p.Functions = append(b.p.Functions, ir.Function{Name: function})
	}
	return stepOp{"Call " + function, &ir.Call{Function: ir.FunctionID(i), Data: true, Result: ir.Put{Mode: ir.PutMerge}}}
}

func await(name string, timeout time.Duration, events ...ir.EventID) stepOp {
	op := &ir.Await{Need: len(events)}
	for _, id := range events {
		op.Arms = append(op.Arms, ir.Arm{Event: id, Put: ir.Put{Mode: ir.PutMerge}})
	}
	if timeout > 0 || len(events) == 0 {
		op.Timeout = span(timeout)
	}
	return stepOp{name, op}
}

func span(d time.Duration) ir.Span { return ir.Span{Set: true, Nanos: int64(d)} }

func delay(d time.Duration) stepOp { return await("Delay", d) }

func (b *builder) emit(name string, attrs string) stepOp {
	b.p.Events = append(b.p.Events, ir.Event{Name: name, Type: name, Source: "src", Produced: true})
	op := &ir.Emit{Event: ir.EventID(len(b.p.Events) - 1), From: b.expr(jsonpath.TemplateLang, `{"from": "`+b.p.ID+`"}`)}
	if attrs != "" {
		op.Attrs = b.expr(jsonpath.TemplateLang, attrs)
	}
	return stepOp{"Emit " + name, op}
}

func spawn(workflow string, wait bool) stepOp {
	return stepOp{"Spawn " + workflow, &ir.Spawn{Workflow: workflow, Wait: wait, Result: ir.Put{Mode: ir.PutMerge}}}
}

func raise(name string) stepOp { return stepOp{"Raise", &ir.Raise{Error: name}} }

// region adds steps in a row as a region and returns how to enter it.
func (b *builder) region(r ir.Region, steps ...stepOp) stepOp {
	r.Entry = b.row(steps)
	b.p.Regions = append(b.p.Regions, r)
	return stepOp{r.Name, &ir.Enter{Region: ir.RegionID(len(b.p.Regions) - 1)}}
}

func (b *builder) row(steps []stepOp) ir.NodeID {
	first := ir.NodeID(len(b.p.Nodes))
	for i, s := range steps {
		n := ir.Node{Name: s.name, Op: s.op, Mark: ir.MarkEntered}
		if i+1 < len(steps) {
			n.Next = first + ir.NodeID(i) + 1
		}
		if a, ok := s.op.(*ir.Await); ok {
			a.OnTimeout = n.Next
			for k := range a.Arms {
				a.Arms[k].Next = n.Next
			}
		}
		b.p.Nodes = append(b.p.Nodes, n)
	}
	return first
}

// main makes the steps the workflow and returns the program.
func (b *builder) main(steps ...stepOp) *ir.Program {
	entry := b.row(append(steps, stepOp{"End", &ir.End{}}))
	b.p.Regions[0].Entry = entry
	for _, n := range b.p.Nodes[entry:] {
		// A timeout at the end of the row goes on at the End, not nowhere.
		if a, ok := n.Op.(*ir.Await); ok && a.OnTimeout == 0 {
			panic("await at the end")
		}
	}
	return b.p
}

// harness is an engine under virtual time.
type harness struct {
	*Engine
	t     testing.TB
	clock *VirtualClock
	mock  *mock.Invoker
	store store.Store
	log   []string // records and produced events as they came
	ids   int
}

var t0 = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

type option func(*Config)

// noChunks has all values where the instance is, so that damage to one of them is not damage to several.
func noChunks(c *Config) { c.ChunkBytes = core.ChunkBytes }

func newHarness(t testing.TB, mocks mock.Mocks, opts ...option) *harness {
	t.Helper()
	h := &harness{t: t, clock: NewVirtualClock(t0), mock: mock.New(mocks, nil), store: newStore(t)}
	cfg := Config{
		Store: h.store, Clock: h.clock, Invoker: h.mock, Languages: jsonpath.Languages(), Inline: true, Timezone: "UTC", ChunkBytes: 16, // most values are large
		NewID: func() string { h.ids++; return fmt.Sprintf("i%d", h.ids) },
		OnRecord: func(id string, r core.Record) {
			h.log = append(h.log, fmt.Sprintf("%s %s %s %s %s %v %s", r.Time, id, r.Type, r.Node, r.Name, r.Fault, r.Data))
		},
		OnEmit: func(id string, e event.Event) { h.log = append(h.log, id+" emits "+e.Value().String()) },
	}
	for _, o := range opts {
		o(&cfg)
	}
	h.store = cfg.Store
	var err error
	if h.Engine, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	return h
}

// again is another engine over the same store and clock, as after a restart. It has the same answers to calls.
func (h *harness) again() *harness {
	h.t.Helper()
	out := newHarness(h.t, nil, func(c *Config) { c.Store, c.Clock, c.Invoker = h.store, h.clock, h.mock })
	out.clock, out.mock, out.ids = h.clock, h.mock, h.ids
	return out
}

func (h *harness) deploy(programs ...*ir.Program) {
	h.t.Helper()
	for _, p := range programs {
		if err := h.Deploy(context.Background(), p); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *harness) start(definition, input string) string {
	h.t.Helper()
	id, err := h.Start(context.Background(), StartRequest{Definition: definition, Input: parse(h.t, input)})
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

func (h *harness) startInput(definition, input string) {
	h.t.Helper()
	if err := h.SetStartInput(h.t.Context(), definition, parse(h.t, input)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *harness) send(text string) Sent {
	h.t.Helper()
	sent, err := h.Send(context.Background(), ev(h.t, text))
	if err != nil {
		h.t.Fatal(err)
	}
	return sent
}

// ev reads "type id attr=value … {data}"; the source is "src".
func ev(t testing.TB, text string) event.Event {
	t.Helper()
	head, data, _ := strings.Cut(text, "{")
	fields := strings.Fields(head)
	out := event.Event{Type: fields[0], ID: fields[1], Source: "src"}
	for _, f := range fields[2:] {
		name, value, _ := strings.Cut(f, "=")
		out.Put(name, expr.String(value))
	}
	if data != "" {
		out.Data, out.HasData = parse(t, "{"+data), true
	}
	return out
}

// run lets virtual time pass for d.
func (h *harness) run(d time.Duration) {
	h.t.Helper()
	if err := h.runUntil(h.clock.Now().Add(d)); err != nil {
		h.t.Fatal(err)
	}
}

// runUntil moves the clock from one instant with work to the next, and in the end to the given one.
// Package trial, which does the same for others, imports this one.
func (h *harness) runUntil(end time.Time) error {
	for {
		if _, err := h.Poll(context.Background()); err != nil {
			return err
		}
		next, ok := h.Next()
		if !ok || next.After(end) {
			h.clock.Advance(end)
			return nil
		}
		h.clock.Advance(next)
	}
}

func (h *harness) poll() {
	h.t.Helper()
	if _, err := h.Poll(context.Background()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *harness) get(id string) Instance {
	h.t.Helper()
	row, err := h.Get(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return row
}

// want checks status and output of an instance.
func (h *harness) want(id string, status core.Status, output string) {
	h.t.Helper()
	row := h.get(id)
	if row.Status != status || output != "" && row.Output.String() != output {
		h.t.Errorf("instance %s is %s with %s (%v), want %s with %s", id, row.Status, row.Output, row.Fault, status, output)
	}
}

// wantFault checks that an instance failed with a fault of that name.
func (h *harness) wantFault(id, name string) {
	h.t.Helper()
	row := h.get(id)
	if row.Status != core.Failed || row.Fault == nil || row.Fault.Name != name {
		h.t.Errorf("instance %s is %s with fault %v, want %s", id, row.Status, row.Fault, name)
	}
}

// elapsed is how long an instance took.
func (h *harness) elapsed(id string) time.Duration {
	h.t.Helper()
	row := h.get(id)
	return time.Duration(row.Ended - row.Created)
}

func (h *harness) list() []Instance {
	h.t.Helper()
	list, err := h.List(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

func parse(t testing.TB, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func gives(text string) mock.Answer {
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return mock.Answer{Result: v, HasResult: true}
}

func fails(name string) mock.Answer { return mock.Answer{Error: &effect.Failure{Name: name}} }

func after(d time.Duration, a mock.Answer) mock.Answer {
	a.Delay = d
	return a
}

// withoutCache makes every step read its state from the store.
func withoutCache(h *harness) { h.live.capacity = 0 }
