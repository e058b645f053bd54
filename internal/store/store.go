package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// Errors that callers distinguish; methods may wrap them.
var (
	ErrNotFound  = errors.New("not found")
	ErrConflict  = errors.New("changed meanwhile") // the revision, or the alias of a definition
	ErrDuplicate = errors.New("duplicate")         // an event of the same source and id is known
	ErrOutdated  = errors.New("definitions changed meanwhile")
	ErrLive      = errors.New("not over yet")  // the instance to delete is still running
	ErrFull      = errors.New("no space left") // nothing was stored; a later attempt may succeed
	ErrText      = errors.New("it contains a NUL byte or is not valid UTF-8, and is not stored")
	ErrDamaged   = errors.New("damaged")           // a stored value cannot be read, now or later
	ErrUncertain = errors.New("outcome not known") // it was stored or not: a later read shows which
	ErrInUse     = errors.New("another process uses it")
	ErrForeign   = errors.New("it is a database, but not one of lockstep's")

	// ErrMoved: nothing is acknowledged until the process is restarted.
	ErrMoved = errors.New("the files of the store were deleted, moved or replaced while it is in use")
)

// DamagedError has the damaged rows of a list. The list itself has the others.
type DamagedError struct{ Rows []DamagedRow }

// DamagedRow is a damaged row.
type DamagedRow struct {
	Seq      int64
	Instance string // that it belongs to; "": none
	Err      error
}

// Add adds a row.
func (e *DamagedError) Add(seq int64, instance string, err error) {
	e.Rows = append(e.Rows, DamagedRow{seq, instance, err})
}

// Err is the error of a list: nil if no row is damaged.
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

// InUseError says that a definition cannot be deleted: instances need its content.
type InUseError struct {
	Definition, Version string
	Instances           int64
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("definition %s version %q is in use by %d instances", e.Definition, e.Version, e.Instances)
}

// ContentError says that an alias has other content, and does not move. Nothing was stored.
type ContentError struct{ ID, Version string }

func (e *ContentError) Error() string {
	return fmt.Sprintf("definition %s version %q has other content", e.ID, e.Version)
}

func (e *ContentError) Unwrap() error { return ErrConflict }

// NoContentError says that the content of a definition does not exist, for example because the
// definition was deleted meanwhile. Nothing was stored.
type NoContentError struct{ Definition, Digest string }

func (e *NoContentError) Error() string {
	return fmt.Sprintf("definition %s has no content %q any more", e.Definition, e.Digest)
}

// Store keeps one namespace.
type Store interface {
	// Commit writes the outcome of a step.
	Commit(ctx context.Context, c Commit) error

	// Ingest stores an event and routes it. The event gets its Seq before the router runs, which
	// can read it by View.Event. If an event with the same source and id is known and has not
	// expired, Ingest returns that event and ErrDuplicate. In both cases the emit with the Seq
	// emit, if not 0, is removed. An error of the router is returned, and nothing is stored.
	Ingest(ctx context.Context, e Event, emit int64, route func(Event, View) (Routing, error)) (Event, error)

	// Preview calls the router as Ingest would, and stores nothing. What it sees may change before the event is
	// taken; its Seq is after all others. Preview may fail with ErrDuplicate, and need not call the router if it
	// finds that no open subscription matches the event, or that many may.
	Preview(ctx context.Context, e Event, route func(Event, View) (Routing, error)) error

	// Route routes kept events again. An error of the router is returned, and nothing is stored.
	Route(ctx context.Context, route Router) error

	// Writable returns why writes fail; nil: they succeed. It reports the result of the last
	// write, and if that was not recent, it writes something to find out.
	Writable(ctx context.Context) error

	Definitions
	Work
	Queries
	Retention
	Suspects
	Cursors
	Tallies
	Notes
	Audit
	Policies
}

// Router decides about events inside a transaction.
type Router func(View) (Routing, error)

