package postgres

import (
	"sync"
	"time"
)

// doubts say when it is not known which calls are this process's: whether they were told, or
// whether a commit happened that decided on some.
type doubts struct {
	mu    sync.Mutex
	fresh bool      // none were listed since it began
	until time.Time // so long they are listed again and again
	next  time.Time // when; zero: there is no doubt
}

const (
	// doubtTime is for how long calls are listed again after a commit of which it is not known
	// whether it happened, and doubtPause how often: it may still happen.
	doubtTime  = time.Minute
	doubtPause = 5 * time.Second
)

// again has them listed once more.
func (d *doubts) again() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next = time.Now()
}

// begin has them listed for a while.
func (d *doubts) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fresh, d.next = true, time.Now()
}

// due reports whether to list them now.
func (d *doubts) due(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.next.IsZero() && !now.Before(d.next)
}

// listed notes that they were.
func (d *doubts) listed(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fresh {
		d.fresh, d.until = false, now.Add(doubtTime)
	}
	if d.next = now.Add(doubtPause); d.next.After(d.until) {
		d.next = time.Time{}
	}
}
