package http

import (
	"fmt"
	"net/http"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

// Write returns the body of a request with events and sets its headers: one event in structured
// or binary mode, any number in a batch.
func Write(h http.Header, mode Mode, events ...event.Event) ([]byte, error) {
	if mode != ModeBatch && len(events) != 1 {
		return nil, fmt.Errorf("a request carries one event unless it is a batch, not %d", len(events))
	}
	switch mode {
	case ModeStructured:
		h.Set("Content-Type", Structured)
		return events[0].Value().AppendJSON(nil), nil
	case ModeBatch:
		h.Set("Content-Type", Batch)
		items := make([]expr.Value, len(events))
		for i, e := range events {
			items[i] = e.Value()
		}
		return expr.Array(items...).AppendJSON(nil), nil
	case ModeBinary:
		return writeBinary(h, events[0])
	}
	return nil, fmt.Errorf("unknown mode %d", mode)
}

func writeBinary(h http.Header, e event.Event) ([]byte, error) {
	out, err := e.Binary()
	if err != nil {
		return nil, err
	}
	for name, values := range out.Header {
		h.Set(name, values[0])
	}
	if out.Media != "" {
		h.Set("Content-Type", out.Media)
	}
	return out.Body, nil
}
