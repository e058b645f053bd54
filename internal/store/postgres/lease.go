package postgres

import (
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// leases are the shards of a namespace that this process holds. They only keep nodes from doing the
// same work; commits are safe by the revision, whichever node holds a shard.
type leases struct {
	mu     sync.Mutex
	node   pgtype.UUID // not valid: it has not joined
	epochs [shardCount]int64
	until  time.Time // of all of them, on this machine's monotonic clock
	going  [shardCount]time.Time
	count  int64 // of changes
	nodes  int   // that were heard of lately, this one among them
	offset offset
}

// join begins to count what others give. Until then this process has everything.
func (l *leases) join(node pgtype.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.node, l.until, l.nodes = node, time.Time{}, 1
	l.epochs, l.going = [shardCount]int64{}, [shardCount]time.Time{}
	l.count++
}

// renewed takes the answer to a heartbeat that was sent at an instant, and reports whether
// that changed what this process has.
func (l *leases) renewed(sent time.Time, lease time.Duration, shards []int16, epochs []int64, nodes int) (changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var now [shardCount]int64
	for i, n := range shards {
		if n >= 0 && n < shardCount {
			now[n] = epochs[i]
		}
	}
	if changed = now != l.epochs || !l.leased(); changed { // what was listed while its time was over is not known
		l.count++
	}
	for n := range now {
		if now[n] != l.epochs[n] {
			l.going[n] = time.Time{} // another has it, or it has come back
		}
	}
	l.epochs, l.until, l.nodes = now, sent.Add(lease), nodes
	return changed
}

// leased reports whether time is left. The caller has the lock.
func (l *leases) leased() bool { return !l.node.Valid || time.Now().Before(l.until) }

// epoch is that of a shard whose calls are this process's; 0: they are not.
func (l *leases) epoch(shard int16) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.going[shard].IsZero() {
		return 0
	}
	return l.epochs[shard]
}

// has reports whether the calls of a shard are this process's to make.
func (l *leases) has(shard int16) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.node.Valid || l.epochs[shard] != 0 && l.going[shard].IsZero()
}

// place is a shard that this process has: the given one if it does, else another; where it has
// none, the given one.
func (l *leases) place(shard int16) int16 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.node.Valid {
		return shard
	}
	for i := range int16(shardCount) { // from the given one on: they spread
		if n := (shard + i) % shardCount; l.epochs[n] != 0 && l.going[n].IsZero() {
			return n
		}
	}
	return shard
}

// owned lists the shards whose work is this process's now; nil: all.
func (l *leases) owned() []int16 {
	shards, _ := l.held(false)
	return shards
}

// held lists the shards with their epochs; nil: all. Those that are being given back are
// done with as far as calls go.
func (l *leases) held(calls bool) (shards []int16, epochs []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.node.Valid {
		return nil, nil
	}
	shards = []int16{}
	if !l.leased() {
		return shards, nil
	}
	for n, epoch := range l.epochs {
		if epoch != 0 && (!calls || l.going[n].IsZero()) {
			shards, epochs = append(shards, int16(n)), append(epochs, epoch)
		}
	}
	return shards, epochs
}

// patience is how long a shard that is to be given back is kept for the calls that are in
// flight. Longer ones are made again by its next owner, under the same key.
const patience = 2 * time.Second

// surplus lists the shards that are to be given back now, and begins with others: what is more
// than a fair share, few at a time, or everything. None goes while it is busy, unless that lasts.
func (l *leases) surplus(busy map[int16]bool, all bool) (back []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	have, going := 0, 0
	for n, epoch := range l.epochs {
		if epoch != 0 {
			have++
		}
		if !l.going[n].IsZero() {
			going++
		}
	}
	more := min(have-(shardCount+l.nodes-1)/max(l.nodes, 1), maxGiven) - going
	if all {
		more = have - going
	}
	begin := func(idle bool) {
		for n := shardCount - 1; n >= 0 && more > 0; n-- {
			if l.epochs[n] != 0 && l.going[n].IsZero() && (!idle || !busy[int16(n)]) {
				l.going[n] = time.Now()
				l.count++
				more--
			}
		}
	}
	begin(true)
	begin(false)
	for n, since := range l.going {
		if !since.IsZero() && (!busy[int16(n)] || time.Since(since) > patience) {
			back = append(back, int16(n))
		}
	}
	return back
}

// maxGiven is how many shards are given back at a time, so that the next node can catch up on their
// work before more follow.
const maxGiven = 4

// foreign reports whether one of these instances is in a shard that another node has.
func (l *leases) foreign(shards ...int16) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.node.Valid && slices.ContainsFunc(shards, func(n int16) bool { return l.epochs[n] == 0 })
}

// several reports whether there are others.
func (l *leases) several() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.node.Valid && l.nodes > 1
}

// offset is what is known of the database's clock: it showed an instant not before another
// one of this machine's monotonic clock.
type offset struct {
	showed, at time.Time
}

// now is not later than what the database's clock shows.
func (o *offset) now(local time.Time) time.Time {
	if o.showed.IsZero() {
		return local
	}
	return o.showed.Add(local.Sub(o.at))
}

// measure takes what the database's clock showed between two instants. Of two measurements
// the later bound is the better one, unless that clock stepped back.
func (o *offset) measure(sent, came, showed time.Time) {
	known := o.now(came)
	if latest := showed.Add(came.Sub(sent)); o.showed.IsZero() || showed.After(known) || known.After(latest) {
		o.showed, o.at = showed, came
	}
}
