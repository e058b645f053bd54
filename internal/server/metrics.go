package server

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/metric"
)

// figures are the counters of the server. Prometheus' text format takes a few lines to write, and needs
// no library.
type figures struct {
	mu        sync.Mutex
	requests  map[requestKey]int64
	durations map[string]*metric.Histogram // by operation
	accepted  int64
	duplicate int64
	refused   int64
	begun     time.Time
}

type requestKey struct {
	operation string
	status    int
}

func (f *figures) init() {
	f.requests, f.durations, f.begun = map[requestKey]int64{}, map[string]*metric.Histogram{}, time.Now()
}

func (f *figures) request(operation string, status int, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[requestKey{operation, status}]++
	h := f.durations[operation]
	if h == nil {
		h = metric.NewHistogram(metric.Quick)
		f.durations[operation] = h
	}
	h.Observe(took)
}

func (f *figures) events(v api.EventsAccepted) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accepted += int64(v.Accepted)
	f.duplicate += int64(v.Duplicates)
	f.refused += int64(v.Refused)
}

// exposition writes metrics in Prometheus' text format.
type exposition struct{ bytes.Buffer }

func (x *exposition) family(name, kind, help string) {
	fmt.Fprintf(x, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one value; labels alternate names and values.
func (x *exposition) sample(name string, value any, labels ...string) {
	x.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		sep := ","
		if i == 0 {
			sep = "{"
		}
		value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(labels[i+1])
		fmt.Fprintf(x, `%s%s="%s"`, sep, labels[i], value)
	}
	if len(labels) > 0 {
		x.WriteByte('}')
	}
	fmt.Fprintf(x, " %v\n", value)
}

// gauge writes a family with one value and no labels.
func (x *exposition) gauge(name, help string, value any) {
	x.family(name, "gauge", help)
	x.sample(name, value)
}

func (s *Server) writeMetrics(w http.ResponseWriter, r *request) error {
	stats, err := s.engine.Stats(r.Context())
	x := &exposition{}
	x.family("lockstep_info", "gauge", "The running version.")
	x.sample("lockstep_info", 1, "version", s.cfg.Version, "go", runtime.Version())
	x.family("lockstep_store_up", "gauge", "Whether the store responds.")
	if err == nil {
		x.sample("lockstep_store_up", 1)
		writeInstances(x, stats)
	} else {
		x.sample("lockstep_store_up", 0)
	}
	x.gauge("lockstep_calls_in_flight", "Function calls in flight.", s.engine.InFlight())
	s.writeActivity(x)
	s.writeEngine(r.Context(), x)
	if f, ok := s.engine.SinkFigures(); ok {
		x.family("lockstep_sink_events_total", "counter", "Attempts to send events to the sink. Failed ones are retried, refused ones are dropped.")
		x.sample("lockstep_sink_events_total", f.Sent, "result", "sent")
		x.sample("lockstep_sink_events_total", f.Refused, "result", "refused")
		x.sample("lockstep_sink_events_total", f.Failed, "result", "failed")
		x.gauge("lockstep_sink_waiting", "Events waiting for the sink; a lower bound if there are very many.", f.Waiting)
	}
	if f, ok := s.engine.LifecycleFigures(); ok {
		x.family("lockstep_lifecycle_events_total", "counter", "Attempts of this server to publish lifecycle events. Failed ones are retried, refused ones are dropped.")
		x.sample("lockstep_lifecycle_events_total", f.Sent, "result", "sent")
		x.sample("lockstep_lifecycle_events_total", f.Refused, "result", "refused")
		x.sample("lockstep_lifecycle_events_total", f.Failed, "result", "failed")
	}
	if f, ok := s.engine.HouseFigures(); ok {
		x.family("lockstep_deleted_total", "counter", "What this server deleted because of its age since it started, by setting: jobs, instances (including jobs), feed items.")
		x.sample("lockstep_deleted_total", f.Jobs, "setting", "job-retention")
		x.sample("lockstep_deleted_total", f.Instances, "setting", "retention")
		x.sample("lockstep_deleted_total", f.FeedItems, "setting", "feed-retention")
	}
	s.writeSources(x)
	s.writeJobs(r.Context(), x)
	s.figures.write(x)
	x.gauge("lockstep_http_requests_in_flight", "Requests in flight, without waits and streams.", s.north.requests.Used()+s.south.requests.Used()+s.open.requests.Used())
	x.gauge("lockstep_http_waits", "Requests waiting for an instance to end.", s.north.waiting.Used())
	x.gauge("lockstep_http_streams", "Open streams.", s.north.streams.Used()+s.south.streams.Used())
	x.family("lockstep_http_pending_bytes", "gauge", "Bytes of requests that arrive or are served, and of responses that clients have not read.")
	x.sample("lockstep_http_pending_bytes", s.north.arrivingBytes.Used(), "side", "north", "of", "requests")
	x.sample("lockstep_http_pending_bytes", s.north.pendingBytes.Used(), "side", "north", "of", "responses")
	x.sample("lockstep_http_pending_bytes", s.south.arrivingBytes.Used(), "side", "south", "of", "requests")
	x.sample("lockstep_http_pending_bytes", s.south.pendingBytes.Used(), "side", "south", "of", "responses")
	x.gauge("lockstep_memory_bytes", "Memory in use, as the memory limit counts it.", s.memory.Used())
	x.gauge("lockstep_memory_limit_bytes", "The memory limit, above which expensive requests are refused; 0: none.", s.memory.Limit())
	process(x, s.figures.begun)
	return answerText(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", x.Bytes())
}

// writeActivity writes whether the engine makes progress.
func (s *Server) writeActivity(x *exposition) {
	a := s.engine.Activity()
	x.family("lockstep_stuck", "gauge", "Whether this node is stuck: a step, or a pass over the work, does not end.")
	stuck := 0
	if s.engine.Stuck() != "" {
		stuck = 1
	}
	x.sample("lockstep_stuck", stuck)
	if !a.LastPass.IsZero() {
		x.gauge("lockstep_last_pass_timestamp_seconds", "When the last pass over the work ended. While there is no work there are no passes.", float64(a.LastPass.UnixMilli())/1000)
	}
	x.gauge("lockstep_pass_seconds", "How long the current pass has taken; 0: there is none.", a.Pass.Seconds())
	x.gauge("lockstep_longest_step_seconds", "How long the longest current step has taken; 0: there is none.", a.Step.Seconds())
	x.gauge("lockstep_expensive_waiting", "Instances waiting for a worker of the expensive lane.", a.Waiting)
}

func (f *figures) write(x *exposition) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x.family("lockstep_events_total", "counter", "Events received over HTTP.")
	x.sample("lockstep_events_total", f.accepted, "result", "accepted")
	x.sample("lockstep_events_total", f.duplicate, "result", "duplicate")
	x.sample("lockstep_events_total", f.refused, "result", "refused")

	x.family("lockstep_http_requests_total", "counter", "Requests by operation of the contract and status.")
	byOperation := func(a, b requestKey) int {
		return cmp.Or(cmp.Compare(a.operation, b.operation), cmp.Compare(a.status, b.status))
	}
	for _, key := range slices.SortedFunc(maps.Keys(f.requests), byOperation) {
		x.sample("lockstep_http_requests_total", f.requests[key], "operation", key.operation, "status", itoa(int64(key.status)))
	}
	x.family("lockstep_http_request_duration_seconds", "histogram", "How long requests took, including waits and streams.")
	for _, operation := range slices.Sorted(maps.Keys(f.durations)) {
		x.histogram("lockstep_http_request_duration_seconds", f.durations[operation].Snapshot(), "operation", operation)
	}
}

// process writes the metrics that every Go program has.
func process(x *exposition, begun time.Time) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	x.gauge("go_goroutines", "Goroutines.", runtime.NumGoroutine())
	x.gauge("go_memstats_heap_alloc_bytes", "Heap bytes in use.", m.HeapAlloc)
	x.gauge("go_memstats_sys_bytes", "Bytes obtained from the system.", m.Sys)
	x.gauge("process_start_time_seconds", "When the server started, in seconds since 1970.", begun.Unix())
}

// writeSources writes the results of events that came from sources other than HTTP.
func (s *Server) writeSources(x *exposition) {
	if len(s.cfg.Sources) == 0 {
		return
	}
	x.family("lockstep_source_events_total", "counter", "Attempts to accept events from a source. Failed ones are redelivered, refused ones are dropped.")
	for _, source := range s.cfg.Sources {
		f := source.Figures()
		x.sample("lockstep_source_events_total", f.Taken, "source", source.String(), "result", "taken")
		x.sample("lockstep_source_events_total", f.Refused, "source", source.String(), "result", "refused")
		x.sample("lockstep_source_events_total", f.Failed, "source", source.String(), "result", "failed")
	}
	x.family("lockstep_source_redelivered_total", "counter", "Events delivered more than once.")
	for _, source := range s.cfg.Sources {
		x.sample("lockstep_source_redelivered_total", source.Figures().Redelivered, "source", source.String())
	}
}
