package sw10

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// compiler turns a checked definition into a program. It only meets definitions without errors.
//
// A task list is a region, so that its frame has the variables of the task that runs, and exit
// returns from it. A task is a chain of nodes in the frame of its list: see compile_task.go.
type compiler struct {
	*ir.Builder
	d          *definition
	r          *dialect.Reporter
	finish     ir.NodeID // completes the workflow with the data, from any depth
	functions  map[*function]ir.RegionID
	inside     string // the function whose body is compiled, at any depth
	definition bool   // an expression asks for the definition of the workflow
}

func compile(d *definition, r *dialect.Reporter, src dialect.Source) *ir.Program {
	c := &compiler{d: d, r: r, functions: map[*function]ir.RegionID{}}
	c.Builder = ir.NewBuilder(ir.Program{
		ID: d.id(), Version: d.document.version.Text, Dialect: Name, Variables: true, AnyInput: true, Errors: errorTypes(),
		Metadata: d.metadata.JSON(), WarnSchemas: src.Options.Schemas == "warn",
	}, src.Budget.Build)
	c.Program.Name, _ = d.document.title.Str()
	c.Program.Description, _ = d.document.summary.Str()

	for _, name := range d.use.secrets {
		c.Program.Secrets = append(c.Program.Secrets, name.Text)
	}
	slices.Sort(c.Program.Secrets)
	c.Program.Secrets = slices.Compact(c.Program.Secrets)

	for _, l := range d.labels {
		c.Program.Labels = append(c.Program.Labels, ir.Label{Key: l.key, Value: c.expr(l.value)})
	}

	c.finish = c.end()
	l := c.list(d.do, "", c.finish)
	begin := l.begin
	if d.input.node != nil {
		begin = c.at(c.Node(ir.Place{Name: "input", Pos: d.input.node.IRPos()}, c.transform(d.input, false), begin), "/input")
	}
	c.Begin(begin)
	if t := d.timeout.def; t != nil {
		c.Program.Regions[0].Timeout, c.Program.Regions[0].Ref = c.span(t.after), "/timeout"
	}
	c.start()
	c.graph(l)
	if c.definition {
		c.Program.Definition = d.node.JSON()
	}
	return c.Program
}

// id is how the workflow is known: its name, in another namespace than "default" after that.
func (d *definition) id() string { return workflowID(d.document.namespace.Text, d.document.name.Text) }

func workflowID(namespace, name string) string {
	if namespace == "default" {
		return name
	}
	return namespace + "." + name
}

// at says to which place in the definition a node belongs.
func (c *compiler) at(id ir.NodeID, ref string) ir.NodeID {
	c.Program.Nodes[id].Ref = ref
	return id
}

// end adds the nodes that complete the workflow.
func (c *compiler) end() ir.NodeID {
	out, pos := c.d.output, c.d.node.IRPos()
	if out.node != nil {
		pos = out.node.IRPos()
	}
	if out.schema != nil {
		c.Program.OutputSchema = c.Expr(jsonschema.Lang, out.schema.text, out.schema.node.IRPos())
	}
	at := ir.Place{Name: "output", Pos: pos}
	next := c.at(c.Node(at, &ir.End{Terminate: true, Own: true}, 0), "/output")
	if out.value == nil {
		return next
	}
	return c.at(c.Node(at, &ir.Eval{From: c.expr(out.value), Put: asData}, next), "/output")
}

// asData makes a value the data.
var asData = ir.Put{Mode: ir.PutReplace}

// bound makes a value a variable.
func bound(name string) ir.Put { return ir.Put{Mode: ir.PutReplace, To: ir.ToVar, Var: name} }

// transform is an operation that does what an input or output says: an input checks the data
// before, an output the result.
func (c *compiler) transform(d dataFlow, result bool) *ir.Eval {
	out := &ir.Eval{}
	if d.value != nil {
		out.From, out.Put = c.expr(d.value), asData
	}
	if d.schema != nil {
		out.Check, out.CheckPos, out.CheckResult = c.SharedExpr(jsonschema.Lang, d.schema.text, d.schema.node.IRPos()), d.schema.node.IRPos(), result
	}
	return out
}

// expr adds an expression; 0 for none.
func (c *compiler) expr(e *expression) ir.ExprID {
	if e == nil {
		return 0
	}
	if e.asks(varWorkflow, "definition") {
		c.definition = true
	}
	id := c.Expr(e.lang, e.src, e.pos)
	if c.Program.Exprs[id].Parts == nil {
		c.Program.Exprs[id].Parts = e.parts
	}
	c.Program.Exprs[id].Secrets = e.secrets()
	return id
}

// secrets are the names of those that the expression asks for.
func (e *expression) secrets() []string {
	var out []string
	for _, v := range e.vars {
		if v.Name == varSecrets && v.Member != "" {
			out = append(out, v.Member)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// jq adds an expression of the compiler's own.
func (c *compiler) jq(src string, pos ir.Pos) ir.ExprID { return c.Expr(langJQ, src, pos) }

func (c *compiler) span(d *duration) ir.Span {
	switch {
	case d == nil:
		return ir.Span{}
	case d.expr != nil:
		return ir.Span{Set: true, Expr: c.expr(d.expr)}
	}
	return ir.Span{Set: true, Months: d.value.Months, Days: d.value.Days, Nanos: d.value.Nanos}
}

// faultErrors are the standard errors that core's faults are (Open Workflow §Standard Errors). What
// calls fail with is the last.
var faultErrors = []struct{ fault, name string }{
	{"Timeout", errTimeout},
	{"ExpressionError", errExpression},
	{"DataError", errExpression},
	{"SchemaViolation", errValidation},
	{"FunctionNotFound", errConfiguration},
	{"WorkflowNotFound", errConfiguration},
	{errAuthentication, errAuthentication}, // the names of what calls fail with are those of package effect
	{errAuthorization, errAuthorization},
	{errRuntime, errRuntime},
	{faultNotYet, errConfiguration},
	{"StepLimit", errRuntime},
	{"StateLimit", errRuntime},
	{"Cancelled", errRuntime},
	{"", errCommunication},
}

// faultNotYet is raised by a task that cannot run yet.
const faultNotYet = "NotSupported"

func errorTypes() []ir.ErrorType {
	var out []ir.ErrorType
	for _, e := range faultErrors {
		out = append(out, ir.ErrorType{Fault: e.fault, Type: errorBase + e.name, Status: int(standardErrors[e.name]), Title: errorTitle(e.name)})
	}
	return out
}

// errorTitle is the title of a standard error that gives none.
func errorTitle(name string) string { return strings.ToUpper(name[:1]) + name[1:] + " Error" }

// literal is a value as jq writes it.
func literal(v expr.Value) string { return v.String() }
