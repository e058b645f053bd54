// Package otlp sends spans to a collector: OTLP over HTTP in binary protobuf, which every collector accepts. The messages are
// written by hand: their spans are those of the engine, with ids of its own, so that an SDK would have
// nothing to do but this.
package otlp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lockstep-workflows/lockstep/internal/trace"
)

// timeout bounds one request ("otlp-timeout").
const timeout = 10 * time.Second

// Exporter sends spans.
type Exporter struct {
	URL      string // of traces: …/v1/traces
	Headers  map[string]string
	Resource []trace.Attr // what all spans come from: service.name and the like
	Version  string       // of this program
	Client   *http.Client
}

// RefusedError says that the collector will never accept these spans.
type RefusedError struct{ Status string }

func (e *RefusedError) Error() string { return "the collector refuses spans: " + e.Status }

// Refused returns true: sending them again would not help.
func (e *RefusedError) Refused() bool { return true }

// retryable are the answers after which the same spans may be sent again (OTLP §Retryable Response Codes).
var retryable = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// Export sends spans. After an error that is no *RefusedError they may be sent again.
func (x *Exporter) Export(ctx context.Context, spans []trace.Span) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.URL, bytes.NewReader(x.encode(spans)))
	if err != nil {
		return fmt.Errorf("send spans: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", "lockstep/"+x.Version)
	for name, value := range x.Headers {
		req.Header.Set(name, value)
	}
	resp, err := x.Client.Do(req)
	if err != nil {
		return fmt.Errorf("send spans: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection is used again
	switch status := resp.StatusCode; {
	case status >= 200 && status < 300:
		return nil
	case slices.Contains(retryable, status):
		return fmt.Errorf("send spans: the collector answers %s", resp.Status)
	}
	return &RefusedError{resp.Status}
}

// The numbers of fields below are those of opentelemetry-proto 1.x: trace/v1/trace.proto, common/v1 and resource/v1.

// encode writes an ExportTraceServiceRequest.
func (x *Exporter) encode(spans []trace.Span) []byte {
	var resource, scope, list []byte
	for _, a := range x.Resource {
		resource = message(resource, 1, attribute(a))
	}
	scope = text(scope, 1, "lockstep")
	scope = text(scope, 2, x.Version)
	list = message(list, 1, scope)
	for i := range spans {
		list = message(list, 2, span(&spans[i]))
	}
	var all []byte
	all = message(all, 1, resource)
	all = message(all, 2, list)
	return message(nil, 1, all)
}

func span(s *trace.Span) (b []byte) {
	b = message(b, 1, s.Trace[:])
	b = message(b, 2, s.Span[:])
	if s.State != "" {
		b = text(b, 3, s.State)
	}
	if s.Parent != (trace.SpanID{}) {
		b = message(b, 4, s.Parent[:])
	}
	b = text(b, 5, s.Name)
	b = number(b, 6, uint64(s.Kind))
	b = protowire.AppendTag(b, 7, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, uint64(s.Start))
	b = protowire.AppendTag(b, 8, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, uint64(s.End))
	for _, a := range s.Attrs {
		b = message(b, 9, attribute(a))
	}
	for _, l := range s.Links {
		var link []byte
		link = message(link, 1, l.Trace[:])
		link = message(link, 2, l.Span[:])
		b = message(b, 13, link)
	}
	if s.Error != "" {
		var status []byte
		status = text(status, 2, s.Error)
		status = number(status, 3, 2) // STATUS_CODE_ERROR
		b = message(b, 15, status)
	}
	b = protowire.AppendTag(b, 16, protowire.Fixed32Type)
	return protowire.AppendFixed32(b, uint32(s.Flags))
}

func attribute(a trace.Attr) (b []byte) {
	b = text(b, 1, a.Key)
	var value []byte
	if a.Number != 0 {
		value = number(value, 3, uint64(a.Number))
	} else {
		value = text(value, 1, a.Text)
	}
	return message(b, 2, value)
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendBytes(b, m)
}

func text(b []byte, field protowire.Number, s string) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendString(b, s)
}

func number(b []byte, field protowire.Number, n uint64) []byte {
	b = protowire.AppendTag(b, field, protowire.VarintType)
	return protowire.AppendVarint(b, n)
}
