package store

import (
	"context"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

// Shared is a store that several processes, the nodes, use at the same time. Every node may
// commit to every instance: comparing revisions makes that safe. So that nodes do not all do
// the same work, instances are divided into shards, and each joined node holds some of the
// shards under a short lease that it renews.
//
// A joined node's lists of work contain only its shards: Ready, Emits, Outbound, Unchecked,
// Again, Expired, Schedules and Suspects. They are empty once its lease has expired. A process
// that has not joined sees everything.
type Shared interface {
	Store

	// Join makes this process a node. It renews its lease until leave is called, which
	// releases its shards.
	Join(ctx context.Context, m Member) (leave func(context.Context) error, err error)

	// Has reports whether this node holds the shard of an instance. A process that has not
	// joined holds all shards.
	Has(instance string) bool

	// CallShard is the shard for calls that this node commits for an instance: the instance's
	// shard, or if another node holds that, one that this node holds. So the node that commits
	// a call makes it, and another node does so only after taking over the shard.
	CallShard(instance string) (shard int)

	// HasShard reports whether this node makes the calls of a shard.
	HasShard(shard int) bool

	// Leased reports whether this node may begin calls now, by its own clock. A process that
	// was stopped for a while learns from it that its lease has expired.
	Leased() bool

	// ShardChanges counts changes of the answers of Has and HasShard.
	ShardChanges() int64

	// Handed lists the calls that this node has to make since it was last asked, and that
	// other nodes committed or had before. It lists each call once, or again after an error.
	Handed(ctx context.Context) ([]Call, error)

	// Glance looks once at all lists of work, where each of them would be a look of its own. Next is as of an instant.
	Glance(ctx context.Context, now core.Time) (Glance, error)

	// HandOver hands the calls of an instance to the node that holds the instance's shard.
	HandOver(ctx context.Context, instance string) error

	// Park marks a call as waiting for a person, visible to all nodes.
	Park(ctx context.Context, instance string, t core.Ticket) error

	// Chunks reports whether commits may have chunks: not while there are servers of a version that cannot read them.
	Chunks() bool

	// Deployments counts changes of the definitions and their policies. A call that begins after a change counts it.
	Deployments(ctx context.Context) (int64, error)

	// Since lists the instances that ended, were set aside or deleted after a position of
	// the feed, by any node, and the position to continue from: the end of the feed if there
	// were fewer than limit. A store may list other instances, too.
	Since(ctx context.Context, after int64, limit int) (instances []string, next int64, err error)

	// Hints receives a value when other nodes may have written; true if there may be work for
	// this one. It is an optimization: a store may never send any.
	Hints() <-chan bool

	// Now is the time of the store's own clock. It may be behind by a round trip, and is
	// never ahead.
	Now() time.Time

	// Nodes lists the joined nodes whose heartbeat is recent, by name.
	Nodes(ctx context.Context) ([]Node, error)
}

// Glance says which lists of work may have something at an instant. The others were empty.
type Glance struct {
	Calls         bool // Handed
	Schedules     bool
	Gatherings    bool // Expired
	Events        bool // Again
	Subscriptions bool // Unchecked
	Instances     bool // Ready
	Emits         bool
	Outbound      bool

	Deployments int64 // as Shared.Deployments; -1: it is not known

	Next  core.Time // where all are empty: as Store.Next
	Later bool      // there is a Next
}

// Anything is what is known without a look.
var Anything = Glance{Calls: true, Schedules: true, Gatherings: true, Events: true, Subscriptions: true, Instances: true, Emits: true, Outbound: true, Deployments: -1}

// None reports whether all lists were empty.
func (w Glance) None() bool {
	w.Deployments, w.Next, w.Later = 0, 0, false
	return w == Glance{}
}

// Member is how a node describes itself.
type Member struct {
	Name, Address, Version string
	Calls                  func() []int // the shard of each call in flight here
	Stuck                  func() bool  // reports no progress, which stops renewing the lease; nil: never
}

// Node is one of the processes that share a store.
type Node struct {
	ID       string
	Name     string
	Address  string // of its API
	Version  string
	Since    time.Time
	Seen     time.Time // its last heartbeat
	Shards   int       // how many shards it holds
	Of       int       // how many shards there are
	InFlight int       // calls
}
