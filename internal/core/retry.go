package core

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// retry schedules the next attempt of a region, if the handler has one left.
// Attempts are counted per handler (SEMANTICS §Time). What is under way is halted first
// (003 §Defining Retries); subscriptions of the region stay open.
func (m *machine) retry(f *frame, r *ir.Region, i int, fault *Fault) bool {
	policy := r.Catch[i].Retry
	if f.attempts == nil {
		f.attempts = make([]int32, len(r.Catch))
	}
	if int(f.attempts[i]) >= policy.Max {
		return false
	}
	m.closeChildren(f)
	m.forgetFan(f)
	m.closeWaits(f, func(w wait) bool { return w.kind != WaitListen && w.kind != WaitTotal })
	f.taken = nil
	f.attempts[i]++
	f.attempt++
	at, lateFault := m.backOff(f, policy, int64(f.attempts[i]))
	if lateFault != nil {
		m.raise(m.s.frame(f.parent), lateFault)
		return true
	}
	f.phase = phaseWait
	t := m.timer(f, WaitRetry, at)
	m.record(Record{Type: RecRetrying, Frame: f.id, Node: r.Name, Name: policy.Name, Ticket: t, Attempt: int(f.attempts[i]), At: at, Fault: fault})
	return true
}

// backOff is when the k-th retry begins: Delay + (k−1)·Add, more or less jitter.
func (m *machine) backOff(f *frame, p *ir.Retry, k int64) (Time, *Fault) {
	at, fault := m.after(f, p.Delay)
	if fault != nil {
		return 0, fault
	}
	add, ok := calendar.Duration{Months: p.Add.Months, Days: p.Add.Days, Nanos: p.Add.Nanos}.Times(k - 1)
	if !ok {
		return 0, &Fault{Name: FaultData, Detail: "the retry delay overflows (limit timer-horizon)"}
	}
	if at, fault = addTo(at, add); fault != nil {
		return 0, fault
	}
	bound := int64(at-m.now) / 1000 * p.JitterMillis
	if p.JitterAtMost.Set {
		until, fault := m.after(f, p.JitterAtMost)
		if fault != nil {
			return 0, fault
		}
		bound = int64(until - m.now)
	}
	return max(m.now, at+Time(m.random(f, bound))), nil
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
