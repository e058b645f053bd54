package server

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// buckets are the upper bounds of durations, in seconds.
var buckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// figures counts what happens. The text format of Prometheus is a few lines to write,
// and needs no library.
type figures struct {
	mu        sync.Mutex
	requests  map[requestKey]int64
	durations map[string]*histogram // by operation
	accepted  int64
	duplicate int64
	refused   int64
	begun     time.Time
}

type requestKey struct {
	operation string
	status    int
}

type histogram struct {
	counts []int64 // of each bucket alone
	sum    float64
	total  int64
}

func (f *figures) init() {
	f.requests, f.durations, f.begun = map[requestKey]int64{}, map[string]*histogram{}, time.Now()
}

func (f *figures) request(operation string, status int, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[requestKey{operation, status}]++
	h := f.durations[operation]
	if h == nil {
		h = &histogram{counts: make([]int64, len(buckets))}
		f.durations[operation] = h
	}
	seconds := took.Seconds()
	if i, _ := slices.BinarySearch(buckets, seconds); i < len(buckets) {
		h.counts[i]++
	}
	h.sum += seconds
	h.total++
}

func (f *figures) events(v eventsView) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accepted += int64(v.Accepted)
	f.duplicate += int64(v.Duplicates)
	f.refused += int64(v.Refused)
}

// exposition writes figures in Prometheus' text format.
type exposition struct{ bytes.Buffer }

