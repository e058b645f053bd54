package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// onlooker follows everything that happens, through all kills. It talks to a proxy that has
// the same address while processes come and go.
type onlooker struct {
	t     *testing.T
	proxy *httptest.Server
	end   context.CancelFunc
	done  sync.WaitGroup

	mu   sync.Mutex
	seen map[string]map[string]int // how often, by instance and type of record
	more chan struct{}             // closed with the next change
}

func newOnlooker(t *testing.T, l *workload) *onlooker {
	o := &onlooker{t: t, seen: map[string]map[string]int{}, more: make(chan struct{})}
	o.proxy = httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1, // at once
		Rewrite: func(r *httputil.ProxyRequest) {
			to, err := url.Parse(l.current().URL())
			if err == nil {
				r.SetURL(to)
			}
		},
	})
	t.Cleanup(o.proxy.Close)
	c, err := client.New(client.Options{URL: o.proxy.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	o.end = end
	ready := make(chan struct{})
	o.done.Go(func() { o.follow(ctx, c, ready) })
	t.Cleanup(func() {
		end()
		o.done.Wait()
	})
	<-ready
	return o
}

func (o *onlooker) follow(ctx context.Context, c *client.Client, ready chan struct{}) {
	first := sync.OnceFunc(func() { close(ready) })
	defer first()
	for ch, err := range c.Stream(ctx, client.StreamQuery{Patience: 5 * time.Minute}) {
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			o.t.Errorf("the stream ended: %v", err)
			return
		case ch.Kind == api.StreamReset:
			o.t.Error("the stream lost its place")
		}
		first()
		o.mu.Lock()
		if o.seen[ch.Instance] == nil {
			o.seen[ch.Instance] = map[string]int{}
		}
		for _, rec := range ch.Records {
			o.seen[ch.Instance][rec.Type]++
		}
		close(o.more)
		o.more = make(chan struct{})
		o.mu.Unlock()
	}
}

// check waits until the end of every instance was seen, and counts.
func (o *onlooker) check(instances []string) {
	late := time.After(2 * time.Minute)
	for _, id := range instances {
		for {
			o.mu.Lock()
			finished, more := o.seen[id]["finished"], o.more
			o.mu.Unlock()
			if finished > 0 {
				break
			}
			select {
			case <-more:
			case <-late:
				o.t.Fatalf("the stream never told of the end of %s", id)
			}
		}
	}
	o.end()
	o.done.Wait()
	for _, id := range instances {
		for _, kind := range []string{"started", "finished"} {
			if n := o.seen[id][kind]; n != 1 {
				o.t.Errorf("the stream told %d times that %s was %s", n, id, kind)
			}
		}
	}
}
