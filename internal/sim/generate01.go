package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// generate01 makes a case in one of the three forms of version 0.1. Everything is made
// in kebab-case first, and spelled as the form does in the end.
func generate01(g *gen) {
	g.c.Dialect = pick(g, early01, kebab01, camel01)
	for i := range pick(g, 0, 0, 1, 2) {
		g.subs = append(g.subs, fmt.Sprintf("sub%d", i+1))
	}
	g.c.ByHand = true
	g.c.Def = g.workflow01("main", g.subs, 1+g.r.IntN(5), true)
	for i, id := range g.subs {
		g.c.Subs = append(g.c.Subs, g.workflow01(id, g.subs[i+1:], 1+g.r.IntN(3), false))
	}
	g.input()
}

// builder01 is a definition in the making.
type builder01 struct {
	caller
	subs     []string
	triggers []expr.Value
	starts   bool // the first state's events begin it
	branches int
}

// scope01 is the workflow or a branch in the making.
type scope01 struct {
	*builder01
	names []string // of states that come one after the other
	ends  []string // of END states
	at    int
	depth int
}

func (g *gen) workflow01(id string, subs []string, n int, root bool) expr.Value {
	b := &builder01{caller: caller{g: g, id: id}, subs: subs}
	for i := range 1 + g.r.IntN(3) {
		b.functions = append(b.functions, fmt.Sprintf("%s.f%d", id, i+1))
	}
	b.pool = b.functions
	if root && g.chance(25) {
		b.starts, g.c.ByHand = true, false
	}
	def := obj("name", expr.String(id))
	if g.c.Dialect == camel01 {
		def = obj("id", expr.String(id), "name", expr.String(id), "version", expr.String("1.0"))
	}
	def = b.scope(def, "S", n, 0)
	if len(b.triggers) > 0 {
		def = def.With("trigger-defs", expr.Array(b.triggers...))
	}
	return g.spell(def)
}

// scope adds states to a definition or a branch.
func (b *builder01) scope(def expr.Value, prefix string, n, depth int) expr.Value {
	g := b.g
	s := &scope01{builder01: b, depth: depth}
	for i := range n {
		s.names = append(s.names, fmt.Sprintf("%s%d", prefix, i+1))
	}
	for i := range pick(g, 0, 1, 1, 1, 2) {
		s.ends = append(s.ends, fmt.Sprintf("%sEnd%d", prefix, i+1))
	}
	var states []expr.Value
	for s.at < len(s.names) {
		if g.chance(8) && (s.at > 0 || !b.starts || depth > 0) {
			states = append(states, s.loop()...)
			s.at++
			continue
		}
		states = append(states, s.state())
		s.at++
	}
	for _, name := range s.ends {
		end := obj("name", expr.String(name), "type", expr.String(pick(g, "END", "End")))
		if g.chance(60) {
			end = end.With("status", expr.String(pick(g, "SUCCESS", "SUCCESS", "FAILURE")))
		}
		states = append(states, end)
	}
	states = reachable01(states)
	first := states[0]
	switch {
	case g.c.Dialect == camel01:
		def = def.With("starts-at", expr.String(pick(g, str(first, "name"), idOrName(first))))
	default:
		states[0] = first.With("start", expr.Bool(true))
	}
	if g.chance(30) {
		g.r.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
	}
	return def.With("states", expr.Array(states...))
}

func idOrName(st expr.Value) string {
	if id := str(st, "id"); id != "" {
		return id
	}
	return str(st, "name")
}

