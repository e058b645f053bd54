package sw10

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/jqvar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// undelimited returns the expression in a text that is ${ … } as a whole, blanks aside, and where
// it begins.
func undelimited(text string) (src string, begin int, ok bool) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "${") || !strings.HasSuffix(trimmed, "}") || len(trimmed) < len("${}") {
		return "", 0, false
	}
	inner := trimmed[2 : len(trimmed)-1]
	src = strings.TrimSpace(inner)
	begin = strings.Index(text, "${") + 2 + len(inner) - len(strings.TrimLeft(inner, " \t\r\n"))
	return src, begin, true
}

// compiled is what is known of the text of an expression.
type compiled struct {
	vars []jqvar.Use
	err  error
}

// jq looks at an expression once, wherever it stands.
func (p *parser) jq(src string) compiled {
	c, known := p.compiled[src]
	if !known {
		p.Budget.Spend(len(src))
		c.vars, c.err = jqvar.Find(src)
		p.compiled[src] = c
	}
	return c
}

// uses returns the variables of an expression that begins somewhere in a text.
func uses(n *dialect.Node, begin int, vars []jqvar.Use) []varUse {
	out := make([]varUse, len(vars))
	for i, v := range vars {
		v.Offset += begin
		out[i] = varUse{v, n}
	}
	return out
}

// expression reads a text that is always an expression, with or without ${ }.
func (p *parser) expression(n *dialect.Node, lang string, s scope) *expression {
	if n == nil || !p.Is(n, expr.KindString, n.Name()) {
		return nil
	}
	src, begin, ok := undelimited(n.Text)
	if !ok {
		src = strings.TrimSpace(n.Text)
		begin = strings.Index(n.Text, src)
	}
	return p.single(n, lang, src, begin, s)
}

// single reads a text that is one expression.
func (p *parser) single(n *dialect.Node, lang, src string, begin int, s scope) *expression {
	c := p.jq(src)
	if c.err != nil {
		p.malformed(n, begin, src, c.err)
		return nil
	}
	pos := n.ColumnIn(begin)
	e := &expression{
		node: n, lang: lang, src: src, pos: ir.Pos{Line: pos.Line, Column: pos.Column},
		vars: uses(n, begin, c.vars),
	}
	p.declared(e.vars, s)
	p.def.expressions = append(p.def.expressions, e)
	return e
}

// malformed reports an expression that does not compile.
func (p *parser) malformed(n *dialect.Node, begin int, src string, err error) {
	d := p.Malformed(n, begin, codeExpression, "expression", err)
	if strings.Contains(src, "${") && strings.Contains(src, "}") && d.Hint == "" {
		d.WithHint(`only a text that is ${ … } as a whole is an expression; join texts inside of it: ${ "a \(.b) c" }`)
	}
}

// condition is an expression whose result is true or false.
func (p *parser) condition(n *dialect.Node, s scope) *expression { return p.expression(n, langIf, s) }

// transform reads input.from, output.as and export.as: a text is an expression, an object a
// template.
func (p *parser) transform(n *dialect.Node, s scope) *expression {
	switch {
	case n == nil:
		return nil
	case n.Kind == expr.KindString:
		return p.expression(n, langJQ, s)
	case n.Kind == expr.KindObject:
		return p.template(n, s)
	}
	p.Expected(n, n.Name(), "an expression or an object")
	return nil
}

// template reads a value whose texts may be expressions.
func (p *parser) template(n *dialect.Node, s scope) *expression {
	if n == nil {
		return nil
	}
	if src, begin, ok := undelimited(n.Text); ok && n.Kind == expr.KindString && !p.def.loose {
		return p.single(n, langJQ, src, begin, s)
	}
	e := &expression{node: n, lang: langStrict, pos: n.IRPos(), constant: true}
	if p.def.loose {
		e.lang = langLoose
	}
	v := n.Value()
	e.src = v.String()
	p.Budget.Spend(len(e.src))
	p.texts(e, n, v, s)
	if n.Kind == expr.KindString {
		e.parts = nil
	}
	p.def.expressions = append(p.def.expressions, e)
	return e
}

// code is a template where ${ is the author's own, as in a shell script.
func (p *parser) code(n *dialect.Node, s scope) *expression {
	before := p.quiet
	p.quiet = true
	e := p.template(n, s)
	p.quiet = before
	return e
}