func (x *exposition) family(name, kind, help string) {
	fmt.Fprintf(x, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one figure; labels are names and values in turn.
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

func (s *Server) writeMetrics(w http.ResponseWriter, r *request) error {
	stats, err := s.engine.Stats(r.Context())
	x := &exposition{}
	x.family("lockstep_info", "gauge", "The version that runs.")
	x.sample("lockstep_info", 1, "version", s.cfg.Version, "go", runtime.Version())
	x.family("lockstep_store_up", "gauge", "Whether the store answers.")
	if err == nil {
		x.sample("lockstep_store_up", 1)
		x.family("lockstep_instances", "gauge", "Instances by definition, version and status.")
		for _, stat := range stats {
			x.sample("lockstep_instances", stat.Count, "definition", stat.Definition, "version", stat.Version, "status", string(stat.Status))
		}
	} else {
		x.sample("lockstep_store_up", 0)
	}
	x.family("lockstep_calls_in_flight", "gauge", "Function calls under way.")
	x.sample("lockstep_calls_in_flight", s.engine.InFlight())
	s.writeActivity(x)
	if f, ok := s.engine.SinkFigures(); ok {
		x.family("lockstep_sink_events_total", "counter", "Attempts to give events to the sink. What failed is tried again, what it refused is dropped.")
		x.sample("lockstep_sink_events_total", f.Sent, "result", "sent")
		x.sample("lockstep_sink_events_total", f.Refused, "result", "refused")
		x.sample("lockstep_sink_events_total", f.Failed, "result", "failed")
		x.family("lockstep_sink_waiting", "gauge", "Events that wait for the sink; of very many, at least so many.")
		x.sample("lockstep_sink_waiting", f.Waiting)
	}
	if f, ok := s.engine.HouseFigures(); ok {
		x.family("lockstep_deleted_total", "counter", "What this server deleted since it began because of its age, by the setting that asks for it: jobs, instances (jobs among them), items of the feed.")
		x.sample("lockstep_deleted_total", f.Jobs, "setting", "job-retention")
		x.sample("lockstep_deleted_total", f.Instances, "setting", "retention")
		x.sample("lockstep_deleted_total", f.FeedItems, "setting", "feed-retention")
	}
	s.writeSources(x)
	s.writeJobs(r.Context(), x)
	s.figures.write(x)
	x.family("lockstep_http_requests_in_flight", "gauge", "Requests that are served now, without waits and streams.")
	x.sample("lockstep_http_requests_in_flight", s.north.requests.Used()+s.south.requests.Used()+s.open.requests.Used())
	x.family("lockstep_http_waits", "gauge", "Requests that wait for the end of an instance.")
	x.sample("lockstep_http_waits", s.north.waiting.Used())
	x.family("lockstep_http_streams", "gauge", "Open streams.")
	x.sample("lockstep_http_streams", s.north.streams.Used()+s.south.streams.Used())
	x.family("lockstep_http_pending_bytes", "gauge", "Bytes of requests that arrive or are served, and of answers that clients have not read.")
	x.sample("lockstep_http_pending_bytes", s.north.arrivingBytes.Used(), "side", "north", "of", "requests")
	x.sample("lockstep_http_pending_bytes", s.north.pendingBytes.Used(), "side", "north", "of", "responses")
	x.sample("lockstep_http_pending_bytes", s.south.arrivingBytes.Used(), "side", "south", "of", "requests")
	x.sample("lockstep_http_pending_bytes", s.south.pendingBytes.Used(), "side", "south", "of", "responses")
	x.family("lockstep_memory_bytes", "gauge", "Memory in use, as the memory limit counts it.")
	x.sample("lockstep_memory_bytes", s.memory.Used())
	x.family("lockstep_memory_limit_bytes", "gauge", "The memory limit, above which requests that cost much are refused; 0: none.")
	x.sample("lockstep_memory_limit_bytes", s.memory.Limit())
	process(x, s.figures.begun)
	return answerText(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", x.Bytes())
}

// writeActivity tells whether the engine gets on.
func (s *Server) writeActivity(x *exposition) {
	a := s.engine.Activity()
	x.family("lockstep_stuck", "gauge", "Whether this node makes no progress: a step, or a pass over what is to be done, does not end.")
	stuck := 0
	if s.engine.Stuck() != "" {
		stuck = 1
	}
	x.sample("lockstep_stuck", stuck)
	if !a.LastPass.IsZero() {
		x.family("lockstep_last_pass_timestamp_seconds", "gauge", "When the last pass over what is to be done ended. While there is nothing to do there is none.")
		x.sample("lockstep_last_pass_timestamp_seconds", float64(a.LastPass.UnixMilli())/1000)
	}
	x.family("lockstep_pass_seconds", "gauge", "How long the pass under way has taken; 0: there is none.")
	x.sample("lockstep_pass_seconds", a.Pass.Seconds())
	x.family("lockstep_longest_step_seconds", "gauge", "How long the longest step under way has taken; 0: there is none.")
	x.sample("lockstep_longest_step_seconds", a.Step.Seconds())
	x.family("lockstep_expensive_waiting", "gauge", "Instances that wait for a worker of the expensive lane.")
	x.sample("lockstep_expensive_waiting", a.Waiting)
}

func (f *figures) write(x *exposition) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x.family("lockstep_events_total", "counter", "Events that came over HTTP.")
	x.sample("lockstep_events_total", f.accepted, "result", "accepted")
	x.sample("lockstep_events_total", f.duplicate, "result", "duplicate")
	x.sample("lockstep_events_total", f.refused, "result", "refused")

	x.family("lockstep_http_requests_total", "counter", "Requests by operation of the contract and status.")
	keys := make([]requestKey, 0, len(f.requests))
	for key := range f.requests {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b requestKey) int {
		return cmp.Or(cmp.Compare(a.operation, b.operation), cmp.Compare(a.status, b.status))
	})
	for _, key := range keys {
		x.sample("lockstep_http_requests_total", f.requests[key], "operation", key.operation, "status", itoa(int64(key.status)))
	}
	operations := make([]string, 0, len(f.durations))
	for operation := range f.durations {
		operations = append(operations, operation)
	}
	slices.Sort(operations)
	x.family("lockstep_http_request_duration_seconds", "histogram", "How long requests took, with waits and streams.")
	for _, operation := range operations {
		h := f.durations[operation]
		var sum int64
		for i, n := range h.counts {
			sum += n
			x.sample("lockstep_http_request_duration_seconds_bucket", sum, "operation", operation, "le", fmt.Sprint(buckets[i]))
		}
		x.sample("lockstep_http_request_duration_seconds_bucket", h.total, "operation", operation, "le", "+Inf")
		x.sample("lockstep_http_request_duration_seconds_sum", h.sum, "operation", operation)
		x.sample("lockstep_http_request_duration_seconds_count", h.total, "operation", operation)
	}
}

// process are the figures that every Go program has.
func process(x *exposition, begun time.Time) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	x.family("go_goroutines", "gauge", "Goroutines.")
	x.sample("go_goroutines", runtime.NumGoroutine())
	x.family("go_memstats_heap_alloc_bytes", "gauge", "Bytes of the heap in use.")
	x.sample("go_memstats_heap_alloc_bytes", m.HeapAlloc)
	x.family("go_memstats_sys_bytes", "gauge", "Bytes got from the system.")
	x.sample("go_memstats_sys_bytes", m.Sys)
	x.family("process_start_time_seconds", "gauge", "When the server began, in seconds since 1970.")
	x.sample("process_start_time_seconds", begun.Unix())
}
