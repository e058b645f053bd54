package jq

import (
	"encoding/json"
	"math"
	"math/big"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// meter is what one run has left. It is also the run's context: the interpreter asks
// Done before every instruction, which is how instructions are counted.
type meter struct {
	budget *expr.Budget
	memory int // bytes that the run may make
	clock  func() (time.Time, error)
	zone   *time.Location // of local times

	paysInput bool // converting the input costs steps

	made   int     // bytes, see memory.go
	stacks int     // bytes of the interpreter's stacks, at most so far
	run    []stack // those
	asked  int
	deep   bool   // a value nests too deeply
	over   error  // why the run must end
	ended  func() // called when it must end; nil: never
}

// closed is always ready.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done counts an instruction, and is ready when there is to be no other.
func (m *meter) Done() <-chan struct{} {
	m.asked++
	if m.asked&0x3f == 0 {
		_ = m.weighStacks() // it is told below
	}
	if m.pay(1) != nil {
		return closed
	}
	return nil
}

// Err is why the run ended.
func (m *meter) Err() error { return m.over }

// Deadline is unknown: whoever stops the budget watches it.
func (m *meter) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value knows nothing.
func (m *meter) Value(any) any { return nil }

// pay spends n steps.
func (m *meter) pay(n int) error {
	if m.over != nil {
		return m.over
	}
	if n < 0 { // it has overflowed
		n = math.MaxInt32
	}
	if err := m.budget.Step(n); err != nil {
		return m.end(err)
	}
	return nil
}

// refuse ends the run for another reason; the filter cannot catch it.
func (m *meter) refuse(limit string, most int) error {
	return m.end(&expr.LimitError{Limit: limit, Max: most})
}

// end ends the run, unless it has ended already.
func (m *meter) end(why error) error {
	if m.over == nil {
		m.over = why
		if m.ended != nil {
			m.ended()
		}
	}
	return m.over
}

// bytesPerStep is how much text is handled for one step.
const bytesPerStep = 16

// breadth is what one value weighs without what is in it: items, members, or a part of
// its text.
func breadth(v any) int {
	switch x := v.(type) {
	case string:
		return 1 + len(x)/bytesPerStep
	case json.Number:
		return 1 + len(x)/bytesPerStep
	case *big.Int:
		return 1 + x.BitLen()/bytesPerStep
	case []any:
		return 1 + len(x)
	case map[string]any:
		return 1 + 2*len(x)
	}
	return 1
}

// broad pays for the breadth of values.
func (m *meter) broad(values ...any) error {
	for _, v := range values {
		if err := m.pay(breadth(v)); err != nil {
			return err
		}
	}
	return nil
}

// whole pays for values with everything in them. Values share their parts: a small one
// may be endless to walk through, and this walk ends with the budget.
func (m *meter) whole(values ...any) error {
	for _, v := range values {
		if err := m.walk(v, 0); err != nil {
			return err
		}
	}
	if m.deep {
		return m.refuse("value-depth", expr.MaxDepth)
	}
	return nil
}

// walk notes what is too deep and goes on, so that the order of a map does not decide which
// limit the run exceeds.
func (m *meter) walk(v any, depth int) error {
	if depth > expr.MaxDepth {
		m.deep = true
		return nil
	}
	switch x := v.(type) {
	case []any:
		if err := m.pay(1); err != nil {
			return err
		}
		for _, item := range x {
			if err := m.walk(item, depth+1); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if err := m.pay(breadth(x)); err != nil {
			return err
		}
		for _, member := range x { // a sum: any order gives the same
			if err := m.walk(member, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return m.pay(breadth(v))
}

// weigh is what whole would take for these values, and takes it.
func (m *meter) weigh(values ...any) (int, error) {
	before := m.budget.Steps
	err := m.whole(values...)
	return before - m.budget.Steps, err
}

// times is a product that does not overflow; a negative factor counts as none.
func times(a, b int) int {
	const most = 1 << 30
	a, b = max(0, a), max(0, b)
	if a > most || b > most || (a > 0 && b > most/a) {
		return most
	}
	return a * b
}
