package sw08

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// errorDefinitions reads errors: a list of names and codes (0.7, 0.8), or 0.9's definitions, handlers and policies.
func (p *parser) errorDefinitions(f *dialect.Fields) {
	n, shared := p.referred(f.Get("errors"), "errors")
	if n == nil {
		return
	}
	if n.Kind != expr.KindObject {
		if n.Kind != expr.KindArray {
			p.Expected(n, "errors", "an array, an object, or the URI of a resource that holds one")
			return
		}
		for _, item := range n.Items {
			p.errorDefinition(item, shared)
		}
		return
	}
	o := p.Fields(n, "errors")
	p.definitions(o, "definitions", p.errorDefinition)
	p.definitions(o, "handlers", func(n *dialect.Node, shared bool) {
		if h := p.handler(n, true); h != nil && h.name != nil {
			h.shared = shared
			p.w.handlers = append(p.w.handlers, h)
		}
	})
	p.definitions(o, "policies", p.policy)
	o.Done()
}

func (p *parser) errorDefinition(n *dialect.Node, shared bool) {
	f := p.Fields(n, "an error")
	if f == nil {
		return
	}
	e := &errorDef{definition: definition{node: n, name: f.Name("name"), shared: shared}}
	f.Called(e.name)
	e.code = f.Literal("code")
	f.Str("description")
	e.typ = f.Str("type")
	e.status = p.status(f.Get("status"))
	e.title, e.detail = p.template(f.Str("title")), p.template(f.Str("detail"))
	e.instance = f.Str("instance")
	f.Str("source")
	p.era(f, form07, form08, "code")
	p.era(f, form09, form09, "type", "status")
	f.Done()
	if p.nine {
		p.dnsName(e.name)
		for _, key := range []string{"type", "status"} {
			if f.Peek(key) == nil {
				f.Missing(key)
			}
		}
	}
	if e.name != nil {
		p.w.errors = append(p.w.errors, e)
	}
}

// status reads a number or a text.
func (p *parser) status(n *dialect.Node) *dialect.Node {
	if n != nil && n.Kind != expr.KindNumber && n.Kind != expr.KindString {
		p.Expected(n, "status", "a whole number")
		return nil
	}
	return n
}

func (p *parser) policy(n *dialect.Node, shared bool) {
	f := p.Fields(n, "an error policy")
	if f == nil {
		return
	}
	out := &policy{definition: definition{node: n, name: f.Name("name"), shared: shared}}
	f.Called(out.name)
	for _, item := range f.NeedList("handlers") {
		if h := p.handler(item, false); h != nil {
			out.handlers = append(out.handlers, h)
		}
	}
	f.Done()
	if out.name != nil {
		p.w.policies = append(p.w.policies, out)
	}
}

// handler reads an error handler (0.9 §Error Handler Definition), or a reference to one.
func (p *parser) handler(n *dialect.Node, named bool) *handler {
	f := p.Fields(n, "an error handler")
	if f == nil {
		return nil
	}
	h := &handler{definition: definition{node: n}}
	if named {
		h.name = f.Name("name")
	} else {
		h.name = f.OptionalName("name")
		h.refName = f.OptionalName("refName")
	}
	f.Called(h.name)
	h.when, h.except = p.matches(f, "when"), p.matches(f, "exceptWhen")
	switch r := f.Get("retry"); {
	case r.Is(expr.KindString):
		h.retryRef = p.NonEmpty(r, "retry")
	case r != nil:
		h.retry = p.retry(r, false, false)
	}
	h.then = p.outcome(f.Get("then"))
	f.Done()
	return h
}

func (p *parser) matches(f *dialect.Fields, key string) []*errorMatch {
	list, _ := f.List(key)
	return dialect.Each(list, func(n *dialect.Node) *errorMatch {
		f := p.Fields(n, "an error reference")
		if f == nil {
			return nil
		}
		m := &errorMatch{refName: f.OptionalName("refName"), typ: f.Str("type"), instance: f.Str("instance")}
		m.status = p.status(f.Get("status"))
		f.Done()
		return m
	})
}

// outcome reads what follows an error (0.9 §Error Outcome Definition).
func (p *parser) outcome(n *dialect.Node) *outcome {
	f := p.Fields(n, "then")
	if f == nil {
		return nil
	}
	o := &outcome{exit: p.exit(f), compensate: p.compensate(f)}
	if t := f.Get("throw"); t != nil {
		o.throw = p.throw(t)
	}
	f.Done()
	given := 0
	for _, key := range []string{"transition", "end", "throw"} {
		if f.Peek(key) != nil {
			given++
		}
	}
	switch t := f.Peek("throw"); {
	case given == 0 && o.compensate == nil:
		p.Errorf(n.KeySpan(), codeNoExit, "then needs one of \"transition\", \"end\" and \"throw\"")
	case given > 1 && t != nil:
		p.Errorf(t.KeySpan(), codeTwoExits, "then has a throw and another way out; exactly one must hold")
	}
	return o
}

