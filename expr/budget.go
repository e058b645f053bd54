package expr

import "fmt"

// Budget bounds one evaluation. The zero Budget allows nothing; see [NewBudget].
// Every visit of a value costs a step, every nested evaluation a level of depth,
// every produced value or byte of text output.
type Budget struct {
	Steps  int
	Depth  int
	Output int
}

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
	if b.Steps -= n; b.Steps < 0 {
		return &LimitError{"expression-steps", MaxSteps}
	}
	return nil
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
