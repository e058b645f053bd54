// Package lockstep runs declarative workflows durably inside a Go program.
//
// A workflow is a document: a CNCF Serverless Workflow definition, or a job workflow in the format
// of wfx. It names the functions that it calls and the events that it waits for. An [Engine] keeps
// definitions and instances in a store, and continues every instance after a crash from the last
// step that was stored.
//
//	engine, err := lockstep.Open(ctx, "sqlite:orders.db", lockstep.Func("reserve", reserve))
//	if err != nil { … }
//	defer engine.Close()
//	_, err = engine.Deploy(ctx, lockstep.File(os.DirFS("workflows"), "order.yaml"))
//	id, err := engine.Start(ctx, "order", Order{Item: "book"}, lockstep.Key("order-17"))
//	in, err := engine.Wait(ctx, id)
//	shipped, err := lockstep.Output[Shipment](in)
//
// # Stores
//
// The address of a store says what survives. sqlite:FILE is one file for one process. Any number of
// processes share postgres://USER@HOST/DATABASE: each answers every request, and they divide the
// work. memory: forgets everything at the end, which suits tests.
//
// # Functions
//
// A function of a definition is an HTTP endpoint, an operation of an OpenAPI document, or a Go
// function that [Func] registers under the name that the definition uses. The engine calls it at
// least once for every call that an instance decided on: after a crash it may call it again. Every
// delivery of one call has the same [CallKey], so that the function can recognise a repetition.
// Retries, timeouts and the handling of errors are in the definition.
//
// # What is acknowledged
//
// When Deploy, Start, Send or an intervention returns without an error, the store holds it, and no
// crash undoes it. An error of the code [api.CodeUncertain] says that the answer of the store was
// lost: repeat the request, with the same [Key] if it starts something.
//
// # Errors
//
// An operation that is refused returns an [*Error] with a code, the same that a server answers over
// HTTP. [Engine.Client] has the operations of the HTTP API for which this package has no method.
//
// The package is v0, like the packages api, client, effect, event and expr beside it: names may
// change between two releases. Everything else is internal.
package lockstep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/schemas"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/stores"
	"github.com/lockstep-workflows/lockstep/internal/ui"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// Engine runs the workflows of one store. It is safe for concurrent use.
type Engine struct {
	engine    *engine.Engine
	store     stores.Opened
	outbound  *effecthttp.Client
	calls     *route.Router
	public    *server.Server // serves Handler and DeviceHandler
	private   *server.Server // serves Client, whose requests need no token
	client    *client.Client
	sources   []event.Source
	downloads *server.Downloads
	tokens    *server.Tokens  // nil: there are none
	open      context.Context // ends when Close begins
	stop      context.CancelFunc
	stopped   chan error
	close     func() error // runs once
}

// Open opens the store at an address, creates what is missing in it, and continues the instances
// that it holds. The caller must [Engine.Close] the engine. ctx bounds only the opening.
func Open(ctx context.Context, address string, options ...Option) (*Engine, error) {
	c, err := configure(options)
	if err != nil {
		return nil, err
	}
	at, err := stores.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("lockstep: store address: %w", err)
	}
	e := &Engine{stopped: make(chan error, 1)}
	e.close = sync.OnceValue(e.closeAll)
	e.open, e.stop = context.WithCancel(context.Background())
	if err := e.openAll(ctx, at, c); err != nil {
		e.stop()
		_ = e.release() // the first error says more
		return nil, fmt.Errorf("lockstep: open %s: %w", at, err)
	}
	go func() { e.stopped <- e.run(e.open, c.log) }()
	return e, nil
}

// run runs the engine and its sources until ctx ends. The sources end first.
func (e *Engine) run(ctx context.Context, log *slog.Logger) error {
	rest, stop := context.WithCancel(context.WithoutCancel(ctx))
	idle := make(chan error, 1)
	go func() { idle <- e.engine.Run(rest) }()
	var all sync.WaitGroup
	for _, source := range e.sources {
		all.Go(func() {
			if err := source.Run(ctx, e.ingest); err != nil {
				log.Error("the source ended early", "source", source.String(), "error", err)
			}
			f := source.Figures()
			log.Info("the source ends", "source", source.String(), "taken", f.Taken, "refused", f.Refused, "failed", f.Failed)
		})
	}
	<-ctx.Done()
	all.Wait()
	stop()
	return <-idle
}

