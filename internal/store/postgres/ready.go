package postgres

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// wakeBatch is how many instances are woken at least when there are so many; the others
	// sleep on until it is their turn ("wake-batch").
	wakeBatch = 1024
	// newTurns is how many that became ready are read at a time.
	newTurns = 1024
	// readAgain is after how long the lists of work are read from their beginning, and
	// readShare after how many times as long as that took. It is needed only where the database
	// lost what it had committed: numbers become visible in order.
	readAgain = 30 * time.Second
	readShare = 100
)

// queue caches the ready instances, so that a list need not be read from its beginning, where the dead
// rows of everything lie that was ready since the oldest transaction of the server began. Entries are
// checked before they are returned.
type queue struct {
	mu           sync.Mutex
	list         []turn   // in order
	after        int64    // up to here turns are known
	low          int64    // no wake time is before this one, of those that were written
	seen         int64    // up to here; -1: nothing is known
	emits        [2]int64 // no emit has a number before this one; of those for the sink the second
	shardChanges int64    // the Store.ShardChanges that they were read at
	again        time.Time
	listed       bool // Glance compared the list, for the instant listedAt: Ready need not
	listedAt     core.Time
}

// unknown has everything read from its beginning.
func (q *queue) unknown() {
	q.list, q.after, q.low, q.seen, q.emits, q.listed = nil, 0, math.MinInt64, -1, [2]int64{}, false
}

// current forgets what was read for other shards, or is old. It reports whether it kept it.
func (q *queue) current(shardChanges int64) bool {
	now := time.Now()
	if shardChanges == q.shardChanges && now.Before(q.again) {
		return true
	}
	q.unknown()
	q.shardChanges, q.again = shardChanges, now.Add(readAgain)
	return false
}

// readSince notes how long it took to read everything.
func (q *queue) readSince(began time.Time) {
	q.again = time.Now().Add(max(readAgain, readShare*time.Since(began)))
}

type turn struct {
	inst, turn int64
	id         string
}

// forget has everything read again.
func (q *queue) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unknown()
	q.again = time.Time{}
}

// Ready lists instances that have something to do.
func (s *Store) Ready(ctx context.Context, now core.Time, limit int) ([]string, error) {
	out := []string{}
	err := s.ask(ctx, func(ns int32) error {
		q := &s.queue
		q.mu.Lock()
		defer q.mu.Unlock()
		if limit <= 0 {
			return nil
		}
		began := time.Now()
		known := q.current(s.ShardChanges())
		listed := q.listed && q.listedAt == now && limit >= newTurns
		q.listed = false
		for !listed {
			more, err := s.turns(ctx, ns, now, limit)
			if err != nil {
				q.unknown()
				return err
			}
			if !more {
				break
			}
		}
		if !known {
			q.readSince(began)
		}
		for _, t := range q.list[:min(limit, len(q.list))] {
			out = append(out, t.id)
		}
		return nil
	})
	return out, err
}

const turnsArgs = "p_ns => $1, p_now => $2, p_batch => $3, p_shards => $4, p_insts => $5, p_turns => $6, p_after => $7, p_new => $8, p_low => $9, p_seen => $10"

var (
	callTurns = statement{"turns", "SELECT inst, turn, id FROM ~.turns(" + turnsArgs + ")"}
	callWork  = statement{"work", "SELECT inst, turn, id FROM ~.work(" + turnsArgs + ", p_emit => $11, p_out => $12, h_shard => $13, h_epoch => $14)"}
)

// lists are bits of what the function work says: the list may have something.
const (
	listSchedules = 1 << iota
	listGatherings
	listEvents
	listSubscriptions
	listEmits
	listOutbound
	listCalls
)

