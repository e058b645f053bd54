package core

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// retry schedules the next attempt of a region, if the handler has one left.
// Attempts are counted per handler (semantics.md §Time). What is under way is halted first
// (0.5 §Defining Retries); subscriptions of the region stay open.
func (m *machine) retry(f *frame, r *ir.Region, i int, fault *Fault) bool {
	policy := r.Catch[i].Retry
	if f.attempts == nil {
		f.attempts = make([]int32, len(r.Catch))
	}
	if int(f.attempts[i]) >= policy.Max && !policy.Always {
		return false
	}
	if ok, instead := m.selects(f, &r.Catch[i], policy.Only, fault); instead != nil {
		m.raise(m.s.frame(f.parent), instead)
		return true
	} else if !ok {
		return false
	}
	sees := m.handlerScope(f, &r.Catch[i], ErrorObject(fault))
	at, lateFault := m.backOff(f, sees, policy, i)
	if lateFault != nil {
		m.raise(m.s.frame(f.parent), lateFault)
		return true
	}
	if policy.Within.Set {
		within, lateFault := m.afterIn(sees, policy.Within)
		if lateFault != nil {
			m.raise(m.s.frame(f.parent), lateFault)
			return true
		}
		if at-f.began > within-m.now {
			return false
		}
	}
	m.closeChildren(f)
	m.forgetFan(f)
	m.closeWaits(f, func(w wait) bool { return w.kind != WaitListen && w.kind != WaitTotal })
	f.taken = nil
	if policy.Carry {
		if f.delays == nil {
			f.delays = make([]Time, len(r.Catch))
		}
		f.delays[i] = at - m.now
	}
	f.attempts[i]++
	f.attempt++
	f.phase, f.faulted = phaseWait, false
	t := m.timer(f, WaitRetry, at)
	rec := Record{Type: RecRetrying, Frame: f.id, Node: r.Name, Name: policy.Name, Ticket: t, Attempt: int(f.attempts[i]), At: at, Fault: fault}
	if r.Ref != "" {
		rec.Pos = m.p.Nodes[m.s.frame(f.parent).node].Pos
	}
	m.record(rec)
	return true
}

// backOff is when the next retry of the i-th Catch begins: see [ir.Retry].
func (m *machine) backOff(f *frame, in expr.Scope, p *ir.Retry, i int) (at Time, fault *Fault) {
	if p.Carry && f.delays != nil && f.attempts[i] > 0 {
		if at, fault = m.delayed(in, p, m.now+f.delays[i], 1); fault == nil {
			at, fault = m.multiplied(at, cmp.Or(p.Factor, 1))
		}
	} else if at, fault = m.afterIn(in, p.Delay); fault == nil && !p.Carry {
		retries := int64(f.attempts[i])
		if p.Factor != 0 {
			at, fault = m.multiplied(at, math.Pow(p.Factor, float64(retries)))
		}
		if fault == nil {
			at, fault = m.delayed(in, p, at, retries)
		}
	}
	if fault == nil && !p.Carry {
		at, fault = m.bounded(in, p, at)
	}
	if fault == nil {
		at, fault = m.jittered(f, in, p, at)
	}
	if fault == nil && p.Carry {
		at, fault = m.bounded(in, p, at)
	}
	return at, fault
}

// multiplied is an instant after a factor of the time that it is from now.
func (m *machine) multiplied(at Time, by float64) (Time, *Fault) {
	return addTo(m.now, calendar.Duration{Nanos: scaled(int64(at-m.now), by)})
}

// delayed is an instant later by what is added to the delay so many times.
func (m *machine) delayed(in expr.Scope, p *ir.Retry, at Time, times int64) (Time, *Fault) {
	step := calendar.Duration{Months: p.Add.Months, Days: p.Add.Days, Nanos: p.Add.Nanos}
	if p.Add.Expr != 0 {
		added, fault := m.afterIn(in, p.Add)
		if fault != nil {
			return 0, fault
		}
		step.Nanos = int64(added - m.now)
	}
	add, ok := step.Times(times)
	if !ok {
		return 0, &Fault{Name: FaultData, Detail: "the retry delay overflows (limit timer-horizon)"}
	}
	return addTo(at, add)
}

// bounded is an instant no later than the longest delay.
func (m *machine) bounded(in expr.Scope, p *ir.Retry, at Time) (Time, *Fault) {
	if !p.AtMost.Set {
		return at, nil
	}
	most, fault := m.afterIn(in, p.AtMost)
	return min(at, most), fault
}

// jittered is an instant changed by jitter, and not in the past.
func (m *machine) jittered(f *frame, in expr.Scope, p *ir.Retry, at Time) (Time, *Fault) {
	if p.JitterFrom.Set {
		from, fault := m.afterIn(in, p.JitterFrom)
		if fault != nil {
			return 0, fault
		}
		to, fault := m.afterIn(in, p.JitterTo)
		if fault != nil {
			return 0, fault
		}
		half := int64(max(0, to-from)) / 2
		return addTo(at, calendar.Duration{Nanos: int64(from-m.now) + half + m.random(f, half)})
	}
	bound := int64(at-m.now) / 1000 * p.JitterMillis
	if p.JitterAtMost.Set {
		until, fault := m.afterIn(in, p.JitterAtMost)
		if fault != nil {
			return 0, fault
		}
		bound = int64(until - m.now)
	}
	return max(m.now, at+Time(m.random(f, bound))), nil
}

// scaled multiplies, at most to what a Time can hold.
func scaled(nanos int64, by float64) int64 {
	x := float64(nanos) * by
	if x >= math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return int64(x)
}

// random gives a number in [−bound, bound] that depends on the instance's seed and
// on nothing that can differ between two runs.
func (m *machine) random(f *frame, bound int64) int64 {
	if bound <= 0 {
		return 0
	}
	h := fnv.New64a()
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], m.s.seed)
	binary.BigEndian.PutUint64(b[8:], uint64(ticket(f.id, f.tickets)))
	h.Write(b[:])
	// FNV alone leaves the high bits of short inputs poorly mixed.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	span := uint64(bound)*2 + 1
	return int64(x%span) - bound
}

// reenter begins the next attempt with the saved input, or after the checkpoint
// that an earlier attempt passed.
func (m *machine) reenter(f *frame) {
	r := &m.p.Regions[f.region]
	f.data, f.node = f.input, r.Entry
	if f.againAt != 0 {
		f.data, f.node = f.again, f.againAt
	}
	f.delta = expr.Array(slices.Clone(f.delta.Items()[:f.againLen])...) // 0 without a checkpoint
	f.phase, f.dirty = phaseRun, true
	m.begin(f, r)
}
