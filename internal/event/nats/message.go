package nats

import (
	"fmt"
	"mime"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/lockstep-workflows/lockstep/event"
)

const (
	// maxEvent is the size of an event, or of its data in binary mode ("event-bytes").
	maxEvent = 256 << 10

	structuredMedia = "application/cloudevents+json"
	// Headers of NATS keep the case they were written in, and readers that compare it want
	// lower case.
	contentType = "content-type"
)

// readMessage makes an event of a message. Without headers it is the event itself, in the
// JSON format; with a content type of CloudEvents too; with ce- headers it is in binary
// mode (NATS protocol binding §3).
func readMessage(header nats.Header, body []byte, most int) (event.Event, error) {
	if len(body) > most {
		return event.Event{}, fmt.Errorf("the message has %d bytes, more than %d (limit event-bytes)", len(body), most)
	}
	for _, name := range []string{contentType, event.HeaderPrefix + "datacontenttype"} {
		if values(header, name) > 1 {
			return event.Event{}, &event.AttributeError{Attribute: "datacontenttype", Msg: "is given more than once"}
		}
	}
	media := first(header, contentType)
	base, params, err := mime.ParseMediaType(media)
	if err != nil {
		base = ""
	}
	switch {
	case base == structuredMedia || base == "application/cloudevents":
		if c := params["charset"]; c != "" && !strings.EqualFold(c, "utf-8") && !strings.EqualFold(c, "us-ascii") {
			return event.Event{}, fmt.Errorf("the charset %q is not supported, only utf-8", c)
		}
		return event.Parse(body)
	case strings.HasPrefix(base, "application/cloudevents"):
		return event.Event{}, fmt.Errorf("%q is not supported: a message carries one event, in the JSON format or in binary mode", media)
	case !isBinary(header):
		return event.Parse(body)
	}
	rest := nats.Header{}
	for name, values := range header {
		if !strings.EqualFold(name, event.HeaderPrefix+"datacontenttype") {
			rest[name] = values
		}
	}
	if given := first(header, event.HeaderPrefix+"datacontenttype"); given != "" {
		if media, err = event.DecodeHeader(given); err != nil {
			return event.Event{}, &event.AttributeError{Attribute: "datacontenttype", Msg: err.Error()}
		}
	}
	return event.FromBinary(event.Binary{Header: rest, Media: media, Body: body})
}

// isBinary reports whether a message has headers of binary mode.
func isBinary(header nats.Header) bool {
	for _, name := range []string{"specversion", "id", "source", "type"} {
		if first(header, event.HeaderPrefix+name) != "" {
			return true
		}
	}
	return false
}

// first is the first value of a header, in whatever case its name is written.
func first(header nats.Header, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	for key, values := range header {
		if len(values) > 0 && strings.EqualFold(key, name) {
			return values[0]
		}
	}
	return ""
}

// values is how many values a header has, in whatever case its name is written.
func values(header nats.Header, name string) int {
	n := 0
	for key, all := range header {
		if strings.EqualFold(key, name) {
			n += len(all)
		}
	}
	return n
}

// writeMessage is the reverse of readMessage.
func writeMessage(subject string, e event.Event, binary bool) (*nats.Msg, error) {
	m := nats.NewMsg(subject)
	if !binary {
		m.Header[contentType] = []string{structuredMedia}
		m.Data = e.Value().AppendJSON(nil)
		return m, nil
	}
	out, err := e.Binary()
	if err != nil {
		return nil, err
	}
	for name, values := range out.Header {
		m.Header[name] = values
	}
	if out.Media != "" {
		m.Header[contentType] = []string{out.Media}
	}
	m.Data = out.Body
	return m, nil
}
