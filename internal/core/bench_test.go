package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// pureStates is a chain of n inject states followed by one call, then looping
// back to the first; stateful work only happens at the call.
func pureStates(n int, ending string) string {
	var b strings.Builder
	b.WriteString("func f\nexpr template {\"greeting\":\"Hello\",\"n\":1}\nregion main 1\n")
	for i := range n {
		k := i*3 + 1
		fmt.Fprintf(&b, "node @entered S%d eval -> %d\n", i, k+1)
		fmt.Fprintf(&b, "node S%d eval {\"from\":1,\"put\":{\"mode\":\"merge\"}} -> %d\n", i, k+2)
		fmt.Fprintf(&b, "node @left S%d eval -> %d\n", i, k+3)
	}
	b.WriteString(ending)
	return b.String()
}

// BenchmarkTenPureStates is one whole instance of ten states inside the core
// (target: 100,000 and more a second on one core).
func BenchmarkTenPureStates(b *testing.B) {
	p := mustAssemble(b, pureStates(10, "node S9 end"))
	data := expr.Object(expr.Member{Key: "name", Value: expr.String("Ada")})
	b.ReportAllocs()
	for b.Loop() {
		r, err := Step(p, nil, 1, Start{Data: data, Seed: 1})
		if err != nil || r.State.Status() != Completed {
			b.Fatal(err, r.State.Status())
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "instances/s")
}

// BenchmarkStep is one reply to a call and the next call, in definitions of 10
// and of 10,000 states: the cost must be the same.
func BenchmarkStep(b *testing.B) {
	for _, states := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("states=%d", states), func(b *testing.B) {
			call := states*3 + 1
			p := mustAssemble(b, pureStates(states, fmt.Sprintf("node Call call {\"result\":{\"mode\":\"merge\"}} -> %d\n", call)))
			p.Limits.Fuel, p.Limits.Steps = 1<<30, 1<<30
			r, err := Step(p, nil, 1, Start{Data: expr.EmptyObject})
			if err != nil {
				b.Fatal(err)
			}
			answer := expr.Object(expr.Member{Key: "answer", Value: expr.Int(42)})
			b.ReportAllocs()
			for b.Loop() {
				t := r.Commands[len(r.Commands)-1].(Invoke).Ticket
				if r, err = Step(p, r.State, 2, Reply{Ticket: t, Value: answer}); err != nil || r.Stale {
					b.Fatal(err, r.Stale)
				}
			}
		})
	}
}

// BenchmarkStored is the same with the state written to pages after each step and
// read back before the next.
func BenchmarkStored(b *testing.B) {
	p := mustAssemble(b, pureStates(10, "node Call call {\"result\":{\"mode\":\"merge\"}} -> 31\n"))
	r, err := Step(p, nil, 1, Start{Data: expr.EmptyObject})
	if err != nil {
		b.Fatal(err)
	}
	pages := r.State.TakeDirty(nil)
	answer := expr.Object(expr.Member{Key: "answer", Value: expr.Int(42)})
	bytes := 0
	b.ReportAllocs()
	for b.Loop() {
		s, err := DecodeState(p, pages, nil)
		if err != nil {
			b.Fatal(err)
		}
		t := r.Commands[len(r.Commands)-1].(Invoke).Ticket
		if r, err = Step(p, s, 2, Reply{Ticket: t, Value: answer}); err != nil {
			b.Fatal(err)
		}
		pages = r.State.TakeDirty(nil)
		for _, pg := range pages {
			bytes += len(pg.Data)
		}
	}
	b.ReportMetric(float64(bytes)/float64(b.N), "bytes/step")
}
