package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/dialect"
	effecthttp "github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/engine"
)

// Config says what a server works with. Engine and Registry are required.
type Config struct {
	Engine   *engine.Engine
	Registry *dialect.Registry

	Outbound  *effecthttp.Client // fetches what definitions refer to; nil: nothing is fetched
	Functions []string           // names that the catalogue of functions has
	Tokens    *Tokens            // nil: everybody may do everything
	Hosts     []string           // names of this server beside localhost, where there are no tokens
	Origins   []string           // of other sites whose pages may change something: scheme://host[:port]

	Log     *slog.Logger // none: nothing is logged
	Clock   engine.Clock // RealClock; the engine's, where that has another
	Version string       // for /metrics
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

	requests chan struct{} // one for each request that is served
	bodies   chan struct{} // for each whose body is being read, or is kept
	kept     atomic.Int64  // bytes of those
	waiting  chan struct{} // for each that waits for an end
	streams  chan struct{} // for each stream
	figures  figures
	tail     tail

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
	s.requests = make(chan struct{}, s.limits.Requests)
	s.bodies = make(chan struct{}, s.limits.Arriving)
	s.waiting = make(chan struct{}, s.limits.Waiting)
	s.streams = make(chan struct{}, s.limits.Streams)
	s.figures.init()
	s.tail.engine = cfg.Engine
	for path, methods := range byPath() {
		s.mux.Handle(path, methods)
	}
	return s, nil
}

// Handler serves requests. Streams that it serves end with [Server.Stop].
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// Stop ends streams and requests that wait. It is for those who do not use Serve.
func (s *Server) Stop() { s.stop.Do(func() { close(s.stopping) }) }

// Serve runs the engine and serves it on the listeners until ctx ends. Then it takes no
// more requests, ends streams and waits, finishes the requests in flight, and lets the
// engine come to rest. The error is the first that kept a listener from being served.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	run, rest := context.WithCancel(context.WithoutCancel(ctx))
	defer rest()
	idle := make(chan error, 1)
	go func() { idle <- s.engine.Run(run) }()

	h := s.httpServer()
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() {
			if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve %s: %w", l.Addr(), err)
			}
		}()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.Stop()
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Drain)
	defer cancel()
	if h.Shutdown(late) != nil {
		_ = h.Close() // those that are still in flight were not acknowledged
	}
	rest()
	return errors.Join(err, <-idle)
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: min(10*time.Second, s.limits.ReadTimeout),
		ReadTimeout:       s.limits.ReadTimeout,
		IdleTimeout:       s.limits.Idle,
		MaxHeaderBytes:    s.limits.Header,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
