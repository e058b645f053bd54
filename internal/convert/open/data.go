package open

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/convert"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

const mergeDef = convert.MergeJQ

// view is where expressions of a state look: the data, or beside it.
type view struct {
	begin jsonpath.Begin
	// over is an expression that gives the data, where that is not `.`; scope is the same for expressions in jq, which
	// see everything as one object.
	over, scope string
}

// translated is an expression in jq: exact gives every match, plain the value.
type translated struct {
	exact, plain string
	list         bool
	holds, easy  string
}

// path translates an expression. What cannot be is a loss, and gives null.
func (w *writer) path(p *states.Path, in view) translated {
	if p.Lang != jsonpath.Lang {
		src := in.jq(w.oneOf(p.Pos, w.source(p.Src)))
		return translated{exact: src, plain: src}
	}
	q, err := jsonpath.ToJQ(p.Src, in.begin)
	if err != nil {
		w.lose(p.Pos, "the expression "+p.Src, err.Error(), "write it in jq by hand")
		return translated{exact: "null", plain: "null", holds: "false", easy: "false"}
	}
	out := translated{exact: in.apply(q.Stream), list: q.List, holds: in.apply(q.Holds)}
	if q.Plain != "" {
		out.plain = in.apply(q.Plain)
	}
	if q.Easy != "" {
		out.easy = in.apply(q.Easy)
		for _, a := range q.Assumes {
			w.assumeLater(p.Pos, a)
		}
	}
	return out
}

func (v view) apply(src string) string {
	switch {
	case v.over == "" || v.over == ".":
		return src
	case src == ".":
		return v.over
	case strings.HasPrefix(src, ".") && !strings.ContainsAny(src, " |") && simple(v.over):
		return v.over + src
	}
	return v.over + " | " + src
}

// simple reports whether a suffix can follow an expression.
func simple(src string) bool { return !strings.ContainsAny(src, " |") }

// condition is an expression as a condition.
func (w *writer) condition(p *states.Path, in view) string {
	switch p.Lang {
	case jsonpath.Lang:
	case choice.Lang:
		return w.choice(p.Pos, p.Tree, in, false)
	default:
		return w.jqCondition(p, in)
	}
	w.pending = nil
	t := w.path(p, in)
	if t.easy != "" && !w.exact {
		w.assumePending()
		w.assumeObject()
		return t.easy
	}
	return t.holds
}

// stateFilter is an expression that gives the data as a filter of a state makes it; "" leaves it as it is.
func (w *writer) stateFilter(p *states.Path, in view) string {
	if p == nil || p.Lang == jsonpath.Lang && p.Shape.Root {
		return ""
	}
	if p.Lang != jsonpath.Lang {
		return w.jqFilter(p, in)
	}
	if in.over != "" {
		return in.over + " | " + w.stateFilter(p, view{begin: in.begin})
	}
	t := w.path(p, in)
	keyed := w.o.Version05 && p.Shape.Definite && p.Shape.Depth == 1 && p.Shape.Name != ""
	if !w.exact && t.plain != "" {
		w.assume(p.Pos, fmt.Sprintf("%s is there", p.Src))
		w.assumeObject()
		if keyed {
			return fmt.Sprintf("(%s | arrays) // {%s: %s}", t.plain, key(p.Shape.Name), t.plain)
		}
		return t.plain
	}
	switch {
	case keyed:
		return fmt.Sprintf("first(%s | if type == \"array\" then . else {%s: .} end) // .", t.exact, key(p.Shape.Name))
	case t.list:
		return fmt.Sprintf(". as $all | [%s] | if length > 0 then . else $all end", t.exact)
	}
	return fmt.Sprintf(". as $all | [%s] | if length > 0 then .[0] else $all end", t.exact)
}

// picked is what a filter of results keeps of `.`: exact gives the values to merge, plain is one object.
func (w *writer) picked(p *states.Path, to placed, in view) (exact, plain string) {
	if to.drop {
		return "empty", "{}"
	}
	if !w.o.Version05 {
		return w.put(p, to, in)
	}
	if p == nil || p.Lang == jsonpath.Lang && p.Shape.Root {
		return in.apply("."), in.apply(".")
	}
	t := w.path(p, in)
	name := p.Shape.Name
	switch {
	case name == "" && !t.list:
		return t.exact, t.plain
	case t.list:
		one := "{" + key(name) + ": .}"
		if name == "" {
			one = "."
		}
		return fmt.Sprintf("[%s] | select(length > 0) | if length == 1 and (.[0] | type) == \"object\" then .[0] else %s end", t.exact, one), ""
	}
	if t.plain != "" {
		plain = fmt.Sprintf("{%s: %s}", key(name), t.plain)
	}
	return fmt.Sprintf("%s | {%s: .}", t.exact, key(name)), plain
}

