package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// Errors that callers tell apart; methods may wrap them.
var (
	ErrNotFound  = errors.New("not found")
	ErrConflict  = errors.New("changed meanwhile") // the revision, or the alias of a definition
	ErrDuplicate = errors.New("duplicate")         // an event of the same source and id is known
	ErrOutdated  = errors.New("definitions changed meanwhile")
	ErrLive      = errors.New("not over yet")  // an instance that is to be deleted
	ErrFull      = errors.New("no space left") // nothing was stored; later it may be
	ErrText      = errors.New("it has a zero byte, or is no UTF-8, and is not stored")
	ErrDamaged   = errors.New("damaged")           // what is stored cannot be read; it will not be later
	ErrUncertain = errors.New("outcome not known") // it was stored, or not: who asks later sees which

	// ErrMoved: nothing is acknowledged until the process is started again.
	ErrMoved = errors.New("the files of the store were deleted, moved or replaced while it is in use")
)

// DamagedError lists the rows of a list that are damaged. The list has the others.
type DamagedError struct{ Rows []DamagedRow }

// DamagedRow is one of them.
type DamagedRow struct {
	Seq      int64
	Instance string // whose it is; "": no instance's
	Err      error
}

// Add adds a row.
func (e *DamagedError) Add(seq int64, instance string, err error) {
	e.Rows = append(e.Rows, DamagedRow{seq, instance, err})
}

// Err is the error of a list: nil where nothing in it is damaged.
func (e *DamagedError) Err() error {
	if len(e.Rows) == 0 {
		return nil
	}
	return e
}

func (e *DamagedError) Error() string { return errors.Join(e.Unwrap()...).Error() }

func (e *DamagedError) Unwrap() (out []error) {
	for _, r := range e.Rows {
		out = append(out, r.Err)
	}
	return out
}

// InUseError says that a definition cannot go: instances need its content.
type InUseError struct {
	Definition, Version string
	Instances           int64
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("definition %s version %q is in use by %d instances", e.Definition, e.Version, e.Instances)
}

// NoContentError says that something was to refer to the content of a definition that is
// not there, as when the definition is deleted meanwhile. Nothing was stored.
type NoContentError struct{ Definition, Digest string }

func (e *NoContentError) Error() string {
	return fmt.Sprintf("definition %s has no content %q any more", e.Definition, e.Digest)
}

// Store keeps one namespace.
type Store interface {
	// Commit writes the outcome of a step.
	Commit(ctx context.Context, c Commit) error

	// Ingest takes an event and routes it. The event gets its Seq before the router
	// sees it by View.Event. Where source and id are known it returns the earlier
	// event and ErrDuplicate, unless the time of that is up. The emit with that Seq, if
	// not 0, is done in both cases. An error of the router is returned, and nothing has
	// happened.
	Ingest(ctx context.Context, e Event, emit int64, route func(Event, View) (Routing, error)) (Event, error)

	// Route decides again about events that are kept. An error of the router is
	// returned, and nothing has happened.
	Route(ctx context.Context, route Router) error

	// Writable says why writes fail; nil: they do not. It tells how the last write ended,
	// and where that is longer ago than a moment, it writes something to find out.
	Writable(ctx context.Context) error

	Definitions
	Work
	Queries
	Retention
	Suspects
}

// Router decides about events inside a transaction.
type Router func(View) (Routing, error)

// View is what a Router may look at.
type View interface {
	// Event is false also for one that is damaged.
	Event(seq int64) (Event, bool)

	// Subscriptions lists the open ones that may match an event, oldest instance
	// first, then by ticket. A store may leave out those that do not match, and only
	// those.
	Subscriptions(e event.Event) []Subscription

	// Near lists a few open subscriptions for the event's type, matching or not, to tell
	// people what differed. Which ones is the store's choice; their order is the same.
	Near(e event.Event, limit int) []Subscription

	// Fresh lists the open subscriptions of an instance that were not compared with
	// kept events yet, by ticket. A store may compare a new one itself with the commit
	// that adds it, and leave it out where no event is kept that Kept would list.
	Fresh(instance string) []Subscription

	// Kept lists the events that a subscription may still get, oldest first: none
	// that its instance took or produced, or that its ticket refused. A store may
	// leave out those that do not match and, where nothing in the filter is fixed,
	// those that came before the instance; only those.
	Kept(s Subscription) []Event

	// Owner is the oldest instance of a definition that is not over and has all these
	// correlation attributes fixed to these values. One whose row is damaged counts as having
	// what it is found by, here and for Got: else another would be started in its place.
	Owner(definition string, keys []core.Key) (Instance, bool)

	// Got reports whether an instance of a definition that has all these correlation
	// attributes fixed to these values got an event and did not refuse it. It may be
	// over. Of one that was deleted nothing is known; without keys it is none.
	Got(event int64, definition string, keys []core.Key) bool

	// Gatherings lists the open ones of a definition's content that have this key or
	// none, oldest first.
	Gatherings(definition, digest, key string) []Gathering

	// Damaged is a *DamagedError of what was damaged of all that the methods above looked at,
	// nil where nothing was. They leave it out, but for instances.
	Damaged() error
}

