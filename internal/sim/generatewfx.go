package sim

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// machine is a state machine of wfx in the making. Ways lead from a state to a later
// one only.
type machine struct {
	g     *gen
	names []string
	ways  []way
	hops  []bool // states that are left at once
}

type way struct {
	from, to int
	actor    string
}

// generateWFX makes a case of wfx: a job workflow, and what its actors send.
func generateWFX(g *gen) {
	g.c.ByHand = true
	g.c.Input = pick(g, expr.Null, g.object(1), g.object(2))
	m := &machine{g: g}
	n := pick(g, 1, 2, 3, 4, 5, 5, 6, 7, 8)
	for i := range n {
		m.names = append(m.names, pick(g, fmt.Sprintf("S%d", i), fmt.Sprintf("S%d", i), fmt.Sprintf("state %d", i)))
		m.hops = append(m.hops, n > 1 && g.chance(35))
	}
	m.connect()
	g.c.Def = m.definition()
	m.updates()
}

// connect draws ways until every state can be reached, and some more.
func (m *machine) connect() {
	g := m.g
	for to := 1; to < len(m.names); to++ {
		var free []int
		for from := range to {
			if !m.hops[from] || !m.leaves(from) {
				free = append(free, from)
			}
		}
		from := free[len(free)-1] // the last state is always free: a long path
		if g.chance(40) {
			from = pick(g, free...)
		}
		m.link(from, to)
	}
	for range g.r.IntN(4) {
		if n := len(m.names); n > 1 {
			if from := g.r.IntN(n - 1); !m.hops[from] {
				m.link(from, from+1+g.r.IntN(n-1-from))
			}
		}
	}
	for i := range m.names { // these need not be said
		if !m.hops[i] && g.chance(8) || len(m.names) == 1 {
			m.add(way{i, i, pick(g, "CLIENT", "WFX")})
		}
	}
}

func (m *machine) leaves(from int) bool {
	for _, w := range m.ways {
		if w.from == from {
			return true
		}
	}
	return false
}

func (m *machine) link(from, to int) {
	if m.hops[from] {
		m.add(way{from, to, "WFX"})
		return
	}
	actor := pick(m.g, "CLIENT", "WFX", "both")
	if actor == "both" {
		m.add(way{from, to, "WFX"})
		actor = "CLIENT"
	}
	m.add(way{from, to, actor})
}

// add adds a way unless it is there.
func (m *machine) add(w way) {
	for _, have := range m.ways {
		if have == w {
			return
		}
	}
	m.ways = append(m.ways, w)
}

func (m *machine) definition() expr.Value {
	g := m.g
	var states, ways, groups []expr.Value
	for i, name := range m.names {
		st := obj("name", expr.String(name))
		if to := m.lapse(i); to >= 0 {
			st = st.With("timeout", obj("after", expr.String(duration(g.span(time.Minute))), "to", expr.String(m.names[to])))
		}
		states = append(states, st)
	}
	for _, w := range m.ways {
		t := obj("from", expr.String(m.names[w.from]), "to", expr.String(m.names[w.to]), "eligible", expr.String(w.actor))
		switch {
		case m.hops[w.from] && w.from != w.to:
			t = t.With("action", expr.String("IMMEDIATE"))
		case w.actor == "WFX" && g.chance(40):
			t = t.With("action", expr.String("WAIT"))
		}
		ways = append(ways, t)
	}
	g.r.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
	g.r.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
	def := obj("name", expr.String("main"), "states", expr.Array(states...), "transitions", expr.Array(ways...))
	in := [3][]expr.Value{}
	for _, name := range m.names {
		if n := g.r.IntN(len(in) + 1); n < len(in) {
			in[n] = append(in[n], expr.String(name))
		}
	}
	for i, list := range in {
		if len(list) > 0 {
			groups = append(groups, obj("name", expr.String(fmt.Sprintf("G%d", i)), "states", expr.Array(list...)))
		}
	}
	if len(groups) > 0 {
		def = def.With("groups", expr.Array(groups...))
	}
	return def
}

// lapse draws where the clock leads from a state; -1: nowhere.
func (m *machine) lapse(from int) int {
	if m.hops[from] || m.g.chance(60) {
		return -1
	}
	var list []int
	for _, w := range m.ways {
		if w.from == from && w.to != from && w.actor == "WFX" {
			list = append(list, w.to)
		}
	}
	if len(list) == 0 {
		return -1
	}
	return pick(m.g, list...)
}

// updates draws what the actors send. It knows about where the job is.
func (m *machine) updates() {
	g := m.g
	at, now := time.Duration(0), 0
	for range 1 + g.r.IntN(10) {
		at += g.span(pick(g, 2*time.Second, 20*time.Second, time.Minute))
		for m.hops[now] && m.leaves(now) {
			now = m.from(now).to
		}
		u := Update{At: at, Kind: UpdateStatus, Actor: pick(g, "CLIENT", "WFX")}
		switch n := g.r.IntN(100); {
		case n < 8:
			u.Kind, u.Actor, u.Value = UpdateDefinition, "", pick(g, g.object(1), g.object(2), expr.Null)
		case n < 16:
			u.Kind, u.Actor, u.Value = pick(g, UpdateAddTags, UpdateDeleteTags), "", expr.Array(expr.String(pick(g, "a", "b", "c")), expr.String(pick(g, "a", "b")))
		case n < 30:
			u.Value = m.status(now)
		case n < 42:
			u.Value = m.status(g.r.IntN(len(m.names)))
		default:
			if m.leaves(now) {
				w := m.from(now)
				if g.chance(85) {
					u.Actor = w.actor
				}
				now = w.to
			}
			u.Value = m.status(now)
		}
		switch n := g.r.IntN(100); {
		case n < 10:
			u.Rev = RevNow
		case n < 18:
			u.Rev = RevStale
		case n < 26 && u.Kind != UpdateAddTags && u.Kind != UpdateDeleteTags:
			u.Client = pick(g, jobClient, "another")
		}
		g.c.Updates = append(g.c.Updates, u)
	}
}

// from draws a way out of a state that has one.
func (m *machine) from(i int) way {
	var list []way
	for _, w := range m.ways {
		if w.from == i {
			list = append(list, w)
		}
	}
	return pick(m.g, list...)
}

func (m *machine) status(state int) expr.Value {
	g := m.g
	v := obj("state", expr.String(m.names[state]))
	if g.chance(40) {
		v = v.With("progress", expr.Int(int64(g.r.IntN(101))))
	}
	if g.chance(30) {
		v = v.With("message", expr.String(pick(g, "on it", "", "soon")))
	}
	if g.chance(20) {
		v = v.With("context", g.object(2))
	}
	return v
}
