package sw05

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
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
	undo    map[*state]ir.RegionID
	unknown map[string]ir.FunctionID // functions that are not defined here
	budget  *dialect.Budget
}

// exprKey tells expressions apart. Those of the same text at two places are two, so
// that a fault names the right one; schemas, which may be large, are one.
type exprKey struct {
	lang, src string
	pos       ir.Pos
}

// place names a node for people.
type place struct {
	name string
	pos  ir.Pos
}

func compile(w *workflow, src dialect.Source) *ir.Program {
	c := &compiler{w: w, exprs: map[exprKey]ir.ExprID{}, undo: map[*state]ir.RegionID{}, unknown: map[string]ir.FunctionID{}, budget: src.Budget}
	c.p = &ir.Program{
		ID: w.id.Text, Dialect: Name, Edition: ir.Edition, WarnSchemas: src.Options.Schemas == "warn",
		Nodes: make([]ir.Node, 1), Exprs: make([]ir.Expr, 1), Regions: make([]ir.Region, 1),
		Metadata: jsonText(w.metadata), Extensions: jsonText(w.extensions),
	}
	c.p.Name = c.label("name", w.name)
	c.p.Version = c.label("version", w.version)
	c.p.Description = c.label("description", w.description)
	c.p.InputSchema, c.p.OutputSchema = c.schemaHere(w.inputSchema), c.schemaHere(w.outputSchema)
	c.tables()
	for _, s := range w.states {
		c.entries = append(c.entries, c.node(placeOf(s), &ir.Eval{}, 0))
	}
	for _, s := range w.states {
		c.state(s)
	}
	c.p.Regions[0] = ir.Region{Name: c.p.ID, Entry: c.entries[w.start.index]}
	c.start()
	c.graph()
	return c.p
}

// label returns the text of a property without expressions; one with expressions
// is computed from the input of each instance.
func (c *compiler) label(key string, t *template) string {
	switch {
	case t == nil:
		return ""
	case t.constant():
		return strings.ReplaceAll(t.value.Str(), `\{{`, "{{")
	}
	c.p.Labels = append(c.p.Labels, ir.Label{Key: key, Value: c.template(t)})
	return ""
}

// tables fills the program's functions and events.
func (c *compiler) tables() {
	for i, f := range c.w.functions {
		f.id = i
		c.p.Functions = append(c.p.Functions, ir.Function{
			Name: f.name.Text, Operation: text(f.operation), Metadata: jsonText(f.metadata), Pos: posOf(f.node),
		})
	}
	for i, e := range c.w.events {
		e.id = i
		out := ir.Event{
			Name: e.name.Text, Source: text(e.source), Type: text(e.typ), Produced: e.produced,
			Metadata: jsonText(e.metadata), Pos: posOf(e.node),
		}
		if !e.produced {
			for _, k := range e.correlation {
				out.Correlate = append(out.Correlate, ir.Correlation{Attribute: k.attribute.Text, Value: c.template(k.value)})
			}
		}
		c.p.Events = append(c.p.Events, out)
	}
}

// function returns the id of what a call means. A name that is not defined gets
// an entry of its own, for the server's catalogue to resolve.
func (c *compiler) function(k *call) ir.FunctionID {
	if k.def == nil {
		id, ok := c.unknown[k.refName.Text]
		if !ok {
			id = ir.FunctionID(len(c.p.Functions))
			c.p.Functions = append(c.p.Functions, ir.Function{Name: k.refName.Text, Pos: posOf(k.refName)})
			c.unknown[k.refName.Text] = id
		}
		return id
	}
	return ir.FunctionID(k.def.id)
}

func eventID(u *eventUse) ir.EventID { return ir.EventID(u.def.id) }