// Definitions are stored by digest, and found by the alias (id, version). One
// version of a definition is the current one.
type Definitions interface {
	// PutDefinition stores a definition and makes it current. The schedule replaces
	// the definition's, unless that is of the same content already; nil removes it.
	// The time of gatherings of another content of the definition is up, see Gathering.
	// A program that is stored under its digest already stays as it is, unless it is damaged. Where the alias
	// has the same content, so does the time of its deployment. Where it has another one, the alias moves if move is set, else it fails with ErrConflict.
	PutDefinition(ctx context.Context, d Definition, s *Schedule, move bool) (Definition, error)

	// Definition finds by alias; version "" is the current one.
	Definition(ctx context.Context, id, version string) (Definition, error)

	// Content finds by digest, also what no alias leads to any more.
	Content(ctx context.Context, digest string) (Definition, error)

	// ListDefinitions lists all versions by id, then in order of deployment.
	ListDefinitions(ctx context.Context) ([]Definition, error)

	// DeleteDefinition removes an alias, and its content where no other alias leads to
	// it. While instances refer to the content it fails with *InUseError. Where the
	// version was the current one, its schedule ends, and of the others the one that was
	// deployed last becomes current and is returned; it gets the schedule that next
	// gives, which is called in the transaction and calls no method of the store.
	DeleteDefinition(ctx context.Context, id, version string, next func(Definition) *Schedule) (heir *Definition, err error)
}

// Work lists what waits to be done. Instances in quarantine are left out.
type Work interface {
	// Ready lists instances that have messages, fuel to burn (More), or a wake time
	// that has come, in the order in which they became so. One that is still ready
	// after a commit goes behind the others: who always has more to do keeps nobody
	// out. Of wake times that come together, the earliest goes first.
	Ready(ctx context.Context, now core.Time, limit int) ([]string, error)

	// Messages lists an instance's inbox in order. Where one is damaged, which is the
	// error then, it is there without its input: whoever gives the instance up takes it.
	Messages(ctx context.Context, instance string) ([]Message, error)

	// Calls lists the calls of an instance without an answer, in order; of all
	// instances where it is "". Of damaged ones, here and in the lists of Emits, Outbound,
	// Expired and ListDefinitions, a *DamagedError tells; the others are listed.
	Calls(ctx context.Context, instance string) ([]Call, error)

	// Emits lists events that were decided on and not ingested yet, in order: those that
	// are not for the sink.
	Emits(ctx context.Context, limit int) ([]Emit, error)

	// Outbound lists events that were decided on and that the sink did not take yet, in
	// order: those that are for it. It leaves out none, also of instances in quarantine:
	// what is decided is decided.
	Outbound(ctx context.Context, limit int) ([]Emit, error)

	// Sent forgets an event that the sink took, by its Seq. One that is not there is no
	// error: it was sent before.
	Sent(ctx context.Context, seq int64) error

	// Unchecked lists the instances that have fresh subscriptions, oldest first.
	Unchecked(ctx context.Context, limit int) ([]string, error)

	// Again lists the events that must be routed again, because an instance that they
	// were kept for is over, or a Routing said so; oldest first.
	Again(ctx context.Context, limit int) ([]int64, error)

	// Expired lists the gatherings whose time is up, by that time, then oldest first.
	Expired(ctx context.Context, now core.Time, limit int) ([]Gathering, error)

	// Schedules lists those that are due, by time, then by definition.
	Schedules(ctx context.Context, now core.Time) ([]Schedule, error)

	// Advance moves a schedule from one fire time to the next; without one it ends.
	// Where the schedule is not at from any more it fails with ErrConflict.
	Advance(ctx context.Context, definition string, from core.Time, next *core.Time) error

	// Purge forgets events whose time is up; where there are very many, those that came
	// first.
	Purge(ctx context.Context, now core.Time) error

	// Next is the first instant after the given one at which an instance wakes, a
	// gathering expires or a schedule is due. What is due by then is in the lists.
	Next(ctx context.Context, after core.Time) (core.Time, bool, error)
}

