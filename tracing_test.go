package lockstep_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/effect"
)

// collector is a receiver of OTLP over HTTP, which decodes with the messages that OpenTelemetry publishes.
type collector struct {
	mu    sync.Mutex
	spans map[string]*tracepb.Span // by id
	came  chan struct{}
	down  bool
	fails []string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	var all tracepb.TracesData // on the wire an ExportTraceServiceRequest is the same
	if err := proto.Unmarshal(body, &all); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Key") != "k" {
		c.fails = append(c.fails, fmt.Sprint(r.URL, r.Header, err))
	}
	for _, rs := range all.ResourceSpans {
		if name := rs.Resource.Attributes[0]; name.Key != "service.name" || name.Value.GetStringValue() != "lockstep" {
			c.fails = append(c.fails, "the service is "+name.String())
		}
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				c.spans[hex.EncodeToString(s.SpanId)] = s
			}
		}
	}
	select {
	case c.came <- struct{}{}:
	default:
	}
}

// tree is the spans of a trace, each line a span below its parent, and the number of orphans. root is the span of the caller.
func (c *collector) tree(id, root string) (lines []string, orphans int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	children := map[string][]*tracepb.Span{}
	for _, s := range c.spans {
		if hex.EncodeToString(s.TraceId) == id {
			children[hex.EncodeToString(s.ParentSpanId)] = append(children[hex.EncodeToString(s.ParentSpanId)], s)
			if parent := hex.EncodeToString(s.ParentSpanId); parent != root && c.spans[parent] == nil {
				orphans++
			}
		}
	}
	var add func(parent, indent string)
	add = func(parent, indent string) {
		list := children[parent]
		slices.SortFunc(list, func(a, b *tracepb.Span) int {
			return strings.Compare(fmt.Sprint(a.StartTimeUnixNano, a.Name), fmt.Sprint(b.StartTimeUnixNano, b.Name))
		})
		for _, s := range list {
			line := indent + s.Name
			if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
				line += " !" + s.Status.Message
			}
			if s.EndTimeUnixNano < s.StartTimeUnixNano {
				line += " ends before it begins"
			}
			lines = append(lines, line)
			add(hex.EncodeToString(s.SpanId), indent+"  ")
		}
	}
	add(root, "")
	return lines, orphans
}

const tracedShop = `
document: {dsl: 1.0.3, namespace: test, name: shop, version: 1.0.0}
do:
- pay:
    try:
    - charge: {call: charge}
    catch: {retry: {delay: PT0.01S, limit: {attempt: {count: 3}}}}
- pack: {run: {workflow: {namespace: test, name: pack, version: 1.0.0}}}
- announce: {emit: {event: {with: {source: https://shop, type: sold}}}}
`

const tracedPack = `
document: {dsl: 1.0.3, namespace: test, name: pack, version: 1.0.0}
do:
- wrap: {call: http, with: {method: post, endpoint: URL/wrap}}
`

const tracedFollow = `
document: {dsl: 1.0.3, namespace: test, name: follow, version: 1.0.0}
schedule: {on: {one: {with: {type: sold}}}}
do:
- thank: {set: {thanked: true}}
`

