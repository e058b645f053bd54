package catalogue

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
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
	auth    *template // nil: there is none
}

type named struct {
	name   string
	value  *template
	inside []step // of a header: the expressions that stand in other text
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
	f := r.Fields(n, "http")
	if f == nil {
		return nil
	}
	h := &httpCall{method: "GET", media: "application/json"}
	body := f.Get("body")
	if body != nil {
		h.method, h.body = "POST", r.template(body)
	}
	if m := r.constant(f, "method"); m != nil {
		h.method = r.OneOf(m, "method", false, methods...)
	}
	if address := f.Name("url"); address != nil {
		r.address(address, h)
	}
	h.headers = r.headers(f)
	if query := f.Typed("query", expr.KindObject); query != nil {
		for _, m := range query.Members {
			h.query = append(h.query, named{name: m.Name(), value: r.template(m)})
		}
	}
	if result := f.Get("result"); result != nil {
		h.result = r.template(result)
		if h.result.hasSecret() {
			r.Errorf(result, codeSecret, "a secret cannot stand in the result")
		}
	}
	h.timeout, h.auth = r.timeout(f), r.authentication(f)
	f.Done()
	if headers := n.Get("headers"); headers != nil {
		for _, header := range headers.Members {
			if strings.EqualFold(header.Name(), "Content-Type") {
				h.media = header.Text
			}
		}
	}
	if body != nil && !body.Is(expr.KindString) {
		if _, err := http.Encode(h.media, body.Value()); err != nil {
			r.Errorf(body, codeValue, "%v", err)
		}
	}
	return h
}

// address takes a url apart. Scheme and host are constant.
func (r *reader) address(n *dialect.Node, h *httpCall) {
	r.secretsIn(n)
	scheme, rest, ok := strings.Cut(n.Text, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		if strings.Contains(scheme, "{{") || looksSecret(scheme) {
			r.Errorf(n, codeHost, "the scheme of a url is constant")
			return
		}
		r.Errorf(n, codeValue, "url must begin with https:// or http://")
		return
	}
	end := len(scheme) + 3 + len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = len(scheme) + 3 + i
	}
	// A / inside of {{ }} must not look like the end of the host.
	authority := n.Text[len(scheme)+3 : end]
	if i := strings.Index(rest, "{{"); i >= 0 && i < len(authority) || looksSecret(authority) {
		r.Errorf(n.SpanIn(len(scheme)+3, end), codeHost, "the host of a url is constant: data never chooses where a call goes")
		return
	}
	base, err := url.Parse(n.Text[:end])
	switch {
	case err != nil || base.Host == "":
		r.Errorf(n, codeValue, "url has no usable host")
		return
	case base.User != nil:
		r.Errorf(n, codeValue, "url holds a user or password").WithHint("write headers: {Authorization: \"Basic ${env:NAME}\"}")
		return
	case http.CheckPort(base) != nil:
		r.Errorf(n.SpanIn(len(scheme)+3, end), codeValue, "url: %v", http.CheckPort(base))
		return
	}
	h.base = base
	h.address = r.steps(n, end)
	if slices.ContainsFunc(h.address, func(p step) bool { return strings.Contains(p.text, "#") }) {
		r.Errorf(n, codeValue, "url has a fragment (#…), which is never sent")
		return
	}
	r.checkAddress(n, h)
}

// steps takes apart what stands behind the host.
func (r *reader) steps(n *dialect.Node, begin int) []step {
	var out []step
	query := false
	text := n.Text[begin:]
	constant := func(from, to int, more bool) { // text and secrets
		for from < to {
			piece, secret := text[from:to], ""
			next := to
			if s := secretRef.FindStringSubmatchIndex(piece); s != nil {
				next, secret, piece = from+s[1], piece[s[2]:s[3]], piece[:s[0]]
			}
			if piece = literal(piece, more && secret == ""); piece != "" {
				out = append(out, step{text: piece, query: query})
				query = query || strings.Contains(piece, "?")
			}
			if secret != "" {
				out = append(out, step{secret: secret, query: query})
			}
			from = next
		}
	}
	at := 0
	for _, e := range expressions(text) {
		constant(at, e.from, true)
		out = append(out, step{program: r.program(n, begin+e.from, begin+e.to), source: text[e.from:e.to], query: query})
		at = e.to
	}
	constant(at, len(text), false)
	return out
}

