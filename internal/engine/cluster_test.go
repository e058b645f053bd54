package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// callService answers calls of all nodes, and counts them.
type callService struct {
	mu    sync.Mutex
	times map[string]int            // by key
	by    map[string]map[string]int // by node, then by key
	park  bool
	block chan struct{} // calls wait for it
}

func newCallService() *callService {
	return &callService{times: map[string]int{}, by: map[string]map[string]int{}}
}

func (s *callService) of(node string) effect.Invoker {
	return effect.Func(func(ctx context.Context, c effect.Call) effect.Outcome {
		s.mu.Lock()
		s.times[c.Key]++
		if s.by[node] == nil {
			s.by[node] = map[string]int{}
		}
		s.by[node][c.Key]++
		park, block := s.park, s.block
		s.mu.Unlock()
		if block != nil {
			select {
			case <-block:
			case <-ctx.Done():
			}
		}
		return effect.Outcome{Value: expr.EmptyObject, Parked: park}
	})
}

func (s *callService) count() (keys, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.times {
		keys, calls = keys+1, calls+n
	}
	return keys, calls
}

// testNode is an engine that runs over a handle of its own.
type testNode struct {
	*Engine
	t     *testing.T
	store store.Shared
	stop  func()
}

func runNode(t *testing.T, url, name string, opts postgres.Options, s *callService, more ...option) *testNode {
	t.Helper()
	n := &testNode{t: t, store: openPostgres(t, url, opts).Namespace("default").(store.Shared)}
	var err error
	cfg := Config{
		Store: n.store, Invoker: s.of(name), Languages: jsonpath.Languages(), Node: store.Member{Name: name},
		OnError: func(err error) { t.Logf("%s: %v", name, err) },
	}
	for _, o := range more {
		o(&cfg)
	}
	n.Engine, err = New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = n.Run(ctx)
	}()
	n.stop = func() {
		cancel()
		<-over
	}
	t.Cleanup(n.stop)
	return n
}

// until waits for something that other goroutines bring about.
func until(holds func() bool) {
	for !holds() {
		runtime.Gosched()
	}
}

// settle waits until the nodes share the work fairly.
func settle(nodes ...*testNode) {
	until(func() bool {
		list, err := nodes[0].Nodes(context.Background())
		if err != nil || len(list) != len(nodes) {
			return false
		}
		all := 0
		for _, n := range list {
			all += n.Shards
			if n.Shards > (n.Of+len(list)-1)/len(list) {
				return false
			}
		}
		return all == list[0].Of
	})
}

// elsewhere is an id of an instance that a node has not.
func (n *testNode) elsewhere(prefix string) string {
	for i := 0; ; i++ {
		if id := fmt.Sprint(prefix, i); !n.store.Has(id) {
			return id
		}
	}
}

func (n *testNode) begin(definition, id string) string {
	n.t.Helper()
	id, err := n.Start(context.Background(), StartRequest{Definition: definition, ID: id})
	if err != nil {
		n.t.Fatal(err)
	}
	return id
}

func (n *testNode) completed(id string) {
	n.t.Helper()
	if row, err := n.Wait(context.Background(), id); err != nil || row.Status != core.Completed {
		n.t.Errorf("instance %s is %s (%v), %v", id, row.Status, row.Fault, err)
	}
}

func callTwice(id, version string) *ir.Program {
	b := build(id)
	b.p.Version = version
	return b.main(b.call("one"), b.call("two"))
}

// TestNodesShareCalls: a call is made by the node that decided on it, once, whoever has the
// instance; also without hints.
func TestNodesShareCalls(t *testing.T) {
	for name, opts := range map[string]postgres.Options{"hints": {}, "no hints": {NoHints: true}} {
		t.Run(name, func(t *testing.T) {
			url, s := pgtest.Start(t).Database(t), newCallService()
			a, b := runNode(t, url, "a", opts, s), runNode(t, url, "b", opts, s)
			settle(a, b)
			if err := a.Deploy(t.Context(), callTwice("w", "1")); err != nil {
				t.Fatal(err)
			}
			const each = 40
			var ids, own []string
			for i := range each {
				ids = append(ids, a.begin("w", fmt.Sprint("a", i)), b.begin("w", fmt.Sprint("b", i)))
				own = append(own, a.begin("w", ""))
			}
			for _, id := range append(ids, own...) {
				a.completed(id)
				b.completed(id)
			}
			if keys, calls := s.count(); keys != 6*each || calls != keys {
				t.Errorf("%d calls under %d keys, want %d", calls, keys, 6*each)
			}
			if got := fmt.Sprint(len(s.by["a"]), len(s.by["b"])); got != fmt.Sprint(4*each, 2*each) {
				t.Errorf("the nodes made %s calls, want %d and %d", got, 4*each, 2*each)
			}
		})
	}
}

