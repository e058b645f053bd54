package engine

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/trace"
)

// maxSpanName is how many bytes a span's name and its attributes have at most ("span-text").
const maxSpanName = 256

// span makes a span of the instance. Data of the workflow is never part of it.
func (t *traced) span(id, parent trace.SpanID, name string, kind trace.Kind, start, end core.Time, err string, attrs ...trace.Attr) trace.Span {
	return trace.Span{
		Context: t.place.At(id), Parent: parent, Name: truncate(name, maxSpanName), Kind: kind, Start: start, End: max(start, end), Error: truncate(err, maxSpanName),
		Attrs: append(attrs,
			trace.Attr{Key: "lockstep.definition", Text: truncate(t.row.Definition, maxSpanName)}, trace.Attr{Key: "lockstep.instance", Text: t.row.ID}),
	}
}

// ticket is the id of the span of what the instance does under a ticket. Calls and events carry it to others.
func (t *traced) ticket(of core.Ticket) trace.SpanID { return ticketSpan(t.row.ID, t.row.Created, of) }

// around is the span around what a record tells: that of the innermost open state, or of the instance.
func (t *traced) around(r *core.Record) trace.SpanID { return t.innermost(r.Frame, r.Pos, math.MaxInt) }

// innermost is the span of the innermost open state around a place, less deep than a depth. Records do not tell which frame is
// inside of which. But a frame has a greater id than those around it, and what is inside of a state comes after its
// beginning in the document. Among iterations of one state that is a guess.
func (t *traced) innermost(frame core.FrameID, pos ir.Pos, depth int) trace.SpanID {
	if s := innermostOf(t.states, frame, pos, depth); s != nil {
		return s.id
	}
	return t.place.Span
}

func innermostOf(states []*openState, frame core.FrameID, pos ir.Pos, depth int) (best *openState) {
	inside := func(s *openState) bool { return compare(s.pos, pos) <= 0 }
	for _, s := range states {
		if s.frame > frame || s.depth >= depth {
			continue
		}
		if best == nil || inside(s) && (!inside(best) || cmp.Or(compare(s.pos, best.pos), cmp.Compare(s.frame, best.frame)) >= 0) {
			best = s
		}
	}
	return best
}

func compare(a, b ir.Pos) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// interrupted is the error of a state that was not left, and of which no call failed.
const interrupted = "interrupted"

// entered begins a state. If it is open already, a fault made it begin again.
func (t *traced) entered(r *core.Record) (out []trace.Span) {
	if s := t.state(r); s != nil {
		out = t.endState(s, r.Time, interrupted)
	}
	t.failed = slices.DeleteFunc(slices.Clone(t.failed), func(f *openState) bool { return f.depth >= r.Depth })
	if around := innermostOf(t.failed, r.Frame, r.Pos, r.Depth); around != nil {
		t.reopen(around)
	}
	t.begin(openState{frame: r.Frame, depth: r.Depth, node: r.Node, pos: r.Pos, parent: t.innermost(r.Frame, r.Pos, r.Depth)}, r.Time)
	return out
}

// begin adds an open state.
func (t *traced) begin(s openState, now core.Time) *openState {
	s.start = now
	s.id = trace.SpanOf(t.name, "state", strconv.Itoa(int(s.frame)), s.node, strconv.Itoa(s.pos.Line), strconv.Itoa(s.pos.Column), strconv.FormatInt(int64(now), 10))
	t.states = append(t.states, &s)
	return &s
}

// reopen begins a state again, with those around it, in which a retry goes on.
func (t *traced) reopen(s *openState) *openState {
	t.failed = slices.DeleteFunc(slices.Clone(t.failed), func(f *openState) bool { return f == s })
	again := *s
	if i := slices.IndexFunc(t.failed, func(f *openState) bool { return f.id == s.parent }); i >= 0 {
		again.parent = t.reopen(t.failed[i]).id
	} else if i := slices.IndexFunc(t.states, func(o *openState) bool { return o.was == s.parent }); i >= 0 {
		again.parent = t.states[i].id
	}
	again.was = s.id
	return t.begin(again, t.resumed)
}

// left ends a state.
func (t *traced) left(r *core.Record) []trace.Span {
	s := t.state(r)
	if s == nil {
		return nil // its begin was not kept
	}
	return t.endState(s, r.Time, "")
}

// state is the open state of a record.
func (t *traced) state(r *core.Record) *openState { return atPlace(t.states, r) }

// atPlace is the last of the states at the place of a record.
func atPlace(states []*openState, r *core.Record) *openState {
	for _, s := range slices.Backward(states) {
		if s.frame == r.Frame && s.node == r.Node && s.pos == r.Pos {
			return s
		}
	}
	return nil
}

