package jsonpath

import (
	"errors"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Escape writes text so that a template gives it as it is. Before {{ a single backslash
// makes the braces plain text, and backslashes that stand there already count double.
func Escape(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "{{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		slashes := len(before) - len(strings.TrimRight(before, `\`))
		b.WriteString(strings.Repeat(`\`, slashes+1) + "{{")
		s = after
	}
}

// HasExpression reports whether a string holds a {{ that is not written \{{.
func HasExpression(s string) bool {
	for {
		i, _, escaped := nextOpen(s)
		if i < 0 || !escaped {
			return i >= 0
		}
		s = s[i+2:]
	}
}

// CheckTemplateString reports what is wrong in a string with {{ }}. The offset of
// the *expr.SyntaxError counts bytes of s.
func CheckTemplateString(s string) error {
	_, err := WeighTemplateString(s)
	return err
}

// WeighTemplateString is CheckTemplateString, and returns the weight of the string's regular
// expressions, see [expr.Weighed].
func WeighTemplateString(s string) (weight int, err error) {
	t, err := compileString(s)
	if err != nil {
		return 0, err
	}
	return t.weight, nil
}

// nextOpen finds the next "{{", or -1. Before it, two backslashes stand for one,
// and a single one makes it a literal; slashes counts them.
func nextOpen(s string) (at, slashes int, escaped bool) {
	at = strings.Index(s, "{{")
	for at > slashes && s[at-1-slashes] == '\\' {
		slashes++
	}
	return at, slashes, slashes%2 == 1
}

// tmpl is a compiled template: exactly one of its forms.
type tmpl struct {
	constant expr.Value
	path     *path    // a string that is one expression
	parts    []part   // a string with expressions in it
	items    []*tmpl  // an array
	keys     []string // an object's, sorted, with items
	part     int      // of a string with expressions: how many are before it
	weight   int      // of a string: that of its regular expressions
}

// part is text, and the expression after it if there is one.
type part struct {
	text string
	path *path
}

func (t *tmpl) isConstant() bool { return t.path == nil && t.parts == nil && t.items == nil }

// Compile compiles JSON text in which strings may hold expressions. Keys are
// taken as they are.
func (TemplateCompiler) Compile(src string) (expr.Program, error) {
	v, err := expr.ParseJSON([]byte(src))
	if err != nil {
		if bad := (*expr.ParseError)(nil); errors.As(err, &bad) {
			return nil, &expr.SyntaxError{Offset: bad.Offset, Msg: "invalid JSON: " + bad.Msg}
		}
		return nil, err
	}
	b := new(builder)
	t, err := b.value(v)
	if err != nil {
		return nil, locate(src, err)
	}
	if t.isConstant() {
		return constant(t.constant), nil
	}
	return &template{t, b.weight}, nil
}

// builder compiles the values of a template, in the order in which they are filled.
type builder struct {
	parts  int // strings with expressions so far
	weight int // theirs
}

func (b *builder) value(v expr.Value) (*tmpl, error) {
	switch v.Kind() {
	case expr.KindString:
		t, err := compileString(v.Str())
		if err == nil && !t.isConstant() {
			t.part = b.parts
			b.parts++
			b.weight += t.weight
		}
		return t, err
	case expr.KindArray:
		items := make([]*tmpl, 0, v.Len())
		for _, it := range v.Items() {
			t, err := b.value(it)
			if err != nil {
				return nil, err
			}
			items = append(items, t)
		}
		return compose(nil, items), nil
	case expr.KindObject:
		keys, items := make([]string, 0, v.Len()), make([]*tmpl, 0, v.Len())
		for _, m := range v.Members() {
			t, err := b.value(m.Value)
			if err != nil {
				return nil, err
			}
			keys, items = append(keys, m.Key), append(items, t)
		}
		return compose(keys, items), nil
	}
	return &tmpl{constant: v}, nil
}

// compose builds a container; one of constants is a constant.
func compose(keys []string, items []*tmpl) *tmpl {
	t := &tmpl{keys: keys, items: items}
	for _, it := range items {
		if !it.isConstant() {
			return t
		}
	}
	values := make([]expr.Value, len(items))
	for i, it := range items {
		values[i] = it.constant
	}
	return &tmpl{constant: container(keys, values)}
}

func container(keys []string, values []expr.Value) expr.Value {
	if keys == nil {
		return expr.Array(values...)
	}
	members := make([]expr.Member, len(keys))
	for i, k := range keys {
		members[i] = expr.Member{Key: k, Value: values[i]}
	}
	return expr.Object(members...)
}

func compileString(s string) (*tmpl, error) {
	var parts []part
	var text strings.Builder
	paths := 0
	sc := &scanner{src: s}
	for {
		rest := s[sc.pos:]
		i, slashes, escaped := nextOpen(rest)
		if i < 0 {
			text.WriteString(rest)
			break
		}
		text.WriteString(rest[:i-slashes])
		text.WriteString(rest[:i][i-slashes : i-slashes+slashes/2])
		sc.pos += i + 2
		if escaped {
			text.WriteString("{{")
			continue
		}
		p, err := sc.embedded(sc.pos - 2)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{text.String(), p})
		text.Reset()
		paths++
	}
	if paths == 0 {
		return &tmpl{constant: expr.String(text.String())}, nil
	}
	if paths == 1 && isBlankText(parts[0].text) && isBlankText(text.String()) {
		return &tmpl{path: parts[0].path, weight: sc.weight}, nil
	}
	return &tmpl{parts: append(parts, part{text: text.String()}), weight: sc.weight}, nil
}

func isBlankText(s string) bool { return strings.TrimSpace(s) == "" }

// constant is a template without expressions.
type constant expr.Value

// Eval returns the value and costs nothing.
func (c constant) Eval(expr.Value, *expr.Budget) (expr.Result, error) {
	return expr.Result{Value: expr.Value(c)}, nil
}

// template is a template with expressions.
type template struct {
	root   *tmpl
	weight int
}

// Weight implements [expr.Weighed].
func (t *template) Weight() int { return t.weight }

// Eval fills the template from data. Where it is one string that is one
// expression, Missing and List are those of the expression.
func (t *template) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	return t.EvalIn(expr.Scope{Data: data}, b)
}

// EvalIn implements [expr.Scoped].
func (t *template) EvalIn(in expr.Scope, b *expr.Budget) (expr.Result, error) {
	f := filler{scope: scope{root: in.Data, lent: in.Lent, item: in.Data, budget: b}}
	if p := t.root.path; p != nil {
		v, ok, err := f.value(p)
		if err == nil && p.overlaps {
			err = b.EmitValue(v, 0)
		}
		if err != nil {
			return expr.Result{}, err
		}
		return expr.Result{Value: v, Missing: !ok, List: p.isList(), Holes: f.holes}, nil
	}
	v, err := f.fill(t.root, 0)
	if err != nil {
		return expr.Result{}, err
	}
	return expr.Result{Value: v, Holes: f.holes}, nil
}

type filler struct {
	scope
	holes []string
}

// fill builds what stands depth levels deep in the result.
func (f *filler) fill(t *tmpl, depth int) (expr.Value, error) {
	switch {
	case t.path != nil:
		v, _, err := f.value(t.path)
		if err == nil {
			err = f.budget.EmitValue(v, depth)
		}
		if err != nil {
			return expr.Null, &expr.PartError{Part: t.part, Src: t.path.src, Err: err}
		}
		return v, nil
	case t.parts != nil:
		v, at, err := f.text(t.parts)
		if err != nil {
			return expr.Null, &expr.PartError{Part: t.part, Src: at, Err: err}
		}
		return v, nil
	case t.items != nil:
		if err := f.budget.Step(len(t.items)); err != nil {
			return expr.Null, err
		}
		if err := f.budget.Emit(len(t.items)); err != nil {
			return expr.Null, err
		}
		values := make([]expr.Value, len(t.items))
		for i, it := range t.items {
			v, err := f.fill(it, depth+1)
			if err != nil {
				return expr.Null, err
			}
			values[i] = v
		}
		return container(t.keys, values), nil
	}
	return t.constant, nil
}

// value evaluates an expression that keeps its type. A definite path that
// selects nothing leaves null and a hole; no matches are an empty list.
func (f *filler) value(p *path) (expr.Value, bool, error) {
	v, ok, err := p.eval(f.scope)
	if err == nil && !ok && !p.isList() {
		f.holes = append(f.holes, p.src)
	}
	return v, ok, err
}

// text interpolates: null and nothing are empty, text stands as it is, everything
// else as compact JSON. An error says at which expression.
func (f *filler) text(parts []part) (_ expr.Value, at string, _ error) {
	var out []byte
	for _, p := range parts {
		if p.path != nil {
			at = p.path.src
		}
		if err := f.budget.Emit(len(p.text)); err != nil {
			return expr.Null, at, err
		}
		out = append(out, p.text...)
		if p.path == nil {
			continue
		}
		v, ok, err := p.path.eval(f.scope)
		switch {
		case err != nil:
			return expr.Null, at, err
		case !ok:
			f.holes = append(f.holes, p.path.src)
		case v.IsNull():
		case v.Kind() == expr.KindString:
			if err := f.budget.Emit(v.Len()); err != nil {
				return expr.Null, at, err
			}
			out = append(out, v.Str()...)
		default:
			if out, err = f.budget.AppendJSON(out, v); err != nil {
				return expr.Null, at, err
			}
		}
	}
	return expr.String(string(out)), at, nil
}
