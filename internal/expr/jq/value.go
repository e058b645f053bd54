package jq

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

// maxDigits limits the length of numbers that filters compute with, because arithmetic with
// longer ones is slower than the steps it is charged.
const maxDigits = 1000 // filter-digits

// input converts what is needed of a value to the interpreter's representation; of nil, all of
// it. Numbers keep their text until something is computed from them. Who pays for it has paysInput
// set.
func (m *meter) input(v expr.Value, of *need, depth int) (any, error) {
	if depth > expr.MaxDepth {
		return nil, m.refuse("value-depth", expr.MaxDepth)
	}
	if m.paysInput {
		if err := m.pay(inputCost(v)); err != nil {
			return nil, err
		}
	}
	switch v.Kind() {
	case expr.KindBool:
		return v.Bool(), nil
	case expr.KindNumber:
		if i, ok := v.Int(); ok && v.Same(expr.Int(i)) {
			return int(i), nil
		}
		text := v.NumberText()
		if len(text) > maxDigits {
			return nil, m.refuse("filter-digits", maxDigits)
		}
		return json.Number(text), nil
	case expr.KindString:
		return v.Str(), nil
	case expr.KindArray:
		if of != nil && !of.whole && len(of.names) == 0 {
			return []any{}, nil
		}
		out := make([]any, 0, v.Len())
		for _, item := range v.Items() {
			x, err := m.input(item, nil, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	case expr.KindObject:
		return m.inputObject(v, of, depth)
	}
	return nil, nil
}

func (m *meter) inputObject(v expr.Value, of *need, depth int) (any, error) {
	if of != nil && !of.whole {
		out := make(map[string]any, len(of.names))
		for _, name := range of.names {
			member, ok := v.Get(name)
			if !ok {
				continue
			}
			x, err := m.input(member, of.members[name], depth+1)
			if err != nil {
				return nil, err
			}
			out[name] = x
		}
		return out, nil
	}
	if m.paysInput {
		if err := m.pay(2 * v.Len()); err != nil {
			return nil, err
		}
	}
	out := make(map[string]any, v.Len())
	for _, member := range v.Members() {
		x, err := m.input(member.Value, nil, depth+1)
		if err != nil {
			return nil, err
		}
		out[member.Key] = x
	}
	return out, nil
}

// inputCost is what converting a value takes, without the values in it.
func inputCost(v expr.Value) int {
	if v.IsObject() {
		return 4
	}
	return 1
}

// output converts a result. It pays for every value with output and memory: results share their
// parts, and the values that are made of them do not.
func (m *meter) output(v any, depth int) (expr.Value, error) {
	if depth > expr.MaxDepth {
		return expr.Null, &expr.LimitError{Limit: "value-depth", Max: expr.MaxDepth}
	}
	size := 1
	if text, ok := v.(string); ok {
		size += len(text)
	}
	if err := m.budget.Emit(size); err != nil {
		return expr.Null, m.end(err)
	}
	if err := m.alloc(valueBytes); err != nil {
		return expr.Null, err
	}
	switch x := v.(type) {
	case nil:
		return expr.Null, nil
	case bool:
		return expr.Bool(x), nil
	case int:
		return expr.Int(int64(x)), nil
	case float64:
		return float(x), nil
	case *big.Int:
		return expr.Number(x.String())
	case json.Number:
		return expr.Number(string(x))
	case string:
		return expr.String(validText(x)), nil
	case []any:
		items := make([]expr.Value, 0, min(len(x), spareItems))
		for _, item := range x {
			one, err := m.output(item, depth+1)
			if err != nil {
				return expr.Null, err
			}
			items = append(items, one)
		}
		return expr.Array(items...), nil
	case map[string]any:
		members := make([]expr.Member, 0, min(len(x), spareItems))
		for _, key := range slices.Sorted(maps.Keys(x)) {
			if err := m.budget.Emit(len(key)); err != nil {
				return expr.Null, m.end(err)
			}
			one, err := m.output(x[key], depth+1)
			if err != nil {
				return expr.Null, err
			}
			members = append(members, expr.Member{Key: validText(key), Value: one})
		}
		return expr.Object(members...), nil
	}
	return expr.Null, &Error{Msg: fmt.Sprintf("a %T is not a value", v)}
}

// validText is text as JSON holds it, with U+FFFD for what is not UTF-8.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

const (
	valueBytes = 24   // of an expr.Value
	spareItems = 1024 // for how many items there is room before they are paid
)

// float is a computed number, as jq writes it.
func float(f float64) expr.Value {
	if f == math.Trunc(f) && math.Abs(f) < exact {
		return expr.Int(int64(f))
	}
	v, err := expr.Number(string(appendFloat(nil, f)))
	if err != nil { // NaN
		return expr.Null
	}
	return v
}

// exact is below what every whole number is a float64.
const exact = 1 << 53

// encoder writes results as JSON, up to the limit of the budget.
type encoder struct {
	text      []byte
	left, max int
}

func (e *encoder) spend(from int) error {
	e.left -= len(e.text) - from
	if e.left < 0 {
		return &expr.LimitError{Limit: "expression-output", Max: e.max}
	}
	return nil
}

func (e *encoder) value(v any, depth int) error {
	if depth > expr.MaxDepth {
		return &expr.LimitError{Limit: "value-depth", Max: expr.MaxDepth}
	}
	from := len(e.text)
	switch x := v.(type) {
	case []any:
		return e.array(x, depth)
	case map[string]any:
		return e.object(x, depth)
	case nil:
		e.text = append(e.text, "null"...)
	case bool:
		e.text = strconv.AppendBool(e.text, x)
	case int:
		e.text = strconv.AppendInt(e.text, int64(x), 10)
	case float64:
		e.text = appendFloat(e.text, x)
	case *big.Int:
		e.text = x.Append(e.text, 10)
	case json.Number:
		e.text = append(e.text, x...)
	case string:
		if len(x) > e.left {
			return &expr.LimitError{Limit: "expression-output", Max: e.max}
		}
		e.text = expr.AppendQuoted(e.text, x)
	default:
		return &Error{Msg: fmt.Sprintf("a %T is not a value", v)}
	}
	return e.spend(from)
}

func (e *encoder) array(items []any, depth int) error {
	e.text = append(e.text, '[')
	for i, item := range items {
		if i > 0 {
			e.text = append(e.text, ',')
		}
		e.left--
		if e.left < 0 {
			return e.spend(len(e.text))
		}
		if err := e.value(item, depth+1); err != nil {
			return err
		}
	}
	e.text = append(e.text, ']')
	return e.spend(len(e.text) - 1)
}

func (e *encoder) object(members map[string]any, depth int) error {
	e.text = append(e.text, '{')
	for i, key := range slices.Sorted(maps.Keys(members)) {
		from := len(e.text)
		if i > 0 {
			e.text = append(e.text, ',')
		}
		e.text = append(expr.AppendQuoted(e.text, key), ':')
		if err := e.spend(from); err != nil {
			return err
		}
		if err := e.value(members[key], depth+1); err != nil {
			return err
		}
	}
	e.text = append(e.text, '}')
	return e.spend(len(e.text) - 1)
}

// appendFloat writes a computed number. NaN and infinities, which JSON lacks, are written as
// jq does.
func appendFloat(text []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(text, "null"...)
	case math.IsInf(f, 0):
		f = math.Copysign(math.MaxFloat64, f)
	case f == math.Trunc(f) && math.Abs(f) < 1e17, math.Abs(f) >= 1e-4 && math.Abs(f) < 1e17:
		return strconv.AppendFloat(text, f, 'f', -1, 64)
	}
	return expr.Float(f).AppendJSON(text)
}