// merged is an expression that merges what a filter keeps of `.` into $input.
func (w *writer) merged(pos dialect.Pos, what string, p *states.Path, to placed, in view) string {
	if to.drop {
		return "$input"
	}
	exact, plain := w.picked(p, to, in)
	if plain != "" && !w.exact {
		if p != nil && !p.Shape.Root {
			w.assume(p.Pos, fmt.Sprintf("%s is there", p.Src))
			if len(to.to) > 0 || w.o.Version05 {
				w.assume(pos, fmt.Sprintf("no list of %s meets a list in the data", what))
			} else {
				w.assume(pos, fmt.Sprintf("%s of %s is an object, and no list of it meets a list in the data", p.Src, what))
			}
		} else if len(to.to) > 0 {
			w.assume(pos, fmt.Sprintf("%s is not null, and no list of it meets a list in the data", what))
		} else {
			w.assume(pos, fmt.Sprintf("%s is an object, and no list of it meets a list in the data", what))
		}
		w.assumeObject()
		return "$input * " + operand(plain)
	}
	return w.fold("$input", exact)
}

// fold merges each object that a stream gives into a value.
func (w *writer) fold(into, stream string) string {
	return mergeDef + fmt.Sprintf("reduce (%s | objects) as $new (%s; merge($new))", stream, into)
}

// operand is an expression as the operand of a sign.
func operand(src string) string {
	if !strings.ContainsAny(src, " |") || strings.HasPrefix(src, "{") && strings.HasSuffix(src, "}") {
		return src
	}
	return "(" + src + ")"
}

// template is a value in which texts are expressions of 1.0.
func (w *writer) template(t *states.Template, in view) expr.Value {
	if t == nil {
		return expr.EmptyObject
	}
	return w.templated(t, t.Value, in)
}

func (w *writer) templated(t *states.Template, v expr.Value, in view) expr.Value {
	switch v.Kind() {
	case expr.KindArray:
		out := make([]expr.Value, v.Len())
		for i, item := range v.Items() {
			out[i] = w.templated(t, item, in)
		}
		return expr.Array(out...)
	case expr.KindObject:
		out := expr.EmptyObject
		for _, m := range v.Members() {
			out = out.With(m.Key, w.templated(t, m.Value, in))
		}
		return out
	case expr.KindString:
		src, constant := w.text(t, v.Str(), in)
		if constant {
			return literalText(src)
		}
		return jq(src)
	}
	return v
}

// literalText is a text that means itself in 1.0.
func literalText(s string) expr.Value {
	if t := strings.TrimSpace(s); strings.HasPrefix(t, "${") && strings.HasSuffix(t, "}") {
		return jq(text(s))
	}
	return str(s)
}

// text is a text of a template: itself, or an expression that gives its value.
func (w *writer) text(t *states.Template, s string, in view) (src string, constant bool) {
	if t.Lang != jsonpath.Lang {
		return w.jqText(t, s, in)
	}
	parts, whole, err := jsonpath.TemplateParts(s)
	if err != nil {
		return s, true // it was checked
	}
	if len(parts) == 1 && parts[0].Path == "" {
		return parts[0].Text, true
	}
	pathOf := func(src string) translated {
		shape, _ := jsonpath.Describe(src)
		return w.path(&states.Path{Pos: t.Pos, Lang: t.Lang, Src: src, Shape: shape}, in)
	}
	if whole {
		p := pathOf(parts[0].Path)
		switch {
		case p.list:
			return "[" + p.exact + "]", false
		case p.plain != "" && !w.exact:
			w.assumeObject()
			return p.plain, false
		}
		return p.exact, false
	}
	var b strings.Builder
	for _, part := range parts {
		if part.Path == "" {
			b.WriteString(inner(part.Text))
			continue
		}
		p := pathOf(part.Path)
		switch {
		case p.list:
			fmt.Fprintf(&b, `\([%s] | if length > 0 then . else "" end)`, p.exact)
		case p.plain != "" && !w.exact:
			w.assume(t.Pos, part.Path+" is there, and not null")
			w.assumeObject()
			fmt.Fprintf(&b, `\(%s)`, p.plain)
		default:
			fmt.Fprintf(&b, `\([%s | values] | if length > 0 then .[0] else "" end)`, p.exact)
		}
	}
	return `"` + b.String() + `"`, false
}

// text is a text in jq.
func text(s string) string { return `"` + inner(s) + `"` }

// inner is the inside of a text in jq.
func inner(s string) string {
	quoted := string(expr.AppendQuoted(nil, s))
	return quoted[1 : len(quoted)-1]
}

// key is a key of an object in jq.
func key(name string) string {
	for i, r := range name {
		if !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9') {
			return text(name)
		}
	}
	switch name {
	case "", "and", "or", "not", "if", "then", "elif", "else", "end", "as", "def", "reduce", "foreach", "try", "catch", "label", "import", "include", "__loc__":
		return text(name)
	}
	return name
}

// duration is an amount of time in 1.0: ISO 8601, or an expression.
func (w *writer) duration(d *states.Duration, in view) expr.Value {
	if d.Expr == nil {
		return str(d.Value.String())
	}
	return w.templated(d.Expr, d.Expr.Value, in)
}
