package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/trace"
)

// Spans are made from the feed, as lifecycle events are: a step costs nothing more, a collector that is down blocks
// nothing, and a crash leaves no span out whose children were sent. A span is sent when it is over.

const (
	// spanBatch is how many items of the feed are read at a time for spans ("span-batch").
	spanBatch = 256
	// maxSpans is how many spans one request has ("span-request").
	maxSpans = 512
	// maxTraced is how many instances are in memory with their open spans; those of others are read from their history.
	maxTraced = 4096
	// maxSpanHistory is how many records of an instance are read to find when its open spans began ("span-history").
	maxSpanHistory = 10_000
)

// SpanFigures tells what became of spans here; false: they are not sent.
func (e *Engine) SpanFigures() (RelayFigures, bool) {
	if e.spans == nil {
		return RelayFigures{}, false
	}
	return e.relayFigures(e.spans), true
}

// spanRelay sends spans to the collector.
func (e *Engine) spanRelay() *relay {
	var instances map[string]*traced
	r := &relay{name: "spans", what: "span", batch: spanBatch}
	r.begin = func() { instances = map[string]*traced{} }
	r.pass = func(ctx context.Context, items []store.FeedItem) (bool, error) {
		next := map[string]*traced{} // replaces what is known once the spans are sent: until then items may come again
		var spans []trace.Span
		for i := range items {
			item := &items[i]
			t := next[item.Instance]
			if t == nil {
				var err error
				if t, err = e.tracedOf(ctx, instances[item.Instance], item); err != nil {
					return false, err
				}
				next[item.Instance] = t
			}
			if t.sampled() {
				spans = append(spans, t.take(item)...)
			}
		}
		if err := e.export(ctx, r, spans); err != nil {
			return false, err
		}
		for id, t := range next {
			if t.over {
				delete(instances, id)
				continue
			}
			if len(instances) >= maxTraced {
				clear(instances)
			}
			instances[id] = t
		}
		return len(spans) > 0, nil
	}
	return r
}

// export sends spans, in parts. What was sent before a part fails is sent again with it, under the same ids.
func (e *Engine) export(ctx context.Context, r *relay, spans []trace.Span) error {
	for len(spans) > 0 {
		part := spans[:min(len(spans), maxSpans)]
		err := guard(func() error { return e.cfg.Tracing.Export(ctx, part) })
		var no interface{ Refused() bool }
		switch {
		case err == nil:
			r.counts.sent.Add(int64(len(part)))
		case errors.As(err, &no) && no.Refused():
			r.counts.refused.Add(int64(len(part)))
			if now := e.cfg.Clock.Now(); r.refused.IsZero() || now.Sub(r.refused) >= tellAgain { // every part may be
				r.refused = now
				e.report(fmt.Errorf("spans are dropped: %w", err))
			}
		default:
			r.counts.failed.Add(int64(len(part)))
			return err
		}
		spans = spans[len(part):]
	}
	return nil
}

// traced is an instance with its open spans.
type traced struct {
	place  trace.Context // of its own span; not sampled: nothing is told
	parent trace.SpanID
	row    store.Instance // what it was created with
	name   string         // its identity
	states []*openState   // in the order in which they began
	calls  map[callPlace]*openCall
	over   bool

	// A retry or a skip goes on in the states that were open when the instance failed, without entering them again.
	failed  []*openState
	resumed core.Time
}

func (t *traced) sampled() bool { return t != nil && t.place.Sampled() }

// openState is a state that is not left yet.
type openState struct {
	frame core.FrameID
	depth int
	node  string
	pos   ir.Pos
	start core.Time

	id, parent trace.SpanID
	was        trace.SpanID // its span before the instance failed, if it was open then
}

// callPlace is where a call is made: a retry makes it there again.
type callPlace struct {
	frame core.FrameID
	node  string
	pos   ir.Pos
}

// openCall is a call with its attempts.
type openCall struct {
	id, parent trace.SpanID
	name       string
	start, end core.Time   // end: of the last attempt that failed
	ticket     core.Ticket // of the current attempt; 0: there is none
	attempt    int
	began      core.Time // the current attempt
	err        string
}

// tracedOf is an instance as it was before an item of the feed: a copy of what is known, or read from the store.
func (e *Engine) tracedOf(ctx context.Context, known *traced, item *store.FeedItem) (*traced, error) {
	if known != nil {
		return known.clone(), nil
	}
	t := &traced{calls: map[callPlace]*openCall{}}
	row, err := e.store.Instance(ctx, item.Instance)
	switch {
	case errors.Is(err, store.ErrNotFound): // it was deleted: nothing is known of its trace
		return t, nil
	case err != nil && !errors.Is(err, store.ErrDamaged):
		return nil, fmt.Errorf("read instance %s: %w", item.Instance, err)
	}
	t.row = store.Instance{ID: row.ID, Definition: row.Definition, Version: row.Version, Created: row.Created, RestartOf: row.RestartOf}
	t.name = lifeOf(row.ID, row.Created)
	t.place, _ = e.traceOf(row.ID, row.Trace, row.Created)
	if parent, ok := trace.ParseText(row.Trace); ok {
		t.parent = parent.Span
	}
	begins := len(item.Records) > 0 && item.Records[0].Type == core.RecStarted
	if !t.sampled() || begins {
		return t, nil
	}
	history, err := e.store.Records(ctx, row.ID, max(row.Records-maxSpanHistory, 0), 0)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return nil, fmt.Errorf("read the history of %s: %w", row.ID, err)
	}
	for i := range history {
		if history[i].Time >= item.At {
			break // this item, or a later one
		}
		t.record(&history[i])
	}
	t.over = false
	return t, nil
}

func (t *traced) clone() *traced {
	out := *t
	out.states = append([]*openState(nil), t.states...) // they never change
	out.calls = make(map[callPlace]*openCall, len(t.calls))
	for at, c := range t.calls {
		copied := *c
		out.calls[at] = &copied
	}
	return &out
}

// take makes the spans that end with an item of the feed.
func (t *traced) take(item *store.FeedItem) (out []trace.Span) {
	for i := range item.Records {
		out = append(out, t.record(&item.Records[i])...)
	}
	return out
}

// record makes the spans that end with a record.
func (t *traced) record(r *core.Record) []trace.Span {
	switch r.Type {
	case core.RecStarted:
		t.over = false
		return nil
	case core.RecControl:
		t.resumed = r.Time
		return nil
	case core.RecEntered:
		return t.entered(r)
	}
	if s := atPlace(t.failed, r); s != nil {
		t.reopen(s)
	}
	switch r.Type {
	case core.RecLeft:
		return t.left(r)
	case core.RecCalled:
		return t.called(r)
	case core.RecReturned:
		return t.answered(r, "")
	case core.RecCallFailed:
		return t.answered(r, r.Fault.Name)
	case core.RecProduced:
		return []trace.Span{t.span(t.ticket(r.Ticket), t.around(r), "send "+r.Name, trace.Producer, r.Time, r.Time, "")}
	case core.RecSpawned:
		return []trace.Span{t.span(t.ticket(r.Ticket), t.around(r), "start "+r.Name, trace.Producer, r.Time, r.Time, "")}
	case core.RecConsumed:
		return []trace.Span{t.consumed(r)}
	case core.RecFinished:
		return t.finished(r)
	}
	return nil
}
