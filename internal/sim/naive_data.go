package sim

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// merge adds b to a: objects deeply, arrays without repeating equal items, else b wins
// (semantics.md §Data filters 5).
func merge(a, b expr.Value) expr.Value {
	switch {
	case a.IsObject() && b.IsObject():
		for _, m := range b.Members() {
			v := m.Value
			if old, ok := a.Get(m.Key); ok {
				v = merge(old, v)
			}
			a = a.With(m.Key, v)
		}
		return a
	case a.IsArray() && b.IsArray():
		items := slices.Clone(a.Items())
		for _, v := range b.Items() {
			if !slices.ContainsFunc(items, func(o expr.Value) bool { return expr.Equal(o, v) }) {
				items = append(items, v)
			}
		}
		return expr.Array(items...)
	}
	return b
}

// overlay is what an expression sees: top, and under where top lacks a key.
func overlay(top, under expr.Value) expr.Value {
	for _, m := range under.Members() {
		if _, ok := top.Get(m.Key); !ok {
			top = top.With(m.Key, m.Value)
		}
	}
	return top
}

// eval evaluates one path, with or without braces.
func (w *world) eval(path string, data expr.Value) expr.Result {
	p, err := jsonpath.Compiler{}.Compile(path)
	if err != nil {
		panic(err)
	}
	b := expr.NewBudget()
	r, err := p.Eval(data, &b)
	if err != nil {
		panic(err)
	}
	return r
}

// truth is a condition: an indefinite path has a match; what a definite one selects
// is not false, null or empty (semantics.md §Expressions).
func (w *world) truth(path string, data expr.Value) bool {
	r := w.eval(path, data)
	if !describe(path).definite {
		return r.Value.Len() > 0
	}
	switch v := r.Value; v.Kind() {
	case expr.KindNull:
		return false
	case expr.KindBool:
		return v.Bool()
	case expr.KindNumber:
		return !r.Missing
	default:
		return v.Len() > 0
	}
}

// stateFilter shapes the input or output of a state (semantics.md §Data filters 2, 3).
func (w *world) stateFilter(path string, data expr.Value) expr.Value {
	if path == "" {
		return data
	}
	p := describe(path)
	r := w.eval(path, data)
	switch {
	case p.root:
		return data
	case !p.definite:
		if r.Value.Len() == 0 {
			return data
		}
		return r.Value
	case r.Missing:
		return data
	case r.Value.IsArray() || p.depth > 1:
		return r.Value
	default:
		return expr.Object(expr.Member{Key: p.name, Value: r.Value})
	}
}

// keyed shapes the result of an action, an event or a produced payload.
func (w *world) keyed(path string, data expr.Value) contribution {
	if path == "" {
		return contribution{value: data, present: true}
	}
	p := describe(path)
	if p.root {
		return contribution{value: data, present: true}
	}
	r := w.eval(path, data)
	if p.definite {
		if r.Missing {
			return contribution{}
		}
		return contribution{value: expr.Object(expr.Member{Key: p.name, Value: r.Value}), present: true}
	}
	switch items := r.Value.Items(); {
	case len(items) == 0:
		return contribution{}
	case len(items) == 1 && items[0].IsObject():
		return contribution{value: items[0], present: true}
	case p.name == "":
		w.isOpen(openUnnamed)
	}
	return contribution{value: expr.Object(expr.Member{Key: p.name, Value: r.Value}), present: true}
}

// fill replaces the expressions in a JSON value.
func (w *world) fill(v, data expr.Value) expr.Value {
	switch v.Kind() {
	case expr.KindObject:
		for _, m := range v.Members() {
			v = v.With(m.Key, w.fill(m.Value, data))
		}
		return v
	case expr.KindArray:
		items := slices.Clone(v.Items())
		for i := range items {
			items[i] = w.fill(items[i], data)
		}
		return expr.Array(items...)
	case expr.KindString:
		return w.fillText(v.Str(), data)
	}
	return v
}

// fillText replaces {{ }} in text. Alone it keeps its type, inside other text
// it becomes text.
func (w *world) fillText(s string, data expr.Value) expr.Value {
	if trimmed := strings.TrimSpace(s); strings.HasPrefix(trimmed, "{{") {
		if inner, rest, ok := cutExpression(trimmed); ok && rest == "" {
			return w.eval(inner, data).Value
		}
	}
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "{{")
		if ok && strings.HasSuffix(before, `\`) {
			b.WriteString(strings.TrimSuffix(before, `\`) + "{{")
			s = after
			continue
		}
		b.WriteString(before)
		if !ok {
			return expr.String(b.String())
		}
		inner, rest, _ := cutExpression("{{" + after)
		b.WriteString(w.text(inner, data))
		s = rest
	}
}

// text is a value inside text: nothing for null, else compact JSON.
func (w *world) text(path string, data expr.Value) string {
	if !describe(path).definite {
		w.isOpen(openTextList)
	}
	switch v := w.eval(path, data).Value; v.Kind() {
	case expr.KindNull:
		return ""
	case expr.KindString:
		return v.Str()
	default:
		return string(v.AppendJSON(nil))
	}
}

// cutExpression takes the {{ }} at the front of s; }} inside quotes does not end it.
func cutExpression(s string) (inner, rest string, ok bool) {
	var quote byte
	for i := 2; i+1 < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '}' && s[i+1] == '}':
			return strings.TrimSpace(s[2:i]), s[i+2:], true
		}
	}
	return "", "", false
}
