package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

var _ store.Shared = (*Store)(nil)

// defaultLease is how long a node has its shards without being heard of. It beats three times as often, and
// where a beat fails, soon again.
const defaultLease = 900 * time.Millisecond

// node is this process among others of its namespace.
type node struct {
	*Store
	id     pgtype.UUID
	ns     int32
	member store.Member
	heard  time.Time // when a heartbeat was answered last
	told   bool      // its row says which schema it knows

	beats line // of their own: commits do not keep them waiting
	kicks chan struct{}
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// Join makes this process a node.
func (s *Store) Join(ctx context.Context, m store.Member) (func(context.Context) error, error) {
	ns, err := s.ns(ctx)
	if err != nil {
		return nil, err
	}
	if !storable(m.Name, m.Address, m.Version) {
		return nil, fmt.Errorf("join: the name or address of the node: %w", store.ErrText)
	}
	if m.Calls == nil {
		m.Calls = func() []int { return nil }
	}
	if m.Stuck == nil {
		m.Stuck = func() bool { return false }
	}
	n := &node{Store: s, id: pgtype.UUID{Valid: true}, ns: ns, member: m, kicks: make(chan struct{}, 1), beats: line{db: s.db}}
	_, _ = rand.Read(n.id.Bytes[:]) // never fails
	err = s.db.retry(ctx, func(ctx context.Context) error {
		_, err := s.db.pool.Exec(ctx, s.db.sql("DELETE FROM ~.nodes WHERE seen < clock_timestamp() - interval '1 hour'"))
		return wrap(err)
	})
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	s.leases.join(n.id)
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	n.stop = stop
	n.done.Go(func() { n.run(run) })
	n.done.Go(func() { s.db.finishMigration(run) })
	if !s.db.opts.NoHints {
		n.done.Go(func() { n.listen(run) })
		n.done.Go(func() { n.tell(run) })
	}
	return n.leave, nil
}

func (n *node) lease() time.Duration { return n.db.opts.Lease }

// run beats until it is told to stop.
func (n *node) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, err := n.lease(), error(nil)
		switch {
		case n.silent.Load():
		case n.db.answers.stuck(stuckLeases * n.lease()), n.member.Stuck():
			err = errStuck // others take over what it does not get done
		case n.db.outgrown.Load() != nil:
			_ = n.giveBack(ctx) // the schema never goes back
			<-ctx.Done()
			return
		default:
			wait, err = n.beat(ctx, false)
		}
		if err != nil {
			wait = n.lease() / 8
		}
		alarm := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-alarm.C:
		case <-n.kicks:
		}
		alarm.Stop()
	}
}

// kick makes the next heartbeat come at once.
func (n *node) kick() {
	select {
	case n.kicks <- struct{}{}:
	default:
	}
}

// busy counts the calls that are in flight, and says in which shards.
func (n *node) busy() (calls int, shards map[int16]bool) {
	list := n.member.Calls()
	shards = map[int16]bool{}
	for _, part := range list {
		shards[int16(part-1)] = true
	}
	return len(list), shards
}

// beat sends one heartbeat, and returns how long to wait before the next. After a long silence a node only
// renews at first: other nodes may be about to return, too.
func (n *node) beat(ctx context.Context, leaving bool) (time.Duration, error) {
	calls, busy := n.busy()
	back := n.leases.surplus(busy, leaving)
	every := n.lease() / 3
	late := n.heard.IsZero() || time.Since(n.heard) > n.lease()
	ctx, cancel := context.WithTimeout(ctx, n.lease())
	defer cancel()
	var showed time.Time
	var nodes int
	var shards []int16
	var epochs []int64
	var free *float64
	var since int
	sent := time.Now()
	err := n.beats.one(ctx, "SELECT o_now, o_nodes, o_shard, o_epoch, o_wait, o_since FROM ~.heartbeat(p_ns => @ns, p_node => @node, "+
		"p_name => @name, p_version => @version, p_address => @address, p_calls => @calls, p_lease => @lease, p_parts => @parts, p_back => @back, p_take => @take)",
		[]any{pgx.NamedArgs{
			"ns": n.ns, "node": n.id, "name": n.member.Name, "version": n.member.Version, "address": n.member.Address, "calls": calls,
			"lease": n.lease(), "parts": shardCount, "back": list(back), "take": !late && !leaving,
		}}, &showed, &nodes, &shards, &epochs, &free, &since)
	if err != nil {
		return 0, fmt.Errorf("heartbeat: %w", err)
	}
	came := time.Now()
	fresh := n.heard.IsZero()
	n.heard = came
	_ = n.db.fits(since)                               // the next one knows
	if n.told = n.told && !late; !n.told && !leaving { // its row may be new
		if err := n.beats.do(ctx, "UPDATE ~.nodes SET knows = $2 WHERE node = $1", n.id, len(n.db.opts.steps)); err != nil {
			return 0, fmt.Errorf("heartbeat: %w", err)
		}
		n.told = true
	}
	n.leases.measure(sent, came, showed)
	if n.leases.renewed(sent, n.lease(), shards, epochs, nodes) {
		n.hints.hear(true) // a shard that came has work
	}
	if len(back) > 0 {
		n.hints.send(hintFree)
	}
	switch {
	case fresh:
		return every / 8, nil
	case free != nil:
		return min(every, time.Duration(*free*float64(time.Second))+every/50), nil
	}
	return every, nil
}

