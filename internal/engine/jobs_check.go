package engine

import (
	"fmt"
	"math"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// sizeOf is about how many bytes a value takes as text.
func sizeOf(v expr.Value) int {
	bytes, _, _ := expr.Measure(v, math.MaxInt, expr.MaxDepth)
	return bytes
}

// tooMuch says why a job would fail as soon as it is created: its data exceeds a limit.
// Only what comes near to one is tried.
func (e *Engine) tooMuch(d *definition, input expr.Value) (why string, err error) {
	if _, deep, large := expr.Measure(input, d.prog.Limits.DataBytes/2, expr.MaxDepth/2); !deep && !large {
		return "", nil
	}
	err = guard(func() error {
		res, err := core.Step(d.prog, nil, e.now(), core.Start{Data: input})
		if err == nil && res.State.Status() == core.Failed {
			why = res.State.Fault().Detail
		}
		return err
	})
	return why, err
}

// checkNumbers refuses numbers that no 64-bit float holds. Most readers of JSON cannot
// read them, and with them the whole list that a job is in. what is whose input it is, and
// at the place where the value stands in it.
func checkNumbers(what, at string, v expr.Value) error {
	pointer, ok := hugeNumber(v)
	if !ok {
		return nil
	}
	return &InputError{Definition: what, Input: v, Violations: []Violation{{
		at + pointer, "the number is too large: numbers are at most 1.8e308, as most programs read them",
	}}}
}

// hugeNumber finds a number that is too large, and says where.
func hugeNumber(v expr.Value) (pointer string, found bool) {
	switch v.Kind() {
	case expr.KindNumber:
		return "", math.IsInf(v.Float(), 0)
	case expr.KindArray:
		for i, it := range v.Items() {
			if pointer, found = hugeNumber(it); found {
				return fmt.Sprintf("/%d%s", i, pointer), true
			}
		}
	case expr.KindObject:
		for _, m := range v.Members() {
			if pointer, found = hugeNumber(m.Value); found {
				return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(m.Key) + pointer, true
			}
		}
	}
	return "", false
}
