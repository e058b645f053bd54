package catalogue

import (
	"context"
	nethttp "net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/expr"
)

// httpCall is a function behind HTTP.
type httpCall struct {
	method  string
	base    *url.URL // scheme and host
	address []step
	headers []named
	query   []named
	body    *template // nil: there is none
	media   string    // of the body
	result  *template // nil: the body of the answer
	timeout time.Duration
}

type named struct {
	name  string
	value *template
}

// step is a piece of an address after the host.
type step struct {
	text    string
	secret  string
	program expr.Program
	source  string // of the program
	query   bool   // it stands behind the ?
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func (r *reader) http(n *dialect.Node) entry {
	if !r.object(n, "http", "method", "url", "headers", "query", "body", "result", "timeout") {
		return nil
	}
	h := &httpCall{method: "GET", media: "application/json", headers: r.headers(n), timeout: r.timeout(n)}
	if body := n.Get("body"); body != nil {
		h.method, h.body = "POST", r.template(body)
	}
	if m := r.constant(n, "method"); m != nil {
		if h.method = m.Text; !slices.Contains(methods, m.Text) {
			r.report.Errorf(m, codeValue, "there is no method %q", m.Text).
				WithHint("the methods are %s", strings.Join(methods, ", ")).DidYouMean(m.Text, methods)
		}
	}
	if query := n.Get("query"); query != nil && r.kind(query, expr.KindObject, "query") {
		for _, m := range query.Members {
			h.query = append(h.query, named{m.Name(), r.template(m)})
		}
	}
	if result := n.Get("result"); result != nil {
		if h.result = r.template(result); h.result.hasSecret() {
			r.report.Errorf(result, codeSecret, "a secret cannot stand in the result")
		}
	}
	if headers := n.Get("headers"); headers != nil {
		for _, header := range headers.Members {
			if strings.EqualFold(header.Name(), "Content-Type") {
				h.media = header.Text
			}
		}
	}
	if address := r.required(n, "url"); address != nil {
		r.address(address, h)
	}
	return h
}

var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	notOurs    = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Expect", "Proxy-Authorization", "Idempotency-Key"}
)

func (r *reader) headers(n *dialect.Node) []named {
	all := n.Get("headers")
	if all == nil || !r.kind(all, expr.KindObject, "headers") {
		return nil
	}
	var out []named
	for _, m := range all.Members {
		name := textproto.CanonicalMIMEHeaderKey(m.Name())
		switch {
		case !headerName.MatchString(m.Name()):
			r.report.Errorf(m.KeySpan(), codeValue, "%q is not the name of a header", m.Name())
		case slices.Contains(notOurs, name):
			r.report.Errorf(m.KeySpan(), codeValue, "the header %q belongs to Lockstep", name)
		case r.kind(m, expr.KindString, "a header"):
			out = append(out, named{name, r.template(m)})
		}
	}
	return out
}

var expression = regexp.MustCompile(`\{\{.*?\}\}`)

// address takes a url apart. Scheme and host are constant.
func (r *reader) address(n *dialect.Node, h *httpCall) {
	r.secretsIn(n)
	scheme, rest, ok := strings.Cut(n.Text, "://")
	if !ok || scheme != "http" && scheme != "https" {
		if strings.Contains(scheme, "{{") || looksSecret(scheme) {
			r.report.Errorf(n, codeHost, "the scheme of a url is constant")
			return
		}
		r.report.Errorf(n, codeValue, "url must begin with https:// or http://")
		return
	}
	end := len(scheme) + 3 + len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = len(scheme) + 3 + i
	}
	// A / inside of {{ }} must not look like the end of the host.
	authority := n.Text[len(scheme)+3 : end]
	if i := strings.Index(rest, "{{"); i >= 0 && i < len(authority) || looksSecret(authority) {
		r.report.Errorf(n.SpanIn(len(scheme)+3, end), codeHost, "the host of a url is constant: data never chooses where a call goes")
		return
	}
	base, err := url.Parse(n.Text[:end])
	switch {
	case err != nil || base.Host == "":
		r.report.Errorf(n, codeValue, "url has no usable host")
		return
	case base.User != nil:
		r.report.Errorf(n, codeValue, "url holds a user or password").WithHint("write headers: {Authorization: \"Basic ${env:NAME}\"}")
		return
	case strings.Contains(expression.ReplaceAllString(n.Text[end:], ""), "#"):
		r.report.Errorf(n, codeValue, "url has a fragment (#…), which is never sent")
		return
	}
	h.base = base
	h.address = r.steps(n, end)
}

