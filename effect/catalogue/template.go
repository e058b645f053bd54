package catalogue

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/expr/jsonpath"
)

// template is a value with {{ }} and secrets in it. Secrets are found in the file alone,
// never in what {{ }} gives: an argument that reads ${env:NAME} stays what it is.
type template struct {
	program expr.Program // of a text without secrets
	parts   []part       // of a text with secrets
	keys    []string     // of an object
	items   []*template  // of an object or a list
	value   expr.Value   // of anything else
}

// part is a piece of text: a secret, or what a program gives.
type part struct {
	secret  string
	program expr.Program
}

// template compiles a value of the file.
func (r *reader) template(n *dialect.Node) *template {
	t := &template{}
	switch n.Kind {
	case expr.KindString:
		r.text(n, t)
	case expr.KindObject:
		t.items = []*template{}
		for _, m := range n.Members {
			t.keys = append(t.keys, m.Name())
			t.items = append(t.items, r.template(m))
		}
		if len(t.keys) == 0 {
			return &template{value: expr.EmptyObject}
		}
	case expr.KindArray:
		if len(n.Items) == 0 {
			return &template{value: expr.Array()}
		}
		for _, item := range n.Items {
			t.items = append(t.items, r.template(item))
		}
	default:
		t.value = n.Value()
	}
	return t
}

func (r *reader) text(n *dialect.Node, t *template) {
	r.secretsIn(n)
	matches := secretRef.FindAllStringSubmatchIndex(n.Text, -1)
	if len(matches) == 0 {
		t.program = r.program(n, 0, len(n.Text))
		return
	}
	last := 0
	for _, m := range matches {
		if m[0] > last {
			t.parts = append(t.parts, part{program: r.program(n, last, m[0])})
		}
		t.parts = append(t.parts, part{secret: n.Text[m[2]:m[3]]})
		last = m[1]
	}
	if last < len(n.Text) {
		t.parts = append(t.parts, part{program: r.program(n, last, len(n.Text))})
	}
}

// secretsIn reports references to secrets that are not well-formed.
func (r *reader) secretsIn(n *dialect.Node) {
	if looksSecret(secretRef.ReplaceAllString(n.Text, "")) {
		r.report.Errorf(n, codeSecret, "a secret is written ${env:NAME}, where NAME is that of an environment variable")
	}
}

// program compiles Text[from:to] of a string.
func (r *reader) program(n *dialect.Node, from, to int) expr.Program {
	text := n.Text[from:to]
	err := jsonpath.CheckTemplateString(text)
	if err == nil {
		var p expr.Program
		if p, err = (jsonpath.TemplateCompiler{}).Compile(expr.String(text).String()); err == nil {
			return p
		}
	}
	var syntax *expr.SyntaxError
	if errors.As(err, &syntax) {
		d := r.report.Errorf(n.ColumnIn(from+syntax.Offset), codeExpr, "malformed expression: %s", syntax.Msg)
		if syntax.Hint != "" {
			d.WithHint("%s", syntax.Hint)
		}
	} else {
		r.report.Errorf(n, codeExpr, "malformed expression: %v", err)
	}
	return nil
}

// hasSecret reports whether a secret stands anywhere in the template.
func (t *template) hasSecret() bool {
	if t == nil {
		return false
	}
	for _, p := range t.parts {
		if p.secret != "" {
			return true
		}
	}
	for _, item := range t.items {
		if item.hasSecret() {
			return true
		}
	}
	return false
}

// fill computes the value from the arguments of a call.
func (t *template) fill(args expr.Value, s *secrets) (expr.Value, error) {
	switch {
	case t.program != nil:
		budget := expr.NewBudget()
		r, err := t.program.Eval(args, &budget)
		return r.Value, err
	case t.parts != nil:
		text, err := fillText(t.parts, args, s)
		return expr.String(text), err
	case t.items == nil:
		return t.value, nil
	}
	values := make([]expr.Value, len(t.items))
	for i, item := range t.items {
		var err error
		if values[i], err = item.fill(args, s); err != nil {
			return expr.Null, err
		}
	}
	if t.keys == nil {
		return expr.Array(values...), nil
	}
	members := make([]expr.Member, len(values))
	for i, v := range values {
		members[i] = expr.Member{Key: t.keys[i], Value: v}
	}
	return expr.Object(members...), nil
}

func fillText(parts []part, args expr.Value, s *secrets) (string, error) {
	var out strings.Builder
	for _, p := range parts {
		if p.secret != "" {
			value, err := s.resolve(p.secret)
			if err != nil {
				return "", err
			}
			out.WriteString(value)
			continue
		}
		text, err := evalText(p.program, args)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// evalText is what a program gives, as text; null and nothing are empty.
func evalText(p expr.Program, args expr.Value) (string, error) {
	budget := expr.NewBudget()
	r, err := p.Eval(args, &budget)
	switch {
	case err != nil:
		return "", err
	case r.Value.IsNull():
		return "", nil
	case r.Value.Kind() == expr.KindString:
		return r.Value.Str(), nil
	}
	return r.Value.String(), nil
}

// single compiles a text that is one {{ }} and nothing else, and says whether it is one.
func single(text string) bool {
	trimmed := strings.TrimSpace(text)
	return strings.HasPrefix(trimmed, "{{") && strings.HasSuffix(trimmed, "}}") && strings.Count(trimmed, "{{") == 1
}

// invalidError is about the arguments of a call.
type invalidError struct{ text string }

func (e *invalidError) Error() string { return e.text }

func invalidf(format string, args ...any) error { return &invalidError{fmt.Sprintf(format, args...)} }
