package scenario

import (
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// eventSource is the source of events that are written without one.
const eventSource = "lockstep/scenario"

func (d *decoder) events(n *dialect.Node) []Event {
	var out []Event
	for i, item := range d.list(n, "events") {
		const what = "an item of events"
		if item.Is(expr.KindObject) && item.Get("event") == nil && item.Get("type") != nil {
			d.report.Errorf(item, codeMissing, "%s needs the key %q", what, "event").
				WithHint("write `event: {type: …}`, with `at: PT1M` beside it if it comes later")
			continue
		}
		if !d.object(item, what, "at", "event") {
			continue
		}
		e := Event{At: item.Span(), After: d.optionalDuration(item.Get("at"), "at")}
		if event := d.need(item, "event", what); event != nil {
			e.Value = d.event(event, i)
		}
		out = append(out, e)
	}
	return out
}

// event reads a CloudEvent. What a test does not care about may be left out: the
// version, the source, and the id, which then is the event's number in the list.
func (d *decoder) event(n *dialect.Node, index int) expr.Value {
	if !d.kind(n, expr.KindObject, "an event") {
		return expr.Null
	}
	before := len(d.report.Diagnostics())
	if kind := d.need(n, "type", "an event"); kind != nil {
		d.text(kind, "an event's type")
	}
	for _, key := range []string{"id", "source", "specversion"} {
		if v := n.Get(key); v != nil {
			d.text(v, "an event's "+key)
		}
	}
	v := WithEventDefaults(n.Value(), index)
	_, err := event.FromValue(v)
	var wrong *event.AttributeError
	if errors.As(err, &wrong) && n.Get(wrong.Attribute) != nil && len(d.report.Diagnostics()) == before {
		d.report.Errorf(n.Get(wrong.Attribute), codeValue, "%v", wrong)
	}
	return v
}

// WithEventDefaults adds what an event in a file may leave out.
func WithEventDefaults(event expr.Value, index int) expr.Value {
	for _, m := range []expr.Member{
		{Key: "specversion", Value: expr.String("1.0")},
		{Key: "source", Value: expr.String(eventSource)},
		{Key: "id", Value: expr.String(fmt.Sprintf("event-%d", index+1))},
	} {
		if _, ok := event.Get(m.Key); !ok {
			event = event.With(m.Key, m.Value)
		}
	}
	return event
}
