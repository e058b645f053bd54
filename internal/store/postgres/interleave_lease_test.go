package postgres

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// leaseWorld is a namespace with three nodes. The first had all parts, decided on a call, and was not heard of for too long.
type leaseWorld struct {
	nodes []*node
	told  [][]string // which calls each was told of, or decided on
	left  []bool     // whether each has left
	epoch [shardCount]int64
}

// leased is an instance in one of the parts that are taken first.
var leased = func() string {
	for i := 0; ; i++ {
		if id := fmt.Sprint("i", i); shardOf(id) < shardCount/8 {
			return id
		}
	}
}()

// leaseAction is what a node does.
type leaseAction struct {
	name string
	node int
	do   func(w *leaseWorld, n *node, at int) error
}

var leaseActions = []leaseAction{
	{"a beats", 0, beats},
	{"b beats", 1, beats},
	{"c beats", 2, beats},
	{"a decides", 0, func(w *leaseWorld, n *node, at int) error {
		part := n.CallShard(leased)
		row := store.Instance{ID: leased, Definition: "d", Version: "1", Status: core.Waiting, Created: 10, Rev: 1}
		err := n.Commit(ctx, store.Commit{Instance: row, Calls: []store.Call{{Shard: part, Invoke: core.Invoke{Ticket: 2}}}})
		if err == nil && n.HasShard(part) {
			w.told[at] = append(w.told[at], "2")
		}
		return err
	}},
	{"a lists calls", 0, lists},
	{"b beats and lists calls", 1, func(w *leaseWorld, n *node, at int) error {
		if err := beats(w, n, at); err != nil {
			return err
		}
		return lists(w, n, at)
	}},
	{"a leaves", 0, func(w *leaseWorld, n *node, at int) error { w.left[at] = true; return n.giveBack(ctx) }},
	{"b beats and leaves", 1, func(w *leaseWorld, n *node, at int) error {
		if err := beats(w, n, at); err != nil {
			return err
		}
		w.left[at] = true
		return n.giveBack(ctx)
	}},
}

func beats(_ *leaseWorld, n *node, _ int) error {
	_, err := n.beat(ctx, false)
	return err
}

// lists has a node told of the calls that became its own.
func lists(w *leaseWorld, n *node, at int) error {
	calls, err := n.Handed(ctx)
	for _, c := range calls {
		w.told[at] = append(w.told[at], fmt.Sprint(uint64(c.Ticket)))
	}
	return err
}

// openLeases makes a namespace with its nodes.
func (l *lab) openLeases(lines []line) (*leaseWorld, error) {
	_, stores, err := l.open(nil)
	if err != nil {
		return nil, err
	}
	w := &leaseWorld{told: make([][]string, len(stores)), left: make([]bool, len(stores))}
	for i, s := range stores {
		n := &node{Store: s, id: pgtype.UUID{Valid: true}, ns: s.number, beats: lines[i], member: store.Member{Name: fmt.Sprint(i), Calls: func() []int { return nil }}}
		n.id.Bytes[0], n.id.Bytes[12], n.id.Bytes[13], n.id.Bytes[14], n.id.Bytes[15] = byte(i), byte(l.tries>>24), byte(l.tries>>16), byte(l.tries>>8), byte(l.tries)
		s.leases.join(n.id)
		w.nodes = append(w.nodes, n)
	}
	a := w.nodes[0]
	for _, n := range []*node{a, a, w.nodes[1], w.nodes[2]} { // who comes takes nothing at first
		if _, err := n.beat(ctx, false); err != nil {
			return nil, err
		}
	}
	row := store.Instance{ID: leased, Definition: "d", Version: "1", Status: core.Waiting, Created: 10}
	if err := a.Commit(ctx, store.Commit{Instance: row, Calls: []store.Call{{Shard: a.CallShard(leased), Invoke: core.Invoke{Ticket: 1}}}}); err != nil {
		return nil, err
	}
	w.told[0] = []string{"1"}
	w.epoch = a.leases.epochs
	_, err = l.base.pool.Exec(ctx, l.base.sql("UPDATE ~.nodes SET until = clock_timestamp() - interval '1 second' WHERE node = $1"), a.id)
	return w, err
}

// tryLeases runs what nodes do at a time, each on the seat of its node, and checks what they have then.
func (l *lab) tryLeases(lines []line, list []leaseAction, choose func(choice) *operation, known *bool) error {
	w, err := l.openLeases(lines)
	if err != nil {
		return err
	}
	ops := make([]*operation, len(w.nodes))
	for i := range ops {
		ops[i] = &operation{name: fmt.Sprint("nothing ", i), do: func() (string, error) { return "", nil }}
	}
	for _, a := range list {
		ops[a.node] = &operation{name: a.name, free: true, do: func() (string, error) { return "", a.do(w, w.nodes[a.node], a.node) }}
	}
	if err := l.driver.run(ops, choose); err != nil || known != nil && *known {
		return err
	}
	for _, op := range ops {
		if op.err != nil {
			return fmt.Errorf("%s: %w\n%s", op.name, op.err, l.driver.story())
		}
	}
	if err := l.judgeLeases(w, list); err != nil {
		return fmt.Errorf("%w\nsteps:\n%s", err, l.driver.story())
	}
	return nil
}

