package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Generators of the four later versions of Serverless Workflow.
func generate06(g *gen) { generateLater(g, 6) }
func generate07(g *gen) { generateLater(g, 7) }
func generate08(g *gen) { generateLater(g, 8) }
func generate09(g *gen) { generateLater(g, 9) }

// generateLater makes a case in version 0.6, 0.7, 0.8 or 0.9.
func generateLater(g *gen, form int) {
	p := &plan08{form: form, twice: map[string]bool{}, paths: g.chance(4)}
	for i := range pick(g, 0, 1, 1, 2, 2, 3) {
		id := fmt.Sprintf("sub%d", i+1)
		g.subs = append(g.subs, id)
		p.twice[id] = form > 6 && g.chance(15)
	}
	g.c.ByHand = g.chance(88)
	// A definition refers only to those after it, so that none comes back to itself.
	g.c.Def = g.workflow08(p, "main", "1.0.0", g.subs, 1+g.r.IntN(5), true)
	for i, id := range g.subs {
		g.c.Subs = append(g.c.Subs, g.workflow08(p, id, "1.0.0", g.subs[i+1:], 1+g.r.IntN(2), false))
		if p.twice[id] {
			g.c.Subs = append(g.c.Subs, g.workflow08(p, id, "2.0.0", nil, 1, false))
		}
	}
	if g.c.ByHand {
		g.c.Input = g.object08(2)
		if g.chance(85) {
			g.c.Input = g.fullObject08()
		}
	}
	g.detect08(form)
}

// plan08 is what all definitions of a case have in common.
type plan08 struct {
	form  int
	twice map[string]bool // sub-workflows that are there in two versions
	paths bool            // expressions are JSONPaths
}

// builder08 is a definition in the making.
type builder08 struct {
	*plan08
	caller
	subs     []string
	states   []expr.Value
	extra    []expr.Value // handlers and compensating states
	events   []expr.Value
	retries  []expr.Value
	handlers []expr.Value // 0.9
	policies []expr.Value // 0.9
	names    []string     // of the main states
	at       int          // the index of the state in the making
	root     bool
	undo     bool   // a compensating state is in the making
	inside   bool   // an iteration is in the making
	items    string // the name of its variable
	made     int    // actions
	keeps    bool   // the instance is kept active
}

// named writes a name as the version wants it: 0.9 has no capitals and no dots.
func (b *builder08) named(name string) string {
	if b.form < 9 {
		return name
	}
	return strings.ToLower(strings.NewReplacer(".", "-", "_", "-").Replace(name))
}

// alone makes something that runs beside others, with functions of its own.
func (b *builder08) alone(make func()) {
	pool := b.pool
	if b.g.chance(90) {
		b.pool = []string{b.fresh("g", b.g.answers08(b.form, 12))}
	}
	make()
	b.pool = pool
}

// fresh makes a function.
func (b *builder08) fresh(prefix string, answers []Answer) string {
	name := b.named(fmt.Sprintf("%s.%s%d", b.id, prefix, len(b.functions)+1))
	b.functions = append(b.functions, name)
	b.g.mocks[name] = answers
	return name
}

// workflow08 makes a definition of about n states.
func (g *gen) workflow08(p *plan08, id, version string, subs []string, n int, root bool) expr.Value {
	b := &builder08{plan08: p, caller: caller{g: g, id: id}, subs: subs, root: root, keeps: g.chance(3)}
	if version != "1.0.0" {
		b.id += "second"
	}
	for range 1 + g.r.IntN(3) {
		b.pool = append(b.pool, b.fresh("f", g.answers08(p.form, 15)))
	}
	for i := range n {
		b.names = append(b.names, b.named(fmt.Sprintf("S%d", i+1)))
	}
	for b.at = 0; b.at < len(b.names); {
		switch {
		case b.at == 0 && root && !g.c.ByHand:
			b.states = append(b.states, b.common(b.eventState()))
			b.at++
		case g.chance(8):
			b.loop()
		default:
			b.states = append(b.states, b.state(b.names[b.at]))
			b.at++
		}
	}
	def := obj("name", expr.String(id), "version", expr.String(version), "specVersion", expr.String(fmt.Sprintf("0.%d", p.form)))
	if p.form < 9 {
		key := "id"
		if p.form > 6 && g.chance(15) {
			key = "key"
		}
		def = def.With(key, expr.String(id))
	}
	if p.form < 8 || g.chance(70) {
		def = def.With("start", expr.String(b.names[0]))
	}
	limits := b.workflowTimeouts()
	def = def.With("states", expr.Array(b.reachable(limits)...))
	return b.definitions(merge(def, limits))
}