// endState ends a state, with what is open in it.
func (t *traced) endState(s *openState, now core.Time, err string) (out []trace.Span) {
	t.states = slices.DeleteFunc(slices.Clone(t.states), func(o *openState) bool { return o == s })
	for _, place := range t.callsIn(s.id) {
		if why := t.calls[place].err; why != "" && err == interrupted {
			err = why
		}
		out = append(out, t.endCall(place, now)...)
	}
	for _, inner := range t.states {
		if inner.parent == s.id {
			out = append(out, t.endState(inner, now, interrupted)...)
		}
	}
	return append(out, t.span(s.id, s.parent, cmp.Or(s.node, "state"), trace.Internal, s.start, now, err, trace.Attr{Key: "lockstep.state", Text: truncate(s.node, maxSpanName)}))
}

// called begins an attempt of a call.
func (t *traced) called(r *core.Record) (out []trace.Span) {
	place := callPlace{r.Frame, r.Node, r.Pos}
	c := t.calls[place]
	if c != nil && (r.Attempt <= 1 || c.ticket != 0 || c.name != r.Name) {
		out, c = t.endCall(place, r.Time), nil
	}
	if c == nil {
		c = &openCall{id: trace.SpanOf(t.name, "call", r.Ticket.String()), parent: t.around(r), name: r.Name, start: r.Time}
		t.calls[place] = c
	}
	c.ticket, c.attempt, c.began, c.err = r.Ticket, max(r.Attempt, 1), r.Time, ""
	return out
}

// answered ends an attempt of a call. If it succeeded, the call is over; otherwise a retry may follow.
func (t *traced) answered(r *core.Record, err string) []trace.Span {
	place := callPlace{r.Frame, r.Node, r.Pos}
	c := t.calls[place]
	if c == nil || c.ticket != r.Ticket {
		return nil // its begin was not kept
	}
	out := []trace.Span{t.endAttempt(c, r.Time, err)}
	if err == "" {
		out = append(out, t.endCall(place, r.Time)...)
	}
	return out
}

func (t *traced) endAttempt(c *openCall, now core.Time, err string) trace.Span {
	id := t.ticket(c.ticket)
	c.ticket, c.end, c.err = 0, now, err
	return t.span(id, c.id, c.name+" attempt "+strconv.Itoa(c.attempt), trace.Client, c.began, now, err,
		trace.Attr{Key: "lockstep.function", Text: truncate(c.name, maxSpanName)}, trace.Attr{Key: "lockstep.attempt", Number: int64(c.attempt)})
}

// endCall ends a call, with an attempt whose answer is no longer waited for.
func (t *traced) endCall(place callPlace, now core.Time) (out []trace.Span) {
	c := t.calls[place]
	delete(t.calls, place)
	if c.ticket != 0 {
		out = append(out, t.endAttempt(c, now, "abandoned"))
	}
	return append(out, t.span(c.id, c.parent, "call "+c.name, trace.Internal, c.start, c.end, c.err, trace.Attr{Key: "lockstep.function", Text: truncate(c.name, maxSpanName)}))
}

// callsIn lists the open calls of a state, in order.
func (t *traced) callsIn(parent trace.SpanID) (out []callPlace) {
	for place, c := range t.calls {
		if c.parent == parent {
			out = append(out, place)
		}
	}
	slices.SortFunc(out, func(a, b callPlace) int {
		return cmp.Or(cmp.Compare(t.calls[a].start, t.calls[b].start), cmp.Compare(a.frame, b.frame), cmp.Compare(a.node, b.node), compare(a.pos, b.pos))
	})
	return out
}

// consumed is an event that the instance took. Its producer is another cause.
func (t *traced) consumed(r *core.Record) trace.Span {
	id, _ := r.Data.Get("id")
	source, _ := r.Data.Get("source")
	s := t.span(trace.SpanOf(t.name, "event", strconv.Itoa(int(r.Frame)), r.Node, source.Str(), id.Str()), t.around(r),
		"receive "+r.Name, trace.Consumer, r.Time, r.Time, "")
	from, _ := r.Data.Get(trace.Header)
	if c, ok := trace.Parse(from.Str()); ok {
		s.Links = []trace.Context{c}
	}
	return s
}

// finished ends everything that is open, and the instance.
func (t *traced) finished(r *core.Record) (out []trace.Span) {
	err := ""
	if r.Fault != nil {
		err = r.Fault.Name
	} else if r.Status != core.Completed {
		err = string(r.Status)
	}
	t.failed = nil
	if r.Fault != nil {
		t.failed = t.states
	}
	for len(t.states) > 0 {
		out = append(out, t.endState(t.states[0], r.Time, cmp.Or(err, interrupted))...)
	}
	for _, place := range t.callsIn(t.place.Span) {
		out = append(out, t.endCall(place, r.Time)...)
	}
	t.over = true
	return append(out, t.span(t.place.Span, t.parent, t.row.Definition, trace.Internal, t.row.Created, r.Time, err,
		trace.Attr{Key: "lockstep.version", Text: t.row.Version}, trace.Attr{Key: "lockstep.status", Text: string(r.Status)}))
}
