package event

import (
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Parse reads an event that comes from outside, in CloudEvents' JSON format.
func Parse(text []byte) (Event, error) {
	v, err := expr.ParseUnique(text)
	var repeated *expr.RepeatedKeyError
	switch {
	case errors.As(err, &repeated):
		return Event{}, Repeated(repeated.Path)
	case err != nil:
		return Event{}, fmt.Errorf("event: %w", err)
	}
	return Receive(v)
}

// Repeated is what is wrong with an event where this key in it is given twice.
func Repeated(path []string) *AttributeError {
	if len(path) == 1 {
		return &AttributeError{path[0], "is given twice"}
	}
	return &AttributeError{path[0], fmt.Sprintf("the key %.100q is given twice", path[len(path)-1])}
}

// Receive is [FromValue] for an event that comes from outside. It obeys CloudEvents to
// the letter: specversion is required, and no attribute has control characters or
// noncharacters (CloudEvents §Required Attributes, §Type System).
func Receive(v expr.Value) (Event, error) {
	e, err := FromValue(v)
	if err != nil {
		return Event{}, err
	}
	if given, _ := v.Get("specversion"); given.IsNull() {
		return Event{}, &AttributeError{"specversion", fmt.Sprintf("is required; it is %q", SpecVersion)}
	}
	for _, m := range e.Value().Members() {
		if m.Key == "data" || m.Value.Kind() != expr.KindString {
			continue
		}
		for _, r := range m.Value.Str() {
			if !allowed(r) {
				return Event{}, &AttributeError{m.Key, fmt.Sprintf("has the character %U, which CloudEvents does not allow", r)}
			}
		}
	}
	return e, nil
}

// allowed reports whether an attribute may have a character.
func allowed(r rune) bool {
	control := r < 0x20 || r >= 0x7f && r < 0xa0
	return !control && (r < 0xfdd0 || r > 0xfdef) && r&0xfffe != 0xfffe
}