// EventRouter is a Router for an event that is being taken.
type EventRouter = func(Event, View) (Routing, error)

// View is what a Router may read.
type View interface {
	// Event returns an event. It returns false for a damaged one, too.
	Event(seq int64) (Event, bool)

	// Subscriptions lists the open subscriptions that may match an event, oldest instance
	// first, then by ticket. A store may leave out those that do not match, but no others.
	// It says which are fresh; a [Shared] one only of those with standing tickets.
	Subscriptions(e event.Event) []Subscription

	// Near lists a few open subscriptions for the event's type, matching or not, so that
	// people can see what differed. The store chooses which; the order is that of Subscriptions.
	Near(e event.Event, limit int) []Subscription

	// Fresh lists the open subscriptions of an instance that have not been compared with kept
	// events yet, by ticket; with one that is standing, all of its wait. A store may compare a new
	// subscription itself in the commit that adds it, and leave it out if Kept would list no event
	// for it.
	Fresh(instance string) []Subscription

	// Kept lists the events that a subscription may still get, oldest first, without those that
	// its instance took or produced, or that its ticket refused. A store may leave out events
	// that do not match and, if the filter has no fixed key, events from before the instance
	// was created; but no others.
	Kept(s Subscription) []Event

	// Owner is the oldest running instance of a definition that has all these correlation
	// attributes fixed to these values. An instance whose row is damaged counts as having the
	// attributes by which it is found, here and for Got: otherwise another instance would be
	// started in its place.
	Owner(definition string, keys []core.Key) (Instance, bool)

	// Got reports whether an instance of a definition that has all these correlation
	// attributes fixed to these values got an event and did not refuse it. The instance may
	// be over, but not deleted. Without keys the answer is false.
	Got(event int64, definition string, keys []core.Key) bool

	// Gatherings lists the open gatherings of a definition's content that have this key or
	// none, oldest first.
	Gatherings(definition, digest, key string) []Gathering

	// Damaged is a *DamagedError with everything damaged that the methods above came across;
	// nil: nothing. They leave damaged rows out, except instances.
	Damaged() error
}

// PutDefinition stores one definition.
func PutDefinition(ctx context.Context, s Definitions, d Definition, at *Schedule, move bool) (Definition, error) {
	rows, err := s.PutDefinitions(ctx, []Deployment{{d, at}}, move)
	if err != nil {
		return Definition{}, err
	}
	return rows[0], nil
}

// Definitions are stored by digest, and found by the alias (id, version). One
// version of a definition is the current one.
type Definitions interface {
	// PutDefinitions stores definitions, each of another id, and makes them current: all of them in
	// one transaction, in their order, or none. The schedule replaces the definition's schedule but
	// for its Fires, unless that belongs to the same content; nil removes it. Gatherings for another
	// content of the definition expire, see Gathering.Until.
	//
	// A program that is already stored under its digest stays as it is, unless it is damaged. If
	// the alias has the same content, its time of deployment stays, too. If it has another
	// content, the alias moves if move is set; otherwise PutDefinitions fails with a
	// *ContentError.
	PutDefinitions(ctx context.Context, ds []Deployment, move bool) ([]Definition, error)

	// Definition finds by alias; version "" is the current one.
	Definition(ctx context.Context, id, version string) (Definition, error)

	// Content finds by digest, including contents without an alias.
	Content(ctx context.Context, digest string) (Definition, error)

	// ListDefinitions lists all versions by id, then in order of deployment.
	ListDefinitions(ctx context.Context) ([]Definition, error)

	// DeleteDefinition removes an alias, and its content if no other alias has it. It fails with
	// *InUseError while instances refer to the content. If the version was the current one, its
	// schedule ends, and the version that was deployed last becomes current and is returned as
	// heir. Its schedule is what next returns; next is called in the transaction and must not
	// call methods of the store. The policy is removed with the last version.
	DeleteDefinition(ctx context.Context, id, version string, next func(Definition) *Schedule) (heir *Definition, err error)
}

