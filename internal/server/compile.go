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
// so that an author of slow definitions does not hold up the others.
const compilations = 2

func newCompilations() *admit.Pool {
	return admit.NewPool("compilations", admit.Size{All: compilations, Share: compilations / 2})
}

// compilation is the work on one definition. It ends with its context.
type compilation struct {
	ctx    context.Context
	pool   *admit.Pool
	who    admit.Holder
	place  *admit.Place // nil: it holds none
	within string       // the time that it may take, for messages
}

// compiling waits for a place to compile a definition, until ctx ends. limit and most name the timeout of
// ctx.
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

// leave releases the place, for a while or for good.
func (c *compilation) leave() {
	c.place.Release()
	c.place = nil
}

func (c *compilation) budget() *dialect.Budget { return &dialect.Budget{Stop: c.stopped} }

// stopped returns why compiling must end.
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
