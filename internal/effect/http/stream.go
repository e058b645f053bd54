package http

import (
	"context"
	"io"
	"net"
	nethttp "net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
)

// Other protocols go through the same policy: what they dial, the requests that their libraries make, answers
// that are streams, credentials.

// Dial connects under the policy. Guarded: data may have chosen the address, so it must be on the allow-list.
func (c *Client) Dial(ctx context.Context, network, address string, guarded bool) (net.Conn, error) {
	if guarded {
		return c.policy.Load().dialListed(ctx, network, address)
	}
	return c.policy.Load().dial(ctx, network, address)
}

// Limits are those of this client.
func (c *Client) Limits() Limits { return c.limits }

// Agent is what this client calls itself.
func (c *Client) Agent() string { return c.agent }

// OnClose adds what Close does, for connections of other protocols. It is called before the client is used.
func (c *Client) OnClose(f func()) { c.closers = append(c.closers, f) }

// Credentials are those of an authentication, as in an Authorization header.
func (c *Client) Credentials(ctx context.Context, p *auth.Policy, guarded bool) (scheme, parameter string, err error) {
	return c.auth.Credentials(ctx, p, guarded)
}

// Renewed is a token for the parameter of an authentication that a service refused; false: there is none.
func (c *Client) Renewed(ctx context.Context, p *auth.Policy, guarded bool, refused string) (parameter string, ok bool, err error) {
	return c.auth.Renewed(ctx, p, guarded, refused)
}

// Explain turns an error of what was dialled or requested into an [*Error], whose message may be told.
func (c *Client) Explain(ctx context.Context, err error, timeout time.Duration) error {
	return c.explain(ctx, err, timeout.String())
}

// Open makes a request up to the headers of its answer, whose body may be a stream without an end: the bytes of
// it are the caller's to bound, and its time is that of ctx. The error is one for [Client.Explain].
func (c *Client) Open(ctx context.Context, r Request) (*nethttp.Response, error) {
	ctx, req, err := c.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := usable(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// Library is a client for the library of a protocol: its requests have the credentials and obey the rules of r,
// of which only Auth, Guarded, Secret, Redirects and the URL count. The bytes of each answer are limited as
// those of other calls; its time only by the contexts of the requests.
func (c *Client) Library(r Request) *nethttp.Client {
	inner := c.under(r.rules())
	return &nethttp.Client{
		Transport: roundTripper(func(req *nethttp.Request) (*nethttp.Response, error) {
			if req.Header.Get("User-Agent") == "" {
				req = req.Clone(req.Context())
				req.Header.Set("User-Agent", c.agent)
			}
			resp, err := inner.Transport.RoundTrip(req.WithContext(r.rules().in(req.Context())))
			if err != nil {
				return nil, err
			}
			if err := usable(resp); err != nil {
				resp.Body.Close()
				return nil, err
			}
			resp.Body = &limited{resp.Body, c.limits.ResponseBytes}
			return resp, nil
		}),
		CheckRedirect: func(next *nethttp.Request, via []*nethttp.Request) error {
			return c.redirect(next.WithContext(r.rules().in(next.Context())), via)
		},
	}
}

type roundTripper func(*nethttp.Request) (*nethttp.Response, error)

func (f roundTripper) RoundTrip(r *nethttp.Request) (*nethttp.Response, error) { return f(r) }

// limited is a body of at most so many bytes.
type limited struct {
	io.ReadCloser
	left int64
}

func (b *limited) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

var errTooLarge = &Error{Code: CodeTooLarge, Msg: "the answer is larger than the limit response-bytes"}
