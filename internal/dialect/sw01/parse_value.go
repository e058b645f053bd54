package sw01

import (
	"regexp"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// path reads a JSONPath.
func (p *parser) path(n *dialect.Node) *path {
	if n == nil || !p.Is(n, expr.KindString, n.Name()) {
		return nil
	}
	src := strings.TrimSpace(n.Text)
	if !strings.HasPrefix(src, "$") {
		d := p.Errorf(n, codeNotPath, "%s must be a JSONPath, as in $.name", n.Name())
		if src != "" && !strings.ContainsAny(src, " \t\n{}") {
			d.WithHint("write $.%s", strings.TrimLeft(src, "."))
		}
		return nil
	}
	p.Budget.Spend(len(src))
	shape, err := jsonpath.Describe(src)
	if err != nil {
		p.Malformed(n, strings.Index(n.Text, src), codeExpression, "path", err)
		return nil
	}
	p.Budget.Weigh(n, shape.Weight)
	return &path{node: n, src: src, Shape: shape}
}

// filter reads the three paths, on the object itself (E) or in its filter (K,
// C). Both places are taken (semantics.md §Data filters 1).
func (p *parser) filter(f *dialect.Fields) filter {
	inner := p.Fields(f.Get("filter"), "filter")
	out := filter{input: p.filterPath(f, inner, "inputPath"), output: p.filterPath(f, inner, "outputPath")}
	if r := p.filterPath(f, inner, "resultPath"); r != nil {
		out.result, out.resultNode = r.Keys, r.node
		if r.Keys == nil {
			p.Errorf(r.node, codeResultPath, "%s says where the result goes: it must be made of plain names, as in $.order.total", r.node.Name())
		}
	}
	inner.Done()
	return out
}

// filterPath reads one path that may stand in two places and in any spelling: they are
// one, unless they differ.
func (p *parser) filterPath(f, inner *dialect.Fields, key string) *path {
	var first *path
	for _, in := range []*dialect.Fields{f, inner} {
		for _, n := range in.All(key) {
			first = p.same(first, p.path(n))
		}
	}
	return first
}

// same returns the first of two paths that are one filter, and reports if they differ.
func (p *parser) same(first, one *path) *path {
	switch {
	case first == nil:
		return one
	case one != nil && one.src != first.src:
		p.Errorf(dialect.Later(one.node, first.node), codeTwoFilters, "%s and %s mean the same filter, but differ: %s and %s",
			first.node.Name(), one.node.Name(), first.src, one.src)
	}
	return first
}

// eventFilter reads an event filter: it selects from the event (semantics.md §Data
// filters 4). The picture of the filters has no other path for events.
func (p *parser) eventFilter(f *dialect.Fields) *path {
	inner := p.Fields(f.Get("filter"), "filter")
	var first *path
	for _, key := range []string{"inputPath", "dataInputPath", "dataOutputPath"} {
		first = p.same(first, p.filterPath(f, inner, key))
	}
	for _, key := range []string{"resultPath", "outputPath"} {
		if one := p.filterPath(f, inner, key); one != nil {
			p.Warnf(one.node.KeySpan(), codeIgnored, "an event filter has no %s; it is ignored", one.node.Name()).
				WithHint("%s selects from the event; put %s on the state or the action", p.form.spell("inputPath"), one.node.Name())
		}
	}
	inner.Done()
	return first
}

// isPath reports whether a parameter is a path and not text that costs $5.
func isPath(s string) bool {
	s = strings.TrimSpace(s)
	return s == "$" || strings.HasPrefix(s, "$.") || strings.HasPrefix(s, "$[")
}

// parameters checks the paths in them (semantics.md §Data filters 10).
func (p *parser) parameters(n *dialect.Node) {
	for _, item := range n.Items {
		p.parameters(item)
	}
	for _, m := range n.Members {
		p.parameters(m)
	}
	p.Budget.Spend(1 + len(n.Text))
	if n.Kind == expr.KindString && isPath(n.Text) {
		src := strings.TrimSpace(n.Text)
		shape, err := jsonpath.Describe(src)
		if err != nil {
			p.Malformed(n, strings.Index(n.Text, src), codeExpression, "path", err)
		}
		p.Budget.Weigh(n, shape.Weight)
	}
}

var (
	numeric = regexp.MustCompile(`^\d+(\.\d+)?$`)
	dated   = regexp.MustCompile(`^\d{4}-?\d\d`)
)

// eventTimeout reads how long an event is waited for. Nothing is no time to wait: an
// action's 0 means none (0.1 K §Action Definition), and nobody knows which was meant here.
func (p *parser) eventTimeout(f *dialect.Fields) *amount {
	a := p.timeout(f)
	if a != nil && a.value.IsZero() {
		p.Errorf(a.node, codeTime, "%s must be positive, not %s: no event could arrive in time", a.node.Name(), a.node.Quoted()).
			WithHint("without %s it waits as long as it takes", a.node.Name())
		return nil
	}
	return a
}

// timeout reads the timeout of an event or an action.
func (p *parser) timeout(f *dialect.Fields) *amount {
	n := f.Get("timeout")
	if n == nil {
		return nil
	}
	a := p.amount(n, false)
	if a != nil && a.value.IsZero() && !p.form.zeroDelay() {
		p.positive(n)
		return nil
	}
	return a
}

// delay reads how long a DELAY waits, or until when (semantics.md §Time).
func (p *parser) delay(f *dialect.Fields) *amount {
	n := f.Need("timeDelay")
	if n == nil {
		return nil
	}
	a := p.amount(n, true)
	if a != nil && a.until == "" && a.value.IsZero() && !p.form.zeroDelay() {
		p.positive(n)
		return nil
	}
	return a
}

func (p *parser) positive(n *dialect.Node) {
	p.Errorf(n, codeTime, "%s must be a positive number of seconds, not %s", n.Name(), n.Quoted())
}

// amount reads an amount of time: a whole number of seconds (E, K) or an ISO 8601
// duration, which the others take too; or an instant, where that is allowed.
func (p *parser) amount(n *dialect.Node, instant bool) *amount {
	what := n.Name()
	var written string
	switch n.Kind {
	case expr.KindString:
		written = strings.TrimSpace(n.Text)
	case expr.KindNumber:
		written = n.Text
	default:
		p.Expected(n, what, p.amountWords(instant))
		return nil
	}
	switch {
	case numeric.MatchString(written):
		if !p.form.seconds() {
			p.Errorf(n, codeTime, "%s must be %s, not a bare number", what, p.amountWords(instant)).WithHint(`write "PT%sS" for %s seconds`, written, written)
			return nil
		}
		if strings.Contains(written, ".") {
			p.Errorf(n, codeSeconds, "%s must be a whole number of seconds, not %s", what, n.Quoted()).WithHint(`write "PT%sS" for %s seconds`, written, written)
			return nil
		}
		value, err := calendar.ParseDuration("PT" + written + "S")
		if err != nil {
			p.Errorf(n, codeTime, "%s is too long: %s", what, n.Quoted())
			return nil
		}
		return &amount{node: n, value: value}
	case n.Kind == expr.KindNumber || strings.HasPrefix(written, "-"):
		p.Errorf(n, codeTime, "%s must be %s, not %s", what, p.amountWords(instant), n.Quoted())
		return nil
	case instant && dated.MatchString(written):
		at, err := calendar.ParseInstant(written)
		if p.timeError(n, codeTime, err, "") {
			return nil
		}
		return &amount{node: n, until: at.Format("2006-01-02T15:04:05.999999999Z07:00")}
	}
	value, err := calendar.ParseDuration(written)
	if p.timeError(n, codeTime, err, p.amountHint(instant)) {
		return nil
	}
	return &amount{node: n, value: value}
}

func (p *parser) amountWords(instant bool) string {
	words := "an ISO 8601 duration"
	if p.form.seconds() {
		words = "a whole number of seconds"
	}
	if instant {
		words += " or an instant"
	}
	return words
}

// amountHint tells how an amount of time may be written, where that is more than one way.
func (p *parser) amountHint(instant bool) string {
	const until = "an instant as in 2026-03-01T22:00:00Z"
	switch {
	case p.form.seconds() && instant:
		return "it is a whole number of seconds, an ISO 8601 duration as in PT15M, or " + until
	case p.form.seconds():
		return "it is a whole number of seconds, or an ISO 8601 duration as in PT15M"
	case instant:
		return "it is an ISO 8601 duration as in PT15M, or " + until
	}
	return ""
}

// timeError points into a duration that is malformed.
func (p *parser) timeError(n *dialect.Node, code string, err error, hint string) bool {
	if err == nil {
		return false
	}
	d := p.Malformed(n, 0, code, n.Name(), err)
	if hint != "" {
		d.Hint = hint
	}
	return true
}
