package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options say which server to talk to. URL is required; all else has defaults.
type Options struct {
	URL       string       // http://HOST:PORT, https://…, or unix:PATH of a socket
	Token     string       // sent as a bearer token
	HTTP      *http.Client // default: one that follows no redirects
	UserAgent string
	Attempts  int // how often a request is sent at most; default: 4

	// OnRetry, if it is set, is told of each request that is sent again, before the wait for that.
	OnRetry func(err error, wait time.Duration)
}

// Client talks to one server. It is safe for concurrent use.
type Client struct {
	base     string // without a slash at the end
	shown    string // the address as the user wrote it
	token    string
	http     *http.Client
	agent    string
	attempts int
	pause    func(attempt int) time.Duration
	problem  func(*http.Response) *Problem // reads an answer that is an error
	onRetry  func(err error, wait time.Duration)
}

// maxAnswer is how many bytes of an answer are read (the limit answer-bytes).
const maxAnswer = 64 << 20

// maxPause is how long a server may ask to wait before a request is sent again.
const maxPause = 5 * time.Second

// New returns a client. It does not talk to the server yet.
func New(o Options) (*Client, error) {
	base, shown, socket, err := address(o.URL)
	if err != nil {
		return nil, err
	}
	c := &Client{
		base: base, shown: shown, token: o.Token, http: o.HTTP, agent: o.UserAgent, attempts: o.Attempts, pause: backoff,
		problem: readProblem, onRetry: o.OnRetry,
	}
	if c.http == nil {
		c.http = &http.Client{
			Transport:     http.DefaultTransport.(*http.Transport).Clone(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if socket != "" {
		if c.http, err = overSocket(c.http, socket); err != nil {
			return nil, err
		}
	}
	if c.attempts <= 0 {
		c.attempts = 4
	}
	return c, nil
}

// URL is the address of the server.
func (c *Client) URL() string { return c.shown }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request is one operation.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
	repeatable   bool  // sending it twice has the effect of sending it once
	err          error // the body could not be written: nothing is sent
}

func get(path string) request { return request{method: http.MethodGet, path: path, repeatable: true} }

// pathOf joins segments, each of which may have any characters.
func pathOf(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("/" + url.PathEscape(s))
	}
	return b.String()
}

func (r request) with(name, value string) request {
	if value == "" {
		return r
	}
	if r.query == nil {
		r.query = url.Values{}
	}
	r.query.Set(name, value)
	return r
}

// adding gives a parameter one more value.
func (r request) adding(name, value string) request {
	if r.query == nil {
		r.query = url.Values{}
	}
	r.query.Add(name, value)
	return r
}

func (r request) withHeader(name, value string) request {
	if value == "" {
		return r
	}
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set(name, value)
	return r
}

// clone copies a request with its headers.
func (r request) clone() request {
	r.header = r.header.Clone()
	return r
}

// withJSON makes a value the body.
func (r request) withJSON(v any) request {
	text, err := json.Marshal(v)
	if err != nil {
		r.err = fmt.Errorf("write the request: %w", err)
	}
	r.body = text
	return r.withHeader("Content-Type", "application/json")
}

// do sends a request, with retries, and returns an answer that is not an error. The caller closes
// its body.
func (c *Client) do(ctx context.Context, r request) (*http.Response, error) {
	if r.err != nil {
		return nil, r.err
	}
	for attempt := 1; ; attempt++ {
		resp, err := c.send(ctx, r)
		var problem *Problem
		switch {
		case err == nil:
			return resp, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &problem) && problem.Status == http.StatusNotFound && r.method == http.MethodDelete && attempt > 1:
			return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil // an earlier attempt did it
		case attempt >= c.attempts || !mayRetry(r, err):
			return nil, err
		}
		wait := c.pause(attempt)
		if problem != nil && problem.RetryAfter > 0 {
			wait = min(problem.RetryAfter, maxPause)
		}
		if c.onRetry != nil {
			c.onRetry(err, wait)
		}
		if err := rest(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// mayRetry reports whether a request may be sent again after an error.
func mayRetry(r request, err error) bool {
	if problem, ok := errors.AsType[*Problem](err); ok {
		switch problem.Status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable: // nothing has happened
			return true
		case http.StatusGatewayTimeout: // it may have happened
			return r.repeatable
		}
		return false
	}
	var op *net.OpError
	return r.repeatable || errors.As(err, &op) && op.Op == "dial"
}

// backoff is 100 ms, 200 ms, 400 ms …
func backoff(attempt int) time.Duration {
	return min(100*time.Millisecond<<(min(attempt, 10)-1), maxPause)
}

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send sends a request once.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if c.agent != "" {
		req.Header.Set("User-Agent", c.agent)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(c.shown, err)
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 {
		return nil, unreachable(c.shown, fmt.Errorf("the answer is %d %s, which does not end a request", resp.StatusCode, http.StatusText(resp.StatusCode)))
	}
	return nil, c.problem(resp)
}

// text sends a request and reads the answer.
func (c *Client) text(ctx context.Context, r request) ([]byte, *http.Response, error) {
	for attempt := 1; ; attempt++ {
		resp, err := c.do(ctx, r)
		if err != nil {
			return nil, nil, err
		}
		text, err := c.readAnswer(resp)
		var cut *UnreachableError
		if err == nil || !errors.As(err, &cut) || !r.repeatable || attempt >= c.attempts || ctx.Err() != nil {
			return text, resp, err
		}
	}
}

func (c *Client) readAnswer(resp *http.Response) ([]byte, error) {
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, unreachable(c.shown, err)
	}
	if len(text) > maxAnswer {
		return nil, fmt.Errorf("the answer has more than %d bytes (limit answer-bytes)", maxAnswer)
	}
	return text, nil
}

// call sends a request and reads the answer as a T.
func call[T any](ctx context.Context, c *Client, r request) (T, error) {
	out, _, err := callStatus[T](ctx, c, r)
	return out, err
}

// callStatus is call that also returns the status of the answer.
func callStatus[T any](ctx context.Context, c *Client, r request) (out T, status int, err error) {
	text, resp, err := c.text(ctx, r.withHeader("Accept", "application/json"))
	if err != nil {
		return out, 0, err
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return out, 0, fmt.Errorf("the answer to %s %s cannot be read; is %s a Lockstep server? %w", r.method, r.path, c.shown, err)
	}
	return out, resp.StatusCode, nil
}

// newKey is a new idempotency key. Nobody will search for it: it begins as the contract says.
func newKey() string { return "auto:" + strings.ToLower(rand.Text()) }

// milliseconds formats a duration as the contract requires.
func milliseconds(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return strconv.FormatInt(max(1, d.Milliseconds()), 10) + "ms"
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func flag(b bool) string {
	if b {
		return "true"
	}
	return ""
}
