package serve

import (
	"cmp"
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

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/secrets"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/stores"
)

// hostFlags are the common settings of `lockstep serve` and `lockstep dev`.
type hostFlags struct {
	sideFlags
	store, namespace      string
	node                  string
	functions             load.Catalogue
	outbound              load.Outbound
	secrets               load.Secrets
	sink                  SinkFlags
	sources               sourceFlags
	webhooks              webhookFlags
	tracing               tracingFlags
	retention             retentionFlags
	timezone              string
	window                time.Duration
	maxCalls, perEndpoint int
	memory                string
	quotas                quotaFlags
	missedFires, unknown  *cli.Choice
	logFormat, logLevel   *cli.Choice
	config                string
}

func (h *hostFlags) add(cmd *cobra.Command, store, unknown, level string) {
	h.namespace = "default"
	f := cmd.Flags()
	h.sideFlags.add(f)
	f.StringVar(&h.store, "store", store, "sqlite:`FILE`, postgres://… which other servers may share, or memory: which keeps nothing")
	f.StringVar(&h.node, "node-name", "", "the name of this server in \"lockstep node ls\" (default the host name)")
	f.StringVar(&h.timezone, "timezone", "", "the default time `zone` of schedules (default local)")
	f.DurationVar(&h.window, "event-window", 24*time.Hour, "how long events are kept for instances that do not wait for them yet")
	f.IntVar(&h.maxCalls, "max-calls", 256, "maximum function calls in flight")
	f.IntVar(&h.perEndpoint, "max-calls-per-endpoint", 128, "maximum calls in flight to one host, OpenAPI document or function of the catalogue")
	f.StringVar(&h.memory, "memory-limit", "auto", "memory above which expensive requests are refused: a `size` such as 2GiB, none, or auto (GOMEMLIMIT, 9/10 of the control group's, or 3/4 of the machine's)")
	h.quotas.add(f)
	h.missedFires = &cli.Choice{Value: "latest", Allowed: []string{"latest", "all", "none"}}
	f.Var(h.missedFires, "missed-fires", "which missed fire times of a schedule to catch up on")
	h.unknown = &cli.Choice{Value: unknown, Allowed: []string{"fail", "wait"}}
	f.Var(h.unknown, "unknown-functions", "whether calls of functions without an endpoint fail, or wait for \"lockstep inst answer\"")
	h.logFormat = &cli.Choice{Value: "auto", Allowed: logFormats, Also: wfxLogFormats}
	f.Var(h.logFormat, "log-format", "format of the log on stderr; auto is journald under systemd, otherwise text")
	h.logLevel = &cli.Choice{Value: level, Allowed: []string{"debug", "info", "warn", "error"}, Also: wfxLogLevels}
	f.Var(h.logLevel, "log-level", "minimum level of the log")
	h.functions.Add(cmd)
	h.functions.AddPrograms(cmd)
	h.outbound.Add(cmd)
	h.outbound.AddTimeouts(cmd)
	h.secrets.Add(cmd)
	h.sink.add(cmd)
	h.sources.add(cmd)
	h.webhooks.add(cmd)
	h.tracing.add(cmd)
	h.retention.add(cmd)
	cli.ConfigFlag(cmd, &h.config)
}

// level is the minimum level of the log.
func (h *hostFlags) level() (level slog.Level) {
	_ = level.UnmarshalText([]byte(h.logLevel.Value)) // it is one of four words
	return level
}

// host is a server: configure, open, serve, close.
type host struct {
	app     *cli.App
	flags   *hostFlags
	store   stores.Address
	level   slog.LevelVar
	log     *slog.Logger
	secrets *secrets.Store // nil: there are none
	client  *http.Client
	invoker *invoker
	options []lockstep.Option
	engine  *lockstep.Engine
	memory  int64 // the limit; 0: none
}

