package sw08

import (
	"math"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
)

// definitions reads functions, events and the like: an array, or the URI of a resource that holds one.
func (p *parser) definitions(f *dialect.Fields, key string, each func(n *dialect.Node, shared bool)) {
	n, shared := p.referred(f.Get(key), key)
	if n == nil {
		return
	}
	if n.Kind != expr.KindArray {
		p.Expected(n, key, "an array, or the URI of a resource that holds one")
		return
	}
	for _, item := range n.Items {
		each(item, shared)
	}
}

// referred returns the value of a key, or what the resource holds that it names.
func (p *parser) referred(n *dialect.Node, key string) (value *dialect.Node, shared bool) {
	if n == nil || n.Kind != expr.KindString {
		return n, false
	}
	root := p.resources.Document(n, key)
	if root == nil {
		p.w.absent[key] = true
	}
	if root.Is(expr.KindObject) && !root.Get(key).IsNull() {
		root = root.Get(key)
	}
	return root, true
}

// event reads an event (0.8 §Event Definition).
func (p *parser) event(n *dialect.Node, shared bool) {
	f := p.Fields(n, "an event")
	if f == nil {
		return
	}
	e := &event{definition: definition{node: n, name: f.Name("name"), shared: shared}}
	f.Called(e.name)
	p.dnsName(e.name)
	const constant = "events are matched by the server, without an instance's data"
	e.source = p.plain(f.Str("source"), "source", constant)
	e.typ = p.plain(f.OptionalName("type"), "type", constant)
	kind, at := f.Choice("kind", "consumed", "produced")
	e.produced, e.kindGiven = kind == "produced", at != nil
	whole, _ := p.flag(f, "dataOnly", true)
	e.whole = !whole
	e.correlation = p.correlation(f)
	e.metadata = f.Get("metadata")
	p.era(f, form07, form09, "dataOnly")
	f.Done()
	if e.source != nil && strings.TrimSpace(e.source.Text) == "" {
		e.source = nil // any source
	}
	if f.Peek("type") == nil && e.source == nil {
		f.Missing("type")
	}
	if e.name != nil {
		p.w.events = append(p.w.events, e)
	}
}

func (p *parser) correlation(f *dialect.Fields) []correlation {
	var out []correlation
	list, _ := f.List("correlation")
	for _, n := range list {
		c := p.Fields(n, "a correlation")
		if c == nil {
			continue
		}
		one := correlation{attribute: c.Name("contextAttributeName"), value: p.argument(c.Str("contextAttributeValue"))}
		c.Done()
		if one.attribute != nil {
			out = append(out, one)
		}
	}
	return out
}

func (p *parser) retryDefinition(n *dialect.Node, shared bool) {
	if r := p.retry(n, shared, true); r != nil && r.name != nil {
		p.w.retries = append(p.w.retries, r)
	}
}

// retry reads a retry strategy (0.8 §Retry Definition).
//
// Without maxAttempts there is one retry: the text names no default (its "unlimited" is that of the strategy
// that autoRetries uses where no other is named), and 0.5 had 1.
func (p *parser) retry(n *dialect.Node, shared, named bool) *retry {
	f := p.Fields(n, "a retry")
	if f == nil {
		return nil
	}
	r := &retry{definition: definition{node: n, shared: shared}, maxAttempts: 1}
	if named {
		r.name = f.Name("name")
	} else {
		r.name = f.OptionalName("name")
	}
	f.Called(r.name)
	r.delay = p.duration(f.Get("delay"))
	r.maxDelay = p.duration(f.Get("maxDelay"))
	r.increment = p.duration(f.Get("increment"))
	for _, d := range []*duration{r.maxDelay, r.increment} {
		if d != nil {
			p.plain(d.node, d.node.Name(), "all delays of a retry grow in the same way")
		}
	}
	if m := f.Get("multiplier"); m != nil {
		r.multiplier = p.multiplier(m)
	}
	switch n := f.Get("maxAttempts"); {
	case n != nil:
		attempts, wrong := p.Whole(n, n.Name(), 0, math.MaxInt32)
		if wrong != nil {
			wrong.WithHint("0 means no retries")
		}
		r.maxAttempts = int(attempts)
	default:
		p.Warnf(f.Node.KeySpan(), codeNoLimit, "%s has no \"maxAttempts\"; there is one retry", f.What)
	}
	if j := f.Get("jitter"); j != nil {
		p.jitter(r, j)
	}
	f.Done()
	return r
}

