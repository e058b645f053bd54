package server

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// parseBody reads JSON that every reader reads alike: no object repeats a key, and numbers and nesting
// stay within the limits of documents.
func parseBody(text []byte) (expr.Value, error) {
	v, err := expr.ParseUnique(text)
	if err != nil {
		return expr.Null, err
	}
	return v, checkShape(v, 1)
}

func checkShape(v expr.Value, depth int) error {
	limits := &dialect.DefaultLimits
	switch v.Kind() {
	case expr.KindNumber:
		if n := len(v.NumberText()); n > limits.Digits {
			return fmt.Errorf("a number has %d characters, more than %d (limit document-digits)", n, limits.Digits)
		}
	case expr.KindArray, expr.KindObject:
		if depth > limits.Depth {
			return fmt.Errorf("it is nested deeper than %d (limit document-depth)", limits.Depth)
		}
		for _, item := range v.Items() {
			if err := checkShape(item, depth+1); err != nil {
				return err
			}
		}
		for _, m := range v.Members() {
			if err := checkShape(m.Value, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