// configure checks the settings and reads the files they name. It does not open the store or a port.
func (h *hostFlags) configure(ctx context.Context, a *cli.App) (*host, error) {
	address, err := parseStore(h.store)
	if err != nil {
		return nil, err
	}
	if h.window <= 0 {
		return nil, cli.Usagef("--event-window must be positive")
	}
	if _, err := time.LoadLocation(h.timezone); err != nil {
		return nil, cli.Usagef("--timezone: %v", err)
	}
	limit, err := memoryLimit(h.memory)
	if err != nil {
		return nil, err
	}
	n := &host{app: a, flags: h, store: address, memory: limit}
	n.level.Set(h.level())
	n.log = newLogger(a.Stderr(), h.logFormat.Value, &n.level)
	if n.secrets, err = h.secrets.Open(a); err != nil {
		return nil, err
	}
	if n.secrets != nil {
		n.log = slog.New(secrets.Handler(n.log.Handler(), n.secrets))
		n.secrets.OnError = func(err error) { n.log.Warn(err.Error()) }
	}
	if n.client, err = h.outbound.Client(n.secrets); err != nil {
		return nil, err
	}
	known, err := h.functions.Use(ctx, a, n.client, n.secrets)
	if err != nil {
		return nil, err
	}
	n.invoker = &invoker{router: h.functions.Router(n.client, n.log), wait: h.unknown.Value == "wait", secrets: n.secrets}
	n.invoker.use(known)
	if n.options, err = h.options(n); err == nil {
		err = checkOptions(n.options)
	}
	return n, err
}

// checkOptions is the error of a wrong option, with its flag.
func checkOptions(options []lockstep.Option) error {
	err := lockstep.Check(options...)
	var wrong *lockstep.OptionError
	if !errors.As(err, &wrong) {
		return err
	}
	flag := map[string]string{"Downloads": "--download", "Origins": "--origin", "Notify": "--webhook"}[wrong.Option]
	return cli.Usagef("%s: %v", cmp.Or(flag, wrong.Option), wrong.Err)
}

// options are the settings as options of the engine.
func (h *hostFlags) options(n *host) ([]lockstep.Option, error) {
	out := []lockstep.Option{
		lockstep.Namespace(h.namespace), lockstep.Invoker(n.invoker), lockstep.OutboundAllow(h.outbound.Allow...),
		lockstep.Timezone(h.timezone), lockstep.EventWindow(h.window), lockstep.MissedFires(h.missedFires.Value),
		lockstep.Logger(n.log), lockstep.CallTimeout(h.outbound.Timeout), lockstep.CallTimeoutMax(h.outbound.MaxTimeout),
	}
	if h.functions.AllowExec {
		out = append(out, lockstep.AllowExec())
	}
	if n.secrets != nil {
		out = append(out, lockstep.Secrets(n.secrets.Get))
	}
	if h.maxCalls > 0 {
		out = append(out, lockstep.MaxCalls(h.maxCalls))
	}
	if h.perEndpoint > 0 {
		out = append(out, lockstep.MaxCallsPerEndpoint(h.perEndpoint))
	}
	quotas, err := h.quotas.option()
	if err != nil {
		return nil, err
	}
	out = append(out, quotas)
	if n.memory > 0 {
		out = append(out, lockstep.MemoryLimit(n.memory))
	}
	if h.download != "" {
		out = append(out, lockstep.Downloads(h.download))
	}
	sink, err := h.sink.use(n.client, n.log)
	if err != nil {
		return nil, err
	}
	if sink != nil {
		out = append(out, lockstep.Sink(sink))
		if h.sink.Lifecycle {
			out = append(out, lockstep.Lifecycle(sink))
		}
	}
	sources, err := h.sources.use(n.log)
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		out = append(out, lockstep.Source(source))
	}
	secret := func(string) (expr.Value, bool) { return expr.Null, false }
	if n.secrets != nil {
		secret = n.secrets.Get
	}
	webhooks, err := h.webhooks.use(n.client, secret)
	if err != nil {
		return nil, err
	}
	out = append(out, webhooks...)
	tracing, err := h.tracing.use(h.node, os.Getenv)
	if err != nil {
		return nil, err
	}
	if tracing != nil {
		out = append(out, tracing)
	}
	kept, err := h.retention.use()
	return append(out, kept...), err
}

