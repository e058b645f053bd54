package sw05

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/resource"
)

// parser turns a document into a workflow and reports everything that can be checked one
// value at a time: kinds, required parameters, spelling, expressions. It does not stop at an
// error, so that one pass finds them all.
type parser struct {
	*dialect.Reader
	form      form
	src       dialect.Source
	resources resource.Reader
}

// fieldCodes are the codes of the reader's diagnostics.
var fieldCodes = dialect.FieldCodes{
	Type: codeType, Missing: codeMissing, Empty: codeEmpty, Choice: codeChoice, Number: codeNumber,
	Unknown: codeUnknownKey, Both: codeExclusive, Unquoted: codeQuoteIt,
}

func newParser(r *dialect.Reporter, src dialect.Source) *parser {
	reader := &dialect.Reader{Reporter: r, Codes: fieldCodes}
	return &parser{
		Reader: reader, src: src,
		resources: resource.Reader{Reader: reader, Source: src, NotFetched: codeResource, BadSchema: codeSchema},
	}
}

// workflow reads the top level (0.5 §Workflow Definition).
func (p *parser) workflow(root *dialect.Node) *workflow {
	w := &workflow{form: p.form, node: root, top: &scope{}, absent: map[string]bool{}}
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
	if p.form.before05() {
		f.Str("expressionLanguage")
	}
	w.inputSchema = p.schema(f, "dataInputSchema")
	w.outputSchema = p.schema(f, "dataOutputSchema")
	p.definitions(w, f, "functions", func(n *dialect.Node, shared bool) { p.function(w, n, shared) })
	p.definitions(w, f, "events", func(n *dialect.Node, shared bool) { p.event(w, n, shared) })
	if !p.form.before05() {
		p.definitions(w, f, "retries", func(n *dialect.Node, shared bool) { p.retry(w, n, shared) })
	}
	p.states(f, w.top)
	w.number(w.top)
	w.metadata = f.Get("metadata")
	for _, l := range p.Labels(w.metadata) {
		w.labels = append(w.labels, label{l.Key, p.label(l.Value)})
	}
	w.extensions = f.Get("extensions")
	f.Done()
	return w
}

// states reads a list of states into a scope.
func (p *parser) states(f *dialect.Fields, into *scope) {
	for _, n := range f.NeedList("states") {
		if s := p.state(n); s != nil {
			s.scope = into
			into.states = append(into.states, s)
		}
	}
}

// number lists all states: those of a scope before those of the scopes inside of it.
func (w *workflow) number(s *scope) {
	for _, one := range s.states {
		one.index = len(w.states)
		w.states = append(w.states, one)
	}
	for _, one := range s.states {
		for _, inner := range one.inner() {
			inner.parent = one
			w.number(inner)
		}
	}
}

// inner are the scopes inside of a state.
func (s *state) inner() []*scope {
	var out []*scope
	switch b := s.body.(type) {
	case *parallelState:
		for _, br := range b.branches {
			if br.states != nil {
				out = append(out, br.states)
			}
		}
	case *foreachState:
		if b.states != nil {
			out = append(out, b.states)
		}
	}
	return out
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
	if n != nil && p.form.braces() && hasExpression(n.Text) {
		p.Errorf(n, codeConstant, "%s cannot hold an expression: %s", what, why)
	}
	return n
}
