package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// Config says what a server works with. Engine and Registry are required.
type Config struct {
	Engine   *engine.Engine
	Registry *dialect.Registry

	Outbound  *effecthttp.Client // fetches what definitions refer to; nil: nothing is fetched
	Functions []string           // names that the catalogue of functions has
	Tokens    *Tokens            // nil: everybody may do everything
	Hosts     []string           // names of this server beside localhost, where there are no tokens
	Sources   []event.Source     // for /metrics
	Origins   []string           // of other sites whose pages may send requests: scheme://host[:port]

	// Client says which device sends a request to the south, and whether it is held to its
	// own jobs; nil: the X-Client-Id header does. See wfx.Config.
	Client func(*http.Request) (id string, restricted bool, err error)

	// Page is shown to people, on the north: its document to whoever accepts text/html, and
	// the files that PageFile reports. nil: none.
	Page     http.Handler
	PageFile func(path string) bool

	Schemas []Schema // for editors

	Log     *slog.Logger // none: nothing is logged
	Clock   engine.Clock // RealClock; the engine's, where that has another
	Version string       // for /metrics and /version
	Commit  string       // for /version
	Limits  Limits       // DefaultLimits where 0
}

// Server serves an engine.
type Server struct {
	cfg    Config
	engine *engine.Engine
	limits Limits
	log    *slog.Logger
	mux    *http.ServeMux
	origin *http.CrossOriginProtection

	north, south *pools
	open         *pools      // of requests that need no credential
	plays        *admit.Pool // a place for each run in the playground
	memory       *admit.Memory
	compiles     *admit.Pool // a place for each definition that is being compiled
	drawings     drawings
	figures      figures
	tail         *feed.Tail
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
		mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(), stopping: make(chan struct{}),
	}
	for _, origin := range cfg.Origins {
		if err := s.origin.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("server: origin %q: %w", origin, err)
		}
	}
	s.north, s.south, s.open = newPools(&s.limits), newPools(&s.limits), newOpenPools(&s.limits)
	s.plays = admit.NewPool("playground-runs", admit.Size{All: playRuns, Share: playRuns / 2})
	s.memory = admit.NewMemory(s.limits.Memory)
	s.compiles = newCompilations()
	s.figures.init()
	s.tail = feed.NewTail(cfg.Engine, encodeChange)
	for path, methods := range byPath() {
		s.mux.Handle(path, methods)
	}
	var err error
	if s.jobs, err = s.newJobs(); err != nil {
		return nil, err
	}
	return s, nil
}

// Handler serves operators and everybody else: this package's own interface, and that of
// wfx as its north has it. Streams that it serves end with [Server.Stop].
func (s *Server) Handler() http.Handler { return s.handler(wfx.North) }

// South serves devices: the interface of wfx as its south has it, and nothing else.
func (s *Server) South() http.Handler { return s.handler(wfx.South) }

func (s *Server) handler(side wfx.Side) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(side, w, r) })
}

// Stop ends streams and requests that wait. It is for those who do not use Serve.
func (s *Server) Stop() { s.stop.Do(func() { close(s.stopping) }) }

// Listeners are where a server is reached.
type Listeners struct {
	North, South []net.Listener
	Downloads    *Downloads // files below /download/, on both sides; nil: none
}

// Serve runs the engine and serves operators on the listeners until ctx ends; see
// [Server.ServeSides].
func (s *Server) Serve(ctx context.Context, north ...net.Listener) error {
	return s.ServeSides(ctx, Listeners{North: north})
}

// ServeSides runs the engine and serves it on the listeners until ctx ends. Then it takes
// no more requests, ends streams and waits, finishes the requests in flight, and lets the
// engine come to rest. The error is the first that kept a listener from being served.
func (s *Server) ServeSides(ctx context.Context, on Listeners) error {
	run, rest := context.WithCancel(context.WithoutCancel(ctx))
	defer rest()
	idle := make(chan error, 1)
	go func() { idle <- s.engine.Run(run) }()

	sides := []*http.Server{
		s.httpServer(s.withDownloads(wfx.North, on.Downloads, s.Handler())),
		s.httpServer(s.withDownloads(wfx.South, on.Downloads, s.South())),
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
				_ = h.Close() // those that are still in flight were not acknowledged
			}
		})
	}
	closing.Wait()
	rest()
	return errors.Join(err, <-idle)
}

func (s *Server) httpServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: min(10*time.Second, s.limits.ReadTimeout),
		ReadTimeout:       s.limits.ReadTimeout,
		IdleTimeout:       s.limits.Idle,
		MaxHeaderBytes:    s.limits.Header,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
