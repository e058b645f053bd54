package sw08

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/jqvar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// functions reads the functions, then the bodies of expression functions, which may refer to each other.
func (p *parser) functions(f *dialect.Fields) {
	p.definitions(f, "functions", p.function)
	for _, fn := range p.w.functions {
		if fn.typ == typeExpression {
			p.expressionBody(fn)
		}
	}
}

// iterations finds the parameters of all iterations: the bodies of functions may use them.
func (p *parser) iterations(root *dialect.Node) {
	states := root.Get("states")
	if !states.Is(expr.KindArray) {
		return
	}
	for _, s := range states.Items {
		if s.Get("type").Literal() != typeForeach {
			continue
		}
		name := "item"
		if n := s.Get("iterationParam"); n.Is(expr.KindString) {
			name = n.Text
		}
		if jqvar.IsName(name) {
			p.iterated = append(p.iterated, name)
		}
	}
}

// inScope reports the use of a function whose body asks for a parameter that is not there.
func (p *parser) inScope(fn *function, at dialect.Place) bool {
	for _, v := range fn.body.vars {
		switch v.name {
		case varConst, varSecrets, varWorkflow:
			continue
		}
		if !slices.Contains(p.params, v.name) {
			p.Errorf(at, codeVariable, "function %q uses $%s, which is not there outside of its iteration", fn.name.Text, v.name)
			return false
		}
	}
	return true
}

// functionTypes are the words of all versions.
var functionTypes = []string{
	"rest", typeOpenAPI, typeHTTP, typeRPC, typeExpression, typeGraphQL, typeOData, typeAsyncAPI, typeCustom,
}

// since is the version that brought a type.
var since = map[string]form{
	typeGraphQL: form07, typeOData: form07, typeAsyncAPI: form07, typeCustom: form08, typeHTTP: form09, typeOpenAPI: form09,
}

// function reads a function (0.8 §Function Definition).
func (p *parser) function(n *dialect.Node, shared bool) {
	f := p.Fields(n, "a function")
	if f == nil {
		return
	}
	fn := &function{definition: definition{node: n, name: f.Name("name"), shared: shared}}
	f.Called(fn.name)
	p.dnsName(fn.name)
	fn.typ = p.functionType(f)
	fn.metadata = f.Get("metadata")
	p.authRef(fn, f.Get("authRef"))
	p.era(f, form07, form09, "authRef")
	operation := f.Get("operation")
	f.Done()
	switch {
	case operation == nil && (fn.typ == typeOpenAPI || fn.typ == typeCustom): // the catalogue has it by name
	case operation == nil:
		f.Missing("operation")
	case operation.Kind == expr.KindObject:
		p.operationObject(fn, operation)
	default:
		if fn.operation = p.Named(operation, "operation"); fn.operation != nil {
			p.operation(fn)
		}
	}
	if fn.name == nil {
		return
	}
	p.w.functions = append(p.w.functions, fn)
	if p.named[fn.name.Text] == nil {
		p.named[fn.name.Text] = fn
	}
	if fn.operation != nil && fn.typ == typeOpenAPI && p.src.Operations != nil {
		p.src.Operations[fn.name.Text] = fn.operation
	}
}

func (p *parser) functionType(f *dialect.Fields) string {
	typ, at := f.Choice("type", functionTypes...)
	switch {
	case at == nil, typ == "rest":
		typ = typeOpenAPI
	case p.said && p.form < since[typ] && (p.form != form08 || since[typ] != form09):
		p.Warnf(at, codeOtherForm, "functions of type %s belong to %s and later, and the definition says %s; it is read all the same",
			typ, since[typ], p.form)
	}
	return typ
}

// authRef reads which credentials are used: in 0.7 and 0.8 for the document of the operation only, from 0.9
// on for calls (0.9 §AuthRef Definition).
func (p *parser) authRef(fn *function, n *dialect.Node) {
	switch {
	case n == nil:
	case n.Kind == expr.KindObject:
		f := p.Fields(n, "authRef")
		fn.docAuth, fn.authRef = f.Name("resource"), f.OptionalName("invocation")
		f.Done()
	case p.form == form09:
		fn.authRef = p.Named(n, "authRef")
	default:
		fn.docAuth = p.Named(n, "authRef")
	}
}

