package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	nethttp "net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/ui"
)

// hostFlags are the settings that `lockstep serve` and `lockstep dev` share.
type hostFlags struct {
	sideFlags
	store, namespace      string
	node                  string
	functions             functionFlags
	outbound              outboundFlags
	sink                  sinkFlags
	sources               sourceFlags
	retention             retentionFlags
	timezone              string
	window                time.Duration
	maxCalls, perEndpoint int
	memory                string
	missedFires, unknown  *choice
	logFormat, logLevel   *choice
	config                string
}

func (h *hostFlags) add(cmd *cobra.Command, store, unknown, level string) {
	h.namespace = "default"
	f := cmd.Flags()
	h.sideFlags.add(f)
	f.StringVar(&h.store, "store", store, "sqlite:`FILE`, postgres://… which other servers may share, or memory: which forgets everything at the end")
	f.StringVar(&h.node, "node-name", "", "what this server is called in \"lockstep node ls\" (default the name of the machine)")
	f.StringVar(&h.timezone, "timezone", "", "the time `zone` of schedules that name none (default local)")
	f.DurationVar(&h.window, "event-window", 24*time.Hour, "how long events are kept")
	f.IntVar(&h.maxCalls, "max-calls", 256, "function calls at a time")
	f.IntVar(&h.perEndpoint, "max-calls-per-endpoint", 128, "of them to one host, OpenAPI document or function of the catalogue")
	f.StringVar(&h.memory, "memory-limit", "auto", "memory in use above which requests that cost much are refused: a `size` such as 2GiB, none, or auto (GOMEMLIMIT, 9/10 of the control group's, or 3/4 of the machine's)")
	h.missedFires = &choice{value: "latest", allowed: []string{"latest", "all", "none"}}
	f.Var(h.missedFires, "missed-fires", "which of the times that a schedule missed are made up for")
	h.unknown = &choice{value: unknown, allowed: []string{"fail", "wait"}}
	f.Var(h.unknown, "unknown-functions", "calls of functions without an endpoint fail, or wait for \"lockstep inst answer\"")
	h.logFormat = &choice{value: "auto", allowed: logFormats, also: wfxLogFormats}
	f.Var(h.logFormat, "log-format", "of the log on stderr; auto is journald under systemd, else text")
	h.logLevel = &choice{value: level, allowed: []string{"debug", "info", "warn", "error"}, also: wfxLogLevels}
	f.Var(h.logLevel, "log-level", "from which level on")
	h.functions.add(cmd)
	h.outbound.add(cmd)
	h.sink.add(cmd)
	h.sources.add(cmd)
	h.retention.add(cmd)
	configFlag(cmd, &h.config)
}

func (h *hostFlags) logger(a *app) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(h.logLevel.value)) // it is one of four words
	return newLogger(a.err, h.logFormat.value, level)
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
	files    *server.Downloads
	store    opened
	engine   *engine.Engine
	onRecord func(id string, r core.Record) // nil: nobody looks
	kept     retention
	memory   int64 // the limit; 0: none
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
	limit, err := memoryLimit(h.memory)
	if err != nil {
		return nil, err
	}
	n := &host{app: a, flags: h, spec: spec, log: h.logger(a), memory: limit}
	if n.client, err = h.outbound.client(); err != nil {
		return nil, err
	}
	if n.sink, err = h.sink.use(n.client, n.log); err != nil {
		return nil, err
	}
	if err = h.sources.use(n.log); err != nil {
		return nil, err
	}
	if n.kept, err = h.retention.use(); err != nil {
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
	if n.store, err = n.spec.open(n.flags.namespace, n.log); err != nil {
		return storeFailure(n.spec, err)
	}
	n.engine, err = engine.New(engine.Config{
		Store: n.store.Store, Node: n.member(), Invoker: n.invoker, Sink: n.sink, Languages: languages.All(), Namespace: n.flags.namespace,
		Timezone: n.flags.timezone, EventWindow: n.flags.window, MissedFires: engine.MissedFires(n.flags.missedFires.value),
		MaxCalls: n.flags.maxCalls, MaxCallsPerEndpoint: n.flags.perEndpoint, Redeploy: redeploy,
		Housekeeping: n.kept.jobs, Retention: n.kept.instances, FeedRetention: n.kept.feed, OnRecord: n.onRecord,
		OnError: func(err error) { n.log.Error("engine", "error", err) },
	})
	return err
}

// serve serves both sides until ctx ends, and lets everything come to rest.
func (n *host) serve(ctx context.Context, cfg server.Config) error {
	cfg.Engine, cfg.Registry, cfg.Outbound, cfg.Functions = n.engine, n.app.registry(), n.client, n.invoker.names()
	version := readVersion()
	cfg.Log, cfg.Version, cfg.Commit = n.log, version.Version, version.Revision
	cfg.Sources = n.flags.sources.sources
	cfg.Page, cfg.PageFile = ui.Handler(), ui.HasFile
	for _, schema := range n.app.schemas() {
		cfg.Schemas = append(cfg.Schemas, server.Schema{Names: schema.names, Text: schema.text})
	}
	if cfg.Limits.Memory = n.memory; n.memory > 0 {
		debug.SetMemoryLimit(n.memory) // the collector works harder before requests are refused
	}
	s, err := server.New(cfg)
	if err != nil {
		return usagef("%v", err)
	}
	on := server.Listeners{North: []net.Listener{n.flags.northOpened}, Downloads: n.files}
	if n.flags.southOpen != nil {
		on.South = append(on.South, n.flags.southOpen)
	}
	on.North, on.South = append(on.North, n.flags.more[server.NorthSide]...), append(on.South, n.flags.more[server.SouthSide]...)
	defer n.flags.sources.run(ctx, n.engine)()
	return s.ServeSides(ctx, on)
}

// openFiles opens the folder of downloads. Whoever client refuses gets none.
func (n *host) openFiles(client func(*nethttp.Request) (string, bool, error)) error {
	if n.flags.download == "" {
		return nil
	}
	var err error
	if n.files, err = server.NewDownloads(n.flags.download, client); err != nil {
		return usagef("--download: %v", err)
	}
	return nil
}

// announce says where both sides are. Requests that come before they are served wait.
func (n *host) announce(name string, northTLS, southTLS bool) error {
	north, south := n.flags.northOpened.Addr(), n.flags.southOpen
	if n.flags.addrFile != "" {
		if err := writeWhole(n.flags.addrFile, north.String()+"\n"); err != nil {
			return err
		}
	}
	line := fmt.Sprintf("lockstep %s  store %s   page %s", name, n.spec, urlOf(north, northTLS))
	if south != nil {
		line += "   devices " + devicesURL(south.Addr(), southTLS)
		if n.flags.southFile != "" {
			if err := writeWhole(n.flags.southFile, south.Addr().String()+"\n"); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(n.app.out, line)
	return err
}

func storeFailure(spec storeSpec, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &failure{exit: exitError, code: "store", title: "The store cannot be opened", detail: err.Error()}
	}
	return fmt.Errorf("open the store %s: %w", spec, err)
}

// close lets go of everything, in the order opposite to that of opening.
func (n *host) close() error {
	n.flags.close()
	var err error
	if n.files != nil {
		err = n.files.Close()
	}
	if n.store.close != nil {
		err = errors.Join(err, n.store.close())
	}
	n.flags.sink.close()
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
