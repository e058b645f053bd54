package core

import (
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
)

// ErrStopped says that a step was stopped by its host before it was over. The state
// that it was given is of no use any more; the stored one is as it was, and the input
// may be given to it again.
var ErrStopped = errors.New("the step was stopped")

// TooExpensive is the reason of an instance that paused because its expressions did
// more than the limit work-without-waiting allows.
const TooExpensive = "too-expensive"

// All work is counted in steps of expressions (see expr.Budget). Work without an expression is
// charged by its size.
const (
	bytesPerStep = 32 // of data that is measured, or told by a record
	itemsPerStep = 16 // of lists that are copied
	frameSteps   = 16 // a frame that is created
)

// pay counts work that the step did, and asks the host now and then whether to stop.
func (m *machine) pay(steps int) {
	m.spent += steps
	if m.s != nil {
		m.s.work += steps
	}
	if m.stop == nil || m.spent < m.asks {
		return
	}
	m.asks = m.spent + expr.StopEvery
	if m.broken == nil && (*m.stop)() {
		m.broken = ErrStopped
	}
}

// budget is what one evaluation may spend: no more than is left of the operation's.
func (m *machine) budget() expr.Budget {
	b := expr.NewBudget()
	b.Steps = max(0, min(b.Steps, m.p.Limits.OpWork-m.evaluated))
	b.Until(m.stop)
	return b
}

// spend counts what an evaluation left of its budget, and says which limit it exceeded
// if that is the operation's.
func (m *machine) spend(allowed int, b *expr.Budget) *expr.LimitError {
	steps := b.Spent(allowed)
	m.evaluated += steps
	m.pay(1 + steps)
	if b.Steps < 0 && allowed < expr.MaxSteps {
		return &expr.LimitError{Limit: "operation-work", Max: m.p.Limits.OpWork}
	}
	return nil
}

// sized is a value that was measured.
type sized struct {
	value       expr.Value
	bytes       int
	deep, large bool
}

// measure measures data against the limits of size and nesting. The same value is
// often measured again, by the records that tell it.
func (m *machine) measure(v expr.Value) sized {
	if m.last.bytes == 0 || !m.last.value.Same(v) {
		m.last.value = v
		m.last.bytes, m.last.deep, m.last.large = expr.Measure(v, m.p.Limits.DataBytes, expr.MaxDepth-8)
	}
	m.pay(1 + m.last.bytes/bytesPerStep)
	return m.last
}

// merge merges b into a.
func (m *machine) merge(a, b expr.Value) expr.Value {
	v, steps := expr.MergeCounted(a, b)
	m.pay(steps)
	return v
}

// overlay lays top over under.
func (m *machine) overlay(top, under expr.Value) expr.Value {
	m.pay((top.Len() + under.Len()) / itemsPerStep)
	return expr.Overlay(top, under)
}

// tooExpensive pauses an instance whose work without waiting is beyond the limit. A
// person decides: resume lets it do as much again.
func (m *machine) tooExpensive(f *frame) bool {
	if m.s.work <= m.p.Limits.Work {
		return false
	}
	m.s.paused, m.s.costly = true, true
	n := &m.p.Nodes[f.node]
	m.warn(f, n, "paused, %s: the expressions did %d steps without waiting for anything, the last in %q (limit work-without-waiting, %d); resume lets the instance do as many again",
		TooExpensive, m.s.work, m.stateOf(f), m.p.Limits.Work)
	return true
}

// PauseReason is why the engine paused the instance: [TooExpensive]; "" if a user paused it, or
// if it is not paused.
func (s *State) PauseReason() string {
	if s.Status() == Paused && s.costly {
		return TooExpensive
	}
	return ""
}

// stopped is the fault of an evaluation that was stopped. Nobody sees it: the state is
// discarded.
func (m *machine) stopped() *Fault {
	if m.broken == nil {
		m.broken = ErrStopped
	}
	return &Fault{Name: FaultExpression, Final: true, Detail: fmt.Sprint(m.broken)}
}
