package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func BenchmarkForeach(b *testing.B) {
	for _, n := range []int{1000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				h := newHarness(b, mock.Mocks{"f": {{Echo: true}}})
				w := build("w")
				body := w.region(ir.Region{Name: "item", Collect: true}, w.call("f"))
				h.deploy(w.main(stepOp{"Every", &ir.Fan{Each: &ir.Each{Over: w.expr(jsonpath.Lang, "$.items"), Body: body.op.(*ir.Enter).Region, Var: "x"}, Join: ir.JoinAppend, Path: []string{"out"}}}))
				id := h.start("w", `{"items":[`+strings.Repeat("1,", n-1)+`1]}`)
				h.poll()
				row, _ := h.Get(context.Background(), id)
				if row.Status != "completed" {
					b.Fatal(row.Status, row.Fault)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/item")
		})
	}
}