// whole is the template of an object whose parts are read, and reported, one by one as well.
func (p *parser) whole(n *dialect.Node) *expression {
	if n == nil {
		return nil
	}
	before := p.silent
	p.silent = true
	e := p.template(n, inComponent)
	p.silent = before
	return e
}

// texts reads the texts of a template in the order in which it is filled: keys are sorted.
func (p *parser) texts(e *expression, n *dialect.Node, v expr.Value, s scope) {
	for i, item := range v.Items() {
		p.texts(e, n.Items[i], item, s)
	}
	for _, m := range v.Members() {
		p.texts(e, n.Get(m.Key), m.Value, s)
	}
	if v.Kind() != expr.KindString {
		return
	}
	src, begin, delimited := undelimited(n.Text)
	switch {
	case p.def.loose:
		p.looseText(e, n, s)
	case delimited:
		e.constant = false
		e.parts = append(e.parts, n.IRPos())
		c := p.jq(src)
		if c.err != nil {
			if !p.silent {
				p.malformed(n, begin, src, c.err)
			}
			return
		}
		found := uses(n, begin, c.vars)
		e.vars = append(e.vars, found...)
		p.declared(found, s)
	case !p.quiet && !p.silent:
		p.embedded(n)
	}
}

// looseText: every text that compiles is an expression; the others stand for themselves.
func (p *parser) looseText(e *expression, n *dialect.Node, s scope) {
	src, begin, delimited := undelimited(n.Text)
	if !delimited {
		src = strings.TrimSpace(n.Text)
		begin = strings.Index(n.Text, src)
	}
	c := p.jq(src)
	if c.err == nil {
		e.constant = false
		e.parts = append(e.parts, n.IRPos())
		found := uses(n, begin, c.vars)
		e.vars = append(e.vars, found...)
		if delimited {
			p.declared(found, s)
		}
		return
	}
	if delimited && !p.silent {
		d := p.Warnf(n, codeText, "this does not compile, and loose evaluation takes it as text")
		d.Hint = "at " + strings.TrimPrefix(c.err.Error(), "at ")
	}
}

// embedded warns of ${ } in the middle of a text, which strict evaluation leaves alone.
func (p *parser) embedded(n *dialect.Node) {
	open := strings.Index(n.Text, "${")
	if open < 0 {
		return
	}
	length := strings.IndexByte(n.Text[open:], '}')
	if length < 0 {
		return
	}
	p.Warnf(n.SpanIn(open, open+length+1), codeText, "an expression in the middle of a text is not evaluated: this is text").
		WithHint(`make all of it one expression: ${ "a \(.b) c" }`)
}

// constantText reads a text that is never evaluated.
func (p *parser) constantText(n *dialect.Node) *dialect.Node {
	if n == nil || !p.Is(n, expr.KindString, n.Name()) {
		return nil
	}
	if _, _, ok := undelimited(n.Text); ok && !p.def.loose {
		p.Warnf(n, codeText, "%s is not evaluated: this is text", n.Name())
	}
	return n
}

// textValue reads a value that is a text or an expression.
func (p *parser) textValue(n *dialect.Node, s scope) *expression {
	if n == nil || !p.Is(n, expr.KindString, n.Name()) || p.NonEmpty(n, n.Name()) == nil {
		return nil
	}
	return p.template(n, s)
}

// objectValue reads an object whose values may be expressions, or one expression that gives it.
func (p *parser) objectValue(n *dialect.Node, s scope) *expression {
	return p.kindValue(n, expr.KindObject, s)
}

// textsValue reads an object or a list of texts, or one expression that gives it.
func (p *parser) textsValue(n *dialect.Node, kind expr.Kind, s scope) *expression {
	e := p.kindValue(n, kind, s)
	if e == nil {
		return nil
	}
	for _, m := range slices.Concat(n.Members, n.Items) {
		if m.Kind == expr.KindObject || m.Kind == expr.KindArray || m.Kind == expr.KindNull {
			p.Expected(m, "an item of "+n.Name(), "a text or an expression")
		}
	}
	return e
}

// kindValue reads a value of a kind whose texts may be expressions, or one expression that gives it.
func (p *parser) kindValue(n *dialect.Node, kind expr.Kind, s scope) *expression {
	if n == nil {
		return nil
	}
	if n.Kind != kind {
		_, _, delimited := undelimited(n.Text)
		if n.Kind != expr.KindString || !delimited && !p.def.loose {
			p.Expected(n, n.Name(), kind.WithArticle()+" or an expression in ${ }")
			return nil
		}
	}
	return p.template(n, s)
}
