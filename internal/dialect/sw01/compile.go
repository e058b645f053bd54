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
type compiler struct {
	*ir.Builder
	w       *workflow
	entries []ir.NodeID // by state
	silence ir.EventID  // 1 + the event that never comes; 0: not needed yet
	called  map[calledKey]ir.FunctionID
}

// calledKey tells functions apart.
type calledKey struct{ name, typ string }

func compile(w *workflow, budget *dialect.Budget) *ir.Program {
	c := &compiler{w: w, called: map[calledKey]ir.FunctionID{}, Builder: ir.NewBuilder(ir.Program{
		ID: w.identity(), Version: w.version.Literal(), Name: w.name.Literal(), Description: w.description.Literal(),
		Dialect: w.form.name(), Metadata: metadata(w), Extensions: w.extensions.JSON(),
	}, budget.Build)}
	for _, l := range w.labels {
		c.Program.Labels = append(c.Program.Labels, ir.Label{Key: l.Key, Value: c.parameters(l.Value)})
	}
	// All events share one key: two events with different paths belong to the same
	// instance if the values are equal.
	for _, t := range w.triggers {
		t.id = c.Event(event(t))
	}
	for _, s := range w.states {
		c.entries = append(c.entries, c.Reserve(placeOf(s)))
	}
	for _, s := range w.states {
		c.state(s)
	}
	c.Begin(c.entries[w.scope.start.index])
	c.graph()
	return c.Program
}

// metadata keeps the status that a definition bears beside its metadata.
func metadata(w *workflow) string {
	if w.execStatus == nil {
		return w.metadata.JSON()
	}
	v := expr.EmptyObject
	if w.metadata.Is(expr.KindObject) {
		v = w.metadata.Value()
	}
	return v.With(w.execStatus.Name(), expr.String(w.execStatus.Text)).String()
}

// tokenKey is the key of all events. With its blank it is neither an attribute of an
// event nor what anybody would call a field.
const tokenKey = "correlation token"

func event(t *trigger) ir.Event {
	e := ir.Event{Name: t.name.Text, Source: t.source.Literal(), Type: t.typ.Literal(), Either: t.eventID.Literal(), Pos: t.node.IRPos()}
	if t.token != nil {
		e.Correlate = []ir.Correlation{{Attribute: tokenKey, From: t.token.from}}
	}
	return e
}

// function returns the id of a function; one of another type is another function.
func (c *compiler) function(f *function) ir.FunctionID {
	key := calledKey{f.name.Text, f.typ.Literal()}
	if id, ok := c.called[key]; ok {
		return id
	}
	one := ir.Function{Name: f.name.Text, Type: f.typ.Literal(), Pos: f.name.IRPos()}
	if _, ok := ir.JobWorkflow(one.Type); ok {
		one.Operation = one.Type
	}
	c.called[key] = c.Function(one)
	return c.called[key]
}

func (c *compiler) path(p *path) ir.ExprID { return c.Expr(jsonpath.Lang, p.src, p.node.IRPos()) }

// own adds a path of the compiler's own.
func (c *compiler) own(src string, at ir.Place) ir.ExprID { return c.Expr(jsonpath.Lang, src, at.Pos) }

func (c *compiler) condition(k choice.Condition, pos ir.Pos) ir.ExprID {
	return c.Expr(choice.Lang, choice.Source(k), pos)
}

// parameters are a template: strings that are paths stand for what they select, all
// others for themselves (semantics.md §Data filters 10).
func (c *compiler) parameters(n *dialect.Node) ir.ExprID {
	if n == nil {
		return 0
	}
	var parts []ir.Pos
	src := templated(n, &parts).String()
	id := c.Expr(jsonpath.TemplateLang, src, n.IRPos())
	c.Program.Exprs[id].Parts = parts
	return id
}

// templated rewrites parameters in the language of templates. parts are the places of
// the paths, in the order in which a template is filled: keys are sorted.
func templated(n *dialect.Node, parts *[]ir.Pos) expr.Value {
	switch n.Kind {
	case expr.KindString:
		if isPath(n.Text) {
			*parts = append(*parts, n.IRPos())
			return expr.String("{{ " + strings.TrimSpace(n.Text) + " }}")
		}
		return expr.String(jsonpath.Escape(n.Text)) // braces are no expression in this dialect
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

func span(a *amount) ir.Span {
	if a == nil {
		return ir.Span{}
	}
	return ir.Span{Set: true, Months: a.value.Months, Days: a.value.Days, Nanos: a.value.Nanos, Until: a.until}
}

func placeOf(s *state) ir.Place { return ir.Place{Name: s.label, Pos: s.node.IRPos()} }
