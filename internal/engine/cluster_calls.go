package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// makes reports whether the calls of a part are this node's to make.
func (e *Engine) makes(part int) bool { return e.shared == nil || e.shared.HasPart(part) }

// enqueue queues those of the calls that are this node's. The others' node finds them.
func (e *Engine) enqueue(calls []store.Call) {
	e.calls.enqueue(slices.DeleteFunc(slices.Clone(calls), func(c store.Call) bool { return !e.makes(c.Part) }))
}

// share takes the calls that became this node's, and lets go of those that are not any more.
func (e *Engine) share(ctx context.Context, now core.Time) error {
	if e.shared == nil {
		return nil
	}
	c := &e.cluster
	if parts := e.shared.Parts(); parts != c.parts {
		e.calls.dropWaiting(func(part int) bool { return !e.makes(part) })
		c.parts = parts
		e.suspects.look = true
	}
	if e.cfg.Sink != nil && c.joined.Load() {
		e.outbox.hear() // others decide on events, too
	}
	calls, err := e.handed(ctx)
	if err != nil {
		return fmt.Errorf("read calls: %w", err)
	}
	for _, call := range calls {
		e.enqueue([]store.Call{call})
	}
	if now >= c.audited+auditPause || now < c.audited {
		c.audited = now
		e.suspects.look = true
		return e.audit(ctx)
	}
	return nil
}

// partsChanged reports whether this node has other parts than share took notice of.
func (e *Engine) partsChanged() bool {
	return e.shared != nil && e.shared.Parts() != e.cluster.parts
}

func (e *Engine) handed(ctx context.Context) ([]store.Call, error) {
	if e.cluster.joined.Load() || e.cluster.read {
		calls, err := e.shared.Handed(ctx)
		return calls, e.withoutDamage(ctx, err)
	}
	calls, err := e.store.Calls(ctx, "")
	err = e.withoutDamage(ctx, err)
	e.cluster.read = err == nil
	return calls, err
}

// audit drops calls that wait here and are not open any more.
func (e *Engine) audit(ctx context.Context) error {
	waiting := e.calls.waiting(auditSize)
	for _, id := range slices.Sorted(maps.Keys(waiting)) {
		rows, err := e.store.Calls(ctx, id)
		if err = e.withoutDamage(ctx, err); err != nil {
			return fmt.Errorf("read calls: %w", err)
		}
		open := map[string]bool{}
		for _, row := range rows {
			open[callKey(row.Instance, row.Ticket)] = true
		}
		for _, key := range waiting[id] {
			if !open[key] {
				e.calls.drop(key)
			}
		}
	}
	return nil
}

// dropWaiting forgets the calls of parts that are not under way, nor answered.
func (t *callTable) dropWaiting(gone func(part int) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.all {
		if c.cancel == nil && t.held[c.key] == nil && gone(c.row.Part) {
			t.forget(c)
		}
	}
}

// waiting lists calls that are queued or wait for a person, of some instances.
func (t *callTable) waiting(instances int) map[string][]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string][]string{}
	for _, c := range t.all { // in any order: the others' turn comes
		if c.cancel != nil || t.held[c.key] != nil {
			continue
		}
		if _, listed := out[c.row.Instance]; listed || len(out) < instances {
			out[c.row.Instance] = append(out[c.row.Instance], c.key)
		}
	}
	return out
}

// flights lists the parts of the calls in flight, and of those whose answer is not stored yet:
// whoever gets the part makes them again.
func (e *Engine) flights() []int {
	t := &e.calls
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []int
	for _, c := range t.all {
		if c.cancel != nil || t.held[c.key] != nil {
			out = append(out, c.row.Part)
		}
	}
	return out
}

// parkedElsewhere finds a call that waits for a person at another node.
func parkedElsewhere(rows []store.Call, t core.Ticket) *call {
	for _, row := range rows {
		if row.Ticket == t && row.Parked {
			return &call{key: callKey(row.Instance, t), row: row}
		}
	}
	return nil
}
