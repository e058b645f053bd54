package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// hasShard reports whether this node makes the calls of a shard.
func (e *Engine) hasShard(shard int) bool { return e.shared == nil || e.shared.HasShard(shard) }

// enqueue queues those of the calls that are this node's. The others' node finds them.
func (e *Engine) enqueue(calls []store.Call) {
	e.calls.enqueue(slices.DeleteFunc(slices.Clone(calls), func(c store.Call) bool { return !e.hasShard(c.Shard) }))
}

// takeCalls queues the calls that this node has now, and drops those that it has no more.
func (e *Engine) takeCalls(ctx context.Context, now core.Time, work store.Glance) error {
	if e.shared == nil {
		return nil
	}
	c := &e.cluster
	if changes := e.shared.ShardChanges(); changes != c.shardChanges {
		e.calls.dropWaiting(func(shard int) bool { return !e.hasShard(shard) })
		c.shardChanges = changes
		e.suspects.look = true
	}
	if e.cfg.Sink != nil && c.joined.Load() && work.Outbound {
		e.outbox.hear() // others decide on events, too
	}
	calls, err := e.handed(ctx, work)
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

// shardsChanged reports whether this node holds other shards than when takeCalls last ran.
func (e *Engine) shardsChanged() bool {
	return e.shared != nil && e.shared.ShardChanges() != e.cluster.shardChanges
}

func (e *Engine) handed(ctx context.Context, work store.Glance) ([]store.Call, error) {
	if e.cluster.joined.Load() || e.cluster.read {
		if !work.Calls {
			return nil, nil
		}
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
		if len(rows) == 0 {
			if row, err := e.store.Instance(ctx, id); err == nil && row.Held {
				continue // its calls are not listed
			}
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

// dropWaiting forgets the calls of shards that are not under way, nor answered.
func (t *callTable) dropWaiting(gone func(part int) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.all {
		if c.cancel == nil && t.held[c.key] == nil && gone(c.row.Shard) {
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
		if c.cancel != nil || t.held[c.key] != nil || c.shelved {
			continue
		}
		if _, listed := out[c.row.Instance]; listed || len(out) < instances {
			out[c.row.Instance] = append(out[c.row.Instance], c.key)
		}
	}
	return out
}

// flights lists the shards of the calls in flight, and of calls whose answer is not stored yet: the
// next node that holds the shard makes them again.
func (e *Engine) flights() []int {
	t := &e.calls
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []int
	for _, c := range t.all {
		if c.cancel != nil || t.held[c.key] != nil {
			out = append(out, c.row.Shard)
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