// leave gives everything back: at once what has no calls in flight.
func (n *node) leave(ctx context.Context) error {
	n.stop()
	n.done.Wait()
	defer n.beats.close()
	return n.giveBack(ctx)
}

// giveBack gives back what it has, and is not heard of any more.
func (n *node) giveBack(ctx context.Context) error {
	for {
		_, err := n.beat(ctx, true)
		if held, _ := n.leases.held(false); err != nil || len(held) == 0 {
			return errors.Join(err, n.goodbye(ctx))
		}
		if err := sleep(ctx, n.lease()/50); err != nil {
			return err
		}
	}
}

func (n *node) goodbye(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.lease())
	defer cancel()
	return n.beats.do(ctx, "DELETE FROM ~.nodes WHERE node = $1", n.id)
}

// line is a connection of its own, which is made when it is needed.
type line struct {
	db   *DB
	conn *pgx.Conn
}

func (l *line) open(ctx context.Context) error {
	if l.conn != nil && !l.conn.IsClosed() {
		return nil
	}
	var err error
	config := l.db.pool.Config().ConnConfig.Copy()
	config.DialFunc = dial // its user knows how long to wait
	l.conn, err = pgx.ConnectConfig(ctx, config)
	return err
}

func (l *line) close() {
	if l.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = l.conn.Close(ctx)
	}
}

// one reads the first row.
func (l *line) one(ctx context.Context, text string, args []any, into ...any) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	return l.conn.QueryRow(ctx, l.db.sql(text), args...).Scan(into...)
}

func (l *line) do(ctx context.Context, text string, args ...any) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	_, err := l.conn.Exec(ctx, l.db.sql(text), args...)
	return err
}

// Has reports whether an instance is in a shard that this process has.
func (s *Store) Has(instance string) bool { return s.leases.has(shardOf(instance)) }

// CallShard is the shard for calls of an instance. Shards count from 1 outside of this package.
func (s *Store) CallShard(instance string) int { return int(s.leases.place(shardOf(instance))) + 1 }

// HasShard reports whether the calls of a shard are this process's to make.
func (s *Store) HasShard(shard int) bool { return s.leases.has(int16(shard - 1)) }

// Leased reports whether this process may begin calls.
func (s *Store) Leased() bool {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	return s.leases.leased()
}

// ShardChanges counts changes of what this process has.
func (s *Store) ShardChanges() int64 {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	return s.leases.count
}

// Now is what the database's clock shows at least.
func (s *Store) Now() time.Time {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	return s.leases.offset.now(time.Now())
}

func (l *leases) measure(sent, came, showed time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offset.measure(sent, came, showed)
}

// Handed lists the calls that became this process's. After an error it is not known which
// were told: then all are.
func (s *Store) Handed(ctx context.Context) (out []store.Call, err error) {
	shards, epochs := s.leases.held(true)
	if len(shards) == 0 { // not joined, or its time is over: then what is not known stays so
		return nil, nil
	}
	if now := time.Now(); s.doubts.due(now) {
		if out, err = s.callsOf(ctx, "", shards); err == nil || errors.As(err, new(*store.DamagedError)) {
			s.doubts.listed(now)
		}
		return out, err
	}
	var damaged store.DamagedError
	err = s.ask(ctx, func(ns int32) error {
		var rows []storedCall
		err := s.db.each(ctx, s.db.pool, "SELECT seq, id, created, parked, shard, call FROM ~.hand_over($1, $2, $3)", []any{ns, shards, epochs}, func(r pgx.Rows) error {
			c, err := readCall(r)
			rows = append(rows, c)
			return err
		})
		if err != nil {
			return err
		}
		return s.decodeCalls(ctx, ns, rows, &out, &damaged)
	})
	if err != nil {
		s.doubts.again()
		return nil, err
	}
	slices.SortFunc(out, func(a, b store.Call) int { return int(a.Seq - b.Seq) })
	return out, damaged.Err()
}

