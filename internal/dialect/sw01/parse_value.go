package sw01

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

func quote(s string) string { return strconv.Quote(s) }

// shown is a scalar as a message shows it.
func shown(n *dialect.Node) string {
	if n.Is(expr.KindString) {
		return quote(n.Text)
	}
	return n.Raw()
}

// path reads a JSONPath.
func (p *parser) path(n *dialect.Node, what string) *path {
	if n == nil || !p.is(n, expr.KindString, what) {
		return nil
	}
	src := strings.TrimSpace(n.Text)
	if !strings.HasPrefix(src, "$") {
		d := p.r.Errorf(n, codeNotPath, "%s must be a JSONPath, as in $.name", what)
		if src != "" && !strings.ContainsAny(src, " \t\n{}") {
			d.WithHint("write $.%s", strings.TrimLeft(src, "."))
		}
		return nil
	}
	p.r.Budget.Spend(len(src))
	shape, err := jsonpath.Describe(src)
	if err != nil {
		p.expressionError(n, strings.Index(n.Text, src), err)
		return nil
	}
	p.r.Budget.Weigh(n, shape.Weight)
	return &path{node: n, src: src, Shape: shape}
}

// expressionError points into an expression that begins at an offset of the text.
func (p *parser) expressionError(n *dialect.Node, at int, err error) {
	var syntax *expr.SyntaxError
	if !errors.As(err, &syntax) {
		p.r.Errorf(n, codeExpression, "malformed path: %v", err)
		return
	}
	d := p.r.Errorf(n.ColumnIn(at+syntax.Offset), codeExpression, "malformed path: %s", syntax.Msg)
	if syntax.Hint != "" {
		d.WithHint("%s", syntax.Hint)
	}
}

// filter reads the three paths, on the object itself (001) or in its filter (004,
// 000). Both places are taken (SEMANTICS §Data filters 1).
func (p *parser) filter(f *fields) filter {
	inner := p.fields(f.get("filter"), "filter")
	out := filter{input: p.filterPath(f, inner, "inputPath"), output: p.filterPath(f, inner, "outputPath")}
	if r := p.filterPath(f, inner, "resultPath"); r != nil {
		out.result, out.resultNode = r.Keys, r.node
		if r.Keys == nil {
			p.r.Errorf(r.node, codeResultPath, "%s says where the result goes: it must be made of plain names, as in $.order.total", r.node.Name())
		}
	}
	inner.done()
	return out
}

// filterPath reads one path that may stand in two places and in any spelling: they are
// one, unless they differ.
func (p *parser) filterPath(f, inner *fields, key string) *path {
	var first *path
	for _, in := range []*fields{f, inner} {
		for _, n := range in.all(key) {
			one := p.path(n, n.Name())
			switch {
			case one == nil:
			case first == nil:
				first = one
			case one.src != first.src:
				p.r.Errorf(later(one.node, first.node), codeTwoFilters, "%s and %s mean the same filter, but differ: %s and %s",
					first.node.Name(), one.node.Name(), first.src, one.src)
			}
		}
	}
	return first
}

// eventFilter reads an event filter: it selects from the event (SEMANTICS §Data
// filters 4). The picture of the filters has no other path for events.
func (p *parser) eventFilter(f *fields) *path {
	inner := p.fields(f.get("filter"), "filter")
	var first *path
	for _, key := range []string{"inputPath", "dataInputPath", "dataOutputPath"} {
		one := p.filterPath(f, inner, key)
		switch {
		case one == nil:
		case first == nil:
			first = one
		case one.src != first.src:
			p.r.Errorf(later(one.node, first.node), codeTwoFilters, "%s and %s mean the same filter, but differ: %s and %s",
				first.node.Name(), one.node.Name(), first.src, one.src)
		}
	}
	for _, key := range []string{"resultPath", "outputPath"} {
		if one := p.filterPath(f, inner, key); one != nil {
			p.r.Warnf(one.node.KeySpan(), codeIgnored, "an event filter has no %s; it is ignored", one.node.Name()).
				WithHint("%s selects from the event; put %s on the state or the action", p.form.spell("inputPath"), one.node.Name())
		}
	}
	inner.done()
	return first
}

// isPath reports whether a parameter is a path and not text that costs $5.
func isPath(s string) bool {
	s = strings.TrimSpace(s)
	return s == "$" || strings.HasPrefix(s, "$.") || strings.HasPrefix(s, "$[")
}

