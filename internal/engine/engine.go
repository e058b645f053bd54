package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/redact"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Config says what an engine works with. Store is required; the rest has defaults.
type Config struct {
	Store     store.Store
	Clock     Clock          // RealClock
	Invoker   effect.Invoker // none: every call fails with FunctionNotFound
	Languages expr.Languages

	// Sink also receives the events that instances produce: each at least once, always with the
	// same source and id, those of one instance in order, and only after the event is committed. A
	// failed send is retried until it succeeds or its error has a method Refused() bool that
	// returns true: then the event is dropped and reported to OnError. nil: there is none.
	Sink func(ctx context.Context, e event.Event) error

	// Lifecycle receives the lifecycle events of instances of Open Workflow while Run runs: each at least
	// once, always with the same source and id, those of one instance in order. They begin with the first Run
	// that has it. Failed sends are retried as those to Sink. nil: there are none.
	Lifecycle func(ctx context.Context, e event.Event) error

	// Notify are the receivers of notices about instances that fail, or wait for too long, while Run runs.
	Notify []Notify

	// Tracing sends spans of what instances do, while Run runs. nil: none are sent.
	Tracing *Tracing

	Node store.Member // how this process is called among others; Calls is the engine's

	Namespace   string        // "default"
	EventSource string        // of produced events that name none: lockstep/NAMESPACE/DEFINITION
	Timezone    string        // of cron schedules that name none: local
	EventWindow time.Duration // how long events are kept: 24 h
	MissedFires MissedFires   // of cron schedules: the latest only

	MaxCalls            int  // in flight at a time: 256
	MaxCallsPerEndpoint int  // of them to one host, document or named function: 128
	Inline              bool // calls happen inside Poll, one by one: deterministic
	Redeploy            bool // a version may be deployed again with other content (dev)
	Quotas              Quotas
	HistoryRecords      int64 // after so many records of its history an instance is paused, each time: [HistoryRecords]
	ChunkBytes          int   // from which size on a value is stored once: [core.ChunkBytes]

	NewID func() string          // of instances started by hand
	Seed  func(id string) uint64 // of an instance's jitter: from its id

	// Told after the commit that made it so, in order for each instance; from several
	// goroutines at a time unless Inline. They must not wait for the engine.
	OnRecord func(id string, r core.Record)
	OnEmit   func(id string, e event.Event)
	OnError  func(error) // what goes wrong while Run runs
	OnFailed func(Failure)

	// Secrets returns the secrets that a definition lists: the same set until one of them changes.
	// nil: there are none.
	Secrets func(names []string) *redact.Set

	// Mocked says of a function that creates jobs (job:WORKFLOW) whether the Invoker
	// answers for it instead. nil: never.
	Mocked func(f *ir.Function) bool

	// Parks says of a function whether its calls wait for Answer, because the Invoker cannot carry them out.
	// nil: never.
	Parks func(f *ir.Function) bool

	// Housekeeping says which jobs are deleted after a time; none without it.
	Housekeeping []JobRetention
	// Retention is how long instances stay that are over, jobs among them, FeedRetention how
	// long the feed tells what happened; 0: for ever. Only the feed tells of these deletions.
	Retention, FeedRetention time.Duration

	AuditRetention time.Duration // how long entries of the audit log stay; 0: always

	// Probe is for simulations; leave it empty elsewhere.
	Probe Probe

	Limits *core.Limits
	// Stops names states before which instances pause, "*" all: for stepping through.
	Stops []string
}

// Probe lets a simulation run several requests on one thread and see what they commit. It needs Inline. Without a
// function the engine waits on its locks, and keeps no inputs.
type Probe struct {
	// Yield replaces waiting for a lock that another request holds. It lets other requests run; then the lock is
	// tried again.
	Yield func()
	// Fold is called right before the commit of a step, which may still fail, with the inputs that changed the
	// instance, in order. All of them happened at c.Instance.Updated. It must not change c.
	Fold func(c *store.Commit, inputs []core.Input)
}

// lock locks what is held while the store is asked.
func (p *Probe) lock(m interface {
	Lock()
	TryLock() bool
},
) {
	if p.Yield == nil {
		m.Lock()
		return
	}
	for !m.TryLock() {
		p.Yield()
	}
}

// readLock does so for reading.
func (p *Probe) readLock(m *sync.RWMutex) {
	if p.Yield == nil {
		m.RLock()
		return
	}
	for !m.TryRLock() {
		p.Yield()
	}
}