// open opens the store, and runs an engine over it.
func (n *host) open(ctx context.Context, options ...lockstep.Option) error {
	address := ""
	if n.flags.northOpened != nil {
		address = n.flags.northOpened.Addr().String()
	}
	name := n.flags.node
	if name == "" {
		name, _ = os.Hostname() // the name may be empty
	}
	options = append(options, lockstep.Node(name, address))
	e, err := lockstep.Open(ctx, n.flags.store, append(n.options, options...)...)
	if inner := errors.Unwrap(err); inner != nil {
		return storeFailure(n.store, inner)
	}
	if err != nil {
		return err
	}
	n.engine = e
	return nil
}

// serve serves both sides until ctx ends.
func (n *host) serve(ctx context.Context) error {
	admit.TuneCollector(n.memory)
	on := lockstep.Listeners{Handler: append([]net.Listener{n.flags.northOpened}, n.flags.more[server.NorthSide]...)}
	if n.flags.southOpen != nil {
		on.Devices = append(on.Devices, n.flags.southOpen)
	}
	on.Devices = append(on.Devices, n.flags.more[server.SouthSide]...)
	return n.engine.Serve(ctx, on)
}

// announce prints the addresses of both sides. Requests wait until they are served.
func (n *host) announce(name string, northTLS, southTLS bool) error {
	north, south := n.flags.northOpened.Addr(), n.flags.southOpen
	if n.flags.addrFile != "" {
		if err := writeWhole(n.flags.addrFile, north.String()+"\n"); err != nil {
			return err
		}
	}
	line := fmt.Sprintf("lockstep %s  store %s   page %s", name, n.store, urlOf(north, northTLS))
	if south != nil {
		line += "   devices " + devicesURL(south.Addr(), southTLS)
		if n.flags.southFile != "" {
			if err := writeWhole(n.flags.southFile, south.Addr().String()+"\n"); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(n.app.Out, line)
	return err
}

func storeFailure(address stores.Address, err error) error {
	if restored, ok := errors.AsType[*stores.RestoredError](err); ok {
		f := &cli.Failure{Exit: cli.ExitError, Code: "restored", Title: "The store is paused", Detail: fmt.Sprintf("%s: %v", address, restored)}
		f.Hint = "\"lockstep resume --store …\" says what would run, and resumes it; \"lockstep serve --resume-restored\" does both at once"
		return f
	}
	if errors.Is(err, fs.ErrPermission) {
		return &cli.Failure{Exit: cli.ExitError, Code: "store", Title: "The store cannot be opened", Detail: err.Error()}
	}
	f := cli.AsFailure(fmt.Errorf("open the store %s: %w", address, err))
	switch {
	case errors.Is(err, store.ErrInUse):
		f.Hint = "only one process may use an SQLite store: stop the other one, or name another file with --store; \"lockstep doctor\" without --store asks a server that runs"
	case errors.Is(err, store.ErrForeign):
		f.Hint = "if it is a database of wfx, \"lockstep import wfx\" brings its workflows and jobs into a store"
	}
	return f
}

// parseStore reads --store.
func parseStore(text string) (stores.Address, error) {
	address, err := stores.Parse(text)
	if bad, ok := errors.AsType[*stores.AddressError](err); ok {
		f := cli.Usagef("--store %s", bad.Msg)
		f.Hint = bad.Hint
		return address, f
	}
	return address, err
}

// close closes everything, in reverse order.
func (n *host) close() error {
	n.flags.close()
	var err error
	if n.engine != nil {
		err = n.engine.Close()
	}
	if n.flags.sink.close != nil {
		n.flags.sink.close()
	}
	n.invoker.router.Close()
	n.client.Close()
	return err
}

// writeWhole writes a file atomically.
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
