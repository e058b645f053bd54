// Package admit bounds what clients of a server hold at a time, so that none of them can
// take what the others need. A [Pool] is a number of places, or of bytes; every holder has
// a share of it at most.
package admit

import (
	"context"
	"math"
	"slices"
	"sync"
)

// Holder is who a place is given to: a token, a device, or an address where neither is
// known. Holders with the same key share what they may hold.
type Holder struct {
	Key    string
	Device bool // its share is that of a device
}

// Size says how much a pool has, and how much of it one holder gets.
type Size struct {
	All    int64
	Share  int64 // of one holder; 0: a quarter
	Device int64 // of one device; 0: as Share
}

// minShare is the least share where none is said, of pools that have as much.
const minShare = 2

func (s Size) withDefaults() Size {
	if s.Share == 0 {
		s.Share = max(s.All/4, minShare)
	}
	s.Share = min(s.All, s.Share)
	if s.Device == 0 {
		s.Device = s.Share
	}
	s.Device = min(s.Device, s.Share)
	return s
}

// Pool is a bounded amount of something.
type Pool struct {
	name string
	size Size

	mu    sync.Mutex
	used  int64
	held  map[string]int64 // by key of the holder
	queue []*waiter        // in the order of their arrival
}

type waiter struct {
	who   Holder
	n     int64
	ready chan *Place
}

// NewPool returns a pool. Its name is that of the limit, for messages.
func NewPool(name string, size Size) *Pool {
	return &Pool{name: name, size: size.withDefaults(), held: map[string]int64{}}
}

// Name is the name of the limit.
func (p *Pool) Name() string { return p.name }

// FullError says that a pool has nothing left for a holder.
type FullError struct {
	Limit string // the name of the pool
	Share bool   // it is the holder's own share that is used up
}

func (e *FullError) Error() string {
	if e.Share {
		return "this credential, device or address has as many as it may have at a time (limit " + e.Limit + ")"
	}
	return "the server has as many as it can serve at a time (limit " + e.Limit + ")"
}

// fits returns nil if n more can be given to the holder. One item that is larger than the
// share, but not than half of the pool, is given to a holder that has nothing else: it could
// never be served otherwise.
func (p *Pool) fits(who Holder, n int64) error {
	share := p.size.Share
	if who.Device {
		share = p.size.Device
	}
	held := p.held[who.Key]
	switch {
	case held+n > share && (held > 0 || n > max(p.size.All/2, minShare)):
		return &FullError{p.name, true}
	case p.used+n > p.size.All:
		return &FullError{p.name, false}
	}
	return nil
}

func (p *Pool) give(who Holder, n int64) *Place {
	p.used += n
	p.held[who.Key] += n
	return &Place{pool: p, who: who, n: n}
}

// Take takes n for a holder, or fails with a *FullError.
func (p *Pool) Take(who Holder, n int64) (*Place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fits(who, n); err != nil {
		return nil, err
	}
	return p.give(who, n), nil
}

// Wait takes n for a holder, and waits for it until ctx ends. Of several that wait, the
// holder with the least gets it first, so that one with many requests does not hold up one
// with few.
func (p *Pool) Wait(ctx context.Context, who Holder, n int64) (*Place, error) {
	p.mu.Lock()
	full := p.fits(who, n)
	if full == nil {
		defer p.mu.Unlock()
		return p.give(who, n), nil
	}
	w := &waiter{who, n, make(chan *Place, 1)}
	p.queue = append(p.queue, w)
	p.mu.Unlock()
	select {
	case place := <-w.ready:
		return place, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case place := <-w.ready: // at the same moment
		return place, nil
	default:
	}
	p.queue = slices.DeleteFunc(p.queue, func(o *waiter) bool { return o == w })
	return nil, full
}

// serve gives what is free to those who wait.
func (p *Pool) serve() {
	for {
		best := -1
		for i, w := range p.queue {
			if p.fits(w.who, w.n) == nil && (best < 0 || p.held[w.who.Key] < p.held[p.queue[best].who.Key]) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		w := p.queue[best]
		p.queue = slices.Delete(p.queue, best, best+1)
		w.ready <- p.give(w.who, w.n)
	}
}

// Used is how much is taken.
func (p *Pool) Used() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Place is what a holder has of a pool. The nil place is of none, and without bound.
type Place struct {
	pool *Pool
	who  Holder
	n    int64
}

// Grow takes n more, or fails with a *FullError.
func (pl *Place) Grow(n int64) error {
	if pl == nil {
		return nil
	}
	p := pl.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fits(pl.who, n); err != nil {
		return err
	}
	p.used += n
	p.held[pl.who.Key] += n
	pl.n += n
	return nil
}

// Shrink gives n back, if the place has as much.
func (pl *Place) Shrink(n int64) {
	if pl == nil {
		return
	}
	p := pl.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	n = min(n, pl.n)
	if n <= 0 {
		return
	}
	pl.n -= n
	p.used -= n
	if p.held[pl.who.Key] -= n; p.held[pl.who.Key] == 0 {
		delete(p.held, pl.who.Key)
	}
	p.serve()
}

// Release gives all of it back. To do so twice does nothing.
func (pl *Place) Release() { pl.Shrink(math.MaxInt64) }
