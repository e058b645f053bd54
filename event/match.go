package event

import (
	"fmt"
	"strings"
)

// Filter selects events.
type Filter struct {
	Source, Type string // must be equal; empty: any
	Either       string // must equal the type or the id; empty: any
	Keys         []Key
	New          bool `json:",omitempty"` // events from before the subscription are not wanted
	Most         int  `json:",omitempty"` // how many events a standing subscription and others of its wait want in all; 0: any number
}

// Key is a correlation attribute. Until it is fixed, an event matches with any value, or
// without one; once it is fixed, an event must have that value (semantics.md §Functions, events,
// errors: Correlation). Void: the value to compare with does not exist, and no event matches.
//
// From is the place of the value in an event, see [Event.Find]; empty: the attribute Name.
type Key struct {
	Name  string
	From  string
	Value string
	Fixed bool
	Void  bool
}

// Of returns the value of the key in an event, as text.
func (k Key) Of(e Event) (string, bool) {
	if k.From == "" {
		return e.Attribute(k.Name)
	}
	return e.Find(k.From)
}

// Match reports whether the filter selects the event, and if not, which attribute differs.
func (f Filter) Match(e Event) (ok bool, why string) {
	if f.Type != "" && e.Type != f.Type {
		return false, differs("type", e.Type, f.Type)
	}
	if f.Source != "" && e.Source != f.Source {
		return false, differs("source", e.Source, f.Source)
	}
	if f.Either != "" && e.Type != f.Either && e.ID != f.Either {
		return false, fmt.Sprintf("neither its type %q nor its id %q is %q", e.Type, e.ID, f.Either)
	}
	for _, k := range f.Keys {
		if k.Void {
			return false, fmt.Sprintf("%s must equal a value that the instance's data does not have", k.Name)
		}
		if !k.Fixed {
			continue
		}
		have, there := k.Of(e)
		switch {
		case !there:
			return false, lacks(e, k)
		case have != k.Value && k.From != "":
			return false, differs(k.From, have, k.Value)
		case have != k.Value:
			return false, differs(k.Name, have, k.Value)
		}
	}
	return true, ""
}

// Correlated reports whether at least one key is fixed, so that the filter does not select every
// event of a type.
func (f Filter) Correlated() bool {
	for _, k := range f.Keys {
		if k.Fixed {
			return true
		}
	}
	return false
}

func differs(name, have, want string) string {
	return fmt.Sprintf("%s is %q, not %q", name, have, want)
}

func lacks(e Event, k Key) string {
	if k.From != "" {
		return fmt.Sprintf("it has nothing at %s, which must be %q", k.From, k.Value)
	}
	why := fmt.Sprintf("it has no attribute %q, which must be %q", k.Name, k.Value)
	for _, m := range e.Extensions {
		if strings.EqualFold(m.Key, k.Name) {
			return why + fmt.Sprintf(" (it has %q; upper and lower case differ)", m.Key)
		}
	}
	if v, ok := e.Data.Get(k.Name); ok {
		return why + fmt.Sprintf(" (its data has %s: %s; correlation looks at attributes beside data)", k.Name, v)
	}
	return why
}
