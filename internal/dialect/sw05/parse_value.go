package sw05

import (
	"errors"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// path is an expression that selects from data: {{ $.x }}, or $.x by itself in
// the parameters that are always a path.
type path struct {
	node *dialect.Node
	src  string // without braces and blanks around
	jsonpath.Shape
}

// template is a value in which every string may hold expressions.
type template struct {
	node  *dialect.Node
	value expr.Value
}

// constant reports whether the template holds no expression.
func (t *template) constant() bool { return !anyExpression(t.value) }

func anyExpression(v expr.Value) bool {
	for _, item := range v.Items() {
		if anyExpression(item) {
			return true
		}
	}
	for _, m := range v.Members() {
		if anyExpression(m.Value) {
			return true
		}
	}
	return hasExpression(v.Str())
}

func hasExpression(s string) bool { return jsonpath.HasExpression(s) }

// isExpression reports whether the text is one expression and nothing else.
func isExpression(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "$") ||
		strings.HasPrefix(s, "{{") && strings.HasSuffix(s, "}}") && strings.Count(s, "{{") == 1
}

// startsExpression reports whether the text begins as one expression, though it
// may be malformed.
func startsExpression(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "$") || strings.HasPrefix(s, "{{") && strings.Count(s, "{{") == 1
}

// shown is a scalar as a message shows it.
func shown(n *dialect.Node) string {
	if n.Is(expr.KindString) {
		return strconv.Quote(n.Text)
	}
	return n.Raw()
}

// path reads an expression that stands by itself.
func (p *parser) path(n *dialect.Node, what string) *path {
	if n == nil || !p.is(n, expr.KindString, what) {
		return nil
	}
	if !startsExpression(n.Text) {
		p.notPath(n, what)
		return nil
	}
	p.r.Budget.Spend(len(n.Text))
	shape, err := jsonpath.Describe(n.Text)
	if err != nil {
		p.expressionError(n, err)
		return nil
	}
	p.r.Budget.Weigh(n, shape.Weight)
	src := strings.TrimSpace(n.Text)
	if inner, ok := strings.CutPrefix(src, "{{"); ok {
		src = strings.TrimSpace(strings.TrimSuffix(inner, "}}"))
	}
	p.literals(n)
	return &path{node: n, src: src, Shape: shape}
}

func (p *parser) notPath(n *dialect.Node, what string) {
	word := strings.TrimSpace(n.Text)
	d := p.r.Errorf(n, codeNotPath, "%s must be one expression, as in {{ $.name }}", what)
	switch {
	case strings.Contains(word, "{{"):
		d.WithHint("remove the text around {{ }}")
	case word != "" && !strings.ContainsAny(word, " \t\n"):
		d.WithHint("write {{ $.%s }}", strings.TrimLeft(word, "."))
	}
}

// template reads a value in which strings may hold expressions.
func (p *parser) template(n *dialect.Node) *template {
	if n == nil {
		return nil
	}
	p.strings(n)
	return &template{node: n, value: n.Value()}
}

func (p *parser) strings(n *dialect.Node) {
	for _, item := range n.Items {
		p.strings(item)
	}
	for _, m := range n.Members {
		p.strings(m)
	}
	p.r.Budget.Spend(1 + len(n.Text))
	if n.Kind != expr.KindString {
		return
	}
	weight, err := jsonpath.WeighTemplateString(n.Text)
	if err != nil {
		p.expressionError(n, err)
		return
	}
	p.r.Budget.Weigh(n, weight)
	p.literals(n)
	if s := strings.TrimSpace(n.Text); strings.HasPrefix(s, "$.") || strings.HasPrefix(s, "$[") {
		if shape, err := jsonpath.Describe(s); err == nil && shape.Name != "" {
			p.r.Warnf(n, codeBarePath, "%q is text here, not an expression", s).WithHint("for an expression write {{ %s }}", s)
		}
	}
}

// expressionError points into the expression.
func (p *parser) expressionError(n *dialect.Node, err error) {
	var syntax *expr.SyntaxError
	if !errors.As(err, &syntax) {
		p.r.Errorf(n, codeExpression, "malformed expression: %v", err)
		return
	}
	d := p.r.Errorf(n.ColumnIn(syntax.Offset), codeExpression, "malformed expression: %s", syntax.Msg)
	if syntax.Hint != "" {
		d.WithHint("%s", syntax.Hint)
	}
}

// duration reads an ISO 8601 duration, or an expression that gives one.
func (p *parser) duration(n *dialect.Node) *duration {
	if n == nil {
		return nil
	}
	what := n.Name()
	if n.Kind != expr.KindString {
		p.r.Errorf(n, codeType, "%s must be an ISO 8601 duration, not %s", what, article(n.Kind)).
			WithHint(`as in "PT15M" for 15 minutes`)
		return nil
	}
	if hasExpression(n.Text) {
		return &duration{node: n, expr: p.template(n)}
	}
	value, err := calendar.ParseDuration(n.Text)
	if p.timeError(n, codeDuration, what, err) {
		return nil
	}
	return &duration{node: n, value: value}
}

// timeError points into a duration, interval or cron expression that is malformed.
func (p *parser) timeError(n *dialect.Node, code, what string, err error) bool {
	if err == nil {
		return false
	}
	var syntax *calendar.SyntaxError
	if !errors.As(err, &syntax) {
		p.r.Errorf(n, code, "malformed %s: %v", what, err)
		return true
	}
	d := p.r.Errorf(n.ColumnIn(syntax.Offset), code, "malformed %s: %s", what, syntax.Msg)
	if syntax.Hint != "" {
		d.WithHint("%s", syntax.Hint)
	}
	return true
}

// quantity reads a whole number not below least: as a number, as text, or as an
// expression that gives one.
func (p *parser) quantity(n *dialect.Node, least int64) *quantity {
	if n == nil {
		return nil
	}
	var value int64
	ok := false
	switch n.Kind {
	case expr.KindNumber:
		value, ok = n.Int()
	case expr.KindString:
		if isExpression(n.Text) && hasExpression(n.Text) {
			return &quantity{node: n, expr: p.template(n)}
		}
		v, err := strconv.ParseInt(strings.TrimSpace(n.Text), 10, 64)
		value, ok = v, err == nil
	default:
		p.r.Errorf(n, codeType, "%s must be a whole number, not %s", n.Name(), article(n.Kind))
		return nil
	}
	if !ok || value < least {
		d := p.r.Errorf(n, codeNumber, "%s must be a whole number from %d, not %s", n.Name(), least, shown(n))
		if strings.HasPrefix(n.Text, "$") {
			d.WithHint("write {{ %s }}", n.Text)
		}
		return nil
	}
	return &quantity{node: n, value: value}
}
