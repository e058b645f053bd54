package server

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/dialect"
)

// compilations is how many definitions are compiled at a time ("compilations"). Others wait: they
// take a processor each, and more of them would not be done sooner.
const compilations = 2

// compilation is the work on one definition. It ends with its context.
type compilation struct {
	ctx    context.Context
	places chan struct{}
	has    bool   // a place
	within string // the time that it may take, as it is told
}

// compiling waits for a place to compile a definition in, until ctx ends. The time that ctx leaves is
// that of a limit.
func (s *Server) compiling(ctx context.Context, limit string, most time.Duration) (*compilation, error) {
	c := &compilation{ctx: ctx, places: s.compiles, within: fmt.Sprintf("%s (limit %s)", most, limit)}
	if c.enter() != nil {
		return nil, busy("compilations")
	}
	return c, nil
}

// enter takes a place.
func (c *compilation) enter() error {
	if c.has {
		return nil
	}
	select {
	case c.places <- struct{}{}:
		c.has = true
		return nil
	case <-c.ctx.Done():
		return c.stopped()
	}
}

// leave gives the place back, for a while or for ever.
func (c *compilation) leave() {
	if c.has {
		c.has = false
		<-c.places
	}
}

func (c *compilation) budget() *dialect.Budget { return &dialect.Budget{Stop: c.stopped} }

// stopped says why compiling must end.
func (c *compilation) stopped() error {
	switch err := c.ctx.Err(); err {
	case nil:
		return nil
	case context.DeadlineExceeded:
		return fmt.Errorf("it took longer than %s", c.within)
	default:
		return err
	}
}
