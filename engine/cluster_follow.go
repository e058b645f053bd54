package engine

import (
	"context"
	"time"
)

// follow wakes those who wait here for what other nodes commit.
func (e *Engine) follow(ctx context.Context) {
	pos := int64(-1) // nobody waits: not known
	for ctx.Err() == nil {
		if !e.followed() {
			pos = -1
		} else if next, err := e.catchUp(ctx, pos); err == nil {
			pos = next
		} // else the store is away, which Poll tells
		alarm := time.NewTimer(longestLook)
		select {
		case <-ctx.Done():
		case <-alarm.C:
		case work := <-e.shared.Hints():
			if work {
				e.wakeUp()
			}
		}
		alarm.Stop()
	}
}

// followed reports whether anybody waits for a change.
func (e *Engine) followed() bool {
	e.changes.mu.Lock()
	waits := e.changes.next != nil
	e.changes.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	return waits || len(e.watches) > 0
}

// catchUp tells what happened behind a position of the feed, and returns its end. That is
// read first: who begins to wait after it sees for itself what came before.
func (e *Engine) catchUp(ctx context.Context, pos int64) (int64, error) {
	_, end, err := e.shared.Since(ctx, 0, 0)
	if err != nil || end == pos {
		return end, err
	}
	told := 0
	for at := pos; pos >= 0 && at < end && told < maxTold; {
		ids, next, err := e.shared.Since(ctx, at, maxTold/10)
		if err != nil {
			return pos, err
		}
		for _, id := range ids {
			e.told(id, nil)
		}
		if told += len(ids); len(ids) == 0 {
			break
		}
		at = next
	}
	if pos < 0 || told >= maxTold {
		e.tellAll()
	}
	e.changes.tell()
	return end, nil
}

// tellAll lets everybody look who waits for an instance.
func (e *Engine) tellAll() {
	e.mu.Lock()
	var ids []string
	for id := range e.watches {
		ids = append(ids, id)
	}
	e.mu.Unlock()
	for _, id := range ids {
		e.told(id, nil)
	}
}