// ingest stores an event of a source, and distinguishes refusals from failures.
func (e *Engine) ingest(ctx context.Context, ev event.Event) error {
	_, err := e.engine.Send(ctx, ev)
	var conflict *engine.EventConflictError
	var bad *event.AttributeError
	if errors.As(err, &conflict) || errors.As(err, &bad) {
		return &event.RefusedError{Err: err}
	}
	return err
}

func (e *Engine) openAll(ctx context.Context, at stores.Address, c *config) (err error) {
	e.outbound, err = effecthttp.New(effecthttp.Options{
		Allow: c.outboundAllow, Version: version.Read().Version, Secrets: c.secrets.Get, Holds: c.secrets.Holds,
		Limits: effecthttp.Limits{Timeout: c.callTimeout, MaxTimeout: c.callTimeoutMax},
	})
	if err != nil {
		return err
	}
	e.store, err = at.Open(ctx, stores.Options{Namespace: c.namespace, Log: c.log, Resume: c.resume})
	if err != nil {
		return err
	}
	e.calls = c.router(e.outbound)
	e.engine, err = engine.New(c.engine(e.store.Store, c.invoker(e.calls)))
	if err != nil {
		return err
	}
	e.sources = c.sources
	return e.serve(c)
}

// engine is the configuration of the engine.
func (c *config) engine(over store.Store, invoker effect.Invoker) engine.Config {
	out := engine.Config{
		Store: over, Node: store.Member{Name: c.node, Version: version.Read().Version, Address: c.address},
		Invoker: invoker, Sink: c.sink, Lifecycle: c.lifecycle, Notify: c.notify, Tracing: c.tracing, Languages: languages.All(), Namespace: c.namespace, Timezone: c.timezone,
		EventWindow: c.eventWindow, MissedFires: c.missedFires, Retention: c.retention, FeedRetention: c.feedRetention, AuditRetention: c.auditRetention,
		Housekeeping: c.jobRetention, MaxCalls: c.maxCalls, MaxCallsPerEndpoint: c.perEndpoint, Quotas: c.quotas.engine(), Redeploy: c.redeploy, Secrets: c.secrets.For,
		OnError:  func(err error) { c.log.Error("engine", "error", err) },
		OnFailed: (&failureLog{log: c.log}).add,
	}
	out.Parks = c.parks
	if c.onRecord != nil {
		out.OnRecord = func(id string, r core.Record) { c.onRecord(id, server.ViewRecord(0, &r)) }
	}
	return out
}

// serve makes the handlers and the client.
func (e *Engine) serve(c *config) (err error) {
	built := version.Read()
	cfg := server.Config{
		Engine: e.engine, Registry: dialects.All(), Outbound: e.outbound, AllowExec: c.allowExec, Functions: c.names, CheckCalls: c.checkCalls, Log: c.log,
		Version: built.Version, Commit: built.Revision, Limits: server.Limits{Memory: c.memory},
	}
	if e.private, err = server.New(cfg); err != nil {
		return err
	}
	e.client, err = client.New(client.Options{
		URL:      "http://localhost",
		HTTP:     &http.Client{Transport: &inProcess{e.private.Handler(), e.mayUse}},
		Attempts: 1, // there is no network that could fail
	})
	if err != nil {
		return err
	}
	cfg.Tokens = c.tokens
	cfg.Quotas = c.quotas.server()
	e.tokens = c.tokens
	cfg.Hosts = c.hosts
	cfg.Origins, cfg.BehindTLS = c.origins, c.behindTLS
	if c.crl != nil {
		cfg.CRL = c.crl
	}
	cfg.Sources = c.sources
	cfg.Page = ui.Handler()
	cfg.PageFile = ui.HasFile
	cfg.Schemas = schemas.Served()
	devices := server.Devices{Tokens: c.tokens, Certificates: c.certificates}
	if devices != (server.Devices{}) {
		cfg.Client = devices.Client
	}
	if c.downloads != "" {
		if e.downloads, err = server.NewDownloads(c.downloads, cfg.Client); err != nil {
			return err
		}
		cfg.Downloads = e.downloads
	}
	e.public, err = server.New(cfg)
	return err
}

