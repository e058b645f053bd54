package sw01

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// compiler turns a checked workflow into a program. It only meets definitions
// without errors.
//
// Everything is built backwards: whoever emits a node knows where it goes on.
// States refer to each other in cycles, so their entries are reserved first.
type compiler struct {
	w       *workflow
	p       *ir.Program
	exprs   map[exprKey]ir.ExprID
	entries []ir.NodeID // by state
	silence ir.EventID  // 1 + the event that never comes; 0: not needed yet
	called  map[calledKey]ir.FunctionID
	budget  *dialect.Budget
}

// calledKey tells functions apart.
type calledKey struct{ name, typ string }

// exprKey tells expressions apart: those of the same text at two places are two, so
// that a fault names the right one.
type exprKey struct {
	lang, src string
	pos       ir.Pos
}

// place names a node for people.
type place struct {
	name string
	pos  ir.Pos
}

func compile(w *workflow, budget *dialect.Budget) *ir.Program {
	c := &compiler{w: w, exprs: map[exprKey]ir.ExprID{}, called: map[calledKey]ir.FunctionID{}, budget: budget}
	c.p = &ir.Program{
		ID: w.identity(), Version: spelled(w.version), Name: text(w.name), Description: text(w.description),
		Dialect: w.form.name(), Edition: ir.Edition,
		Nodes: make([]ir.Node, 1), Exprs: make([]ir.Expr, 1), Regions: make([]ir.Region, 1),
		Metadata: c.metadata(), Extensions: jsonText(w.extensions),
	}
	c.events()
	for _, s := range w.states {
		c.entries = append(c.entries, c.node(placeOf(s), &ir.Eval{}, 0))
	}
	for _, s := range w.states {
		c.state(s)
	}
	c.p.Regions[0] = ir.Region{Name: c.p.ID, Entry: c.entries[w.scope.start.index]}
	c.graph()
	return c.p
}

// metadata keeps the status that a definition bears beside its metadata.
func (c *compiler) metadata() string {
	if c.w.execStatus == nil {
		return jsonText(c.w.metadata)
	}
	v := expr.EmptyObject
	if c.w.metadata.Is(expr.KindObject) {
		v = c.w.metadata.Value()
	}
	return v.With(c.w.execStatus.Name(), expr.String(c.w.execStatus.Text)).String()
}

// events fills the program's table of events. All of them share one key: two events
// with different paths belong to the same instance where the values are equal.
func (c *compiler) events() {
	for i, t := range c.w.triggers {
		t.id = i
		c.p.Events = append(c.p.Events, c.event(t))
	}
}

// tokenKey is the key of all events. With its blank it is neither an attribute of an
// event nor what anybody would call a field.
const tokenKey = "correlation token"

func (c *compiler) event(t *trigger) ir.Event {
	e := ir.Event{Name: t.name.Text, Source: text(t.source), Type: text(t.typ), Either: text(t.eventID), Pos: posOf(t.node)}
	if t.token != nil {
		e.Correlate = []ir.Correlation{{Attribute: tokenKey, From: t.token.from}}
	}
	return e
}

// function returns the id of a function; one of another type is another function.
func (c *compiler) function(f *function) ir.FunctionID {
	key := calledKey{f.name.Text, text(f.typ)}
	if id, ok := c.called[key]; ok {
		return id
	}
	one := ir.Function{Name: f.name.Text, Type: text(f.typ), Pos: posOf(f.name)}
	if _, ok := ir.JobWorkflow(one.Type); ok {
		one.Operation = one.Type
	}
	c.called[key] = ir.FunctionID(len(c.p.Functions))
	c.p.Functions = append(c.p.Functions, one)
	return c.called[key]
}

// node adds a node that goes on at next.
func (c *compiler) node(at place, op ir.Op, next ir.NodeID) ir.NodeID {
	c.budget.Spend(1)
	c.p.Nodes = append(c.p.Nodes, ir.Node{Name: at.name, Pos: at.pos, Op: op, Next: next})
	return ir.NodeID(len(c.p.Nodes) - 1)
}

