package sw08

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// compiler turns a checked workflow into a program. It only meets definitions without errors.
type compiler struct {
	*ir.Builder
	w       *workflow
	entries []ir.NodeID // by state
	undo    map[*state]ir.RegionID
	unknown map[string]ir.FunctionID // functions that are not defined here
	spend   func(units int)          // counts what the program is made of
	known   []ir.Match               // of all errors that the definition names
	expired ir.NodeID                // what follows workflowExecTimeout; 0: there is none
	asked   map[string]bool          // variables of the workflow that expressions use
}

func compile(w *workflow, src dialect.Source) *ir.Program {
	c := &compiler{w: w, undo: map[*state]ir.RegionID{}, unknown: map[string]ir.FunctionID{}, asked: map[string]bool{}, spend: src.Budget.Build}
	for _, e := range w.errors {
		c.known = append(c.known, e.match())
	}
	warn := src.Options.Schemas == "warn"
	c.Builder = ir.NewBuilder(ir.Program{
		ID: w.id.Text, Version: w.version.Literal(), Dialect: frontEnd{w.form}.Name(), Variables: true, WarnSchemas: warn,
		Metadata: w.metadata.JSON(), Extensions: w.extensions.JSON(),
	}, src.Budget.Build)
	c.Program.Name, c.Program.Description = c.label(ir.LabelName, w.name), c.label("description", w.description)
	for _, l := range w.labels {
		c.Program.Labels = append(c.Program.Labels, ir.Label{Key: l.key, Value: c.expr(l.value)})
	}
	c.Program.InputSchema, c.Program.WarnInput = c.schema(w.inputSchema)
	c.Program.OutputSchema, c.Program.WarnOutput = c.schema(w.outputSchema)
	if w.typedErrors() {
		c.Program.Errors = errorTypes()
	}
	for _, name := range w.secrets {
		c.Program.Secrets = append(c.Program.Secrets, name.Text)
	}
	c.events()
	for _, s := range w.states {
		c.entries = append(c.entries, c.at(c.Reserve(placeOf(s)), s.ref))
	}
	c.expiry()
	for _, s := range w.states {
		c.state(s)
	}
	c.Begin(c.bindings(c.timed(c.entries[w.start.index])))
	c.start()
	c.graph()
	slices.Sort(c.Program.Secrets)
	c.Program.Secrets = slices.Compact(c.Program.Secrets)
	return c.Program
}

// at says to which place in the definition a node belongs.
func (c *compiler) at(id ir.NodeID, ref string) ir.NodeID {
	c.Program.Nodes[id].Ref = ref
	return id
}

// label returns the text of a property without expressions; one with expressions is computed from the
// input of each instance.
func (c *compiler) label(key string, e *expression) string {
	switch {
	case e == nil:
		return ""
	case e.constant():
		return e.value.Text()
	}
	c.Program.Labels = append(c.Program.Labels, ir.Label{Key: key, Value: c.expr(e)})
	return ""
}

// bindings gives the variables that expressions use their values before anything else runs.
func (c *compiler) bindings(next ir.NodeID) ir.NodeID {
	at := ir.Place{Name: "start", Pos: c.w.node.IRPos()}
	if c.asked[varWorkflow] {
		about := expr.Object(
			expr.Member{Key: "id", Value: expr.String(c.w.id.Text)},
			expr.Member{Key: "name", Value: expr.String(c.Program.Name)},
			expr.Member{Key: "version", Value: expr.String(c.Program.Version)},
		)
		src := about.String() + " + {instanceId: $workflow.id}"
		next = c.Node(at, &ir.Eval{From: c.jq(src, at.Pos), Put: bound(varWorkflow)}, next)
	}
	if c.asked[varConst] {
		pos := at.Pos
		if c.w.constantsNode != nil {
			pos = c.w.constantsNode.IRPos()
		}
		value := c.w.constants
		if value.IsNull() {
			value = expr.EmptyObject
		}
		next = c.Node(at, &ir.Eval{From: c.Expr(jq.TemplateLang, escaped(value).String(), pos), Put: bound(varConst)}, next)
	}
	return next
}

// escaped is a value that a template gives as it is: texts that would be expressions become ones
// that give them.
func escaped(v expr.Value) expr.Value {
	switch v.Kind() {
	case expr.KindString:
		if _, _, ok := jq.Embedded(v.Str()); ok {
			return expr.String("${ " + v.String() + " }")
		}
	case expr.KindArray:
		items := make([]expr.Value, 0, v.Len())
		for _, item := range v.Items() {
			items = append(items, escaped(item))
		}
		return expr.Array(items...)
	case expr.KindObject:
		members := make([]expr.Member, 0, v.Len())
		for _, m := range v.Members() {
			members = append(members, expr.Member{Key: m.Key, Value: escaped(m.Value)})
		}
		return expr.Object(members...)
	}
	return v
}