// judgeLeases: who was heard of has exactly what it believes to have; epochs grow where a part changes hands; and
// once everybody was heard of, whoever has a part was told of its calls, once.
func (l *lab) judgeLeases(w *leaseWorld, list []leaseAction) error {
	for _, a := range list {
		if strings.Contains(a.name, "beats") && !w.left[a.node] {
			if err := l.believes(w, a.node); err != nil {
				return err
			}
		}
	}
	for i, n := range w.nodes {
		if w.left[i] {
			continue
		}
		if err := beats(w, n, i); err != nil {
			return err
		}
		if err := lists(w, n, i); err != nil {
			return err
		}
	}
	for i := range w.nodes {
		if !w.left[i] {
			if err := l.believes(w, i); err != nil {
				return err
			}
		}
	}
	return l.eachCall(w)
}

// believes compares what a node believes to have with what it has.
func (l *lab) believes(w *leaseWorld, at int) error {
	n := w.nodes[at]
	var epochs [shardCount]int64
	err := l.base.each(ctx, l.base.pool, "SELECT shard, epoch FROM ~.shards WHERE ns = $1 AND owner = $2", []any{n.ns, n.id}, func(r pgx.Rows) error {
		shard, epoch := 0, int64(0)
		err := r.Scan(&shard, &epoch)
		epochs[shard] = epoch
		if was := w.epoch[shard]; err == nil && (epoch < was || epoch == was && at != 0) {
			err = fmt.Errorf("part %d has epoch %d with node %d, and had %d with another", shard, epoch, at, was)
		}
		return err
	})
	if err == nil && epochs != n.leases.epochs {
		err = fmt.Errorf("node %d believes to have the epochs\n%v and has\n%v", at, n.leases.epochs, epochs)
	}
	return err
}

// eachCall checks that whoever has a call's part knows of it, once.
func (l *lab) eachCall(w *leaseWorld) error {
	return l.base.each(ctx, l.base.pool, "SELECT c.ticket, c.shard, c.epoch, s.epoch, s.owner FROM ~.calls c JOIN ~.shards s ON s.ns = c.ns AND s.shard = c.shard WHERE c.ns = $1", []any{w.nodes[0].ns}, func(r pgx.Rows) error {
		ticket, shard, decided, epoch, owner := 0, 0, int64(0), int64(0), pgtype.UUID{}
		if err := r.Scan(&ticket, &shard, &decided, &epoch, &owner); err != nil {
			return err
		}
		if decided > epoch {
			return fmt.Errorf("call %d has epoch %d, and its part %d: nobody will be told of it", ticket, decided, epoch)
		}
		at := slices.IndexFunc(w.nodes, func(n *node) bool { return n.id == owner })
		if at < 0 {
			return nil // whoever takes the part will be told
		}
		n := 0
		for _, t := range w.told[at] {
			if t == fmt.Sprint(ticket) {
				n++
			}
		}
		changed := w.nodes[at].leases.epochs[shard] != w.epoch[shard]
		if n == 0 || n > 1 && !(at == 0 && changed) { // who lost a part and got it again is told again
			return fmt.Errorf("node %d has call %d and was told of it %d times; told: %v", at, ticket, n, w.told)
		}
		return nil
	})
}

// linesOf gives each node a connection for its heartbeats.
func (l *lab) linesOf() (out []line) {
	for _, s := range l.driver.seats {
		x := line{db: s.db}
		if err := x.open(ctx); err != nil {
			l.t.Fatal(err)
		}
		l.t.Cleanup(x.close)
		out = append(out, x)
	}
	return out
}

// exploreLeases tries all orders of what nodes do.
func (l *lab) exploreLeases(lines []line, list ...leaseAction) (int, error) {
	return l.driver.explore(func(choose func(choice) *operation, known *bool) error {
		return l.tryLeases(lines, list, choose, known)
	})
}

// TestInterleavedLeases: whatever the order in which nodes are heard of, decide, take over and leave, no part has two
// owners that were heard of, and no call is forgotten.
func TestInterleavedLeases(t *testing.T) {
	l := newLab(t, 3)
	lines := l.linesOf()
	pairs, all := 0, 0
	for i, a := range leaseActions {
		for _, b := range leaseActions[i+1:] {
			if a.node == b.node || !*flagPairs && b.name == "b beats and leaves" { // that alone has most of the orders
				continue
			}
			n, err := l.exploreLeases(lines, a, b)
			if err != nil {
				t.Fatalf("%s and %s: %v", a.name, b.name, err)
			}
			pairs, all = pairs+1, all+n
		}
	}
	if pairs < 10 || all < 2*pairs {
		t.Errorf("only %d pairs, %d orders", pairs, all)
	}
	for seed := range uint64(*flagSeeds / 5) {
		random := rand.New(rand.NewPCG(*flagSeed+seed, 1))
		var list []leaseAction
		for node := range 3 {
			var own []leaseAction
			for _, a := range leaseActions {
				if a.node == node {
					own = append(own, a)
				}
			}
			list = append(list, own[random.IntN(len(own))])
		}
		if err := l.tryLeases(lines, list, func(c choice) *operation { return c.can[random.IntN(len(c.can))] }, nil); err != nil {
			t.Fatalf("seed %d: %v", *flagSeed+seed, err)
		}
	}
	t.Logf("%d pairs, %d orders, %d seeds of three, %d runs", pairs, all, *flagSeeds/5, l.tries)
}
