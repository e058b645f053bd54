package convert

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// definition gathers what a definition of states looks at.
func (g *generator) definition(o *states.Outline) {
	used := map[*states.Event]bool{}
	for _, s := range o.States {
		g.filterOf(s.Input, s.Output)
		g.parallel = g.parallel || len(s.Branches) > 1 || s.Each != nil
		g.span(s.Wait)
		g.data(s.Data)
		for _, k := range s.Conditions {
			if k.When != nil {
				g.comparison(k.When)
			}
			if k.Event != nil {
				used[k.Event.Event] = true
				g.path05(k.Event.Filter)
			}
		}
		for _, e := range s.Entries {
			for _, u := range e.Events {
				used[u.Event] = true
				g.path05(u.Filter)
			}
		}
		if s.Event != nil {
			used[s.Event.Event] = true
			g.path05(s.Event.Filter)
		}
		if e := s.Each; e != nil {
			g.path05(e.Over)
			g.lists[e.Over.Shape.Name] = true
			if names := words.FindAllString(e.Over.Src, -1); e.Over.Lang != jsonpath.Lang && len(names) > 0 {
				g.lists[names[len(names)-1]] = true
			}
		}
		for _, e := range exitsOf(s) {
			g.exit(e)
		}
		for _, f := range subflowsOf(s) {
			g.function(stubFunction(f.Workflow))
			g.handled(s, g.calls[len(g.calls)-1])
		}
		for _, a := range actionsOf(s) {
			g.actionOf(s, a, used)
		}
		g.parallel = g.parallel || s.Actions.Parallel || slices.ContainsFunc(s.Entries, func(e *states.Entry) bool { return e.Actions.Parallel })
	}
	g.startsAll = !o.Start.Exclusive
	if o.Start.Type == states.TypeEvent {
		for _, e := range o.Start.Entries {
			for _, u := range e.Events {
				g.starts[u.Event] = true
			}
		}
	}
	for _, e := range o.Events {
		if used[e] {
			g.kinds = append(g.kinds, e)
			for _, c := range e.Correlation {
				g.expected05(c.Value)
			}
		}
	}
}

func (g *generator) actionOf(s *states.State, a *states.Action, used map[*states.Event]bool) {
	g.filterOf(a.Input)
	g.path05(a.Results)
	if a.Results != nil && g.lists[a.Results.Shape.Name] {
		g.lists[a.Results.Shape.Name] = true
	}
	if a.Condition != nil {
		g.comparison(a.Condition)
	}
	if t := a.Trigger; t != nil {
		g.produced(t.Produce)
		if t.Result != nil {
			used[t.Result] = true
		}
		return
	}
	if a.Call == nil {
		return
	}
	f := g.function(a.Call.Function)
	g.data(a.Call.Arguments)
	for _, e := range slices.Concat(a.RetryErrors, a.RetryExcept) {
		g.failing(f, e)
	}
	if a.Timeout != nil && a.Timeout.Expr == nil {
		f.timeouts = append(f.timeouts, a.Timeout.Value.AddTo(epoch).Sub(epoch))
	}
	g.handled(s, f)
}

// handled adds the errors that a state handles to those that a function may fail with.
func (g *generator) handled(s *states.State, f *function) {
	for _, r := range s.Retries {
		for _, e := range r.Errors {
			g.failing(f, e)
		}
	}
	for _, h := range s.Handlers {
		for _, e := range h.Errors {
			if !h.Any {
				g.failing(f, e)
			}
		}
	}
}

// failing adds an error to those that a function may fail with.
func (g *generator) failing(f *function, e *states.Error) {
	if e.Name == "DataError" || e.Name == "SchemaViolation" || e.Name == "WorkflowNotFound" || e.Name == "*" || e.Name+e.Code+e.Status == "" {
		return
	}
	if e.Name != "" {
		f.errors = append(f.errors, effect.Failure{Name: e.Name, Code: e.Code})
	}
	if e.Status != "" {
		f.errors = append(f.errors, effect.Failure{Name: effect.Unnamed, Status: e.Status})
	}
	if code := e.Code; code != "" {
		g.codes[code] = true
		f.errors = append(f.errors, effect.Failure{Name: effect.Unnamed, Code: code})
	}
}

func (g *generator) exit(e states.Exit) {
	if e.Guard != nil {
		g.comparison(e.Guard)
	}
	for _, p := range e.Produce {
		g.produced(p)
	}
}

