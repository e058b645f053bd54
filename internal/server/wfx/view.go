package wfx

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
)

// Side is the listener that a request came by. It decides who acts.
type Side int

// The sides.
const (
	South Side = iota // devices: CLIENT
	North             // operators: WFX
)

func (s Side) actor() string {
	if s == South {
		return wfxdef.Client
	}
	return wfxdef.Operator
}

// Limits bound what clients may cost. Fields that are 0 are as in DefaultLimits.
type Limits struct {
	Definition int64     // document-bytes: a workflow
	Body       int64     // request-bytes: any other body
	DeviceBody int64     // device-request-bytes: a body that comes by the south
	Filtered   int       // wfx-filter-input: bytes of an answer that a response filter may be given
	History    int       // wfx-history-bytes: bytes of a history
	Filter     jq.Budget // of a response filter
	FilterTime time.Duration

	WriteTimeout time.Duration // response-time: until a part of a stream is written
	Heartbeat    time.Duration // of a stream on which nothing happens
}

// DefaultLimits hold unless Config says otherwise.
var DefaultLimits = Limits{
	Definition: int64(dialect.DefaultLimits.Bytes), Body: 4 << 20, DeviceBody: 1 << 20,
	Filtered: 32 << 20, History: 16 << 20, FilterTime: 5 * time.Second,
	WriteTimeout: 30 * time.Second, Heartbeat: 15 * time.Second,
}

// Config says what a view works with. Engine, Registry and Tail are required.
type Config struct {
	Engine   *engine.Engine
	Registry *dialect.Registry
	Tail     *feed.Tail
	Clock    engine.Clock    // RealClock
	Stopping <-chan struct{} // closed when the server stops: streams end

	// Stream takes a place among open streams for the request that a context is of, and
	// Heavy one among answers that take much memory or time: histories, those that a response
	// filter makes, and each part of a long list but the first. nil: there is no bound. A release may be called twice.
	Stream, Heavy func(context.Context) (release func(), err error)

	// Client says which client sends a request to the south, and whether it may see and
	// change only its own jobs. nil: HeaderClient.
	Client func(*http.Request) (id string, restricted bool, err error)
	// AllowOrigin is what Access-Control-Allow-Origin says to the page that sends a request, or
	// asks in a preflight whether it may; "": it may not. nil: no page may.
	AllowOrigin func(*http.Request) string
	Version     string // that runs
	Commit      string
	Limits      Limits

	// Compiling waits for a place to compile a workflow in; done gives it back. nil: there is
	// always one.
	Compiling func(context.Context) (budget *dialect.Budget, done func(), err error)
}

// View serves jobs as wfx does.
type View struct {
	cfg     Config
	engine  *engine.Engine
	limits  Limits
	mux     *http.ServeMux
	updates updates

	mu     sync.Mutex
	models map[string]model // by digest
}

// New returns a view.
func New(cfg Config) (*View, error) {
	if cfg.Engine == nil || cfg.Registry == nil || cfg.Tail == nil {
		return nil, errors.New("wfx: an engine, a registry of dialects and a tail of the feed are required")
	}
	if cfg.Clock == nil {
		cfg.Clock = engine.RealClock{}
	}
	if cfg.Client == nil {
		cfg.Client = HeaderClient
	}
	if cfg.Compiling == nil {
		cfg.Compiling = func(ctx context.Context) (*dialect.Budget, func(), error) {
			return &dialect.Budget{Stop: ctx.Err}, func() {}, nil
		}
	}
	if cfg.AllowOrigin == nil {
		cfg.AllowOrigin = func(*http.Request) string { return "" }
	}
	unbounded := func(context.Context) (func(), error) { return func() {}, nil }
	if cfg.Stream == nil {
		cfg.Stream = unbounded
	}
	if cfg.Heavy == nil {
		cfg.Heavy = unbounded
	}
	v := &View{cfg: cfg, engine: cfg.Engine, limits: cfg.Limits.withDefaults(), mux: newMux(), models: map[string]model{}}
	return v, nil
}

// HeaderClient takes the client from the X-Client-Id header, as newer versions of wfx do.
// It protects nothing: it is for gateways that check who calls, and for devices that want
// to see only what is theirs.
func HeaderClient(r *http.Request) (id string, restricted bool, err error) {
	values := r.Header.Values("X-Client-Id")
	switch {
	case len(values) == 0:
		return "", false, nil
	case len(values) > 1 || values[0] == "":
		return "", false, malformed("the header X-Client-Id must have one value, the id of a client")
	}
	return values[0], true, nil
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	l.Definition = cmp.Or(l.Definition, d.Definition)
	l.Body = cmp.Or(l.Body, d.Body)
	l.DeviceBody = cmp.Or(l.DeviceBody, d.DeviceBody)
	l.Filtered = cmp.Or(l.Filtered, d.Filtered)
	l.History = cmp.Or(l.History, d.History)
	l.FilterTime = cmp.Or(l.FilterTime, d.FilterTime)
	l.WriteTimeout = cmp.Or(l.WriteTimeout, d.WriteTimeout)
	l.Heartbeat = cmp.Or(l.Heartbeat, d.Heartbeat)
	return l
}

// updates counts the status updates that were taken.
type updates struct {
	mu     sync.Mutex
	counts map[Update]int64
}

// Update is what status updates are counted by.
type Update struct{ Workflow, State, Actor string }

func (u *updates) add(key Update) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.counts == nil {
		u.counts = map[Update]int64{}
	}
	u.counts[key]++
}

// Updates is how many status updates were taken here since the start, by workflow, the
// state that was sent, and actor.
func (v *View) Updates() map[Update]int64 {
	v.updates.mu.Lock()
	defer v.updates.mu.Unlock()
	out := make(map[Update]int64, len(v.updates.counts))
	for key, n := range v.updates.counts {
		out[key] = n
	}
	return out
}