// checkAddress reports what is wrong with the constant parts of an address: every call
// would fail.
func (r *reader) checkAddress(n *dialect.Node, h *httpCall) {
	sample := ""
	for _, p := range h.address {
		if p.text == "" {
			p.text = "x" // data is judged for each call
		}
		sample += p.text
	}
	if strings.ContainsFunc(sample, unicode.IsControl) {
		r.Errorf(n, codeValue, "url holds a line break or another control character")
		return
	}
	path, query, _ := strings.Cut(sample, "?")
	for _, part := range strings.Split(path, "/") {
		plain, err := url.PathUnescape(part)
		switch {
		case err != nil:
			r.Errorf(n, codeValue, "the path of url holds a %% that is not followed by two hexadecimal digits").WithHint("a %% itself is written %%25")
			return
		case plain == "." || plain == "..":
			r.Errorf(n, codeValue, "the path of url has the step %q", part)
			return
		}
	}
	if _, err := url.PathUnescape(query); err != nil {
		r.Errorf(n, codeValue, "the query of url holds a %% that is not followed by two hexadecimal digits").WithHint("a %% itself is written %%25")
	}
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
		if r.Body, err = http.Encode(h.media, v); err != nil {
			return effect.Outcome{}, err
		}
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", h.media)
		}
	}
	r.Secret = len(s.values) > 0
	where := h.method + " " + h.base.String() + h.template()
	if r.Auth, err = c.policy(h.auth, s); err != nil {
		return failedAuth(where, err)
	}
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

// template is the path as it is written, for messages about a failure: without the
// query, and without what {{ }} and secrets gave.
func (h *httpCall) template() string {
	out := ""
	for _, p := range h.address {
		before, _, query := strings.Cut(p.text, "?")
		switch {
		case p.query:
			return out
		case p.secret != "":
			before = "${" + p.secret + "}"
		case p.source != "":
			before = p.source
		}
		if out += before; query {
			break
		}
	}
	return out
}

// target is the address of one call. What {{ }} gives is one step of the path at most.
func (h *httpCall) target(args expr.Value, s *secrets) (*url.URL, error) {
	out := ""
	for i, p := range h.address {
		switch {
		case p.secret != "":
			value, err := s.resolve(p.secret)
			if err != nil {
				return nil, err
			}
			out += escape(value)
		case p.program != nil:
			v, err := evalValue(p.program, args)
			if err != nil {
				return nil, err
			}
			switch text := textOf(v); {
			case !p.query && (text == "" || isNothing(v)):
				return nil, invalidf("%s gives nothing, and a part of the path cannot be empty", p.source)
			case isNothing(v):
				out = withoutPair(out, h.address[i+1:])
			default:
				out += escape(text)
			}
		default:
			if strings.HasSuffix(out, "?") {
				p.text = strings.TrimPrefix(p.text, "&") // the pair before it was left out
			}
			out += p.text
		}
	}
	target, err := url.Parse(h.base.Scheme + "://" + h.base.Host + out)
	if err != nil || target.Host != h.base.Host {
		return nil, invalidf("the address is not valid")
	}
	target.ForceQuery = false
	for _, part := range strings.Split(target.EscapedPath(), "/") {
		// Servers read %2e as a dot.
		plain, err := url.PathUnescape(part)
		if plain == "." || plain == ".." || err != nil {
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

// withoutPair cuts name= off the end of an address, where nothing follows that would
// belong to its value.
func withoutPair(text string, next []step) string {
	if len(next) > 0 && !strings.HasPrefix(next[0].text, "&") {
		return text
	}
	path, query, _ := strings.Cut(text, "?")
	at := strings.LastIndex(query, "&")
	name, ok := strings.CutSuffix(query[at+1:], "=")
	if !ok || name == "" || strings.Contains(name, "=") {
		return text
	}
	return path + "?" + query[:max(at, 0)]
}

// escape makes text safe as a part of a path or a query.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
