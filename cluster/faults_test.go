package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/client"
)

var (
	harm     = flag.Duration("cluster.time", 12*time.Second, "how long TestThreeNodesUnderHarm and TestJobsUnderHarm do harm")
	restarts = flag.Int("cluster.restarts", 2, "how often they restart PostgreSQL meanwhile")
)

// stop stops a node until the others have its part of the work, as another one tells.
func (s *servers) stop(i, witness int) {
	p := s.at(i)
	p.signal(s.t, syscall.SIGSTOP)
	defer p.signal(s.t, syscall.SIGCONT)
	s.eventually("others have the work of one that is stopped", func(ctx context.Context) bool {
		nodes, err := s.at(witness).api.ListNodes(ctx)
		return err == nil && !slices.ContainsFunc(nodes, func(n client.Node) bool { return strings.HasSuffix(p.url, n.Address) && n.Shards > 0 })
	})
}

// harm kills one node every second, stops another now and then, and restarts the database,
// for a while. Then all of them run.
func (s *servers) harm(total time.Duration, restarts int) (kills, stops int) {
	end := time.Now().Add(total)
	every := total / time.Duration(restarts+1)
	restart := time.Now().Add(every)
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	for n := 0; time.Now().Before(end) && !s.t.Failed(); n++ {
		<-beat.C
		victim := rand.IntN(len(s.all))
		if other := (victim + 1) % len(s.all); n%3 == 2 {
			s.stop(other, (victim+2)%len(s.all))
			stops++
		}
		if time.Now().After(restart) {
			s.pg.Restart(s.t)
			restart = restart.Add(every)
		}
		s.at(victim).kill()
		s.up(victim)
		kills++
	}
	return kills, stops
}

// TestThreeNodesUnderHarm: nothing that was acknowledged is lost, nothing happens twice, and
// calls come again only under the same key.
func TestThreeNodesUnderHarm(t *testing.T) {
	s := newServers(t, 3)
	l := newLoad(t, s)
	l.begin(8)
	kills, stops := s.harm(*harm, *restarts)
	l.finish()
	l.check()
	t.Logf("%d kills, %d stops, %d restarts of the database", kills, stops, *restarts)
}

// TestOneKeyOneInstance sends the same start a hundred times to three nodes at a time.
func TestOneKeyOneInstance(t *testing.T) {
	s := newServers(t, 3)
	l := newLoad(t, s)
	ids := make([]string, 100)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			in, err := s.at(i%3).api.StartInstance(t.Context(), "started", client.Start{Key: "once", Input: client.Data(`{"n":"once"}`)})
			if err != nil {
				t.Error(err)
			}
			ids[i] = in.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("one key made the instances %s and %s", ids[0], id)
		}
	}
	l.starts["once"] = ids[0]
	l.check()
}

// TestStoppedNode: a node that was stopped for longer than it has its part of the work
// begins no call when it wakes: others have made those that waited in it.
func TestStoppedNode(t *testing.T) {
	s := newServers(t, 3, "--max-calls", "1")
	l := newLoad(t, s)
	l.calls.hold = make(chan struct{})
	const starts = 12
	for n := range starts { // ids that n0 draws are its own
		name := string(rune('a' + n))
		res, err := s.http.Post(s.at(0).url+"/api/v1/definitions/started/instances", "application/json", strings.NewReader(`{"n":"`+name+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		var in client.Instance
		if err := errors.Join(json.NewDecoder(res.Body).Decode(&in), res.Body.Close()); err != nil || res.StatusCode/100 != 2 {
			t.Fatalf("it is not started: %d, %v", res.StatusCode, err)
		}
		l.starts[name] = in.ID
	}
	s.eventually("a call is in flight", func(context.Context) bool { n, _ := l.calls.count(); return n == 1 })
	s.at(0).signal(t, syscall.SIGSTOP)
	l.calls.mu.Lock()
	close(l.calls.hold)
	l.calls.hold = nil
	l.calls.mu.Unlock()
	s.eventually("the others do everything", func(ctx context.Context) bool {
		stats, err := s.at(1).api.GetStats(ctx)
		return err == nil && stats.Statuses["completed"] == 2*starts
	})
	keys, _ := l.calls.count()
	s.at(0).signal(t, syscall.SIGCONT)
	s.shared(3) // it is heard of again, and does its part
	l.check()
	// Those that came again have the same key, which check sees to. How many there are depends on
	// how often a busy machine lets a lease lapse.
	if after, _ := l.calls.count(); after != keys || keys != 3*starts {
		t.Errorf("%d calls; after it woke there were %d; want %d", keys, after, 3*starts)
	}
}

// TestDatabaseAway: while the database is away no node is ready, and all are again when it is back.
func TestDatabaseAway(t *testing.T) {
	s := newServers(t, 2)
	s.pg.Stop()
	for i := range 2 {
		s.eventually("it is not ready", func(ctx context.Context) bool { return s.at(i).api.Readyz(ctx) != nil })
		if err := s.at(i).api.Healthz(t.Context()); err != nil {
			t.Errorf("it lives nevertheless: %v", err)
		}
	}
	s.pg.Resume(t)
	for i := range 2 {
		s.eventually("it is ready", func(ctx context.Context) bool { return s.at(i).api.Readyz(ctx) == nil })
	}
	s.shared(2)
}
