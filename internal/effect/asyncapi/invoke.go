package asyncapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// maxOperations is how many operations stay in memory, ready to be called.
const maxOperations = 256

// Invoker sends and receives messages as pinned documents describe.
type Invoker struct {
	client   *effecthttp.Client
	tls      *tls.Config // of NATS
	sessions sessions
	pause    time.Duration // before a stream is asked for again; grows with each failure

	mu         sync.Mutex
	operations map[string]ready
}

var _ effect.Invoker = (*Invoker)(nil)

// ready is an operation, or why there is none.
type ready struct {
	operation *operation
	err       error
}

// New returns an invoker that connects through the client. Its connections are closed with those of the client.
func New(client *effecthttp.Client) *Invoker {
	i := &Invoker{client: client, tls: &tls.Config{MinVersion: tls.VersionTLS12}, pause: time.Second, operations: map[string]ready{}}
	i.sessions.init()
	client.OnClose(i.sessions.empty)
	return i
}

// target is where a call goes, and with what.
type target struct {
	*operation
	server  server
	base    *url.URL
	auth    *auth.Policy
	guarded bool // data may have chosen the address
	secret  bool // the call holds one
	where   string
}

// Invoke sends a message, or receives the next one.
func (i *Invoker) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	where := fmt.Sprintf("call %q", c.Function)
	t, err := i.target(ctx, &c)
	if err != nil {
		return refused(where, err)
	}
	if subscription, ok := c.Args.Get("subscription"); ok {
		return i.receive(ctx, c, t, subscription)
	}
	msg, _ := c.Args.Get("message")
	if err := t.check(msg); err != nil {
		return refused(where, fmt.Errorf("the message does not fit its description: %w", err))
	}
	if t.server.kind() == protocolNATS {
		err = i.publishNATS(ctx, c, t, msg)
	} else if out := i.publishHTTP(ctx, c, t, msg); out.Failure != nil {
		return out
	}
	if err != nil {
		return refused(t.where, err)
	}
	return effect.Outcome{Value: msg}
}

// target finds where a call goes. It fills in the credentials where the arguments refer to them.
func (i *Invoker) target(ctx context.Context, c *effect.Call) (target, error) {
	t := target{}
	b, ok := ir.BuiltinOf(c.Operation)
	if !ok {
		return t, errors.New("its arguments do not describe it")
	}
	o, err := i.operation(*c)
	if err != nil {
		return t, err
	}
	t.operation, t.guarded = o, b.Guarded
	at, _ := c.Args.Get("server")
	if t.server, err = o.choose(effect.Name(at, "name"), effect.Name(c.Args, "protocol")); err != nil {
		return t, err
	}
	variables, _ := at.Get("variables")
	if t.base, err = t.server.address(variables); err != nil {
		return t, err
	}
	policy, _ := c.Args.Get("authentication")
	if c.Args, t.auth, err = i.client.Authorize(ctx, c.Args, policy, b); err != nil {
		return t, err
	}
	msg, _ := c.Args.Get("message")
	t.secret = i.client.Holds(msg)
	t.where = fmt.Sprintf("%s at %s://%s", o.title, t.base.Scheme, t.base.Host)
	return t, nil
}

// operation finds the operation of a call in what was pinned.
func (i *Invoker) operation(c effect.Call) (*operation, error) {
	if c.Documents.Root == 0 || c.Documents.Root > len(c.Documents.All) {
		return nil, errors.New("its document could not be opened when the definition was deployed")
	}
	name, way := named(c.Args)
	root := c.Documents.All[c.Documents.Root-1].Ref
	key := strings.Join([]string{c.Documents.Key, root, string(way), name}, "\x00")
	i.mu.Lock()
	defer i.mu.Unlock()
	if known, ok := i.operations[key]; ok {
		return known.operation, known.err
	}
	lib := newLibrary(func(ref string) ([]byte, error) {
		for _, d := range c.Documents.All {
			if d.Ref == ref {
				return []byte(d.Text), nil
			}
		}
		return nil, errNotPinned
	})
	o, _, err := lib.compile(root, name, way)
	if len(i.operations) >= maxOperations {
		clear(i.operations)
	}
	i.operations[key] = ready{o, err}
	return o, err
}

// refused is the outcome of a call that did not succeed.
func refused(where string, err error) effect.Outcome {
	out := effecthttp.CallOptions{}.Refused(where, err)
	if answer, ok := errors.AsType[*status](err); ok {
		out.Failure.Code, out.Failure.Status = "", strconv.Itoa(answer.code)
	}
	return out
}

// encode writes a payload as the operation's media type says.
func (o *operation) encode(msg expr.Value) (body []byte, media string, err error) {
	payload, ok := msg.Get("payload")
	if !ok || payload.IsNull() {
		return nil, "", nil
	}
	if media = o.media; media == "" {
		media = "application/json"
	}
	body, err = effecthttp.Encode(media, payload)
	return body, media, err
}
