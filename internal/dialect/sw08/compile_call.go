package sw08

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/uritemplate"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// called calls a function. Without arguments it gets what the action filtered, or nothing (docs/semantics.md).
func (k *actionCompiler) called(put ir.Put, next ir.NodeID) ir.NodeID {
	call := k.a.call
	op := &ir.Call{Scope: ir.Pick{Expr: k.expr(k.a.from)}, Result: put}
	args := call.arguments
	switch f := call.def; {
	case f == nil:
	case f.typ == typeGraphQL:
		args = k.composed(call.node, member{"arguments", call.arguments}, member{"selectionSet", call.selection})
	case f.typ == typeAsyncAPI:
		_, id, _ := strings.Cut(f.operation.Literal(), "#")
		args = k.composed(call.node, member{"message", k.composed(call.node, member{"payload", call.arguments})},
			member{"operation", &expression{lang: k.templates(), value: expr.String(id)}})
	}
	if f := call.def; f != nil && f.auth != nil && f.authenticated() {
		args = k.authenticated(call, args)
	}
	op.Args, op.Data = k.expr(args), args == nil && k.a.from != nil
	op.Function = k.function(call)
	return k.node(op, next)
}

// function returns the id of what a call means. A name that is not defined, or whose type says only where its
// contract is, gets an entry for the server's catalogue to resolve.
func (k *actionCompiler) function(call *call) ir.FunctionID {
	f := call.def
	if f == nil {
		id, ok := k.unknown[call.refName.Text]
		if !ok {
			id = k.Function(ir.Function{Name: call.refName.Text, Pos: call.refName.IRPos()})
			k.unknown[call.refName.Text] = id
		}
		return id
	}
	if !f.compiled {
		f.compiled = true
		f.id = k.Function(ir.Function{
			Name: f.name.Text, Type: f.typ, Operation: f.operationText(), Metadata: f.metadata.JSON(), Pos: f.node.IRPos(),
		})
	}
	return f.id
}

// operationText is how the host makes calls of the function; "" leaves it to the catalogue.
func (f *function) operationText() string {
	text := beside(f.operation.Literal())
	if _, ok := ir.JobWorkflow(text); ok {
		return text
	}
	switch {
	case f.auth != nil && !f.authenticated():
		return "" // never without the credentials that it asks for
	case f.log != "":
		return ir.Builtin{Kind: ir.LogKind, Document: f.log}.Operation()
	case f.auth != nil && f.typ == typeOpenAPI:
		return ir.Builtin{Kind: "openapi", Document: text}.Operation()
	case f.request != nil && !strings.Contains(f.request.address, "://"):
		return "" // the catalogue has its host
	case f.request != nil:
		protocol := ir.RequestHTTP
		if f.typ == typeCustom {
			protocol = ir.RequestREST
		}
		return ir.Request{
			Protocol: protocol, Method: f.request.method, URI: f.request.address,
			Headers: f.request.headers.json(), Cookies: f.request.cookies.json(), Auth: f.auth != nil,
		}.Operation(!fixedHost(f.request.address))
	case f.typ == typeOpenAPI:
		return text
	case f.typ == typeAsyncAPI:
		return ir.Builtin{Kind: "asyncapi", Document: text}.Operation()
	case f.typ == typeGraphQL:
		parts := strings.SplitN(text, "#", 3)
		return ir.Request{Protocol: ir.RequestGraphQL, URI: parts[0], Kind: parts[1], Field: parts[2], Auth: f.auth != nil}.Operation(false)
	case f.typ == typeOData:
		uri, set, _ := strings.Cut(text, "#")
		return ir.Request{Protocol: ir.RequestOData, URI: uri, EntitySet: set, Auth: f.auth != nil}.Operation(false)
	}
	return ""
}

// fixedHost reports whether arguments cannot choose the scheme and the host of an address.
func fixedHost(address string) bool {
	t, err := uritemplate.Parse(address)
	return err == nil && t.FixedHost()
}

// json is the value of a template as JSON text; nil for none.
func (e *expression) json() []byte {
	if e == nil {
		return nil
	}
	return []byte(e.value.String())
}

// member is an expression or a template that stands under a key of a template.
type member struct {
	key string
	e   *expression
}

// composed is a template of an object, written at a node, whose members are given in the order of their keys.
func (c *compiler) composed(at *dialect.Node, members ...member) *expression {
	out := &expression{node: at, lang: c.templates(), pos: at.IRPos(), value: expr.EmptyObject}
	for _, m := range members {
		if m.e == nil {
			continue
		}
		out.value = out.value.With(m.key, m.e.inTemplate())
		out.parts = append(out.parts, m.e.parts...)
		out.vars = append(out.vars, m.e.vars...)
	}
	out.src = out.value.String()
	return out
}

// templates is the language of templates of the definition.
func (c *compiler) templates() string {
	if c.w.language == langJSONPath {
		return jsonpath.TemplateLang
	}
	return jq.TextLang
}

// inTemplate is what stands for an expression inside of a template.
func (e *expression) inTemplate() expr.Value {
	switch {
	case !e.value.IsNull() || e.src == "":
		return e.value
	case e.lang == jsonpath.Lang:
		return expr.String("{{ " + e.src + " }}")
	}
	return expr.String("${ " + ended(e.src) + " }")
}

// authenticated reports whether credentials can be sent with calls of the function.
func (f *function) authenticated() bool {
	switch f.typ {
	case typeOpenAPI, typeHTTP, typeGraphQL, typeOData:
		return true
	}
	return false
}

// authenticated are the arguments of a call beside the credentials that go with it (0.9 §AuthRef Definition).
func (k *actionCompiler) authenticated(call *call, args *expression) *expression {
	credentials := member{"authentication", call.def.auth.policy()}
	if call.def.typ == typeOpenAPI {
		return k.composed(call.node, credentials, member{"parameters", args})
	}
	return k.composed(call.node, member{"arguments", args}, credentials)
}

// policy is a definition of credentials as the built-in calls have it, a template.
func (a *auth) policy() *expression {
	out := *a.properties
	p := out.value
	if a.scheme == "oauth2" {
		moved := expr.EmptyObject
		for _, m := range p.Members() {
			switch m.Key {
			case "grantType":
				moved = moved.With("grant", expr.String(grants[m.Value.Str()]))
			case "clientId":
				moved = moved.WithPath([]string{"client", "id"}, m.Value)
			case "clientSecret":
				moved = moved.WithPath([]string{"client", "secret"}, m.Value)
			case "subjectToken":
				moved = moved.WithPath([]string{"subject", "token"}, m.Value)
			case "authority", "scopes", "audiences", "username", "password":
				moved = moved.With(m.Key, m.Value)
			}
		}
		p = moved
	}
	out.value = expr.Object(expr.Member{Key: a.scheme, Value: p.Without("metadata")})
	return &out
}

// grants are the grants of OAuth 2 by their names in 0.7 and later.
var grants = map[string]string{
	"password": "password", "clientCredentials": "client_credentials", "tokenExchange": "urn:ietf:params:oauth:grant-type:token-exchange",
}
