package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// odd is a shared store of which a test says which parts it has, what became of deployments
// and of commits.
type odd struct {
	store.Shared
	without   atomic.Int64 // a part that it has not
	lost      atomic.Int64 // deployments
	uncertain atomic.Bool  // new instances: they are there, and then nothing can be read
	away      atomic.Bool
}

func (s *odd) HasShard(part int) bool {
	return int64(part) != s.without.Load() && s.Shared.HasShard(part)
}

func (s *odd) Deployments(ctx context.Context) (int64, error) {
	n, err := s.Shared.Deployments(ctx)
	return n - s.lost.Load(), err
}

func (s *odd) Instance(ctx context.Context, id string) (store.Instance, error) {
	if s.away.Load() {
		return store.Instance{}, errors.New("the store is away")
	}
	return s.Shared.Instance(ctx, id)
}

func (s *odd) Commit(ctx context.Context, c store.Commit) error {
	if c.Deployed != 0 {
		c.Deployed += s.lost.Load()
	}
	err := s.Shared.Commit(ctx, c)
	if err == nil && c.Instance.Rev == 0 && s.uncertain.Load() {
		s.away.Store(true)
		err = fmt.Errorf("commit: %w", store.ErrUncertain)
	}
	return err
}

func oddNode(t *testing.T, s *callService) (*testNode, *odd) {
	t.Helper()
	var o odd
	n := runNode(t, pgtest.Start(t).Database(t), "a", postgres.Options{}, s, func(c *Config) {
		o.Shared = c.Store.(store.Shared)
		c.Store = &o
	})
	settle(n)
	if err := n.Deploy(t.Context(), callTwice("w", "1")); err != nil {
		t.Fatal(err)
	}
	return n, &o
}

// TestCallsByPart: of the calls of one instance, each is made by the node that has its part,
// also when that is lost after it was queued.
func TestCallsByPart(t *testing.T) {
	s := newCallService()
	s.block = make(chan struct{})
	n, o := oddNode(t, s)
	id := n.begin("w", "")
	until(func() bool { return n.InFlight() == 1 })
	calls, err := o.Calls(t.Context(), id)
	if err != nil || len(calls) != 1 {
		t.Fatalf("calls %v, %v", calls, err)
	}
	mine, other := calls[0], calls[0]
	mine.Ticket, other.Ticket, other.Shard = 1<<32|7, 1<<32|8, mine.Shard%64+1
	for _, list := range [][]store.Call{{other, mine}, {mine, other}} {
		n.calls.mu.Lock()
		n.calls.queue.perEndpoint = 1 // what is queued waits
		n.calls.mu.Unlock()
		o.without.Store(int64(other.Shard))
		n.enqueue(list)
		if n.calls.all[callKey(id, mine.Ticket)] == nil || n.calls.all[callKey(id, other.Ticket)] != nil {
			t.Errorf("of %v another node's is queued, or its own is not", list)
		}
		n.calls.drop(callKey(id, mine.Ticket))
	}
	n.enqueue([]store.Call{mine})
	o.without.Store(int64(mine.Shard))
	n.calls.mu.Lock()
	n.calls.queue.perEndpoint = 9
	n.calls.mu.Unlock()
	n.beginCalls()
	if got := n.InFlight(); got != 1 || n.calls.all[callKey(id, mine.Ticket)] != nil {
		t.Errorf("%d calls are in flight: one of a part that is lost was begun", got)
	}
	o.without.Store(0)
	close(s.block)
	n.completed(id)
}

// TestDeploymentsLost: a database that comes back without the last deployment is what counts.
func TestDeploymentsLost(t *testing.T) {
	n, o := oddNode(t, newCallService())
	n.completed(n.begin("w", ""))
	o.lost.Store(1)
	for range 2 {
		n.completed(n.begin("w", ""))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if actual, _ := o.Deployments(t.Context()); n.cluster.deployments != actual {
		t.Errorf("%d deployments are known, there are %d", n.cluster.deployments, actual)
	}
}

// TestUncertainKey: where nobody knows whether a start under a key happened, nothing else is told.
func TestUncertainKey(t *testing.T) {
	n, o := oddNode(t, newCallService())
	o.uncertain.Store(true)
	if _, _, err := n.StartOnce(t.Context(), StartRequest{Definition: "w"}, "k"); !errors.Is(err, store.ErrUncertain) {
		t.Errorf("the first time: %v", err)
	}
	o.uncertain.Store(false)
	o.away.Store(false)
	id, again, err := n.StartOnce(t.Context(), StartRequest{Definition: "w"}, "k")
	if err != nil || !again {
		t.Fatalf("the second time: again %v, %v", again, err)
	}
	if row, err := n.Get(t.Context(), id); err != nil || row.Rev == 0 {
		t.Errorf("%+v, %v", row, err)
	}
}

// TestCallOfAPredecessor: an instance may have the id of one that was deleted. It makes its own
// calls, and the answers to the other's are nobody's.
func TestCallOfAPredecessor(t *testing.T) {
	var h *harness
	times := 0
	h = newHarness(t, nil, func(c *Config) {
		c.Invoker = effect.Func(func(ctx context.Context, _ effect.Call) effect.Outcome {
			if times++; times == 1 { // another process deletes it, and starts it again later
				if err := h.store.DeleteInstance(ctx, "x", store.Deletion{Live: true}); err != nil {
					t.Error(err)
				}
				h.live.init(liveCapacity)
				h.clock.Advance(h.clock.Now().Add(1))
				if _, err := h.Start(ctx, StartRequest{Definition: "w", ID: "x"}); err != nil {
					t.Error(err)
				}
			}
			return effect.Outcome{Value: parse(t, fmt.Sprintf(`{"call":%d}`, times))}
		})
	})
	w := build("w")
	h.deploy(w.main(w.call("one")))
	if _, err := h.Start(t.Context(), StartRequest{Definition: "w", ID: "x"}); err != nil {
		t.Fatal(err)
	}
	h.poll()
	h.want("x", core.Completed, `{"call":2}`)
}

// TestAnswerToNobody: an answer to an instance that was deleted is dropped.
func TestAnswerToNobody(t *testing.T) {
	var h *harness
	h = newHarness(t, nil, func(c *Config) {
		c.Invoker = effect.Func(func(ctx context.Context, c effect.Call) effect.Outcome {
			if err := h.store.DeleteInstance(ctx, c.Instance, store.Deletion{Live: true}); err != nil {
				t.Error(err)
			}
			return effect.Outcome{Value: parse(t, `{}`)}
		})
	})
	h.alone = false
	h.deploy(callTwice("w", "1"))
	h.start("w", "{}")
	h.poll()
	if len(h.calls.all) != 0 {
		t.Errorf("%d calls wait for nobody", len(h.calls.all))
	}
}
