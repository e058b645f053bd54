package naive08

import (
	"maps"
	"slices"
)

// contribution is what an action, a child or an event adds to the data around it.
type contribution struct {
	value any
	some  bool     // there is a value
	place []string // where it goes; none: to the top
	name  string   // of the action
}

// unnamed is the contribution of a workflow that a state of 0.6 runs, which is no action.
func (in *instance) unnamed(v any) contribution { return contribution{value: v, some: true} }

// apply merges contributions in order. Null merges nothing. What is no object and has no place gets a
// key: in 0.9 that of its action, before it response.
func (in *instance) apply(data any, all []contribution) (any, error) {
	for _, c := range all {
		if !c.some || c.value == nil {
			continue
		}
		_, isObject := c.value.(map[string]any)
		switch {
		case len(c.place) > 0:
			data = in.mergeAt(data, c.place, c.value)
		case isObject:
			data = merge(data, c.value)
		default:
			in.w.saw("a result that is no object")
			key := "response"
			if in.w.c.Form == 9 {
				key = c.name + "-output"
			}
			data = merge(data, map[string]any{key: c.value})
		}
	}
	return data, nil
}

// merge adds b to a: objects deeply, arrays without repeating equal items, else b wins (§Data Merging).
func merge(a, b any) any {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return b
		}
		out := maps.Clone(x)
		for key, v := range y {
			if old, ok := x[key]; ok {
				v = merge(old, v)
			}
			out[key] = v
		}
		return out
	case []any:
		y, ok := b.([]any)
		if !ok {
			return b
		}
		out := slices.Clone(x)
		for _, v := range y {
			if !slices.ContainsFunc(out, func(o any) bool { return equal(o, v) }) {
				out = append(out, v)
			}
		}
		return out
	}
	return b
}

// mergeAt merges a value at a place; objects on the way are created.
func (in *instance) mergeAt(data any, place []string, v any) any {
	return in.changeAt(data, place, func(old any, there bool) any {
		if !there {
			return v
		}
		return merge(old, v)
	})
}

// appendTo adds the results of iterations to a collection, which is created if it is missing.
func (in *instance) appendTo(data any, place []string, items []any) (any, error) {
	return in.changeAt(data, place, func(old any, there bool) any {
		all, ok := old.([]any)
		if there && !ok && old != nil {
			in.w.isOpen(openTarget)
		}
		return append(slices.Clone(all), items...)
	}), nil
}

func (in *instance) changeAt(data any, place []string, change func(old any, there bool) any) any {
	o, ok := data.(map[string]any)
	if !ok {
		if data != nil {
			in.w.isOpen(openTarget)
		}
		o = map[string]any{}
	}
	o = maps.Clone(o)
	old, there := o[place[0]]
	if len(place) == 1 {
		o[place[0]] = change(old, there)
	} else {
		o[place[0]] = in.changeAt(old, place[1:], change)
	}
	return o
}