// operation checks an operation that is a text.
func (p *parser) operation(fn *function) {
	n := fn.operation
	if fn.typ == typeExpression {
		return // see expressionBody
	}
	p.plain(n, "operation", "it is resolved before any instance runs")
	if fn.typ == typeCustom {
		p.custom(fn)
		return
	}
	if prefix, rest, ok := strings.Cut(n.Text, "#"); ok && p.prefixes[prefix] != "" {
		named := *n
		named.Text = p.prefixes[prefix] + "#" + rest
		n, fn.operation = &named, &named
	}
	switch fn.typ {
	case typeOpenAPI:
		p.openAPI(n)
	case typeAsyncAPI:
		p.formatted(n, "document#operationId")
	case typeOData:
		p.formatted(n, "service#entitySet")
	case typeRPC:
		if p.formatted(n, "file.proto#Service#method") {
			p.elsewhere(n, fn)
		}
	case typeGraphQL:
		if parts := strings.Split(n.Text, "#"); p.formatted(n, "endpoint#query#name") && parts[1] != "query" && parts[1] != "mutation" {
			p.Errorf(n, codeOperation, "operation %q is neither a query nor a mutation", n.Text).WithHint("write endpoint#query#name or endpoint#mutation#name")
		}
	case typeHTTP:
		p.Expected(n, "the operation of a function of type http", "an object with method and uri")
	}
}

// elsewhere warns of an operation that does not say where its service is.
func (p *parser) elsewhere(n *dialect.Node, fn *function) {
	p.Warnf(n, codeCustom, "the operation of %q names no server: the catalogue must have a function of that name", fn.name.Literal())
}

// formatted checks that an operation has all parts of its format.
func (p *parser) formatted(n *dialect.Node, format string) bool {
	parts := strings.Split(n.Text, "#")
	good := len(parts) == 1+strings.Count(format, "#")
	for _, part := range parts {
		good = good && strings.TrimSpace(part) != ""
	}
	if !good {
		p.Errorf(n, codeOperation, "operation %q is not of the form %s", n.Text, format)
	}
	return good
}

// openAPI checks the operation of a document. A plain address is Lockstep's own way to call a service, and
// job: creates jobs.
func (p *parser) openAPI(n *dialect.Node) {
	if jobs(p.Reporter, &p.Hinter).Operation(n) {
		return
	}
	if strings.HasPrefix(n.Text, ir.BuiltinScheme) {
		p.Errorf(n, codeOutOfPlace, "operation %q is not the address of a service, an operation of a document or a job", n.Text)
		return
	}
	uri, id, ok := strings.Cut(n.Text, "#")
	lower := strings.ToLower(uri)
	address := strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
	document := strings.HasSuffix(lower, ".json") || strings.HasSuffix(lower, ".yaml") || strings.HasSuffix(lower, ".yml")
	if ok && (id == "" || uri == "") || !ok && (document || !address) {
		p.Errorf(n, codeOperation, "operation %q is not of the form document#operationId", n.Text)
	}
}

// operationObject reads what 0.9 has for http and openapi.
func (p *parser) operationObject(fn *function, n *dialect.Node) {
	if p.said && p.form < form08 {
		p.Warnf(n.KeySpan(), codeOtherForm, "an operation as an object belongs to 0.9, and the definition says %s; it is read all the same", p.form)
	}
	if fn.typ == typeOpenAPI && n.Get("uri") != nil && n.Get("method") != nil {
		fn.typ = typeHTTP
	}
	switch fn.typ {
	case typeHTTP:
		fn.request = p.httpOperation(n)
	case typeOpenAPI:
		if len(n.Members) == 0 {
			p.Errorf(n, codeEmpty, "operation must not be empty")
		} else {
			p.elsewhere(n, fn)
		}
	default:
		p.Expected(n, "operation", "a string")
	}
}

