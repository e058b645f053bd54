package wfx

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/metric"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
	"github.com/lockstep-workflows/lockstep/internal/server/web"
)

// Side is the listener of a request. It decides the actor.
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

// Limits bound the cost of clients. A field that is 0 has the value of DefaultLimits.
type Limits struct {
	Definition int64     // document-bytes: a workflow
	Body       int64     // request-bytes: any other body
	DeviceBody int64     // device-request-bytes: a body on the south
	Filtered   int       // wfx-filter-input: bytes of the input of a response filter
	History    int       // wfx-history-bytes: bytes of a history
	Filter     jq.Budget // of a response filter
	FilterTime time.Duration

	WriteTimeout time.Duration // response-time: to write a part of a stream
	Heartbeat    time.Duration // of an idle stream
}

// DefaultLimits apply unless Config says otherwise.
var DefaultLimits = Limits{
	Definition: int64(dialect.DefaultLimits.Bytes), Body: 4 << 20, DeviceBody: 1 << 20,
	Filtered: 32 << 20, History: 16 << 20, FilterTime: 5 * time.Second,
	WriteTimeout: 30 * time.Second, Heartbeat: 15 * time.Second,
}

// Config configures a view. Everything but Version, Commit and Limits is required.
type Config struct {
	Engine   *engine.Engine
	Registry *dialect.Registry
	Tail     *feed.Tail
	Clock    engine.Clock
	Stopping <-chan struct{} // closed when the server stops: streams end

	// Stream takes a place among open streams for the request of a context; allowed reports whether its credential is
	// still valid, nil: it needs none. Heavy takes a place among answers that cost much memory or time: histories,
	// filtered answers, and each part of a long list but the first. A release may be called twice.
	Stream func(context.Context) (release func(), allowed func() bool, err error)
	Heavy  func(context.Context) (release func(), err error)

	// Client identifies the client that sends a request to the south, and says whether it may see
	// and change only its own jobs.
	Client func(*http.Request) (id string, restricted bool, err error)
	// AllowOrigin returns the Access-Control-Allow-Origin header for the page that sends a request or a
	// preflight; "": the page may not.
	AllowOrigin func(*http.Request) string
	Version     string // of this program
	Commit      string
	Limits      Limits

	// Compiling waits for a place to compile a workflow in; done releases it.
	Compiling func(context.Context) (budget *dialect.Budget, done func(), err error)
}

// View serves the wfx API.
type View struct {
	cfg     Config
	engine  *engine.Engine
	limits  Limits
	table   *web.Table[Operation]
	updates updates

	mu     sync.Mutex
	models map[string]model // by digest
}

// New returns a view.
func New(cfg Config) *View {
	web.SetDefaults(&cfg.Limits, DefaultLimits)
	return &View{
		cfg: cfg, engine: cfg.Engine, limits: cfg.Limits, table: newTable(), models: map[string]model{},
	}
}

// HeaderClient takes the client from the X-Client-Id header, as newer versions of wfx do. It is no
// authentication: it is for gateways that authenticate clients, and for devices that want to see only their
// own jobs.
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

// updates counts accepted status updates.
type updates struct {
	mu     sync.Mutex
	counts map[Update]int64
}

// Update is the key of the counter of status updates.
type Update struct{ Workflow, State, Actor string }

func (u *updates) add(key Update) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.counts == nil {
		u.counts = map[Update]int64{}
	}
	if _, known := u.counts[key]; !known && len(u.counts) >= metric.MaxLabels {
		key = Update{metric.Other, metric.Other, metric.Other}
	}
	u.counts[key]++
}

// Updates returns the number of status updates since the start, by workflow, the state sent, and actor.
func (v *View) Updates() map[Update]int64 {
	v.updates.mu.Lock()
	defer v.updates.mu.Unlock()
	return maps.Clone(v.updates.counts)
}
