package jq

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Budget bounds a filter. Fields that are 0 are as in [DefaultBudget].
type Budget struct {
	Source int // filter-source: bytes of its text
	Steps  int // expression-steps: instructions, and what functions look at
	Values int // filter-values: values that one run gives
	Output int // expression-output: bytes of their text
	Memory int // filter-memory: bytes that one run makes, with the stacks of the interpreter
}

// DefaultBudget holds where nothing else is said.
var DefaultBudget = Budget{
	Source: 4 << 10, // filter-source
	Steps:  expr.MaxSteps,
	Values: 100_000, // filter-values
	Output: expr.MaxOutput,
	Memory: 16 << 20, // filter-memory
}

func (b Budget) withDefaults() Budget {
	fill := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	fill(&b.Source, DefaultBudget.Source)
	fill(&b.Steps, DefaultBudget.Steps)
	fill(&b.Values, DefaultBudget.Values)
	fill(&b.Output, DefaultBudget.Output)
	fill(&b.Memory, DefaultBudget.Memory)
	return b
}

// Error is a failure of a filter with the data it got, such as an index into text.
type Error struct {
	Msg string

	own bool // the filter says so itself, with error(…)
}

func (e *Error) Error() string { return e.Msg }

// Filter is a compiled filter. It does not change, and may run many times at once.
type Filter struct {
	budget Budget
	src    string
	code   *code
}

// Compile turns a filter into one that can run. A *expr.SyntaxError says where it is
// malformed, or uses what filters may not; a *expr.LimitError that it is too long.
func Compile(src string, b Budget) (*Filter, error) {
	b = b.withDefaults()
	if len(src) > b.Source {
		return nil, &expr.LimitError{Limit: "filter-source", Max: b.Source}
	}
	query, err := parse(src)
	if err != nil {
		return nil, err
	}
	vars := look(query).variables()
	f := &Filter{budget: b, src: src}
	if f.code, err = rewrite(src, query); err != nil {
		return nil, err
	}
	if len(vars) > 0 {
		return nil, &expr.SyntaxError{Offset: find(src, "$"+vars[0].name), Msg: "variable not defined: $" + vars[0].name}
	}
	if _, err := newMachine(src, f.code, nil); err != nil {
		return nil, err
	}
	return f, nil
}

// Run gives v to the filter, and emit each of the values that it makes of it as compact
// JSON, which is only good until emit returns. It ends with a *Error where the filter
// fails, a *expr.LimitError where the budget is used up, ctx's error, or emit's. now is the
// time of the whole run, and its zone that of local times.
func (f *Filter) Run(ctx context.Context, now time.Time, v expr.Value, emit func([]byte) error) error {
	m, err := newMachine(f.src, f.code, nil)
	if err != nil {
		return err
	}
	stop := func() bool { return ctx.Err() != nil }
	m.meter = f.meter(now, &stop)
	err = f.run(m, v, emit)
	if limit := (*expr.LimitError)(nil); errors.As(err, &limit) && limit.Limit == "expression-steps" {
		return &expr.LimitError{Limit: "expression-steps", Max: f.budget.Steps}
	}
	if errors.Is(err, expr.ErrStopped) {
		return ctx.Err()
	}
	return err
}

// meter measures one run.
func (f *Filter) meter(now time.Time, stop *func() bool) meter {
	budget := expr.Budget{Steps: f.budget.Steps, Depth: expr.MaxNested, Output: f.budget.Output}
	budget.Until(stop)
	clock := func() (time.Time, error) { return now, nil }
	return meter{budget: &budget, memory: f.budget.Memory, clock: clock, zone: now.Location()}
}

func (f *Filter) run(m *machine, v expr.Value, emit func([]byte) error) error {
	input, err := m.input(v, nil, 0)
	if err != nil {
		return err
	}
	out := &encoder{left: f.budget.Output, max: f.budget.Output}
	n := 0
	return m.each(input, nil, func(result any) error {
		if n == f.budget.Values {
			return &expr.LimitError{Limit: "filter-values", Max: f.budget.Values}
		}
		n++
		out.text = out.text[:0]
		if err := out.value(result, 0); err != nil {
			return err
		}
		return emit(out.text)
	})
}
