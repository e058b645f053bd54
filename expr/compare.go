package expr

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Equal reports whether both values are the same JSON value; 1 equals 1.0 and
// 1e0, and nothing is coerced between kinds.
func Equal(a, b Value) bool {
	if a.Same(b) {
		return true
	}
	ka := a.Kind()
	if ka != b.Kind() {
		return false
	}
	switch ka {
	case KindNumber:
		return compareNumbers(a, b) == 0
	case KindString:
		return a.Str() == b.Str()
	case KindArray:
		x, y := a.Items(), b.Items()
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !Equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case KindObject:
		x, y := a.Members(), b.Members()
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i].Key != y[i].Key || !Equal(x[i].Value, y[i].Value) {
				return false
			}
		}
		return true
	}
	return a.num == b.num // null and booleans
}

// Compare orders two numbers or two strings; ok is false for anything else.
func Compare(a, b Value) (c int, ok bool) {
	ka := a.Kind()
	if ka != b.Kind() {
		return 0, false
	}
	switch ka {
	case KindNumber:
		return compareNumbers(a, b), true
	case KindString:
		return strings.Compare(a.Str(), b.Str()), true
	}
	return 0, false
}

func compareNumbers(a, b Value) int {
	_, ai := a.ref.(intRef)
	_, bi := b.ref.(intRef)
	if ai && bi {
		return cmp.Compare(int64(a.num), int64(b.num))
	}
	// Rounding keeps the order, so where the nearest floats differ they decide,
	// and nothing is allocated.
	if x, y := a.Float(), b.Float(); x != y && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return cmp.Compare(x, y)
	}
	return parseDecimal(a.NumberText()).compare(parseDecimal(b.NumberText()))
}

// appendCanonical writes bytes that are the same exactly for equal values.
func appendCanonical(dst []byte, v Value) []byte {
	switch v.ref.(type) {
	case intRef:
		return strconv.AppendInt(dst, int64(v.num), 10)
	case stringRef: // raw, since quoting would make one of all invalid UTF-8
		return appendText(append(dst, '"'), v.Str())
	case decimalRef:
		return parseDecimal(v.NumberText()).appendText(dst)
	case arrayRef:
		dst = append(dst, '[')
		for _, it := range v.Items() {
			dst = append(appendCanonical(dst, it), ',')
		}
		return append(dst, ']')
	case objectRef:
		dst = append(dst, '{')
		for _, m := range v.Members() {
			dst = appendText(append(dst, '"'), m.Key)
			dst = append(appendCanonical(dst, m.Value), ',')
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}

// Equal is [Equal] at a price: a step for every pair of values, more for long
// text, so that comparing large values again and again ends.
func (b *Budget) Equal(x, y Value) (bool, error) {
	if err := b.Step(compareCost(x, y)); err != nil {
		return false, err
	}
	if x.Kind() != y.Kind() || x.Len() != y.Len() {
		return false, nil
	}
	if x.Same(y) {
		return true, nil
	}
	switch x.Kind() {
	case KindArray:
		p, q := x.Items(), y.Items()
		for i := range p {
			if ok, err := b.Equal(p[i], q[i]); err != nil || !ok {
				return false, err
			}
		}
		return true, nil
	case KindObject:
		p, q := x.Members(), y.Members()
		for i := range p {
			if p[i].Key != q[i].Key {
				return false, nil
			}
			if ok, err := b.Equal(p[i].Value, q[i].Value); err != nil || !ok {
				return false, err
			}
		}
		return true, nil
	}
	return Equal(x, y), nil
}

// Compare is [Compare] at a price.
func (b *Budget) Compare(x, y Value) (c int, ok bool, err error) {
	if err := b.Step(compareCost(x, y)); err != nil {
		return 0, false, err
	}
	c, ok = Compare(x, y)
	return c, ok, nil
}

// Float is [Value.Float] at a price: numbers with many digits take long to convert.
func (b *Budget) Float(v Value) (float64, error) {
	if err := b.Step(textLen(v) / digitsPerStep); err != nil {
		return 0, err
	}
	return v.Float(), nil
}

// digitsPerStep is how many digits of a number that is kept as text a step pays for.
const digitsPerStep = 6

// compareCost is one step, and more for what is looked at: two texts up to the end of
// the shorter, at 256 bytes a step, numbers completely.
func compareCost(x, y Value) int {
	kx, ky := x.Kind(), y.Kind()
	switch {
	case kx != ky:
		return 1
	case kx == KindString:
		return 1 + min(x.Len(), y.Len())/256
	case kx == KindNumber:
		return 1 + (textLen(x)+textLen(y))/digitsPerStep
	}
	return 1
}

// textLen is the number of bytes of a text, and of a number that is kept as text.
func textLen(v Value) int {
	switch v.ref.(type) {
	case decimalRef, stringRef:
		return int(v.num)
	}
	return 0
}