// methods are those of HTTP that a function can use; CONNECT and TRACE, which the schema of 0.9 lists as well, are not for
// services.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}

func (p *parser) httpOperation(n *dialect.Node) *request {
	f := p.Fields(n, "operation")
	r := &request{method: "GET"}
	if word, at := f.ChoiceFold("method", methods...); at != nil {
		r.method = word
	}
	if r.uri = f.Name("uri"); r.uri != nil {
		p.plain(r.uri, "uri", "write {name} for an argument")
		r.address = r.uri.Text
	}
	r.headers = p.fixed(f, "headers")
	r.cookies = p.fixed(f, "cookies")
	f.Done()
	return r
}

// fixed reads headers or cookies of a function, which are the same for all calls (0.9 §Using functions for HTTP Service
// Invocations).
func (p *parser) fixed(f *dialect.Fields, key string) *expression {
	n := f.Typed(key, expr.KindObject)
	if n == nil {
		return nil
	}
	for _, m := range n.Members {
		p.plain(m, key, "write it into "+key+" of the call's arguments")
	}
	return p.argument(n)
}

// restOperation is SonataFlow's custom operation that is an HTTP request.
var (
	restOperation   = regexp.MustCompile(`^(?i)rest:([a-z]+):(.*)$`)
	sysoutOperation = regexp.MustCompile(`^(?i)sysout(?::([a-z]+))?$`)
)

// custom reads an operation whose format is the runtime's own (0.8 §Defining custom function types). Two of
// SonataFlow's run here; the others name code, for which the catalogue must have a function.
func (p *parser) custom(fn *function) {
	n := fn.operation
	text := strings.TrimSpace(n.Text)
	if m := sysoutOperation.FindStringSubmatch(text); m != nil {
		fn.log = "INFO"
		if m[1] != "" {
			fn.log = strings.ToUpper(m[1])
		}
		return
	}
	if m := restOperation.FindStringSubmatch(text); m != nil {
		fn.request = &request{method: strings.ToUpper(m[1]), uri: n, address: m[2]}
		switch {
		case !slices.Contains(methods, fn.request.method):
			p.MeantOneOf(p.Errorf(n, codeOperation, "%q is not a method of HTTP", m[1]), fn.request.method, methods)
		case m[2] == "":
			p.Errorf(n, codeOperation, "operation %q has no address", n.Text).WithHint("write rest:METHOD:URL")
		case !strings.Contains(m[2], "://"):
			p.Warnf(n, codeCustom, "operation %q has no host: the catalogue must have a function %q with the base URL", n.Text, fn.name.Literal())
		}
		return
	}
	if jobs(p.Reporter, &p.Hinter).Operation(n) {
		return
	}
	p.Warnf(n, codeCustom, "custom operation %s needs a function of that name in the catalogue: %q", n.Text, fn.name.Literal())
}

// expressionBody reads the operation of an expression function, which may be fn: again.
func (p *parser) expressionBody(fn *function) {
	if fn.body != nil || fn.operation == nil {
		return
	}
	n := fn.operation
	if p.reading[fn] {
		p.Errorf(n, codeCycle, "expression function %q refers to itself", fn.name.Text)
		fn.operation = nil // reported once
		return
	}
	p.reading[fn] = true
	before := p.params
	p.params = p.iterated // a call is checked where it stands
	fn.body = p.query(n)
	p.params = before
	delete(p.reading, fn)
	if fn.body == nil {
		fn.operation = nil
	}
}

// jobs checks functions that create jobs.
func jobs(r *dialect.Reporter, h *dialect.Hinter) dialect.JobCheck {
	return dialect.JobCheck{
		Report: r, Hints: h, BadName: codeJobName, BadArguments: codeJobArguments, Unknown: codeJobUnknown,
		Expression: func(text string) bool { return strings.Contains(text, "${") || strings.Contains(text, "{{") },
	}
}
