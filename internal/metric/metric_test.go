package metric

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestHistogram(t *testing.T) {
	h := NewHistogram([]float64{0.1, 1})
	for _, d := range []time.Duration{-time.Second, 100 * time.Millisecond, 101 * time.Millisecond, time.Second, time.Minute} {
		h.Observe(d)
	}
	got := h.Snapshot()
	if !slices.Equal(got.Buckets, []int64{2, 4}) || got.Count != 5 || got.Seconds != 61.201 {
		t.Errorf("%+v", got)
	}
}

// TestVecIsBounded: 10,000 names of a hostile tenant, from several goroutines, are MaxLabels values and one for the
// rest, and nothing is left uncounted.
func TestVecIsBounded(t *testing.T) {
	v := NewVec(func() *Counter { return new(Counter) })
	v.Of("mine").Add(1)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 10_000 {
				v.Of(fmt.Sprint(i)).Add(1)
			}
		})
	}
	all.Wait()
	v.Of("mine").Add(1)
	v.Of(strings.Repeat("x", 1<<20)).Add(1)
	labels, sum := 0, int64(0)
	v.All(func(label string, n *Counter) {
		labels++
		sum += n.Load()
		if len(label) > maxLabelBytes {
			t.Errorf("a label of %d bytes", len(label))
		}
	})
	if labels != MaxLabels+1 || sum != 40_003 || v.Of("mine").Load() != 2 || v.Of(Other).Load() < 30_000 {
		t.Errorf("%d labels, %d in all, %d mine, %d other", labels, sum, v.Of("mine").Load(), v.Of(Other).Load())
	}
}
