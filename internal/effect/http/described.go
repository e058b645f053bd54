package http

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	nethttp "net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	"github.com/lockstep-workflows/lockstep/internal/expr/texts"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// described makes a call that its arguments describe (see the package comment).
func (c *Client) described(ctx context.Context, call effect.Call, b ir.Builtin) effect.Outcome {
	o, err := ReadOptions(call.Args)
	if err != nil {
		return o.Refused(fmt.Sprintf("call %q", call.Function), err)
	}
	endpoint, _ := call.Args.Get("endpoint")
	policy, _ := endpoint.Get("authentication")
	if b.Open && !policy.IsNull() {
		return o.Refused(fmt.Sprintf("call %q", call.Function), errors.New("an endpoint that an expression gives cannot have an authentication"))
	}
	args, credentials, err := c.Authorize(ctx, call.Args, policy, b)
	if err != nil {
		return o.Refused(fmt.Sprintf("call %q", call.Function), err)
	}
	r, err := c.describedRequest(args)
	if err != nil {
		return o.Refused(fmt.Sprintf("call %q", call.Function), err)
	}
	r.Auth = credentials
	o.Apply(&r)
	r.Key, r.Guarded = call.Key, b.Guarded
	if r.Header.Get("Idempotency-Key") != "" {
		r.Key = "" // the author's own lasts longer than one call
	}
	where := r.Method + " " + r.URL.Scheme + "://" + r.URL.Host + r.URL.EscapedPath()
	a, err := c.Do(ctx, r)
	if err != nil {
		return o.Refused(where, err)
	}
	return o.Outcome(a, where, nil)
}

// describedRequest is the request of {method, endpoint, headers, body, query}.
func (c *Client) describedRequest(args expr.Value) (Request, error) {
	r := Request{Method: strings.ToUpper(effect.Name(args, "method"))}
	if !isToken(r.Method) || r.Method == "CONNECT" || r.Method == "TRACE" {
		return r, errors.New("method must be one of HTTP, such as get")
	}
	endpoint, _ := args.Get("endpoint")
	var err error
	if r.URL, err = ReadEndpoint(endpoint); err != nil {
		return r, err
	}
	if query, _ := args.Get("query"); !query.IsNull() {
		if !query.IsObject() {
			return r, errors.New("query must be an object, not " + query.Kind().WithArticle())
		}
		if err := AddQuery(r.URL, query); err != nil {
			return r, err
		}
	}
	headers, _ := args.Get("headers")
	if r.Header, err = ReadHeaders(headers); err != nil {
		return r, err
	}
	body, _ := args.Get("body")
	if body.IsNull() {
		return r, nil
	}
	r.Secret = c.Holds(body) // headers and query stay with the host anyway
	media := r.Header.Get("Content-Type")
	switch {
	case media != "" && body.Kind() == expr.KindString:
		r.Body = []byte(body.Str())
	case media != "":
		r.Body, err = Encode(media, body)
	default:
		r.Body = body.AppendJSON(nil)
		r.Header.Set("Content-Type", "application/json")
	}
	return r, err
}

// Authorize reads the policy of a call, which may be null, with the secrets of this client, and fills in
// the credentials where the arguments refer to them. Without a policy these are empty.
func (c *Client) Authorize(ctx context.Context, args, policy expr.Value, b ir.Builtin) (expr.Value, *auth.Policy, error) {
	var p *auth.Policy
	if !policy.IsNull() {
		var err error
		if p, err = auth.Parse(policy, c.secrets); err != nil {
			return args, nil, err
		}
	}
	if !b.Authorized {
		return args, p, nil
	}
	scheme, parameter := "", ""
	if p != nil {
		var err error
		if scheme, parameter, err = c.auth.Credentials(ctx, p, b.Guarded); err != nil {
			return args, p, err
		}
		p.Spread = true
	}
	fill := strings.NewReplacer(ir.AuthorizationScheme, scheme, ir.AuthorizationParameter, parameter)
	args, err := texts.Map(args, func(text string) (string, error) { return fill.Replace(text), nil })
	return args, p, err
}