// bound makes a value a variable.
func bound(name string) ir.Put { return ir.Put{Mode: ir.PutReplace, To: ir.ToVar, Var: name} }

// events fills the program's events. One that is consumed here and produced there is two.
func (c *compiler) events() {
	for _, e := range c.w.events {
		out := ir.Event{
			Name: e.name.Text, Source: e.source.Literal(), Type: e.typ.Literal(), Metadata: e.metadata.JSON(), Pos: e.node.IRPos(),
		}
		if e.isProduced || e.produced && !e.isConsumed {
			produced := out
			produced.Produced = true
			e.producedID = c.Event(produced)
		}
		if e.isProduced && !e.isConsumed || e.produced && !e.isConsumed {
			continue
		}
		for _, k := range e.correlation {
			out.Correlate = append(out.Correlate, ir.Correlation{Attribute: k.attribute.Text, Value: c.correlated(k.value)})
		}
		e.consumedID = c.Event(out)
	}
}

// correlated is the value that an attribute of an event must have. It is needed before an instance begins, and so before its
// variables have values: constants stand in it.
func (c *compiler) correlated(e *expression) ir.ExprID {
	if !e.asks(varConst) {
		return c.expr(e)
	}
	src, _, ok := jq.Embedded(e.value.Str())
	if !ok || c.w.constants.IsNull() {
		return c.expr(e)
	}
	own := *e
	own.value = expr.String("${ " + c.w.constants.String() + " as $" + varConst + " | (" + ended(src) + ") }")
	own.src = own.value.String()
	return c.expr(&own)
}

// start says how instances come to be (0.8 §Start Definition, §Event State).
func (c *compiler) start() {
	if k := c.w.schedule; k != nil {
		out := &ir.Schedule{Cron: k.cron, Zone: k.zone, Until: instant(k.until), DirectInvoke: true}
		if k.cron != "" && out.Zone == "" {
			out.Zone = "UTC"
		}
		if r := k.repeating; r != nil {
			out.Every = ir.Span{Set: true, Months: r.Every.Months, Days: r.Every.Days, Nanos: r.Every.Nanos}
			out.From, out.Until, out.Back = instant(r.From), instant(r.Until), r.Back
		}
		c.Program.Start.Schedule = out
	}
	b, ok := c.w.start.body.(*eventState)
	if !ok {
		return
	}
	seen := map[ir.EventID]bool{}
	for _, o := range b.onEvents {
		for _, u := range o.events {
			if id := u.def.consumedID; !seen[id] {
				seen[id] = true
				c.Program.Start.Events = append(c.Program.Start.Events, id)
			}
		}
	}
	if c.Program.Start.All = !b.exclusive; c.Program.Start.All {
		c.Program.Start.Window = c.span(c.w.start.timeouts.event)
	}
}

// expr adds an expression; 0 for none.
func (c *compiler) expr(e *expression) ir.ExprID {
	if e == nil {
		return 0
	}
	for _, v := range e.vars {
		c.asked[v.name] = true
	}
	id := c.Expr(e.lang, e.src, e.pos)
	if c.Program.Exprs[id].Parts == nil {
		c.Program.Exprs[id].Parts = e.parts
	}
	c.Program.Exprs[id].Secrets = e.secrets()
	c.Program.Secrets = append(c.Program.Secrets, e.secrets()...) // those of $SECRET need not be listed
	return id
}

// secrets are the names of those that the expression asks for.
func (e *expression) secrets() []string {
	var out []string
	for _, v := range e.vars {
		if v.name == varSecrets && v.member != "" {
			out = append(out, v.member)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// jq adds an expression of the compiler's own.
func (c *compiler) jq(src string, pos ir.Pos) ir.ExprID { return c.Expr(jq.Lang, src, pos) }

// schema adds the schema of the workflow's input or output.
func (c *compiler) schema(s *schema) (id ir.ExprID, warn bool) {
	if s == nil {
		return 0, false
	}
	return c.Expr(jsonschema.Lang, s.text, s.node.IRPos()), s.warn
}

func (c *compiler) quantity(q *quantity) ir.ExprID {
	switch {
	case q == nil:
		return 0
	case q.expr != nil:
		return c.expr(q.expr)
	}
	return c.Expr(jq.TemplateLang, expr.Int(q.value).String(), q.node.IRPos())
}

func (c *compiler) span(d *duration) ir.Span {
	switch {
	case d == nil:
		return ir.Span{}
	case d.expr != nil:
		return ir.Span{Set: true, Expr: c.expr(d.expr)}
	}
	return ir.Span{Set: true, Months: d.value.Months, Days: d.value.Days, Nanos: d.value.Nanos}
}

func placeOf(s *state) ir.Place { return ir.Place{Name: s.nameText(), Pos: s.node.IRPos()} }
