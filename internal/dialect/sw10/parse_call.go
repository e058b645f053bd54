package sw10

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// callTask reads a call of a function (Open Workflow §Call).
func (p *parser) callTask(f *dialect.Fields, t *task) *callTask {
	b := &callTask{function: p.Named(f.Get(kindCall), kindCall)}
	s := p.secretly(p.in(taskBody, "with"))
	with := f.Get("with")
	switch {
	case b.function == nil:
		return b
	case !slices.Contains(builtinCalls, b.function.Text):
		b.custom = p.customCall(b.function)
		if with != nil && p.Is(with, expr.KindObject, "with") {
			b.with = p.template(with, s)
		}
		return b
	case with == nil:
		f.Missing("with")
		return b
	}
	s.calls = true
	a := p.Fields(with, "with of "+b.function.Text)
	if a == nil {
		return b
	}
	switch b.function.Text {
	case callHTTP:
		b.args = p.httpCall(a, s)
	case callOpenAPI:
		b.args = p.openapiCall(a, s)
	case callGRPC:
		b.args = p.grpcCall(a, s)
	case callAsyncAPI:
		b.args = p.asyncapiCall(a, s, t)
	case callA2A:
		b.args = p.a2aCall(a, s)
	case callMCP:
		b.args = p.mcpCall(a, s)
	}
	a.Done()
	b.with = p.whole(with)
	return b
}

// catalogued is the name of a function in a catalogue: NAME:VERSION@CATALOG.
var catalogued = regexp.MustCompile(`^([^:@/\s]+):([^:@/\s]+)@([^:@/\s]+)$`)

// customCall reads what the name of a function means.
func (p *parser) customCall(n *dialect.Node) *customCall {
	c := &customCall{}
	switch m := catalogued.FindStringSubmatch(n.Text); {
	case m != nil:
		c.catalogued, c.name, c.version, c.catalog = true, m[1], m[2], m[3]
		if !semanticVersion.MatchString(c.version) {
			p.Errorf(n.SpanIn(len(c.name)+1, len(c.name)+1+len(c.version)), codeFunctionName, "%q is not a semantic version", c.version).
				WithHint("a function of a catalogue is named as in log:1.0.0@%s", c.catalog)
		}
	case strings.Contains(n.Text, "://"):
		c.address = n.Text
		p.literalAddress(n)
	case strings.ContainsAny(n.Text, ":@ "):
		p.Errorf(n, codeFunctionName, "%q is not the name of a function", n.Text).
			WithHint("a function of a catalogue is named as in log:1.0.0@catalog")
	}
	return c
}

// outputFormat reads what a call over HTTP gives.
func outputFormat(f *dialect.Fields) string {
	if word, _ := f.Choice("output", outputRaw, outputContent, outputResponse); word != "" {
		return word
	}
	return outputContent
}

// httpCall reads Open Workflow §HTTP Call.
func (p *parser) httpCall(f *dialect.Fields, s scope) *httpCall {
	c := &httpCall{
		method:   p.textValue(f.Need("method"), s),
		endpoint: p.endpoint(f.Need("endpoint"), s),
		headers:  p.textsValue(f.Get("headers"), expr.KindObject, s),
		query:    p.objectValue(f.Get("query"), s),
		body:     p.template(f.Get("body"), s),
		output:   outputFormat(f),
	}
	c.redirect, _ = f.Flag("redirect", false)
	if method, ok := c.method.text(); ok && !isToken(method) {
		p.Errorf(c.method.node, codeChoice, "method cannot be %q", method).WithHint("as in get, post, put, patch, delete")
	}
	return c
}

// isToken reports whether a text can be the method of a request.
func isToken(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > 127 || r <= ' ' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) }) < 0
}

// openapiCall reads Open Workflow §OpenAPI Call.
func (p *parser) openapiCall(f *dialect.Fields, s scope) *openapiCall {
	c := &openapiCall{
		document:   p.resource(f.Need("document"), s),
		operation:  p.textValue(f.Need("operationId"), s),
		parameters: p.objectValue(f.Get("parameters"), s),
		auth:       p.authentication(f.Get("authentication"), s),
		output:     outputFormat(f),
	}
	c.redirect, _ = f.Flag("redirect", false)
	return c
}

// grpcCall reads Open Workflow §gRPC Call.
func (p *parser) grpcCall(f *dialect.Fields, s scope) *grpcCall {
	c := &grpcCall{proto: p.resource(f.Need("proto"), s)}
	if service := p.Fields(f.Need("service"), "service"); service != nil {
		c.service = p.textValue(service.Need("name"), s)
		c.host = p.textValue(service.Need("host"), s)
		if port := service.Get("port"); port != nil {
			c.port, _ = p.Whole(port, "port", 0, 65535)
		}
		c.auth = p.authentication(service.Get("authentication"), s)
		service.Done()
	}
	c.method = p.textValue(f.Need("method"), s)
	c.arguments = p.objectValue(f.Get("arguments"), s)
	return c
}

var asyncapiProtocols = []string{
	"amqp", "amqp1", "anypointmq", "googlepubsub", "http", "ibmmq", "jms", "kafka", "mercure", "mqtt", "mqtt5", "nats", "pulsar",
	"redis", "sns", "solace", "sqs", "stomp", "ws",
}

