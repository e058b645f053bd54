package jq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/itchyny/gojq"

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
type Error struct{ Msg string }

func (e *Error) Error() string { return e.Msg }

// Filter is a compiled filter. It does not change, and may run many times at once.
type Filter struct {
	budget  Budget
	query   *gojq.Query
	natives map[string]*gojq.Code // those that the filter uses, by their names in natives.go
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
	g := &guard{src: src, natives: map[string]*gojq.Code{}, needed: map[string]bool{}}
	if err := g.program(query); err != nil {
		return nil, err
	}
	f := &Filter{budget: b, query: g.withPrelude(query), natives: g.natives}
	if g.failed != nil {
		return nil, g.failed
	}
	if _, err := gojq.Compile(f.query, (&meter{filter: f}).functions()...); err != nil {
		return nil, &expr.SyntaxError{Msg: err.Error()}
	}
	return f, nil
}

// parse reads a filter, and makes the interpreter's error one of ours.
func parse(src string) (*gojq.Query, error) {
	if strings.TrimSpace(src) == "" {
		return nil, &expr.SyntaxError{Msg: "the filter is empty", Hint: `"." lets everything through`}
	}
	query, err := gojq.Parse(src)
	var at *gojq.ParseError
	switch {
	case errors.As(err, &at):
		return nil, &expr.SyntaxError{Offset: max(0, at.Offset-len(at.Token)), Msg: at.Error()}
	case err != nil:
		return nil, &expr.SyntaxError{Msg: err.Error()}
	}
	return query, nil
}

// Run gives v to the filter, and emit each of the values that it makes of it as compact
// JSON, which is only good until emit returns. It ends with a *Error where the filter
// fails, a *expr.LimitError where the budget is used up, ctx's error, or emit's. now is the
// time of the whole run, and its zone that of local times.
func (f *Filter) Run(ctx context.Context, now time.Time, v expr.Value, emit func([]byte) error) error {
	return f.run(&meter{filter: f, steps: f.budget.Steps, now: now, parent: ctx}, v, emit)
}

func (f *Filter) run(m *meter, v expr.Value, emit func([]byte) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // a mistake of the interpreter must not end the process
			err = &Error{Msg: fmt.Sprintf("the filter cannot be evaluated: %v", p)}
		}
	}()
	code, err := gojq.Compile(f.query, m.functions()...)
	if err != nil {
		return err
	}
	input, err := m.input(v, 0)
	if err != nil {
		return err
	}
	out := &encoder{left: f.budget.Output, max: f.budget.Output}
	results := code.RunWithContext(m, input)
	m.run = stacksOf(results)
	for n := 0; ; n++ {
		result, more := results.Next()
		if m.over != nil {
			return m.over
		}
		if !more {
			return nil
		}
		if failure, failed := result.(error); failed {
			return m.failure(failure)
		}
		if n == f.budget.Values {
			return &expr.LimitError{Limit: "filter-values", Max: f.budget.Values}
		}
		out.text = out.text[:0]
		if err := out.value(result, 0); err != nil {
			return err
		}
		if err := emit(out.text); err != nil {
			return err
		}
	}
}

// failure tells what went wrong. The value of `error(…)` may be as large as any, so that
// only a part of it is told.
func (m *meter) failure(err error) error {
	if e, ok := err.(gojq.ValueError); ok {
		if text, ok := e.Value().(string); ok {
			return &Error{Msg: short(text)}
		}
		return &Error{Msg: gojq.Preview(e.Value()) + " (not a string)"}
	}
	return &Error{Msg: short(err.Error())}
}

// short bounds a message.
func short(text string) string {
	const most = 500
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
