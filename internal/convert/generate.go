package convert

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

type mockAnswer = mock.Answer

// generator makes cases that a definition is likely to treat differently: data at the
// paths it reads with values around those it compares with, the errors that its
// retries name, answers that come too late, events that come early, late or never.
type generator struct {
	o        *sw01.Outline // nil: of a later version
	result   Result
	parallel bool
	byHand   bool

	paths    [][]string
	literals map[string][]expr.Value // by the last name of the path they are compared with
	texts    map[string]bool         // names that are compared as text
	inner    map[string]bool         // names whose value becomes the data
	scenes   [][]compared            // what the choices compare, each together
	lists    map[string]bool         // names whose value is a list
	kinds    []*states.Event         // that are waited for, of a later version
	codes    map[string]bool         // of errors that are handled

	starts    map[*states.Event]bool // those of kinds that start the workflow
	startsAll bool                   // all of them do
	calls     []*function
	entries   []*sw01.Entry
	times     []time.Duration
	errors    []string // names that are never answers
}

// compared is a path that a choice compares.
type compared struct {
	keys []string
	name string
}

// function is all that is known of one function.
type function struct {
	name     string
	uses     int
	errors   []effect.Failure
	results  []expr.Value
	timeouts []time.Duration
}

func newGenerator(src Source, r Result) *generator {
	g := &generator{
		o: src.early, result: r, errors: r.errors, literals: map[string][]expr.Value{}, texts: map[string]bool{}, inner: map[string]bool{},
		lists: map[string]bool{}, codes: map[string]bool{}, starts: map[*states.Event]bool{}, byHand: len(src.program.Start.Events) == 0,
	}
	if src.early != nil {
		g.scope(src.early.Scope)
	} else {
		g.definition(src.states)
	}
	for _, keys := range r.Named {
		for _, key := range keys {
			g.addKeys([]string{key})
		}
	}
	slices.SortFunc(g.paths, slices.Compare[[]string])
	return g
}

func (g *generator) scope(s *sw01.Scope) {
	for _, st := range s.States {
		g.filter(st.Filter)
		g.parallel = g.parallel || len(st.Branches) > 0
		g.actions(st.Actions)
		for _, e := range st.Entries {
			g.entries = append(g.entries, e)
			g.path(e.Filter)
			g.time(e.Timeout)
			g.actions(e.Actions)
		}
		for _, c := range st.Choices {
			g.scenes = append(g.scenes, nil)
			g.condition(c.When)
		}
		g.time(st.Delay)
		if st.Workflow != "" {
			g.function(stubFunction(st.Workflow))
		}
		for _, b := range st.Branches {
			g.scope(b)
		}
	}
}

func (g *generator) function(name string) *function {
	for _, f := range g.calls {
		if f.name == name {
			f.uses++
			return f
		}
	}
	f := &function{name: name, uses: 1}
	g.calls = append(g.calls, f)
	return f
}

func (g *generator) actions(a sw01.Actions) {
	g.parallel = g.parallel || a.Parallel && len(a.List) > 1
	for _, one := range a.List {
		g.filter(one.Filter)
		f := g.function(one.Function)
		if one.Parameters != nil {
			g.parameters(*one.Parameters)
		}
		if d, ok := amount(one.Timeout); ok {
			f.timeouts = append(f.timeouts, d)
		}
		for _, r := range one.Retries {
			f.failures(r.Match, slices.Contains(g.errors, r.Match.Str()))
		}
	}
}

// failures are what a retry is for; isError says that it is never an answer.
func (f *function) failures(match expr.Value, isError bool) {
	unnamed := func(codes ...string) {
		for _, code := range codes {
			f.errors = append(f.errors, effect.Failure{Name: effect.Unnamed, Code: code})
		}
	}
	word := match.Str()
	if match.Kind() != expr.KindString {
		word = match.String()
	}
	switch word {
	case sw01.SysMatchAny, "*", sw01.SysFail:
	case sw01.SysTimeout:
		f.errors = append(f.errors, effect.Failure{Name: "Timeout"})
	case sw01.SysFilterError:
		f.errors = append(f.errors, effect.Failure{Name: "ExpressionError"})
	case sw01.SysPermission:
		unnamed("401", "403")
	case sw01.SysInvalidParameter:
		unnamed("400", "422")
	default:
		f.errors = append(f.errors, effect.Failure{Name: word})
		if !isError {
			f.results = append(f.results, match, str(word))
			unnamed(word)
		}
	}
}