// Glance looks at all lists of work with one statement.
func (s *Store) Glance(ctx context.Context, now core.Time) (w store.Glance, err error) {
	if !s.db.has.work {
		return store.Anything, ctx.Err()
	}
	err = s.ask(ctx, func(ns int32) error {
		q := &s.queue
		q.mu.Lock()
		defer q.mu.Unlock()
		began, changes := time.Now(), s.ShardChanges()
		known := q.current(changes)
		shards, epochs := s.leases.held(true)
		var lists int64
		var next *int64
		more, err := s.turnsBy(ctx, callWork, ns, now, newTurns, func(last turn, due *int64) { lists, next = last.inst, due },
			q.emits[0], q.emits[1], list(shards), list(epochs))
		if err != nil {
			q.unknown()
			return err
		}
		if !known {
			q.readSince(began)
		}
		has := func(list int64) bool { return lists&list != 0 }
		w = store.Glance{
			Calls: has(listCalls) || s.doubts.due(time.Now()), Schedules: has(listSchedules), Gatherings: has(listGatherings), Events: has(listEvents),
			Subscriptions: has(listSubscriptions), Instances: more || len(q.list) > 0, Emits: has(listEmits), Outbound: has(listOutbound),
			Deployments: lists >> 8,
		}
		if next != nil {
			w.Next, w.Later = core.Time(*next), true
		}
		if !more {
			q.listed, q.listedAt = true, now
		}
		if changes == s.ShardChanges() { // what has a greater number is not visible yet
			for i, found := range []bool{w.Emits, w.Outbound} {
				if !found {
					q.emits[i] = max(q.emits[i], q.seen)
				}
			}
		}
		return nil
	})
	return w, err
}

// turns compares the first that are known and reads some that came after all that are
// known. It must be called once more where some were gone, and others moved up that were
// not compared, or where it found fewer than are asked for and there may be others.
func (s *Store) turns(ctx context.Context, ns int32, now core.Time, limit int) (more bool, err error) {
	return s.turnsBy(ctx, callTurns, ns, now, limit, nil)
}

// turnsBy is turns by a statement that gets more arguments, and may have one more row, with an empty id.
func (s *Store) turnsBy(ctx context.Context, call statement, ns int32, now core.Time, limit int, last func(turn, *int64), args ...any) (more bool, err error) {
	q := &s.queue
	checked := min(limit, len(q.list))
	insts, numbers := []int64{}, []int64{}
	for _, t := range q.list[:checked] {
		insts, numbers = append(insts, t.inst), append(numbers, t.turn)
	}
	read := max(newTurns, limit)
	if len(q.list) > 2*read {
		read = 0 // enough is known
	}
	var there, fresh []turn
	low, seen := q.low, q.seen
	args = append([]any{ns, int64(now), max(wakeBatch, limit), s.owned(), insts, numbers, q.after, read, q.low, q.seen}, args...)
	err = s.db.retry(ctx, func(ctx context.Context) error {
		there, fresh = nil, nil
		return s.db.rows(ctx, call, args, func(r pgx.Rows) error {
			var t turn
			var number *int64
			var id *string
			if err := r.Scan(&t.inst, &number, &id); err != nil {
				return err
			}
			if number != nil {
				t.turn = *number
			}
			switch {
			case id == nil:
				low, seen = t.inst, t.turn
			case *id == "":
				last(t, number)
			case t.turn > q.after:
				fresh = append(fresh, turn{t.inst, t.turn, *id})
			default:
				there = append(there, turn{t.inst, t.turn, *id})
			}
			return nil
		})
	})
	if err != nil {
		return false, err
	}
	gone := checked - len(there)
	slices.SortFunc(there, func(a, b turn) int { return cmp.Compare(a.turn, b.turn) })
	q.list = slices.Concat(there, q.list[checked:], fresh)
	q.low, q.seen = low, seen
	if len(fresh) < read { // those are all: of what came up to then there is nothing else
		q.after = max(q.after, seen)
	}
	if len(fresh) > 0 {
		q.after = max(q.after, fresh[len(fresh)-1].turn)
	}
	compared := len(there) + len(fresh)
	return gone > 0 && len(q.list) > compared || len(fresh) == read && read > 0 && len(q.list) < limit, nil
}
