package jq

import (
	"cmp"
	"errors"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/lockstep-workflows/lockstep/expr"
)

// errUnusual says that the interpreter must evaluate the expression.
var errUnusual = errors.New("jq: not the usual case")

// frame is one direct evaluation.
type frame struct {
	vars []expr.Value
	b    *expr.Budget
}

// bytesPerLook is how much text is looked at for one step.
const bytesPerLook = 256

func (f *frame) eval(n *node, dot expr.Value) (expr.Value, error) {
	if err := f.b.Step(1); err != nil {
		return expr.Null, err
	}
	switch n.op {
	case opConstant:
		return n.value, nil
	case opIdentity:
		return dot, nil
	case opVariable:
		return f.vars[n.at], nil
	case opPath:
		return f.path(n, dot)
	case opObject, opArray:
		return f.build(n, dot, 0)
	case opText:
		return f.text(n, dot)
	case opPipe:
		v, err := f.eval(&n.args[0], dot)
		if err != nil {
			return expr.Null, err
		}
		return f.eval(&n.args[1], v)
	case opIf:
		return f.choose(n, dot)
	case opAnd, opOr:
		v, err := f.eval(&n.args[0], dot)
		if err != nil || isTrue(v) == (n.op == opOr) {
			return expr.Bool(n.op == opOr), err
		}
		v, err = f.eval(&n.args[1], dot)
		return expr.Bool(isTrue(v)), err
	case opAlternate:
		v, err := f.eval(&n.args[0], dot)
		if err != nil || isTrue(v) {
			return v, err
		}
		return f.eval(&n.args[1], dot)
	case opCompare, opCompute:
		x, err := f.eval(&n.args[0], dot)
		if err != nil {
			return expr.Null, err
		}
		y, err := f.eval(&n.args[1], dot)
		if err != nil {
			return expr.Null, err
		}
		if n.op == opCompute {
			return f.compute(n.sign, x, y)
		}
		return f.compare(n.sign, x, y)
	}
	return f.function(n.op, dot)
}

// isTrue is jq's truth.
func isTrue(v expr.Value) bool { return !v.IsNull() && (v.Kind() != expr.KindBool || v.Bool()) }

func (f *frame) path(n *node, dot expr.Value) (expr.Value, error) {
	v := dot
	if n.args[0].op != opIdentity {
		var err error
		if v, err = f.eval(&n.args[0], dot); err != nil {
			return expr.Null, err
		}
	}
	if err := f.b.Step(len(n.steps)); err != nil {
		return expr.Null, err
	}
	for i := range n.steps {
		s := &n.steps[i]
		switch {
		case v.IsNull():
		case s.isItem && v.IsArray():
			at := s.index
			if at < 0 {
				at += v.Len()
			}
			if at < 0 || at >= v.Len() {
				v = expr.Null
			} else {
				v = v.Items()[at]
			}
		case !s.isItem && v.IsObject():
			v, _ = v.Get(s.key)
		default:
			return expr.Null, errUnusual
		}
	}
	return v, nil
}

// build makes a container that stands depth levels deep in the result, and pays for what it puts
// into it: values share their parts, so that a few words of memory may stand for a large value.
func (f *frame) build(n *node, dot expr.Value, depth int) (expr.Value, error) {
	if n.op != opObject && n.op != opArray {
		v, err := f.eval(n, dot)
		if err == nil && n.op != opConstant {
			err = f.b.EmitValue(v, depth)
		}
		return v, err
	}
	if err := f.b.Step(1 + len(n.args)); err != nil {
		return expr.Null, err
	}
	if err := f.b.Emit(1 + len(n.args)); err != nil {
		return expr.Null, err
	}
	if n.op == opArray {
		items := make([]expr.Value, len(n.args))
		for i := range n.args {
			var err error
			if items[i], err = f.build(&n.args[i], dot, depth+1); err != nil {
				return expr.Null, err
			}
		}
		return expr.Array(items...), nil
	}
	members := make([]expr.Member, len(n.args))
	for i := range n.args {
		v, err := f.build(&n.args[i], dot, depth+1)
		if err != nil {
			return expr.Null, err
		}
		members[i] = expr.Member{Key: n.keys[i], Value: v}
	}
	return expr.Object(members...), nil
}

func (f *frame) text(n *node, dot expr.Value) (expr.Value, error) {
	var out []byte
	for i := range n.args {
		v, err := f.eval(&n.args[i], dot)
		if err != nil {
			return expr.Null, err
		}
		text, ok := plain(v)
		if !ok {
			return expr.Null, errUnusual
		}
		if err := f.long(len(text)); err != nil {
			return expr.Null, err
		}
		out = append(out, text...)
	}
	return expr.String(string(out)), nil
}

// long pays for making text.
func (f *frame) long(bytes int) error {
	if err := f.b.Step(bytes / bytesPerLook); err != nil {
		return err
	}
	return f.b.Emit(bytes)
}

