// Package metric holds the counters and histograms of a process. An observation is a few atomic adds and takes no
// lock. The number of label values is bounded: a metric whose label comes from users (a definition, a function) is a
// [Vec], which counts everything beyond [MaxLabels] values under [Other].
package metric

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// MaxLabels is how many values one label of a metric has ("metric-labels").
const MaxLabels = 200

// maxLabelBytes is how long a label value may be; a longer one is truncated.
const maxLabelBytes = 128

// Other is the label value that stands for all beyond MaxLabels.
const Other = "other"

// Counter counts.
type Counter = atomic.Int64

// Upper bounds of histograms, in seconds.
var (
	// Quick suits what a computer does: a commit, a call, a delay.
	Quick = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
	// Long suits what people wait for: an instance.
	Long = []float64{0.01, 0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 6 * 3600, 86400, 7 * 86400}
)

// Histogram counts durations by size. Make it with [NewHistogram].
type Histogram struct {
	bounds []float64
	counts []atomic.Int64 // one more than bounds: those above all of them
	nanos  atomic.Int64
}

// NewHistogram returns an empty histogram with these upper bounds, in seconds.
func NewHistogram(bounds []float64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Int64, len(bounds)+1)}
}

// Observe counts a duration; a negative one counts as 0.
func (h *Histogram) Observe(d time.Duration) {
	d = max(d, 0)
	i, _ := slices.BinarySearch(h.bounds, d.Seconds())
	h.counts[i].Add(1)
	h.nanos.Add(int64(d))
}

// Snapshot is a histogram at one time, as Prometheus wants it.
type Snapshot struct {
	Bounds  []float64
	Buckets []int64 // cumulative, one per bound
	Count   int64
	Seconds float64 // the sum
}

// Snapshot reads the histogram.
func (h *Histogram) Snapshot() Snapshot {
	out := Snapshot{Bounds: h.bounds, Buckets: make([]int64, len(h.bounds)), Seconds: time.Duration(h.nanos.Load()).Seconds()}
	for i := range h.counts {
		out.Count += h.counts[i].Load()
		if i < len(h.bounds) {
			out.Buckets[i] = out.Count
		}
	}
	return out
}

// Vec holds one T for each value of a label, and one for all values beyond MaxLabels. Make it with [NewVec].
type Vec[T any] struct {
	make  func() *T
	mu    sync.Mutex                    // to add one
	items atomic.Pointer[map[string]*T] // never changed: a new one replaces it
}

// NewVec returns an empty Vec whose items are made by a function.
func NewVec[T any](make func() *T) *Vec[T] {
	v := &Vec[T]{make: make}
	v.items.Store(&map[string]*T{})
	return v
}

// Of returns the item of a label value.
func (v *Vec[T]) Of(label string) *T {
	if len(label) > maxLabelBytes {
		label = strings.ToValidUTF8(label[:maxLabelBytes], "")
	}
	if item := (*v.items.Load())[label]; item != nil {
		return item
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	known := *v.items.Load()
	if len(known) >= MaxLabels && known[label] == nil {
		label = Other
	}
	if item := known[label]; item != nil {
		return item
	}
	more := maps.Clone(known)
	more[label] = v.make()
	v.items.Store(&more)
	return more[label]
}

// All calls f with each label value and its item, in order of the values.
func (v *Vec[T]) All(f func(label string, item *T)) {
	items := *v.items.Load()
	for _, label := range slices.Sorted(maps.Keys(items)) {
		f(label, items[label])
	}
}
