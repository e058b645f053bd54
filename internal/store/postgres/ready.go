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

// queue is what is known of those that are ready, so that a list need not be read from its
// beginning: there lie all that were ready since the oldest transaction of the server
// began, whoever's that is. What is known is compared before it is told.
type queue struct {
	mu    sync.Mutex
	list  []turn   // in order
	after int64    // up to here turns are known
	low   int64    // no wake time is before this one, of those that were written
	seen  int64    // up to here; -1: nothing is known
	emits [2]int64 // no emit has a number before this one; of those for the sink the second
	parts int64    // which parts they are of, see Store.Parts
	again time.Time
}

// unknown has everything read from its beginning.
func (q *queue) unknown() {
	q.list, q.after, q.low, q.seen, q.emits = nil, 0, math.MinInt64, -1, [2]int64{}
}

// current forgets what is of other parts, or old. It tells whether it did.
func (q *queue) current(parts int64) bool {
	now := time.Now()
	if parts == q.parts && now.Before(q.again) {
		return true
	}
	q.unknown()
	q.parts, q.again = parts, now.Add(readAgain)
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
		known := q.current(s.Parts())
		for {
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

// turns compares the first that are known and reads some that came after all that are
// known. It must be called once more where some were gone, and others moved up that were
// not compared, or where it found fewer than are asked for and there may be others.
func (s *Store) turns(ctx context.Context, ns int32, now core.Time, limit int) (more bool, err error) {
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
	err = s.db.retry(ctx, func(ctx context.Context) error {
		there, fresh = nil, nil
		args := []any{ns, int64(now), max(wakeBatch, limit), s.owned(), insts, numbers, q.after, read, q.low, q.seen}
		return s.db.each(ctx, s.db.pool, "SELECT inst, turn, id FROM ~.turns("+parameters(1, len(args))+")", args, func(r pgx.Rows) error {
			var t turn
			var id *string
			err := r.Scan(&t.inst, &t.turn, &id)
			switch {
			case err != nil:
			case id == nil:
				low, seen = t.inst, t.turn
			case t.turn > q.after:
				fresh = append(fresh, turn{t.inst, t.turn, *id})
			default:
				there = append(there, turn{t.inst, t.turn, *id})
			}
			return err
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