// storedCall is a call as it is stored.
type storedCall struct {
	store.Call
	ticket int64 // of the row; 0: it was not asked for
	data   []byte
}

func readCall(r pgx.Rows) (c storedCall, err error) {
	err = r.Scan(&c.Seq, &c.Instance, &c.Created, &c.Parked, &c.Shard, &c.data)
	c.Shard++
	return c, err
}

// decode reads what is not in columns.
func (c *storedCall) decode(chunks *codec.ChunkSource) error {
	err := codec.DecodeInvoke(c.data, &c.Call, chunks)
	if err == nil && c.ticket != 0 && int64(c.Ticket) != c.ticket {
		err = fmt.Errorf("%w: it is that of ticket %s", store.ErrDamaged, c.Ticket)
	}
	if errors.Is(err, store.ErrDamaged) {
		err = fmt.Errorf("a call of %s is %w: %w", c.Instance, store.ErrDamaged, err)
	}
	return err
}

// decodeCalls decodes calls. One whose instance was deleted meanwhile is left out.
func (s *Store) decodeCalls(ctx context.Context, ns int32, rows []storedCall, out *[]store.Call, damaged *store.DamagedError) error {
	for i := range rows {
		c := &rows[i]
		err := c.decode(s.db.chunksOf(ctx, s.db.pool, ns, c.Instance, c.Created))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err := keep(out, damaged, c.Call, c.Seq, c.Instance, err); err != nil {
			return err
		}
	}
	return nil
}

// HandOver has the calls of an instance handed anew to the nodes that have them.
func (s *Store) HandOver(ctx context.Context, instance string) error {
	return s.changeCalls(ctx, "SET epoch = 0", "", instance)
}

// Park notes that a call waits for a person.
func (s *Store) Park(ctx context.Context, instance string, t core.Ticket) error {
	return s.changeCalls(ctx, "SET parked = true", "AND ticket = $3", instance, int64(t))
}

func (s *Store) changeCalls(ctx context.Context, set, which, instance string, args ...any) error {
	return s.write(ctx, func(ns int32) error {
		if !storable(instance) {
			return nil
		}
		text := "UPDATE ~.calls " + set + " WHERE inst = (SELECT seq FROM ~.instances WHERE id = $2 AND ns + 0 = $1) " + which
		return s.db.retry(ctx, func(ctx context.Context) error {
			_, err := s.db.pool.Exec(ctx, s.db.sql(text), append([]any{ns, instance}, args...)...)
			return wrap(err)
		})
	})
}

// Since lists the instances for which waiting may be over behind a position of the feed. The end is
// read first: what is not visible then lies behind it.
func (s *Store) Since(ctx context.Context, after int64, limit int) (out []string, next int64, err error) {
	err = s.ask(ctx, func(ns int32) error {
		last := after
		b := &pgx.Batch{}
		b.Queue(s.db.sql(newestPos), ns).QueryRow(func(r pgx.Row) error { return r.Scan(&next) })
		if limit > 0 {
			b.Queue(s.db.sql("SELECT pos, instance FROM ~.changed($1, $2, $3)"), ns, after, limit).Query(func(r pgx.Rows) error {
				return drain(r, func(r pgx.Rows) error {
					id := ""
					err := r.Scan(&last, &id)
					out = append(out, id)
					return err
				})
			})
		}
		err := wrap(s.db.pool.SendBatch(ctx, b).Close())
		if limit > 0 && len(out) == limit {
			next = last
		}
		next = max(next, last)
		return err
	})
	return out, next, err
}

// nodesShown is for how long a node is listed that is not heard of any more.
const nodesShown = time.Minute

// Nodes lists those that were heard of lately.
func (s *Store) Nodes(ctx context.Context) (out []store.Node, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, "SELECT n.node::text, n.name, n.address, n.version, n.since, n.seen, n.calls, "+
			"(SELECT count(*) FROM ~.shards s WHERE s.ns = n.ns AND s.owner = n.node AND n.until > clock_timestamp()) "+
			"FROM ~.nodes n WHERE n.ns = $1 AND n.seen > clock_timestamp() - $2::interval ORDER BY n.name, n.since, n.node", []any{ns, nodesShown}, func(r pgx.Rows) error {
			n := store.Node{Of: shardCount}
			err := r.Scan(&n.ID, &n.Name, &n.Address, &n.Version, &n.Since, &n.Seen, &n.InFlight, &n.Shards)
			out = append(out, n)
			return err
		})
	})
	return out, err
}
