package server

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

// compilations is how many definitions are compiled at a time ("compilations"). Others wait: they
// take a processor each, and more of them would not be done sooner. One credential has one at a time,
// so that an author of slow definitions holds up nobody else.
const compilations = 2

func newCompilations() *admit.Pool {
	return admit.NewPool("compilations", admit.Size{All: compilations, Share: compilations / 2})
}

// compilation is the work on one definition. It ends with its context.
type compilation struct {
	ctx    context.Context
	pool   *admit.Pool
	who    admit.Holder
	place  *admit.Place // nil: it has none now
	within string       // the time that it may take, as it is told
}

// compiling waits for a place to compile a definition in, until ctx ends. The time that ctx leaves is
// that of a limit.
func (s *Server) compiling(ctx context.Context, who admit.Holder, limit string, most time.Duration) (*compilation, error) {
	c := &compilation{ctx: ctx, pool: s.compiles, who: who, within: fmt.Sprintf("%s (limit %s)", most, limit)}
	if err := c.enter(); err != nil {
		return nil, full(err)
	}
	return c, nil
}

// enter takes a place.
func (c *compilation) enter() (err error) {
	if c.place == nil {
		c.place, err = c.pool.Wait(c.ctx, c.who, 1)
	}
	return err
}

// leave gives the place back, for a while or for ever.
func (c *compilation) leave() {
	c.place.Release()
	c.place = nil
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
