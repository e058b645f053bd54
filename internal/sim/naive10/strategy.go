package naive10

import (
	"encoding/base64"
	"regexp"
)

// strategy says which events a listen or a schedule takes, and when it has enough.
type strategy struct {
	in      *instance
	sc      scope
	kind    string // one, any or all
	filters []filter
	filled  []bool
	keys    map[string]any // correlation values of what was taken, for all filters of a listen
	read    string
	until   *strategy // events that end it
	cond    string    // a condition that ends it
	taken   []any     // as read
	done    bool
	err     error // of the condition
}

type filter struct {
	with   map[string]any
	from   map[string]string // by key: how to get a value from an event
	expect map[string]any    // by key: what it must be, where that is said
}

// strategy reads one. What correlations expect is evaluated now.
func (in *instance) strategy(def map[string]any, read any, sc scope, input any, keys map[string]any) (*strategy, error) {
	s := &strategy{in: in, sc: sc, keys: keys, read: named(read, "data")}
	var filters []any
	for _, kind := range []string{"one", "any", "all"} {
		if v, ok := def[kind]; ok {
			s.kind, filters = kind, list(v)
			if kind == "one" {
				filters = []any{v}
			}
		}
	}
	in.w.saw("events: " + s.kind)
	for _, v := range filters {
		f := filter{object(object(v)["with"]), map[string]string{}, map[string]any{}}
		for key, c := range object(object(v)["correlate"]) {
			f.from[key] = text(object(c)["from"])
			if expect, ok := object(c)["expect"]; ok {
				var err error
				if f.expect[key], err = in.template(sc, expect, input); err != nil {
					return nil, err
				}
			}
		}
		s.filters = append(s.filters, f)
	}
	s.filled = make([]bool, len(s.filters))
	var err error
	switch until := def["until"].(type) {
	case string:
		s.cond = until
	case map[string]any:
		s.until, err = in.strategy(until, read, sc, input, keys)
	}
	return s, err
}

// offer shows an event to a strategy. counts says that it is one of those that are asked
// for, not one that only ends the asking.
func (s *strategy) offer(a *arrival, early bool) (took, counts bool) {
	if s.done {
		return false, false
	}
	if s.until != nil {
		if took, _ := s.until.offer(a, early); took {
			s.in.w.saw("until events")
			s.done, s.err = s.until.done, s.until.err
			return true, false
		}
	}
	if s.kind == "any" && len(s.filters) == 0 {
		if early {
			return false, false
		}
		s.in.w.saw("every event")
		s.take(a)
		return true, true
	}
	for i, f := range s.filters {
		if s.kind == "all" && s.filled[i] {
			continue
		}
		values, ok := s.matches(f, a.event)
		if !ok {
			continue
		}
		for key, v := range values {
			if _, fixed := s.keys[key]; !fixed {
				s.keys[key] = v
			}
		}
		s.filled[i] = true
		s.take(a)
		return true, true
	}
	return false, false
}

// take notes an event, and whether that is enough.
func (s *strategy) take(a *arrival) {
	s.taken = append(s.taken, readEvent(a.event, s.read))
	switch {
	case s.kind == "one":
		s.done = true
	case s.kind == "all":
		s.done = true
		for _, filled := range s.filled {
			s.done = s.done && filled
		}
	case s.cond != "":
		s.done, s.err = s.in.truth(s.sc, s.cond, append([]any{}, s.taken...))
		s.done = s.done || s.err != nil
		s.in.w.saw("until a condition")
	default:
		s.done = s.until == nil
	}
}

// matches compares an event with a filter, and gives its values of the correlation keys.
func (s *strategy) matches(f filter, event map[string]any) (map[string]any, bool) {
	for key, want := range f.with {
		has, ok := event[key]
		if !ok || !s.attribute(want, has) {
			return nil, false
		}
	}
	values := map[string]any{}
	for key, from := range f.from {
		v, err := s.in.eval(s.sc, from, event)
		if err != nil || v == nil {
			return nil, false
		}
		want, ok := f.expect[key]
		if !ok {
			want, ok = s.keys[key]
		}
		if ok && !equal(v, want) {
			s.in.w.saw("an event with another correlation")
			return nil, false
		}
		if ok {
			s.in.w.saw("an event with the right correlation")
		}
		values[key] = v
	}
	return values, true
}

// attribute compares one attribute: a boolean of an expression decides, text is equal or a regular
// expression for all of it, everything else is equal. What fails does not match.
func (s *strategy) attribute(want, has any) bool {
	pattern, isText := want.(string)
	if _, ok := expression(pattern); ok && isText || !isText {
		v, err := s.in.template(s.sc, want, has)
		if holds, ok := v.(bool); ok && isText {
			return holds && err == nil
		}
		return err == nil && equal(v, has)
	}
	if equal(want, has) {
		return true
	}
	value, isText := has.(string)
	re, err := regexp.Compile(`^(?:` + pattern + `)$`)
	return isText && err == nil && re.MatchString(value)
}

// readEvent is what of an event goes into the data.
func readEvent(event map[string]any, read string) any {
	data, ok := event["data"]
	switch {
	case read == "envelope":
		return event
	case read == "raw" && event["data_base64"] != nil:
		return event["data_base64"]
	case read == "raw" && data != nil: // of nothing there is no text
		return string(Encode(data))
	}
	if binary, is := event["data_base64"].(string); is && !ok {
		if plain, err := base64.StdEncoding.DecodeString(binary); err == nil {
			return string(plain)
		}
	}
	return data
}
