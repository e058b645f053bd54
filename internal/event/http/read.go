package http

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

// Content types of the modes that have one.
const (
	Structured = "application/cloudevents+json"
	Batch      = "application/cloudevents-batch+json"
)

// Mode is how events are written.
type Mode uint8

// The modes.
const (
	ModeStructured Mode = iota + 1
	ModeBatch
	ModeBinary
)

// Limits bound a request.
type Limits struct {
	Event  int64 // event-bytes: one event, or its data in binary mode
	Batch  int64 // event-batch-bytes: a batch as a whole
	Events int   // event-batch-items: how many a batch has
}

// DefaultLimits are the limits of a server without other settings.
var DefaultLimits = Limits{Event: 256 << 10, Batch: 10 << 20, Events: 1000}

// LimitError says which limit a request exceeds.
type LimitError struct {
	Limit string
	Max   int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the request exceeds %d (limit %s)", e.Max, e.Limit)
}

// MediaTypeError says that a content type is none of CloudEvents'.
type MediaTypeError struct{ Type string }

func (e *MediaTypeError) Error() string {
	if e.Type == "" {
		return "the request has no content type, and no ce- headers"
	}
	return fmt.Sprintf("%q is not a content type of CloudEvents, and there are no ce- headers", e.Type)
}

// Invalid is what is wrong with one event of a request.
type Invalid struct {
	Index     int    // in a batch, else 0
	Attribute string // "" is the event as a whole
	Msg       string
}

// InvalidError refuses a request because of its events.
type InvalidError struct {
	Mode   Mode
	Events []Invalid
}

func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Events))
	for i, bad := range e.Events {
		parts[i] = bad.Msg
		if bad.Attribute != "" {
			parts[i] = fmt.Sprintf("attribute %q: %s", bad.Attribute, bad.Msg)
		}
		if e.Mode == ModeBatch {
			parts[i] = fmt.Sprintf("event %d: %s", bad.Index, parts[i])
		}
	}
	return strings.Join(parts, "; ")
}

// Read reads the events of a request. Its errors are *MediaTypeError, *LimitError,
// *InvalidError, or those of the body.
func Read(r *http.Request, limits Limits) ([]event.Event, Mode, error) {
	media := r.Header.Get("Content-Type")
	if len(r.Header["Content-Type"]) > 1 {
		return nil, 0, &InvalidError{ModeBinary, []Invalid{{Attribute: "datacontenttype", Msg: "the content type is given more than once"}}}
	}
	base, params, err := mime.ParseMediaType(media)
	if err != nil && media != "" {
		base = strings.ToLower(strings.TrimSpace(media))
	}
	switch {
	case base == Structured:
		list, err := readStructured(r, params, limits)
		return list, ModeStructured, err
	case base == Batch:
		list, err := readBatch(r, params, limits)
		return list, ModeBatch, err
	case strings.HasPrefix(base, "application/cloudevents"):
		return nil, 0, &MediaTypeError{media} // a format that this does not know
	case r.Header.Get("Ce-Specversion") == "" && r.Header.Get("Ce-Id") == "" && r.Header.Get("Ce-Type") == "":
		return nil, 0, &MediaTypeError{media}
	}
	e, err := readBinary(r, media, limits)
	return []event.Event{e}, ModeBinary, err
}

// text reads a body of JSON text.
func text(r *http.Request, params map[string]string, limit string, most int64) (expr.Value, error) {
	if c := params["charset"]; c != "" && !strings.EqualFold(c, "utf-8") && !strings.EqualFold(c, "us-ascii") {
		return expr.Null, &MediaTypeError{r.Header.Get("Content-Type")}
	}
	body, err := read(r, limit, most)
	if err != nil {
		return expr.Null, err
	}
	v, err := expr.ParseUnique(body)
	var repeated *expr.RepeatedKeyError
	if errors.As(err, &repeated) {
		return expr.Null, repeated
	}
	if err != nil {
		return expr.Null, &InvalidError{ModeStructured, []Invalid{{Msg: "the body is not JSON: " + err.Error()}}}
	}
	return v, nil
}

func read(r *http.Request, limit string, most int64) ([]byte, error) {
	if r.ContentLength > most {
		return nil, &LimitError{limit, most}
	}
	var body []byte
	var err error
	if there, ok := r.Body.(interface{ Bytes() ([]byte, error) }); ok { // it was read already
		body, err = there.Bytes()
	} else {
		body, err = io.ReadAll(io.LimitReader(r.Body, most+1))
	}
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > most {
		return nil, &LimitError{limit, most}
	}
	return body, nil
}

func readStructured(r *http.Request, params map[string]string, limits Limits) ([]event.Event, error) {
	v, err := text(r, params, "event-bytes", limits.Event)
	var repeated *expr.RepeatedKeyError
	if errors.As(err, &repeated) {
		return nil, &InvalidError{ModeStructured, []Invalid{invalid(0, event.Repeated(repeated.Path))}}
	}
	if err != nil {
		return nil, err
	}
	e, err := event.Receive(v)
	if err != nil {
		return nil, &InvalidError{ModeStructured, []Invalid{invalid(0, err)}}
	}
	return []event.Event{e}, nil
}

// readBatch reads all of a batch or nothing: its error names every event that is wrong, or
// the first one in which a key is given twice.
func readBatch(r *http.Request, params map[string]string, limits Limits) ([]event.Event, error) {
	v, err := text(r, params, "event-batch-bytes", limits.Batch)
	var repeated *expr.RepeatedKeyError
	if errors.As(err, &repeated) {
		if i, bad := strconv.Atoi(repeated.Path[0]); bad == nil && len(repeated.Path) > 1 { // the event's index
			return nil, &InvalidError{ModeBatch, []Invalid{invalid(i, event.Repeated(repeated.Path[1:]))}}
		}
		v = expr.EmptyObject // not a list
	} else if err != nil {
		return nil, err
	}
	if !v.IsArray() {
		return nil, &InvalidError{ModeStructured, []Invalid{{Msg: "a batch is a JSON array of events, not " + v.Kind().WithArticle()}}}
	}
	if v.Len() > limits.Events {
		return nil, &LimitError{"event-batch-items", int64(limits.Events)}
	}
	list := make([]event.Event, 0, v.Len())
	var bad []Invalid
	for i, item := range v.Items() {
		if _, _, large := expr.Measure(item, int(limits.Event), expr.MaxDepth); large {
			bad = append(bad, Invalid{Index: i, Msg: fmt.Sprintf("it has more than %d bytes (limit event-bytes)", limits.Event)})
			continue
		}
		e, err := event.Receive(item)
		if err != nil {
			bad = append(bad, invalid(i, err))
			continue
		}
		list = append(list, e)
	}
	if bad != nil {
		return nil, &InvalidError{ModeBatch, bad}
	}
	return list, nil
}

func invalid(index int, err error) Invalid {
	var bad *event.AttributeError
	if errors.As(err, &bad) {
		return Invalid{index, bad.Attribute, bad.Msg}
	}
	return Invalid{index, "", err.Error()}
}

// readBinary makes an event of headers and body.
func readBinary(r *http.Request, media string, limits Limits) (event.Event, error) {
	body, err := read(r, "event-bytes", limits.Event)
	if err != nil {
		return event.Event{}, err
	}
	e, err := event.FromBinary(event.Binary{Header: r.Header, Media: media, Body: body})
	if err != nil {
		return event.Event{}, &InvalidError{ModeBinary, []Invalid{invalid(0, err)}}
	}
	return e, nil
}
