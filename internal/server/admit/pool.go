// Package admit bounds what clients of a server hold at a time, so that no client can starve the others. A
// [Pool] is a number of places, or of bytes; each holder may have a share of it.
package admit

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
)

// Holder is the owner of places: a token, a device, or an address if neither is known. Holders with the same
// key count as one.
type Holder struct {
	Key    string
	Device bool // it has the share of a device
}

// Size is the size of a pool, and the share of one holder.
type Size struct {
	All    int64
	Share  int64 // of one holder; 0: a quarter
	Device int64 // of one device; 0: as Share
}

// minShare is the minimum of the default share.
const minShare = 2

func (s Size) withDefaults() Size {
	if s.Share == 0 {
		s.Share = max(s.All/4, minShare)
	}
	s.Share = min(s.All, s.Share)
	s.Device = min(cmp.Or(s.Device, s.Share), s.Share)
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
	Share bool   // the share of the holder is used up, not the pool
}

func (e *FullError) Error() string {
	if e.Share {
		return "this credential, device or address has reached its share (limit " + e.Limit + ")"
	}
	return "the server has reached its limit (limit " + e.Limit + ")"
}

// fits returns nil if the holder may have n more. A holder that has nothing else may have one item that is
// larger than its share, but not than half of the pool: it could never be served otherwise.
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

func (p *Pool) give(who Holder, n int64) Place {
	p.used += n
	p.held[who.Key] += n
	return Place{pool: p, who: who, n: n}
}

// Take takes n for a holder, or fails with a *FullError.
func (p *Pool) Take(who Holder, n int64) (*Place, error) {
	place := new(Place)
	if err := p.TakeInto(place, who, n); err != nil {
		return nil, err
	}
	return place, nil
}

// TakeInto is Take where the caller has the memory for the place.
func (p *Pool) TakeInto(place *Place, who Holder, n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fits(who, n); err != nil {
		return err
	}
	*place = p.give(who, n)
	return nil
}

// Wait takes n for a holder, and waits until ctx ends. Of several waiting holders the one with the least gets
// it first, so that a holder with many requests does not hold up one with few.
func (p *Pool) Wait(ctx context.Context, who Holder, n int64) (*Place, error) {
	p.mu.Lock()
	full := p.fits(who, n)
	if full == nil {
		defer p.mu.Unlock()
		place := p.give(who, n)
		return &place, nil
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

// serve gives what is free to waiting holders.
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
		place := p.give(w.who, w.n)
		w.ready <- &place
	}
}

// Used is how much is taken.
func (p *Pool) Used() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Place is what a holder has of a pool. The nil place belongs to no pool and is unbounded.
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

// Shrink releases n, or as much as the place has.
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
	p.held[pl.who.Key] -= n
	if p.held[pl.who.Key] == 0 {
		delete(p.held, pl.who.Key)
	}
	p.serve()
}

// Release releases all of it. A second call does nothing.
func (pl *Place) Release() { pl.Shrink(math.MaxInt64) }
