package sw05

import (
	"math"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// definitions reads functions, events or retries: an array, or the URI of a
// resource that holds one (0.5 §Workflow Definition).
func (p *parser) definitions(w *workflow, f *dialect.Fields, key string, each func(n *dialect.Node, shared bool)) {
	n := f.Get(key)
	if n == nil {
		return
	}
	shared := n.Kind == expr.KindString
	if shared {
		if n = p.resources.Document(n, key); n == nil {
			w.absent[key] = true
			return
		}
		if n.Kind == expr.KindObject {
			if n = p.inside(n, key); n == nil {
				return
			}
		}
	}
	if n.Kind != expr.KindArray {
		p.Expected(n, key, "an array, or the URI of a resource that holds one")
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
		d := p.Errorf(n, codeMissing, "the resource needs %q, or to be an array itself", key)
		for _, m := range n.Members {
			if p.Near(m.Key.Text, []string{key}) != "" {
				d.WithHint("rename %q", m.Key.Text)
			}
		}
		return nil
	}
	return list
}

// function reads a function (0.5 §Function Definition).
func (p *parser) function(w *workflow, n *dialect.Node, shared bool) {
	f := p.Fields(n, "a function")
	if f == nil {
		return
	}
	fn := &function{definition: definition{node: n, name: f.Name("name"), shared: shared}}
	if p.form.before05() {
		p.resourceOf(fn, f)
	} else {
		fn.operation = p.plain(f.OptionalName("operation"), "operation", "it is resolved before any instance runs")
	}
	fn.metadata = f.Get("metadata")
	f.Done()
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
// document without the operation that is meant. Calls that their arguments describe are those of another
// dialect, whose compiler says what they may reach.
func (p *parser) operation(n *dialect.Node) {
	if jobs(p.Reporter, &p.Hinter).Operation(n) {
		return
	}
	if strings.HasPrefix(n.Text, ir.BuiltinScheme) {
		p.Errorf(n, codeOutOfPlace, "operation %q is not the address of a service, an operation of a document or a job", n.Text)
		return
	}
	uri, id, ok := strings.Cut(n.Text, "#")
	lower := strings.ToLower(uri)
	document := strings.HasSuffix(lower, ".json") || strings.HasSuffix(lower, ".yaml") || strings.HasSuffix(lower, ".yml")
	if ok && id == "" || !ok && document {
		p.Warnf(n, codeOperation, "operation %q names a document, but no operation in it", n.Text).
			WithHint("add its operationId: %s#operationId", uri)
	}
}

// event reads an event, or several that share all but their names (0.5 §Event Definition).
func (p *parser) event(w *workflow, n *dialect.Node, shared bool) {
	f := p.Fields(n, "an event")
	if f == nil {
		return
	}
	f.Either("name", "names")
	var names []*dialect.Node
	if name := f.OptionalName("name"); name != nil {
		names = append(names, name)
	}
	for _, item := range f.Full("names") {
		if name := p.Named(item, "an event's name"); name != nil {
			names = append(names, name)
		}
	}
	e := event{definition: definition{node: n, shared: shared}}
	const constant = "events are matched by the server, without an instance's data"
	e.source = p.plain(f.OptionalName("source"), "source", constant)
	e.typ = p.plain(f.OptionalName("type"), "type", constant)
	kind, at := p.word(f, "kind", "consumed", "produced")
	e.produced, e.unsure = kind == "produced", kind == "" && at != nil
	e.either = p.form.before05() && at == nil
	e.correlation = p.correlation(f)
	if p.form.before05() {
		p.correlationToken(f, &e)
	}
	e.metadata = f.Get("metadata")
	f.Done()
	p.eventAttributes(f, &e)
	for _, name := range names {
		one := e
		one.name = name
		w.events = append(w.events, &one)
	}
}

// eventAttributes checks what makes an event findable. A consumed event without
// source or type matches any (semantics.md §Functions, events, errors).
func (p *parser) eventAttributes(f *dialect.Fields, e *event) {
	if e.produced {
		if f.Peek("type") == nil {
			f.Missing("type").WithHint("an event that is sent must have a type")
		}
		if c := f.Peek("correlation"); len(e.correlation) > 0 {
			p.Warnf(c.KeySpan(), codeIgnored, "correlation is for consumed events; on a produced one it is ignored").
				WithHint("give the event its attributes where it is produced, with contextAttributes")
		}
		return
	}
	for _, key := range []string{"source", "type"} {
		if f.Peek(key) == nil {
			p.Warnf(e.node, codeAnyEvent, "the event has no %q: it matches events of any %s", key, key)
		}
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
		one := correlation{attribute: c.Name("contextAttributeName"), value: p.template(c.Str("contextAttributeValue"))}
		c.Done()
		if one.attribute != nil {
			out = append(out, one)
		}
	}
	return out
}

// retry reads a retry strategy (0.5 §Retry Definition).
func (p *parser) retry(w *workflow, n *dialect.Node, shared bool) {
	f := p.Fields(n, "a retry")
	if f == nil {
		return
	}
	r := &retry{definition: definition{node: n, name: f.Name("name"), shared: shared}, maxAttempts: 1}
	r.delay = p.duration(f.Get("delay"))
	r.multiplier = p.duration(f.Get("multiplier"))
	if r.multiplier != nil {
		p.plain(r.multiplier.node, "multiplier", "all delays of a retry grow by the same amount")
	}
	if n := f.Get("maxAttempts"); n != nil {
		attempts, wrong := p.Whole(n, n.Name(), 0, math.MaxInt32)
		if wrong != nil {
			wrong.WithHint("0 means no retries")
		}
		r.maxAttempts = int(attempts)
	}
	if j := f.Get("jitter"); j != nil {
		p.jitter(r, j)
	}
	f.Done()
	if r.name != nil {
		w.retries = append(w.retries, r)
	}
}

// jitter reads a share of the delay (a number) or an absolute bound (a duration).
func (p *parser) jitter(r *retry, n *dialect.Node) {
	switch n.Kind {
	case expr.KindNumber:
		share, err := strconv.ParseFloat(n.Text, 64)
		if err != nil || share < 0 || share > 1 {
			p.Errorf(n, codeNumber, "jitter is a share of the delay from 0.0 to 1.0, not %s", n.Raw()).
				WithHint(`an absolute bound is a duration, as in "PT1S"`)
			return
		}
		r.jitterMillis = int64(math.Round(share * 1000))
	case expr.KindString:
		if _, err := strconv.ParseFloat(n.Text, 64); err == nil {
			p.Errorf(n, codeNumber, "jitter as a string must be a duration, not %q", n.Text).
				WithHint("for a share of the delay write the number without quotes")
			return
		}
		r.jitterAtMost = p.duration(n)
	default:
		p.Expected(n, "jitter", "a number or a duration")
	}
}
