// Package trace has the parts of distributed traces that the engine needs: the W3C trace context, which goes in and out with
// requests and events, and spans. Ids of spans follow from what they stand for, so that every node, and a process that
// continues after a crash, gives a span the same id. Package otlp sends spans to a collector.
package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

// The names of the headers, and of the extension attributes of CloudEvents, that a trace context goes by.
const (
	Header      = "traceparent"
	StateHeader = "tracestate"
)

// ID identifies a trace.
type ID [16]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// SpanID identifies a span.
type SpanID [8]byte

func (id SpanID) String() string { return hex.EncodeToString(id[:]) }

// Context is a place in a trace: the span that caused what comes next.
type Context struct {
	Trace ID
	Span  SpanID
	Flags byte
	State string // the tracestate, which is passed on as it came
}

// sampled is the flag of traces that are recorded.
const sampled = 1

// Sampled reports whether the trace is recorded.
func (c Context) Sampled() bool { return c.Flags&sampled != 0 }

// At is the place of another span of the same trace.
func (c Context) At(span SpanID) Context {
	c.Span = span
	return c
}

// String is the value of a traceparent header, version 00.
func (c Context) String() string {
	var room [55]byte
	text := hex.AppendEncode(append(room[:0], "00-"...), c.Trace[:])
	text = hex.AppendEncode(append(text, '-'), c.Span[:])
	return string(hex.AppendEncode(append(text, '-'), []byte{c.Flags}))
}

// Text is the whole context in one text, for a store: the traceparent and, if there is one, a space and the tracestate.
func (c Context) Text() string {
	if c.State == "" {
		return c.String()
	}
	return c.String() + " " + c.State
}

// ParseText reads what Text wrote.
func ParseText(text string) (Context, bool) {
	parent, state, _ := strings.Cut(text, " ")
	c, ok := Parse(parent)
	c.State = state
	return c, ok
}

// ParseBoth reads both headers. Of several with the name tracestate, state is their values with commas between.
func ParseBoth(parent, state string) (c Context, ok bool) {
	if c, ok = Parse(parent); ok {
		c.State = ParseState(state)
	}
	return c, ok
}

// Parse reads a traceparent header (W3C Trace Context §traceparent). A header of a later version may have more parts. It
// returns false for one that must be ignored.
func Parse(header string) (c Context, ok bool) {
	if header == "" {
		return c, false
	}
	parts := strings.Split(strings.TrimSpace(header), "-")
	if len(parts) < 4 || parts[0] == "00" && len(parts) != 4 || parts[0] == "ff" {
		return c, false
	}
	var version, flags [1]byte
	for i, into := range [][]byte{version[:], c.Trace[:], c.Span[:], flags[:]} {
		if len(parts[i]) != 2*len(into) || strings.ToLower(parts[i]) != parts[i] {
			return Context{}, false
		}
		if _, err := hex.Decode(into, []byte(parts[i])); err != nil {
			return Context{}, false
		}
	}
	c.Flags = flags[0] & sampled
	return c, c.Trace != ID{} && c.Span != SpanID{}
}

// Begin is the trace that begins with something that has no cause in another: its id follows from the name.
func Begin(name string, ratio float64) Context {
	sum := sha256.Sum256([]byte("trace\x00" + name))
	c := Context{Trace: ID(sum[:16])}
	// As OpenTelemetry's TraceIdRatioBased sampler decides, so that others come to the same result.
	if bound := ratio * (1 << 63); ratio >= 1 || float64(binary.BigEndian.Uint64(c.Trace[8:])>>1) < bound {
		c.Flags = sampled
	}
	return c
}

// SpanOf is the id of the span that stands for something, which its parts name.
func SpanOf(parts ...string) SpanID {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write([]byte(p))
	}
	return SpanID(h.Sum(nil)[:8])
}

// Kind is the role of a span in a call.
type Kind int

// The kinds, as OTLP numbers them.
const (
	Internal Kind = iota + 1
	Server
	Client
	Producer
	Consumer
)

// Span is an operation that is over.
type Span struct {
	Context
	Parent     SpanID // zero: it is the root
	Name       string
	Kind       Kind
	Start, End core.Time
	Attrs      []Attr
	Error      string    // the name of the error; "": none
	Links      []Context // other causes
}

// Attr is an attribute of a span: a text or, if Number is set, a number.
type Attr struct {
	Key    string
	Text   string
	Number int64
}
