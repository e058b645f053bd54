package a2a

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/jsonrpc"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The methods whose parameters or answers are special.
const (
	methodSend        = "message/send"
	methodStream      = "message/stream"
	methodResubscribe = "tasks/resubscribe"
	methodCard        = "agent/getAuthenticatedExtendedCard"
	pushConfig        = "tasks/pushNotificationConfig/"
	methodDelete      = pushConfig + "delete"
)

// required are the parameters that each method needs.
var required = map[string][]string{
	methodSend: {"message"}, methodStream: {"message"},
	"tasks/get": {"id"}, "tasks/list": nil, "tasks/cancel": {"id"}, methodResubscribe: {"id"},
	pushConfig + "set": {"taskId", "pushNotificationConfig"}, pushConfig + "get": {"id"}, pushConfig + "list": {"id"},
	methodDelete: {"id", "pushNotificationConfigId"},
	methodCard:   nil,
}

func streams(method string) bool { return method == methodStream || method == methodResubscribe }

// missing says what the parameters of a method lack; "": nothing.
func missing(method string, parameters expr.Value) string {
	for _, key := range required[method] {
		if v, _ := parameters.Get(key); v.IsNull() {
			return fmt.Sprintf("%s needs parameters.%s", method, key)
		}
	}
	message, _ := parameters.Get("message")
	parts, given := message.Get("parts")
	switch {
	case method != methodSend && method != methodStream:
	case !message.IsObject():
		return "parameters.message must be an object, not " + message.Kind().WithArticle()
	case !given:
		return method + " needs parameters.message.parts"
	case !parts.IsArray():
		return "parameters.message.parts must be an array, not " + parts.Kind().WithArticle()
	case parts.Len() == 0:
		return method + " needs parameters.message.parts, at least one"
	}
	return ""
}

// Invoker makes calls.
type Invoker struct{ client *effecthttp.Client }

var _ effect.Invoker = (*Invoker)(nil)

// New returns an invoker that calls through the client.
func New(client *effecthttp.Client) *Invoker { return &Invoker{client} }

// Invoke makes a call.
func (i *Invoker) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	where := fmt.Sprintf("call %q", c.Function)
	b, _ := ir.BuiltinOf(c.Operation)
	server, _ := c.Args.Get("server")
	policy, _ := server.Get("authentication")
	if b.Open && !policy.IsNull() {
		return jsonrpc.Failed(where, errors.New("a server that an expression gives cannot have an authentication"))
	}
	args, credentials, err := i.client.Authorize(ctx, c.Args, policy, b)
	if err != nil {
		return jsonrpc.Failed(where, err)
	}
	target, err := i.target(c.Documents, args, b, credentials != nil)
	if err != nil {
		return jsonrpc.Failed(where, err)
	}
	method := effect.Name(args, "method")
	parameters, err := parametersOf(method, args, c.Key)
	if err != nil {
		return jsonrpc.Failed(where, err)
	}
	at := &jsonrpc.Endpoint{URL: target, HTTP: i.client.Library(effecthttp.Request{
		URL: target, Auth: credentials, Guarded: b.Guarded, Secret: i.client.Holds(parameters),
	})}
	if c.Key != "" {
		at.Header = http.Header{"Idempotency-Key": {c.Key}}
	}
	body := jsonrpc.Request(requestID, method, parameters)
	if streams(method) {
		return i.stream(ctx, at, body)
	}
	limited, explain, cancel := i.deadline(ctx).Within(ctx, i.client)
	defer cancel()
	result, _, err := at.Call(limited, requestID, body, nil)
	if method == methodDelete && errors.Is(err, jsonrpc.ErrEmpty) {
		return effect.Outcome{Value: expr.Null} // the protocol's own server leaves out a result that is null
	}
	if err != nil {
		return jsonrpc.Failed(at.Where("POST"), explain(err))
	}
	return effect.Outcome{Value: result}
}

// requestID is the id of the one request of a call.
const requestID = 1

func (i *Invoker) deadline(ctx context.Context) jsonrpc.Deadline {
	after, named := i.client.Timeout(ctx)
	return jsonrpc.Deadline{After: after, Named: named}
}

// target is the address of the agent.
func (i *Invoker) target(documents effect.Documents, args expr.Value, b ir.Builtin, credentials bool) (*url.URL, error) {
	server, given := args.Get("server")
	if b.Document == "" {
		return effecthttp.ReadEndpoint(server)
	}
	if documents.Root == 0 || documents.Root > len(documents.All) {
		return nil, &effecthttp.Error{Code: pin.CodeDocument, Msg: fmt.Sprintf("the agent card %q could not be used when the definition was deployed", b.Document)}
	}
	card, err := readCard([]byte(documents.All[documents.Root-1].Text))
	if err != nil {
		return nil, &effecthttp.Error{Code: pin.CodeDocument, Msg: err.Error()}
	}
	if given && credentials {
		named, err := effecthttp.ReadEndpoint(server)
		if err != nil {
			return nil, err
		}
		if !sameOrigin(named, card.url) {
			return nil, errors.New("the authentication is for " + origin(named) + ", and the agent card says that the agent is at " + origin(card.url))
		}
	}
	return card.url, nil
}

func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

func sameOrigin(a, b *url.URL) bool { return origin(a) == origin(b) }

// parametersOf are the parameters of a call with what they have by default.
func parametersOf(method string, args expr.Value, key string) (expr.Value, error) {
	if _, ok := required[method]; !ok {
		return expr.Null, fmt.Errorf("method is %q, and must be one of %s", method, strings.Join(slices.Sorted(maps.Keys(required)), ", "))
	}
	parameters, _ := args.Get("parameters")
	if !parameters.IsNull() && !parameters.IsObject() {
		return expr.Null, errors.New("parameters must be an object, not " + parameters.Kind().WithArticle())
	}
	if problem := missing(method, parameters); problem != "" {
		return expr.Null, errors.New(problem)
	}
	if method != methodSend && method != methodStream {
		return parameters, nil
	}
	for name, byDefault := range map[string]string{"kind": "message", "role": "user", "messageId": messageID(key)} {
		if given, _ := parameters.Lookup("message", name); given.IsNull() {
			parameters = parameters.WithPath([]string{"message", name}, expr.String(byDefault))
		}
	}
	return parameters, nil
}

// messageID is a UUID (RFC 9562, version 8) that is the same for the same key.
func messageID(key string) string {
	sum := sha256.Sum256([]byte("a2a message " + key))
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