// asyncapiCall reads Open Workflow §AsyncAPI Call.
func (p *parser) asyncapiCall(f *dialect.Fields, s scope, t *task) *asyncapiCall {
	c := &asyncapiCall{
		document:  p.resource(f.Need("document"), s),
		channel:   p.textValue(f.Get("channel"), s),
		operation: p.textValue(f.Get("operation"), s),
		auth:      p.authentication(f.Get("authentication"), s),
	}
	if server := p.Fields(f.Get("server"), "server"); server != nil {
		p.textValue(server.Need("name"), s)
		p.objectValue(server.Get("variables"), s)
		server.Done()
		c.server = p.whole(server.Node)
	}
	if _, protocol := f.Choice("protocol", asyncapiProtocols...); protocol != nil {
		c.protocol = p.whole(protocol)
	}
	if message := p.Fields(f.Get("message"), "message"); message != nil {
		p.objectValue(message.Get("payload"), s)
		p.objectValue(message.Get("headers"), s)
		message.Done()
		c.message = p.whole(message.Node)
	}
	c.subscription = p.subscription(f.Get("subscription"), s, t)
	f.Either("channel", "operation")
	f.Either("message", "subscription")
	return c
}

// subscription reads which messages are consumed (Open Workflow §AsyncAPI Subscription).
func (p *parser) subscription(n *dialect.Node, s scope, t *task) *subscription {
	f := p.Fields(n, "subscription")
	if f == nil {
		return nil
	}
	out := &subscription{node: n, filter: p.condition(f.Get("filter"), s)}
	if consume := p.Fields(f.Need("consume"), "consume"); consume != nil {
		out.period = p.duration(consume.Get("for"), s)
		if amount := consume.Get("amount"); amount != nil {
			out.amount, _ = p.Whole(amount, "amount", 1, 1<<31-1)
		}
		out.while = p.condition(consume.Get("while"), s)
		out.until = p.condition(consume.Get("until"), s)
		var first *dialect.Node
		for _, key := range []string{"amount", "while", "until"} {
			switch m := consume.Peek(key); {
			case m == nil:
			case first != nil:
				consume.Both(first, m)
			default:
				first = m
			}
		}
		if first == nil {
			p.Errorf(consume.Node.KeySpan(), codeMissing, "consume needs one of amount, while, until")
		}
		consume.Done()
	}
	out.foreach = p.iterator(f.Get("foreach"), t.ref+"/with/subscription/foreach/do")
	f.Done()
	return out
}

var a2aMethods = []string{
	"message/send", "message/stream", "tasks/get", "tasks/list", "tasks/cancel", "tasks/resubscribe", "tasks/pushNotificationConfig/set",
	"tasks/pushNotificationConfig/get", "tasks/pushNotificationConfig/list", "tasks/pushNotificationConfig/delete",
	"agent/getAuthenticatedExtendedCard",
}

// needChoice reads a required word.
func needChoice(f *dialect.Fields, key string, among []string) string {
	if f.Peek(key) == nil {
		f.Need(key)
		return ""
	}
	word, _ := f.Choice(key, among...)
	return word
}

// a2aCall reads Open Workflow §A2A Call.
func (p *parser) a2aCall(f *dialect.Fields, s scope) *a2aCall {
	c := &a2aCall{
		method:     needChoice(f, "method", a2aMethods),
		agentCard:  p.resource(f.Get("agentCard"), s),
		server:     p.endpoint(f.Get("server"), s),
		parameters: p.objectValue(f.Get("parameters"), s),
	}
	if f.Peek("agentCard") == nil && f.Peek("server") == nil {
		p.Errorf(f.Node.KeySpan(), codeMissing, `%s needs "agentCard" or "server"`, f.What)
	}
	return c
}

var mcpMethods = []string{
	"tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list",
}

// mcpCall reads Open Workflow §MCP Call.
func (p *parser) mcpCall(f *dialect.Fields, s scope) *mcpCall {
	c := &mcpCall{
		protocol:   p.textValue(f.Get("protocolVersion"), s),
		method:     needChoice(f, "method", mcpMethods),
		parameters: p.objectValue(f.Get("parameters"), s),
		timeout:    p.duration(f.Get("timeout"), s),
	}
	if transport := p.Fields(f.Need("transport"), "transport"); transport != nil {
		if http := p.Fields(transport.Get("http"), "http"); http != nil {
			c.http = p.endpoint(http.Need("endpoint"), s)
			c.headers = p.textsValue(http.Get("headers"), expr.KindObject, s)
			http.Done()
		}
		if stdio := p.Fields(transport.Get("stdio"), "stdio"); stdio != nil {
			c.command = p.textValue(stdio.Need("command"), s)
			p.textsValue(stdio.Get("arguments"), expr.KindArray, s)
			p.textsValue(stdio.Get("environment"), expr.KindObject, s)
			stdio.Done()
			c.stdio = p.whole(stdio.Node)
		}
		c.options = p.objectValue(transport.Get("options"), s)
		transport.Either("http", "stdio")
		transport.Done()
	}
	if client := p.Fields(f.Get("client"), "client"); client != nil {
		p.textValue(client.Need("name"), s)
		p.textValue(client.Need("version"), s)
		client.Done()
		c.client = p.whole(client.Node)
	}
	return c
}