// parameters checks the paths in them (SEMANTICS §Data filters 10).
func (p *parser) parameters(n *dialect.Node) {
	for _, item := range n.Items {
		p.parameters(item)
	}
	for _, m := range n.Members {
		p.parameters(m)
	}
	p.r.Budget.Spend(1 + len(n.Text))
	if n.Kind == expr.KindString && isPath(n.Text) {
		src := strings.TrimSpace(n.Text)
		shape, err := jsonpath.Describe(src)
		if err != nil {
			p.expressionError(n, strings.Index(n.Text, src), err)
		}
		p.r.Budget.Weigh(n, shape.Weight)
	}
}

var (
	numeric = regexp.MustCompile(`^\d+(\.\d+)?$`)
	dated   = regexp.MustCompile(`^\d{4}-?\d\d`)
)

// eventTimeout reads how long an event is waited for. Nothing is no time to wait: an
// action's 0 means none (004 §Action Definition), and nobody knows which was meant here.
func (p *parser) eventTimeout(f *fields) *amount {
	a := p.timeout(f)
	if a != nil && a.value.IsZero() {
		p.r.Errorf(a.node, codeTime, "%s is %s: no event can come in no time", f.spell("timeout"), shown(a.node)).
			WithHint("without %s it waits as long as it takes", f.spell("timeout"))
		return nil
	}
	return a
}

// timeout reads the timeout of an event or an action.
func (p *parser) timeout(f *fields) *amount {
	n := f.get("timeout")
	if n == nil {
		return nil
	}
	a := p.amount(n, f.spell("timeout"), false)
	if a != nil && a.value.IsZero() && !p.form.zeroDelay() {
		p.positive(n, f.spell("timeout"))
		return nil
	}
	return a
}

// delay reads how long a DELAY waits, or until when (SEMANTICS §Time).
func (p *parser) delay(f *fields) *amount {
	n := f.need("timeDelay")
	if n == nil {
		return nil
	}
	a := p.amount(n, f.spell("timeDelay"), true)
	if a != nil && a.until == "" && a.value.IsZero() && !p.form.zeroDelay() {
		p.positive(n, f.spell("timeDelay"))
		return nil
	}
	return a
}

func (p *parser) positive(n *dialect.Node, what string) {
	p.r.Errorf(n, codeTime, "%s must be a positive number of seconds, not %s", what, shown(n))
}

// amount reads an amount of time: a whole number of seconds (001, 004) or an ISO 8601
// duration, which the others take too; or an instant, where that is allowed.
func (p *parser) amount(n *dialect.Node, what string, instant bool) *amount {
	var written string
	switch n.Kind {
	case expr.KindString:
		written = strings.TrimSpace(n.Text)
	case expr.KindNumber:
		written = n.Text
	default:
		p.r.Errorf(n, codeType, "%s must be %s, not %s", what, p.amountWords(instant), article(n.Kind))
		return nil
	}
	switch {
	case numeric.MatchString(written):
		if !p.form.seconds() {
			p.r.Errorf(n, codeTime, "%s must be %s, not a bare number", what, p.amountWords(instant)).WithHint(`write "PT%sS" for %s seconds`, written, written)
			return nil
		}
		if strings.Contains(written, ".") {
			p.r.Errorf(n, codeSeconds, "%s must be a whole number of seconds, not %s", what, shown(n)).WithHint(`write "PT%sS" for %s seconds`, written, written)
			return nil
		}
		value, err := calendar.ParseDuration("PT" + written + "S")
		if err != nil {
			p.r.Errorf(n, codeTime, "%s is too long: %s", what, shown(n))
			return nil
		}
		return &amount{node: n, value: value}
	case n.Kind == expr.KindNumber || strings.HasPrefix(written, "-"):
		p.r.Errorf(n, codeTime, "%s must be %s, not %s", what, p.amountWords(instant), shown(n))
		return nil
	case instant && dated.MatchString(written):
		at, err := calendar.ParseInstant(written)
		if p.timeError(n, codeTime, what, err, "") {
			return nil
		}
		return &amount{node: n, until: at.Format("2006-01-02T15:04:05.999999999Z07:00")}
	}
	value, err := calendar.ParseDuration(written)
	if p.timeError(n, codeTime, what, err, p.amountHint(instant)) {
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
func (p *parser) timeError(n *dialect.Node, code, what string, err error, hint string) bool {
	if err == nil {
		return false
	}
	var syntax *calendar.SyntaxError
	if !errors.As(err, &syntax) {
		p.r.Errorf(n, code, "malformed %s: %v", what, err)
		return true
	}
	d := p.r.Errorf(n.ColumnIn(syntax.Offset), code, "malformed %s: %s", what, syntax.Msg)
	switch {
	case hint != "":
		d.WithHint("%s", hint)
	case syntax.Hint != "":
		d.WithHint("%s", syntax.Hint)
	}
	return true
}
