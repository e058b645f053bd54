package jq

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
)

// lend lays what a scope lends below its data.
func lend(in *expr.Scope, b *expr.Budget) error {
	if in.Lent.IsNull() || !in.Data.IsObject() {
		return nil
	}
	if err := b.Step(in.Data.Len() + in.Lent.Len()); err != nil {
		return err
	}
	in.Data, in.Lent = expr.Overlay(in.Data, in.Lent), expr.Null
	return nil
}

// decide is what a condition decides that gave a value or an error. The error names the kind of the
// value only, which may be a secret.
func decide(v expr.Value, err error) (expr.Value, error) {
	const must = "a condition must be true or false"
	switch {
	case err == errSeveral:
		return v, &Error{Msg: "the expression gives more than one value; " + must}
	case err != nil || v.Kind() == expr.KindBool:
		return v, err
	case v.IsNull():
		return expr.Bool(false), nil
	}
	return v, &Error{Msg: fmt.Sprintf("the expression gives %s; %s", v.Kind().WithArticle(), must)}
}

// all runs the filter: several results are a list, none is null.
func (m *machine) all(input any, vars []any) (expr.Value, error) {
	var results []expr.Value
	err := m.each(input, vars, func(one any) error {
		v, err := m.output(one, 1)
		results = append(results, v)
		return err
	})
	switch {
	case err != nil || len(results) == 0:
		return expr.Null, err
	case len(results) == 1:
		return results[0], nil
	}
	return expr.Array(results...), nil
}