// TestTraceAcross: one trace goes from an HTTP request over a call that is retried, a sub-workflow and an event, although the
// server is restarted in the middle of it and the collector is down meanwhile. Every span has its parent.
func TestTraceAcross(t *testing.T) {
	const traceID, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	c := &collector{spans: map[string]*tracepb.Span{}, came: make(chan struct{}, 1), down: true}
	var mu sync.Mutex
	got := map[string][]string{} // the traceparent of calls
	states := map[string]bool{}  // their tracestate
	note := func(name, traceparent, tracestate string) int {
		mu.Lock()
		defer mu.Unlock()
		got[name] = append(got[name], traceparent)
		states[tracestate] = true
		return len(got[name])
	}
	service := newServer(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		note("wrap", r.Header.Get("Traceparent"), r.Header.Get("Tracestate"))
	}))
	ready, flying := make(chan struct{}), make(chan struct{}, 1)
	charge := lockstep.Func("charge", func(ctx context.Context, _ any) (int, error) {
		n := note("charge", effect.Traceparent(ctx), effect.Tracestate(ctx))
		if n == 1 {
			return 0, &effect.Failure{Name: "communication", Status: "503"}
		}
		select {
		case flying <- struct{}{}:
		default: // it is made again
		}
		select {
		case <-ready:
			return 1, nil
		case <-ctx.Done(): // it is stopped here
			return 0, ctx.Err()
		}
	})
	store := "sqlite:" + filepath.Join(t.TempDir(), "t.db")
	options := []lockstep.Option{
		charge, lockstep.OutboundAllow("127.0.0.1"),
		lockstep.Tracing(lockstep.Trace{URL: newServer(t, c) + "/v1/traces", Headers: map[string]string{"X-Key": "k"}, Ratio: 0}),
	}
	e, err := lockstep.Open(t.Context(), store, options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{tracedShop, strings.Replace(tracedPack, "URL", service, 1), tracedFollow} {
		deploy(e, lockstep.Text(text))
	}
	start, err := http.NewRequest("POST", newServer(t, e.Handler())+"/api/v1/definitions/test.shop/instances", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	start.Header.Set("Content-Type", "application/json")
	start.Header.Set("traceparent", "00-"+traceID+"-"+caller+"-01")
	start.Header.Add("tracestate", "vendor=a:b/c, ")
	start.Header.Add("tracestate", "tenant@other=1")
	if a, err := http.DefaultClient.Do(start); err != nil || a.StatusCode != http.StatusAccepted {
		t.Fatal(a, err)
	}
	if _, err := e.Start(t.Context(), "test.follow", nil); err != nil { // with a trace of its own, which is not recorded
		t.Fatal(err)
	}
	<-flying // the second attempt
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Shutdown(stopped); err != nil { // without waiting for the call
		t.Fatal(err)
	}
	close(ready)
	c.mu.Lock()
	c.down = false
	c.mu.Unlock()
	opened(t, store, options...)
	want := []string{
		"test.shop",
		"  pay",
		"    pay/charge !communication",
		"      call charge !communication",
		"        charge attempt 1 !communication",
		"    pay/charge",
		"      call charge",
		"        charge attempt 2",
		"  pack",
		"    start test.pack",
		"      test.pack",
		"        wrap",
		"          call wrap",
		"            wrap attempt 1",
		"  announce",
		"    send sold",
		"      test.follow",
		"        thank",
	}
	for late := time.After(time.Minute); ; {
		lines, orphans := c.tree(traceID, caller)
		if slices.Equal(lines, want) && orphans == 0 {
			break
		}
		select {
		case <-c.came:
		case <-late:
			t.Fatalf("%d orphans in\n%s\nwant\n%s", orphans, strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.spans) != len(want) || len(c.fails) > 0 {
		t.Errorf("%d spans, failures %v", len(c.spans), c.fails)
	}
	if !states["vendor=a:b/c,tenant@other=1"] || len(states) != 1 {
		t.Errorf("services got the tracestates %v", states)
	}
	for _, s := range c.spans {
		if s.TraceState != "vendor=a:b/c,tenant@other=1" {
			t.Errorf("the span %s has the tracestate %q", s.Name, s.TraceState)
		}
	}
	for name, list := range got { // what a service is told is a span of the trace
		for _, text := range list {
			parts := strings.Split(text, "-")
			if len(parts) != 4 || parts[1] != traceID || parts[3] != "01" || c.spans[parts[2]] == nil || !strings.Contains(c.spans[parts[2]].Name, "attempt") {
				t.Errorf("%s got the traceparent %q", name, text)
			}
		}
	}
	if again := slices.Compact(got["charge"]); len(got["charge"]) < 3 || len(again) != 2 { // at least once: it may be repeated twice
		t.Errorf("the repeated attempt has the traceparents %v", got["charge"])
	}
}
