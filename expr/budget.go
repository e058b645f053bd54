package expr

import (
	"errors"
	"fmt"
)

// Budget bounds one evaluation. The zero Budget allows nothing; see [NewBudget].
// Every visit of a value costs a step, every nested evaluation a level of depth,
// every produced value or byte of text output. A step of any kind takes about the
// same time, at most 50 ns or so, so that steps are a measure of work.
type Budget struct {
	Steps  int
	Depth  int
	Output int

	extra int // work beyond the steps
	stop  *func() bool
	ask   int // below as many steps there is something to look at: the end, or stop
}

// StopEvery is after how many steps an evaluation asks whether to stop.
const StopEvery = 4096

// ErrStopped says that an evaluation was stopped from outside. What it would have
// given is not known.
var ErrStopped = errors.New("the evaluation was stopped")

// Limits of one evaluation. They are counts, not times, so that every machine
// stops at the same place.
const (
	MaxSteps  = 1_000_000
	MaxNested = 64
	MaxOutput = 16 << 20
)

// NewBudget returns the default budget.
func NewBudget() Budget { return Budget{Steps: MaxSteps, Depth: MaxNested, Output: MaxOutput} }

// LimitError says which limit an evaluation ran into.
type LimitError struct {
	Limit string // its name, as in the documentation of limits
	Max   int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the expression exceeds the limit %s (%d)", e.Limit, e.Max)
}

// Step spends n steps.
func (b *Budget) Step(n int) error {
	if b.Steps -= n; b.Steps < b.ask {
		return b.look()
	}
	return nil
}

func (b *Budget) look() error {
	if b.Steps < 0 {
		return &LimitError{"expression-steps", MaxSteps}
	}
	for b.Steps < b.ask { // many times for what takes many steps at once, before it is done
		if (*b.stop)() {
			return ErrStopped
		}
		b.ask = max(b.ask-StopEvery, 0)
	}
	return nil
}

// Work counts work, in steps, that [Budget.Steps] does not bound.
func (b *Budget) Work(n int) { b.extra += n }

// outputPerStep is how much output a step pays for.
const outputPerStep = 5

// Spent is the work of an evaluation, in steps, that began with as many steps and the
// output of [NewBudget]: also that of producing output.
func (b *Budget) Spent(steps int) int {
	return steps - max(b.Steps, 0) + (MaxOutput-max(b.Output, 0))/outputPerStep + b.extra
}

// Times is the budget with n times the steps, for what counts them in smaller parts.
func (b *Budget) Times(n int) Budget {
	out := *b
	out.Steps *= n
	out.Until(b.stop)
	return out
}

// Until lets stop, where it is not nil, end the evaluation with [ErrStopped]. It is
// asked once for every [StopEvery] steps, so that counting the questions measures the work.
func (b *Budget) Until(stop *func() bool) {
	if b.stop, b.ask = stop, 0; stop != nil {
		b.ask = max(b.Steps-StopEvery, 0)
	}
}

// Emit spends n units of output.
func (b *Budget) Emit(n int) error {
	if b.Output -= n; b.Output < 0 {
		return &LimitError{"expression-output", MaxOutput}
	}
	return nil
}

// Enter goes one level deeper; Leave comes back.
func (b *Budget) Enter() error {
	if b.Depth--; b.Depth < 0 {
		return &LimitError{"expression-depth", MaxNested}
	}
	return nil
}

// Leave undoes one Enter.
func (b *Budget) Leave() { b.Depth++ }

// EmitValue spends what a whole value weighs as output: a unit for every value in
// it, and one for every byte of text. Values share their parts, so a few words of
// memory may stand for a value too large to write down; whatever builds values
// out of others pays here. depth is how deep v will stand in what is built, which
// as a whole may not nest deeper than [MaxDepth].
func (b *Budget) EmitValue(v Value, depth int) error {
	if depth > MaxDepth {
		return &LimitError{"value-depth", MaxDepth}
	}
	if err := b.Emit(1 + textLen(v)); err != nil {
		return err
	}
	for _, it := range v.Items() {
		if err := b.EmitValue(it, depth+1); err != nil {
			return err
		}
	}
	for _, m := range v.Members() {
		if err := b.Emit(len(m.Key)); err != nil {
			return err
		}
		if err := b.EmitValue(m.Value, depth+1); err != nil {
			return err
		}
	}
	return nil
}
