package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
)

// Limits bound what a call may cost. A zero field means its default.
type Limits struct {
	ResponseBytes int64         // body after decompression ("response-bytes"), 4 MiB
	HeaderBytes   int64         // headers of an answer ("response-header-bytes"), 64 KiB
	Redirects     int           // followed one after the other ("redirects"), 5
	Timeout       time.Duration // of a call in all ("call-timeout"), 30 s
	MaxTimeout    time.Duration // of a call whose definition states a longer timeout ("call-timeout-max"), 10 min
}

// DefaultLimits hold unless Options say otherwise.
var DefaultLimits = Limits{ResponseBytes: 4 << 20, HeaderBytes: 64 << 10, Redirects: 5, Timeout: 30 * time.Second, MaxTimeout: 10 * time.Minute}

// Options configure a client.
type Options struct {
	Allow   []string // addresses beyond the public ones: CIDR | HOST[:PORT]
	Version string   // of Lockstep, for User-Agent
	Limits  Limits
	Secrets auth.Secret // of authentications with {use: NAME}; nil: there are none
	// Holds reports whether a value has a secret in it, which never goes to another host; nil: none has.
	Holds func(expr.Value) bool
}

// Client makes HTTP calls. It is safe for concurrent use.
type Client struct {
	http    *nethttp.Client
	guarded *nethttp.Client // for addresses that data may have chosen
	auth    *auth.Keeper
	secrets auth.Secret
	holds   func(expr.Value) bool
	limits  Limits
	agent   string
	policy  atomic.Pointer[policy]
	closers []func() // see OnClose
}

// New returns a client under the options' policy.
func New(o Options) (*Client, error) {
	p, err := newPolicy(o.Allow)
	if err != nil {
		return nil, err
	}
	c := &Client{limits: o.Limits, agent: "lockstep", secrets: o.Secrets, holds: o.Holds}
	c.policy.Store(p)
	if o.Version != "" {
		c.agent += "/" + o.Version
	}
	c.auth = auth.New(c.exchange)
	fill(&c.limits.ResponseBytes, DefaultLimits.ResponseBytes)
	fill(&c.limits.HeaderBytes, DefaultLimits.HeaderBytes)
	fill(&c.limits.Redirects, DefaultLimits.Redirects)
	fill(&c.limits.Timeout, DefaultLimits.Timeout)
	fill(&c.limits.MaxTimeout, DefaultLimits.MaxTimeout)
	c.limits.MaxTimeout = max(c.limits.MaxTimeout, c.limits.Timeout)
	c.http = c.over(func(ctx context.Context, network, address string) (net.Conn, error) {
		return c.policy.Load().dial(ctx, network, address)
	})
	c.guarded = c.over(func(ctx context.Context, network, address string) (net.Conn, error) {
		return c.policy.Load().dialListed(ctx, network, address)
	})
	return c, nil
}

// SetAllow replaces Options.Allow. Calls in flight go on; no idle connection that another list allowed is used
// again. If the list is wrong, the one from before stays.
func (c *Client) SetAllow(allow []string) error {
	p, err := newPolicy(allow)
	if err != nil {
		return err
	}
	c.policy.Store(p)
	c.http.CloseIdleConnections()
	c.guarded.CloseIdleConnections()
	return nil
}

// Holds reports whether a value has a secret in it.
func (c *Client) Holds(v expr.Value) bool { return c.holds != nil && c.holds(v) }

// over is a client whose connections are made by dial. What another dial connected is never used
// by its requests.
func (c *Client) over(dial dialer) *nethttp.Client {
	return &nethttp.Client{
		Transport: &transport{auth: c.auth, base: &nethttp.Transport{
			Proxy:                  nil, // the environment must not route around the policy
			DialContext:            dial,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: c.limits.HeaderBytes,
			MaxIdleConns:           256,
			MaxIdleConnsPerHost:    64,
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
		}},
		CheckRedirect: c.redirect,
	}
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Close drops idle connections.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.guarded.CloseIdleConnections()
	for _, f := range c.closers {
		f()
	}
}

// Answer is a whole response within the limits.
type Answer struct {
	Status int
	Media  string // Content-Type
	Body   []byte
	Header nethttp.Header
	From   *nethttp.Request // the request that it answers: after redirects, the last one
}

