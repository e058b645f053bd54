package core

import (
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
	at, lateFault := m.backOff(f, sees, policy, int64(f.attempts[i])+1)
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

// backOff is when the k-th retry begins: see [ir.Retry].
func (m *machine) backOff(f *frame, in expr.Scope, p *ir.Retry, k int64) (Time, *Fault) {
	at, fault := m.afterIn(in, p.Delay)
	if fault != nil {
		return 0, fault
	}
	if p.Factor != 0 {
		if at, fault = addTo(m.now, calendar.Duration{Nanos: scaled(int64(at-m.now), math.Pow(p.Factor, float64(k-1)))}); fault != nil {
			return 0, fault
		}
	}
	step := calendar.Duration{Months: p.Add.Months, Days: p.Add.Days, Nanos: p.Add.Nanos}
	if p.Add.Expr != 0 {
		added, fault := m.afterIn(in, p.Add)
		if fault != nil {
			return 0, fault
		}
		step.Nanos = int64(added - m.now)
	}
	add, ok := step.Times(k - 1)
	if !ok {
		return 0, &Fault{Name: FaultData, Detail: "the retry delay overflows (limit timer-horizon)"}
	}
	if at, fault = addTo(at, add); fault != nil {
		return 0, fault
	}
	if p.AtMost.Set {
		most, fault := m.afterIn(in, p.AtMost)
		if fault != nil {
			return 0, fault
		}
		at = min(at, most)
	}
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
