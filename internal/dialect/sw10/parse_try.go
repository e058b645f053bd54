package sw10

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// tryTask reads tasks whose errors are caught (Open Workflow §Try).
func (p *parser) tryTask(f *dialect.Fields, t *task) *tryTask {
	b := &tryTask{try: p.fullList(f.Get(kindTry), t.ref+"/try")}
	n := f.Need("catch")
	c := p.Fields(n, "catch")
	if c == nil {
		return b
	}
	b.catch = &catch{node: n}
	if errors := p.Fields(c.Get("errors"), "errors"); errors != nil {
		b.catch.filter = p.errorFilter(errors.Get("with"))
		errors.Done()
	}
	b.catch.as = p.variableName(c, "as", "error")
	p.with([]string{b.catch.as}, func() {
		b.catch.when = p.condition(c.Get("when"), p.in(taskBody, "catch.when"))
		b.catch.exceptWhen = p.condition(c.Get("exceptWhen"), p.in(taskBody, "catch.exceptWhen"))
		b.catch.retry = p.retry(c.Get("retry"), p.in(taskBody, "retry"))
		b.catch.do = p.list(c.Get("do"), t.ref+"/catch/do")
	})
	b.catch.then = p.directive(c.Get("then"))
	c.Done()
	return b
}

// errorFilter reads which errors are caught.
func (p *parser) errorFilter(n *dialect.Node) *errorFilter {
	f := p.Fields(n, "errors.with")
	if f == nil {
		return nil
	}
	e := &errorFilter{node: n, typ: p.constantText(f.Get("type")), status: f.Get("status")}
	if e.status != nil {
		if value, wrong := p.Whole(e.status, "status", 0, 999); wrong != nil {
			e.status = nil
		} else {
			e.statusValue = value
		}
	}
	e.instance = p.constantText(f.Get("instance"))
	e.title = p.constantText(f.Get("title"))
	e.detail = p.constantText(f.Get("detail"))
	if old := n.Get("details"); old != nil { // until 1.0.3
		if e.detail == nil {
			e.detail = p.constantText(old)
		}
		p.Warnf(old.Key, codeSpelling, "details is now called detail")
		f.Allow("details")
	}
	f.Done()
	if len(n.Members) == 0 {
		p.Errorf(n, codeEmpty, "errors.with must not be empty").WithHint("leave it out to catch all errors")
	}
	return e
}

// retry reads a policy, or the name of one of use.retries.
func (p *parser) retry(n *dialect.Node, s scope) use[retry] {
	switch {
	case n == nil:
		return use[retry]{}
	case n.Kind == expr.KindString:
		return use[retry]{name: p.Named(n, "retry"), scope: s}
	}
	return use[retry]{def: p.retryDef(n, s), scope: s}
}

// retryDef reads when and how often a try is repeated (Open Workflow §Retry).
func (p *parser) retryDef(n *dialect.Node, s scope) *retry {
	f := p.Fields(n, "retry")
	if f == nil {
		return nil
	}
	r := &retry{shared: shared{node: n}}
	r.when = p.condition(f.Get("when"), s)
	r.exceptWhen = p.condition(f.Get("exceptWhen"), s)
	r.delay = p.duration(f.Get("delay"), s)
	r.backoff = p.backoff(f.Get("backoff"))
	if limit := p.Fields(f.Get("limit"), "limit"); limit != nil {
		if attempt := p.Fields(limit.Get("attempt"), "attempt"); attempt != nil {
			if count := attempt.Get("count"); count != nil {
				r.attempts, _ = p.Whole(count, "count", 0, 1<<31-1)
				r.limited = true
			}
			r.attempt = p.duration(attempt.Get("duration"), s)
			attempt.Done()
		}
		r.within = p.duration(limit.Get("duration"), s)
		limit.Done()
	}
	if jitter := p.Fields(f.Get("jitter"), "jitter"); jitter != nil {
		r.jitterFrom = p.duration(jitter.Need("from"), s)
		r.jitterTo = p.duration(jitter.Need("to"), s)
		jitter.Done()
	}
	f.Done()
	return r
}

// backoff reads how the delay grows.
func (p *parser) backoff(n *dialect.Node) string {
	f := p.Fields(n, "backoff")
	if f == nil {
		return ""
	}
	var first *dialect.Node
	for _, kind := range []string{backoffConstant, backoffExponential, backoffLinear} {
		one := p.open(f.Get(kind))
		switch {
		case one == nil:
		case first != nil:
			f.Both(first, one)
		default:
			first = one
		}
	}
	f.Done()
	if len(n.Members) == 0 {
		p.Errorf(n.KeySpan(), codeMissing, "backoff needs one of constant, exponential, linear")
	}
	return first.Name()
}
