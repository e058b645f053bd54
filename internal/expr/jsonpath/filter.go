package jsonpath

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/regex"
)

// accepts reports whether the condition holds for the item.
func (c *cond) accepts(s scope, it expr.Value) (bool, error) {
	s.item = it
	if err := s.budget.Enter(); err != nil {
		return false, err
	}
	ok, err := c.holds(s)
	s.budget.Leave()
	return ok, err
}

// holds evaluates a condition.
func (c *cond) holds(s scope) (bool, error) {
	if err := s.budget.Step(1); err != nil {
		return false, err
	}
	switch c.op {
	case opConst:
		return c.left.lit.Bool(), nil
	case opNot:
		ok, err := c.kids[0].holds(s)
		return !ok, err
	case opAnd, opOr:
		for _, k := range c.kids {
			ok, err := k.holds(s)
			if err != nil || ok == (c.op == opOr) {
				return ok, err
			}
		}
		return c.op == opAnd, nil
	}
	left, ok, err := c.left.eval(s)
	if err != nil {
		return false, err
	}
	if c.op == opExists {
		return ok && exists(c.left.path, left), nil
	}
	if c.op == opMatch {
		if !ok {
			return false, nil
		}
		return matchesValue(c.right.re, left, s.budget)
	}
	right, rok, err := c.right.eval(s)
	if err != nil {
		return false, err
	}
	ok, rok = ok || c.left.list(), rok || c.right.list()
	return compare(c.op, side{left, ok}, side{right, rok}, s.budget)
}

// exists is the meaning of a path alone: it selects something that is neither
// false nor null (semantics.md §Expressions); an indefinite one, anything at all.
func exists(p *path, v expr.Value) bool {
	return p.isList() || !v.IsNull() && (v.Kind() != expr.KindBool || v.Bool())
}

// eval returns the operand's value, for an indefinite path the array of its matches.
func (o *operand) eval(s scope) (expr.Value, bool, error) {
	if o.path == nil {
		return o.lit, true, nil
	}
	return o.path.eval(s)
}

// list reports whether the operand is a list of matches, which is a value even
// when it is empty.
func (o *operand) list() bool { return o.path != nil && o.path.isList() }

// side is one evaluated operand; ok is false where its path selected nothing.
type side struct {
	v  expr.Value
	ok bool
}

func compare(op condOp, l, r side, b *expr.Budget) (bool, error) {
	switch op {
	case opEq, opNe:
		if !l.ok || !r.ok {
			return op == opNe, nil // what is not there equals nothing
		}
		eq, err := b.Equal(l.v, r.v)
		return eq == (op == opEq), err
	case opIn, opNin:
		if !l.ok {
			return op == opNin, nil
		}
		in, err := contains(r.v.Items(), l.v, b)
		return in == (op == opIn), err
	}
	if !l.ok || !r.ok {
		return false, nil
	}
	switch op {
	case opLt, opLe, opGt, opGe:
		return ordered(op, l.v, r.v, b)
	case opSubsetOf, opAnyOf, opNoneOf:
		if !l.v.IsArray() || !r.v.IsArray() {
			return false, nil
		}
		return sets(op, l.v.Items(), r.v.Items(), b)
	case opAll:
		if !l.v.IsArray() || !r.v.IsArray() {
			return false, nil
		}
		return sets(opSubsetOf, r.v.Items(), l.v.Items(), b)
	case opContains:
		if l.v.Kind() == expr.KindString && r.v.Kind() == expr.KindString {
			err := b.Step(textCost(l.v.Len()))
			return strings.Contains(l.v.Str(), r.v.Str()), err
		}
		return contains(l.v.Items(), r.v, b)
	case opSize:
		n, ok, err := length(l.v, b)
		want, whole := r.v.Int()
		return ok && whole && int64(n) == want, err
	case opEmpty:
		switch l.v.Kind() {
		case expr.KindString, expr.KindArray, expr.KindObject:
			return r.v.Kind() == expr.KindBool && (l.v.Len() == 0) == r.v.Bool(), nil
		}
	}
	return false, nil
}

// textCost is what looking through n bytes of text costs.
func textCost(n int) int { return n / 24 }

func ordered(op condOp, l, r expr.Value, b *expr.Budget) (bool, error) {
	c, ok, err := b.Compare(l, r)
	if err != nil || !ok {
		return false, err
	}
	switch op {
	case opLt:
		return c < 0, nil
	case opLe:
		return c <= 0, nil
	case opGt:
		return c > 0, nil
	default:
		return c >= 0, nil
	}
}

func contains(items []expr.Value, v expr.Value, b *expr.Budget) (bool, error) {
	for _, it := range items {
		if eq, err := b.Equal(it, v); err != nil || eq {
			return eq, err
		}
	}
	return false, nil
}

// sets compares two lists by what they hold.
func sets(op condOp, l, r []expr.Value, b *expr.Budget) (bool, error) {
	for _, it := range l {
		in, err := contains(r, it, b)
		if err != nil {
			return false, err
		}
		switch {
		case op == opSubsetOf && !in, op == opNoneOf && in:
			return false, nil
		case op == opAnyOf && in:
			return true, nil
		}
	}
	return op != opAnyOf, nil
}

// matchesValue reports whether the whole of a text matches, or of one text in a list.
// Numbers and booleans are taken as they are written, as in Jayway.
func matchesValue(p *regex.Pattern, v expr.Value, b *expr.Budget) (bool, error) {
	switch v.Kind() {
	case expr.KindString:
		return p.Match(v.Str(), b)
	case expr.KindNumber, expr.KindBool:
		return p.Match(v.String(), b)
	case expr.KindArray:
		for _, it := range v.Items() {
			if it.IsArray() {
				continue // one level, as in Jayway
			}
			if ok, err := matchesValue(p, it, b); err != nil || ok {
				return ok, err
			}
		}
	}
	return false, nil
}
