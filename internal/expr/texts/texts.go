// Package texts looks at the texts inside of values, and changes them.
package texts

import (
	"errors"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Any reports whether a text of a value, or a key, is one.
func Any(v expr.Value, is func(string) bool) bool {
	_, err := Map(v, func(text string) (string, error) {
		if is(text) {
			return text, errFound
		}
		return text, nil
	})
	return err != nil
}

var errFound = errors.New("there is one")

// Map changes every text of a value, keys included. A value without a change stays the same one.
func Map(v expr.Value, change func(string) (string, error)) (expr.Value, error) {
	switch v.Kind() {
	case expr.KindString:
		text, err := change(v.Str())
		if err != nil || text == v.Str() {
			return v, err
		}
		return expr.String(text), nil
	case expr.KindArray:
		var items []expr.Value
		for i, item := range v.Items() {
			out, err := Map(item, change)
			if err != nil {
				return v, err
			}
			if items == nil && !out.Same(item) {
				items = slices.Clone(v.Items())
			}
			if items != nil {
				items[i] = out
			}
		}
		if items != nil {
			return expr.Array(items...), nil
		}
	case expr.KindObject:
		var members []expr.Member
		for i, m := range v.Members() {
			key, err := change(m.Key)
			if err != nil {
				return v, err
			}
			out, err := Map(m.Value, change)
			if err != nil {
				return v, err
			}
			if members == nil && (key != m.Key || !out.Same(m.Value)) {
				members = slices.Clone(v.Members())
			}
			if members != nil {
				members[i] = expr.Member{Key: key, Value: out}
			}
		}
		if members != nil {
			return expr.Object(members...), nil
		}
	}
	return v, nil
}
