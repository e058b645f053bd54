package sw05

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// test is a condition of the forms before 0.5: a path by itself, or comparisons.
func (o *outliner) test(t *test) *states.Path {
	if t.path != "" {
		shape, _ := jsonpath.Describe(t.path) // it was read before
		return &states.Path{Pos: t.node.Pos(), Lang: jsonpath.Lang, Src: t.path, Shape: shape, Tree: t.tree}
	}
	return &states.Path{Pos: t.node.Pos(), Lang: choice.Lang, Src: t.label, Tree: t.tree}
}

func (o *outliner) when(k *condition) *states.Path {
	if k.test != nil {
		return o.test(k.test)
	}
	return o.path(k.when)
}

func (o *outliner) guard(t *transition) *states.Path {
	if t.test != nil {
		return o.test(t.test)
	}
	return o.path(t.expression)
}

func (o *outliner) scope(s *scope) *states.Scope {
	if s == nil {
		return nil
	}
	out := &states.Scope{Start: o.states[s.start], Filtered: s.filtered()}
	for _, one := range s.states {
		out.States = append(out.States, o.states[one])
	}
	return out
}

func (o *outliner) handler(e *onError) *states.Handler {
	out := &states.Handler{Pos: e.node.Pos(), When: o.test(e.test), Errors: named(nil, e.test.tree), Exit: o.exit(e.exit), Put: &states.Put{Pos: e.node.Pos(), Name: "error"}}
	if f := e.filter; f != nil && !f.Root {
		keys := f.Keys
		if errorNames[f.First] != "" && len(keys) > 0 {
			keys = keys[1:]
		}
		out.Put = &states.Put{Pos: f.node.Pos(), Name: f.Name, Keys: keys, Odd: f.Keys == nil || f.Name == ""}
	}
	return out
}

func (o *outliner) attempts(list []*stateRetry) []*states.Attempt {
	var out []*states.Attempt
	for _, r := range list {
		out = append(out, &states.Attempt{
			When: o.test(r.test), Errors: named(nil, r.test.tree), Results: !r.test.error,
			Retry: &states.Retry{Pos: r.node.Pos(), Name: r.test.label, Delay: o.duration(r.interval), Add: o.duration(r.increment), Max: r.maxAttempts},
		})
	}
	return out
}

// named are the errors whose names a condition compares with.
func named(out []*states.Error, c choice.Condition) []*states.Error {
	for _, item := range c.Items {
		out = named(out, item)
	}
	if c.Value.Kind() == expr.KindString && (c.Path == "$.error.name" || c.Path == "$.name") {
		out = append(out, &states.Error{Name: c.Value.Str()})
	}
	return out
}
