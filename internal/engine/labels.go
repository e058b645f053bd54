package engine

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// LabelError refuses the name or a label that an instance is given.
type LabelError struct{ Problem string }

func (e *LabelError) Error() string { return e.Problem }

// checkLabels says what is wrong with the name and the labels of a request.
func (r *StartRequest) checkLabels() error {
	if problem := ir.CheckName(r.Name); problem != "" {
		return &LabelError{problem}
	}
	if len(r.Labels) > ir.MaxLabels {
		return &LabelError{fmt.Sprintf("%d labels are more than %d (limit instance-labels)", len(r.Labels), ir.MaxLabels)}
	}
	if len(r.Labels) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		problem := ir.CheckLabelName(name)
		if problem == "" && !utf8.ValidString(r.Labels[name]) {
			problem = fmt.Sprintf("the value of label %q is not UTF-8 text", name)
		}
		if problem == "" {
			problem = core.CheckLabelValue(name, expr.String(r.Labels[name]))
		}
		if problem != "" {
			return &LabelError{problem}
		}
	}
	return nil
}

// labels are the name and the labels of a request as the core takes them; null: none.
func (r *StartRequest) labels() expr.Value {
	if r.Name == "" && len(r.Labels) == 0 {
		return expr.Null
	}
	out := expr.EmptyObject
	if r.Name != "" {
		out = out.With(ir.LabelName, expr.String(r.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		out = out.With(name, expr.String(r.Labels[name]))
	}
	return out
}

// named takes the name out of labels.
func named(labels expr.Value) (name string, others expr.Value) {
	v, ok := labels.Get(ir.LabelName)
	if !ok || v.Kind() != expr.KindString {
		return "", labels
	}
	return v.Str(), labels.Without(ir.LabelName)
}
