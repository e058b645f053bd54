package hostile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
)

func TestHostileTenantSQLite(t *testing.T) {
	attack(t, start(t, "sqlite:"+filepath.Join(t.TempDir(), "shared.db")))
}

func TestHostileTenantPostgreSQL(t *testing.T) {
	attack(t, start(t, pgtest.Start(t).Database(t)))
}

// holders is how many attacks hold connections: slow bodies, readers, logins and streams.
const holders = 6

// tenants is how many workers of the tenant are busy at a time.
const tenants = 4

// attack lets everybody at the server at once. It ends when the tenant has done its rounds and every attack
// was made at least once; those that hold connections only end with all the others.
func attack(t *testing.T, s *target) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := newTenant(s)
	p.rounds(ctx, "before", 1)
	p.latencies(t, "before the attacks")

	attacks := newAuthor(s).attacks()
	maps.Copy(attacks, newDevice(s).attacks())
	maps.Copy(attacks, (&anonymous{s}).attacks())
	w := wage(ctx, attacks)
	waited := false
	for n := 0; n < *rounds || w.left.Load() > holders && ctx.Err() == nil; n++ { // also where attacks are slow
		p.rounds(ctx, fmt.Sprint("during", n), 1)
		waited = waited || s.laneWaits(ctx)
	}
	w.end()
	if !waited {
		t.Error("no expensive instance waited for its lane: they run beside those of everybody")
	}
	p.latencies(t, fmt.Sprintf("during the attacks (%v)", w))

	if len(p.refused) > 0 {
		t.Errorf("%d requests of the tenant were refused:\n%s", len(p.refused), strings.Join(p.refused[:min(20, len(p.refused))], "\n"))
	}
	if peak := s.peakMemory(); peak > maxMemory {
		t.Errorf("the server had %d MiB of memory, want at most %d", peak>>20, maxMemory>>20)
	} else {
		t.Logf("the server had %d MiB of memory at most", peak>>20)
	}
	s.recovers(ctx, p)
}

// rounds lets the workers of the tenant do their work so often.
func (p *tenant) rounds(ctx context.Context, when string, n int) {
	each(tenants, func(worker int) {
		for round := range n {
			p.work(ctx, fmt.Sprintf("%s-%d-%d", when, worker, round))
		}
	})
}

// recovers sees to it that instances of the attacker can be terminated, that the server ends when it is
// asked to, and that it was ready until then.
func (s *target) recovers(ctx context.Context, p *tenant) {
	api := s.api(s.admin)
	for _, definition := range []string{"busy", "brief"} {
		page, err := api.ListInstances(ctx, client.InstanceQuery{Filter: "def:" + definition, Paging: client.Paging{Limit: 5}})
		if err != nil {
			s.t.Fatal(err)
		}
		if len(page.Items) == 0 {
			s.t.Errorf("no instance of %s was started: the attack showed nothing", definition)
		}
		for _, in := range page.Items {
			if in.Status == "failed" {
				s.t.Errorf("an instance of %s failed: the attack showed nothing", definition)
			}
			var problem *client.Problem
			if _, err := api.TerminateInstance(ctx, in.ID, client.Control{}); err != nil && !(errors.As(err, &problem) && problem.Status == 409) {
				s.t.Errorf("terminate: %v", err)
			}
		}
	}
	if err := api.Readyz(ctx); err != nil {
		s.t.Errorf("the server is not ready: %v", err)
	}
	if err := s.node.Stop(ctx); err != nil {
		s.t.Error(err)
	}
}

// war is all attacks at once.
type war struct {
	ended  sync.WaitGroup
	cancel context.CancelFunc
	names  []string
	made   []atomic.Int64 // by name
	left   atomic.Int64   // attacks that are still to be made once
}

// wage makes each attack again and again.
func wage(ctx context.Context, attacks map[string]func(context.Context, int)) *war {
	ctx, cancel := context.WithCancel(ctx)
	w := &war{cancel: cancel, names: slices.Sorted(maps.Keys(attacks))}
	w.made = make([]atomic.Int64, len(w.names))
	w.left.Store(int64(len(w.names)))
	for i, name := range w.names {
		w.ended.Go(func() {
			for round := 0; ctx.Err() == nil; round++ {
				attacks[name](ctx, round)
				w.made[i].Add(1)
				if round == 0 {
					w.left.Add(-1)
				}
			}
		})
	}
	return w
}

func (w *war) end() {
	w.cancel()
	w.ended.Wait()
}

func (w *war) String() string {
	var out []string
	for i, name := range w.names {
		out = append(out, fmt.Sprintf("%s %d", name, w.made[i].Load()))
	}
	return strings.Join(out, ", ")
}
