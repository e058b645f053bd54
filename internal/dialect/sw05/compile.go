package sw05

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// compiler turns a checked workflow into a program. It only meets definitions
// without errors.
type compiler struct {
	*ir.Builder
	w       *workflow
	entries []ir.NodeID // by state
	undo    map[*state]ir.RegionID
	unknown map[string]ir.FunctionID // functions that are not defined here
}

func compile(w *workflow, src dialect.Source) *ir.Program {
	c := &compiler{w: w, undo: map[*state]ir.RegionID{}, unknown: map[string]ir.FunctionID{}}
	c.Builder = ir.NewBuilder(ir.Program{
		ID: w.id.Text, Dialect: w.form.name(), WarnSchemas: src.Options.Schemas == "warn",
		Metadata: w.metadata.JSON(), Extensions: w.extensions.JSON(),
	}, src.Budget.Build)
	c.Program.Name = c.label(ir.LabelName, w.name)
	c.Program.Version = c.label("version", w.version)
	c.Program.Description = c.label("description", w.description)
	for _, l := range w.labels {
		c.Program.Labels = append(c.Program.Labels, ir.Label{Key: l.key, Value: c.template(l.value)})
	}
	c.Program.InputSchema, c.Program.OutputSchema = c.schemaHere(w.inputSchema), c.schemaHere(w.outputSchema)
	c.tables()
	for _, s := range w.states {
		c.entries = append(c.entries, c.Reserve(placeOf(s)))
	}
	for _, s := range w.states {
		c.state(s)
	}
	c.Begin(c.entries[w.start.index])
	c.start()
	c.graph()
	return c.Program
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
	c.Program.Labels = append(c.Program.Labels, ir.Label{Key: key, Value: c.template(t)})
	return ""
}

// tables fills the program's functions and events.
func (c *compiler) tables() {
	for _, f := range c.w.functions {
		f.id = c.Function(ir.Function{
			Name: f.name.Text, Type: f.typ.Literal(), Operation: f.operation.Literal(), Metadata: f.metadata.JSON(), Pos: f.node.IRPos(),
		})
	}
	for _, e := range c.w.events {
		out := ir.Event{
			Name: e.name.Text, Source: e.source.Literal(), Type: e.typ.Literal(), Produced: e.produced,
			Metadata: e.metadata.JSON(), Pos: e.node.IRPos(),
		}
		if e.either && e.sends { // what is produced is another event than what is waited for
			sent := out
			sent.Produced = true
			e.sent = c.Event(sent)
			if !e.waits {
				e.id = e.sent
				continue
			}
		}
		if !e.produced {
			for _, k := range e.correlation {
				out.Correlate = append(out.Correlate, ir.Correlation{Attribute: k.attribute.Text, Value: c.template(k.value)})
			}
		}
		e.id = c.Event(out)
	}
}

// function returns the id of what a call means. A name that is not defined gets
// an entry of its own, for the server's catalogue to resolve.
func (c *compiler) function(k *call) ir.FunctionID {
	if k.def == nil {
		id, ok := c.unknown[k.refName.Text]
		if !ok {
			id = c.Function(ir.Function{Name: k.refName.Text, Pos: k.refName.IRPos()})
			c.unknown[k.refName.Text] = id
		}
		return id
	}
	return k.def.id
}

func eventID(u *eventUse) ir.EventID { return u.def.id }

// sentID is the id of an event where it is produced.
func sentID(u *eventUse) ir.EventID {
	if u.def.either {
		return u.def.sent
	}
	return u.def.id
}

// start says how instances come to be (0.5 §Start Definition, §Event State).
func (c *compiler) start() {
	s := c.w.start
	if s.start != nil && s.start.schedule != nil {
		k := s.start.schedule
		c.Program.Start.Schedule = &ir.Schedule{Interval: k.interval, Cron: k.cron, Zone: k.zone, DirectInvoke: k.directInvoke}
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
				c.Program.Start.Events = append(c.Program.Start.Events, id)
			}
		}
	}
	c.Program.Start.All = !b.exclusive
	if c.Program.Start.All {
		c.Program.Start.Window = c.span(b.timeout)
	}
}

// test compiles a condition of the forms before 0.5.
func (c *compiler) test(t *test) ir.ExprID {
	if t.path != "" {
		return c.Expr(jsonpath.Lang, t.path, t.node.IRPos())
	}
	return c.Expr(choice.Lang, choice.Source(t.tree), t.node.IRPos())
}

func (c *compiler) path(p *path) ir.ExprID { return c.Expr(jsonpath.Lang, p.src, p.node.IRPos()) }

func (c *compiler) template(t *template) ir.ExprID {
	if t == nil {
		return 0
	}
	id := c.Expr(jsonpath.TemplateLang, t.value.String(), t.node.IRPos())
	if e := &c.Program.Exprs[id]; e.Parts == nil && t.value.Kind() != expr.KindString {
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
		out = append(out, n.IRPos())
	}
	return out
}

// schema adds a schema once, wherever it is used.
func (c *compiler) schema(s *schema) ir.ExprID {
	if s == nil {
		return 0
	}
	return c.SharedExpr(jsonschema.Lang, s.text, s.node.IRPos())
}

// schemaHere adds the schema of the workflow's input or output with its place.
func (c *compiler) schemaHere(s *schema) ir.ExprID {
	if s == nil {
		return 0
	}
	return c.Expr(jsonschema.Lang, s.text, s.node.IRPos())
}

// checked is an operation that checks the state data.
func (c *compiler) checked(s *schema) *ir.Eval {
	out := &ir.Eval{Check: c.schema(s)}
	if s != nil {
		out.CheckPos = s.node.IRPos()
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
	return c.Expr(jsonpath.TemplateLang, expr.Int(q.value).String(), q.node.IRPos())
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

func placeOf(s *state) ir.Place { return ir.Place{Name: s.label, Pos: s.node.IRPos()} }
