package engine

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// BenchmarkW1 is one function step at 128 in flight, without a disk.
func BenchmarkW1(b *testing.B) {
	w := build("w")
	e, err := New(Config{Store: memory.New(), Languages: jsonpath.Languages(), Invoker: effect.Func(constant)})
	if err != nil {
		b.Fatal(err)
	}
	if err := e.Deploy(context.Background(), w.main(w.call("f"))); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go e.Run(ctx)
	b.SetParallelism(64)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id, err := e.Start(ctx, StartRequest{Definition: "w", Input: expr.EmptyObject})
			if err != nil {
				b.Error(err)
				return
			}
			if _, err := e.Wait(ctx, id); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// noting is a store that notes the commits of steps.
type noting struct {
	store.Store
	mu   sync.Mutex
	list []store.Commit
}

func (s *noting) Commit(ctx context.Context, c store.Commit) error {
	s.mu.Lock()
	s.list = append(s.list, c)
	s.mu.Unlock()
	return s.Store.Commit(ctx, c)
}

// TestFiguresAllocateNothing: counting the commits and the call of an instance takes no memory, once its definition and its
// function are known.
func TestFiguresAllocateNothing(t *testing.T) {
	e, err := New(Config{Store: memory.New(), Languages: jsonpath.Languages()})
	if err != nil {
		t.Fatal(err)
	}
	instance := store.Instance{ID: "i", Definition: "w", Status: core.Completed, Created: 1, Ended: 2}
	steps := []store.Commit{
		{Instance: instance, Records: []core.Record{{Type: core.RecStarted, Time: 1}, {Type: core.RecEntered, Time: 1}}},
		{Instance: instance, Records: []core.Record{{Type: core.RecRetrying, Time: 1}}},
		{Instance: instance, Records: []core.Record{{Type: core.RecFinished, Time: 2, Status: core.Completed}}},
	}
	out := effect.Outcome{}
	allocations := testing.AllocsPerRun(100, func() {
		for i := range steps {
			e.figures.records(&steps[i])
			e.figures.committed(time.Millisecond, nil)
		}
		e.figures.called("f", time.Millisecond, &out, false)
		e.figures.TimerLag.Observe(time.Millisecond)
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	if n := e.figures.Definitions.Of("w").Completed.Load(); n != 101 {
		t.Errorf("%d instances were counted", n)
	}
}

// BenchmarkFigures is what metrics cost of BenchmarkW1: all that they do for the commits and the call of one instance, beside
// the time of that instance on one core and without a disk, in the same run.
func BenchmarkFigures(b *testing.B) {
	w := build("w")
	noted := &noting{Store: memory.New()}
	e, err := New(Config{Store: noted, Languages: jsonpath.Languages(), Invoker: effect.Func(constant)})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := e.Deploy(ctx, w.main(w.call("f"))); err != nil {
		b.Fatal(err)
	}
	go e.Run(ctx)
	one := func() {
		id, err := e.Start(ctx, StartRequest{Definition: "w", Input: expr.EmptyObject})
		if err == nil {
			_, err = e.Wait(ctx, id)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	one()
	noted.mu.Lock()
	of := noted.list
	noted.mu.Unlock()
	var whole, figures time.Duration
	out := effect.Outcome{}
	for b.Loop() {
		began := time.Now()
		one()
		middle := time.Now()
		for i := range of {
			e.observe(&of[i])
			e.figures.committed(middle.Sub(began), nil)
		}
		e.figures.called("f", middle.Sub(began), &out, false)
		whole, figures = whole+middle.Sub(began), figures+time.Since(middle)
	}
	b.ReportMetric(float64(figures.Nanoseconds())/float64(b.N), "ns-metrics/op")
	b.ReportMetric(100*float64(figures)/float64(whole), "%-metrics")
	b.ReportMetric(float64(len(of)), "commits/op")
}
