package server

import (
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	eventhttp "github.com/lockstep-workflows/lockstep/internal/event/http"
)

// Limits bound what clients may cost. Fields that are 0 are as in DefaultLimits.
type Limits struct {
	Definition int64 // document-bytes: a definition
	Body       int64 // request-bytes: any other body
	Header     int   // request-header-bytes
	Events     eventhttp.Limits

	Page      int // page-items: of a list at a time
	PageBytes int // page-bytes: of a page with more than one item
	QueryScan int // query-scan: instances that are compared with a filter, one by one, for a request

	// These are of each side. One credential or address has a quarter of them at most
	// (of Heavy a half), a device what is said below.
	Requests  int           // requests-in-flight
	Arriving  int           // requests-arriving: those with a body that is being read or used
	Waiting   int           // requests-waiting: those that wait for an end (wait=)
	Streams   int           // open-streams
	Heavy     int           // heavy-requests: those whose answers are large
	HeavyWait time.Duration // heavy-wait: how long one waits for a place among them

	ArrivingBytes int64 // requests-arriving-bytes: what is kept of bodies
	PendingBytes  int64 // responses-pending-bytes: what clients have not read of answers

	DeviceRequests int   // device-requests: in flight, and arriving
	DeviceStreams  int   // device-streams
	DeviceBytes    int64 // device-bytes: of bodies, and of answers
	DeviceBody     int64 // device-request-bytes: a body that a device sends

	Open     int   // open-requests: those that need no credential, of both sides
	OpenBody int64 // open-request-bytes: the body of one

	MinimumRate int64         // minimum-rate: bytes a second of bodies and of answers
	RateGrace   time.Duration // rate-grace: before it counts
	Memory      int64         // memory: in use; above it what costs much is refused. 0: no limit

	Wait         time.Duration // request-wait: how long wait= may ask for
	ReadTimeout  time.Duration // request-time: until a request is read
	WriteTimeout time.Duration // response-time: until an answer, or a part of a stream, is written
	Idle         time.Duration // of a connection between requests
	Heartbeat    time.Duration // of a stream on which nothing happens
	Drain        time.Duration // for requests in flight when the server stops
}

// DefaultLimits hold unless Config says otherwise.
var DefaultLimits = Limits{
	Definition: int64(dialect.DefaultLimits.Bytes),
	Body:       4 << 20,
	Header:     64 << 10,
	Events:     eventhttp.DefaultLimits,

	Page:      1000,
	PageBytes: 8 << 20,
	QueryScan: 20_000,

	Requests:  1024,
	Arriving:  16_384,
	Waiting:   16_384,
	Streams:   16_384,
	Heavy:     8,
	HeavyWait: 5 * time.Second,

	ArrivingBytes: 256 << 20,
	PendingBytes:  256 << 20,

	DeviceRequests: 4,
	DeviceStreams:  16,
	DeviceBytes:    16 << 20,
	DeviceBody:     1 << 20,

	Open:     256,
	OpenBody: 4 << 10,

	MinimumRate: 1 << 10,
	RateGrace:   10 * time.Second,

	Wait:         60 * time.Second,
	ReadTimeout:  30 * time.Second,
	WriteTimeout: 30 * time.Second,
	Idle:         2 * time.Minute,
	Heartbeat:    15 * time.Second,
	Drain:        20 * time.Second,
}

// defaultPage is how many items a list has where the request does not say.
const defaultPage = 100

// maxKey is how long an idempotency key may be ("idempotency-key").
const maxKey = 255

// withDefaults fills in what is 0.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	fill(&l.Definition, d.Definition)
	fill(&l.Body, d.Body)
	fill(&l.ArrivingBytes, d.ArrivingBytes)
	fill(&l.PendingBytes, d.PendingBytes)
	fill(&l.DeviceBytes, d.DeviceBytes)
	fill(&l.DeviceBody, d.DeviceBody)
	fill(&l.OpenBody, d.OpenBody)
	fill(&l.MinimumRate, d.MinimumRate)
	fill(&l.Events.Event, d.Events.Event)
	fill(&l.Events.Batch, d.Events.Batch)
	fill(&l.Header, d.Header)
	fill(&l.Events.Events, d.Events.Events)
	fill(&l.Page, d.Page)
	fill(&l.PageBytes, d.PageBytes)
	fill(&l.QueryScan, d.QueryScan)
	fill(&l.Requests, d.Requests)
	fill(&l.Arriving, d.Arriving)
	fill(&l.Waiting, d.Waiting)
	fill(&l.Streams, d.Streams)
	fill(&l.Heavy, d.Heavy)
	fill(&l.DeviceRequests, d.DeviceRequests)
	fill(&l.DeviceStreams, d.DeviceStreams)
	fill(&l.Open, d.Open)
	fill(&l.HeavyWait, d.HeavyWait)
	fill(&l.RateGrace, d.RateGrace)
	fill(&l.Wait, d.Wait)
	fill(&l.ReadTimeout, d.ReadTimeout)
	fill(&l.WriteTimeout, d.WriteTimeout)
	fill(&l.Idle, d.Idle)
	fill(&l.Heartbeat, d.Heartbeat)
	fill(&l.Drain, d.Drain)
	return l
}

func fill[T ~int | ~int64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
