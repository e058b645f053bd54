package postgres

import (
	"context"
	"sync"
	"time"
)

// reading shares one read among concurrent callers. A caller that comes during a read gets the next one,
// which begins after its call.
type reading struct {
	read  func(context.Context) (int64, error)
	limit time.Duration // of one read

	mu      sync.Mutex
	next    *flight
	running bool
}

type flight struct {
	value int64
	err   error
	done  chan struct{}
}

func (r *reading) get(ctx context.Context) (int64, error) {
	r.mu.Lock()
	if r.next == nil {
		r.next = &flight{done: make(chan struct{})}
		if !r.running {
			r.running = true
			go r.loop()
		}
	}
	f := r.next
	r.mu.Unlock()
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (r *reading) loop() {
	for {
		r.mu.Lock()
		f := r.next
		r.next = nil
		if f == nil {
			r.running = false
		}
		r.mu.Unlock()
		if f == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), r.limit) // whoever asks next waits for it, too
		f.value, f.err = r.read(ctx)
		cancel()
		close(f.done)
	}
}

// Deployments counts changes of the definitions.
func (s *Store) Deployments(ctx context.Context) (int64, error) { return s.counts.get(ctx) }

// readDeployments also looks at the clock, and whether a newer version has left this one
// behind.
func (sp *space) readDeployments(ctx context.Context) (n int64, err error) {
	ns, err := sp.ns(ctx)
	if err != nil {
		return 0, err
	}
	if err := sp.db.enter(); err != nil {
		return 0, err
	}
	defer sp.db.flying.Done()
	err = sp.db.retry(ctx, func(ctx context.Context) error {
		var showed time.Time
		var since int
		sent := time.Now()
		err := sp.db.one(ctx, "SELECT deployments, clock_timestamp(), (SELECT max(since) FROM ~.schema_versions) FROM ~.namespaces WHERE ns = $1", []any{ns}, &n, &showed, &since)
		if err != nil {
			return err
		}
		sp.leases.measure(sent, time.Now(), showed)
		return sp.db.fits(since)
	})
	return n, err
}
