package cluster

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/nodetest"
)

var burst = flag.Int("cluster.burst", 1000, "how many events TestBurst sends to each store")

// pair is started by an event, and ends with a second one of the same order.
const pair = `
id: pair
name: Two messages of an order
version: "1"
events: [{name: Message, type: message, source: shop, correlation: [{contextAttributeName: orderid}]}]
states:
- {name: First, type: event, start: {kind: default}, onEvents: [{eventRefs: [Message]}], transition: {nextState: Second}}
- {name: Second, type: event, onEvents: [{eventRefs: [Message]}], end: {kind: default}}
`

const (
	burstSenders = 16
	ofAnOrder    = 4 // events: two instances take two each
)

// TestBurst sends events of the same orders side by side. Each that is acknowledged is consumed by one instance, or is
// kept for one that may still come.
func TestBurst(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		s := &servers{t: t, database: "sqlite:" + filepath.Join(t.TempDir(), "burst.db"), all: make([]*nodetest.Node, 1), http: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
		s.up(0)
		sendBurst(t, s)
	})
	t.Run("postgres", func(t *testing.T) { sendBurst(t, newServers(t, 1)) })
	t.Run("three nodes", func(t *testing.T) { sendBurst(t, newServers(t, 3)) })
}

func sendBurst(t *testing.T, s *servers) {
	l := &load{servers: s, events: map[string]bool{}}
	if _, _, err := s.at(0).API.DeployDefinition(t.Context(), []byte(pair), client.Deploy{}); err != nil {
		t.Fatal(err)
	}
	var next atomic.Int64
	for range burstSenders {
		l.workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(*burst); i = next.Add(1) - 1 {
				l.until(fmt.Sprintf("%d-%d", i/ofAnOrder, i%ofAnOrder), func(n *nodetest.Node, name string) error { return l.message(n, i/ofAnOrder, name) })
			}
		})
	}
	l.workers.Wait()
	settled := l.settle()
	consumed, instances := l.consumed()
	kept := 0
	for e, err := range client.All(func(after string) (api.Page[api.KeptEvent], error) {
		return s.any().API.ListEvents(t.Context(), client.EventQuery{Unmatched: true, Paging: client.Paging{Limit: 500, After: after}})
	}) {
		if err != nil {
			t.Fatal(err)
		}
		if name := messageName.FindString(string(e.Event)); consumed[name] == "" {
			kept++
			delete(l.events, name)
		}
	}
	lost := 0
	for name := range l.events {
		if consumed[name] == "" {
			lost++
		}
	}
	t.Logf("%d events acknowledged by %d nodes: %d instances, %d consumed, %d kept, %d lost", *burst, len(s.all), instances, len(consumed), kept, lost)
	if lost > 0 || len(consumed)+kept != *burst {
		t.Errorf("%d of %d acknowledged events were neither consumed nor kept", *burst-len(consumed)-kept, *burst)
	}
	if !settled {
		t.Error("nothing happened for a minute, and not all instances are completed")
	}
	for i := range s.all {
		if err := s.at(i).Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	l.doctor()
}

// settle waits until all events are consumed, however long it takes, as long as instances are created or complete.
func (l *load) settle() (settled bool) {
	var total, completed int64
	for moved := true; moved && !settled; {
		moved = l.within(func(ctx context.Context) bool {
			stats, err := l.at(0).API.GetStats(ctx)
			if err != nil || stats.Total == total && stats.Statuses["completed"] == completed {
				return false
			}
			total, completed = stats.Total, stats.Statuses["completed"]
			return true
		})
		settled = completed == total && total == int64(*burst/2)
	}
	return settled
}

func (l *load) message(n *nodetest.Node, order int64, name string) error {
	got, err := n.API.SendEvents(context.Background(), api.Data(fmt.Sprintf(`{"specversion":"1.0","type":"message","source":"shop","id":"m%s","orderid":"o%d","data":{"n":"m%s"}}`, name, order, name)))
	if err != nil {
		return err
	}
	if got.Accepted+got.Duplicates != 1 {
		l.t.Errorf("event %s: %+v", name, got)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events["m"+name] = true
	return nil
}

// messageName is how the events are called.
var messageName = regexp.MustCompile(`m\d+-\d`)

// consumed reads which instance has which event, as the histories tell.
func (l *load) consumed() (by map[string]string, instances int) {
	by = map[string]string{}
	var mu sync.Mutex
	var readers sync.WaitGroup
	places := make(chan struct{}, 8)
	for in, err := range client.All(func(after string) (api.Page[api.Instance], error) {
		return l.any().API.ListInstances(l.t.Context(), client.InstanceQuery{Paging: client.Paging{Limit: 500, After: after}})
	}) {
		if err != nil {
			l.t.Fatal(err)
		}
		instances++
		places <- struct{}{}
		readers.Go(func() {
			defer func() { <-places }()
			page, err := l.any().API.GetHistory(l.t.Context(), in.ID, client.Paging{Limit: 1000})
			if err != nil {
				l.t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, r := range page.Items {
				for _, name := range messageName.FindAllString(string(r.Data), -1) {
					if first := by[name]; first != "" && first != in.ID {
						l.t.Errorf("event %s was consumed by %s and by %s", name, first, in.ID)
					}
					by[name] = in.ID
				}
			}
		})
	}
	readers.Wait()
	return by, instances
}
