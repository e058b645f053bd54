package store

import (
	"context"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

// Shared is a store that several processes, the nodes, use at a time. Every node may
// commit to every instance: that is safe by the revision alone. So that they do not all do the same
// work, each node that has joined has a part of the instances, for a short time that it
// renews.
//
// What a joined node does not have is left out of its lists of work: Ready, Emits, Outbound,
// Unchecked, Again, Expired, Schedules and Suspects. While its time is over, they are empty. Where it has not joined, the lists have everything.
type Shared interface {
	Store

	// Join makes this process a node. It renews what it has until the function that is
	// returned is called, which gives everything back.
	Join(ctx context.Context, m Member) (leave func(context.Context) error, err error)

	// Has reports whether an instance is in a part that this node has. One that has not
	// joined has all of them.
	Has(instance string) bool

	// Place is the part for the calls that this node decides on for an instance: that of
	// the instance, or where another node has that, one that this node has. So a call is
	// made where it was decided on, and by others only once they have the part.
	Place(instance string) (part int)

	// HasPart reports whether the calls of a part are this node's to make.
	HasPart(part int) bool

	// Leased reports whether this node may begin calls now, by its own clock. One that was
	// stopped for a while learns so that its time is over.
	Leased() bool

	// Parts counts changes of what Has and HasPart tell.
	Parts() int64

	// Handed lists the calls that became this node's to make: other nodes decided on
	// them, or had them before. It tells each of them once, or again after an error.
	Handed(ctx context.Context) ([]Call, error)

	// HandOver has the calls of an instance handed anew to the node that has it.
	HandOver(ctx context.Context, instance string) error

	// Park notes that a call waits for a person, for all nodes to see.
	Park(ctx context.Context, instance string, t core.Ticket) error

	// Deployments counts changes of the definitions. Who asks after a change was made sees it.
	Deployments(ctx context.Context) (int64, error)

	// Since lists the instances that ended, were set aside or deleted after a position of
	// the feed, by commits of any node, and the position behind them: the end of the feed
	// where there are fewer than limit. A store may list others, too.
	Since(ctx context.Context, after int64, limit int) (instances []string, next int64, err error)

	// Hints gets something when other nodes may have written, true where there may be work for
	// this one; or never: nobody relies on it.
	Hints() <-chan bool

	// Now is the time of the store's own clock. It may be late, by as long as an answer takes,
	// and is never early.
	Now() time.Time

	// Nodes lists those that have joined and were heard of lately, by name.
	Nodes(ctx context.Context) ([]Node, error)
}

// Member is how a node describes itself.
type Member struct {
	Name, Address, Version string
	Calls                  func() []int // the parts of the calls in flight here, one for each call
	Stuck                  func() bool  // this node makes no progress: it does not renew its lease; nil: never
}

// Node is one process of those that use a store together.
type Node struct {
	ID       string
	Name     string
	Address  string // of its API
	Version  string
	Since    time.Time
	Seen     time.Time // when it was heard of last
	Shards   int       // of the instances, this many of Of parts are its
	Of       int
	InFlight int // calls
}