// TestNodesDeploy: what one node deployed or deleted, another starts or misses at once: by
// request, by event, as a child.
func TestNodesDeploy(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	a, b := runNode(t, url, "a", postgres.Options{}, s), runNode(t, url, "b", postgres.Options{}, s)
	parent := build("parent")
	if err := b.Deploy(t.Context(), parent.main(spawn("w", true))); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		version := fmt.Sprint(i + 1)
		if err := a.Deploy(t.Context(), callTwice("w", version)); err != nil {
			t.Fatal(err)
		}
		if row, err := b.Get(t.Context(), b.begin("w", "")); err != nil || row.Version != version {
			t.Fatalf("b started version %s, want %s: %v", row.Version, version, err)
		}
		whole := b.begin("parent", "")
		b.completed(whole)
		children, err := a.Query(t.Context(), store.Query{Parent: whole})
		if err != nil || len(children) != 1 || children[0].Version != version {
			t.Fatalf("the children are %+v, %v; want one of version %s", children, err, version)
		}
		heard := build("heard")
		heard.p.Version = version
		heard.p.Start.Events = []ir.EventID{heard.event("go")}
		if err := b.Deploy(t.Context(), heard.main(heard.call("one"))); err != nil {
			t.Fatal(err)
		}
		sent, err := a.Send(t.Context(), ev(t, "go e"+version+" {}"))
		if err != nil || len(sent.Started) != 1 {
			t.Fatalf("the event did %+v, %v", sent, err)
		}
		if row, err := b.Get(t.Context(), sent.Started[0]); err != nil || row.Version != version {
			t.Fatalf("a's event started version %s, want %s: %v", row.Version, version, err)
		}
	}
	if err := a.Deploy(t.Context(), callTwice("gone", "1")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.find(t.Context(), "gone", ""); err != nil {
		t.Fatal(err)
	}
	if err := a.DeleteDefinition(t.Context(), "gone", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Start(t.Context(), StartRequest{Definition: "gone"}); !isMissing(err) {
		t.Errorf("b starts what a deleted: %v", err)
	}
}

// TestNodesAnswer: a call that waits for a person can be answered at any node, once.
func TestNodesAnswer(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	s.park = true
	a, b := runNode(t, url, "a", postgres.Options{}, s), runNode(t, url, "b", postgres.Options{}, s)
	settle(a, b)
	w := build("w")
	if err := a.Deploy(t.Context(), w.main(w.call("approve"))); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		id := from.begin("w", from.elsewhere(fmt.Sprint("i", i, "-")))
		var open []OpenCall
		for _, n := range []*testNode{a, b} {
			until(func() bool {
				var err error
				open, err = n.OpenCalls(t.Context(), id)
				return err == nil && len(open) == 1 && open[0].Parked
			})
		}
		if err := to.Answer(t.Context(), id, open[0].Ticket, effect.Outcome{Value: expr.EmptyObject}); err != nil {
			t.Fatal(err)
		}
		var missing *NotFoundError
		if err := from.Answer(t.Context(), id, open[0].Ticket, effect.Outcome{Value: expr.EmptyObject}); !errors.As(err, &missing) {
			t.Errorf("a second answer: %v", err)
		}
		from.completed(id)
		to.completed(id)
	}
	until(func() bool { return len(a.calls.waiting(9)) == 0 && len(b.calls.waiting(9)) == 0 }) // nobody keeps what was answered elsewhere
}

// TestNodesComeAndGo: a node that ends hands everything over, also the calls that it has
// not made; timers fire at the other one.
func TestNodesComeAndGo(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	s.block = make(chan struct{})
	a := runNode(t, url, "a", postgres.Options{}, s)
	settle(a)
	w, later := build("w"), build("later")
	if err := a.Deploy(t.Context(), w.main(w.call("one"), delay(50*time.Millisecond), w.call("two"))); err != nil {
		t.Fatal(err)
	}
	if err := a.Deploy(t.Context(), later.main(delay(300*time.Millisecond), later.call("one"))); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range 300 { // more than may be in flight
		ids = append(ids, a.begin("w", ""))
	}
	for range 50 {
		ids = append(ids, a.begin("later", ""))
	}
	b := runNode(t, url, "b", postgres.Options{}, s)
	settle(a, b) // although calls are in flight
	close(s.block)
	a.stop()
	for _, id := range ids {
		b.completed(id)
	}
	if keys, _ := s.count(); keys != 2*300+50 {
		t.Errorf("calls under %d keys, want %d", keys, 2*300+50)
	}
}

// lapsing is a store whose lease is over when a test says so.
type lapsing struct {
	store.Shared
	over   atomic.Bool
	passes atomic.Int64
}

func (l *lapsing) Leased() bool { return !l.over.Load() && l.Shared.Leased() }

func (l *lapsing) Glance(ctx context.Context, now core.Time) (store.Glance, error) {
	l.passes.Add(1)
	return l.Shared.Glance(ctx, now)
}

