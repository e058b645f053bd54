package sw05

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// parser turns a document into a workflow and reports everything that can be checked one
// value at a time: kinds, required parameters, spelling, expressions. It does not stop at an
// error, so that one pass finds them all.
type parser struct {
	*dialect.Reader
	src     dialect.Source
	schemas map[string]string // by reference; "": not valid
}

// fieldCodes are the codes of the reader's diagnostics.
var fieldCodes = dialect.FieldCodes{
	Type: codeType, Missing: codeMissing, Empty: codeEmpty, Choice: codeChoice, Number: codeNumber,
	Unknown: codeUnknownKey, Both: codeExclusive, Unquoted: codeQuoteIt,
}

func newParser(r *dialect.Reporter, src dialect.Source) *parser {
	return &parser{Reader: &dialect.Reader{Reporter: r, Codes: fieldCodes}, src: src, schemas: map[string]string{}}
}

// workflow reads the top level (0.5 §Workflow Definition).
func (p *parser) workflow(root *dialect.Node) *workflow {
	w := &workflow{node: root}
	if !root.Is(expr.KindObject) {
		p.Errorf(root, codeNotObject, "a definition is an object with id, name and states")
		return w
	}
	f := p.Fields(root, "the workflow")
	w.id = p.plain(f.Name("id"), "id", "the id of a definition cannot depend on its input")
	w.name = p.label(f.Name("name"))
	w.description = p.label(f.Str("description"))
	w.version = p.label(f.Literal("version"))
	f.Literal("schemaVersion")
	w.inputSchema = p.schema(f, "dataInputSchema")
	w.outputSchema = p.schema(f, "dataOutputSchema")
	p.definitions(f, "functions", func(n *dialect.Node, shared bool) { p.function(w, n, shared) })
	p.definitions(f, "events", func(n *dialect.Node, shared bool) { p.event(w, n, shared) })
	p.definitions(f, "retries", func(n *dialect.Node, shared bool) { p.retry(w, n, shared) })
	for _, n := range f.NeedList("states") {
		if s := p.state(n, len(w.states)); s != nil {
			w.states = append(w.states, s)
		}
	}
	w.metadata = f.Get("metadata")
	w.extensions = f.Get("extensions")
	f.Done()
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

// plain reports an expression where none is allowed.
func (p *parser) plain(n *dialect.Node, what, why string) *dialect.Node {
	if n != nil && hasExpression(n.Text) {
		p.Errorf(n, codeConstant, "%s cannot hold an expression: %s", what, why)
	}
	return n
}
