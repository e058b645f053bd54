package event

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// Find returns a value in an event as text, the form in which attributes are compared. A place
// that begins with $ is a path into the event or, if it selects nothing there, into its data. Any
// other is the name of a context attribute or, if there is none, of a field of the data
// (semantics.md §Functions, events, errors: correlation-token).
func (e Event) Find(place string) (string, bool) {
	var v expr.Value
	var ok bool
	if strings.HasPrefix(place, "$") {
		v, ok = selected(place, e.Value())
		if !ok && e.HasData {
			v, ok = selected(place, e.Data)
		}
	} else {
		if value, ok := e.Attribute(place); ok {
			return value, true
		}
		v, ok = e.Data.Get(place)
	}
	if !ok || v.IsNull() {
		return "", false
	}
	return v.Text(), true
}

// selected is what a path selects. Front-ends refuse paths that do not compile; a path that
// exceeds the budget selects nothing.
func selected(path string, v expr.Value) (expr.Value, bool) {
	program, err := jsonpath.Compiler{}.Compile(path)
	if err != nil {
		return expr.Null, false
	}
	b := expr.NewBudget()
	r, err := program.Eval(v, &b)
	return r.Value, err == nil && !r.Missing
}

// Handed is the event as an instance gets it. The values of keys that are elsewhere in the event
// are added under the names of the keys, where the core looks for them.
func (e Event) Handed(keys []Key) expr.Value {
	v := e.Value()
	for _, k := range keys {
		if k.From == "" {
			continue
		}
		if text, ok := k.Of(e); ok {
			v = v.With(k.Name, expr.String(text))
		}
	}
	return v
}
