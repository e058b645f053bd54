package sw05

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// parser turns a document into a workflow and reports everything that can be
// said of one value by itself: kinds, required parameters, spelling, expressions.
// It never stops at an error, so that one pass finds all.
type parser struct {
	r   *dialect.Reporter
	src dialect.Source
	dialect.Hinter
	schemas map[string]string // by reference; "" for one that is wrong
	asked   func(*fields)     // where set, told of every object when it is done: for tests
}

// workflow reads the top level (003 §Workflow Definition).
func (p *parser) workflow(root *dialect.Node) *workflow {
	w := &workflow{node: root}
	if !root.Is(expr.KindObject) {
		p.r.Errorf(root, codeNotObject, "a definition is an object with id, name and states")
		return w
	}
	f := p.fields(root, "the workflow")
	w.id = p.plain(f.name("id"), "id", "which definition is meant never depends on its input")
	w.name = p.label(f.name("name"))
	w.description = p.label(f.str("description"))
	w.version = p.label(f.literal("version"))
	f.literal("schemaVersion")
	w.inputSchema = p.schema(f, "dataInputSchema")
	w.outputSchema = p.schema(f, "dataOutputSchema")
	p.definitions(f, "functions", func(n *dialect.Node, shared bool) { p.function(w, n, shared) })
	p.definitions(f, "events", func(n *dialect.Node, shared bool) { p.event(w, n, shared) })
	p.definitions(f, "retries", func(n *dialect.Node, shared bool) { p.retry(w, n, shared) })
	for _, n := range f.needList("states") {
		if s := p.state(n, len(w.states)); s != nil {
			w.states = append(w.states, s)
		}
	}
	w.metadata = f.get("metadata")
	w.extensions = f.get("extensions")
	f.done()
	return w
}

// label reads name, version or description, which may hold expressions over the
// workflow input.
func (p *parser) label(n *dialect.Node) *template {
	if n == nil {
		return nil
	}
	if n.Kind == expr.KindNumber {
		return &template{node: n, value: expr.String(n.Raw())}
	}
	return p.template(n)
}

// plain reports an expression where none can stand.
func (p *parser) plain(n *dialect.Node, what, why string) *dialect.Node {
	if n != nil && hasExpression(n.Text) {
		p.r.Errorf(n, codeConstant, "%s cannot hold an expression: %s", what, why)
	}
	return n
}
