package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Options adjust a database. The zero value is right for most.
type Options struct {
	Node        string        // what this process is called, as people see it
	Schema      string        // the schema that has the tables: the URL's, or "lockstep"
	Connections int           // at most: the URL's pool_max_conns, or 8
	Patience    time.Duration // how long a write is tried again while the database is away: 5s
	Shards      []int16       // of whose instances work is listed; nil: of those that Join gives, or all
	Lease       time.Duration // how long a node has its part of the work without being heard of: 900ms
	NoHints     bool          // nodes do not tell each other that there is something to look at; also hints=off in the URL
	KeepSchema  bool          // an older one is refused, not migrated
	Log         *slog.Logger  // for operators; nil: no log

	answer    time.Duration         // how long a connection may be silent: answerLimit
	outcome   time.Duration         // outcomeLimit
	migration time.Duration         // migrateLimit
	upgrade   time.Duration         // upgradeWait
	steps     []migration           // tests have a next version
	configure func(*pgxpool.Config) // tests watch connections
	house     housekeeping          // generationRows and so on
	looks     int                   // maxLooks; tests: -1 for none without the lock
	gather    bool                  // tests: a commit that is alone is written as several are
	spoil     func() error          // tests: not nil for an attempt that is to be repeated although it went well
}

const (
	defaultSchema      = "lockstep"
	defaultConnections = 8
	defaultPatience    = 5 * time.Second

	// connectTimeout bounds how long a database that does not answer is waited for.
	connectTimeout = 3 * time.Second
)

// DB is a database. Several processes may have it open.
type DB struct {
	pool     *pgxpool.Pool
	answers  answers // on the pool's connections
	opts     Options
	prefix   string // of names in statements
	names    sync.Map
	prepares atomic.Bool // see mayPrepare
	has      newFunctions
	shards   atomic.Pointer[[]int16] // see own

	outgrown atomic.Pointer[error]    // not nil: the schema is that of a later version
	older    atomic.Pointer[[]string] // not nil: a file of the schema waits until these nodes are gone
	since    atomic.Int64             // the oldest schema whose programs work, as last read

	mu     sync.Mutex // for what follows
	spaces map[string]*space
	kinds  map[kindKey]int32
	closed bool
	flying sync.WaitGroup

	health store.WriteHealth

	forgot atomic.Int64 // when outcomes were forgotten, by time.Now
	house  atomic.Int64 // when house is kept next, by time.Now; see keepHouseSometimes
}

// kindKey is what instances are instances of.
type kindKey struct {
	ns                          int32
	definition, version, digest string
}

// Open connects to a database and brings its schema to this version's. The URL is that of
// libpq, with an optional schema=, and hints=off.
func Open(ctx context.Context, address string, opts Options) (*DB, error) {
	db, err := connect(ctx, address, opts)
	if err != nil {
		return nil, err
	}
	err = db.migrate(ctx, db.opts.steps)
	if err == nil {
		err = db.mayPrepare(ctx, address)
	}
	if err != nil {
		db.pool.Close()
		return nil, fmt.Errorf("open PostgreSQL at %s: %w", db.pool.Config().ConnConfig.Host, err)
	}
	if older := db.older.Load(); older != nil {
		db.info("a change of the schema waits until servers of an older version are gone (upgrade-wait)", "servers", *older)
	}
	return db, nil
}

