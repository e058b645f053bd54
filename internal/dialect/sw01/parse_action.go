package sw01

import (
	"math"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// actions reads the action mode and the actions. An OPERATION without actions only
// filters (001 §示例: UpdateArg).
func (p *parser) actions(f *fields) actions {
	mode, _ := f.choice("actionMode", "SEQUENTIAL", "PARALLEL")
	out := actions{parallel: mode == "PARALLEL"}
	list, given := f.list("actions")
	if !given {
		f.missing("actions").WithHint("an empty list does nothing: []")
	}
	for _, n := range list {
		if a := p.action(n); a != nil {
			out.list = append(out.list, a)
		}
	}
	return out
}

// action reads 001 §动作定义, 004 and 000 §Action Definition.
func (p *parser) action(n *dialect.Node) *action {
	f := p.fields(n, "action")
	if f == nil {
		return nil
	}
	a := &action{node: n, function: p.function(f.need("function"))}
	if a.function != nil && a.function.name != nil {
		f.what = "action " + quote(a.function.name.Text)
	}
	a.timeout = p.timeout(f)
	if a.timeout != nil && a.timeout.value.IsZero() && a.timeout.until == "" {
		a.timeout = nil // 004 §Action Definition: the default, 0, is none
	}
	a.filter = p.filter(f)
	if r := f.get("retry"); r != nil {
		a.retries = p.retries(r)
	}
	f.done()
	if a.function == nil || a.function.name == nil {
		return nil
	}
	return a
}

// function reads a name, or 004 and 000 §Function Definition. Both are taken in every
// form: 000's own examples write names.
func (p *parser) function(n *dialect.Node) *function {
	switch {
	case n == nil:
		return nil
	case n.Kind == expr.KindString:
		return &function{name: p.nonEmpty(n, n.Name())}
	case n.Kind != expr.KindObject:
		p.r.Errorf(n, codeType, "%s must be a name or an object with a name, not %s", n.Name(), article(n.Kind))
		return nil
	}
	f := p.fields(n, "function")
	out := &function{name: f.name("name"), typ: f.optionalName("type"), parameters: f.typed("parameters", expr.KindObject)}
	if out.parameters != nil {
		p.parameters(out.parameters)
	}
	f.done()
	p.job(out)
	return out
}

// job checks a function whose type is job:WORKFLOW: this version has no other place to
// say what a function stands for. Without parameters it gets the data.
func (p *parser) job(f *function) {
	if f.typ == nil || f.name == nil {
		return
	}
	check := dialect.JobCheck{
		Report: p.r, Hints: &p.Hinter, BadName: codeJobName, BadArguments: codeJobArguments, Unknown: codeJobUnknown, Expression: isPath,
	}
	if check.Operation(f.typ) && f.parameters != nil {
		check.Arguments(f.name, f.name.Text, f.parameters)
	}
}

// retries reads one retry or a list of them (SEMANTICS §Functions, events, errors).
func (p *parser) retries(n *dialect.Node) []*retry {
	items := []*dialect.Node{n}
	if n.Kind == expr.KindArray {
		items = n.Items
	}
	var out []*retry
	for _, item := range items {
		f := p.fields(item, "retry")
		if f == nil {
			continue
		}
		r := &retry{node: item, match: p.match(f)}
		times := p.interval(r, f)
		p.maxRetry(r, f, times)
		r.next = ref(f.optionalName("nextState"))
		f.done()
		if r.match != nil {
			out = append(out, r)
		}
	}
	return out
}

// match reads what a retry is for: the name or code of an error, or a result, which
// may be a number or a boolean.
func (p *parser) match(f *fields) *dialect.Node {
	n := f.need("match")
	if n == nil {
		return nil
	}
	switch n.Kind {
	case expr.KindString:
		return p.nonEmpty(n, f.spell("match"))
	case expr.KindNumber, expr.KindBool:
		return n
	}
	p.is(n, expr.KindString, f.spell("match"))
	return nil
}

// interval reads the time between attempts; 000 repeats it: R5/PT15M. It returns how
// often, −1 where that is not said.
func (p *parser) interval(r *retry, f *fields) int {
	n := f.get("retryInterval")
	if n == nil {
		return -1
	}
	if n.Kind != expr.KindString || !strings.HasPrefix(n.Text, "R") {
		r.interval = p.amount(n, f.spell("retryInterval"), false)
		return -1
	}
	repeat, err := calendar.ParseRepeat(n.Text)
	if p.timeError(n, codeRepeat, f.spell("retryInterval"), err, "") {
		return -1
	}
	r.interval = &amount{node: n, value: repeat.Every}
	if repeat.Times < 0 {
		return math.MaxInt32
	}
	return repeat.Times
}

// maxRetry reads how often a call is tried again. Without it the interval may say so;
// else it is 0, the default of 004 and 000.
func (p *parser) maxRetry(r *retry, f *fields, times int) {
	n := f.get("maxRetry")
	if n == nil {
		if r.max = max(times, 0); times < 0 && r.interval != nil {
			p.r.Warnf(f.node, codeNoRetries, "the retry has no %s: nothing is tried again", p.form.spell("maxRetry")).
				WithHint("its default is 0")
		}
		return
	}
	value, ok := int64(0), false
	switch n.Kind {
	case expr.KindNumber:
		value, ok = n.Int()
	case expr.KindString:
		v, err := strconv.ParseInt(strings.TrimSpace(n.Text), 10, 64)
		value, ok = v, err == nil
	default:
		p.r.Errorf(n, codeType, "%s must be a whole number, not %s", f.spell("maxRetry"), article(n.Kind))
		return
	}
	if !ok || value < 0 || value > math.MaxInt32 {
		p.r.Errorf(n, codeNumber, "%s must be a whole number from 0, not %s", f.spell("maxRetry"), shown(n)).
			WithHint("0 means that nothing is tried again")
		return
	}
	if r.max = int(value); times >= 0 {
		r.max = min(r.max, times)
	}
}