func (g *generator) parameters(v expr.Value) {
	for _, it := range v.Items() {
		g.parameters(it)
	}
	for _, m := range v.Members() {
		g.parameters(m.Value)
	}
	if strings.HasPrefix(v.Str(), "$") {
		if shape, err := jsonpath.Describe(v.Str()); err == nil {
			g.addKeys(shape.Keys)
		}
	}
}

func (g *generator) filter(f sw01.Filter) {
	for _, p := range []*sw01.Path{f.Input, f.Output} {
		if g.path(p); p != nil {
			g.inner[p.Name] = true
		}
	}
	g.addKeys(f.Result)
}

func (g *generator) path(p *sw01.Path) {
	if p == nil {
		return
	}
	keys := p.Keys
	if keys == nil { // names that occur in it
		keys = strings.FieldsFunc(p.Src, func(r rune) bool {
			return !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
		})
		keys = slices.DeleteFunc(keys, func(s string) bool { return s[0] >= '0' && s[0] <= '9' })
	}
	g.addKeys(keys)
}

func (g *generator) addKeys(keys []string) {
	if len(keys) > 0 && !slices.ContainsFunc(g.paths, func(o []string) bool { return slices.Equal(o, keys) }) {
		g.paths = append(g.paths, keys)
	}
}

func (g *generator) condition(c *sw01.Condition) {
	for _, item := range c.Items {
		g.condition(item)
	}
	if c.Path == nil {
		return
	}
	g.path(c.Path)
	if len(c.Path.Keys) > 0 {
		last := &g.scenes[len(g.scenes)-1]
		*last = append(*last, compared{c.Path.Keys, c.Path.Name})
	}
	g.literal(c.Path.Name, c.Op, c.Value)
}

// literal adds values around one that is compared with what has a name.
func (g *generator) literal(name, op string, v expr.Value) {
	if choice.IsText(op) {
		g.texts[name] = true
	}
	written := v.Str()
	if v.Kind() != expr.KindString {
		written = v.String()
	}
	if n, err := expr.Number(strings.TrimSpace(written)); err == nil && !choice.IsText(op) {
		f := n.Float()
		g.literals[name] = append(g.literals[name], n, expr.Float(f-1), expr.Float(f+1), expr.Float(f+0.5))
		return
	}
	g.literals[name] = append(g.literals[name], str(written), str(written+"a"), str("A"), str(""))
	if !choice.IsText(op) && (written == "true" || written == "false") { // text that spells it is there already
		g.literals[name] = append(g.literals[name], expr.Bool(true), expr.Bool(false))
	}
}

func (g *generator) time(a *sw01.Amount) {
	if d, ok := amount(a); ok {
		g.times = append(g.times, d)
	}
}

// amount is an amount of time from the epoch of runs.
func amount(a *sw01.Amount) (time.Duration, bool) {
	if a == nil || a.Until != "" {
		return 0, false
	}
	return a.Value.AddTo(epoch).Sub(epoch), true
}

// generate makes one case.
func (g *generator) generate(r *rand.Rand) *Case {
	c := &Case{ByHand: g.byHand, Input: expr.EmptyObject, Words01: g.o != nil, OneType: g.result.To == To10}
	if g.byHand {
		c.Input = g.object(r)
	}
	for _, f := range g.calls {
		c.Mocks = append(c.Mocks, g.mock(r, f))
	}
	if g.o != nil {
		g.events(r, c)
	} else {
		g.arrivals(r, c)
	}
	return c
}

// object is data as the definition reads it, with something else in it.
func (g *generator) object(r *rand.Rand) expr.Value { return g.nested(r, 0) }