// Engine runs the instances of one namespace.
type Engine struct {
	cfg    Config
	store  store.Store
	shared store.Shared // the same, where other nodes use it too; else nil
	zone   *time.Location
	began  core.Time

	givenIDs bool                    // the host says how ids are made
	ids      atomic.Int32            // an idsKnown
	alone    bool                    // no other process writes to the store
	parking  func(*ir.Function) bool // parks, as the core asks it

	deploys   sync.Mutex   // what is deployed changes in the store and here together; before mu
	decisions sync.RWMutex // held by what depends on them, while it is stored; see undecided

	mu      sync.Mutex
	aliases int64 // counts changes of byID
	names   Names // of byID, when aliases was namedAt
	namedAt int64
	byID    map[aliasKey]*definition
	latest  map[string]latest        // by id, where that was asked for
	linked  map[string]*core.Program // by digest

	unloadable map[string]*UnloadableError // by digest
	starts     map[string][]*definition    // see startsByType; nil: to be made
	merged     map[string]expr.Value       // what start events merge into, by definition
	watches    map[string]*watch           // by instance that callers wait for
	policies   map[string]storedPolicy     // by definition; made anew, never changed

	paused, releases atomic.Int64 // how many of the policies pause, and were resumed and are not done with

	cluster   cluster
	live      cache
	calls     callTable
	begins    callsBegin
	outbox    outbox
	lifecycle *relay     // nil: there are no lifecycle events
	spans     *relay     // nil: they are not sent
	notices   [][]*relay // by receiver
	damages   damages
	house     house
	chains    chains
	work      []source // all kinds of it
	troubles  troubles
	crew      crew
	watchdog  watchdog
	suspects  suspects
	stored    atomic.Int64  // counts what the store took
	signal    chan struct{} // something may be there to do
	changes   changes
	figures   Figures
	tallies   tallies
	quotas    quotas
	noting    chan struct{} // has a place for the one trigger that is being noted
	abort     sync.Once
	aborted   chan struct{} // closed by Abort

	pollLock     sync.Mutex
	storedBefore int64     // what stored was when the pass before ended
	failed       []failure // that are not judged yet
	judgeBy      core.Time // when they are at the latest
	maxPasses    int
}

const defaultEventWindow = 24 * time.Hour

// New returns an engine over what the store holds.
func New(cfg Config) (*Engine, error) {
	if cfg.Store == nil {
		return nil, errors.New("engine: a store is required")
	}
	shared, _ := cfg.Store.(store.Shared)
	switch {
	case cfg.Clock != nil:
	case shared != nil:
		cfg.Clock = sharedClock{store: shared}
	default:
		cfg.Clock = RealClock{}
	}
	cfg.Namespace = cmp.Or(cfg.Namespace, "default")
	cfg.EventWindow = cmp.Or(max(cfg.EventWindow, 0), defaultEventWindow)
	cfg.MissedFires = cmp.Or(cfg.MissedFires, MissedLatest)
	cfg.HistoryRecords = cmp.Or(cfg.HistoryRecords, HistoryRecords)
	cfg.ChunkBytes = cmp.Or(cfg.ChunkBytes, core.ChunkBytes)
	if err := cfg.MissedFires.Check(); err != nil {
		return nil, fmt.Errorf("engine: missed fires: %w", err)
	}
	if err := cmp.Or(checkRetention(&cfg), checkNotify(&cfg)); err != nil {
		return nil, err
	}
	if cfg.MaxCalls <= 0 {
		cfg.MaxCalls = 256
	}
	if cfg.MaxCallsPerEndpoint <= 0 {
		cfg.MaxCallsPerEndpoint = 128
	}
	givenIDs := cfg.NewID != nil
	if !givenIDs {
		cfg.NewID = func() string { return strings.ToLower(rand.Text())[:plainID] }
	}
	if cfg.Seed == nil {
		cfg.Seed = seedOf
	}
	e := &Engine{
		cfg: cfg, store: cfg.Store, shared: shared, zone: time.Local, givenIDs: givenIDs, alone: shared == nil,
		byID: map[aliasKey]*definition{}, latest: map[string]latest{}, linked: map[string]*core.Program{}, unloadable: map[string]*UnloadableError{},
		merged: map[string]expr.Value{}, watches: map[string]*watch{}, policies: map[string]storedPolicy{},
		troubles: troubles{items: map[taskKey]trouble{}},
		signal:   make(chan struct{}, 1), noting: make(chan struct{}, 1), aborted: make(chan struct{}), maxPasses: maxPasses,
	}
	if cfg.Timezone != "" {
		zone, err := time.LoadLocation(cfg.Timezone)
		if err != nil {
			return nil, fmt.Errorf("engine: time zone: %w", err)
		}
		e.zone = zone
	}
	e.parking = e.parks
	e.figures.init()
	e.tallies.init()
	e.quotas.Quotas = cfg.Quotas
	e.work = e.sources()
	e.live.init(liveCapacity)
	e.live.yield = cfg.Probe.Yield
	e.crew.init()
	e.watchdog.init()
	e.suspects.all = map[string]bool{}
	e.outbox.init()
	e.house.init(&cfg)
	e.calls.init(cfg.MaxCallsPerEndpoint)
	e.outbox.mine = e.has
	if cfg.Lifecycle != nil {
		e.lifecycle = e.lifecycleRelay()
	}
	if cfg.Tracing != nil {
		e.spans = e.spanRelay()
	}
	for i := range cfg.Notify {
		e.notices = append(e.notices, e.noticeRelays(&cfg.Notify[i]))
	}
	if err := e.recover(context.Background()); err != nil {
		return e, err
	}
	e.began = e.now()
	return e, nil
}