func (g *generator) produced(p states.Produced) {
	g.path05(p.Selects)
	g.data(p.Data)
	g.data(p.Attributes)
}

func (g *generator) filterOf(list ...*states.Path) {
	for _, p := range list {
		if g.path05(p); p != nil {
			g.inner[p.Shape.Name] = true
		}
	}
}

// path05 adds the names of a path.
func (g *generator) path05(p *states.Path) {
	if p == nil {
		return
	}
	if p.Lang != jsonpath.Lang {
		g.jqNames(p.Src)
		return
	}
	g.names(p.Src, p.Shape.Keys)
}

// jqNames adds the paths of names that occur in an expression.
func (g *generator) jqNames(src string) {
	for _, m := range jqPaths.FindAllString(src, -1) {
		g.names(src, strings.Split(strings.TrimPrefix(m, "."), "."))
	}
}

// names adds the names of a path, or those that occur in it.
func (g *generator) names(src string, keys []string) {
	if keys == nil {
		keys = words.FindAllString(src, -1)
		keys = slices.DeleteFunc(keys, func(s string) bool { return s == "data" || s == "true" || s == "false" || s == "null" })
		for i := range keys {
			g.addKeys(keys[i : i+1])
		}
	}
	if len(keys) > 0 && keys[0] == "data" {
		keys = keys[1:]
	}
	for len(keys) > 0 { // behind a filter or in an iteration, paths begin later
		g.addKeys(keys)
		keys = keys[1:]
	}
}

var (
	words    = regexp.MustCompile(`[A-Za-z_]\w*`)
	jqPaths  = regexp.MustCompile(`\.[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`)
	compares = regexp.MustCompile(`[@ (]?\.([\w.]+)\s*(?:==|!=|<=|>=|<|>)\s*('[^']*'|"[^"]*"|-?[\d.]+|true|false|null)`)
)

// comparison adds a condition: its paths, and values around those it compares with.
func (g *generator) comparison(p *states.Path) {
	if p.Lang == choice.Lang {
		g.scenes = append(g.scenes, g.tree(nil, p.Tree))
		return
	}
	g.path05(p)
	var scene []compared
	if p.Lang != jsonpath.Lang {
		if m := jqPaths.FindString(p.Src); m == strings.TrimSpace(p.Src) && m != "" {
			keys := strings.Split(m[1:], ".")
			name := keys[len(keys)-1]
			g.literals[name] = append(g.literals[name], expr.Bool(true), expr.Bool(false), expr.Null, expr.Bool(true))
			scene = append(scene, compared{keys, name})
		}
	}
	if len(p.Shape.Keys) > 0 {
		name := p.Shape.Name
		g.literals[name] = append(g.literals[name], expr.Bool(true), str("yes"), expr.Bool(false), str(""), expr.Int(0), expr.Array(), expr.EmptyObject)
		scene = append(scene, compared{p.Shape.Keys, name})
	}
	for _, m := range compares.FindAllStringSubmatch(p.Src, -1) {
		keys := strings.Split(m[1], ".")
		name := keys[len(keys)-1]
		scene = append(scene, compared{keys, name})
		text := strings.Trim(m[2], `'"`)
		switch n, err := expr.Number(m[2]); {
		case err == nil:
			f := n.Float()
			g.literals[name] = append(g.literals[name], n, expr.Float(f+1), expr.Float(f-1), expr.Float(f+0.5))
		case text != m[2]:
			g.literals[name] = append(g.literals[name], str(text), str(text+"a"), str("A"))
		default:
			g.literals[name] = append(g.literals[name], expr.Bool(true), expr.Bool(false), expr.Null)
		}
	}
	if len(scene) > 0 {
		g.scenes = append(g.scenes, scene)
	}
}

// tree adds what the comparisons of versions before 0.5 look at.
func (g *generator) tree(scene []compared, c choice.Condition) []compared {
	for _, item := range c.Items {
		scene = g.tree(scene, item)
	}
	shape, err := jsonpath.Describe(c.Path)
	if c.Path == "" || err != nil {
		return scene
	}
	g.names(c.Path, shape.Keys)
	if shape.Name == "" {
		return scene
	}
	if shape.Keys != nil {
		scene = append(scene, compared{shape.Keys, shape.Name})
	}
	g.literal(shape.Name, c.Op, c.Value)
	return scene
}

// data adds the paths of a template.
func (g *generator) data(t *states.Template) {
	if t != nil {
		g.texts05(t.Value)
	}
}

