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

func (d *decoder) events(items []*dialect.Node) []Event {
	var out []Event
	for i, item := range items {
		f := d.Fields(item, "an item of events")
		if f == nil {
			continue
		}
		if f.Peek("event") == nil && f.Peek("type") != nil {
			f.Missing("event").WithHint("write `event: {type: …}`, with `at: PT1M` beside it if it comes later")
			continue
		}
		e := Event{At: item.Span(), After: d.duration(f.Get("at"))}
		if event := f.Need("event"); event != nil {
			e.Value = d.event(event, i)
		}
		f.Done()
		out = append(out, e)
	}
	return out
}

// event reads a CloudEvent. What a test does not care about may be left out: the
// version, the source, and the id, which then is the event's number in the list.
func (d *decoder) event(n *dialect.Node, index int) expr.Value {
	f := d.Fields(n, "an event") // without Done: other attributes are allowed
	if f == nil {
		return expr.Null
	}
	before := len(d.Diagnostics())
	f.Name("type")
	for _, key := range []string{"id", "source", "specversion"} {
		f.OptionalName(key)
	}
	v := WithEventDefaults(n.Value(), index)
	_, err := event.FromValue(v)
	var wrong *event.AttributeError
	if errors.As(err, &wrong) && n.Get(wrong.Attribute) != nil && len(d.Diagnostics()) == before {
		d.Errorf(n.Get(wrong.Attribute), codeValue, "%v", wrong)
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
