package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/client"
)

const (
	share    = 256  // of one credential: a quarter of requests-in-flight
	enough   = 4000 // starts that are acknowledged in each part
	overload = 10
)

// TestOverload: a credential that sends ten times as many requests at a time as it may is refused with 429 and Retry-After. What
// was acknowledged is there, once, and what was refused is not. It prints how many starts a second are taken with as many clients as may be, and
// with ten times as many, who wait as long as Retry-After says.
func TestOverload(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := start(t, "sqlite:"+filepath.Join(t.TempDir(), "overload.db"))
	hello := definition("hello", `
states:
- {name: Hello, type: inject, data: {hello: world}, start: {kind: default}, end: {kind: default}}
`)
	if _, _, err := s.api(s.admin).DeployDefinition(ctx, []byte(hello), client.Deploy{}); err != nil {
		t.Fatal(err)
	}
	f := &flood{s: s, seen: map[string]bool{}}
	f.run(ctx, share/2) // to warm up
	began := s.processor()
	peak, _ := f.run(ctx, share/2)
	between := s.processor()
	over, refused := f.run(ctx, overload*share)
	cost, costOver := (between-began)/enough, (s.processor()-between)/enough
	if refused == 0 {
		t.Error("nothing was refused: this is no overload")
	}
	t.Logf("%.0f starts a second with %d clients, %.0f with %d, which is %.0f %%; %d requests refused with 429; the server used %v of a processor for each start, and %v", peak, share/2, over, overload*share, 100*over/peak, refused, cost, costOver)
	all, err := s.api(s.admin).CountInstances(ctx, "")
	if err != nil || int(all.Count) != len(f.seen) {
		t.Errorf("%d starts were acknowledged, there are %d: %v", len(f.seen), all.Count, err)
	}
}

// processor is how much of the processors the server has used; 0 where the system does not tell.
func (s *target) processor() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.node.PID()))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// flood sends starts.
type flood struct {
	s    *target
	next atomic.Int64
	mu   sync.Mutex
	seen map[string]bool // ids that were acknowledged
}

// run starts instances with so many clients until enough are acknowledged.
func (f *flood) run(ctx context.Context, clients int) (rate float64, refused int64) {
	via := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer via.CloseIdleConnections()
	var taken, no atomic.Int64
	var wg sync.WaitGroup
	began, took, over := time.Now(), time.Duration(0), make(chan struct{})
	for range clients {
		wg.Go(func() {
			for taken.Load() < enough && ctx.Err() == nil && !f.s.t.Failed() {
				wait, ok := f.once(ctx, via)
				if ok {
					if taken.Add(1) == enough {
						took = time.Since(began)
						close(over)
					}
					continue
				}
				no.Add(1)
				select {
				case <-time.After(wait):
				case <-over:
				case <-ctx.Done():
				}
			}
		})
	}
	wg.Wait()
	return enough / took.Seconds(), no.Load()
}

// once sends one start, and says whether it was acknowledged, or else when to try again.
func (f *flood) once(ctx context.Context, via *http.Client) (wait time.Duration, ok bool) {
	r, _ := http.NewRequestWithContext(ctx, "POST", f.s.node.URL+"/api/v1/definitions/hello/instances", strings.NewReader("{}"))
	r.Header.Set("Authorization", "Bearer "+f.s.operator)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", fmt.Sprintf("start-%d", f.next.Add(1)))
	res, err := via.Do(r)
	if err != nil {
		f.s.t.Errorf("a start: %v", err)
		return 0, false
	}
	defer res.Body.Close()
	var in struct{ ID string }
	err = json.NewDecoder(res.Body).Decode(&in)
	switch {
	case err != nil:
		f.s.t.Errorf("a start: %d %v", res.StatusCode, err)
	case res.StatusCode == http.StatusTooManyRequests:
		seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if err != nil || seconds < 1 {
			f.s.t.Errorf("a start is refused with Retry-After %q", res.Header.Get("Retry-After"))
		}
		return time.Duration(seconds) * time.Second, false
	case res.StatusCode >= 300 || in.ID == "":
		f.s.t.Errorf("a start: %d", res.StatusCode)
	default:
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.seen[in.ID] {
			f.s.t.Errorf("%s is acknowledged twice", in.ID)
		}
		f.seen[in.ID] = true
		return 0, true
	}
	return 0, false
}
