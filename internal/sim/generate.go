package sim

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// generate05 makes a case in version 0.5.
func generate05(g *gen) {
	for i := range pick(g, 0, 1, 2, 2, 3, 3) {
		g.subs = append(g.subs, fmt.Sprintf("sub%d", i+1))
	}
	// A definition refers only to those after it, so that none comes back to itself.
	g.c.Def = g.workflow("main", g.subs, 1+g.r.IntN(6), true)
	for i, id := range g.subs {
		g.c.Subs = append(g.c.Subs, g.workflow(id, g.subs[i+1:], 1+g.r.IntN(3), false))
	}
	g.input()
}

// input draws what goes in.
func (g *gen) input() {
	g.c.Input = g.object(2)
	if g.chance(85) { // a large vocabulary makes most paths select something
		g.c.Input = g.fullObject()
	}
	if !g.c.ByHand {
		g.c.Input = expr.Null
	}
}

type gen struct {
	r      *rand.Rand
	c      *Case
	subs   []string
	mocks  map[string][]Answer
	events int
	made   []expr.Value // definitions of produced events
	theme  []string     // kinds of tasks that the case has many of, in 1.0
	older  bool         // it is in 0.2
}

func (g *gen) chance(percent int) bool { return g.r.IntN(100) < percent }

func pick[T any](g *gen, list ...T) T { return list[g.r.IntN(len(list))] }

// finish puts mocks and events in order.
func (g *gen) finish() {
	names := make([]string, 0, len(g.mocks))
	for name := range g.mocks {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		g.c.Mocks = append(g.c.Mocks, Mock{name, g.mocks[name]})
	}
	sort.SliceStable(g.c.Events, func(i, j int) bool { return g.c.Events[i].At < g.c.Events[j].At })
}

// builder is a definition in the making.
type builder struct {
	caller
	subs    []string
	states  []expr.Value
	extra   []expr.Value // handlers and compensating states
	events  []expr.Value
	retries []expr.Value
	names   []string // of the main states
	at      int      // the index of the state in the making
	undo    bool     // it is a compensating state
}

// caller is a definition in the making, of any version, that calls functions.
type caller struct {
	g         *gen
	id        string
	functions []string
	pool      []string // those that actions call here
}

// alone makes something that runs beside others. It calls functions of its own:
// who gets which answer of a shared one would be a race.
func (c *caller) alone(make func()) {
	pool := c.pool
	if c.g.chance(90) {
		f := fmt.Sprintf("%s.g%d", c.id, len(c.functions)+1)
		c.functions = append(c.functions, f)
		c.pool = []string{f}
	}
	make()
	c.pool = pool
}

// workflow makes a definition of about n states.
func (g *gen) workflow(id string, subs []string, n int, root bool) expr.Value {
	b := &builder{caller: caller{g: g, id: id}, subs: subs}
	for i := range 1 + g.r.IntN(4) {
		b.functions = append(b.functions, fmt.Sprintf("%s.f%d", id, i+1))
	}
	b.pool = b.functions
	for i := range n {
		b.names = append(b.names, fmt.Sprintf("S%d", i+1))
	}
	g.c.ByHand = g.c.ByHand || root
	for b.at = 0; b.at < len(b.names); {
		switch {
		case b.at == 0 && root && g.chance(12):
			g.c.ByHand = false
			b.states = append(b.states, b.eventState(true))
			b.at++
		case g.chance(12):
			b.loop()
		default:
			b.states = append(b.states, b.state(b.names[b.at]))
			b.at++
		}
	}
	b.states[0] = b.states[0].With("start", b.start(root))
	def := obj("id", expr.String(id), "name", expr.String(id), "version", expr.String("1.0"),
		"states", expr.Array(b.reachable()...))
	functions := make([]expr.Value, len(b.functions))
	for i, f := range b.functions {
		functions[i] = obj("name", expr.String(f))
	}
	def = def.With("functions", expr.Array(functions...))
	if len(b.events) > 0 {
		def = def.With("events", expr.Array(b.events...))
	}
	if len(b.retries) > 0 {
		def = def.With("retries", expr.Array(b.retries...))
	}
	return def
}

// start is how the first state begins; a child's schedule may be over.
func (b *builder) start(root bool) expr.Value {
	if !root && b.g.chance(8) {
		interval := "2020-01-01T00:00:00Z/2020-02-01T00:00:00Z"
		if b.g.chance(30) {
			interval = "2020-01-01T00:00:00Z/2030-02-01T00:00:00Z"
		}
		return obj("kind", expr.String("scheduled"), "schedule",
			obj("interval", expr.String(interval), "directInvoke", expr.String("deny")))
	}
	return obj("kind", expr.String("default"))
}

// reachable drops states that nothing leads to.
func (b *builder) reachable() []expr.Value {
	all := append(append([]expr.Value{}, b.states...), b.extra...)
	wanted := map[string]bool{str(all[0], "name"): true}
	for changed := true; changed; {
		changed = false
		for _, st := range all {
			if !wanted[str(st, "name")] {
				continue
			}
			for _, name := range targets(st, nil) {
				for _, to := range all {
					if (str(to, "name") == name || str(to, "id") == name) && !wanted[str(to, "name")] {
						wanted[str(to, "name")], changed = true, true
					}
				}
			}
		}
	}
	var out []expr.Value
	for _, st := range all {
		if wanted[str(st, "name")] {
			out = append(out, st)
		}
	}
	return out
}

// targets lists the states that a part of a definition leads to.
func targets(v expr.Value, to []string) []string {
	for _, m := range v.Members() {
		if m.Key == "nextState" || m.Key == "compensatedBy" {
			to = append(to, m.Value.Str())
		}
		to = targets(m.Value, to)
	}
	for _, item := range v.Items() {
		to = targets(item, to)
	}
	return to
}

// obj makes an object of keys and values.
func obj(pairs ...any) expr.Value {
	v := expr.EmptyObject
	for i := 0; i < len(pairs); i += 2 {
		v = v.With(pairs[i].(string), pairs[i+1].(expr.Value))
	}
	return v
}

// duration writes a time as ISO 8601.
func duration(d time.Duration) string {
	if d%time.Minute == 0 && d > 0 {
		return fmt.Sprintf("PT%dM", d/time.Minute)
	}
	if d%time.Second == 0 {
		return fmt.Sprintf("PT%dS", d/time.Second)
	}
	return fmt.Sprintf("PT%d.%03dS", d/time.Second, d%time.Second/time.Millisecond)
}

// span draws a time in odd milliseconds, so that two of them rarely meet.
func (g *gen) span(most time.Duration) time.Duration {
	return time.Duration(1+g.r.Int64N(int64(most/time.Millisecond))) * time.Millisecond
}
