package sw05

import (
	"errors"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// resource fetches the document that a definition refers to by URI. Diagnostics about
// its contents name its own file.
func (p *parser) resource(ref *dialect.Node, what string) *dialect.Node {
	if p.NonEmpty(ref, what) == nil {
		return nil
	}
	doc, found, err := p.src.Read(ref.Text)
	if err != nil {
		p.Errorf(ref, codeResource, "%s cannot be fetched: %v", what, err)
		return nil
	}
	for _, d := range found {
		at := dialect.Span{Pos: d.Pos(), EndColumn: d.EndColumn}
		report := p.Warnf
		if d.Severity == dialect.Error {
			report = p.Errorf
		}
		if r := report(at, d.Code, "%s", d.Message); d.Hint != "" {
			r.WithHint("%s", d.Hint)
		}
	}
	return doc.Root
}

// schema reads the JSON Schema at a URI.
func (p *parser) schema(f *dialect.Fields, key string) *schema {
	n := f.Str(key)
	if n == nil {
		return nil
	}
	if _, fragment, _ := strings.Cut(n.Text, "#"); fragment != "" {
		p.Errorf(n, codeSchema, "%s refers to a part of a document (#%s); only whole schemas can be used", key, fragment)
		return nil
	}
	text, known := p.schemas[n.Text]
	if !known {
		root := p.resource(n, key)
		if root == nil {
			return nil
		}
		text = p.compileSchema(root)
		p.schemas[n.Text] = text
	}
	if text == "" {
		return nil
	}
	return &schema{node: n, text: text}
}

// compileSchema returns the text of a schema, or "" after reporting why it is not valid.
func (p *parser) compileSchema(root *dialect.Node) string {
	text := root.Value().String()
	p.Budget.Spend(len(text))
	program, err := jsonschema.Compiler{}.Compile(text)
	if err != nil {
		p.schemaError(root, err)
		return ""
	}
	if w, ok := program.(expr.Weighed); ok {
		p.Budget.Weigh(root, w.Weight())
	}
	return text
}

// schemaError reports what is wrong with a schema, in its own file.
func (p *parser) schemaError(at *dialect.Node, err error) {
	var syntax *expr.SyntaxError
	if !errors.As(err, &syntax) {
		p.Errorf(at, codeSchema, "not a valid JSON Schema: %v", err)
		return
	}
	d := p.Errorf(at, codeSchema, "%s", syntax.Msg)
	if syntax.Hint != "" {
		d.WithHint("%s", syntax.Hint)
	}
}
