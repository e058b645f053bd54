package engine

import (
	"context"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// lateEmit is a store where something is produced right after the outbox has looked.
type lateEmit struct {
	store.Store
	come func()
}

func (s *lateEmit) Outbound(ctx context.Context, limit int) ([]store.Emit, error) {
	list, err := s.Store.Outbound(ctx, limit)
	if come := s.come; come != nil {
		s.come = nil
		come()
	}
	return list, err
}

// TestProducedWhileLooking: what is produced while the store is read is found by the next look.
func TestProducedWhileLooking(t *testing.T) {
	r, s := &receiver{}, &lateEmit{Store: newStore(t)}
	h := newHarness(t, nil, func(c *Config) { c.Store, c.Sink = s, r.take })
	h.deploy(producer(1))
	s.come = func() { produce(t, h.Engine, "b") }
	produce(t, h.Engine, "a")
	h.run(time.Minute)
	if got := r.ids(); len(got) != 2 {
		t.Errorf("the sink has %v", got)
	}
}
