package server

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
	"github.com/lockstep-workflows/lockstep/internal/server/web"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// Config configures a server. Engine and Registry are required.
type Config struct {
	Engine   *engine.Engine
	Registry *dialect.Registry

	Outbound  *effecthttp.Client // fetches documents that definitions refer to; nil: nothing is fetched
	AllowExec bool               // calls may run programs on this machine
	Functions func() []string    // names in the catalogue of functions now; nil: there is none

	// CheckCalls reports calls that do not fit the functions of the catalogue; nil: nothing is known of them.
	CheckCalls func(context.Context, pin.Definition) dialect.Diagnostics

	Tokens    *Tokens        // nil: everyone may do everything
	Hosts     []string       // names of this server besides localhost, if there are no tokens
	Sources   []event.Source // for /metrics
	BehindTLS bool           // a proxy in front of the server ends TLS, and says who asks in X-Forwarded-For
	Origins   []string       // other sites whose pages may send requests: scheme://host[:port]

	// Client identifies the device that sends a request to the south, and says whether it is restricted
	// to its own jobs; nil: the X-Client-Id header does. See wfx.Config.
	Client func(*http.Request) (id string, restricted bool, err error)

	// CRL says which certificates of devices their authorities revoked; nil: none. The store's revocations count
	// besides.
	CRL RevocationList

	// Page is the page for people, on the north: its document for requests that accept text/html, and the
	// files that PageFile reports. nil: none.
	Page     http.Handler
	PageFile func(path string) bool

	Schemas []Schema // for editors

	Downloads *Downloads // files below /download/, on both sides; nil: none

	Log     *slog.Logger // none: nothing is logged
	Clock   engine.Clock // default RealClock; use the engine's clock if it has another
	Version string       // for /metrics and /version
	Commit  string       // for /version
	Limits  Limits       // DefaultLimits where 0
	Quotas  Quotas
}

// RevocationList says which certificates were revoked.
type RevocationList interface {
	// Revokes reports whether a certificate of a chain was revoked.
	Revokes(chain []*x509.Certificate) bool
	// NextUpdate is when a newer list is due; zero: never.
	NextUpdate() time.Time
}

// Server serves an engine.
type Server struct {
	cfg    Config
	engine *engine.Engine
	limits Limits
	log    *slog.Logger
	routes web.Table[route]
	origin *http.CrossOriginProtection

	north, south *pools
	open         *pools      // for requests that need no credential
	plays        *admit.Pool // one place for each run in the playground
	memory       *admit.Memory
	rates        rates
	compiles     *admit.Pool // one place for each compilation
	drawings     drawings
	figures      figures
	tail         *feed.Tail
	alarms       alarms
	sessions     sessions
	failures     failures
	revocations  revocations
	crlWarned    atomic.Int64 // when the log was told that the list of certificates is old, in Unix seconds
	jobs         *wfx.View

	stop     sync.Once
	stopping chan struct{} // closed when the server stops: streams and waits end
}

// New returns a server.
func New(cfg Config) (*Server, error) {
	if cfg.Engine == nil || cfg.Registry == nil {
		return nil, errors.New("server: an engine and a registry of dialects are required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = engine.RealClock{}
	}
	s := &Server{
		cfg: cfg, engine: cfg.Engine, limits: cfg.Limits.withDefaults(), log: cfg.Log,
		origin: http.NewCrossOriginProtection(), stopping: make(chan struct{}),
	}
	for _, origin := range cfg.Origins {
		if err := s.origin.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("server: origin %q: %w", origin, err)
		}
	}
	s.north, s.south, s.open = newPools(&s.limits), newPools(&s.limits), newOpenPools(&s.limits)
	s.plays = admit.NewPool("playground-runs", admit.Size{All: playRuns, Share: playRuns / 2})
	s.memory = admit.NewMemory(s.limits.Memory)
	s.rates = newRates(cfg.Quotas)
	s.compiles = newCompilations()
	s.figures.init()
	s.revocations.s = s
	if cfg.Tokens != nil {
		cfg.Tokens.revoked = func(digest string) (bool, error) { return s.revocations.has(tokenKey(digest)) }
	}
	s.alarms = alarms{clock: cfg.Clock, stopping: s.stopping, due: map[int64]chan time.Time{}}
	s.tail = feed.NewTail(cfg.Engine, encodeChange)
	for i := range routes {
		s.routes.Add(routes[i].method, routes[i].path, &routes[i])
	}
	s.jobs = s.newJobs()
	return s, nil
}

// Handler serves the north: the API of this package, and the wfx API for operators. Its streams end with
// [Server.Stop].
func (s *Server) Handler() http.Handler { return s.handler(wfx.North) }

// South serves the south: the wfx API for devices, and nothing else.
func (s *Server) South() http.Handler { return s.handler(wfx.South) }

func (s *Server) handler(side wfx.Side) http.Handler {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(side, w, r) })
	return s.withDownloads(side, s.cfg.Downloads, api)
}

// Stop ends streams and waiting requests. It is for callers that do not use ServeSides.
func (s *Server) Stop() { s.stop.Do(func() { close(s.stopping) }) }

// Listeners are the listeners of a server, by side.
type Listeners struct {
	North, South []net.Listener
}

// ServeSides runs the engine and serves it on the listeners until ctx ends; see
// [Server.ServeListeners]. Then it stops the engine.
func (s *Server) ServeSides(ctx context.Context, on Listeners) error {
	run, rest := context.WithCancel(context.WithoutCancel(ctx))
	defer rest()
	idle := make(chan error, 1)
	go func() { idle <- s.engine.Run(run) }()
	err := s.ServeListeners(ctx, on)
	rest()
	return errors.Join(err, <-idle)
}

// ServeListeners serves the engine, which the caller runs, on the listeners until ctx ends. Then it accepts
// no more requests, ends streams and waits, and finishes the requests in flight. The error is the first of
// a listener.
func (s *Server) ServeListeners(ctx context.Context, on Listeners) error {
	sides := []*http.Server{
		s.httpServer(s.Handler()),
		s.httpServer(s.South()),
	}
	failed := make(chan error, len(on.North)+len(on.South))
	for i, listeners := range [][]net.Listener{on.North, on.South} {
		for _, l := range listeners {
			go func() {
				if err := sides[i].Serve(l); !errors.Is(err, http.ErrServerClosed) {
					failed <- fmt.Errorf("serve %s: %w", l.Addr(), err)
				}
			}()
		}
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.Stop()
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Drain)
	defer cancel()
	var closing sync.WaitGroup
	for _, h := range sides {
		closing.Go(func() {
			if h.Shutdown(late) != nil {
				_ = h.Close() // requests still in flight were not answered
			}
		})
	}
	closing.Wait()
	return err
}

func (s *Server) httpServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ConnContext:       withAddress,
		ReadHeaderTimeout: min(10*time.Second, s.limits.ReadTimeout),
		ReadTimeout:       s.limits.ReadTimeout,
		IdleTimeout:       s.limits.Idle,
		MaxHeaderBytes:    s.limits.Header,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