// Suspects keeps the names of instances whose step does not end. A process names them before it
// is given up, so that the next one pauses them before it runs another step of theirs.
type Suspects interface {
	// Suspect names an instance, which need not be stored. Naming it again changes nothing.
	Suspect(ctx context.Context, instance string) error

	// Suspects lists the named instances by id. Of a [Shared] store it lists those that this
	// node has.
	Suspects(ctx context.Context) ([]string, error)

	// Unsuspect removes a name, if it is there.
	Unsuspect(ctx context.Context, instance string) error
}

// Queries read.
type Queries interface {
	Instance(ctx context.Context, id string) (Instance, error)
	// Pages are the instance's state, ordered by frame and part. Where one is damaged, which
	// is the error then, they are there for whoever gives the instance up and removes them.
	Pages(ctx context.Context, id string) ([]core.Page, error)
	// States reads the pages of several instances with one question, in the order of the ids.
	// An instance that is not there is left out. Of many that are large it reads the
	// first, see MaxStateBytes, and tells how many of the ids it went through.
	States(ctx context.Context, ids []string) (list []State, through int, err error)
	// Instances lists those that the query selects, oldest first unless it says otherwise. One
	// that is damaged is listed with what can be read of it, and Quarantine says so.
	Instances(ctx context.Context, q Query) ([]Instance, error)
	// Count is how many the query selects; After, Offset and Limit do not matter.
	Count(ctx context.Context, q Query) (int64, error)
	// Stats counts instances by definition, version and status, in that order.
	Stats(ctx context.Context) ([]Stat, error)
	// JobStats counts jobs by definition, state and group, in that order.
	JobStats(ctx context.Context) ([]JobStat, error)
	// Records lists the history of an instance in order, from the record after the first
	// ones on; limit 0: all. Finding the place costs less than reading what lies before.
	Records(ctx context.Context, id string, after int64, limit int) ([]core.Record, error)
	// Feed lists what commits did to any instance, in the order of the commits: those
	// that have records or changed the status. It lists fewer than the limit where their
	// records are large, see MaxFeedBytes; Next says whether there is more. An item whose
	// records are damaged has a warning in their place.
	Feed(ctx context.Context, after int64, limit int) (Feed, error)
	// Subscriptions lists what an instance waits for. Of damaged ones, here and in the list of
	// Events, a *DamagedError tells; the others are listed.
	Subscriptions(ctx context.Context, instance string) ([]Subscription, error)
	// Events lists kept ones, oldest first unless the query says otherwise.
	Events(ctx context.Context, q EventQuery) (EventPage, error)
	// Check looks for damage: what cannot be read, and what does not fit together.
	Check(ctx context.Context) ([]Problem, error)
}

// Deletion says how an instance is deleted.
type Deletion struct {
	At    core.Time // for the feed
	Rev   int64     // where not 0: only at that revision
	Live  bool      // also one that is not over
	Actor string    // for the feed: who did it
}

// Record is what the feed tells of a deletion.
func (d Deletion) Record() core.Record {
	return core.Record{Time: d.At, Type: core.RecDeleted, Name: d.Actor}
}

// Retention forgets.
type Retention interface {
	// DeleteInstance removes an instance with its state and its records; what it spawned
	// stays, and so does what the feed tells of it, at whose end a record of the type
	// core.RecDeleted is added. Events in its inbox are routed again. It fails with ErrLive
	// while the instance is not over, unless the deletion says Live, and with ErrConflict
	// where its revision is not Rev.
	DeleteInstance(ctx context.Context, id string, d Deletion) error

	// PurgeInstances deletes instances that ended before an instant, the first to end
	// first, and tells how many; the feed tells of each at the instant at, as with
	// DeleteInstance. Those with messages are left for later.
	PurgeInstances(ctx context.Context, before, at core.Time, limit int) (int, error)

	// PurgeFeed forgets items of the feed that are older than an instant, up to the first
	// that is not, and tells how many.
	PurgeFeed(ctx context.Context, before core.Time, limit int) (int, error)
}