// connect opens the connections to a database.
func connect(ctx context.Context, address string, opts Options) (*DB, error) {
	address, err := opts.split(address)
	if err != nil {
		return nil, err
	}
	if err := opts.defaults(); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %s", reason(err))
	}
	if host := unprotected(&config.ConnConfig.Config); host != "" && opts.Log != nil {
		opts.Log.Warn("the connections to PostgreSQL on another machine may be in plain text", "host", host, "hint", "sslmode=verify-full in the address")
	}
	if opts.Connections > 0 {
		config.MaxConns = int32(opts.Connections)
	} else if !strings.Contains(address, "pool_max_conns") {
		config.MaxConns = defaultConnections
	}
	if !strings.Contains(address, "connect_timeout") {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(address, "default_query_exec_mode") {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe // a pooler may stand between; see mayPrepare
	}
	db := &DB{opts: opts, prefix: pgx.Identifier{opts.Schema}.Sanitize() + ".", spaces: map[string]*space{}, kinds: map[kindKey]int32{}}
	db.has = functionsOf(opts.steps)
	db.answers.limit = opts.answer
	db.answers.watch(config)
	if opts.configure != nil {
		opts.configure(config)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	db.pool = pool
	db.answers.pool.Store(pool)
	db.listOnly(opts.Shards)
	return db, nil
}

func (o *Options) defaults() error {
	o.Schema = cmp.Or(o.Schema, defaultSchema)
	o.Patience = cmp.Or(max(o.Patience, 0), defaultPatience)
	o.Lease = cmp.Or(max(o.Lease, 0), defaultLease)
	o.answer = cmp.Or(max(o.answer, 0), answerLimit)
	o.outcome = cmp.Or(max(o.outcome, 0), outcomeLimit)
	o.migration = cmp.Or(max(o.migration, 0), migrateLimit)
	o.upgrade = cmp.Or(max(o.upgrade, 0), upgradeWait)
	o.looks = cmp.Or(o.looks, maxLooks)
	if o.steps == nil {
		o.steps = migrations
	}
	o.house.defaults()
	if !schemaName.MatchString(o.Schema) {
		return fmt.Errorf("open PostgreSQL: schema %q: a name has small letters, digits and underscores, at most 63", o.Schema)
	}
	for _, n := range o.Shards {
		if n < 0 || n >= shardCount {
			return fmt.Errorf("open PostgreSQL: there is no shard %d", n)
		}
	}
	return nil
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// split takes our own parameters out of a URL.
func (o *Options) split(address string) (rest string, err error) {
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return "", errors.New("open PostgreSQL: an address like postgres://user@host/database is needed")
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("open PostgreSQL: the address is no URL") // it may have a password
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Fragment != "" { // not left out: sslmode may be in it
		return "", errors.New("open PostgreSQL: the parameters of the address cannot be read: they are separated by &, and a ;, # or % inside of one is written %3B, %23 or %25")
	}
	if o.Schema == "" {
		o.Schema = q.Get("schema")
	}
	switch hints := q.Get("hints"); hints {
	case "", "on":
	case "off":
		o.NoHints = true
	default:
		return "", fmt.Errorf("open PostgreSQL: hints=%s: it is on or off", hints)
	}
	q.Del("schema")
	q.Del("hints")
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// Close waits for what is being written and closes the connections.
func (db *DB) Close() error {
	db.mu.Lock()
	already := db.closed
	db.closed = true
	db.mu.Unlock()
	if already {
		return nil
	}
	db.flying.Wait()
	db.pool.Close()
	return nil
}

// enter begins a write or a read that Close waits for; the caller leaves with db.flying.Done.
func (db *DB) enter() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return errClosed
	}
	if old := db.outgrown.Load(); old != nil {
		return *old
	}
	db.flying.Add(1)
	return nil
}

var errClosed = errors.New("the database is closed")

// Namespace is the store of a namespace. Its first use makes it.
func (db *DB) Namespace(name string) store.Store {
	db.mu.Lock()
	defer db.mu.Unlock()
	sp := db.spaces[name]
	if sp == nil {
		sp = newSpace(db, name)
		db.spaces[name] = sp
	}
	return &Store{db, sp}
}

// Store keeps one namespace of a database.
type Store struct {
	db *DB
	*space
}

var _ store.Store = (*Store)(nil)

// space is what is known of a namespace in memory: only what never changes, and what is
// compared before it is relied on.
type space struct {
	db      *DB
	name    string
	commits gatherer[*commitRequest]
	routes  gatherer[*routeRequest]

	instances gatherer[*lookup[instanceAnswer]]
	inboxes   gatherer[*lookup[[]store.Message]]

	queue queue

	leases leases
	hints  hints
	silent atomic.Bool // tests let a node fall silent
	doubts doubts      // which calls were handed over
	counts reading     // of deployments

	unfolded atomic.Int64 // transactions, see foldSometimes
	folded   atomic.Int64 // of them when Purge last added up; of none it does so at first

	mu     sync.Mutex
	number int32 // 0: not known yet
	known  *known
	states map[stateKey]bool
}

func newSpace(db *DB, name string) *space {
	sp := &space{db: db, name: name}
	sp.commits.run, sp.routes.run = sp.commitBatch, sp.routeBatch
	sp.commits.db, sp.routes.db = db, db
	sp.commits.several, sp.routes.several = sp.leases.several, sp.leases.several
	sp.instances.run, sp.inboxes.run = sp.readInstances, sp.readInboxes
	sp.instances.db, sp.inboxes.db = db, db
	sp.counts.read, sp.counts.limit = sp.readDeployments, max(db.opts.Patience, db.opts.answer)
	sp.hints.init()
	sp.queue.unknown()
	return sp
}

// ns is the number of the namespace.
func (sp *space) ns(ctx context.Context) (int32, error) {
	sp.mu.Lock()
	n := sp.number
	sp.mu.Unlock()
	if n != 0 {
		return n, nil
	}
	if !storable(sp.name) {
		return 0, fmt.Errorf("namespace %q: %w", sp.name, store.ErrText)
	}
	// Looked up first, because an insert that does nothing still uses up a number.
	err := sp.db.retry(ctx, func(ctx context.Context) error {
		err := sp.db.one(ctx, "SELECT ns FROM ~.namespaces WHERE name = $1", []any{sp.name}, &n)
		if errors.Is(err, pgx.ErrNoRows) {
			err = sp.db.one(ctx, "INSERT INTO ~.namespaces (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING ns", []any{sp.name}, &n)
		}
		return err
	})
	if err != nil {
		sp.db.note(err)
		return 0, fmt.Errorf("namespace %s: %w", sp.name, err)
	}
	sp.mu.Lock()
	sp.number = n
	sp.mu.Unlock()
	return n, nil
}

// kind is the number of what an instance is an instance of.
func (sp *space) kind(ctx context.Context, ns int32, in *store.Instance) (int32, error) {
	key := kindKey{ns, in.Definition, in.Version, in.Digest}
	sp.db.mu.Lock()
	n := sp.db.kinds[key]
	sp.db.mu.Unlock()
	if n != 0 {
		return n, nil
	}
	args := []any{ns, key.definition, key.version, key.digest}
	err := sp.db.retry(ctx, func(ctx context.Context) error {
		err := sp.db.one(ctx, "SELECT kind FROM ~.kinds WHERE ns = $1 AND definition = $2 AND version = $3 AND digest = $4", args, &n)
		if errors.Is(err, pgx.ErrNoRows) {
			err = sp.db.one(ctx, "INSERT INTO ~.kinds (ns, definition, version, digest) VALUES ($1, $2, $3, $4) "+
				"ON CONFLICT (ns, definition, version, digest) DO UPDATE SET version = excluded.version RETURNING kind", args, &n)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("instance %s: %w", in.ID, err)
	}
	if within(ctx) != nil {
		return n, nil // it may be rolled back
	}
	sp.db.mu.Lock()
	defer sp.db.mu.Unlock()
	if len(sp.db.kinds) >= maxKinds {
		clear(sp.db.kinds)
	}
	sp.db.kinds[key] = n
	return n, nil
}

// maxKinds is how many kinds are remembered.
const maxKinds = 64 << 10
