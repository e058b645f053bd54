package jq

import (
	"errors"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Embedded returns the expression in a text that is, but for white space, ${ expression }, and
// where it begins in the text. It reports false for any other text.
func Embedded(text string) (src string, offset int, ok bool) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "${") || !strings.HasSuffix(trimmed, "}") || len(trimmed) < len("${}") {
		return "", 0, false
	}
	return trimmed[2 : len(trimmed)-1], strings.Index(text, "${") + 2, true
}

// piece is a part of a template: a constant, an expression or a container.
type piece struct {
	constant expr.Value
	expr     *expression
	items    []*piece
	keys     []string // of an object
	isObject bool
	part     int        // of an expression: how many are before it
	text     expr.Value // of an expression in a loose template: what it is written as
	parts    []*piece   // of a text with expressions in it: strings and expressions
}

func (p *piece) isConstant() bool { return p.expr == nil && p.items == nil && p.parts == nil }

// template is a template with expressions.
type template struct {
	root   *piece
	lang   string
	weight int
}

// template compiles JSON text.
func (c Compiler) template(src string) (expr.Program, error) {
	v, err := expr.ParseJSON([]byte(src))
	if err != nil {
		if bad := (*expr.ParseError)(nil); errors.As(err, &bad) {
			return nil, &expr.SyntaxError{Offset: bad.Offset, Msg: "invalid JSON: " + bad.Msg}
		}
		return nil, err
	}
	b := builder{compiler: c}
	root, err := b.value(v)
	if err != nil {
		return nil, b.located(src, err)
	}
	if root.isConstant() {
		return constant(root.constant), nil
	}
	return &template{root, c.lang, b.weight}, nil
}

// builder compiles the values of a template, in the order in which they are filled.
type builder struct {
	compiler Compiler
	parts    int // expressions so far
	weight   int // theirs

	bad   string // the text that does not compile
	badAt int    // where its expression begins
}

// located moves an error to its place in the JSON text of the template. That is exact for the
// compact text that front-ends write.
func (b *builder) located(src string, err error) error {
	at := (*expr.SyntaxError)(nil)
	if !errors.As(err, &at) {
		return err
	}
	moved := *at
	before := b.bad[:min(b.badAt+at.Offset, len(b.bad))]
	moved.Offset = max(0, strings.Index(src, string(expr.AppendQuoted(nil, b.bad)))) + len(expr.AppendQuoted(nil, before)) - 1
	moved.Offset = min(moved.Offset, len(src))
	return &moved
}

func (b *builder) value(v expr.Value) (*piece, error) {
	p := &piece{isObject: v.IsObject()}
	switch v.Kind() {
	case expr.KindString:
		return b.text(v)
	case expr.KindArray:
		for _, item := range v.Items() {
			one, err := b.value(item)
			if err != nil {
				return nil, err
			}
			p.items = append(p.items, one)
		}
	case expr.KindObject:
		for _, m := range v.Members() {
			one, err := b.value(m.Value)
			if err != nil {
				return nil, err
			}
			p.keys, p.items = append(p.keys, m.Key), append(p.items, one)
		}
	}
	for _, item := range p.items {
		if !item.isConstant() {
			return p, nil
		}
	}
	return &piece{constant: v}, nil
}

func (b *builder) text(v expr.Value) (*piece, error) {
	if b.compiler.lang == TextLang {
		return b.mixed(v)
	}
	src, offset, ok := Embedded(v.Str())
	if !ok {
		if b.compiler.lang != LooseLang {
			return &piece{constant: v}, nil
		}
		src = v.Str()
	}
	return b.embedded(v, src, offset)
}

// embedded compiles an expression at an offset of a string.
func (b *builder) embedded(v expr.Value, src string, offset int) (*piece, error) {
	e, err := b.compiler.expression(src)
	if err != nil && b.compiler.lang == LooseLang {
		return &piece{constant: v}, nil
	}
	if err != nil {
		b.bad, b.badAt = v.Str(), offset
		return nil, err
	}
	p := &piece{expr: e, part: b.parts, text: v}
	b.parts++
	b.weight += e.weight
	return p, nil
}

// constant is a template without expressions.
type constant expr.Value

// Eval returns the value and costs nothing.
func (c constant) Eval(expr.Value, *expr.Budget) (expr.Result, error) {
	return expr.Result{Value: expr.Value(c)}, nil
}

// Weight implements [expr.Weighed].
func (t *template) Weight() int { return t.weight }

// Eval fills the template, whose expressions must not use variables.
func (t *template) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	return t.EvalIn(expr.Scope{Data: data}, b)
}

// EvalIn implements [expr.Scoped].
func (t *template) EvalIn(in expr.Scope, b *expr.Budget) (expr.Result, error) {
	if t.lang == TextLang {
		if err := lend(&in, b); err != nil {
			return expr.Result{}, err
		}
	}
	if t.root.expr != nil { // there is no other, so that the error need not say which
		v, err := t.expression(t.root, in, b)
		return expr.Result{Value: v}, err
	}
	v, err := t.fill(t.root, in, b, 0)
	if err != nil {
		return expr.Result{}, err
	}
	return expr.Result{Value: v}, nil
}

// fill makes what stands depth levels deep in the result.
func (t *template) fill(p *piece, in expr.Scope, b *expr.Budget, depth int) (expr.Value, error) {
	switch {
	case p.expr != nil:
		v, err := t.expression(p, in, b)
		if err == nil {
			err = b.EmitValue(v, depth)
		}
		if err != nil {
			return expr.Null, &expr.PartError{Part: p.part, Src: strings.TrimSpace(p.expr.src), Err: err}
		}
		return v, nil
	case p.parts != nil:
		v, src, err := t.text(p, in, b)
		if err != nil {
			return expr.Null, &expr.PartError{Part: p.part, Src: src, Err: err}
		}
		return v, nil
	case p.items != nil:
		if err := b.Step(len(p.items)); err != nil {
			return expr.Null, err
		}
		if err := b.Emit(len(p.items)); err != nil {
			return expr.Null, err
		}
		values := make([]expr.Value, len(p.items))
		for i, item := range p.items {
			v, err := t.fill(item, in, b, depth+1)
			if err != nil {
				return expr.Null, err
			}
			values[i] = v
		}
		return container(p.keys, p.isObject, values), nil
	}
	return p.constant, nil
}

// expression evaluates a string. In a loose template it stands for itself where that fails.
func (t *template) expression(p *piece, in expr.Scope, b *expr.Budget) (expr.Value, error) {
	v, err := p.expr.value(in, b)
	if err != nil && t.lang == LooseLang {
		limit := (*expr.LimitError)(nil)
		if !errors.As(err, &limit) && !errors.Is(err, expr.ErrStopped) {
			return p.text, nil
		}
	}
	return v, err
}