// out adds a node that ends its region; the frame around it goes on at to.
func (c *compiler) out(at place, op ir.Op, to ir.NodeID) ir.NodeID {
	id := c.node(at, op, 0)
	c.p.Nodes[id].Out = to
	return id
}

func (c *compiler) region(r ir.Region) ir.RegionID {
	c.p.Regions = append(c.p.Regions, r)
	return ir.RegionID(len(c.p.Regions) - 1)
}

// expr adds an expression once.
func (c *compiler) expr(lang, src string, pos ir.Pos) ir.ExprID {
	c.budget.Spend(1 + len(src)/16)
	key := exprKey{lang, src, pos}
	if id, ok := c.exprs[key]; ok {
		return id
	}
	c.p.Exprs = append(c.p.Exprs, ir.Expr{Lang: lang, Src: src, Pos: pos})
	id := ir.ExprID(len(c.p.Exprs) - 1)
	c.exprs[key] = id
	return id
}

func (c *compiler) path(p *path) ir.ExprID { return c.expr(jsonpath.Lang, p.src, posOf(p.node)) }

// own adds a path of the compiler's own.
func (c *compiler) own(src string, at place) ir.ExprID { return c.expr(jsonpath.Lang, src, at.pos) }

func (c *compiler) condition(k choice.Condition, pos ir.Pos) ir.ExprID {
	return c.expr(choice.Lang, choice.Source(k), pos)
}

// parameters are a template: strings that are paths stand for what they select, all
// others for themselves (SEMANTICS §Data filters 10).
func (c *compiler) parameters(n *dialect.Node) ir.ExprID {
	if n == nil {
		return 0
	}
	var parts []ir.Pos
	src := templated(n, &parts).String()
	id := c.expr(jsonpath.TemplateLang, src, posOf(n))
	c.p.Exprs[id].Parts = parts
	return id
}

// templated rewrites parameters in the language of templates. parts are the places of
// the paths, in the order in which a template is filled: keys are sorted.
func templated(n *dialect.Node, parts *[]ir.Pos) expr.Value {
	switch n.Kind {
	case expr.KindString:
		if isPath(n.Text) {
			*parts = append(*parts, posOf(n))
			return expr.String("{{ " + strings.TrimSpace(n.Text) + " }}")
		}
		return expr.String(escaped(n.Text))
	case expr.KindArray:
		var items []expr.Value
		for _, item := range n.Items {
			items = append(items, templated(item, parts))
		}
		return expr.Array(items...)
	case expr.KindObject:
		var members []expr.Member
		for _, m := range n.Value().Members() {
			members = append(members, expr.Member{Key: m.Key, Value: templated(n.Get(m.Key), parts)})
		}
		return expr.Object(members...)
	}
	return n.Value()
}

// escaped writes text so that a template takes it as it is: braces are no expression
// in this dialect. Backslashes before them count double there.
func escaped(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "{{")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		slashes := len(s[:i]) - len(strings.TrimRight(s[:i], `\`))
		b.WriteString(s[:i] + strings.Repeat(`\`, slashes+1) + "{{")
		s = s[i+2:]
	}
}

func span(a *amount) ir.Span {
	if a == nil {
		return ir.Span{}
	}
	return ir.Span{Set: true, Months: a.value.Months, Days: a.value.Days, Nanos: a.value.Nanos, Until: a.until}
}

func placeOf(s *state) place { return place{s.label, posOf(s.node)} }

func posOf(n *dialect.Node) ir.Pos {
	p := n.Pos()
	return ir.Pos{Line: p.Line, Column: p.Column}
}

func jsonText(n *dialect.Node) string {
	if n == nil {
		return ""
	}
	return n.Value().String()
}