// TestNodesLapse: a node whose time is over begins no call, however many wait in it, and
// makes them when it has time again.
func TestNodesLapse(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	var l lapsing
	n := runNode(t, url, "a", postgres.Options{}, s, func(c *Config) {
		l.Shared = c.Store.(store.Shared)
		c.Store = &l
	})
	settle(n)
	if err := n.Deploy(t.Context(), callTwice("w", "1")); err != nil {
		t.Fatal(err)
	}
	l.over.Store(true)
	id := n.begin("w", "")
	for seen, end := l.passes.Load(), l.passes.Load()+5; seen < end; seen = l.passes.Load() {
		n.wakeUp()
	}
	if _, calls := s.count(); calls != 0 {
		t.Errorf("%d calls were begun by a node whose time is over", calls)
	}
	l.over.Store(false)
	n.completed(id)
}

// TestNodesRest: a node without anything to do waits, also for what only another one does.
func TestNodesRest(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	busy := func(c *Config) {
		c.Sink = func(context.Context, event.Event) error { return nil }
		c.Housekeeping = []JobRetention{{After: time.Hour}}
	}
	nodes := []*testNode{runNode(t, url, "a", postgres.Options{}, s, busy), runNode(t, url, "b", postgres.Options{}, s, busy)}
	settle(nodes...)
	for _, n := range nodes {
		until(func() bool {
			now := n.now()
			at, ok := n.later(t.Context(), now)
			return !ok || at.After(now.Std())
		})
	}
}

// TestNodesFollow: who waits for any change, or for an instance, sees what another node did.
func TestNodesFollow(t *testing.T) {
	for name, opts := range map[string]postgres.Options{"hints": {}, "no hints": {NoHints: true}} {
		t.Run(name, func(t *testing.T) {
			url, s := pgtest.Start(t).Database(t), newCallService()
			a, b := runNode(t, url, "a", opts, s), runNode(t, url, "b", opts, s)
			settle(a, b)
			w := build("w")
			if err := a.Deploy(t.Context(), w.main(await("Wait", 0, w.event("go")))); err != nil {
				t.Fatal(err)
			}
			for i := range 5 {
				id := a.begin("w", fmt.Sprint("i", i))
				over := make(chan Instance)
				go func() {
					row, _ := b.Wait(context.Background(), id)
					over <- row
				}()
				changed := b.Changes()
				if _, err := a.Send(t.Context(), ev(t, fmt.Sprint("go e", i))); err != nil {
					t.Fatal(err)
				}
				<-changed
				if row := <-over; row.Status != core.Completed {
					t.Errorf("the instance is %s", row.Status)
				}
			}
		})
	}
}

// TestNodesRelease: an instance that one node lets out of quarantine is called for by the
// node that has the call.
func TestNodesRelease(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	s.block = make(chan struct{})
	a, b := runNode(t, url, "a", postgres.Options{}, s), runNode(t, url, "b", postgres.Options{}, s)
	settle(a, b)
	if err := a.Deploy(t.Context(), callTwice("w", "1")); err != nil {
		t.Fatal(err)
	}
	id := b.begin("w", b.elsewhere("i"))
	until(func() bool { return b.InFlight() == 1 })
	if err := b.quarantine(t.Context(), id, &brokenError{errors.New("for a test")}); err != nil {
		t.Fatal(err)
	}
	close(s.block)
	until(func() bool { return b.InFlight() == 0 })
	if err := a.Control(t.Context(), id, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	a.completed(id)
	if len(s.by["a"]) != 0 {
		t.Errorf("a made calls: %v", s.by["a"])
	}
}

// TestNodesReadJobs: an update that one node acknowledged is what another shows and judges
// the next by.
func TestNodesReadJobs(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	a, b := runNode(t, url, "a", postgres.Options{}, s), runNode(t, url, "b", postgres.Options{}, s)
	settle(a, b)
	if err := a.Deploy(t.Context(), board("board")); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		job, err := a.CreateJob(t.Context(), JobRequest{Workflow: "board", Client: "c"})
		if err != nil {
			t.Fatal(err)
		}
		for j, state := range []string{"PROGRESS", "PROGRESS", "VALIDATE"} {
			write, read := a, b
			if (i+j)%2 == 1 {
				write, read = b, a
			}
			if _, err := write.UpdateJob(t.Context(), job.ID, JobUpdate{Actor: "CLIENT", Status: parse(t, fmt.Sprintf(`{"state":%q,"n":%d}`, state, j))}); err != nil {
				t.Fatal(err)
			}
			saw, err := read.Job(t.Context(), job.ID)
			n, _ := saw.Status.Get("n")
			if err != nil || saw.Job.State != state || n.String() != fmt.Sprint(j) {
				t.Fatalf("the other node shows %s, %v; want %s %d", saw.Status, err, state, j)
			}
		}
	}
}