// Work lists pending work. Instances in quarantine, and those that are held, are left out.
type Work interface {
	// Ready lists instances that have messages, ran out of fuel (More), or have a wake time that
	// has come, in the order in which they became ready. An instance that is still ready after
	// a commit goes behind the others, so that a busy one does not starve them. Of wake times
	// that come together, the earliest goes first.
	Ready(ctx context.Context, now core.Time, limit int) ([]string, error)

	// Messages lists an instance's inbox in order. A damaged message is listed without its
	// input, beside the error, so that setting the instance aside can remove it.
	Messages(ctx context.Context, instance string) ([]Message, error)

	// Calls lists the unanswered calls of an instance, in order; instance "" means all. Here, and
	// in Emits, Outbound, Expired and ListDefinitions, the error for damaged rows is a
	// *DamagedError, and the others are listed.
	Calls(ctx context.Context, instance string) ([]Call, error)

	// Emits lists committed events that are not ingested yet, in order; not those for the sink.
	Emits(ctx context.Context, limit int) ([]Emit, error)

	// Outbound lists committed events that the sink has not accepted yet, in order. It includes
	// those of instances in quarantine: they are committed.
	Outbound(ctx context.Context, limit int) ([]Emit, error)

	// Sent removes an event that the sink accepted, by its Seq. If it does not exist, that is not
	// an error: it was removed before.
	Sent(ctx context.Context, seq int64) error

	// Unchecked lists the instances that have fresh subscriptions, oldest first.
	Unchecked(ctx context.Context, limit int) ([]string, error)

	// Again lists the events that must be routed again, oldest first: an instance that they were
	// kept for is over, or a Routing listed them.
	Again(ctx context.Context, limit int) ([]int64, error)

	// Expired lists the gatherings whose time is up, by that time, then oldest first.
	Expired(ctx context.Context, now core.Time, limit int) ([]Gathering, error)

	// Schedules lists the schedules that are due, by time, then by definition.
	Schedules(ctx context.Context, now core.Time) ([]Schedule, error)

	// ListSchedules lists all schedules by definition; in a [Shared] store those of other nodes, too.
	ListSchedules(ctx context.Context) ([]Schedule, error)

	// Advance moves a schedule from one fire time to the next; nil ends it. It fails with
	// ErrConflict if the stored schedule is not was.
	Advance(ctx context.Context, was Schedule, next *core.Time, fires string) error

	// Purge forgets expired events; if there are very many, only the oldest of them.
	Purge(ctx context.Context, now core.Time) error

	// Next is the first instant after the given one at which an instance wakes, a
	// gathering expires or a schedule is due. What is due earlier is in the lists.
	Next(ctx context.Context, after core.Time) (core.Time, bool, error)
}

// Suspects keeps the ids of instances whose step does not end. A process records them in time, so
// that the next process pauses them before it runs another of their steps.
type Suspects interface {
	// Suspect adds an instance, which need not be stored. Adding it again changes nothing.
	Suspect(ctx context.Context, instance string) error

	// Suspects lists the suspects by id; in a [Shared] store those in the node's shards.
	Suspects(ctx context.Context) ([]string, error)

	// Unsuspect removes an instance, if it is a suspect.
	Unsuspect(ctx context.Context, instance string) error
}

// Cursors keep how far the feed has been passed on to others. Each has a name: what is passed on to one receiver does
// not wait for another.
type Cursors interface {
	// Cursor returns the position up to which all items are passed on; false: none ever was set.
	Cursor(ctx context.Context, name string) (pos int64, ok bool, err error)

	// SetCursor sets the position. It never goes back: a smaller one changes nothing.
	SetCursor(ctx context.Context, name string, pos int64) error
}

