package sw08

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// beside is a reference as the bundle takes it: SonataFlow's classpath: is the folder of the definition.
func beside(ref string) string {
	if rest, ok := strings.CutPrefix(ref, "classpath:"); ok {
		return strings.TrimLeft(rest, "/")
	}
	return ref
}

// secrets reads the names of secrets, or a resource that holds them (0.8 §Workflow Secrets).
func (p *parser) secrets(f *dialect.Fields) {
	n, _ := p.referred(f.Get("secrets"), "secrets")
	if n == nil {
		return
	}
	if n.Kind != expr.KindArray {
		p.Expected(n, "secrets", "an array of names, or the URI of a resource that holds one")
		return
	}
	for _, item := range n.Items {
		if name := p.Named(item, "a secret's name"); name != nil {
			p.w.secrets = append(p.w.secrets, name)
		}
	}
}

// declaredSecret warns of a secret that the definition does not list.
func (p *parser) declaredSecret(n *dialect.Node) {
	for _, s := range p.w.secrets {
		if s.Text == n.Text {
			return
		}
	}
	d := p.Warnf(n, codeSecret, "secret %q is not declared", n.Text)
	if p.DidYouMean(d, n.Text, texts(p.w.secrets)) == "" {
		d.WithHint("add it to secrets")
	}
}

// constants reads the constants: an object, or the URI of a resource that is one (0.8 §Workflow Constants).
func (p *parser) constants(f *dialect.Fields) {
	n := f.Get("constants")
	if n.Is(expr.KindString) {
		n = p.resources.Document(n, "constants")
	}
	if n == nil || !p.Is(n, expr.KindObject, "constants") {
		return
	}
	p.w.constantsNode, p.w.constants = n, n.Value()
	p.Budget.Spend(len(p.w.constants.String()))
}

// schema reads a schema: the URI of one, or an object with the URI or the schema itself and what follows a
// violation (0.9 §Workflow Definition Structure: dataInputSchema).
func (p *parser) schema(f *dialect.Fields, key string) *schema {
	n := f.Get(key)
	switch {
	case n == nil:
		return nil
	case n.Kind == expr.KindString:
		return p.schemaAt(n, key)
	case n.Kind != expr.KindObject:
		p.Expected(n, key, "the URI of a schema, or an object with a schema")
		return nil
	}
	o := p.Fields(n, key)
	strict, _ := p.flag(o, "failOnValidationErrors", true)
	at := o.Need("schema")
	var out *schema
	switch {
	case at == nil:
	case at.Kind == expr.KindString:
		out = p.schemaAt(at, key)
	case at.Kind == expr.KindObject:
		if text := p.resources.Schema(at); text != "" {
			out = &schema{node: at, text: text}
		}
	default:
		p.Expected(at, "schema", "the URI of a schema, or a schema")
	}
	o.Done()
	if out != nil {
		out.warn = !strict
	}
	return out
}

// outputSchema reads 0.9's dataOutputSchema; SonataFlow has an extension for it.
func (p *parser) outputSchema(f *dialect.Fields) {
	p.era(f, form09, form09, "dataOutputSchema")
	if s := p.schema(f, "dataOutputSchema"); s != nil {
		p.w.outputSchema = s
	}
}

func (p *parser) schemaAt(n *dialect.Node, key string) *schema {
	text := p.resources.SchemaAt(n, key)
	if text == "" {
		return nil
	}
	return &schema{node: n, text: text}
}

// The extensions of SonataFlow that mean something here.
const (
	extensionPrefixes = "workflow-uri-definitions"
	extensionOutput   = "workflow-output-schema"
)

func extensionID(n *dialect.Node) string {
	if id := n.Get("extensionid"); id != nil {
		return id.Literal()
	}
	return n.Get("extensionId").Literal()
}

// extensions reads SonataFlow's; others do nothing here.
func (p *parser) extensions(n *dialect.Node) {
	if !n.Is(expr.KindArray) {
		return
	}
	for _, item := range n.Items {
		f := p.Fields(item, "an extension")
		if f == nil {
			continue
		}
		switch id := extensionID(item); id {
		case extensionPrefixes:
			if d := f.Typed("definitions", expr.KindObject); d != nil {
				for _, m := range d.Members {
					if m.Is(expr.KindString) {
						p.prefixes[m.Name()] = m.Text
					}
				}
			}
		case extensionOutput:
			p.w.outputSchema = p.schema(f, "outputSchema")
		default:
			p.Warnf(item, codeExtension, "extension %q does nothing here", id)
		}
	}
}