// ReadEndpoint reads where a call goes: an address, or an object with the member uri.
func ReadEndpoint(endpoint expr.Value) (*url.URL, error) {
	text := endpoint.Str()
	if endpoint.IsObject() {
		text = effect.Name(endpoint, "uri")
	}
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("endpoint must be an address, or an object with the member uri")
	case err != nil:
		return nil, errors.New("endpoint is not a valid address")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("endpoint must be an address such as https://host/path")
	case u.User != nil:
		return nil, errors.New("endpoint holds a user or password; use authentication")
	case CheckPort(u) != nil:
		return nil, fmt.Errorf("endpoint: %w", CheckPort(u))
	}
	u.Fragment, u.RawFragment = "", ""
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		// Servers read %2e as a dot. What stands for one step must not leave its place.
		if plain, err := url.PathUnescape(part); err != nil || plain == "." || plain == ".." {
			return nil, fmt.Errorf("the path of endpoint has the step %q", part)
		}
	}
	return u, nil
}

// ownHeaders are the headers that a call cannot set.
var ownHeaders = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Expect", "Proxy-Authorization",
}

// ReadHeaders reads the headers of a call: an object, or null.
func ReadHeaders(all expr.Value) (nethttp.Header, error) {
	out := nethttp.Header{}
	if !all.IsNull() && !all.IsObject() {
		return nil, errors.New("headers must be an object, not " + all.Kind().WithArticle())
	}
	for _, m := range all.Members() {
		name := textproto.CanonicalMIMEHeaderKey(m.Key)
		switch {
		case !isToken(m.Key):
			return nil, fmt.Errorf("%q is not the name of a header", m.Key)
		case slices.Contains(ownHeaders, name):
			return nil, fmt.Errorf("the header %q is set by Lockstep", name)
		case name == "Accept-Encoding":
			continue // what is asked for is what can be read
		}
		items := []expr.Value{m.Value}
		if m.Value.IsArray() {
			items = m.Value.Items()
		}
		for _, v := range items {
			switch {
			case v.IsNull():
				continue
			case v.IsObject() || v.IsArray():
				return nil, fmt.Errorf("the header %q must be text, a number or a boolean, not %s", name, v.Kind().WithArticle())
			case strings.ContainsFunc(v.Text(), func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
				return nil, fmt.Errorf("the header %q would hold a line break or another control character", name)
			}
			out.Add(name, v.Text())
		}
	}
	return out, nil
}

// isToken reports whether text is a token of HTTP (RFC 9110 §5.6.2).
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c)
	})
}

// FormMedia is the media type of forms.
const FormMedia = "application/x-www-form-urlencoded"

// Encode writes a body in a media type: JSON, a form, or the text itself.
func Encode(media string, v expr.Value) ([]byte, error) {
	media, _, _ = strings.Cut(media, ";")
	media = strings.TrimSpace(strings.ToLower(media))
	switch {
	case media == "application/json" || strings.HasSuffix(media, "+json"):
	case v.Kind() == expr.KindString:
		return []byte(v.Str()), nil
	case v.IsNull() || v.IsArray() && v.Len() == 0:
		return nil, fmt.Errorf("the body gives nothing, and %s cannot say so", media)
	case media == FormMedia && v.IsObject():
		form := &url.URL{}
		_ = AddQuery(form, v) // it is an object
		return []byte(form.RawQuery), nil
	case media == FormMedia:
		return nil, fmt.Errorf("the body is a form, and must be an object or a string, not %s", v.Kind().WithArticle())
	}
	return v.AppendJSON(nil), nil
}

// CallOptions are the members output and redirect of a described call.
type CallOptions struct {
	output   string
	redirect bool
}

// ReadOptions reads the options of a described call.
func ReadOptions(args expr.Value) (CallOptions, error) {
	o := CallOptions{output: effect.Name(args, "output")}
	if !slices.Contains([]string{"", "content", "response", "raw"}, o.output) {
		return o, fmt.Errorf("output is %q, and must be content, response or raw", o.output)
	}
	redirect, _ := args.Get("redirect")
	if !redirect.IsNull() && redirect.Kind() != expr.KindBool {
		return o, errors.New("redirect must be a boolean, not " + redirect.Kind().WithArticle())
	}
	o.redirect = redirect.Bool()
	return o, nil
}

// Apply makes a request one of a call with these options.
func (o CallOptions) Apply(r *Request) {
	if r.Redirects = RedirectNever; o.redirect {
		r.Redirects = RedirectAll
	}
}

