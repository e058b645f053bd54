package admit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// rateBurst is how long a holder that sent nothing may send at any speed: as much as the rate allows in that time.
const rateBurst = 10 * time.Second

// rateSweep is how many holders a rate remembers before it looks for those that it can forget.
const rateSweep = 1024

// Rate bounds the bytes that each holder sends in a second, on average. A nil Rate has no bound.
type Rate struct {
	name    string
	second  int64
	refused atomic.Int64

	mu    sync.Mutex
	paid  map[string]time.Time // by key: until when the holder has used up what it may send
	sweep int
}

// NewRate returns a rate of bytes a second; 0: no bound. Its name is that of the limit, for messages.
func NewRate(name string, second int64) *Rate {
	if second <= 0 {
		return nil
	}
	return &Rate{name: name, second: second, paid: map[string]time.Time{}, sweep: rateSweep}
}

// RateError says that a holder has sent too much.
type RateError struct {
	Limit  string // the name of the rate
	Second int64  // what it allows
	Retry  time.Duration
}

func (e *RateError) Error() string {
	return fmt.Sprintf("this credential, device or address sends more than %d bytes a second (limit %s)", e.Second, e.Limit)
}

// Check returns a *RateError if the holder has to wait before it sends more.
func (r *Rate) Check(who Holder) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if wait := time.Until(r.paid[who.Key]); wait > 0 {
		r.refused.Add(1)
		return &RateError{r.name, r.second, wait}
	}
	return nil
}

// Add counts bytes that the holder sent. A single body may be larger than what is left: the holder waits afterwards.
func (r *Rate) Add(who Holder, bytes int64) {
	if r == nil || bytes == 0 {
		return
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	paid, ok := r.paid[who.Key]
	if oldest := now.Add(-rateBurst); !ok || paid.Before(oldest) {
		paid = oldest
	}
	r.paid[who.Key] = paid.Add(time.Duration(float64(bytes) / float64(r.second) * float64(time.Second)))
	if len(r.paid) < r.sweep {
		return
	}
	for key, at := range r.paid {
		if at.Before(now.Add(-rateBurst)) {
			delete(r.paid, key)
		}
	}
	r.sweep = max(rateSweep, 2*len(r.paid))
}

// Refused is how often a holder was told to wait.
func (r *Rate) Refused() int64 {
	if r == nil {
		return 0
	}
	return r.refused.Load()
}