// steps takes apart what stands behind the host.
func (r *reader) steps(n *dialect.Node, at int) []step {
	var out []step
	query := false
	add := func(text string) {
		if text != "" {
			out = append(out, step{text: text, query: query})
			query = query || strings.Contains(text, "?")
		}
	}
	for at < len(n.Text) {
		rest := n.Text[at:]
		e, s := expression.FindStringIndex(rest), secretRef.FindStringSubmatchIndex(rest)
		switch {
		case e != nil && (s == nil || e[0] < s[0]):
			add(rest[:e[0]])
			out = append(out, step{program: r.program(n, at+e[0], at+e[1]), source: rest[e[0]:e[1]], query: query})
			at += e[1]
		case s != nil:
			add(rest[:s[0]])
			out = append(out, step{secret: rest[s[2]:s[3]], query: query})
			at += s[1]
		default:
			add(rest)
			if strings.Contains(rest, "{{") {
				r.report.Errorf(n, codeExpr, "malformed expression: {{ without }}")
			}
			at = len(n.Text)
		}
	}
	return out
}

func (h *httpCall) invoke(ctx context.Context, c *Catalogue, call effect.Call, s *secrets) (effect.Outcome, error) {
	target, err := h.target(call.Args, s)
	if err != nil {
		return effect.Outcome{}, err
	}
	header, err := fillHeaders(h.headers, call.Args, s)
	if err != nil {
		return effect.Outcome{}, err
	}
	r := http.Request{Method: h.method, URL: target, Header: header, Key: call.Key, Timeout: h.timeout}
	if h.body != nil {
		v, err := h.body.fill(call.Args, s)
		if err != nil {
			return effect.Outcome{}, err
		}
		r.Body = h.encode(v)
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", h.media)
		}
	}
	r.Secret = len(s.values) > 0
	where := h.method + " " + h.base.String()
	a, err := c.options.Client.Do(ctx, r)
	if err != nil {
		return http.Failed(where, err), nil
	}
	out := a.Outcome(where)
	if h.result == nil || out.Failure != nil || out.None {
		return out, nil
	}
	if out.Value, err = h.result.fill(out.Value, s); err != nil {
		return effect.Fail(effect.Failure{Name: effect.Unnamed, Code: http.CodeInvalid, Detail: "the result cannot be taken from the answer: " + err.Error()}), nil
	}
	return out, nil
}

// encode writes the body as its Content-Type says: JSON, a form, or the text itself.
func (h *httpCall) encode(v expr.Value) []byte {
	media, _, _ := strings.Cut(h.media, ";")
	switch media = strings.TrimSpace(strings.ToLower(media)); {
	case media == "application/x-www-form-urlencoded" && v.IsObject():
		form := &url.URL{}
		_ = http.AddQuery(form, v) // it is an object
		return []byte(form.RawQuery)
	case v.Kind() == expr.KindString && media != "application/json" && !strings.HasSuffix(media, "+json"):
		return []byte(v.Str())
	}
	return v.AppendJSON(nil)
}

// target is the address of one call. What {{ }} gives is one step of the path at most.
func (h *httpCall) target(args expr.Value, s *secrets) (*url.URL, error) {
	var out strings.Builder
	for _, p := range h.address {
		switch {
		case p.secret != "":
			value, err := s.resolve(p.secret)
			if err != nil {
				return nil, err
			}
			out.WriteString(escape(value))
		case p.program != nil:
			text, err := evalText(p.program, args)
			if err != nil {
				return nil, err
			}
			if text == "" && !p.query {
				return nil, invalidf("%s gives nothing, and a part of the path cannot be empty", p.source)
			}
			out.WriteString(escape(text))
		default:
			out.WriteString(p.text)
		}
	}
	target, err := url.Parse(h.base.Scheme + "://" + h.base.Host + out.String())
	if err != nil || target.Host != h.base.Host {
		return nil, invalidf("the address is not valid")
	}
	for _, part := range strings.Split(target.EscapedPath(), "/") {
		if part == "." || part == ".." {
			return nil, invalidf("the path of the address would have the step %q", part)
		}
	}
	if len(h.query) == 0 {
		return target, nil
	}
	members := make([]expr.Member, 0, len(h.query))
	for _, q := range h.query {
		v, err := q.value.fill(args, s)
		if err != nil {
			return nil, err
		}
		members = append(members, expr.Member{Key: q.name, Value: v})
	}
	return target, http.AddQuery(target, expr.Object(members...))
}

func fillHeaders(all []named, args expr.Value, s *secrets) (nethttp.Header, error) {
	out := nethttp.Header{}
	for _, h := range all {
		v, err := h.value.fill(args, s)
		if err != nil {
			return nil, err
		}
		text := v.Str()
		if v.Kind() != expr.KindString && !v.IsNull() {
			text = v.String()
		}
		if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return nil, invalidf("the header %q would hold a line break or another control character", h.name)
		}
		if text != "" {
			out.Set(h.name, text)
		}
	}
	return out, nil
}

// escape makes text safe as a part of a path or a query.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
