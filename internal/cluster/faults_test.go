package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

var (
	harm     = flag.Duration("cluster.time", 12*time.Second, "how long TestThreeNodesUnderHarm and TestJobsUnderHarm do harm")
	restarts = flag.Int("cluster.restarts", 2, "how often they restart PostgreSQL meanwhile")
)

// harmDone is what was done to the servers.
type harmDone struct{ kills, stops, restarts int }

func (d harmDone) String() string {
	return fmt.Sprintf("%d kills, %d stops, %d restarts of the database", d.kills, d.stops, d.restarts)
}

// stop stops a node until the others have its part of the work, as any of them tells.
func (s *servers) stop() {
	i, letGo := s.pick()
	defer letGo()
	n := s.at(i)
	s.signal(n, syscall.SIGSTOP)
	defer s.signal(n, syscall.SIGCONT)
	s.comes("others have the work of one that is stopped", func(ctx context.Context) bool {
		witness := s.any()
		if witness == n {
			return false
		}
		nodes, err := witness.API.ListNodes(ctx)
		return err == nil && !slices.ContainsFunc(nodes.Items, func(o api.Node) bool { return strings.HasSuffix(n.URL, o.Address) && o.Shards > 0 })
	})
}

// pauseOfStops lies between two nodes that are stopped.
const pauseOfStops = 3 * time.Second

// stops stops one node after the other until it is told to end, and returns how many.
func (s *servers) stops(over <-chan struct{}) (n int) {
	beat := time.NewTicker(pauseOfStops)
	defer beat.Stop()
	for !s.t.Failed() {
		select {
		case <-over:
			return n
		case <-beat.C:
		}
		s.stop()
		n++
	}
	return n
}

// harm kills one node every second, stops another now and then, and restarts the database
// so often. It ends after the time, or with the last restart if that is later. Then all of them run.
func (s *servers) harm(total time.Duration, restarts int) (done harmDone) {
	over := make(chan struct{})
	var stopper sync.WaitGroup
	stopper.Go(func() { done.stops = s.stops(over) })
	defer stopper.Wait()
	defer close(over)
	began, every := time.Now(), total/time.Duration(restarts+1)
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	for !s.t.Failed() && (time.Since(began) < total || done.restarts < restarts) {
		<-beat.C
		if done.restarts < restarts && time.Since(began) > time.Duration(done.restarts+1)*every {
			s.pg.Restart(s.t)
			done.restarts++
		}
		s.kill()
		done.kills++
	}
	return done
}

// kill ends a node that is not stopped, and starts it again.
func (s *servers) kill() {
	victim, letGo := s.pick()
	defer letGo()
	s.at(victim).Kill()
	s.up(victim)
}

// TestThreeNodesUnderHarm: nothing that was acknowledged is lost, nothing happens twice, and
// calls come again only under the same key.
func TestThreeNodesUnderHarm(t *testing.T) {
	s := newServers(t, 3)
	l := newLoad(t, s)
	l.begin(8)
	done := s.harm(*harm, *restarts)
	l.finish()
	v := l.check()
	if v.Acknowledged == 0 || v.Calls == 0 {
		t.Error("nothing was shown")
	}
	t.Logf("%v; %d starts and %d events; %v", done, len(l.starts), len(l.events), v)
}

// TestOneKeyOneInstance sends the same start a hundred times to three nodes at a time. A
// request that a busy machine does not answer in time is sent again, as clients do.
func TestOneKeyOneInstance(t *testing.T) {
	s := newServers(t, 3)
	l := newLoad(t, s)
	ids := make([]string, 100)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			for {
				in, err := s.at(i%3).API.StartInstance(t.Context(), "started", client.Start{Key: "once", Input: api.Data(`{"n":"once"}`)})
				var unreachable *client.UnreachableError
				if errors.As(err, &unreachable) && t.Context().Err() == nil {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				ids[i] = in.ID
				return
			}
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
	t.Logf("%d starts with one key, on 3 nodes: 1 instance", len(ids))
}

// TestStoppedNode: a node that was stopped for longer than it has its part of the work
// begins no call when it wakes: others have made those that waited in it.
func TestStoppedNode(t *testing.T) {
	s := newServers(t, 3, "--max-calls", "1")
	l := newLoad(t, s)
	release := l.calls.Hold()
	const starts = 12
	for n := range starts { // ids that n0 draws are its own
		name := string(rune('a' + n))
		res, err := s.http.Post(s.at(0).URL+"/api/v1/definitions/started/instances", "application/json", strings.NewReader(`{"n":"`+name+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		var in api.Instance
		if err := errors.Join(json.NewDecoder(res.Body).Decode(&in), res.Body.Close()); err != nil || res.StatusCode/100 != 2 {
			t.Fatalf("it is not started: %d, %v", res.StatusCode, err)
		}
		l.starts[name] = in.ID
	}
	s.eventually("a call is in flight", func(context.Context) bool { n, _ := l.calls.Count(); return n == 1 })
	s.signal(s.at(0), syscall.SIGSTOP)
	release()
	s.eventually("the others do everything", func(ctx context.Context) bool {
		stats, err := s.at(1).API.GetStats(ctx)
		return err == nil && stats.Statuses["completed"] == 2*starts
	})
	keys, _ := l.calls.Count()
	s.signal(s.at(0), syscall.SIGCONT)
	s.shared(3) // it is heard of again, and does its part
	l.check()
	// Those that came again have the same key, which check sees to. How many there are depends on
	// how often a busy machine lets a lease lapse.
	if after, _ := l.calls.Count(); after != keys || keys != 3*starts {
		t.Errorf("%d calls; after it woke there were %d; want %d", keys, after, 3*starts)
	}
	t.Logf("%d starts in the node that was stopped: all ended, %d calls, none after it woke", starts, keys)
}

// TestDatabaseAway: while the database is away no node is ready, and all are again when it is back.
func TestDatabaseAway(t *testing.T) {
	s := newServers(t, 2)
	s.pg.Stop()
	for i := range 2 {
		s.eventually("it is not ready", func(ctx context.Context) bool { return s.at(i).API.Readyz(ctx) != nil })
		if err := s.at(i).API.Healthz(t.Context()); err != nil {
			t.Errorf("it lives nevertheless: %v", err)
		}
	}
	s.pg.Resume(t)
	for i := range 2 {
		s.eventually("it is ready", func(ctx context.Context) bool { return s.at(i).API.Readyz(ctx) == nil })
	}
	s.shared(2)
}
