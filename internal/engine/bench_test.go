package engine

import (
	"context"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
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
