package sw01

import (
	"math"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// actions reads the action mode and the actions. An OPERATION without actions only
// filters (0.1 E §示例: UpdateArg).
func (p *parser) actions(f *dialect.Fields) actions {
	mode, _ := f.ChoiceFold("actionMode", "SEQUENTIAL", "PARALLEL")
	list, given := f.List("actions")
	if !given {
		f.Missing("actions").WithHint("an empty list does nothing: []")
	}
	return actions{list: dialect.Each(list, p.action), parallel: mode == "PARALLEL"}
}

// action reads 0.1 E §动作定义, 0.1 K and 0.1 C §Action Definition.
func (p *parser) action(n *dialect.Node) *action {
	f := p.Fields(n, "an action")
	if f == nil {
		return nil
	}
	a := &action{node: n, function: p.function(f.Need("function"))}
	if a.function != nil {
		f.Called(a.function.name)
	}
	a.timeout = p.timeout(f)
	if a.timeout != nil && a.timeout.value.IsZero() && a.timeout.until == "" {
		a.timeout = nil // 0.1 K §Action Definition: the default, 0, is none
	}
	a.filter = p.filter(f)
	if r := f.Get("retry"); r != nil {
		a.retries = p.retries(r)
	}
	f.Done()
	if a.function == nil || a.function.name == nil {
		return nil
	}
	return a
}

// function reads a name, or 0.1 K and 0.1 C §Function Definition. Both are taken in every
// form: C's own examples write names.
func (p *parser) function(n *dialect.Node) *function {
	switch {
	case n == nil:
		return nil
	case n.Kind == expr.KindString:
		return &function{name: p.NonEmpty(n, n.Name())}
	case n.Kind != expr.KindObject:
		p.Expected(n, n.Name(), "a name or an object with a name")
		return nil
	}
	f := p.Fields(n, "a function")
	out := &function{name: f.Name("name"), typ: f.OptionalName("type"), parameters: f.Typed("parameters", expr.KindObject)}
	if out.parameters != nil {
		p.parameters(out.parameters)
	}
	f.Done()
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
		Report: p.Reporter, Hints: &p.Hinter, BadName: codeJobName, BadArguments: codeJobArguments, Unknown: codeJobUnknown, Expression: isPath,
	}
	if check.Operation(f.typ) && f.parameters != nil {
		check.Arguments(f.name, f.name.Text, f.parameters)
	}
}

// retries reads one retry or a list of them (semantics.md §Functions, events, errors).
func (p *parser) retries(n *dialect.Node) []*retry {
	items := []*dialect.Node{n}
	if n.Kind == expr.KindArray {
		items = n.Items
	}
	var out []*retry
	for _, item := range items {
		f := p.Fields(item, "a retry")
		if f == nil {
			continue
		}
		r := &retry{node: item, match: p.match(f)}
		times := p.interval(r, f)
		p.maxRetry(r, f, times)
		r.next = ref(f.OptionalName("nextState"))
		f.Done()
		if r.match != nil {
			out = append(out, r)
		}
	}
	return out
}

// match reads what a retry is for: the name or code of an error, or a result, which
// may be a number or a boolean.
func (p *parser) match(f *dialect.Fields) *dialect.Node {
	n := f.Need("match")
	if n == nil {
		return nil
	}
	switch n.Kind {
	case expr.KindString:
		return p.NonEmpty(n, n.Name())
	case expr.KindNumber, expr.KindBool:
		return n
	}
	p.Is(n, expr.KindString, n.Name())
	return nil
}

// interval reads the time between attempts; C repeats it: R5/PT15M. It returns how
// often, −1 where that is not said.
func (p *parser) interval(r *retry, f *dialect.Fields) int {
	n := f.Get("retryInterval")
	if n == nil {
		return -1
	}
	if n.Kind != expr.KindString || !strings.HasPrefix(n.Text, "R") {
		r.interval = p.amount(n, false)
		return -1
	}
	repeat, err := calendar.ParseRepeat(n.Text)
	if p.timeError(n, codeRepeat, err, "") {
		return -1
	}
	r.interval = &amount{node: n, value: repeat.Every}
	if repeat.Times < 0 {
		return math.MaxInt32
	}
	return repeat.Times
}

// maxRetry reads how often a call is tried again. Without it the interval may say so;
// else it is 0, the default of K and C.
func (p *parser) maxRetry(r *retry, f *dialect.Fields, times int) {
	n := f.Get("maxRetry")
	if n == nil {
		if r.max = max(times, 0); times < 0 && r.interval != nil {
			p.Warnf(f.Node, codeNoRetries, "the retry has no %s: nothing is retried", p.form.spell("maxRetry")).
				WithHint("its default is 0")
		}
		return
	}
	value, wrong := p.Whole(n, n.Name(), 0, math.MaxInt32)
	if wrong != nil {
		wrong.WithHint("0 means no retries")
		return
	}
	if r.max = int(value); times >= 0 {
		r.max = min(r.max, times)
	}
}
