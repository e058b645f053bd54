package http

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

// Write makes the headers and the body of a request that carries events: one in
// structured or binary mode, any number in a batch.
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
	return nil, fmt.Errorf("there is no mode %d", mode)
}

func writeBinary(h http.Header, e event.Event) ([]byte, error) {
	h.Set(headerPrefix+"Specversion", event.SpecVersion)
	for _, m := range e.Value().Members() {
		switch m.Key {
		case "specversion", "data", "data_base64", "datacontenttype":
			continue
		}
		value, _ := e.Attribute(m.Key)
		h.Set(headerPrefix+m.Key, encodeHeader(value))
	}
	media := e.DataContentType
	if media == "" && e.HasData {
		media = "application/json"
	}
	if media != "" {
		h.Set("Content-Type", media)
	}
	switch base, _, _ := mime.ParseMediaType(media); {
	case e.DataBase64 != "":
		return base64.StdEncoding.DecodeString(e.DataBase64)
	case !e.HasData:
		return nil, nil
	case !isJSON(base) && e.Data.Kind() == expr.KindString:
		return []byte(e.Data.Str()), nil
	}
	return e.Data.AppendJSON(nil), nil
}