// send makes one request, redirects included; timeout 0 is that of [Client.Timeout].
func (c *Client) send(ctx context.Context, req *nethttp.Request, timeout time.Duration) (Answer, error) {
	named := "the function's timeout"
	if timeout == 0 {
		timeout, named = c.Timeout(ctx)
	}
	named = " (" + named + ")"
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, err := c.begin(limited, req)
	if err != nil {
		return Answer{}, c.explain(ctx, err, timeout.String()+named)
	}
	defer resp.Body.Close()
	// Nothing owns the connection behind 101: net/http does not close it when the context ends.
	defer context.AfterFunc(limited, func() { resp.Body.Close() })()
	if err := usable(resp); err != nil {
		return Answer{}, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.limits.ResponseBytes+1))
	if err != nil {
		if limited.Err() != nil {
			err = limited.Err() // not that the body was closed for it
		}
		return Answer{}, c.explain(ctx, err, timeout.String()+named)
	}
	if int64(len(body)) > c.limits.ResponseBytes {
		return Answer{}, &Error{Code: CodeTooLarge, Msg: fmt.Sprintf("the answer is larger than %d bytes (limit response-bytes)", c.limits.ResponseBytes)}
	}
	return Answer{resp.StatusCode, resp.Header.Get("Content-Type"), body, resp.Header, resp.Request}, nil
}

// begin makes one request, redirects included, up to the headers of its answer.
func (c *Client) begin(ctx context.Context, req *nethttp.Request) (*nethttp.Response, error) {
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.agent)
	}
	if t := effect.Traceparent(ctx); t != "" && req.Header.Get("Traceparent") == "" {
		req.Header.Set("Traceparent", t)
		if state := effect.Tracestate(ctx); state != "" && req.Header.Get("Tracestate") == "" {
			req.Header.Set("Tracestate", state)
		}
	}
	return c.under(rulesOf(ctx)).Do(req.WithContext(ctx))
}

// under is the client for requests with these rules.
func (c *Client) under(r rules) *nethttp.Client {
	if r.guarded {
		return c.guarded
	}
	return c.http
}

// usable refuses answers that end no request, or that cannot be read.
func usable(resp *nethttp.Response) error {
	switch encoding := resp.Header.Get("Content-Encoding"); {
	case resp.StatusCode == nethttp.StatusSwitchingProtocols:
		return &Error{Code: CodeInvalid, Msg: "the answer is 101 Switching Protocols, which was not requested"}
	case resp.StatusCode < 200:
		return &Error{Code: CodeInvalid, Msg: fmt.Sprintf("the answer has the status %d, which does not end a request", resp.StatusCode)}
	case encoding != "" && encoding != "identity":
		return &Error{Code: CodeInvalid, Msg: fmt.Sprintf("the answer has the content encoding %q, which was not requested", encoding)}
	}
	return nil
}

// Codes of an Error.
const (
	CodeRefused     = "outbound-refused"   // by the policy
	CodeUnreachable = "unreachable"        // no answer came
	CodeTimeout     = "timeout"            // none came in time
	CodeCancelled   = "cancelled"          // the caller no longer waits for it
	CodeTooLarge    = "response-too-large" // beyond response-bytes or response-header-bytes
	CodeRedirects   = "too-many-redirects"
	CodeInvalid     = "invalid-response"
	CodeArguments   = "invalid-arguments" // the call could not be made of them

	CodeAuthentication = "authentication" // there are no credentials
)

// Error is why no usable answer came.
type Error struct {
	Code string
	Msg  string
}

func (e *Error) Error() string { return e.Msg }

// CheckPort reports a port that no address has.
func CheckPort(u *url.URL) error {
	port := u.Port()
	if port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("there is no port %s", port)
	}
	return nil
}

// explain turns what net/http says into an Error.
func (c *Client) explain(ctx context.Context, err error, timeout string) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var refused *auth.Error
	if errors.As(err, &refused) {
		return refused
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return &Error{CodeCancelled, "the call was cancelled"}
	}
	var late interface{ Timeout() bool }
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) && late.Timeout() {
		if ctx.Err() != nil {
			return &Error{CodeTimeout, "no answer came in time"}
		}
		return &Error{CodeTimeout, "no answer came within " + timeout}
	}
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err // without the URL, whose query may hold arguments
	}
	if strings.Contains(err.Error(), "response headers exceeded") {
		return &Error{CodeTooLarge, fmt.Sprintf("the answer's headers are larger than %d bytes (limit response-header-bytes)", c.limits.HeaderBytes)}
	}
	return &Error{CodeUnreachable, unreachable(err)}
}

// unreachable is why there is no connection, without what only this machine's network knows: the addresses that a
// name resolves to, and the resolver.
func unreachable(err error) string {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		if unknown.IsNotFound {
			return fmt.Sprintf("the name %.253q has no address", unknown.Name)
		}
		return fmt.Sprintf("the address of %.253q cannot be found out", unknown.Name)
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Err != nil {
		return failed.Err.Error()
	}
	return err.Error()
}
