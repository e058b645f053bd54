package jq

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/lockstep-workflows/lockstep/expr"
)

// maxDigits is how long a number may be that filters compute with: arithmetic with
// longer ones takes more than its share of time.
const maxDigits = 1000 // filter-digits

// input gives a value the form that the interpreter works with. Numbers keep their text
// until something is computed from them.
func (m *meter) input(v expr.Value, depth int) (any, error) {
	if depth > expr.MaxDepth {
		return nil, m.refuse("value-depth", expr.MaxDepth)
	}
	switch v.Kind() {
	case expr.KindBool:
		return v.Bool(), nil
	case expr.KindNumber:
		text := v.NumberText()
		if i, err := strconv.Atoi(text); err == nil && text != "-0" {
			return i, nil
		}
		if len(text) > maxDigits {
			return nil, m.refuse("filter-digits", maxDigits)
		}
		return json.Number(text), nil
	case expr.KindString:
		return v.Str(), nil
	case expr.KindArray:
		out := make([]any, 0, v.Len())
		for _, item := range v.Items() {
			x, err := m.input(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	case expr.KindObject:
		out := make(map[string]any, v.Len())
		for _, member := range v.Members() {
			x, err := m.input(member.Value, depth+1)
			if err != nil {
				return nil, err
			}
			out[member.Key] = x
		}
		return out, nil
	}
	return nil, nil
}

// encoder writes results as JSON, as far as the budget goes.
type encoder struct {
	text      []byte
	left, max int
}

func (e *encoder) spend(from int) error {
	if e.left -= len(e.text) - from; e.left < 0 {
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
		if e.left--; e.left < 0 {
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

// appendFloat writes a computed number; what JSON cannot write is written as jq does.
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