// Policies keeps what operators decided about definitions.
type Policies interface {
	// Policies lists them by definition.
	Policies(ctx context.Context) ([]Policy, error)

	// SetPolicy stores the revision that follows p.Rev. It fails with ErrConflict if another one is
	// stored, and with ErrNotFound if the definition has no version. In a [Shared] store it counts
	// as a change of the definitions.
	SetPolicy(ctx context.Context, p Policy) error

	// Held lists the instances of a definition that are held, oldest first.
	Held(ctx context.Context, definition string, limit int) ([]string, error)
}

// Queries read.
type Queries interface {
	Instance(ctx context.Context, id string) (Instance, error)
	// Pages are the instance's state, ordered by frame and part. If one is damaged, they are
	// returned beside the error, so that setting the instance aside can remove them.
	Pages(ctx context.Context, id string) ([]core.Page, error)
	// States reads the pages of several instances in one query, in the order of the ids. It
	// leaves out instances that do not exist. It stops after MaxStateBytes; through is how many
	// of the ids it handled.
	States(ctx context.Context, ids []string) (list []State, through int, err error)
	// Instances lists the instances that the query selects, oldest first unless it says
	// otherwise. A damaged instance is listed with what can be read of it; Quarantine says so.
	Instances(ctx context.Context, q Query) ([]Instance, error)
	// Count is how many instances the query selects, up to its Limit; After and Offset do not matter.
	Count(ctx context.Context, q Query) (int64, error)
	// Stats counts instances by definition, version and status, in that order.
	Stats(ctx context.Context) ([]Stat, error)
	// JobStats counts jobs by definition, state and group, in that order.
	JobStats(ctx context.Context) ([]JobStat, error)
	// Records lists the history of an instance in order, without the first after records;
	// limit 0: all. Skipping records costs less than reading them.
	Records(ctx context.Context, id string, after int64, limit int) ([]core.Record, error)
	// Feed lists the commits that have records or changed a status, of all instances and in
	// order. It lists fewer than limit if their records are large, see MaxFeedBytes; Next says
	// whether there is more. An item with damaged records has a warning in their place.
	Feed(ctx context.Context, after int64, limit int) (Feed, error)
	// Subscriptions lists what an instance waits for. Here, and in Events, the error for damaged
	// rows is a *DamagedError, and the others are listed.
	Subscriptions(ctx context.Context, instance string) ([]Subscription, error)
	// Events lists kept events, oldest first unless the query says otherwise.
	Events(ctx context.Context, q EventQuery) (EventPage, error)
	// Check looks for damage: rows that cannot be read, or that contradict each other.
	Check(ctx context.Context) ([]Problem, error)
}

// Deletion says how an instance is deleted.
type Deletion struct {
	At    core.Time // for the feed
	Rev   int64     // if not 0: only at this revision
	Live  bool      // also if the instance is not over
	Actor string    // for the feed
}

// Record is the record of a deletion in the feed.
func (d Deletion) Record() core.Record {
	return core.Record{Time: d.At, Type: core.RecDeleted, Name: d.Actor}
}

// Retention forgets.
type Retention interface {
	// DeleteInstance removes an instance with its state and its records. The instances that it
	// spawned stay, and so do its items in the feed, which gets a record of type
	// core.RecDeleted. Events in its inbox are routed again. It fails with ErrLive while the
	// instance is not over, unless Live is set, and with ErrConflict if its revision is not Rev.
	DeleteInstance(ctx context.Context, id string, d Deletion) error

	// PurgeInstances deletes instances that ended before an instant, in the order of their end,
	// and returns how many. The feed gets a record of each at the instant at, as with
	// DeleteInstance. Instances with messages are left for later.
	PurgeInstances(ctx context.Context, before, at core.Time, limit int) (int, error)

	// PurgeFeed forgets items of the feed that are older than an instant, up to the first that is
	// not, and returns how many.
	PurgeFeed(ctx context.Context, before core.Time, limit int) (int, error)
}
