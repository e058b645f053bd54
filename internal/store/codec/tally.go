package codec

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func hourOwner(at core.Time) owner { return owner{kind: kindHour, numbers: [4]int64{int64(at)}} }

// AppendHour appends the tallies of an hour.
func AppendHour(dst []byte, h *store.Hour) []byte {
	w := begin(dst)
	w.uint(uint64(len(h.Tallies)))
	for i := range h.Tallies {
		t := &h.Tallies[i]
		w.text(t.Definition)
		for _, n := range []int64{t.Started, t.Completed, t.Failed, t.Cancelled} {
			w.int(n)
		}
		w.uint(uint64(len(t.Durations)))
		last := 0
		for _, b := range t.Durations {
			w.uint(uint64(b.Bucket - last))
			w.int(b.N)
			last = b.Bucket
		}
	}
	return w.end(hourOwner(h.At))
}

// DecodeHour is the reverse of AppendHour. h.At must be set: the checksum covers it.
func DecodeHour(data []byte, h *store.Hour) error {
	r := open(data, hourOwner(h.At))
	h.Tallies = nil
	n := r.count()
	for i := 0; i < n && r.err == nil; i++ {
		t := store.Tally{Definition: r.text()}
		for _, to := range []*int64{&t.Started, &t.Completed, &t.Failed, &t.Cancelled} {
			*to = r.int()
		}
		bucket := 0
		buckets := r.count()
		for j := 0; j < buckets && r.err == nil; j++ {
			bucket += int(r.uint())
			t.Durations = append(t.Durations, store.DurationBucket{Bucket: bucket, N: r.int()})
		}
		h.Tallies = append(h.Tallies, t)
	}
	if err := r.close(); err != nil {
		h.Tallies = nil
		return fmt.Errorf("the tallies of %s are %w: %w", h.At.Std().UTC().Format(time.RFC3339), store.ErrDamaged, err)
	}
	return nil
}
