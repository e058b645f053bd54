package store

import (
	"context"
	"errors"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/event"
)

// Errors that callers tell apart; methods may wrap them.
var (
	ErrNotFound  = errors.New("not found")
	ErrConflict  = errors.New("changed meanwhile") // the revision, or the alias of a definition
	ErrDuplicate = errors.New("duplicate")         // an event of the same source and id is known
)

// Store keeps one namespace.
type Store interface {
	// Commit writes the outcome of a step.
	Commit(ctx context.Context, c Commit) error

	// Ingest takes an event and routes it. The event gets its Seq before the router
	// sees it by View.Event. Where source and id are known it returns the earlier
	// event and ErrDuplicate. The emit with that Seq, if not 0, is done in both cases.
	// An error of the router is returned, and nothing has happened.
	Ingest(ctx context.Context, e Event, emit int64, route func(Event, View) (Routing, error)) (Event, error)

	// Route decides again about events that are kept. An error of the router is
	// returned, and nothing has happened.
	Route(ctx context.Context, route Router) error

	Definitions
	Work
	Queries
}

// Router decides about events inside a transaction.
type Router func(View) (Routing, error)

// View is what a Router may look at.
type View interface {
	Event(seq int64) (Event, bool)

	// Subscriptions lists the open ones that may match an event, oldest instance
	// first, then by ticket. A store may leave out those whose type, source or fixed
	// keys differ, and only those.
	Subscriptions(e event.Event) []Subscription

	// Near lists a few open subscriptions for the event's type, matching or not, in
	// the same order: to tell people what differed.
	Near(e event.Event, limit int) []Subscription

	// Fresh lists the open subscriptions of an instance that were not compared with
	// kept events yet, by ticket.
	Fresh(instance string) []Subscription

	// Kept lists the events that a subscription may still get, oldest first: none
	// that its instance took or produced, or that its ticket refused. A store may
	// leave out those whose type, source or fixed keys differ, and only those.
	Kept(s Subscription) []Event

	// Owner is the oldest instance of a definition that is not over and has all these
	// correlation attributes fixed to these values.
	Owner(definition string, keys []core.Key) (Instance, bool)

	// Gatherings lists the open ones of a definition's content, oldest first.
	Gatherings(definition, digest string) []Gathering
}

// Definitions are stored by digest, and found by the alias (id, version). One
// version of a definition is the current one.
type Definitions interface {
	// PutDefinition stores a definition and makes it current. The schedule replaces
	// the definition's, unless that is of the same content already; nil removes it.
	// Where the alias has the same content, the time of its deployment stays. Where it
	// has another one, the alias moves if move is set, else it fails with ErrConflict.
	PutDefinition(ctx context.Context, d Definition, s *Schedule, move bool) (Definition, error)

	// Definition finds by alias; version "" is the current one.
	Definition(ctx context.Context, id, version string) (Definition, error)

	// Content finds by digest, also what no alias leads to any more.
	Content(ctx context.Context, digest string) (Definition, error)

	// ListDefinitions lists all versions by id, then in order of deployment.
	ListDefinitions(ctx context.Context) ([]Definition, error)
}

// Work lists what waits to be done. Instances in quarantine are left out.
type Work interface {
	// Ready lists instances that have messages, fuel to burn (More), or a wake time
	// that has come, in the order in which they became so. One that is still ready
	// after a commit goes behind the others: who always has more to do keeps nobody
	// out. Of wake times that come together, the earliest goes first.
	Ready(ctx context.Context, now core.Time, limit int) ([]string, error)

	// Messages lists an instance's inbox in order.
	Messages(ctx context.Context, instance string) ([]Message, error)

	// Calls lists the calls of an instance without an answer, in order; of all
	// instances where it is "".
	Calls(ctx context.Context, instance string) ([]Call, error)

	// Emits lists events that were decided on and not ingested yet, in order.
	Emits(ctx context.Context, limit int) ([]Emit, error)

	// Unchecked lists the instances that have fresh subscriptions, oldest first.
	Unchecked(ctx context.Context, limit int) ([]string, error)

	// Again lists the events that must be routed again, because an instance that they
	// were kept for is over; oldest first.
	Again(ctx context.Context, limit int) ([]int64, error)

	// Expired lists the gatherings whose time is up, by that time, then oldest first.
	Expired(ctx context.Context, now core.Time, limit int) ([]Gathering, error)

	// Schedules lists those that are due, by time, then by definition.
	Schedules(ctx context.Context, now core.Time) ([]Schedule, error)

	// Advance moves a schedule from one fire time to the next; without one it ends.
	// Where the schedule is not at from any more it fails with ErrConflict.
	Advance(ctx context.Context, definition string, from core.Time, next *core.Time) error

	// Purge forgets events whose time is up.
	Purge(ctx context.Context, now core.Time) error

	// Next is the first instant after the given one at which an instance wakes, a
	// gathering expires or a schedule is due. What is due by then is in the lists.
	Next(ctx context.Context, after core.Time) (core.Time, bool, error)
}

// Queries read.
type Queries interface {
	Instance(ctx context.Context, id string) (Instance, error)
	// Pages are the instance's state, ordered by frame and part.
	Pages(ctx context.Context, id string) ([]core.Page, error)
	// Instances lists those that the query selects, oldest first.
	Instances(ctx context.Context, q Query) ([]Instance, error)
	Records(ctx context.Context, id string) ([]core.Record, error)
	Subscriptions(ctx context.Context, instance string) ([]Subscription, error)
	// Events lists the kept ones, oldest first.
	Events(ctx context.Context) ([]Event, error)
}

// Query selects instances. Empty fields select all.
type Query struct {
	Definition string
	Status     core.Status
	Parent     string
	After      int64 // Seq of the last one seen
	Limit      int
}
