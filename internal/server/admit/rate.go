package admit

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// rateBurst is how long a holder that sent nothing may send at any speed: as much as the rate allows in that time.
const rateBurst = 10 * time.Second

// rateSweep is how many holders a rate remembers before it looks for those that it can forget.
const rateSweep = 1024

// rateHolders is how many holders a rate remembers ("quota-senders"). Further ones share what one may send, so that nobody
// can make room for himself, or fill the memory, under many names.
const rateHolders = 65_536

// rateKey is how long the key of a holder may be; of others it remembers the hash.
const rateKey = 128

// Rate bounds what each holder sends, or starts, in a second, on average. A nil Rate has no bound.
type Rate struct {
	name    string
	what    string
	second  int64
	refused atomic.Int64

	mu    sync.Mutex
	paid  map[string]time.Time // by key: until when the holder has used up what it may send; "": of all further ones
	sweep int                  // how many there are when it looks next for those that it can forget
	swept time.Time            // when it looked last
}

// NewRate returns a rate; 0: no bound. Its name is that of the limit, and what says what it counts, for messages: "bytes
// arrive".
func NewRate(name, what string, second int64) *Rate {
	if second <= 0 {
		return nil
	}
	return &Rate{name: name, what: what, second: second, paid: map[string]time.Time{}, sweep: rateSweep}
}

// RateError says that a holder has sent too much.
type RateError struct {
	Limit  string // the name of the rate
	Second int64  // what it allows
	What   string // what it counts
	Retry  time.Duration
}

func (e *RateError) Error() string {
	return fmt.Sprintf("more than %d %s in a second (limit %s)", e.Second, e.What, e.Limit)
}

// Check returns a *RateError if the holder has to wait before it sends or starts more.
func (r *Rate) Check(who Holder) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if wait := time.Until(r.paid[r.key(who, time.Now())]); wait > 0 {
		r.refused.Add(1)
		return &RateError{r.name, r.second, r.what, wait}
	}
	return nil
}

// Add counts what the holder sent or started. It may be more than what is left: the holder waits afterwards.
func (r *Rate) Add(who Holder, n int64) {
	if r == nil || n == 0 {
		return
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	key := r.key(who, now)
	paid, ok := r.paid[key]
	if oldest := now.Add(-rateBurst); !ok || paid.Before(oldest) {
		paid = oldest
	}
	r.paid[key] = paid.Add(time.Duration(float64(n) / float64(r.second) * float64(time.Second)))
}

// key is the key under which a holder counts. The caller holds the lock.
func (r *Rate) key(who Holder, now time.Time) string {
	key := who.Key
	if len(key) > rateKey {
		sum := sha256.Sum256([]byte(key))
		key = string(sum[:])
	}
	if _, known := r.paid[key]; known {
		return key
	}
	if len(r.paid) >= r.sweep && now.Sub(r.swept) >= time.Second {
		r.swept = now
		for key, at := range r.paid {
			if at.Before(now.Add(-rateBurst)) {
				delete(r.paid, key)
			}
		}
		r.sweep = min(max(rateSweep, 2*len(r.paid)), rateHolders)
	}
	if len(r.paid) >= rateHolders {
		return ""
	}
	return key
}

// Refused is how often a holder was told to wait.
func (r *Rate) Refused() int64 {
	if r == nil {
		return 0
	}
	return r.refused.Load()
}
