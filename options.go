package lockstep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/process/javascript"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/query"
	"github.com/lockstep-workflows/lockstep/internal/redact"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/trace"
	"github.com/lockstep-workflows/lockstep/internal/trace/otlp"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// Option is a setting of [Open].
type Option func(*config) error

// config holds the values of the options.
type config struct {
	functions      functions
	other          effect.Invoker
	secrets        *redact.Sets
	sink           func(context.Context, event.Event) error
	lifecycle      func(context.Context, event.Event) error
	notify         []engine.Notify
	tracing        *engine.Tracing
	namespace      string
	node           string
	address        string
	timezone       string
	eventWindow    time.Duration
	missedFires    engine.MissedFires
	retention      time.Duration
	feedRetention  time.Duration
	jobRetention   []engine.JobRetention
	maxCalls       int
	perEndpoint    int
	quotas         QuotaLimits
	redeploy       bool
	allowExec      bool
	programTimeout time.Duration
	outboundAllow  []string
	callTimeout    time.Duration
	callTimeoutMax time.Duration
	sources        []event.Source
	onRecord       func(instance string, r api.Record)
	log            *slog.Logger
	tokens         *server.Tokens
	certificates   server.CertificateName
	hosts          []string
	origins        []string
	behindTLS      bool
	auditRetention time.Duration
	crl            RevocationList
	downloads      string
	memory         int64
	resume         bool
}

// Check reports what is wrong with options, without opening anything. Its error is an
// [*OptionError].
func Check(options ...Option) error {
	_, err := configure(options)
	return err
}