// start says how instances come to be (003 §Start Definition, §Event State).
func (c *compiler) start() {
	s := c.w.start
	if s.start != nil && s.start.schedule != nil {
		k := s.start.schedule
		c.p.Start.Schedule = &ir.Schedule{Interval: k.interval, Cron: k.cron, Zone: k.zone, DirectInvoke: k.directInvoke}
	}
	b, ok := s.body.(*eventState)
	if !ok {
		return
	}
	seen := map[ir.EventID]bool{}
	for _, o := range b.onEvents {
		for _, u := range o.events {
			if id := eventID(u); !seen[id] {
				seen[id] = true
				c.p.Start.Events = append(c.p.Start.Events, id)
			}
		}
	}
	if c.p.Start.All = !b.exclusive; c.p.Start.All {
		c.p.Start.Window = c.span(b.timeout)
	}
}

// node adds a node that goes on at next.
func (c *compiler) node(at place, op ir.Op, next ir.NodeID) ir.NodeID {
	c.budget.Spend(1)
	c.p.Nodes = append(c.p.Nodes, ir.Node{Name: at.name, Pos: at.pos, Op: op, Next: next})
	return ir.NodeID(len(c.p.Nodes) - 1)
}

func (c *compiler) region(r ir.Region) ir.RegionID {
	c.p.Regions = append(c.p.Regions, r)
	return ir.RegionID(len(c.p.Regions) - 1)
}

// expr adds an expression once.
func (c *compiler) expr(lang, src string, n *dialect.Node) ir.ExprID {
	return c.exprAs(exprKey{lang, src, posOf(n)}, n)
}

func (c *compiler) exprAs(key exprKey, n *dialect.Node) ir.ExprID {
	c.budget.Spend(1 + len(key.src)/16)
	if id, ok := c.exprs[key]; ok {
		return id
	}
	c.p.Exprs = append(c.p.Exprs, ir.Expr{Lang: key.lang, Src: key.src, Pos: posOf(n)})
	id := ir.ExprID(len(c.p.Exprs) - 1)
	c.exprs[key] = id
	return id
}

func (c *compiler) path(p *path) ir.ExprID { return c.expr(jsonpath.Lang, p.src, p.node) }

func (c *compiler) template(t *template) ir.ExprID {
	if t == nil {
		return 0
	}
	id := c.expr(jsonpath.TemplateLang, t.value.String(), t.node)
	if e := &c.p.Exprs[id]; e.Parts == nil && t.value.Kind() != expr.KindString {
		e.Parts = parts(nil, t.node, t.value)
	}
	return id
}

// parts adds the places of the strings of a template that hold expressions, in the
// order in which it is filled: keys are sorted.
func parts(out []ir.Pos, n *dialect.Node, v expr.Value) []ir.Pos {
	for i, item := range v.Items() {
		out = parts(out, n.Items[i], item)
	}
	for _, m := range v.Members() {
		out = parts(out, n.Get(m.Key), m.Value)
	}
	if hasExpression(v.Str()) {
		out = append(out, posOf(n))
	}
	return out
}

// schema adds a schema once, wherever it is used.
func (c *compiler) schema(s *schema) ir.ExprID {
	if s == nil {
		return 0
	}
	return c.exprAs(exprKey{lang: jsonschema.Lang, src: s.text}, s.node)
}

// schemaHere adds the schema of the workflow's input or output with its place.
func (c *compiler) schemaHere(s *schema) ir.ExprID {
	if s == nil {
		return 0
	}
	return c.expr(jsonschema.Lang, s.text, s.node)
}

// checked is an operation that checks the state data.
func (c *compiler) checked(s *schema) *ir.Eval {
	out := &ir.Eval{Check: c.schema(s)}
	if s != nil {
		out.CheckPos = posOf(s.node)
	}
	return out
}

func (c *compiler) quantity(q *quantity) ir.ExprID {
	switch {
	case q == nil:
		return 0
	case q.expr != nil:
		return c.template(q.expr)
	}
	return c.expr(jsonpath.TemplateLang, expr.Int(q.value).String(), q.node)
}

func (c *compiler) span(d *duration) ir.Span {
	switch {
	case d == nil:
		return ir.Span{}
	case d.expr != nil:
		return ir.Span{Set: true, Expr: c.template(d.expr)}
	}
	return ir.Span{Set: true, Months: d.value.Months, Days: d.value.Days, Nanos: d.value.Nanos}
}

func placeOf(s *state) place { return place{s.nameText(), posOf(s.node)} }

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