// reachable01 drops states that nothing leads to from the first. A single END state is
// where event states lapse to.
func reachable01(all []expr.Value) []expr.Value {
	wanted := []expr.Value{all[0]}
	for i := 0; i < len(wanted); i++ {
		to := targets01(wanted[i], nil)
		for _, st := range all {
			if slices.Contains(to, str(st, "name")) || slices.Contains(to, str(st, "id")) && str(st, "id") != "" {
				if !slices.ContainsFunc(wanted, func(w expr.Value) bool { return w.Same(st) }) {
					wanted = append(wanted, st)
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(st expr.Value) bool {
		return !slices.ContainsFunc(wanted, func(w expr.Value) bool { return w.Same(st) })
	})
}

func targets01(v expr.Value, to []string) []string {
	for _, m := range v.Members() {
		switch m.Key {
		case "next-state", "default":
			to = append(to, m.Value.Str())
		case "branches":
			continue
		}
		to = targets01(m.Value, to)
	}
	for _, item := range v.Items() {
		to = targets01(item, to)
	}
	return to
}

// state makes the next state of the scope.
func (s *scope01) state() expr.Value {
	g := s.g
	st := obj("name", expr.String(s.names[s.at]))
	if g.chance(15) {
		st = st.With("id", expr.String("id-"+s.names[s.at]))
	}
	kinds := []string{"OPERATION", "OPERATION", "OPERATION", "SWITCH", "SWITCH", "DELAY", "EVENT", "EVENT"}
	if s.depth < 2 {
		kinds = append(kinds, "PARALLEL", "PARALLEL")
	}
	if len(s.subs) > 0 {
		kinds = append(kinds, "SUBFLOW", "SUBFLOW")
	}
	kind := pick(g, kinds...)
	first := s.at == 0 && s.depth == 0
	for first && kind == "EVENT" && !s.starts {
		kind = pick(g, kinds...) // its events would start it
	}
	if first && s.starts {
		kind = "EVENT"
	}
	st = st.With("type", expr.String(pick(g, kind, kind, strings.ToLower(kind))))
	switch kind {
	case "OPERATION":
		st = s.next(s.withActions(st, 3))
	case "DELAY":
		st = s.next(st.With("time-delay", s.delayed()))
	case "SWITCH":
		st = s.switchState(st)
	case "EVENT":
		st = s.eventState(st, first)
	case "PARALLEL":
		st = s.next(s.parallel(st))
	case "SUBFLOW":
		st = s.next(st.With("workflow-id", expr.String(pick(g, s.subs...))))
		if g.chance(85) {
			st = st.With("wait-for-completion", expr.Bool(g.chance(70)))
		}
	}
	return s.filtered(st, 12)
}

// next adds where to go on: to a later state, an END state, or nowhere.
func (s *scope01) next(st expr.Value) expr.Value {
	to := s.target()
	switch {
	case to == "" && s.g.c.Dialect == camel01 && s.g.chance(70):
		return st.With("end", expr.Bool(true))
	case to == "":
		return st
	}
	st = st.With("next-state", expr.String(to))
	if s.g.chance(4) {
		st = st.With("end", expr.Bool(true)) // which wins
	}
	return st
}

// target draws a later state; "": none.
func (s *scope01) target() string {
	g := s.g
	later := s.names[s.at+1:]
	switch {
	case len(later) > 0 && g.chance(85):
		if g.chance(75) {
			return later[0]
		}
		return pick(g, later...)
	case len(s.ends) > 0 && g.chance(80):
		return pick(g, s.ends...)
	}
	return ""
}

// sure draws a state, of which there must be one.
func (s *scope01) sure() string {
	if to := s.target(); to != "" {
		return to
	}
	if len(s.ends) == 0 {
		s.ends = append(s.ends, fmt.Sprintf("%sEnd", s.names[0]))
	}
	return pick(s.g, s.ends...)
}

// filtered adds a filter.
func (s *scope01) filtered(v expr.Value, percent int) expr.Value {
	g := s.g
	filter := expr.EmptyObject
	if g.chance(percent) {
		filter = filter.With("input-path", g.path01())
	}
	result := ""
	if g.chance(percent) {
		result = pick(g, "$.o1", "$.r", "$.o2.r", "$['x1'].s1", "$")
		filter = filter.With("result-path", expr.String(result))
	}
	if g.chance(percent) {
		path := g.path01()
		if result != "" && g.chance(60) {
			path = expr.String(pick(g, result, "$.o1", "$.r"))
		}
		filter = filter.With("output-path", path)
	}
	if filter.Len() > 0 {
		v = v.With("filter", filter)
	}
	return v
}

func (g *gen) path01() expr.Value {
	return expr.String(pick(g, "$", "$.o1", "$.o1", "$.o2", "$.o2", "$.o1.o2", "$.n1", "$.s1", "$.a1", "$.a2", "$.a2[0]", "$.a2[*]", "$.a2[?(@.ok == true)]",
		"$.missing", "$.missing[*]", "$.o1.s1", "$.a2[*].v", "$..v", "$.x1", "$['o1']", "$.a1[0:2]"))
}

// seconds writes a time as the form does.
func (g *gen) seconds(most time.Duration) expr.Value {
	d := g.span(most)
	if g.c.Dialect == camel01 || g.chance(70) {
		return expr.String(duration(d))
	}
	n := 1 + int64(d/time.Second)
	return pick(g, expr.Int(n), expr.String(fmt.Sprint(n)))
}

func (s *scope01) delayed() expr.Value {
	if s.g.chance(20) {
		return expr.String(Epoch.Add(s.g.span(4*time.Minute) - 30*time.Second).Format(time.RFC3339Nano))
	}
	return s.g.seconds(2 * time.Minute)
}

// parallel makes branches with states of their own.
func (s *scope01) parallel(st expr.Value) expr.Value {
	g := s.g
	var branches []expr.Value
	for i := range 1 + g.r.IntN(3) {
		br := obj("name", expr.String(fmt.Sprintf("B%d", i+1)))
		if g.chance(85) {
			br = br.With("wait-for-completion", expr.Bool(g.chance(75)))
		}
		s.branches++
		prefix := pick(g, fmt.Sprintf("B%d.", s.branches), fmt.Sprintf("B%d.", s.branches), "S")
		s.alone(func() { branches = append(branches, s.scope(br, prefix, 1+g.r.IntN(2), s.depth+1)) })
	}
	return st.With("branches", expr.Array(branches...))
}

// loop makes an operation and a switch that goes back to it until it is enough.
func (s *scope01) loop() []expr.Value {
	name := s.names[s.at]
	f := fmt.Sprintf("%s.loop%d.%d", s.id, s.depth, len(s.functions))
	s.functions = append(s.functions, f)
	times := s.g.r.IntN(3)
	for i := range 4 {
		s.g.mocks[f] = append(s.g.mocks[f], Answer{HasResult: true, Delay: s.g.delay(), Result: obj("more", expr.Bool(i < times), "n1", expr.Int(int64(i)))})
	}
	body := obj("name", expr.String(name), "type", expr.String("OPERATION"), "actions", expr.Array(obj("function", s.function(f, false))),
		"next-state", expr.String(name+"Again"))
	again := obj("name", expr.String(name+"Again"), "type", expr.String("SWITCH"), "choices",
		expr.Array(obj("path", expr.String("$.more"), "operator", expr.String("EQ"), "value", expr.String("true"), "next-state", expr.String(name))),
		"default", expr.String(s.sure()))
	return []expr.Value{body, again}
}

// spell writes a definition as its form does: filters of the earliest draft stand on
// their holder, keys of the last one are in camelCase.
func (g *gen) spell(v expr.Value) expr.Value {
	out := expr.EmptyObject
	switch {
	case v.IsArray():
		items := slices.Clone(v.Items())
		for i := range items {
			items[i] = g.spell(items[i])
		}
		return expr.Array(items...)
	case !v.IsObject():
		return v
	}
	for _, m := range v.Members() {
		inline := m.Key == "filter" && g.c.Dialect == early01 && g.chance(70)
		switch {
		case m.Key == "parameters":
			out = out.With(m.Key, m.Value)
		case inline:
			for _, f := range m.Value.Members() {
				key := camelCase(f.Key)
				out = out.With(strings.ToUpper(key[:1])+key[1:], f.Value)
			}
		case g.c.Dialect == camel01:
			out = out.With(camelCase(m.Key), g.spell(m.Value))
		default:
			out = out.With(m.Key, g.spell(m.Value))
		}
	}
	return out
}
