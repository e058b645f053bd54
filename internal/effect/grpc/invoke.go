package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Invoker makes calls of kind grpc.
type Invoker struct {
	client *effecthttp.Client
	pool   *pool

	mu      sync.Mutex
	schemas *recent[string, func() (*schema, error)]
}

var _ effect.Invoker = (*Invoker)(nil)

// New returns an invoker under the policy of the client. Its connections are closed with those of the client.
func New(client *effecthttp.Client) *Invoker {
	i := &Invoker{client: client, pool: newPool(client), schemas: newRecent[string, func() (*schema, error)](maxSchemas, nil)}
	client.OnClose(i.pool.empty)
	return i
}

// call is one that is ready to be made.
type call struct {
	*Invoker
	where  string
	limits effecthttp.Limits
	within string // how long it may take, in words
	schema *schema
	method protoreflect.MethodDescriptor
	target target
	meta   metadata.MD
	policy *auth.Policy // of its credentials; nil: none
	token  string       // of the policy
	wire   []byte       // the arguments
	conn   *connection  // while it is made
}

// Invoke makes a call whose arguments are {proto, service: {name, host, port, authentication}, method, arguments}.
func (i *Invoker) Invoke(ctx context.Context, ec effect.Call) effect.Outcome {
	c := &call{Invoker: i, where: fmt.Sprintf("call %q", ec.Function), limits: i.client.Limits()}
	timeout, named := i.client.Timeout(ctx)
	c.within = fmt.Sprintf("%s (%s)", timeout, named)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := c.prepare(ctx, ec); err != nil {
		return refused(c.where, err)
	}
	if c.method.IsStreamingServer() {
		return effect.Outcome{Wait: c.stream}
	}
	return c.unary(ctx)
}

// prepare reads the arguments of a call, and gets its credentials.
func (c *call) prepare(ctx context.Context, ec effect.Call) error {
	b, _ := ir.BuiltinOf(ec.Operation)
	ref, service, method := operation(b)
	var err error
	if c.schema, err = c.schemaOf(ref, ec.Documents); err != nil {
		return err
	}
	if c.method, err = c.schema.method(service, method); err != nil {
		return err
	}
	at, _ := ec.Args.Get("service")
	if c.target, err = readTarget(at, b.Guarded); err != nil {
		return err
	}
	c.where = fmt.Sprintf("%s/%s at %s", c.method.Parent().FullName(), c.method.Name(), c.target.address)
	policy, _ := at.Get("authentication")
	if !policy.IsNull() && c.target.plain && !c.target.local {
		return errors.New("credentials are not sent without TLS to another machine; use a host without http:// or grpc://")
	}
	args := ec.Args
	if args, c.policy, err = c.client.Authorize(ctx, args, policy, b); err != nil {
		return err
	}
	c.meta = metadata.MD{}
	if ec.Key != "" {
		c.meta.Set("idempotency-key", ec.Key)
	}
	if t := effect.Traceparent(ctx); t != "" {
		c.meta.Set("traceparent", t)
		if state := effect.Tracestate(ctx); state != "" {
			c.meta.Set("tracestate", state)
		}
	}
	if c.policy != nil {
		scheme, parameter, err := c.client.Credentials(ctx, c.policy, b.Guarded)
		if err == nil && parameter == "" {
			err = errDigest
		}
		if err == nil {
			err = c.authorize(scheme, parameter)
		}
		if err != nil {
			return err
		}
	}
	given, _ := args.Get("arguments")
	c.wire, err = c.schema.encode(given, c.method.Input())
	return err
}

// authorize sets the credentials of a call.
func (c *call) authorize(scheme, parameter string) error {
	if strings.ContainsFunc(parameter, func(r rune) bool { return r < ' ' || r > '~' }) {
		return errors.New("authentication: the credentials have a character that metadata cannot have")
	}
	c.token = parameter
	c.meta.Set("authorization", scheme+" "+parameter)
	return nil
}

// operation is what a call needs: DOCUMENT#SERVICE/METHOD.
func operation(b ir.Builtin) (ref, service, method string) {
	ref, _, _ = strings.Cut(b.Document, "#")
	named := b.Document[strings.LastIndexByte(b.Document, '#')+1:]
	if at := strings.LastIndexByte(named, '/'); at >= 0 {
		service, method = named[:at], named[at+1:]
	}
	return route.LowerScheme(ref), service, method
}