// Close stops the engine: it ends streams and waits, lets the steps and calls in flight finish, for
// ten seconds at most, and closes the store. Instances that have not ended continue with the next
// Open, and calls that did not finish are made again. Later operations fail with
// [ErrClosed].
func (e *Engine) Close() error { return e.close() }

// Shutdown is Close, except that it gives up the calls in flight when ctx ends.
func (e *Engine) Shutdown(ctx context.Context) error {
	defer context.AfterFunc(ctx, e.engine.Abort)()
	return e.close()
}

// mayUse is [ErrClosed] once Close was called.
func (e *Engine) mayUse() error {
	if e.open.Err() != nil {
		return closed
	}
	return nil
}

// whileOpen is ctx, but ends also when Close begins: then its cause is [ErrClosed].
func (e *Engine) whileOpen(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	keep := context.AfterFunc(e.open, func() { cancel(ErrClosed) })
	return ctx, func() {
		keep()
		cancel(nil)
	}
}

func (e *Engine) closeAll() error {
	e.stop()
	e.public.Stop()
	e.private.Stop()
	return errors.Join(<-e.stopped, e.release())
}

// release closes what was opened.
func (e *Engine) release() error {
	var err error
	if e.downloads != nil {
		err = e.downloads.Close()
	}
	if e.calls != nil {
		e.calls.Close()
	}
	if e.outbound != nil {
		e.outbound.Close()
	}
	if e.store.Close != nil {
		err = errors.Join(err, e.store.Close())
	}
	return err
}

// Handler serves the HTTP API of Lockstep, the API of wfx for operators, and the page for people.
// Without [Tokens] everyone who reaches it may do everything, so it answers only to loopback names
// and those of [Hosts]. Mount it at the root of a host.
func (e *Engine) Handler() http.Handler { return e.public.Handler() }

// DeviceHandler serves the API of wfx for devices, which work on their own jobs.
func (e *Engine) DeviceHandler() http.Handler { return e.public.South() }

// Listeners are where [Engine.Serve] serves its handlers.
type Listeners struct {
	Handler []net.Listener // of Handler
	Devices []net.Listener // of DeviceHandler
}

// Serve serves the handlers on the listeners until ctx ends or the engine is closed. Then it takes no
// more requests, ends streams and finishes the requests in flight. It closes the listeners, but not the
// engine. It is for one call: afterwards the handlers end every stream at once.
func (e *Engine) Serve(ctx context.Context, on Listeners) error {
	ctx, cancel := e.whileOpen(ctx)
	defer cancel()
	return e.public.ServeListeners(ctx, server.Listeners{North: on.Handler, South: on.Devices})
}

// SetTokens replaces the tokens that [Tokens] set, for requests from now on. If the text is wrong, or the engine
// was opened without tokens, nothing changes.
func (e *Engine) SetTokens(file []byte) error {
	if e.tokens == nil {
		return errors.New("lockstep: the engine was opened without tokens")
	}
	tokens, err := server.ParseTokens(file)
	if err != nil {
		return fmt.Errorf("lockstep: %w", err)
	}
	e.public.SetTokens(tokens)
	return nil
}

// SetOutboundAllow replaces the addresses that [OutboundAllow] set, for connections from now on. If one is wrong,
// nothing changes.
func (e *Engine) SetOutboundAllow(allow ...string) error {
	if err := e.outbound.SetAllow(allow); err != nil {
		return fmt.Errorf("lockstep: %w", err)
	}
	return nil
}

// Client is a client of this engine, without a network in between. It has all operations of the
// HTTP API: lists and counts, definitions and their diagrams, kept events, open calls, bulk
// interventions, statistics.
func (e *Engine) Client() *client.Client { return e.client }
