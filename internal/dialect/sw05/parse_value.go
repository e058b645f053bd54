package sw05

import (
	"math"
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

// path reads an expression that stands by itself.
func (p *parser) path(n *dialect.Node) *path {
	if n == nil || !p.Is(n, expr.KindString, n.Name()) {
		return nil
	}
	if !startsExpression(n.Text) {
		p.notPath(n)
		return nil
	}
	p.Budget.Spend(len(n.Text))
	src := strings.TrimSpace(n.Text)
	if p.form.before05() && src == "$." { // "selects the entire state data" (0.1 §Using multiple filters)
		return &path{node: n, src: "$", Shape: jsonpath.Shape{Root: true, Definite: true, Keys: []string{}}}
	}
	shape, err := jsonpath.Describe(n.Text)
	if err != nil {
		p.Malformed(n, 0, codeExpression, "expression", err)
		return nil
	}
	p.Budget.Weigh(n, shape.Weight)
	if inner, ok := strings.CutPrefix(src, "{{"); ok {
		src = strings.TrimSpace(strings.TrimSuffix(inner, "}}"))
	}
	p.literals(n)
	return &path{node: n, src: src, Shape: shape}
}

func (p *parser) notPath(n *dialect.Node) {
	word := strings.TrimSpace(n.Text)
	d := p.Errorf(n, codeNotPath, "%s must be one expression, as in {{ $.name }}", n.Name())
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
	if p.form.before05() {
		return p.templateBefore05(n)
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
	p.Budget.Spend(1 + len(n.Text))
	if n.Kind != expr.KindString {
		return
	}
	weight, err := jsonpath.WeighTemplateString(n.Text)
	if err != nil {
		p.Malformed(n, 0, codeExpression, "expression", err)
		return
	}
	p.Budget.Weigh(n, weight)
	p.literals(n)
	if s := strings.TrimSpace(n.Text); strings.HasPrefix(s, "$.") || strings.HasPrefix(s, "$[") {
		if shape, err := jsonpath.Describe(s); err == nil && shape.Name != "" {
			p.Warnf(n, codeBarePath, "%q is text here, not an expression", s).WithHint("for an expression write {{ %s }}", s)
		}
	}
}

// duration reads an ISO 8601 duration, or an expression that gives one.
func (p *parser) duration(n *dialect.Node) *duration {
	if n == nil {
		return nil
	}
	if n.Kind != expr.KindString {
		p.Expected(n, n.Name(), "an ISO 8601 duration").
			WithHint(`as in "PT15M" for 15 minutes`)
		return nil
	}
	if p.form.braces() && hasExpression(n.Text) {
		return &duration{node: n, expr: p.template(n)}
	}
	value, err := calendar.ParseDuration(n.Text)
	if p.timeError(n, codeDuration, err) {
		return nil
	}
	return &duration{node: n, value: value}
}

// timeError points into a duration or interval that is malformed.
func (p *parser) timeError(n *dialect.Node, code string, err error) bool {
	if err == nil {
		return false
	}
	p.Malformed(n, 0, code, n.Name(), err)
	return true
}

// quantity reads a whole number not below least: as a number, as text, or as an
// expression that gives one.
func (p *parser) quantity(n *dialect.Node, least int64) *quantity {
	if n == nil {
		return nil
	}
	if n.Is(expr.KindString) && p.form.braces() && isExpression(n.Text) && hasExpression(n.Text) {
		return &quantity{node: n, expr: p.template(n)}
	}
	value, wrong := p.Whole(n, n.Name(), least, math.MaxInt64)
	if wrong != nil {
		if strings.HasPrefix(n.Text, "$") {
			wrong.WithHint("write {{ %s }}", n.Text)
		}
		return nil
	}
	return &quantity{node: n, value: value}
}