func (p *parser) multiplier(n *dialect.Node) float64 {
	if n.Kind != expr.KindNumber && n.Kind != expr.KindString {
		p.Expected(n, "multiplier", "a number")
		return 0
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(n.Text), 64)
	if err != nil || !(value > 0) || math.IsInf(value, 0) {
		p.Errorf(n, codeNumber, "multiplier must be a positive number, not %s", n.Quoted()).
			WithHint("a duration that is added to each delay is the increment")
		return 0
	}
	return value
}

// jitter reads a share of the delay (a number, or one as text) or an absolute bound (a duration).
func (p *parser) jitter(r *retry, n *dialect.Node) {
	switch n.Kind {
	case expr.KindNumber:
		r.jitterMillis = p.share(n)
	case expr.KindString:
		if _, err := strconv.ParseFloat(strings.TrimSpace(n.Text), 64); err == nil {
			r.jitterMillis = p.share(n)
			return
		}
		if r.jitterAtMost = p.duration(n); r.jitterAtMost != nil {
			p.plain(n, "jitter", "all delays of a retry are changed by as much")
		}
	default:
		p.Expected(n, "jitter", "a number or a duration")
	}
}

// auth reads how calls are authenticated (0.8 §Auth Definition).
func (p *parser) auth(n *dialect.Node, shared bool) {
	f := p.Fields(n, "an auth definition")
	if f == nil {
		return
	}
	a := &auth{definition: definition{node: n, name: f.Name("name"), shared: shared}}
	f.Called(a.name)
	scheme, _ := f.Choice("scheme", "basic", "bearer", "oauth2")
	a.scheme = scheme
	if f.Peek("scheme") == nil {
		a.scheme = "basic"
	}
	p.authProperties(a, f.Need("properties"))
	f.Done()
	if a.name != nil {
		p.w.auth = append(p.w.auth, a)
	}
}

// keptProperties reads properties that a secret has: its name, or an expression. What programs take is an object
// with a text for each property.
func (p *parser) keptProperties(a *auth, n *dialect.Node) {
	if p.w.language != langJQ || a.scheme == "oauth2" {
		p.Errorf(n, codeAuth, "the properties of %q must be an object", a.name.Literal()).
			WithHint("secrets as a whole are for basic and bearer, with expressions in jq")
		return
	}
	var e *expression
	if p.holdsExpression(n.Text) {
		e = p.query(n)
	} else {
		p.declaredSecret(n)
		e = &expression{src: "$secrets[" + expr.String(n.Text).String() + "]", vars: []variable{{varSecrets, n.Text}}}
	}
	want := authKeys[a.scheme]
	if e == nil || len(want.keys) == 0 {
		return
	}
	out := &expression{node: n, lang: jq.TextLang, pos: n.IRPos(), vars: e.vars, value: expr.EmptyObject}
	for _, key := range want.keys[:want.required] {
		out.value = out.value.With(key, expr.String("${ ("+ended(e.src)+") | ."+key+" }"))
		out.parts = append(out.parts, n.IRPos())
	}
	out.src = out.value.String()
	a.properties = out
}

// authKeys are the properties of a scheme; the first ones are required.
var authKeys = map[string]struct {
	required int
	keys     []string
}{
	"basic":  {2, []string{"username", "password"}},
	"bearer": {1, []string{"token"}},
	"oauth2": {2, []string{
		"grantType", "clientId", "authority", "clientSecret", "scopes", "username", "password", "audiences",
		"subjectToken", "requestedSubject", "requestedIssuer",
	}},
}

func (p *parser) authProperties(a *auth, n *dialect.Node) {
	switch {
	case n == nil:
		return
	case n.Kind == expr.KindString && p.NonEmpty(n, "properties") != nil:
		p.keptProperties(a, n)
		return
	}
	f := p.Fields(n, "properties")
	if f == nil {
		return
	}
	want := authKeys[a.scheme]
	for i, key := range want.keys {
		if i < want.required {
			f.Need(key)
		} else {
			f.Get(key)
		}
	}
	if a.scheme == "oauth2" {
		f.Choice("grantType", "password", "clientCredentials", "tokenExchange")
	}
	f.Get("metadata")
	if a.scheme != "" {
		f.Done()
	}
	for _, key := range []string{"password", "token", "clientSecret"} {
		if c := n.Get(key); c.Is(expr.KindString) && !p.holdsExpression(c.Text) {
			p.Warnf(c, codeCredentials, "%s stands in the definition: everyone who may read definitions and instances can see it", key).
				WithHint("use a secret: ${ $SECRETS.NAME }")
		}
	}
	a.properties = p.argument(n)
}
