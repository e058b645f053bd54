package engine

import (
	"context"
	"fmt"
	"time"
)

// follow wakes the callers here that wait for commits of other nodes.
func (e *Engine) follow(ctx context.Context) {
	pos, failing := int64(-1), false // -1: unknown, because nothing has waited yet
	look := time.NewTicker(followLook)
	defer look.Stop()
	hinted := false
	for ctx.Err() == nil {
		some, soon := e.followed()
		switch {
		case !some:
			pos = -1
		case soon || !hinted: // else what is at work here ends here
			next, err := e.catchUp(ctx, pos)
			if err != nil && !failing && ctx.Err() == nil { // told once: it will go on like this
				e.report(fmt.Errorf("follow what other nodes do: %w", err))
			}
			pos, failing = next, err != nil
		}
		wait(ctx, followPause)
		hinted = false
		select {
		case <-ctx.Done():
		case <-look.C:
		case work := <-e.shared.Hints():
			hinted = true
			if work {
				e.wakeUp()
			}
		}
	}
}

// followed reports whether anybody waits for a change, and whether for one that may well be
// another node's.
func (e *Engine) followed() (some, soon bool) {
	e.changes.mu.Lock()
	soon = e.changes.next != nil
	e.changes.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.watches {
		soon = soon || w.away
	}
	return soon || len(e.watches) > 0, soon
}

// catchUp wakes the waiters of instances that changed after a position of the feed, and returns its
// end. If the position is negative, which means unknown, all waiters wake.
func (e *Engine) catchUp(ctx context.Context, pos int64) (int64, error) {
	at, told := pos, 0
	for at >= 0 && told < maxTold {
		ids, next, err := e.shared.Since(ctx, at, maxTold/10)
		if err != nil {
			return pos, err
		}
		for _, id := range ids {
			e.wakeWatchers(id, nil)
		}
		told, at = told+len(ids), next
		if len(ids) < maxTold/10 {
			break
		}
	}
	if at < 0 || told >= maxTold {
		var err error
		if _, at, err = e.shared.Since(ctx, 0, 0); err != nil {
			return pos, err
		}
		e.tellAll()
	}
	if at != pos {
		e.changes.tell()
	}
	return at, nil
}

// tellAll wakes all callers that wait for an instance.
func (e *Engine) tellAll() {
	e.mu.Lock()
	var ids []string
	for id := range e.watches {
		ids = append(ids, id)
	}
	e.mu.Unlock()
	for _, id := range ids {
		e.wakeWatchers(id, nil)
	}
}
