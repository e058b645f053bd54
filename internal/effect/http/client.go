package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits bound what a call may cost. A zero field means its default.
type Limits struct {
	ResponseBytes int64         // body after decompression ("response-bytes"), 4 MiB
	HeaderBytes   int64         // headers of an answer ("response-header-bytes"), 64 KiB
	Redirects     int           // followed one after the other ("redirects"), 5
	Timeout       time.Duration // of a call in all ("call-timeout"), 30 s
}

// DefaultLimits hold unless Options say otherwise.
var DefaultLimits = Limits{ResponseBytes: 4 << 20, HeaderBytes: 64 << 10, Redirects: 5, Timeout: 30 * time.Second}

// Options configure a client.
type Options struct {
	Allow   []string // addresses beyond the public ones: CIDR | HOST[:PORT]
	Version string   // of Lockstep, for User-Agent
	Limits  Limits
}

// Client makes HTTP calls. It is safe for concurrent use.
type Client struct {
	http   *nethttp.Client
	limits Limits
	agent  string
}

// New returns a client under the options' policy.
func New(o Options) (*Client, error) {
	p, err := newPolicy(o.Allow)
	if err != nil {
		return nil, err
	}
	c := &Client{limits: o.Limits, agent: "lockstep"}
	if o.Version != "" {
		c.agent += "/" + o.Version
	}
	fill(&c.limits.ResponseBytes, DefaultLimits.ResponseBytes)
	fill(&c.limits.HeaderBytes, DefaultLimits.HeaderBytes)
	fill(&c.limits.Redirects, DefaultLimits.Redirects)
	fill(&c.limits.Timeout, DefaultLimits.Timeout)
	c.http = &nethttp.Client{
		Transport: &nethttp.Transport{
			Proxy:                  nil, // the environment must not route around the policy
			DialContext:            p.dial,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: c.limits.HeaderBytes,
			MaxIdleConns:           256,
			MaxIdleConnsPerHost:    64,
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
		},
		CheckRedirect: c.redirect,
	}
	return c, nil
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// redirect judges the next request of a chain. Its address is judged when it is dialled.
func (c *Client) redirect(next *nethttp.Request, via []*nethttp.Request) error {
	last := via[len(via)-1]
	switch {
	case len(via) > c.limits.Redirects:
		return &Error{Code: CodeRedirects, Msg: fmt.Sprintf("more than %d redirects (limit redirects)", c.limits.Redirects)}
	case next.URL.Scheme != "http" && next.URL.Scheme != "https":
		return &Error{Code: CodeRefused, Msg: fmt.Sprintf("a redirect to the scheme %q is refused", next.URL.Scheme)}
	case last.URL.Scheme == "https" && next.URL.Scheme == "http":
		return &Error{Code: CodeRefused, Msg: "a redirect from https to http is refused"}
	case next.URL.User != nil:
		return &Error{Code: CodeRefused, Msg: "a redirect with a user name or password is refused"}
	case next.Method != via[0].Method:
		return &Error{Code: CodeInvalid, Msg: fmt.Sprintf("the answer redirects a %s as a %s, which would lose the arguments", via[0].Method, next.Method)}
	}
	next.Header.Del("Referer") // it would tell the arguments of a GET
	if next.URL.Host == via[0].URL.Host {
		return nil
	}
	if next.Context().Value(secretKey{}) != nil {
		return &Error{Code: CodeRefused, Msg: "a redirect to another host is refused: the call holds a secret"}
	}
	// Any other header may be a credential.
	for name := range next.Header {
		if !slices.Contains(crossing, name) {
			next.Header.Del(name)
		}
	}
	return nil
}

// crossing are the headers that may follow a redirect to another host.
var crossing = []string{"Accept", "Content-Type", "Content-Length", "Idempotency-Key", "User-Agent"}

// secretKey marks the context of a request that holds secrets.
type secretKey struct{}

// Answer is a whole response within the limits.
type Answer struct {
	Status int
	Media  string // Content-Type
	Body   []byte
}

// send makes one request, redirects included; timeout 0 is call-timeout.
func (c *Client) send(ctx context.Context, req *nethttp.Request, timeout time.Duration) (Answer, error) {
	named := " (the function's timeout)"
	if timeout == 0 {
		timeout, named = c.limits.Timeout, " (limit call-timeout)"
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.agent)
	}
	resp, err := c.http.Do(req.WithContext(limited))
	if err != nil {
		return Answer{}, c.explain(ctx, err, timeout.String()+named)
	}
	defer resp.Body.Close()
	// The connection behind 101 is nobody's: net/http does not close it when the context ends.
	defer context.AfterFunc(limited, func() { resp.Body.Close() })()
	switch {
	case resp.StatusCode == nethttp.StatusSwitchingProtocols:
		return Answer{}, &Error{Code: CodeInvalid, Msg: "the answer is 101 Switching Protocols, but nobody asked for another protocol"}
	case resp.StatusCode < 200:
		return Answer{}, &Error{Code: CodeInvalid, Msg: fmt.Sprintf("the answer has the status %d, which does not end a request", resp.StatusCode)}
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return Answer{}, &Error{Code: CodeInvalid, Msg: fmt.Sprintf("the answer has the content encoding %q, which nobody asked for", encoding)}
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
	return Answer{resp.StatusCode, resp.Header.Get("Content-Type"), body}, nil
}

// Codes of an Error.
const (
	CodeRefused     = "outbound-refused"   // by the policy
	CodeUnreachable = "unreachable"        // no answer came
	CodeTimeout     = "timeout"            // none came in time
	CodeCancelled   = "cancelled"          // nobody waits for it any more
	CodeTooLarge    = "response-too-large" // beyond response-bytes or response-header-bytes
	CodeRedirects   = "too-many-redirects"
	CodeInvalid     = "invalid-response"
	CodeArguments   = "invalid-arguments" // the call could not be made of them
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
	return &Error{CodeUnreachable, err.Error()}
}