// recover reads what an earlier process left. Messages, timers and events are found
// by Poll; calls that had no answer are made again, under the same keys.
func (e *Engine) recover(ctx context.Context) error {
	if e.shared != nil { // its calls are those of the parts that it will have
		if err := e.upToDate(ctx); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
		return nil
	}
	if err := e.readDefinitions(ctx, 0); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if err := e.readSuspects(ctx); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	_ = e.pauseSuspects(ctx, e.report) // before anybody can do anything with them
	calls, err := e.store.Calls(ctx, "")
	if err = e.withoutDamage(ctx, err); err != nil {
		return fmt.Errorf("engine: read calls: %w", err)
	}
	e.calls.enqueue(calls)
	return nil
}

// Languages are the expression languages that definitions can use here.
func (e *Engine) Languages() expr.Languages { return e.cfg.Languages }

// now is the time as the core counts it.
func (e *Engine) now() core.Time { return core.TimeOf(e.cfg.Clock.Now()) }

// SetStartInput sets the data that start events of a definition merge into. It is the workflow
// input of the instances that they start, so it must match the definition's schema. The default,
// {}, is not checked.
func (e *Engine) SetStartInput(ctx context.Context, definition string, input expr.Value) error {
	d, err := e.find(ctx, definition, "")
	if err != nil {
		return err
	}
	if len(d.prog.Start.Events) > 0 {
		if err := guard(func() error { return checkInput(d, input) }); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.merged[definition] = input
	return nil
}

func (e *Engine) startInput(definition string) expr.Value {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v, ok := e.merged[definition]; ok {
		return v
	}
	return expr.EmptyObject
}

// wakeUp tells Run that there may be something to do.
func (e *Engine) wakeUp() {
	select {
	case e.signal <- struct{}{}:
	default:
	}
}

func (e *Engine) report(err error) {
	if err != nil && e.cfg.OnError != nil {
		e.cfg.OnError(err)
	}
}

func seedOf(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// deriveID makes an id that is the same for the same cause, so that creating twice
// creates once. With the kind of cause before it, no one can choose it by hand; instances have its plain form.
func deriveID(kind string, parts ...string) string {
	var room [192]byte
	text := appendPart(room[:0], kind)
	for _, p := range parts {
		text = appendPart(text, p)
	}
	sum := sha256.Sum256(text)
	text = append(append(text[:0], kind...), idSeparator...)
	from := len(text)
	return string(lowerHex32.AppendEncode(text, sum[:])[:from+26])
}

func appendPart(dst []byte, p string) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(len(p))), p...)
}

var lowerHex32 = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv")

// plainID is how many characters an id has that nobody chose. There are 32 of them: two of a billion ids
// are the same with a probability of one in two million. As any id of this form can be chosen, too, whoever derives
// one looks at what has it: sameStart for a key, fired for a schedule. Those of events need not: the nanosecond at
// which an event came is in them, so nobody knows them beforehand.
const plainID = 16

// plain is the form that people see of a derived id.
func plain(derived string) string {
	_, hash, _ := strings.Cut(derived, idSeparator)
	return hash[:plainID]
}
