package jq

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Part is a part of a text with expressions in it.
type Part struct {
	Src    string // of an expression: without ${ and }
	Offset int    // where Src begins in the text, in bytes
	Expr   bool   // it is an expression, not text
}

// Parts splits a text of the language [TextLang]. An expression ends at the brace that closes it: braces
// inside of it, in its strings and in its comments, do not. The error is a *[expr.SyntaxError] for a ${ that
// has no end.
func Parts(text string) ([]Part, error) {
	var out []Part
	for at := 0; at < len(text); {
		open := strings.Index(text[at:], "${")
		if open != 0 {
			end := len(text)
			if open > 0 {
				end = at + open
			}
			out = append(out, Part{Src: text[at:end], Offset: at})
			at = end
			continue
		}
		end := closing(text, at+2)
		if end < 0 {
			return nil, &expr.SyntaxError{Offset: at, Msg: "there is no } for this ${"}
		}
		out = append(out, Part{Src: text[at+2 : end], Offset: at + 2, Expr: true})
		at = end + 1
	}
	return out, nil
}

// alone returns the only expression of a text that has nothing but blanks around it.
func alone(parts []Part) (Part, bool) {
	i := slices.IndexFunc(parts, func(p Part) bool { return p.Expr })
	if i < 0 {
		return Part{}, false
	}
	for k, p := range parts {
		if k != i && (p.Expr || strings.TrimSpace(p.Src) != "") {
			return Part{}, false
		}
	}
	return parts[i], true
}

// closing is where the brace stands that ends an expression which begins at i; -1: nowhere.
func closing(src string, i int) int {
	const inText = '"' // \( in a string
	var open []byte    // what is open: {, ( or inText
	last := func(c byte) bool { return len(open) > 0 && open[len(open)-1] == c }
	for i < len(src) {
		switch c := src[i]; {
		case c == '#':
			i = commentEnd(src, i)
			continue
		case c == '"' || c == ')' && last(inText):
			if c == ')' {
				open = open[:len(open)-1]
			}
			var inner bool
			if i, inner = textEnd(src, i+1); inner {
				open = append(open, inText)
			}
			continue
		case c == '{' || c == '(':
			open = append(open, c)
		case c == ')' && last('('):
			open = open[:len(open)-1]
		case c == '}':
			// A parenthesis without an end is for the parser to find: the brace closes what it can.
			k := slices.Index(open, '{')
			if k < 0 {
				return i
			}
			for !last('{') {
				open = open[:len(open)-1]
			}
			open = open[:len(open)-1]
		}
		i++
	}
	return -1
}

// mixed compiles a text with expressions in it.
func (b *builder) mixed(v expr.Value) (*piece, error) {
	parts, err := Parts(v.Str())
	if err != nil {
		b.bad, b.badAt = v.Str(), 0
		return nil, err
	}
	if one, ok := alone(parts); ok {
		return b.embedded(v, one.Src, one.Offset)
	}
	if !slices.ContainsFunc(parts, func(p Part) bool { return p.Expr }) {
		return &piece{constant: v}, nil
	}
	out := &piece{part: b.parts}
	for _, p := range parts {
		one := &piece{constant: expr.String(p.Src)}
		if p.Expr {
			if one, err = b.embedded(v, p.Src, p.Offset); err != nil {
				return nil, err
			}
		}
		out.parts = append(out.parts, one)
	}
	b.parts = out.part + 1 // they are one string
	return out, nil
}

// text joins the parts of a text. src is the expression that failed.
func (t *template) text(p *piece, in expr.Scope, b *expr.Budget) (v expr.Value, src string, err error) {
	var out []byte
	for _, one := range p.parts {
		v := one.constant
		if one.expr != nil {
			src = strings.TrimSpace(one.expr.src)
			if v, err = one.expr.value(in, b); err != nil {
				return expr.Null, src, err
			}
		}
		switch {
		case v.IsNull():
		case v.Kind() == expr.KindString:
			err = b.Emit(len(v.Str()))
			out = append(out, v.Str()...)
		default:
			out, err = b.AppendJSON(out, v)
		}
		if err != nil {
			return expr.Null, src, err
		}
	}
	return expr.String(string(out)), "", nil
}

// Uncommented is the source of an expression without its comments; one that does not compile stays as it is.
func Uncommented(src string) string {
	if !strings.Contains(src, "#") {
		return src
	}
	query, err := parse(src)
	if err != nil {
		return src
	}
	return query.String()
}