// nested makes an object inside of others: behind a filter, paths begin there.
func (g *generator) nested(r *rand.Rand, depth int) expr.Value {
	v := expr.EmptyObject
	for _, keys := range g.paths {
		if r.IntN(10) < 7 {
			v = v.WithPath(keys, g.value(r, keys[len(keys)-1], depth))
		}
	}
	if len(g.scenes) > 0 && r.IntN(2) == 0 {
		for _, c := range g.scenes[r.IntN(len(g.scenes))] { // near to where a choice holds
			if list := g.literals[c.name]; len(list) > 0 {
				v = v.WithPath(c.keys, list[r.IntN(min(2, len(list)))])
			}
		}
	}
	if r.IntN(3) == 0 {
		v = v.With("other", g.scalar(r))
	}
	return v
}

// value is a value at a name; what the conversion assumes of it holds.
func (g *generator) value(r *rand.Rand, name string, depth int) expr.Value {
	if list := g.literals[name]; len(list) > 0 && r.IntN(10) < 8 {
		return list[r.IntN(len(list))]
	}
	if g.lists[name] && depth < 2 && r.IntN(10) < 8 {
		items := make([]expr.Value, r.IntN(4))
		for i := range items {
			if items[i] = g.nested(r, 2); r.IntN(4) == 0 {
				items[i] = g.scalar(r)
			}
		}
		return expr.Array(items...)
	}
	if g.inner[name] && depth < 2 && r.IntN(2) == 0 {
		return g.nested(r, depth+1)
	}
	switch n := r.IntN(12); {
	case g.texts[name]:
		return str([]string{"a", "zz", "B", ""}[r.IntN(4)])
	case n < 4:
		return g.scalar(r)
	case n < 7 && depth < 2:
		return g.nested(r, depth+1)
	case n < 8:
		return obj("inner", g.scalar(r))
	case n == 8:
		return expr.Array(g.scalar(r), obj("inner", g.scalar(r)))
	case n == 9:
		return expr.Null
	case n == 10:
		return expr.EmptyObject
	}
	return expr.Array()
}

func (g *generator) scalar(r *rand.Rand) expr.Value {
	switch r.IntN(5) {
	case 0:
		return expr.Bool(r.IntN(2) == 0)
	case 1, 2:
		return expr.Int(int64(r.IntN(5)))
	}
	return str([]string{"red", "green", "{{ $.x }}", "it's"}[r.IntN(4)])
}

// mock makes the answers of one function. Where branches may call it at the same time,
// all its answers are the same: which call gets the first is not defined.
func (g *generator) mock(r *rand.Rand, f *function) Mock {
	n := 1 + r.IntN(4)
	if g.parallel && f.uses > 1 {
		n = 1
	}
	m := Mock{Function: f.name}
	if g.result.To == To10 && len(f.results) > 0 {
		f = f.inOneForm(r.IntN(3))
	}
	for range n {
		a := g.answer(r, f)
		if g.parallel {
			// A call that fails at once may end others before they are made, or after.
			// An answer of its own time says which.
			a.Delay += time.Duration(1+r.IntN(997)) * time.Millisecond
		}
		m.Answers = append(m.Answers, a)
	}
	return m
}

// inOneForm is a function for which what retries match is always the name of an error, a code, or an answer, as the
// conversion assumes: it counts their attempts together.
func (f *function) inOneForm(form int) *function {
	out := *f
	match := func(text string) bool {
		return slices.ContainsFunc(f.results, func(v expr.Value) bool { return v.Str() == text || v.String() == text })
	}
	out.errors = slices.DeleteFunc(slices.Clone(f.errors), func(e effect.Failure) bool {
		return form != 0 && match(e.Name) || form != 1 && e.Name == effect.Unnamed && match(e.Code)
	})
	if form != 2 {
		out.results = nil
	}
	return &out
}