// schemaOf is the document of a call as it was pinned. Those that call it for the first time wait for one of them.
func (i *Invoker) schemaOf(ref string, d effect.Documents) (*schema, error) {
	if d.Root == 0 || d.Root > len(d.All) {
		return nil, &problem{code: pin.CodeDocument, msg: fmt.Sprintf("the document %q could not be opened when the definition was deployed", ref)}
	}
	key := d.Key + " " + strconv.Itoa(d.Root)
	i.mu.Lock()
	compiled, ok := i.schemas.get(key)
	if !ok {
		compiled = sync.OnceValues(func() (*schema, error) { return compile(d.All[d.Root-1].Ref, pinned(d)) })
		i.schemas.put(key, compiled)
	}
	i.mu.Unlock()
	return compiled()
}

// pinned opens what was pinned, and nothing else.
func pinned(d effect.Documents) func(ref string) ([]byte, error) {
	return func(ref string) ([]byte, error) {
		for _, r := range d.All {
			if r.Ref == ref {
				return []byte(r.Text), nil
			}
		}
		return nil, errors.New("it was not pinned when the definition was deployed")
	}
}

// begin opens the stream of a call and sends its arguments.
func (c *call) begin(ctx context.Context) (grpc.ClientStream, error) {
	desc := grpc.StreamDesc{StreamName: string(c.method.Name()), ServerStreams: c.method.IsStreamingServer()}
	path := fmt.Sprintf("/%s/%s", c.method.Parent().FullName(), c.method.Name())
	stream, err := c.conn.NewStream(metadata.NewOutgoingContext(ctx, c.meta), &desc, path)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(&c.wire); err != nil && !errors.Is(err, io.EOF) { // at io.EOF, RecvMsg knows more
		return nil, err
	}
	return stream, stream.CloseSend()
}

// unary makes a call that is answered with one message.
func (c *call) unary(ctx context.Context) effect.Outcome {
	all, out := c.receive(ctx, c.within)
	if all == nil {
		return out
	}
	return effect.Outcome{Value: all[0]}
}

// stream makes a call that is answered with any number of messages.
func (c *call) stream(ctx context.Context) effect.Outcome {
	ctx, cancel := context.WithTimeout(ctx, maxStream)
	defer cancel()
	all, out := c.receive(ctx, inWords(maxStream, "grpc-stream-time"))
	if all == nil {
		return out
	}
	return effect.Outcome{Value: expr.Array(all...)}
}

// receive makes a call and takes all messages of its answer; nil: the outcome says why there are none. A service that
// refuses a token gets a new one once, as over HTTP.
func (c *call) receive(ctx context.Context, limit string) ([]expr.Value, effect.Outcome) {
	all, out := c.once(ctx, limit)
	if all == nil && c.policy != nil && out.Failure.Code == statuses[codes.Unauthenticated].name {
		token, ok, err := c.client.Renewed(ctx, c.policy, c.target.guarded, c.token)
		if err == nil && ok {
			err = c.authorize("Bearer", token)
		}
		switch {
		case err != nil:
			return nil, refused(c.where, err)
		case ok:
			return c.once(ctx, limit)
		}
	}
	return all, out
}

// once makes a call with the credentials that it has.
func (c *call) once(ctx context.Context, limit string) ([]expr.Value, effect.Outcome) {
	var err error
	if c.conn, err = c.pool.get(c.target); err != nil {
		return nil, refused(c.where, err)
	}
	defer c.pool.put(c.conn)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what is left of the stream ends
	stream, err := c.begin(ctx)
	if err != nil {
		return nil, c.failed(ctx, err, limit)
	}
	all := []expr.Value{}
	weight, left := c.schema.scaleOf(c.limits.ResponseBytes), c.limits.ResponseBytes
	for {
		var wire []byte
		err := stream.RecvMsg(&wire)
		if errors.Is(err, io.EOF) && c.method.IsStreamingServer() {
			return all, effect.Outcome{}
		}
		if err == nil {
			if left -= int64(len(wire)); left < 0 {
				return nil, refused(c.where, c.large())
			}
			var v expr.Value
			v, err = c.schema.decode(wire, c.method.Output(), weight)
			all = append(all, v)
		}
		if err != nil {
			return nil, c.failed(ctx, err, limit)
		}
		if !c.method.IsStreamingServer() {
			return all, effect.Outcome{}
		}
	}
}
