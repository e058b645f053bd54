package sw05

import (
	"math"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// definitions reads functions, events or retries: an array, or the URI of a
// resource that holds one (003 §Workflow Definition).
func (p *parser) definitions(f *fields, key string, each func(n *dialect.Node, shared bool)) {
	n := f.get(key)
	if n == nil {
		return
	}
	shared := n.Kind == expr.KindString
	if shared {
		if n = p.resource(n, key); n == nil {
			return
		}
		if n.Kind == expr.KindObject {
			if n = p.inside(n, key); n == nil {
				return
			}
		}
	}
	if n.Kind != expr.KindArray {
		p.r.Errorf(n, codeType, "%s must be an array, or the URI of a resource that holds one, not %s", key, article(n.Kind))
		return
	}
	for _, item := range n.Items {
		each(item, shared)
	}
}

// inside finds the array in a resource of the form {functions: […]}.
func (p *parser) inside(n *dialect.Node, key string) *dialect.Node {
	list := n.Get(key)
	if list.IsNull() {
		d := p.r.Errorf(n, codeMissing, "the resource needs %q, or to be an array itself", key)
		for _, m := range n.Members {
			if p.Near(m.Key.Text, []string{key}) != "" {
				d.WithHint("rename %q", m.Key.Text)
			}
		}
		return nil
	}
	return list
}

// function reads a function (003 §Function Definition).
func (p *parser) function(w *workflow, n *dialect.Node, shared bool) {
	f := p.fields(n, "function")
	if f == nil {
		return
	}
	fn := &function{definition: definition{node: n, name: f.name("name"), shared: shared}}
	fn.operation = p.plain(f.optionalName("operation"), "operation", "it is resolved before any instance runs")
	fn.metadata = f.get("metadata")
	f.done()
	if fn.operation != nil {
		p.operation(fn.operation)
	}
	if fn.name != nil {
		w.functions = append(w.functions, fn)
		if fn.operation != nil && p.src.Operations != nil {
			p.src.Operations[fn.name.Text] = fn.operation
		}
	}
}

// operation checks the name of a workflow whose jobs are created, and warns of an OpenAPI
// document without the operation that is meant.
func (p *parser) operation(n *dialect.Node) {
	if jobs(p.r, &p.Hinter).Operation(n) {
		return
	}
	uri, id, ok := strings.Cut(n.Text, "#")
	lower := strings.ToLower(uri)
	document := strings.HasSuffix(lower, ".json") || strings.HasSuffix(lower, ".yaml") || strings.HasSuffix(lower, ".yml")
	if ok && id == "" || !ok && document {
		p.r.Warnf(n, codeOperation, "operation %q names a document, but no operation in it", n.Text).
			WithHint("add its operationId: %s#operationId", uri)
	}
}

// event reads an event, or several that share all but their names (003 §Event Definition).
func (p *parser) event(w *workflow, n *dialect.Node, shared bool) {
	f := p.fields(n, "event")
	if f == nil {
		return
	}
	f.either("name", "names")
	var names []*dialect.Node
	if name := f.optionalName("name"); name != nil {
		names = append(names, name)
	}
	if list, given := f.list("names"); given {
		if len(list) == 0 && f.node.Get("names").Is(expr.KindArray) {
			p.r.Errorf(f.node.Get("names"), codeEmpty, "names must not be empty")
		}
		for _, name := range list {
			if p.is(name, expr.KindString, "an event's name") && p.nonEmpty(name, "an event's name") != nil {
				names = append(names, name)
			}
		}
	}
	e := event{definition: definition{node: n, shared: shared}}
	const constant = "events are matched by the server, without an instance's data"
	e.source = p.plain(f.optionalName("source"), "source", constant)
	e.typ = p.plain(f.optionalName("type"), "type", constant)
	kind, at := f.choice("kind", false, "consumed", "produced")
	e.produced, e.unsure = kind == "produced", kind == "" && at != nil
	e.correlation = p.correlation(f)
	e.metadata = f.get("metadata")
	f.done()
	p.eventAttributes(f, &e)
	for _, name := range names {
		one := e
		one.name = name
		w.events = append(w.events, &one)
	}
}

// eventAttributes checks what makes an event findable. A consumed event without
// source or type matches any (SEMANTICS §Functions, events, errors).
func (p *parser) eventAttributes(f *fields, e *event) {
	given := func(key string) bool { return !f.node.Get(key).IsNull() }
	if e.produced {
		if !given("type") {
			f.missing("type").WithHint("an event that is sent must have a type")
		}
		if c := f.node.Get("correlation"); len(e.correlation) > 0 {
			p.r.Warnf(c.KeySpan(), codeIgnored, "correlation is for consumed events; on a produced one it is ignored").
				WithHint("give the event its attributes where it is produced, with contextAttributes")
		}
		return
	}
	for _, key := range []string{"source", "type"} {
		if !given(key) {
			p.r.Warnf(e.node, codeAnyEvent, "the event has no %q: it matches events of any %s", key, key)
		}
	}
}

func (p *parser) correlation(f *fields) []correlation {
	var out []correlation
	list, _ := f.list("correlation")
	for _, n := range list {
		c := p.fields(n, "correlation")
		if c == nil {
			continue
		}
		one := correlation{attribute: c.name("contextAttributeName"), value: p.template(c.str("contextAttributeValue"))}
		c.done()
		if one.attribute != nil {
			out = append(out, one)
		}
	}
	return out
}

// retry reads a retry strategy (003 §Retry Definition).
func (p *parser) retry(w *workflow, n *dialect.Node, shared bool) {
	f := p.fields(n, "retry")
	if f == nil {
		return
	}
	r := &retry{definition: definition{node: n, name: f.name("name"), shared: shared}, maxAttempts: 1}
	r.delay = p.duration(f.get("delay"))
	r.multiplier = p.duration(f.get("multiplier"))
	if r.multiplier != nil {
		p.plain(r.multiplier.node, "multiplier", "all delays of a retry grow by the same amount")
	}
	if a := f.get("maxAttempts"); a != nil {
		r.maxAttempts = p.attempts(a)
	}
	if j := f.get("jitter"); j != nil {
		p.jitter(r, j)
	}
	f.done()
	if r.name != nil {
		w.retries = append(w.retries, r)
	}
}

// attempts reads maxAttempts: a whole number, also as text.
func (p *parser) attempts(n *dialect.Node) int {
	var value int64
	ok := false
	switch n.Kind {
	case expr.KindNumber:
		value, ok = n.Int()
	case expr.KindString:
		v, err := strconv.ParseInt(strings.TrimSpace(n.Text), 10, 64)
		value, ok = v, err == nil
	default:
		p.r.Errorf(n, codeType, "maxAttempts must be a whole number, not %s", article(n.Kind))
		return 0
	}
	if !ok || value < 0 || value > math.MaxInt32 {
		p.r.Errorf(n, codeNumber, "maxAttempts must be a whole number from 0, not %s", shown(n)).
			WithHint("0 means that nothing is tried again")
		return 0
	}
	return int(value)
}

// jitter reads a share of the delay (a number) or an absolute bound (a duration).
func (p *parser) jitter(r *retry, n *dialect.Node) {
	switch n.Kind {
	case expr.KindNumber:
		share, err := strconv.ParseFloat(n.Text, 64)
		if err != nil || share < 0 || share > 1 {
			p.r.Errorf(n, codeNumber, "jitter is a share of the delay from 0.0 to 1.0, not %s", n.Raw()).
				WithHint(`an absolute bound is a duration, as in "PT1S"`)
			return
		}
		r.jitterMillis = int64(math.Round(share * 1000))
	case expr.KindString:
		if _, err := strconv.ParseFloat(n.Text, 64); err == nil {
			p.r.Errorf(n, codeNumber, "jitter as text is a duration, and %q is none", n.Text).
				WithHint("for a share of the delay write the number without quotes")
			return
		}
		r.jitterAtMost = p.duration(n)
	default:
		p.r.Errorf(n, codeType, "jitter must be a number or a duration, not %s", article(n.Kind))
	}
}
