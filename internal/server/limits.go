package server

import (
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	eventhttp "github.com/lockstep-workflows/lockstep/internal/event/http"
	"github.com/lockstep-workflows/lockstep/internal/server/web"
)

// Limits bound the cost of clients. A field that is 0 has the value of DefaultLimits.
type Limits struct {
	Definition int64 // document-bytes: a definition
	Bundle     int64 // bundle-bytes: definitions with their files
	Programs   int   // bundle-programs: of a bundle, with the files that each pins
	Body       int64 // request-bytes: any other body
	Header     int   // request-header-bytes
	Events     eventhttp.Limits

	Page      int // page-items: of a list at a time
	PageBytes int // page-bytes: of a page with more than one item
	QueryScan int // query-scan: instances that are compared with a filter, one by one, for a request
	Count     int // count-items: how far instances are counted, or grouped, where the store does not keep the count

	// Per side. One credential or address may use a quarter of each (of Heavy a half), a device what the
	// fields below say.
	Requests  int           // requests-in-flight
	Arriving  int           // requests-arriving: with a body that is being read or used
	Waiting   int           // requests-waiting: for an instance to end (wait=)
	Streams   int           // open-streams
	Heavy     int           // heavy-requests: with large responses
	HeavyWait time.Duration // heavy-wait: for a place among them

	ArrivingBytes int64 // requests-arriving-bytes: of bodies in memory
	PendingBytes  int64 // responses-pending-bytes: of responses that clients have not read

	DeviceRequests int   // device-requests: in flight, and arriving
	DeviceStreams  int   // device-streams
	DeviceBytes    int64 // device-bytes: of bodies, and of responses
	DeviceBody     int64 // device-request-bytes: a body that a device sends

	Open     int   // open-requests: without a credential, of both sides
	OpenBody int64 // open-request-bytes: the body of such a request

	MinimumRate int64         // minimum-rate: bytes a second of bodies and responses
	RateGrace   time.Duration // rate-grace: before the minimum rate applies
	Memory      int64         // memory: in use, above which expensive requests are refused. 0: no limit

	Session      time.Duration // session-time: until a page must enter its token again
	Wait         time.Duration // request-wait: the maximum of wait=
	ReadTimeout  time.Duration // request-time: until a request is read
	WriteTimeout time.Duration // response-time: until an answer, or a part of a stream, is written
	Idle         time.Duration // of a connection between requests
	Heartbeat    time.Duration // of an idle stream
	Drain        time.Duration // for requests in flight when the server stops
}

// DefaultLimits apply unless Config says otherwise.
var DefaultLimits = Limits{
	Definition: int64(dialect.DefaultLimits.Bytes),
	Bundle:     16 << 20,
	Programs:   64 << 20,
	Body:       4 << 20,
	Header:     64 << 10,
	Events:     eventhttp.DefaultLimits,

	Page:      1000,
	PageBytes: 8 << 20,
	QueryScan: 100,
	Count:     10_000,

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

	Session:      12 * time.Hour,
	Wait:         60 * time.Second,
	ReadTimeout:  30 * time.Second,
	WriteTimeout: 30 * time.Second,
	Idle:         2 * time.Minute,
	Heartbeat:    15 * time.Second,
	Drain:        20 * time.Second,
}

// defaultPage is how many items a page has by default.
const defaultPage = 100

// maxKey is the maximum length of an idempotency key ("idempotency-key").
const maxKey = 255

// withDefaults fills in what is 0.
func (l Limits) withDefaults() Limits {
	web.SetDefaults(&l, DefaultLimits)
	return l
}