func (g *generator) answer(r *rand.Rand, f *function) mock.Answer {
	a := mock.Answer{}
	switch n := r.IntN(100); {
	case n < 25 && len(f.errors) > 0:
		e := f.errors[r.IntN(len(f.errors))]
		a.Error = &e
	case n < 32:
		a.Error = &effect.Failure{Name: []string{"Boom", effect.Unnamed}[r.IntN(2)], Code: []string{"", "500", "503"}[r.IntN(3)]}
		if g.codes[a.Error.Code] || g.o == nil && g.codes["500"] && a.Error.Code == "" {
			a.Error = &effect.Failure{Name: "Boom", Code: "599"} // as the conversion assumes
		}
	case n < 45 && len(f.results) > 0:
		a.Result, a.HasResult = f.results[r.IntN(len(f.results))], true
	case n < 82:
		a.Result, a.HasResult = g.object(r), true
	case n < 94 || g.result.Answering[f.name]:
		a.Result, a.HasResult = g.value(r, "", 1), true
	}
	switch n := r.IntN(10); {
	case n < 3:
		a.Delay = time.Duration(1+r.IntN(90)) * time.Second
	case n < 6 && len(f.timeouts) > 0:
		a.Delay = f.timeouts[r.IntN(len(f.timeouts))] + time.Duration(r.IntN(3)-1)*time.Second
	}
	return a
}

// events makes events for the triggers: each may come, at a time that matters, with
// data, and with a token that may be another instance's.
func (g *generator) events(r *rand.Rand, c *Case) {
	id := 0
	for _, t := range g.o.Triggers {
		for range []int{0, 1, 1, 1, 1, 2}[r.IntN(6)] {
			id++
			kind := first(t.Type, t.EventID, "any")
			source := first(t.Source, "anywhere")
			if r.IntN(20) == 0 {
				source = "elsewhere"
			}
			e := obj("specversion", str("1.0"), "id", str(fmt.Sprintf("e%d", id)), "type", str(kind), "source", str(source))
			if r.IntN(10) > 0 {
				data := g.object(r)
				for _, p := range eventPaths(g.entries, t) {
					keys := p.Keys
					if p.First == "data" {
						keys = keys[1:]
					}
					if data = data.Without(keys[0]); r.IntN(3) > 0 { // an object, as the conversion assumes
						data = data.WithPath(keys, obj("inner", g.scalar(r)))
					}
				}
				e = e.With("data", data)
			}
			if t.Token != "" {
				e = withToken(e, t.Token, []string{"one", "one", "one", "two"}[r.IntN(4)], r.IntN(4) == 0 && !isAttribute(t.Token))
			}
			c.Events = append(c.Events, Timed{g.moment(r), e})
		}
	}
	slices.SortStableFunc(c.Events, func(a, b Timed) int { return int(a.At/time.Second) - int(b.At/time.Second) })
}

// eventPaths are the filters of an event that are made of plain names.
func eventPaths(entries []*sw01.Entry, t *sw01.Trigger) []*sw01.Path {
	var out []*sw01.Path
	for _, e := range entries {
		if f := e.Filter; f != nil && (len(f.Keys) > 1 || len(f.Keys) == 1 && f.Keys[0] != "data") && mentions(e.Expression, t) {
			out = append(out, f)
		}
	}
	return out
}

func mentions(e *sw01.EventExpr, t *sw01.Trigger) bool {
	return e.Trigger == t || slices.ContainsFunc(e.Items, func(x *sw01.EventExpr) bool { return mentions(x, t) })
}

// withToken puts a token where an event bears it: among its attributes, or where it has
// no such attribute, in its data.
func withToken(e expr.Value, token, value string, inData bool) expr.Value {
	path, ok := strings.CutPrefix(token, "$.")
	keys := strings.Split(path, ".")
	switch {
	case inData && keys[0] != "data":
		keys = append([]string{"data"}, keys...)
	case !ok:
		keys[0] = strings.ToLower(keys[0])
	}
	return e.WithPath(keys, str(value))
}

// moment is a time at which it matters whether an event is there.
func (g *generator) moment(r *rand.Rand) time.Duration {
	at := time.Duration(r.IntN(120)) * time.Second
	if len(g.times) > 0 && r.IntN(2) == 0 {
		at = g.times[r.IntN(len(g.times))] + time.Duration(r.IntN(3)-1)*time.Second
	}
	if r.IntN(5) == 0 {
		at = 0
	}
	return max(at, 0)
}
