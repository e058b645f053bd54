package server

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/metric"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// histogram writes the samples of a histogram; labels as sample takes them.
func (x *exposition) histogram(name string, h metric.Snapshot, labels ...string) {
	for i, n := range h.Buckets {
		x.sample(name+"_bucket", n, append(slices.Clone(labels), "le", fmt.Sprint(h.Bounds[i]))...)
	}
	x.sample(name+"_bucket", h.Count, append(slices.Clone(labels), "le", "+Inf")...)
	x.sample(name+"_sum", h.Seconds, labels...)
	x.sample(name+"_count", h.Count, labels...)
}

// writeEngine writes what the engine counted.
func (s *Server) writeEngine(ctx context.Context, x *exposition) {
	f := s.engine.Figures()
	writeDefinitions(x, f)
	writeFunctions(x, f)
	x.family("lockstep_commit_duration_seconds", "histogram", "How long the store took for commits of steps.")
	x.histogram("lockstep_commit_duration_seconds", f.Commits.Snapshot())
	x.family("lockstep_commit_errors_total", "counter", "Commits of steps that the store did not take. After a conflict with another writer the step is repeated.")
	x.sample("lockstep_commit_errors_total", f.Conflicts.Load(), "reason", "conflict")
	x.sample("lockstep_commit_errors_total", f.Failures.Load(), "reason", "failure")
	x.family("lockstep_timer_lag_seconds", "histogram", "How late timers were: from when they were due to the step.")
	x.histogram("lockstep_timer_lag_seconds", f.TimerLag.Snapshot())
	x.family("lockstep_schedule_lag_seconds", "histogram", "How late scheduled starts were, including those that were missed while no server ran.")
	x.histogram("lockstep_schedule_lag_seconds", f.ScheduleLag.Snapshot())
	queued, waiting := s.engine.QueuedCalls()
	x.gauge("lockstep_calls_queued", "Function calls waiting for a place among those in flight.", queued)
	x.gauge("lockstep_calls_waiting", "Function calls in flight without a place: streams, subscriptions, programs, postponed calls.", waiting)
	x.family("lockstep_work_due", "gauge", "Work that the last pass found due, by kind. A pass looks for about 1,000 of each, so a large number is a lower bound.")
	f.Due(func(kind string, n int64) { x.sample("lockstep_work_due", n, "kind", kind) })
	if size, ok := s.engine.StoreSize(ctx); ok {
		x.gauge("lockstep_store_bytes", "Bytes that the store takes on disk, of all namespaces.", size)
	}
	s.writeQuotas(x)
	s.writeCRL(x)
	s.writeNotices(x)
	s.writeSpans(x)
	if relays := s.engine.RelayFigures(); len(relays) > 0 {
		x.family("lockstep_relay_gaps_total", "counter", "How often the feed was deleted (feed-retention) before it was passed on to a receiver.")
		for _, r := range relays {
			x.sample("lockstep_relay_gaps_total", r.Gaps, "relay", r.Name)
		}
	}
}

func writeDefinitions(x *exposition, f *engine.Figures) {
	x.family("lockstep_instances_started_total", "counter", "Instances that began, by definition.")
	f.Definitions.All(func(name string, d *engine.DefinitionFigures) {
		x.sample("lockstep_instances_started_total", d.Started.Load(), "definition", name)
	})
	x.family("lockstep_instances_ended_total", "counter", "Instances that ended, by definition and status.")
	f.Definitions.All(func(name string, d *engine.DefinitionFigures) {
		for _, of := range []struct {
			status string
			n      int64
		}{{"completed", d.Completed.Load()}, {"failed", d.Failed.Load()}, {"cancelled", d.Cancelled.Load()}, {"terminated", d.Terminated.Load()}} {
			x.sample("lockstep_instances_ended_total", of.n, "definition", name, "status", of.status)
		}
	})
	x.family("lockstep_instance_duration_seconds", "histogram", "How long instances took from their creation to their end, by definition.")
	f.Definitions.All(func(name string, d *engine.DefinitionFigures) {
		x.histogram("lockstep_instance_duration_seconds", d.Duration.Snapshot(), "definition", name)
	})
	x.family("lockstep_retries_total", "counter", "Retries that definitions asked for, by definition.")
	f.Definitions.All(func(name string, d *engine.DefinitionFigures) {
		x.sample("lockstep_retries_total", d.Retries.Load(), "definition", name)
	})
}