// definitions adds functions, events and the other things that states refer to.
func (b *builder08) definitions(def expr.Value) expr.Value {
	g := b.g
	var functions []expr.Value
	for _, f := range b.functions {
		functions = append(functions, obj("name", expr.String(f), "operation", expr.String("service.json#"+f)))
	}
	if !b.paths {
		for name, operation := range expressionFunctions {
			functions = append(functions, obj("name", expr.String(name), "type", expr.String("expression"), "operation", expr.String(operation)))
		}
		sortByName(functions)
		if b.form > 6 && g.chance(80) {
			def = def.With("constants", obj("c1", expr.Int(7), "c2", obj("deep", expr.String("constant"))))
		}
	} else {
		def = def.With("expressionLang", expr.String("jsonpath"))
	}
	def = def.With("functions", expr.Array(functions...))
	if len(b.events) > 0 {
		def = def.With("events", expr.Array(b.events...))
	}
	if len(b.retries) > 0 {
		def = def.With("retries", expr.Array(b.retries...))
	}
	if b.keeps {
		def = def.With("keepActive", expr.Bool(true))
	}
	return b.errorDefinitions(def)
}

// reachable drops states that nothing leads to.
func (b *builder08) reachable(limits expr.Value) []expr.Value {
	all := append(append([]expr.Value{}, b.states...), b.extra...)
	wanted := map[string]bool{str(all[0], "name"): true}
	for _, name := range targets08(limits, nil) {
		wanted[name] = true
	}
	for _, h := range append(append([]expr.Value{}, b.handlers...), b.policies...) {
		for _, name := range targets08(h, nil) {
			wanted[name] = true
		}
	}
	for changed := true; changed; {
		changed = false
		for _, st := range all {
			if !wanted[str(st, "name")] {
				continue
			}
			for _, name := range targets08(st, nil) {
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

// targets08 lists the states that a part of a definition leads to.
func targets08(v expr.Value, to []string) []string {
	for _, m := range v.Members() {
		if m.Key == "nextState" || m.Key == "compensatedBy" || m.Key == "transition" || m.Key == "runBefore" {
			to = append(to, m.Value.Str())
		}
		to = targets08(m.Value, to)
	}
	for _, item := range v.Items() {
		to = targets08(item, to)
	}
	return to
}

// workflowTimeouts are the limits of a workflow and the defaults of its parts.
func (b *builder08) workflowTimeouts() expr.Value {
	g := b.g
	var limit expr.Value
	if g.chance(14) || b.keeps && g.chance(80) {
		limit = expr.String(duration(g.span(4 * time.Minute)))
		if g.chance(75) || b.form == 6 {
			o := obj("duration", limit)
			if g.chance(75) {
				o = o.With("interrupt", expr.Bool(g.chance(60)))
			}
			if g.chance(60) {
				o = o.With("runBefore", expr.String(b.before()))
			}
			limit = o
		}
	}
	if b.form == 6 {
		if limit.IsNull() {
			return expr.EmptyObject
		}
		return obj("execTimeout", limit)
	}
	all := expr.EmptyObject
	if !limit.IsNull() {
		all = all.With("workflowExecTimeout", limit)
	}
	for _, kind := range []string{"stateExecTimeout", "actionExecTimeout", "branchExecTimeout", "eventTimeout"} {
		if g.chance(4) {
			all = all.With(kind, expr.String(duration(g.span(4*time.Minute))))
		}
	}
	if all.Len() == 0 {
		return all
	}
	return obj("timeouts", all)
}

// before makes the state, or two, that run when the workflow's time is over.
func (b *builder08) before() string {
	one, two := b.named("Before"), b.named("Before.Two")
	at := b.at
	b.at = len(b.names) // nothing of the main flow comes after it
	st := b.simple(one, pick(b.g, "operation", "operation", "inject"))
	if b.g.chance(30) {
		b.extra = append(b.extra, b.simple(two, "inject").With("end", b.end()))
		st = st.With("transition", expr.String(two))
	} else {
		st = st.With("end", b.end())
	}
	b.at = at
	b.extra = append(b.extra, st)
	return one
}

// detect08 leaves out what versions say of themselves, where their other marks tell.
func (g *gen) detect08(form int) {
	g.c.Detect = g.chance(30)
	if !g.c.Detect {
		return
	}
	strip := func(def expr.Value) expr.Value {
		text := canonical(def)
		marked := form >= 8
		for _, mark := range []string{`"type":"delay"`, `"type":"subflow"`, `"execTimeout"`, `"completionType":"xor"`, `"completionType":"and"`, `"completionType":"n_of_m"`, `"error":`} {
			marked = marked || form == 6 && strings.Contains(text, mark)
		}
		if marked && g.chance(60) {
			return def.Without("specVersion")
		}
		return def
	}
	g.c.Def = strip(g.c.Def)
	for i := range g.c.Subs {
		g.c.Subs[i] = strip(g.c.Subs[i])
	}
}
