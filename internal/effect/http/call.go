package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

var _ effect.Invoker = (*Client)(nil)

var (
	bodyMethods  = []string{"POST", "PUT", "PATCH"}
	queryMethods = []string{"GET", "HEAD", "DELETE"}
)

// Invoke makes the HTTP call that the function's operation names, or that the arguments describe.
func (c *Client) Invoke(ctx context.Context, call effect.Call) effect.Outcome {
	if b, ok := ir.BuiltinOf(call.Operation); ok && b.Kind == "http" {
		return c.described(ctx, call, b)
	}
	method, target, err := operation(call)
	if err != nil {
		return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: err.Error()})
	}
	where := method + " " + target.Scheme + "://" + target.Host + target.EscapedPath()
	req, err := request(method, target, call.Args)
	if err != nil {
		return effect.Fail(effect.Failure{Name: effect.InvalidArguments, Code: CodeArguments, Detail: fmt.Sprintf("%s: %v", where, err)})
	}
	req.Key = call.Key
	a, err := c.Do(ctx, req)
	if err != nil {
		return Failed(where, err)
	}
	return a.Outcome(where)
}

// Request is a request to make. Its address is chosen by a document of the
// operator's or of the definition's; by data only if it is guarded.
type Request struct {
	Method  string
	URL     *url.URL
	Header  nethttp.Header // may be nil
	Body    []byte         // nil: none
	Key     string         // idempotency key
	Timeout time.Duration  // 0: call-timeout
	Secret  bool           // it holds secrets, which never go to another host

	Redirects Redirects
	Auth      *auth.Policy // credentials for the host of URL; nil: none
	Guarded   bool         // data may have chosen the address: only those on the allow-list are dialled
}

// Do makes a request under the policy and the limits. The error is an *[Error] that
// does not tell the query.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	ctx, req, err := c.prepare(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	a, err := c.send(ctx, req, r.Timeout)
	effect.NoteExchange(ctx, c.exchanged(&r, req.Header, &a))
	return a, err
}

// prepare makes a request, and the context with its rules.
func (c *Client) prepare(ctx context.Context, r Request) (context.Context, *nethttp.Request, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	target := *r.URL
	target.RawQuery = escapeQuery(target.RawQuery)
	req, err := nethttp.NewRequest(r.Method, target.String(), body)
	if err != nil {
		return ctx, nil, &Error{CodeInvalid, "the request cannot be made"}
	}
	for name, values := range r.Header {
		req.Header[name] = values
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json, */*;q=0.5")
	}
	if r.Key != "" {
		req.Header.Set("Idempotency-Key", r.Key)
	}
	return r.rules().in(ctx), req, nil
}

func (r *Request) rules() rules {
	return rules{redirects: r.Redirects, secret: r.Secret, guarded: r.Guarded, auth: r.Auth, origin: origin(r.URL)}
}

// operation reads a plain URL with the method as its fragment.
func operation(call effect.Call) (method string, target *url.URL, err error) {
	if call.Operation == "" {
		return "", nil, fmt.Errorf("function %q has no operation; give it one such as https://host/path, or a mock", call.Function)
	}
	u, err := url.Parse(call.Operation)
	if err != nil {
		return "", nil, fmt.Errorf("function %q: its operation is not a URL: %w", call.Function, err)
	}
	method = strings.ToUpper(u.Fragment)
	if method == "" {
		method = "POST"
	}
	plain := u.Scheme == "http" || u.Scheme == "https"
	if !plain || !slices.Contains(bodyMethods, method) && !slices.Contains(queryMethods, method) {
		return "", nil, fmt.Errorf("function %q: the operation %q is not a plain URL such as https://host/path#POST", call.Function, call.Operation)
	}
	if u.Host == "" {
		return "", nil, fmt.Errorf("function %q: the operation %q has no host", call.Function, call.Operation)
	}
	if u.User != nil {
		return "", nil, fmt.Errorf("function %q: its operation holds a user or password; a definition must not contain credentials", call.Function)
	}
	u.Fragment, u.RawFragment = "", ""
	return method, u, nil
}

func request(method string, target *url.URL, args expr.Value) (Request, error) {
	r := Request{Method: method, URL: target}
	if slices.Contains(queryMethods, method) {
		return r, AddQuery(target, args)
	}
	r.Body = args.AppendJSON(nil)
	r.Header = nethttp.Header{"Content-Type": {"application/json"}}
	return r, nil
}

// AddQuery adds arguments to a URL's query: an array repeats its name, null and empty
// arrays are left out, an object is compact JSON.
func AddQuery(target *url.URL, args expr.Value) error {
	if !args.IsObject() {
		return errors.New("arguments of a call without a body must be an object, not " + args.Kind().WithArticle())
	}
	var query strings.Builder
	query.WriteString(target.RawQuery) // as it is written: its order and its signs may mean something
	add := func(name, value string) {
		if query.Len() > 0 && !strings.HasSuffix(query.String(), "&") {
			query.WriteByte('&')
		}
		query.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(value))
	}
	for _, m := range args.Members() {
		items := []expr.Value{m.Value}
		if m.Value.IsArray() {
			items = m.Value.Items()
		}
		for _, v := range items {
			switch {
			case v.IsNull() || v.IsArray() && v.Len() == 0:
			case v.Kind() == expr.KindString:
				add(m.Key, v.Str())
			default:
				add(m.Key, v.String())
			}
		}
	}
	target.RawQuery = query.String()
	return nil
}

// escapeQuery escapes what cannot stand in a query (RFC 3986 §3.4), and leaves what can
// as it is written.
func escapeQuery(text string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if c := text[i]; c > ' ' && c < 0x7f && !strings.ContainsRune("\"<>#\\^`{|}", rune(c)) {
			out.WriteByte(c)
		} else {
			out.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return out.String()
}

// Failed is the outcome of a call that got no usable answer.
func Failed(where string, err error) effect.Outcome {
	f := effect.Failure{Name: effect.Unnamed, Detail: where + ": " + err.Error()}
	var known *Error
	var refused *auth.Error
	if errors.As(err, &refused) {
		f.Name, f.Status, f.Code = refused.Name, refused.Status(), CodeAuthentication
	}
	if errors.As(err, &known) {
		f.Code = known.Code
		if known.Code == CodeTimeout {
			f.Name, f.Code = effect.Timeout, ""
		}
	}
	return effect.Fail(f)
}
