package sw10

import (
	"cmp"
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
	if b.subscription() != nil {
		v = numbered(v)
	}
	at, path := b.endpoint()
	if at != nil {
		if template, ok := at.uri.text(); ok && strings.Contains(template, "{") {
			src := expandedURI(template)
			if out.lang == langLoose {
				uri, src = src, "$"+varURI
			}
			to := path
			if at.node.Kind == expr.KindObject {
				to = append(slices.Clip(path), "uri")
			}
			v = v.WithPath(to, expr.String("${ "+src+" }"))
		}
	}
	if policy := namedPolicy(b); policy != nil {
		to := append(slices.Clip(path), "authentication")
		v = v.WithPath(to, policy.node.Value())
		node := b.with.node
		for _, key := range to {
			node = node.Get(key)
		}
		instead[node] = policy.node
		if policy.properties != nil {
			out.vars = slices.Concat(out.vars, policy.properties.vars)
		}
	}
	out.src, out.constant = v.String(), false
	out.parts = partsOf(nil, b.with.node, v, out.lang == langLoose, instead)
	return &out, uri
}

// endpoint is where a built-in call goes, if an address says so, and where in its arguments that stands. Its
// authentication stands below the same path.
func (b *callTask) endpoint() (*endpoint, []string) {
	switch call := b.args.(type) {
	case *httpCall:
		return call.endpoint, []string{"endpoint"}
	case *a2aCall:
		return call.server, []string{"server"}
	case *mcpCall:
		return call.http, []string{"transport", "http", "endpoint"}
	case *grpcCall:
		return nil, []string{"service"}
	}
	return nil, nil
}

// target is where a built-in call goes, as written; nil: its document says so.
func (b *callTask) target() *expression {
	switch call := b.args.(type) {
	case *grpcCall:
		return call.host
	case *mcpCall:
		if call.stdio != nil {
			return call.command
		}
	}
	if at, _ := b.endpoint(); at != nil {
		return at.uri
	}
	return nil
}

// subscription is that of an AsyncAPI call; nil: it has none.
func (b *callTask) subscription() *subscription {
	if call, ok := b.args.(*asyncapiCall); ok {
		return call.subscription
	}
	return nil
}

// programOf is what a process runs, as written.
func programOf(p process) *expression {
	switch p := p.(type) {
	case *containerRun:
		return p.image
	case *scriptRun:
		return p.language
	case *shellRun:
		return p.command
	}
	return nil
}

// maxTarget bounds what people are told of where a call goes.
const maxTarget = 200

// metadata tells people where a call goes.
func metadata(target *expression) string {
	if target == nil {
		return ""
	}
	text := target.node.Text
	if len(text) > maxTarget {
		text = strings.ToValidUTF8(text[:maxTarget], "") + "…"
	}
	return expr.Object(expr.Member{Key: ir.TargetKey, Value: expr.String(text)}).String()
}

// namedPolicy is the authentication of a built-in call, where that is one of use.authentications.
func namedPolicy(b *callTask) *authentication {
	if b.args == nil {
		return nil
	}
	if u := b.args.authentication(); u != nil && u.name != nil {
		return u.def
	}
	return nil
}

// operation is how the host makes a built-in call. It says why it cannot.
func (k *chain) operation(b *callTask) (op ir.Builtin, problem string) {
	op.Kind, op.Authorized = b.function.Text, b.with.asks(varAuthorization, "")
	switch call := b.args.(type) {
	case *openapiCall:
		op.Document, problem = pinned("call: "+op.Kind, call.document, "operationId", call.operation)
	case *grpcCall:
		op.Document, problem = pinned("call: "+op.Kind, call.proto, "service or method", call.service, call.method)
		_, fixed := call.host.text()
		op.Guarded = !fixed
	case *asyncapiCall:
		op.Document, problem = pinned("call: "+op.Kind, call.document, "operation", cmp.Or(call.operation, call.channel))
		op.Guarded = call.server != nil && !call.server.constant
	case *a2aCall:
		if call.agentCard != nil {
			op.Document, problem = pinned("call: "+op.Kind, call.agentCard, "")
		}
	case *mcpCall:
		op.Exec = call.stdio != nil
	}
	if problem != "" {
		return op, problem
	}
	if at, _ := b.endpoint(); at != nil {
		op.Guarded = !fixedHost(at.uri)
		_, fixed := at.uri.text()
		op.Open = !fixed && at.node.Kind == expr.KindString
	}
	if u := b.args.authentication(); u != nil && u.def != nil && !u.def.fixedHosts() {
		op.Guarded = true
	}
	return op, ""
}

// pinned is the document that a call needs, with what it needs of it after a #. It is opened when the
// definition is deployed, so nothing of that can be data.
func pinned(call string, document *resource, what string, parts ...*expression) (ref, problem string) {
	ref, fixed := document.endpoint.uri.text()
	var names []string
	for _, part := range parts {
		name, named := part.text()
		names, fixed = append(names, name), fixed && named
	}
	switch {
	case !fixed || strings.Contains(ref, "{"):
		if what != "" {
			what = " or " + what
		}
		return "", call + " with a document" + what + " that is an expression"
	case document.endpoint.node.Get("authentication") != nil:
		return "", call + " with a document that needs authentication"
	case len(names) == 0:
		return ref, ""
	}
	return ref + "#" + strings.Join(names, "/"), ""
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
