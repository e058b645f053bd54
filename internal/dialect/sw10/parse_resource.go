package sw10

import (
	"errors"
	"net/url"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// endpoint reads an address, alone or with its authentication.
func (p *parser) endpoint(n *dialect.Node, s scope) *endpoint {
	switch {
	case n == nil:
		return nil
	case n.Kind == expr.KindString:
		return &endpoint{node: n, uri: p.address(n, s)}
	case n.Kind != expr.KindObject:
		p.Expected(n, n.Name(), "an address or an object")
		return nil
	}
	f := p.Fields(n, n.Name())
	e := &endpoint{node: n, uri: p.address(f.Need("uri"), s), auth: p.authentication(f.Get("authentication"), s)}
	f.Done()
	return e
}

// address reads a URI, a URI template or an expression.
func (p *parser) address(n *dialect.Node, s scope) *expression {
	if n == nil || !p.Is(n, expr.KindString, n.Name()) || p.NonEmpty(n, n.Name()) == nil {
		return nil
	}
	if _, _, ok := undelimited(n.Text); !ok && !p.def.loose && !p.literalAddress(n) {
		return nil
	}
	return p.code(n, s) // what is wrong with ${ inside is reported already
}

// literalAddress reports what is wrong with an address that is no expression.
func (p *parser) literalAddress(n *dialect.Node) bool {
	text := n.Text
	if i := strings.Index(text, "${"); i >= 0 {
		p.Errorf(n.ColumnIn(i), codeAddress, "an address is a URI template or one expression; ${ } inside of it is not evaluated").
			WithHint(`write {name} for a member of the input, or ${ "https://example.com/\(.name)" }`)
		return false
	}
	if i := strings.IndexAny(text, " \t\r\n"); i >= 0 {
		p.Errorf(n.ColumnIn(i), codeAddress, "an address has no blanks")
		return false
	}
	plain, bad := withoutVariables(text)
	if bad >= 0 {
		p.Errorf(n.ColumnIn(bad), codeAddress, "malformed URI template: braces must enclose the name of a member of the input").
			WithHint("as in https://example.com/orders/{id}")
		return false
	}
	if _, err := url.Parse(plain); err != nil {
		var why *url.Error
		if errors.As(err, &why) {
			err = why.Err
		}
		p.Errorf(n, codeAddress, "malformed address: %v", err)
		return false
	}
	return true
}

// withoutVariables puts a letter in the place of each {name}. bad is the offset of a brace that is
// wrong, or -1.
func withoutVariables(text string) (plain string, bad int) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '}':
			return "", i
		case '{':
			end := strings.IndexAny(text[i+1:], "{}")
			if end < 1 || text[i+1+end] != '}' {
				return "", i
			}
			i += end + 1
			b.WriteByte('0') // also good as a port
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), -1
}

// resource reads a reference to a document elsewhere.
func (p *parser) resource(n *dialect.Node, s scope) *resource {
	if n == nil {
		return nil
	}
	f := p.Fields(n, n.Name())
	if f == nil {
		return nil
	}
	r := &resource{node: n, name: f.Str("name"), endpoint: p.endpoint(f.Need("endpoint"), s)}
	f.Done()
	return r
}

// schema reads the schema of an input, an output or the context.
func (p *parser) schema(n *dialect.Node) *schema {
	f := p.Fields(n, "schema")
	if f == nil {
		return nil
	}
	known := p.schemaFormat(f.OptionalName("format"))
	document, res := f.Get("document"), p.resource(f.Get("resource"), inComponent)
	f.Either("document", "resource")
	f.Done()
	switch {
	case !known:
		return nil
	case document != nil:
		return p.compileSchema(&schema{node: n}, document)
	case res != nil:
		return p.schemaResource(&schema{node: n}, res)
	}
	return nil
}

// compileSchema checks a schema where it is written.
func (p *parser) compileSchema(s *schema, document *dialect.Node) *schema {
	if !document.Is(expr.KindObject) && !document.Is(expr.KindBool) {
		p.Expected(document, "document", "a JSON Schema, which is an object")
		return nil
	}
	s.text = document.Value().String()
	p.Budget.Spend(len(s.text))
	program, err := jsonschema.Compiler{}.Compile(s.text)
	if err != nil {
		p.schemaError(document, err)
		return nil
	}
	if w, ok := program.(expr.Weighed); ok {
		p.Budget.Weigh(document, w.Weight())
	}
	return s
}

// schemaResource fetches a schema. It belongs to the definition as it is now: whether data is valid
// does not change while instances run.
func (p *parser) schemaResource(s *schema, r *resource) *schema {
	if r.endpoint == nil || r.endpoint.uri == nil {
		return nil
	}
	uri, constant := r.endpoint.uri.text()
	switch {
	case !constant || strings.Contains(uri, "{"):
		p.Errorf(r.endpoint.uri.node, codeConstant, "the address of a schema cannot depend on data")
		return nil
	case r.endpoint.node.Get("authentication") != nil:
		p.Errorf(r.endpoint.node.Get("authentication").Key, codeOutOfPlace, "a schema is fetched without authentication")
		return nil
	}
	if text, ok := p.schemas[uri]; ok {
		if s.text = text; text == "" {
			return nil
		}
		return s
	}
	p.schemas[uri] = ""
	doc, found, err := p.src.Read(uri)
	switch {
	case err != nil:
		p.Unopened(r.endpoint.uri.node, codeResource, "the schema", err)
		return nil
	case found.HasErrors() || doc.Root == nil:
		p.Errorf(r.endpoint.uri.node, codeResource, "the schema cannot be read: %s", found.Sentence())
		return nil
	}
	out := p.compileSchema(s, doc.Root)
	if out != nil {
		p.schemas[uri] = out.text
	}
	return out
}

// schemaFormat: JSON Schema is the one that every runtime must support.
func (p *parser) schemaFormat(n *dialect.Node) bool {
	if n == nil {
		return true
	}
	name, _, _ := strings.Cut(n.Text, ":")
	if name != "json" {
		p.Errorf(n, codeSchemaFormat, "schemas of format %q cannot be checked", n.Text).WithHint("write it as a JSON Schema, format: json")
	}
	return name == "json"
}

// schemaError reports what is wrong with a schema, at the part that it is about.
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