func (g *generator) texts05(v expr.Value) {
	for _, item := range v.Items() {
		g.texts05(item)
	}
	for _, m := range v.Members() {
		g.texts05(m.Value)
	}
	if v.Kind() != expr.KindString {
		return
	}
	if strings.Contains(v.Str(), "${") {
		g.jqNames(v.Str())
		return
	}
	parts, _, err := jsonpath.TemplateParts(v.Str())
	if err != nil {
		return
	}
	for _, p := range parts {
		if shape, err := jsonpath.Describe(p.Path); p.Path != "" && err == nil {
			g.names(p.Path, shape.Keys)
		}
	}
}

// expected05 makes the data that an event is compared with one of the tokens.
func (g *generator) expected05(t *states.Template) {
	if t == nil {
		return
	}
	g.data(t)
	if parts, whole, err := jsonpath.TemplateParts(t.Value.Str()); err == nil && whole {
		if shape, err := jsonpath.Describe(parts[0].Path); err == nil && shape.Name != "" {
			g.literals[shape.Name] = append(g.literals[shape.Name], str("one"), str("one"), str("two"))
		}
	}
}

func (g *generator) span(d *states.Duration) {
	if d == nil {
		return
	}
	if d.Expr != nil {
		g.data(d.Expr)
		if parts, whole, err := jsonpath.TemplateParts(d.Expr.Value.Str()); err == nil && whole {
			if shape, err := jsonpath.Describe(parts[0].Path); err == nil && shape.Name != "" {
				g.literals[shape.Name] = append(g.literals[shape.Name], str("PT1M"), str("PT0S"))
			}
		}
		return
	}
	g.times = append(g.times, d.Value.AddTo(epoch).Sub(epoch))
}

// arrivals makes events: each may come, at a time that matters, with data, and with attributes that may be
// another instance's.
func (g *generator) arrivals(r *rand.Rand, c *Case) {
	id, started := 0, map[*states.Event]bool{}
	for _, e := range g.kinds {
		for range []int{0, 1, 1, 1, 1, 2}[r.IntN(6)] {
			if g.result.Calls.Alone && g.starts[e] { // one instance, as the conversion assumes
				if started[e] || !g.startsAll && len(started) > 0 {
					continue
				}
				started[e] = true
			}
			id++
			source := first(e.Source, "anywhere")
			if r.IntN(20) == 0 {
				source = "elsewhere"
			}
			one := obj("specversion", str("1.0"), "id", str(fmt.Sprintf("e%d", id)), "type", str(first(e.Type, "any")), "source", str(source))
			if r.IntN(10) > 0 {
				one = one.With("data", g.object(r))
			}
			for _, k := range e.Correlation {
				value := str([]string{"one", "one", "one", "two"}[r.IntN(4)])
				if k.Value != nil && !strings.Contains(k.Value.Value.Str(), "{{") && r.IntN(3) > 0 {
					value = k.Value.Value
				}
				one = one.With(k.Attribute, value)
			}
			c.Events = append(c.Events, Timed{g.moment(r), one})
		}
	}
	slices.SortStableFunc(c.Events, func(a, b Timed) int { return int(a.At/time.Second) - int(b.At/time.Second) })
}

// subflowsOf are the workflows that a state starts.
func subflowsOf(s *states.State) []*states.Subflow {
	var out []*states.Subflow
	add := func(f *states.Subflow) {
		if f != nil {
			out = append(out, f)
		}
	}
	add(s.Subflow)
	for _, b := range s.Branches {
		add(b.Subflow)
	}
	if s.Each != nil {
		add(s.Each.Subflow)
	}
	for _, a := range actionsOf(s) {
		add(a.Subflow)
	}
	return out
}

// actionsOf are the actions of a state, wherever they stand in it.
func actionsOf(s *states.State) []*states.Action {
	out := slices.Clone(s.Actions.List)
	for _, e := range s.Entries {
		out = append(out, e.Actions.List...)
	}
	for _, b := range s.Branches {
		out = append(out, b.Actions.List...)
	}
	if s.Each != nil {
		out = append(out, s.Each.Actions.List...)
	}
	if s.Action != nil {
		out = append(out, s.Action)
	}
	return out
}

// exitsOf are the ways out of a state.
func exitsOf(s *states.State) []states.Exit {
	out := []states.Exit{s.Exit}
	for _, h := range s.Handlers {
		out = append(out, h.Exit)
	}
	for _, k := range s.Conditions {
		out = append(out, k.Exit)
	}
	if s.Default != nil {
		out = append(out, *s.Default)
	}
	return out
}
