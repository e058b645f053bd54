package catalogue

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// template is a value with {{ }} and secrets in it. Secrets are recognized only in the file,
// never in the result of {{ }}: an argument that reads ${env:NAME} stays as it is.
type template struct {
	program expr.Program // of a text without secrets
	parts   []part       // of a text with secrets
	keys    []string     // of an object
	items   []*template  // of an object or a list
	value   expr.Value   // of anything else
}

// part is a piece of text: a secret, or the result of a program.
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
		r.Errorf(n, codeSecret, "a secret is written ${env:NAME}, where NAME is an environment variable, or ${secret:NAME}")
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
	r.Malformed(n, from, codeExpr, "expression", err)
	return nil
}

// hasSecret reports whether the template contains a secret.
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
		return evalValue(t.program, args)
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
		v, err := evalValue(p.program, args)
		if err != nil {
			return "", err
		}
		out.WriteString(textOf(v))
	}
	return out.String(), nil
}

// evalValue is the result of a program.
func evalValue(p expr.Program, args expr.Value) (expr.Value, error) {
	budget := expr.NewBudget()
	r, err := p.Eval(args, &budget)
	return r.Value, err
}

// isNothing reports whether a path selected nothing: null, or a list without matches.
func isNothing(v expr.Value) bool { return v.IsNull() || v.IsArray() && v.Len() == 0 }

// textOf is a value as text; null is empty.
func textOf(v expr.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.Text()
}

// span is a piece of a text.
type span struct{ from, to int }

// expressions finds the {{ }} in a text. A malformed one ends with its first }}, or with the
// text.
func expressions(text string) []span {
	var out []span
	for at := 0; ; {
		i := strings.Index(text[at:], "{{")
		if i < 0 {
			return out
		}
		i += at
		at = i + 2
		before := strings.TrimRight(text[:i], "\\")
		if (i-len(before))%2 == 1 {
			continue // \{{ is text
		}
		found := span{i, len(text)}
		// An expression may contain }}, too: it ends with the first }} that makes it valid.
		for end := at; ; {
			j := strings.Index(text[end:], "}}")
			if j < 0 {
				break
			}
			end += j + 2
			if found.to == len(text) {
				found.to = end
			}
			if jsonpath.CheckTemplateString(text[i:end]) == nil {
				found.to = end
				break
			}
		}
		out = append(out, found)
		at = found.to
	}
}

// inside finds the expressions of a text that is more than one expression.
func (r *reader) inside(n *dialect.Node) []step {
	var out []step
	for _, e := range expressions(n.Text) {
		source := n.Text[e.from:e.to]
		if jsonpath.CheckTemplateString(source) == nil { // otherwise it was already reported
			out = append(out, step{program: r.program(n, e.from, e.to), source: source})
		}
	}
	if len(out) == 1 && out[0].source == strings.TrimSpace(n.Text) {
		return nil
	}
	return out
}

// literal unescapes a piece of text between expressions: \{{ is {{, and before a {{ two
// backslashes are one. more: an expression follows.
func literal(text string, more bool) string {
	kept := text
	if more {
		kept = strings.TrimRight(text, "\\")
	}
	var out strings.Builder
	for rest := kept; ; {
		before, after, ok := strings.Cut(rest, "{{")
		if !ok {
			out.WriteString(rest)
			break
		}
		plain := strings.TrimRight(before, "\\")
		out.WriteString(plain + strings.Repeat("\\", (len(before)-len(plain))/2) + "{{")
		rest = after
	}
	return out.String() + strings.Repeat("\\", (len(text)-len(kept))/2)
}

// single reports whether a text is one {{ }} and nothing else.
func single(text string) bool {
	trimmed := strings.TrimSpace(text)
	return strings.HasPrefix(trimmed, "{{") && strings.HasSuffix(trimmed, "}}") && strings.Count(trimmed, "{{") == 1
}

// invalidError is about the arguments of a call.
type invalidError struct{ text string }

func (e *invalidError) Error() string { return e.text }

func invalidf(format string, args ...any) error { return &invalidError{fmt.Sprintf(format, args...)} }