// Refused is the outcome of a described call that has no answer, and of one whose arguments are no
// request.
func (o CallOptions) Refused(where string, err error) effect.Outcome {
	f := effect.Failure{Name: effect.Communication, Code: CodeArguments, Detail: where + ": " + err.Error()}
	if refused, ok := errors.AsType[*auth.Error](err); ok {
		f.Name, f.Code, f.Status = refused.Name, CodeAuthentication, refused.Status()
	}
	if known, ok := errors.AsType[*Error](err); ok {
		f.Code = known.Code
	}
	return effect.Fail(f)
}

// Outcome is what the answer of a described call means. check, if there is one, judges the content
// of an answer that went well, unless it is wanted raw.
func (o CallOptions) Outcome(a Answer, where string, check func(content expr.Value) *effect.Failure) effect.Outcome {
	if a.Status >= 400 || a.Status >= 300 && !o.redirect {
		f := a.failure()
		f.Name, f.Type = effect.Communication, "" // what the service calls it is in Data
		if f.Detail == "" {
			f.Detail = fmt.Sprintf("%s answered %d %s", where, a.Status, nethttp.StatusText(a.Status))
		}
		return effect.Fail(f)
	}
	if o.output == "raw" {
		return effect.Outcome{Value: rawContent(a.Body)}
	}
	content, err := a.content()
	if err != nil {
		out := o.Refused(where, &Error{CodeInvalid, err.Error()})
		out.Failure.Status = strconv.Itoa(a.Status)
		return out
	}
	if check != nil && a.Success() && len(a.Body) > 0 {
		if f := check(content); f != nil {
			return effect.Outcome{Failure: f}
		}
	}
	if o.output == "response" {
		return effect.Outcome{Value: a.response(content)}
	}
	return effect.Outcome{Value: content}
}

// rawContent is a body as base64; nothing is null.
func rawContent(body []byte) expr.Value {
	if len(body) == 0 {
		return expr.Null
	}
	return expr.String(base64.StdEncoding.EncodeToString(body))
}

// textTypes are media types that are text, beside text/* and XML.
var textTypes = []string{
	FormMedia, "application/yaml", "application/x-yaml", "application/javascript", "application/toml",
	"application/x-ndjson", "application/graphql", "application/sql",
}

// content is a body as described calls see it: JSON as its value, text as text, all else as base64.
func (a Answer) content() (expr.Value, error) {
	media, params, err := mime.ParseMediaType(a.Media)
	if err != nil {
		media = ""
	}
	isText := strings.HasPrefix(media, "text/") || media == "application/xml" || strings.HasSuffix(media, "+xml") ||
		strings.HasSuffix(media, "+yaml") || slices.Contains(textTypes, media) || params["charset"] != ""
	switch {
	case len(a.Body) == 0:
		return expr.Null, nil
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return a.value()
	case isText:
		return expr.String(strings.ToValidUTF8(strings.TrimPrefix(string(a.Body), "\ufeff"), "\ufffd")), nil
	case media != "":
		return rawContent(a.Body), nil
	}
	// It does not say what it is.
	if v, err := a.value(); err == nil {
		return v, nil
	}
	if utf8.Valid(a.Body) {
		return expr.String(string(a.Body)), nil
	}
	return rawContent(a.Body), nil
}

// response is an answer with the request that it is for. Credentials are not shown.
func (a Answer) response(content expr.Value) expr.Value {
	request := expr.Object(
		expr.Member{Key: "method", Value: expr.String(a.From.Method)},
		expr.Member{Key: "uri", Value: expr.String(a.From.URL.String())},
		expr.Member{Key: "headers", Value: headerValue(a.From.Header)},
	)
	return expr.Object(
		expr.Member{Key: "request", Value: request},
		expr.Member{Key: "statusCode", Value: expr.Int(int64(a.Status))},
		expr.Member{Key: "headers", Value: headerValue(a.Header)},
		expr.Member{Key: "content", Value: content},
	)
}

// headerValue is headers as an object; several of a name are joined.
func headerValue(h nethttp.Header) expr.Value {
	members := []expr.Member{}
	for name, values := range h {
		if name != "Authorization" {
			members = append(members, expr.Member{Key: name, Value: expr.String(strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd"))})
		}
	}
	return expr.Object(members...)
}
