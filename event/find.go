package event

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// Find returns what stands somewhere in an event, as text: how attributes are compared.
// A place that begins with $ is a path into the event, or where it selects nothing
// there, into its data; every other is the name of a context attribute, else of a field
// of the data (SEMANTICS §Functions, events, errors: correlation-token).
func (e Event) Find(place string) (string, bool) {
	var v expr.Value
	var ok bool
	if strings.HasPrefix(place, "$") {
		if v, ok = selected(place, e.Value()); !ok && e.HasData {
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
	return text(v), true
}

// selected is what a path selects. Front-ends refuse paths that do not compile, and one
// that asks for too much finds nothing.
func selected(path string, v expr.Value) (expr.Value, bool) {
	program, err := jsonpath.Compiler{}.Compile(path)
	if err != nil {
		return expr.Null, false
	}
	b := expr.NewBudget()
	r, err := program.Eval(v, &b)
	return r.Value, err == nil && !r.Missing
}

// Handed is the event as an instance gets it: with what keys find elsewhere in it under
// their names, where the core looks for it.
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
