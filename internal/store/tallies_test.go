package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

func TestBucketsFollowEachOther(t *testing.T) {
	last := -1
	for ms := range int64(1 << 20) {
		b := bucketOf(time.Duration(ms) * time.Millisecond)
		if b != last && b != last+1 {
			t.Fatalf("%d ms is in bucket %d, and the one before in %d", ms, b, last)
		}
		last = b
	}
	if b := bucketOf(-time.Second); b != 0 {
		t.Errorf("a negative duration is in bucket %d", b)
	}
	if d := middle(bucketOf(1<<63 - 1)); d <= 0 {
		t.Errorf("the longest duration is %s", d)
	}
}

func TestQuantilesAreOffBySixPercentAtMost(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var all []time.Duration
		var d Durations
		for range 1 + random.IntN(300) {
			took := time.Duration(random.Int64N(int64(1) << (21 + random.IntN(40))))
			all = append(all, took)
			d.Add(took)
		}
		slices.Sort(all)
		for _, percent := range []int{50, 95, 100} {
			want := all[(percent*len(all)+99)/100-1]
			got := d.Quantile(float64(percent) / 100)
			if off := (got - want).Abs(); off > time.Millisecond && float64(off) > 0.0626*float64(want) {
				t.Errorf("%d %% of %d: %s, want %s", percent, len(all), got, want)
			}
		}
	}
	if got := (Durations{}).Quantile(0.5); got != 0 {
		t.Errorf("of nothing: %s", got)
	}
}

func TestHistogramsAddUp(t *testing.T) {
	var a, b, all Durations
	for i := range 100 {
		took := time.Duration(i*i) * time.Millisecond
		all.Add(took)
		if i%3 == 0 {
			a.Add(took)
		} else {
			b.Add(took)
		}
	}
	a.AddAll(b)
	if fmt.Sprint(a) != fmt.Sprint(all) || a.Count() != 100 {
		t.Errorf("%v\n%v", a, all)
	}
}

func TestHourOf(t *testing.T) {
	hour := core.Time(time.Hour)
	for at, want := range map[core.Time]core.Time{0: 0, hour - 1: 0, hour: hour, -1: -hour, -hour: -hour} {
		if got := HourOf(at); got != want {
			t.Errorf("hour of %d: %d, want %d", at, got, want)
		}
	}
}
