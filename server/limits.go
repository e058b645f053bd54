package server

import (
	"time"

	"github.com/lockstep-workflows/lockstep/dialect"
	eventhttp "github.com/lockstep-workflows/lockstep/event/http"
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

	Requests int // requests-in-flight
	Arriving int // requests-arriving: those with a body that is being read or used

	ArrivingBytes int64 // requests-arriving-bytes: what is kept of all those bodies
	Waiting       int   // requests-waiting: those that wait for an end (wait=)
	Streams       int   // open-streams

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

	Requests: 256,
	Arriving: 4096,

	ArrivingBytes: 512 << 20,
	Waiting:       4096,
	Streams:       4096,

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

// largest is how long any body may be.
func (l *Limits) largest() int64 {
	return max(l.Definition, l.Body, l.Events.Event, l.Events.Batch)
}

// withDefaults fills in what is 0.
func (l Limits) withDefaults() Limits {
	fill := func(field *int64, value int64) {
		if *field == 0 {
			*field = value
		}
	}
	fillInt := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	fillTime := func(field *time.Duration, value time.Duration) {
		if *field == 0 {
			*field = value
		}
	}
	d := DefaultLimits
	fill(&l.Definition, d.Definition)
	fill(&l.Body, d.Body)
	fill(&l.ArrivingBytes, d.ArrivingBytes)
	fill(&l.Events.Event, d.Events.Event)
	fill(&l.Events.Batch, d.Events.Batch)
	fillInt(&l.Header, d.Header)
	fillInt(&l.Events.Events, d.Events.Events)
	fillInt(&l.Page, d.Page)
	fillInt(&l.PageBytes, d.PageBytes)
	fillInt(&l.QueryScan, d.QueryScan)
	fillInt(&l.Requests, d.Requests)
	fillInt(&l.Arriving, d.Arriving)
	fillInt(&l.Waiting, d.Waiting)
	fillInt(&l.Streams, d.Streams)
	fillTime(&l.Wait, d.Wait)
	fillTime(&l.ReadTimeout, d.ReadTimeout)
	fillTime(&l.WriteTimeout, d.WriteTimeout)
	fillTime(&l.Idle, d.Idle)
	fillTime(&l.Heartbeat, d.Heartbeat)
	fillTime(&l.Drain, d.Drain)
	return l
}
