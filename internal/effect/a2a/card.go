package a2a

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// transportJSONRPC is the only transport that is spoken.
const transportJSONRPC = "JSONRPC"

// card is what an agent says of itself.
type card struct {
	expr.Value
	url *url.URL // of its JSON-RPC interface
}

// readCard reads an agent card.
func readCard(text []byte) (card, error) {
	v, err := expr.ParseJSON(text)
	if err != nil {
		return card{}, fmt.Errorf("the agent card is not JSON: %w", err)
	}
	address, ok := v.Get("url")
	if !v.IsObject() || !ok {
		return card{}, errors.New("the agent card has no url")
	}
	if preferred := effect.Name(v, "preferredTransport"); preferred != "" && !strings.EqualFold(preferred, transportJSONRPC) {
		more, _ := v.Get("additionalInterfaces")
		address = expr.Null
		for _, at := range more.Items() {
			if strings.EqualFold(effect.Name(at, "transport"), transportJSONRPC) {
				address, _ = at.Get("url")
				break
			}
		}
		if address.IsNull() {
			return card{}, fmt.Errorf("the agent speaks %s, and has no interface for %s", preferred, transportJSONRPC)
		}
	}
	c := card{Value: v}
	if c.url, err = effecthttp.ReadEndpoint(address); err != nil {
		return card{}, fmt.Errorf("the url of the agent card: %w", err)
	}
	return c, nil
}

// demands returns the schemes of which the agent demands one; none: it demands no authentication.
func (c card) demands() (schemes []string) {
	all, _ := c.Get("security")
	for _, choice := range all.Items() {
		if choice.Len() == 0 {
			return nil
		}
		for _, m := range choice.Members() {
			schemes = append(schemes, m.Key)
		}
	}
	return schemes
}

// lacks says which capability of the agent a method needs that it does not have; "": none.
func (c card) lacks(method string) string {
	path := []string{"capabilities"}
	switch {
	case streams(method):
		path = append(path, "streaming")
	case strings.HasPrefix(method, pushConfig):
		path = append(path, "pushNotifications")
	case method == methodCard:
		path = []string{"supportsAuthenticatedExtendedCard"}
	default:
		return ""
	}
	if has, _ := c.Lookup(path...); has.Bool() {
		return ""
	}
	return strings.Join(path, ".")
}

// Kind knows agent cards.
type Kind struct{}

var _ pin.Kind = Kind{}

// Find opens the agent card of a function, and checks its calls.
func (Kind) Find(f *pin.Finder, fn pin.Function) (root string) {
	var c card
	if ref := fn.Operation.Document; ref != "" {
		text, err := f.Open(ref)
		if err != nil {
			f.Failf(fn.Document, err, pin.CodeDocument, "call %q: the agent card cannot be opened: %v", fn.Name, err)
		} else if c, err = readCard(text); err != nil {
			f.Failf(fn.Document, err, pin.CodeDocument, "call %q: %v", fn.Name, err)
		}
		if err == nil {
			root = ref
		}
	}
	for _, call := range fn.Calls {
		if streams(effect.Name(call.With, "method")) {
			f.Stream(fn)
		}
		check(f, fn, call, c)
	}
	return root
}

// check checks the constants of a call; the card may be zero.
func check(f *pin.Finder, fn pin.Function, call pin.Call, c card) {
	args := call.With
	method := effect.Name(args, "method")
	if parameters, given := args.Get("parameters"); constant(parameters) || !given {
		if problem := missing(method, parameters); problem != "" {
			f.Errorf(call.Args.Place("/parameters"), pin.CodeMismatch, "call %q: %s", fn.Name, problem)
		}
	}
	if c.url == nil {
		return
	}
	if what := c.lacks(method); what != "" {
		f.Warnf(fn.ID, pin.CodeMismatch, "call %q: %s needs an agent with %s, which the agent card does not have", fn.Name, method, what)
	}
	authentication, ok := args.Lookup("server", "authentication")
	schemes := c.demands()
	switch {
	case len(schemes) > 0 && !ok:
		f.Warnf(fn.ID, pin.CodeMismatch, "call %q: the agent demands authentication (%s), and the call has none", fn.Name, strings.Join(schemes, ", ")).
			WithHint("give the address of the agent with authentication as server")
	case ok && !authentication.IsNull():
		server, _ := args.Get("server")
		if at, err := effecthttp.ReadEndpoint(server); err == nil && !sameOrigin(at, c.url) {
			f.Warnf(fn.ID, pin.CodeMismatch, "call %q: the authentication is for %s, and the agent card says that the agent is at %s", fn.Name, origin(at), origin(c.url)).
				WithHint("give the address of the agent card as server")
		}
	}
}

// constant reports whether what [missing] looks at is not given by an expression, which is a text.
func constant(parameters expr.Value) bool {
	message, given := parameters.Get("message")
	parts, hasParts := message.Get("parts")
	return parameters.IsObject() && (!given || message.IsObject()) && (!hasParts || parts.Kind() != expr.KindString)
}
