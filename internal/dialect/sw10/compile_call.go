package sw10

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/uritemplate"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// varURI is a variable that authors hardly name.
const varURI = "lockstepURI"

// arguments are those of a call as one template. An endpoint that is a URI template becomes an
// expression over the task's input (Open Workflow §URI Template), and an authentication that is
// named what its name stands for. Under loose evaluation an expression that fails is text, so
// there uri is the expression, and the template has its value as the variable varURI.
func (c *compiler) arguments(b *callTask) (with *expression, uri string) {
	v, err := expr.ParseJSON([]byte(b.with.src))
	if err != nil {
		return b.with, ""
	}
	out, instead := *b.with, map[*dialect.Node]*dialect.Node{}
	if http, ok := b.args.(*httpCall); ok && http.endpoint != nil {
		if template, ok := http.endpoint.uri.text(); ok && strings.Contains(template, "{") {
			src := expandedURI(template)
			if out.lang == langLoose {
				uri, src = src, "$"+varURI
			}
			path := []string{"endpoint"}
			if at, _ := v.Get("endpoint"); at.IsObject() {
				path = append(path, "uri")
			}
			v = v.WithPath(path, expr.String("${ "+src+" }"))
		}
	}
	if policy := namedPolicy(b); policy != nil {
		path, node := []string{"authentication"}, b.with.node
		if _, ok := b.args.(*httpCall); ok {
			path, node = []string{"endpoint", "authentication"}, node.Get("endpoint")
		}
		v = v.WithPath(path, policy.node.Value())
		instead[node.Get("authentication")] = policy.node
		if policy.properties != nil {
			out.vars = slices.Concat(out.vars, policy.properties.vars)
		}
	}
	out.src, out.constant = v.String(), false
	out.parts = partsOf(nil, b.with.node, v, out.lang == langLoose, instead)
	return &out, uri
}

// namedPolicy is the authentication of a call that can be made, where that is one of
// use.authentications.
func namedPolicy(b *callTask) *authentication {
	switch b.args.(type) {
	case *httpCall, *openapiCall:
		if u := b.args.authentication(); u != nil && u.name != nil {
			return u.def
		}
	}
	return nil
}

// operation is how the host makes a built-in call. It says why it cannot.
func (k *chain) operation(b *callTask) (op ir.Builtin, problem string) {
	op.Kind, op.Authorized = b.function.Text, b.with.asks(varAuthorization, "")
	switch call := b.args.(type) {
	case *httpCall:
		op.Guarded = !fixedHost(call.endpoint.uri)
		_, fixed := call.endpoint.uri.text()
		op.Open = !fixed && call.endpoint.node.Kind == expr.KindString
	case *openapiCall:
		document, fixed := call.document.endpoint.uri.text()
		id, named := call.operation.text()
		switch {
		case !fixed || strings.Contains(document, "{") || !named:
			return op, "call: openapi with a document or operationId that is an expression"
		case call.document.endpoint.node.Get("authentication") != nil:
			return op, "call: openapi with a document that needs authentication"
		}
		op.Document = document + "#" + id
	default:
		return op, "call: " + op.Kind
	}
	if u := b.args.authentication(); u != nil && u.def != nil && !u.def.fixedHosts() {
		op.Guarded = true
	}
	return op, ""
}

// fixedHost reports whether data cannot choose the scheme and the host of an endpoint.
func fixedHost(uri *expression) bool {
	text, ok := uri.text()
	if !ok {
		return false
	}
	t, err := uritemplate.Parse(text)
	return err == nil && t.FixedHost()
}

// fixedHosts reports whether data cannot choose where tokens are asked for. A text that begins
// like this is no expression, loose or not.
func (a *authentication) fixedHosts() bool {
	scheme := a.node.Get(a.scheme)
	fixed := func(n *dialect.Node, prefixes ...string) bool {
		return n == nil || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(n.Text, p) })
	}
	return fixed(scheme.Get("authority"), "https://", "http://") &&
		fixed(scheme.Get("endpoints").Get("token"), "/", "https://", "http://")
}

var uriVariable = regexp.MustCompile(`\{([^{}]*)\}`)

// expandedURI is a URI template as a jq expression: a variable is a member of the data, of which
// only reserved characters are escaped.
func expandedURI(template string) string {
	var b strings.Builder
	b.WriteString(`"`)
	last := 0
	for _, m := range uriVariable.FindAllStringSubmatchIndex(template, -1) {
		b.WriteString(quoted(template[last:m[0]]))
		name := literal(expr.String(template[m[2]:m[3]]))
		b.WriteString(`\((if type == "object" then .[` + name + `] else null end) | if . == null then "" elif type == "object" or type == "array" then error("the variable " + ` + name +
			` + " of the endpoint is " + type + ", not a text, a number or a boolean") else tostring | @uri end)`)
		last = m[1]
	}
	b.WriteString(quoted(template[last:]) + `"`)
	return b.String()
}

// quoted is a text inside of a string of jq.
func quoted(s string) string {
	s = literal(expr.String(s))
	return s[1 : len(s)-1]
}

// partsOf adds the places of the texts of a template that hold expressions, in the order in which
// it is filled: keys are sorted. What stands in the place of a node has places of its own.
func partsOf(out []ir.Pos, n *dialect.Node, v expr.Value, loose bool, instead map[*dialect.Node]*dialect.Node) []ir.Pos {
	if other := instead[n]; other != nil {
		n = other
	}
	for i, item := range v.Items() {
		out = partsOf(out, n.Items[i], item, loose, instead)
	}
	for _, m := range v.Members() {
		out = partsOf(out, n.Get(m.Key), m.Value, loose, instead)
	}
	if v.Kind() == expr.KindString && (loose || isExpression(v.Str())) {
		out = append(out, n.IRPos())
	}
	return out
}

func isExpression(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}")
}
