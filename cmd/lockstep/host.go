package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/effect/openapi"
	"github.com/lockstep-workflows/lockstep/engine"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr/languages"
	"github.com/lockstep-workflows/lockstep/server"
)

// hostFlags are the settings that `lockstep serve` and `lockstep dev` share.
type hostFlags struct {
	north, store, namespace string
	addrFile                string
	functions               functionFlags
	outbound                outboundFlags
	sink                    sinkFlags
	timezone                string
	window                  time.Duration
	maxCalls, perEndpoint   int
	missedFires, unknown    *choice
	logFormat, logLevel     *choice
	config                  string
}

func (h *hostFlags) add(cmd *cobra.Command, store, unknown, level string) {
	h.namespace = "default"
	f := cmd.Flags()
	f.StringVar(&h.north, "north", "127.0.0.1:8081", "the `address` of the API; port 0 takes a free one")
	f.StringVar(&h.store, "store", store, "sqlite:`FILE`, or memory: which forgets everything at the end")
	f.StringVar(&h.addrFile, "addr-file", "", "write the API's address into this `file` once it is served")
	f.StringVar(&h.timezone, "timezone", "", "the time `zone` of schedules that name none (default local)")
	f.DurationVar(&h.window, "event-window", 24*time.Hour, "how long events are kept")
	f.IntVar(&h.maxCalls, "max-calls", 256, "function calls at a time")
	f.IntVar(&h.perEndpoint, "max-calls-per-endpoint", 128, "of them to one host, OpenAPI document or function of the catalogue")
	h.missedFires = &choice{value: "latest", allowed: []string{"latest", "all", "none"}}
	f.Var(h.missedFires, "missed-fires", "which of the times that a schedule missed are made up for")
	h.unknown = &choice{value: unknown, allowed: []string{"fail", "wait"}}
	f.Var(h.unknown, "unknown-functions", "calls of functions without an endpoint fail, or wait for \"lockstep inst answer\"")
	h.logFormat = &choice{value: "text", allowed: []string{"text", "json"}}
	f.Var(h.logFormat, "log-format", "of the log on stderr")
	h.logLevel = &choice{value: level, allowed: []string{"debug", "info", "warn", "error"}}
	f.Var(h.logLevel, "log-level", "from which level on")
	h.functions.add(cmd)
	h.outbound.add(cmd)
	h.sink.add(cmd)
	configFlag(cmd, &h.config)
}

func (h *hostFlags) logger(a *app) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(h.logLevel.value)) // it is one of four words
	options := &slog.HandlerOptions{Level: level}
	if h.logFormat.value == "json" {
		return slog.New(slog.NewJSONHandler(a.err, options))
	}
	return slog.New(slog.NewTextHandler(a.err, options))
}

// host is a server with everything it needs: configure, open, serve, close.
type host struct {
	app      *app
	flags    *hostFlags
	spec     storeSpec
	log      *slog.Logger
	client   *http.Client
	invoker  *invoker
	sink     func(context.Context, event.Event) error
	store    opened
	engine   *engine.Engine
	listener net.Listener
	onRecord func(id string, r core.Record) // nil: nobody looks
}

// configure checks the settings and opens what they name, but no store and no port.
func (h *hostFlags) configure(ctx context.Context, a *app) (*host, error) {
	spec, err := parseStore(h.store)
	if err != nil {
		return nil, err
	}
	if h.window <= 0 {
		return nil, usagef("--event-window must be longer than nothing")
	}
	if _, err := time.LoadLocation(h.timezone); err != nil {
		return nil, usagef("--timezone: %v", err)
	}
	n := &host{app: a, flags: h, spec: spec, log: h.logger(a)}
	if n.client, err = h.outbound.client(); err != nil {
		return nil, err
	}
	if n.sink, err = h.sink.use(n.client); err != nil {
		return nil, err
	}
	known, err := h.functions.use(ctx, a, n.client)
	if err != nil {
		return nil, err
	}
	n.invoker = &invoker{router: effect.Router{HTTP: n.client, OpenAPI: openapi.New(n.client)}, wait: h.unknown.value == "wait"}
	n.invoker.use(known)
	return n, nil
}

// open opens the store, and the engine over it.
func (n *host) open(redeploy bool) error {
	var err error
	if n.store, err = n.spec.open(n.flags.namespace); err != nil {
		return storeFailure(n.spec, err)
	}
	n.engine, err = engine.New(engine.Config{
		Store: n.store, Invoker: n.invoker, Sink: n.sink, Languages: languages.All(), Namespace: n.flags.namespace,
		Timezone: n.flags.timezone, EventWindow: n.flags.window, MissedFires: engine.MissedFires(n.flags.missedFires.value),
		MaxCalls: n.flags.maxCalls, MaxCallsPerEndpoint: n.flags.perEndpoint, Redeploy: redeploy,
		OnRecord: n.onRecord,
		OnError:  func(err error) { n.log.Error("engine", "error", err) },
	})
	return err
}

// serve serves the listener until ctx ends, and lets everything come to rest.
func (n *host) serve(ctx context.Context, cfg server.Config) error {
	cfg.Engine, cfg.Registry, cfg.Outbound, cfg.Functions = n.engine, n.app.registry(), n.client, n.invoker.names()
	cfg.Log, cfg.Version = n.log, readVersion().Version
	s, err := server.New(cfg)
	if err != nil {
		return usagef("%v", err)
	}
	return s.Serve(ctx, n.listener)
}

// announce says where the API is. Requests that come before it is served wait.
func (n *host) announce(name string, tls bool) error {
	address := n.listener.Addr()
	if n.flags.addrFile != "" {
		if err := writeWhole(n.flags.addrFile, address.String()+"\n"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(n.app.out, "lockstep %s  store %s   api %s\n", name, n.spec, urlOf(address, tls))
	return err
}

// listen opens the port.
func (n *host) listen(l server.Listening) error {
	var err error
	n.listener, err = server.Listen(l)
	return listenFailure(err)
}

func listenFailure(err error) error {
	var unsafe *server.UnsafeError
	if !errors.As(err, &unsafe) {
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		return nil
	}
	f := usagef("%v", unsafe)
	f.code, f.hint = "unsafe", "give --tokens FILE, --tls-cert FILE and --tls-key FILE, or --insecure if something else protects it"
	return f
}

func storeFailure(spec storeSpec, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &failure{exit: exitError, code: "store", title: "The store cannot be opened", detail: err.Error()}
	}
	return fmt.Errorf("open the store %s: %w", spec, err)
}

// close lets go of everything, in the order opposite to that of opening.
func (n *host) close() error {
	if n.listener != nil {
		_ = n.listener.Close() // serving has closed it already, if it began
	}
	var err error
	if n.store.close != nil {
		err = n.store.close()
	}
	n.client.Close()
	return err
}

// writeWhole writes a file so that who waits for it never sees a part.
func writeWhole(file, text string) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".addr-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.WriteString(text)
	if err := errors.Join(err, temporary.Close()); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.Rename(temporary.Name(), file); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