func configure(options []Option) (*config, error) {
	c := &config{functions: functions{}, namespace: "default", log: slog.New(slog.DiscardHandler), secrets: redact.NewSets(noSecret), quotas: DefaultQuotas()}
	c.node, _ = os.Hostname() // on an error the name is empty, which is allowed
	for _, set := range options {
		if err := set(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func noSecret(string) (expr.Value, bool) { return expr.Null, false }

// set is an option that accepts every value.
func set(apply func(*config)) Option {
	return func(c *config) error {
		apply(c)
		return nil
	}
}

// positive is an option whose value must be positive.
func positive[T int | int64 | time.Duration](name string, value T, apply func(*config)) Option {
	return func(c *config) error {
		if value <= 0 {
			return &OptionError{name, fmt.Errorf("%v is not positive", value)}
		}
		apply(c)
		return nil
	}
}

// present is an option whose value must not be nil.
func present(name string, there bool, apply func(*config)) Option {
	return func(c *config) error {
		if !there {
			return &OptionError{name, errors.New("it is nil")}
		}
		apply(c)
		return nil
	}
}

// Invoker makes v carry out all calls of functions that [Func] does not register, including those of
// HTTP endpoints. If v has a method Names() []string, definitions may call these functions by name
// without a warning.
func Invoker(v effect.Invoker) Option {
	return set(func(c *config) { c.other = v })
}

// Sink sends the events that workflows produce to others as well: each at least once, those of one
// instance in order. An event whose sending fails is sent again, until it succeeds or the error has
// a method Refused() bool that returns true.
func Sink(send func(context.Context, event.Event) error) Option {
	return set(func(c *config) { c.sink = send })
}

// Secrets are the values that definitions list under use.secrets, by name. A definition gets only those
// that it lists, and only its own expressions and calls do: what is stored, what events and other
// workflows are given, and what people read has ‹secret NAME› in the place of the text. find is called
// often, by several goroutines, and must return at once; a value that changes counts from the next step
// of an instance on.
func Secrets(find func(name string) (expr.Value, bool)) Option {
	return present("Secrets", find != nil, func(c *config) { c.secrets = redact.NewSets(find) })
}

// Lifecycle sends the lifecycle events of Open Workflow for instances of its definitions: workflows and tasks that
// were started, completed, faulted and so on. Each is sent at least once, always with the same source and id,
// those of one instance in order; failed sends are repeated as by [Sink]. What happened before the store
// was first used with this option is not sent.
func Lifecycle(send func(context.Context, event.Event) error) Option {
	return set(func(c *config) { c.lifecycle = send })
}

// Notice is a receiver of notices about instances that need attention.
type Notice struct {
	// Name is the same whenever the store is opened: the store keeps under it which notices were sent.
	Name string
	// Send sends a notice. Each is sent at least once, always with the same source and id; failed sends are repeated as
	// by [Sink]. The types are lockstep.instance.failed, lockstep.instance.quarantined and lockstep.instance.waiting.
	Send func(context.Context, event.Event) error
	// Filter selects instances, in the language of the HTTP API's parameter q. Empty: all.
	Filter string
	// Waiting is how long an instance may wait without a change before there is a notice. 0: for ever.
	Waiting time.Duration
}

// Notify sends a notice when an instance fails, is put into quarantine, or waits for too long. What happened before the
// store was first used with this receiver is not sent.
func Notify(n Notice) Option {
	return func(c *config) error {
		_, err := query.Parse(n.Filter, 0)
		switch {
		case err != nil:
			return &OptionError{"Notify", fmt.Errorf("filter: %w", err)}
		case n.Name == "" || n.Send == nil:
			return &OptionError{"Notify", errors.New("a name and a function are required")}
		case slices.ContainsFunc(c.notify, func(o engine.Notify) bool { return o.Name == n.Name }):
			return &OptionError{"Notify", fmt.Errorf("two receivers are called %q", n.Name)}
		}
		receiver := engine.Notify{Name: n.Name, Send: n.Send, Waiting: n.Waiting}
		if n.Filter != "" {
			receiver.Only = func(in *store.Instance) bool {
				f, err := query.Parse(n.Filter, core.TimeOf(time.Now())) // ages count from now
				return err != nil || f.Selects(in)
			}
		}
		c.notify = append(c.notify, receiver)
		return nil
	}
}

// Trace sends spans of what workflows do to a collector: OTLP over HTTP.
type Trace struct {
	URL      string            // of the collector's traces, such as http://localhost:4318/v1/traces
	Headers  map[string]string // that go with each request
	Resource map[string]string // what all spans come from; service.name is "lockstep" if it is not given
	Ratio    float64           // the part of traces that begin here and are recorded, 0 to 1; those of callers are if the caller says so
}

// Tracing sends spans: one for each instance, state, call and attempt. They are sent when they are over, at least once, also
// after a crash; a collector that is down does not hold up workflows. Without this option the trace of a caller is
// passed on nevertheless, to calls, events and sub-workflows.
func Tracing(t Trace) Option {
	return func(c *config) error {
		target, err := url.Parse(t.URL)
		switch {
		case err != nil, target.Scheme != "http" && target.Scheme != "https", target.Hostname() == "":
			return &OptionError{"Tracing", errors.New("the URL must be an http or https URL")}
		case !(t.Ratio >= 0 && t.Ratio <= 1):
			return &OptionError{"Tracing", fmt.Errorf("the ratio %v is not between 0 and 1", t.Ratio)}
		}
		built := version.Read().Version
		x := &otlp.Exporter{URL: t.URL, Headers: t.Headers, Version: built, Client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}
		all := map[string]string{"service.name": "lockstep", "service.version": built}
		maps.Copy(all, t.Resource)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			x.Resource = append(x.Resource, trace.Attr{Key: key, Text: all[key]})
		}
		c.tracing = &engine.Tracing{Export: x.Export, Ratio: t.Ratio}
		return nil
	}
}

// Namespace selects a part of the store: engines of different namespaces do not see each other's
// definitions and instances. The default is "default".
func Namespace(name string) Option {
	return func(c *config) error {
		if name == "" {
			return &OptionError{"Namespace", errors.New("the name is empty")}
		}
		c.namespace = name
		return nil
	}
}

// Node is the name of this process among those that share a PostgreSQL store, and the address at
// which others reach it. The default is the name of the machine, without an address.
func Node(name, address string) Option {
	return set(func(c *config) { c.node, c.address = name, address })
}

// Timezone is the time zone of schedules that name none. The default is that of the machine.
func Timezone(name string) Option {
	return func(c *config) error {
		if _, err := time.LoadLocation(name); err != nil {
			return &OptionError{"Timezone", err}
		}
		c.timezone = name
		return nil
	}
}

// EventWindow is how long events are kept for instances that do not wait for them yet. The default
// is 24 hours.
func EventWindow(d time.Duration) Option {
	return positive("EventWindow", d, func(c *config) { c.eventWindow = d })
}

// Which fire times of a schedule are made up for if no engine was running: the latest, all or none.
const (
	MissedLatest = string(engine.MissedLatest)
	MissedAll    = string(engine.MissedAll)
	MissedNone   = string(engine.MissedNone)
)

// MissedFires says which missed fire times of a schedule are made up for. The default is
// [MissedLatest].
func MissedFires(which string) Option {
	return func(c *config) error {
		c.missedFires = engine.MissedFires(which)
		if err := c.missedFires.Check(); err != nil {
			return &OptionError{"MissedFires", err}
		}
		return nil
	}
}

// Retention deletes instances that ended longer ago than this. By default they are kept.
func Retention(age time.Duration) Option {
	return positive("Retention", age, func(c *config) { c.retention = age })
}

// FeedRetention limits how far back a stream can begin. By default there is no limit. The history of
// instances is not affected.
func FeedRetention(age time.Duration) Option {
	return positive("FeedRetention", age, func(c *config) { c.feedRetention = age })
}

// AuditRetention deletes entries of the audit log that are older. By default all stay.
func AuditRetention(age time.Duration) Option {
	return positive("AuditRetention", age, func(c *config) { c.auditRetention = age })
}

// JobRetention deletes the jobs of a workflow that did not change for this long: those in one of
// the states, or, without states, those that are over. The empty workflow stands for all.
func JobRetention(age time.Duration, workflow string, states ...string) Option {
	return positive("JobRetention", age, func(c *config) {
		c.jobRetention = append(c.jobRetention, engine.JobRetention{Workflow: workflow, States: states, After: age})
	})
}

// MaxCalls limits the function calls in flight. The default is 256.
func MaxCalls(n int) Option {
	return positive("MaxCalls", n, func(c *config) { c.maxCalls = n })
}

// MaxCallsPerEndpoint limits the calls in flight to one host, OpenAPI document or function. The
// default is 128.
func MaxCallsPerEndpoint(n int) Option {
	return positive("MaxCallsPerEndpoint", n, func(c *config) { c.perEndpoint = n })
}

// Redeploy allows a version to be deployed again with other content. It is for development: the
// instances that run keep the content that they began with.
func Redeploy() Option {
	return set(func(c *config) { c.redeploy = true })
}

// AllowExec lets definitions run programs on this machine: the tasks run: shell, script and container, and MCP
// servers that are programs. Use it only if you trust everyone who deploys definitions. Without it such a
// definition is refused.
func AllowExec() Option {
	return set(func(c *config) { c.allowExec = true })
}

// ProgramTimeout limits the time of a program that a task runs. The default is 10 minutes.
func ProgramTimeout(d time.Duration) Option {
	return positive("ProgramTimeout", d, func(c *config) { c.programTimeout = d })
}

// CallTimeout limits the time of a call, over HTTP or gRPC, whose definition and function state no timeout. The default
// is 30 seconds.
func CallTimeout(d time.Duration) Option {
	return positive("CallTimeout", d, func(c *config) { c.callTimeout = d })
}

// CallTimeoutMax limits the time of a call whose definition states a timeout that is longer than [CallTimeout]. The
// default is 10 minutes.
func CallTimeoutMax(d time.Duration) Option {
	return positive("CallTimeoutMax", d, func(c *config) { c.callTimeoutMax = d })
}

// RunScript lets definitions run JavaScript, with [AllowExec]. Each script runs in a process of its own: this program,
// started once more. Call it first in main. In such a process it runs the script and does not return.
func RunScript() { javascript.Main() }

// Source brings events from elsewhere, such as a broker, until the engine is closed.
func Source(s event.Source) Option {
	return present("Source", s != nil, func(c *config) { c.sources = append(c.sources, s) })
}

// OnRecord calls f for each record of an instance, after this process stored it. f runs on
// goroutines of the engine, several at a time, and must not block.
func OnRecord(f func(instance string, r api.Record)) Option {
	return set(func(c *config) { c.onRecord = f })
}

// OutboundAllow lets calls reach private addresses, each a CIDR or HOST[:PORT]. By default calls
// reach public addresses only, so that a definition cannot explore the network of its host.
func OutboundAllow(addresses ...string) Option {
	return func(c *config) error {
		c.outboundAllow = append(c.outboundAllow, addresses...)
		client, err := effecthttp.New(effecthttp.Options{Allow: c.outboundAllow})
		if err != nil {
			return &OptionError{"OutboundAllow", err}
		}
		client.Close()
		return nil
	}
}

// Logger is where the engine and its handlers log. By default they do not.
func Logger(log *slog.Logger) Option {
	return present("Logger", log != nil, func(c *config) { c.log = log })
}

// Tokens protects [Engine.Handler]: only requests with one of these tokens are served. The text is
// that of a tokens file; "lockstep token new" prints lines for it.
func Tokens(file []byte) Option {
	return func(c *config) error {
		tokens, err := server.ParseTokens(file)
		if err != nil {
			return &OptionError{"Tokens", err}
		}
		c.tokens = tokens
		return nil
	}
}

// BehindTLS says that a proxy in front of [Engine.Handler] and [Engine.DeviceHandler] ends TLS: cookies are only sent
// over TLS, and the last address in X-Forwarded-For, which the proxy must add, is the one that is logged.
func BehindTLS() Option {
	return func(c *config) error { c.behindTLS = true; return nil }
}

// ResumeRestored lets a store run that was restored from a backup. Without it, or "lockstep resume", Open refuses such
// a store: calls that were in flight at the time of the backup would be made again.
func ResumeRestored() Option { return set(func(c *config) { c.resume = true }) }

// Hosts are further host names to which [Engine.Handler] answers if there are no tokens.
func Hosts(names ...string) Option {
	return set(func(c *config) { c.hosts = append(c.hosts, names...) })
}

// Origins are other sites whose pages may send requests to [Engine.Handler], each as
// scheme://host[:port].
func Origins(origins ...string) Option {
	return func(c *config) error {
		for _, origin := range origins {
			if err := http.NewCrossOriginProtection().AddTrustedOrigin(origin); err != nil {
				return &OptionError{"Origins", err}
			}
		}
		c.origins = append(c.origins, origins...)
		return nil
	}
}

// Downloads serves the files of a folder below /download/ to devices and to operators.
func Downloads(folder string) Option {
	return func(c *config) error {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return &OptionError{"Downloads", err}
		}
		c.downloads = folder
		return root.Close()
	}
}

// MemoryLimit is the memory in use, in bytes, above which the handlers refuse expensive requests. By
// default there is no limit.
func MemoryLimit(bytes int64) Option {
	return positive("MemoryLimit", bytes, func(c *config) { c.memory = bytes })
}
