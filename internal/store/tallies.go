package store

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

const (
	// TallyHours is how many hours of tallies are kept ("tally-hours"): eight days.
	TallyHours = 8 * 24

	// MaxTallied is how many definitions of one hour have a tally of their own ("tally-definitions"). What happens to the
	// instances of others is counted under [OtherDefinitions].
	MaxTallied = 50

	// maxTalliedName is how long the id of a definition with a tally of its own may be, in bytes. It bounds a stored hour.
	maxTalliedName = 256
)

// OtherDefinitions is the name of the tally of all definitions beyond MaxTallied.
const OtherDefinitions = ""

// Tallies keeps what happened in each hour: numbers to look at, which may miss what a process counted in its last seconds.
type Tallies interface {
	// AddTallies adds to the tallies of some hours, all of them or none, and forgets the hours before oldest.
	// A damaged hour begins anew.
	AddTallies(ctx context.Context, hours []Hour, oldest core.Time) error

	// ListTallies lists the hours from one instant until before another, in order, with the tallies by definition. The
	// error for damaged rows is a *DamagedError, and the others are listed.
	ListTallies(ctx context.Context, from, until core.Time) ([]Hour, error)
}

// Hour is what happened in one hour. Its zero is empty.
type Hour struct {
	At      core.Time // when it begins, see HourOf
	Tallies []Tally   // by definition
}

// HourOf is the beginning of the hour of an instant, in UTC.
func HourOf(t core.Time) core.Time {
	const hour = core.Time(time.Hour)
	return t - ((t%hour)+hour)%hour
}

// Tally counts what happened to the instances of a definition.
type Tally struct {
	Definition string
	Started    int64
	Completed  int64
	Failed     int64 // each time that one failed
	Cancelled  int64 // or terminated
	Durations  Durations
}

// Add adds another tally.
func (t *Tally) Add(o Tally) {
	t.Started += o.Started
	t.Completed += o.Completed
	t.Failed += o.Failed
	t.Cancelled += o.Cancelled
	t.Durations.AddAll(o.Durations)
}

// Total is how much happened.
func (t *Tally) Total() int64 { return t.Started + t.Completed + t.Failed + t.Cancelled }

// Add adds to the tally of a definition.
func (h *Hour) Add(t Tally) {
	if len(t.Definition) > maxTalliedName {
		t.Definition = OtherDefinitions
	}
	i, known := h.find(t.Definition)
	if !known && t.Definition != OtherDefinitions && h.named() >= MaxTallied {
		t.Definition = OtherDefinitions
		i, known = h.find(OtherDefinitions)
	}
	if !known {
		h.Tallies = slices.Insert(h.Tallies, i, Tally{Definition: strings.Clone(t.Definition)})
	}
	h.Tallies[i].Add(t)
}

func (h *Hour) find(definition string) (int, bool) {
	return slices.BinarySearchFunc(h.Tallies, definition, func(t Tally, id string) int { return strings.Compare(t.Definition, id) })
}

// named is how many definitions have a tally of their own.
func (h *Hour) named() int {
	n := len(h.Tallies)
	if n > 0 && h.Tallies[0].Definition == OtherDefinitions { // the first, if there is one
		n--
	}
	return n
}

// Clone is a copy that shares nothing.
func (h Hour) Clone() Hour {
	h.Tallies = slices.Clone(h.Tallies)
	for i := range h.Tallies {
		h.Tallies[i].Durations = slices.Clone(h.Tallies[i].Durations)
	}
	return h
}

// AddTally adds to the hour of an instant, in a list of hours that is ordered by time.
func AddTally(hours []Hour, at core.Time, t Tally) []Hour {
	at = HourOf(at)
	i, known := slices.BinarySearchFunc(hours, at, func(h Hour, at core.Time) int { return cmp.Compare(h.At, at) })
	if !known {
		hours = slices.Insert(hours, i, Hour{At: at})
	}
	hours[i].Add(t)
	return hours
}

// Durations is a histogram of durations: how many there are in each bucket, by bucket. Up to 16 ms a bucket is one
// millisecond; from there on it is an eighth of a power of two, so that a quantile is off by 6 % at most.
type Durations []DurationBucket

// DurationBucket is a bucket of a histogram that is not empty.
type DurationBucket struct {
	Bucket int
	N      int64
}

// Each power of two has 1<<durationBits buckets.
const durationBits = 3

// bucketOf is the bucket of a duration.
func bucketOf(d time.Duration) int {
	ms := uint64(max(d.Milliseconds(), 0))
	shift := bits.Len64(ms) - durationBits - 1 // the leading bit and three more say which
	if shift < 0 {
		return int(ms)
	}
	return shift<<durationBits + int(ms>>shift)
}

// middle is the duration in the middle of a bucket.
func middle(bucket int) time.Duration {
	shift := bucket>>durationBits - 1
	if shift < 0 {
		return time.Duration(bucket) * time.Millisecond
	}
	if shift > 39 { // centuries: more than a duration holds
		return 1<<63 - 1
	}
	low := uint64(bucket-shift<<durationBits) << shift
	return time.Duration(low)*time.Millisecond + time.Duration(uint64(1)<<shift-1)*time.Millisecond/2
}

// Add counts a duration.
func (d *Durations) Add(took time.Duration) { d.add(DurationBucket{bucketOf(took), 1}) }

// AddAll adds another histogram.
func (d *Durations) AddAll(other Durations) {
	for _, b := range other {
		d.add(b)
	}
}

func (d *Durations) add(b DurationBucket) {
	i, known := slices.BinarySearchFunc(*d, b.Bucket, func(has DurationBucket, want int) int { return cmp.Compare(has.Bucket, want) })
	if !known {
		*d = slices.Insert(*d, i, DurationBucket{Bucket: b.Bucket})
	}
	(*d)[i].N += b.N
}

// Count is how many durations there are.
func (d Durations) Count() (n int64) {
	for _, b := range d {
		n += b.N
	}
	return n
}

// Quantile is a duration that a part of all durations does not exceed, such as 0.95; 0: there are none.
func (d Durations) Quantile(part float64) time.Duration {
	n := d.Count()
	if n == 0 {
		return 0
	}
	rank := min(max(int64(part*float64(n)+0.999999), 1), n)
	for _, b := range d {
		if rank -= b.N; rank <= 0 {
			return middle(b.Bucket)
		}
	}
	return 0 // not reached
}