func writeFunctions(x *exposition, f *engine.Figures) {
	x.family("lockstep_calls_total", "counter", "Function calls by function and outcome. Each delivery counts, also those that are repeated after a crash.")
	f.Functions.All(func(name string, c *engine.FunctionFigures) {
		for _, of := range []struct {
			outcome string
			n       int64
		}{{"ok", c.OK.Load()}, {"failed", c.Failed.Load()}, {"parked", c.Parked.Load()}, {"abandoned", c.Abandoned.Load()}} {
			x.sample("lockstep_calls_total", of.n, "function", name, "outcome", of.outcome)
		}
	})
	x.family("lockstep_call_duration_seconds", "histogram", "How long function calls took that were answered, by function.")
	f.Functions.All(func(name string, c *engine.FunctionFigures) {
		x.histogram("lockstep_call_duration_seconds", c.Duration.Snapshot(), "function", name)
	})
}

// writeNotices writes what became of notices, by receiver.
func (s *Server) writeNotices(x *exposition) {
	receivers := s.engine.NoticeFigures()
	if len(receivers) == 0 {
		return
	}
	x.family("lockstep_webhook_notices_total", "counter", "Attempts of this server to send notices to a webhook. Failed ones are retried, refused ones are dropped.")
	for _, r := range receivers {
		x.sample("lockstep_webhook_notices_total", r.Sent, "webhook", r.Name, "result", "sent")
		x.sample("lockstep_webhook_notices_total", r.Refused, "webhook", r.Name, "result", "refused")
		x.sample("lockstep_webhook_notices_total", r.Failed, "webhook", r.Name, "result", "failed")
	}
	x.family("lockstep_webhook_behind_seconds", "gauge", "The age of the oldest event that the webhook may have to hear of and has not accepted; 0: it is up to date.")
	for _, r := range receivers {
		x.sample("lockstep_webhook_behind_seconds", r.Behind.Seconds(), "webhook", r.Name)
	}
}

// writeSpans writes what became of spans.
func (s *Server) writeSpans(x *exposition) {
	f, ok := s.engine.SpanFigures()
	if !ok {
		return
	}
	x.family("lockstep_spans_total", "counter", "Spans that this server tried to send to the collector. Failed ones are retried, refused ones are dropped.")
	x.sample("lockstep_spans_total", f.Sent, "result", "sent")
	x.sample("lockstep_spans_total", f.Refused, "result", "refused")
	x.sample("lockstep_spans_total", f.Failed, "result", "failed")
	x.gauge("lockstep_spans_behind_seconds", "The age of the oldest step whose spans the collector has not accepted; 0: it is up to date.", f.Behind.Seconds())
}

// writeInstances writes how many instances there are. Of definitions and versions it names those with the most instances,
// metric.MaxLabels of them.
func writeInstances(x *exposition, stats []store.Stat) {
	type version struct{ definition, version string }
	kept := most(stats, func(s store.Stat) (version, int64) { return version{s.Definition, s.Version}, s.Count })
	rest := map[string]int64{} // by status
	x.family("lockstep_instances", "gauge", "Instances by definition, version and status.")
	for _, s := range stats {
		if kept[version{s.Definition, s.Version}] {
			x.sample("lockstep_instances", s.Count, "definition", s.Definition, "version", s.Version, "status", string(s.Status))
		} else {
			rest[string(s.Status)] += s.Count
		}
	}
	for _, status := range slices.Sorted(maps.Keys(rest)) {
		x.sample("lockstep_instances", rest[status], "definition", metric.Other, "version", metric.Other, "status", status)
	}
}

// most returns the metric.MaxLabels keys that count most.
func most[T any, K comparable](list []T, of func(T) (K, int64)) map[K]bool {
	sums := map[K]int64{}
	for _, item := range list {
		key, n := of(item)
		sums[key] += n
	}
	keys := slices.Collect(maps.Keys(sums))
	slices.SortFunc(keys, func(a, b K) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	out := map[K]bool{}
	for _, key := range keys[:min(len(keys), metric.MaxLabels)] {
		out[key] = true
	}
	return out
}