// plain is a value as text, if that is simple.
func plain(v expr.Value) (string, bool) {
	switch v.Kind() {
	case expr.KindString:
		return v.Str(), true
	case expr.KindNumber:
		return v.NumberText(), isPlain(v)
	case expr.KindNull:
		return "null", true
	case expr.KindBool:
		if v.Bool() {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

// isPlain says that a value is no number that the interpreter would write differently.
func isPlain(v expr.Value) bool {
	i, ok := v.Int()
	return v.Kind() != expr.KindNumber || ok && v.Same(expr.Int(i))
}

func (f *frame) choose(n *node, dot expr.Value) (expr.Value, error) {
	last := len(n.args) - 1
	for i := 0; i < last; i += 2 {
		v, err := f.eval(&n.args[i], dot)
		if err != nil {
			return expr.Null, err
		}
		if isTrue(v) {
			return f.eval(&n.args[i+1], dot)
		}
	}
	return f.eval(&n.args[last], dot)
}

func (f *frame) function(op op, v expr.Value) (expr.Value, error) {
	switch op {
	case opNot:
		return expr.Bool(!isTrue(v)), nil
	case opType:
		return expr.String(v.Kind().String()), nil
	case opToString:
		text, ok := plain(v)
		if !ok {
			return expr.Null, errUnusual
		}
		return expr.String(text), f.long(len(text))
	case opLength:
		switch v.Kind() {
		case expr.KindNull:
			return expr.Int(0), nil
		case expr.KindArray, expr.KindObject:
			return expr.Int(int64(v.Len())), nil
		case expr.KindString:
			n := int64(utf8.RuneCountInString(v.Str()))
			return expr.Int(n), f.b.Step(v.Len() / bytesPerLook)
		}
	}
	return expr.Null, errUnusual
}

// number is a number that a float64 holds as the interpreter would.
func (f *frame) number(v expr.Value) (float64, error) {
	n, err := f.b.Float(v)
	if err == nil && !(math.Abs(n) < exact) {
		err = errUnusual
	}
	return n, err
}

// compare orders values as jq does: null, false, true, numbers, texts, arrays, objects. What is
// in containers the interpreter compares.
func (f *frame) compare(sign gojq.Operator, x, y expr.Value) (expr.Value, error) {
	order := cmp.Compare(x.Kind(), y.Kind())
	if order == 0 {
		switch x.Kind() {
		case expr.KindBool:
			if x.Bool() != y.Bool() {
				order = 1
				if y.Bool() {
					order = -1
				}
			}
		case expr.KindNumber:
			a, err := f.number(x)
			if err != nil {
				return expr.Null, err
			}
			b, err := f.number(y)
			if err != nil {
				return expr.Null, err
			}
			order = cmp.Compare(a, b)
		case expr.KindString:
			if err := f.b.Step(min(x.Len(), y.Len()) / bytesPerLook); err != nil {
				return expr.Null, err
			}
			order = strings.Compare(x.Str(), y.Str())
		case expr.KindArray, expr.KindObject:
			return expr.Null, errUnusual
		}
	}
	var holds bool
	switch sign {
	case gojq.OpEq:
		holds = order == 0
	case gojq.OpNe:
		holds = order != 0
	case gojq.OpLt:
		holds = order < 0
	case gojq.OpLe:
		holds = order <= 0
	case gojq.OpGt:
		holds = order > 0
	case gojq.OpGe:
		holds = order >= 0
	}
	return expr.Bool(holds), nil
}

func (f *frame) compute(sign gojq.Operator, x, y expr.Value) (expr.Value, error) {
	if x.Kind() == expr.KindNumber && y.Kind() == expr.KindNumber {
		return f.arithmetic(sign, x, y)
	}
	if sign != gojq.OpAdd {
		return expr.Null, errUnusual
	}
	switch {
	case x.IsNull() && isPlain(y):
		return y, nil
	case y.IsNull() && isPlain(x):
		return x, nil
	case x.Kind() != y.Kind():
		return expr.Null, errUnusual
	}
	switch x.Kind() {
	case expr.KindString:
		if err := f.long(x.Len() + y.Len()); err != nil {
			return expr.Null, err
		}
		return expr.String(x.Str() + y.Str()), nil
	case expr.KindArray, expr.KindObject:
		n := x.Len() + y.Len()
		if err := f.b.Step(n); err != nil {
			return expr.Null, err
		}
		if err := f.b.Emit(n); err != nil {
			return expr.Null, err
		}
		if x.IsObject() {
			return expr.Overlay(y, x), nil
		}
		return x.Append(y.Items()...), nil
	}
	return expr.Null, errUnusual
}

// arithmetic computes with numbers below 2^53, whose sums and products float64 holds exactly as
// long as these are below it too.
func (f *frame) arithmetic(sign gojq.Operator, x, y expr.Value) (expr.Value, error) {
	a, err := f.number(x)
	if err != nil {
		return expr.Null, err
	}
	b, err := f.number(y)
	if err != nil {
		return expr.Null, err
	}
	var n float64
	switch sign {
	case gojq.OpAdd:
		n = a + b
	case gojq.OpSub:
		n = a - b
	case gojq.OpMul:
		n = a * b
	case gojq.OpDiv:
		n = a / b
	case gojq.OpMod:
		if a != math.Trunc(a) || b != math.Trunc(b) {
			return expr.Null, errUnusual
		}
		n = math.Mod(a, b)
	}
	if !(math.Abs(n) < exact) { // also NaN
		return expr.Null, errUnusual
	}
	return float(n), nil
}
