package engine

import (
	"context"
	"errors"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/trace"
)

// Tracing says where spans go. Without it the trace of a caller is passed on nevertheless, to calls, events and
// sub-workflows.
type Tracing struct {
	// Export sends spans. Failed exports are repeated, unless the error has a method Refused() bool that returns true.
	Export func(ctx context.Context, spans []trace.Span) error
	// Ratio is which part of the traces that begin here is recorded, from 0 to 1. Those of callers are if the caller says so.
	Ratio float64
}

// traceFrom is the trace context that a new instance continues, from the context of the request; "": none.
func traceFrom(ctx context.Context) string {
	c, ok := trace.ParseBoth(effect.Traceparent(ctx), effect.Tracestate(ctx))
	if !ok {
		return ""
	}
	return c.Text()
}

// traceOfEvent is the trace context of an event (CloudEvents Distributed Tracing extension); "": none.
func traceOfEvent(ev *event.Event) string {
	parent, _ := ev.Attribute(trace.Header)
	state, _ := ev.Attribute(trace.StateHeader)
	c, ok := trace.ParseBoth(parent, state)
	if !ok {
		return ""
	}
	return c.Text()
}

// traceOf is the place of an instance's own span; false: the instance belongs to no trace. An instance that nothing
// traced started begins a trace, whose id follows from its own and need not be stored.
func (e *Engine) traceOf(id, given string, created core.Time) (trace.Context, bool) {
	name := lifeOf(id, created)
	c, ok := trace.ParseText(given)
	switch {
	case ok:
	case e.cfg.Tracing != nil:
		c = trace.Begin(name, e.cfg.Tracing.Ratio)
	default:
		return c, false
	}
	return c.At(trace.SpanOf(name)), true
}

// ticketSpan is the id of the span of what an instance does under a ticket: a call, an event, a sub-workflow.
func ticketSpan(id string, created core.Time, t core.Ticket) trace.SpanID {
	return trace.SpanOf(lifeOf(id, created), "ticket", t.String())
}

// traceAt is the trace context that goes out with what the instance does under a ticket; false: none.
func (f *fold) traceAt(t core.Ticket) (trace.Context, bool) {
	row := &f.l.row
	c, ok := f.e.traceOf(row.ID, row.Trace, row.Created)
	return c.At(ticketSpan(row.ID, row.Created, t)), ok
}

// childTrace is traceAt as the row of a child has it.
func (f *fold) childTrace(t core.Ticket) string {
	c, ok := f.traceAt(t)
	if !ok {
		return ""
	}
	return c.Text()
}

// traceEvent adds the trace context to an event that is produced under a ticket, unless the definition gave it one.
func (f *fold) traceEvent(ev *event.Event, t core.Ticket) {
	if _, given := ev.Attribute(trace.Header); given {
		return
	}
	c, ok := f.traceAt(t)
	if !ok {
		return
	}
	ev.Put(trace.Header, expr.String(c.String()))
	if _, given := ev.Attribute(trace.StateHeader); !given && c.State != "" {
		ev.Put(trace.StateHeader, expr.String(c.State))
	}
}

// traceCall is ctx with the trace context of a call. The row of a call that this process did not commit does not say
// the trace of its instance: it is read. Where that fails the call is made without.
func (e *Engine) traceCall(ctx context.Context, row *store.Call) context.Context {
	if row.Trace == nil {
		in, err := e.store.Instance(ctx, row.Instance)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			return ctx
		}
		row.Trace = &in.Trace
	}
	c, ok := e.traceOf(row.Instance, *row.Trace, row.Created)
	if !ok {
		return ctx
	}
	c = c.At(ticketSpan(row.Instance, row.Created, row.Ticket))
	return effect.WithTracestate(effect.WithTraceparent(ctx, c.String()), c.State)
}