// throw reads an error that is raised: true, a reference, or an error object (0.9 §Error Throw Definition).
func (p *parser) throw(n *dialect.Node) *throw {
	t := &throw{node: n}
	if on, ok := n.Bool(); ok {
		if t.again = on; !on {
			p.Errorf(n, codeChoice, "throw cannot be false").WithHint("remove it")
		}
		return t
	}
	if n.Kind == expr.KindString && n.Name() == "errorRef" {
		t.refName = p.NonEmpty(n, "errorRef")
		return t
	}
	f := p.Fields(n, n.Name())
	if f == nil {
		return nil
	}
	t.refName = f.OptionalName("refName")
	f.Allow("type", "status", "title", "detail", "instance")
	f.Done()
	if t.refName == nil && f.Peek("refName") == nil {
		if f.Peek("type") == nil || f.Peek("status") == nil {
			p.Errorf(n.KeySpan(), codeMissing, "%s needs \"refName\", or \"type\" and \"status\"", n.Name())
		}
		t.value = p.argument(n)
	}
	return t
}

// handlerKeys tell an entry of 0.9's onErrors.
var handlerKeys = []string{"when", "exceptWhen", "retry", "then", "refName"}

// onErrors reads the error handling of a state in the way of its version.
func (p *parser) onErrors(f *dialect.Fields, s *state) {
	n := f.Get("onErrors")
	if n == nil {
		return
	}
	if n.Kind == expr.KindString {
		s.policyRef, s.handlers = p.handlerList(n)
		return
	}
	if !p.Is(n, expr.KindArray, "onErrors") {
		return
	}
	for _, item := range n.Items {
		nine := slices.ContainsFunc(handlerKeys, func(key string) bool { return item.Get(key) != nil })
		old := item.Get("error") != nil || item.Get("errorRef") != nil || item.Get("errorRefs") != nil
		if nine || p.form == form09 && !old {
			if h := p.handler(item, false); h != nil {
				s.handlers = append(s.handlers, h)
			}
		} else if e := p.onError(item); e != nil {
			s.onErrors = append(s.onErrors, e)
		}
	}
	if len(s.handlers) > 0 && len(s.onErrors) > 0 {
		p.Errorf(n, codeExclusive, "onErrors has entries of 0.9 and of an earlier version; only one kind is allowed")
	}
}

// handlerList reads onErrors of 0.9: a policy, or handlers.
func (p *parser) handlerList(n *dialect.Node) (policy *dialect.Node, list []*handler) {
	switch {
	case n == nil:
	case n.Kind == expr.KindString:
		return p.NonEmpty(n, "onErrors"), nil
	case p.Is(n, expr.KindArray, "onErrors"):
		list = dialect.Each(n.Items, func(n *dialect.Node) *handler { return p.handler(n, false) })
	}
	return nil, list
}

// onError reads an entry of 0.6 (§Error Definition) or of 0.7 and 0.8.
func (p *parser) onError(n *dialect.Node) *onError {
	f := p.Fields(n, "an onErrors entry")
	if f == nil {
		return nil
	}
	e := &onError{node: n}
	given := f.Peek("error") != nil
	refs := f.Peek("errorRef") != nil || f.Peek("errorRefs") != nil
	switch {
	case given && refs:
		f.Both(f.Peek("error"), dialect.Later(f.Peek("errorRef"), f.Peek("errorRefs")))
	case given || !refs && p.form == form06:
		e.error = f.Name("error")
	case f.Peek("errorRef") != nil && f.Peek("errorRefs") != nil:
		f.Both(f.Peek("errorRef"), f.Peek("errorRefs"))
	case !refs:
		p.Errorf(n, codeMissing, "%s needs \"errorRef\" or \"errorRefs\"", f.What)
	}
	if given && p.said && p.form > form06 {
		p.Errorf(f.Peek("error").KeySpan(), codeOutOfPlace, "\"error\" belongs to 0.6, and the definition says %s", p.form).
			WithHint("define the error in errors, and name it with errorRef")
	}
	f.Allow("error")
	e.code = f.Literal("code")
	e.retryRef = f.OptionalName("retryRef")
	if one := f.OptionalName("errorRef"); one != nil {
		e.errors = append(e.errors, &errorUse{node: one})
	}
	e.errors = append(e.errors, p.errorUses(f, "errorRefs")...)
	p.era(f, form06, form06, "code", "retryRef")
	e.exit = p.needExit(f)
	f.Done()
	return e
}

func (p *parser) errorUses(f *dialect.Fields, key string) []*errorUse {
	list, _ := f.List(key)
	var out []*errorUse
	for _, n := range list {
		if name := p.Named(n, "an error reference"); name != nil {
			out = append(out, &errorUse{node: name})
		}
	}
	return out
}
