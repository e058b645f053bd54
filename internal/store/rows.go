package store

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Definition is a deployed definition.
type Definition struct {
	ID, Version string
	Name        string
	Dialect     string
	Digest      string // of the content
	Program     []byte // as ir.Encode writes it
	Source      []byte // the document as it was deployed; nil where it is not known
	Path        string `json:",omitempty"` // of the document in its bundle
	Bundle      string `json:",omitempty"` // digest of the bundle that it was last deployed with; "": none
	Diagnostics []byte // as JSON, from when it was deployed; nil: none
	Deployed    core.Time
	Current     bool // events and schedules start this version
}

// Deployment is a definition to be stored.
type Deployment struct {
	Definition
	Schedule *Schedule // nil: it does not start by itself
}

// Schedule is when a definition starts next by itself.
type Schedule struct {
	Definition string
	Digest     string
	Next       core.Time
	Fires      string // the last fire times, as the engine writes them; a new version keeps them
}

// Policy is what operators decided about a definition, whatever its version.
type Policy struct {
	Definition string
	Rev        int64  // counts changes, from 1; 0: none is stored
	Data       string // as the engine writes it
}

// Instance is the row of one run: what can be read without its state.
type Instance struct {
	ID   string
	Name string // as people call it; "": it has none
	Key  string // the idempotency key of its start, if it had one
	Seq  int64  // given by the store when it is created
	Rev  int64  // counts commits, from 1

	Records int64 // in its history; counted by the store

	Definition, Version, Digest string // never change

	Status  core.Status
	Active  []string // the states it is in, outermost first
	Created core.Time
	Updated core.Time
	Ended   core.Time // only where Status is final
	Wake    core.Time // when its earliest timer is due; only where HasWake
	HasWake bool
	More    bool // a step ran out of fuel

	Output expr.Value
	Fault  *core.Fault
	Labels expr.Value
	Keys   []core.Key // correlation attributes fixed by consumed events
	Offers []Offer    // what actors may choose now

	Parent  string      // the instance that spawned it
	Tree    string      // names the root of its ancestors for ever; "": it is a root itself
	Ticket  core.Ticket // the parent's ticket for it
	Awaited bool        // the parent waits for its end
	Depth   int         // how many ancestors wait for it, directly or through one another
	// Continued is how many instances in a row, each of them briefly, went on as the next one, up to this.
	Continued int
	Children  int64 // how many it spawned, those that were deleted since too

	// Reusable: the caller chose its ID, directly or by a key, and another instance may get it once this one is deleted.
	Reusable bool
	// Indexed: it is also found by its correlation attributes, and by a label's value alone. Versions before did not
	// set it; a job is found by its tags only.
	Indexed bool

	RestartOf string // the instance that this one repeats

	// Trace is the W3C trace context of what caused the instance, as trace.Context.Text writes it: of the request or event
	// that started it, or of its parent; "": none. It never changes.
	Trace string

	Job Job // set for jobs only

	Progress []core.Progress // of each foreach that it runs or failed in

	PauseReason string // why the engine paused it: core.TooExpensive
	Quarantine  string // why it is set aside, after a broken invariant; "": it is not

	// Held: its definition is paused, and it had something to do. It is left alone until the engine
	// commits it without. One in quarantine is not held.
	Held bool
}

// Aside reports whether the lists of work leave the instance out.
func (in *Instance) Aside() bool { return in.Quarantine != "" || in.Held }

// Fixed reports whether all these correlation attributes are fixed to these values.
func (in *Instance) Fixed(keys []core.Key) bool {
	return !slices.ContainsFunc(keys, func(k core.Key) bool {
		return !slices.ContainsFunc(in.Keys, func(o core.Key) bool { return o.Name == k.Name && o.Value == k.Value })
	})
}

// Job holds what jobs are searched by. A job is an instance of a state machine that actors advance.
type Job struct {
	Client string // the device that the job is for; it never changes
	State  string // the current state; "": the instance is not a job
	Group  string // the group of that state; "": none
}

// Offer is a choice that is open under a ticket.
type Offer struct {
	Ticket core.Ticket
	ir.Offer
}

// NewInstance is an instance that has not started yet. It is created with Rev 1 and the start
// as its first message. If the id exists, nothing happens.
type NewInstance struct {
	Instance Instance
	Start    core.Start
}

// Message is an input in an instance's inbox.
type Message struct {
	Seq   int64
	To    string
	At    core.Time // when it arrived
	Input core.Input
	Event int64 // Seq of the event it carries, if any
}

// Call is a committed function call that has no answer yet.
type Call struct {
	Seq      int64
	Instance string
	Created  core.Time // of the instance; given by the store
	Parked   bool      // it waits for a person; set by Shared stores only
	Shard    int       // in a Shared store: the node that holds it makes the call; 0: the instance's shard
	Trace    *string   // of the instance; nil: not known. It is not stored
	Key      string    // the idempotency key, if it is not made of the instance's id and the ticket
	core.Invoke
}

// Emit is a committed event that has not been delivered yet. An event with two destinations
// is two emits.
type Emit struct {
	Seq        int64
	Instance   string
	Definition string
	Event      event.Event
	Sink       bool // the destination is the sink; else the event is ingested here
}

// Subscription is an instance's wait for an event.
type Subscription struct {
	Instance    string
	InstanceSeq int64 // given by the store
	Ticket      core.Ticket
	Name        string // of the event in the definition
	Filter      event.Filter
	// Fresh, in [View.Subscriptions]: it may yet get an event that came before; if its ticket is standing, it
	// or another one of its wait. A [Shared] store need not say so of other tickets.
	Fresh bool
}

// Event is a received event. It is kept for a time, for subscriptions that begin later and to
// recognize duplicates.
type Event struct {
	Seq      int64
	Event    event.Event
	Received core.Time
	Until    core.Time
	Producer string // the instance that produced it, if one did
	Origin   string // the producer's definition

	Taken bool     // an instance has it, or a start used it; set by the store
	Again bool     // it must be routed again; set by View.Event
	For   []string // instances that it is kept for and that have not taken it
	Used  []string // definitions that it started, or is gathered for
	Why   []string // why subscriptions did not match
}

// Gathering is a start that needs several events and has some of them.
type Gathering struct {
	Seq                int64 // 0: new
	Definition, Digest string
	Keys               []core.Key // fixed by the events it has
	Key                string     // what an event must have to fit, as the engine encodes it; "": any event may fit
	Events             []int64    // by position in the definition's start; 0: has not come yet
	Until              core.Time  // the store sets it to 0 when another content of the definition becomes current
}

// Commit is the outcome of one step of one instance.
type Commit struct {
	Instance Instance // the new row, with Rev and Created as they were read; Rev 0 creates it
	Deployed int64    // if not 0: the Shared.Deployments that the step saw; ErrOutdated if it changed

	// Unread: the inbox was not read, so the commit conflicts if a message is in it. A Shared store
	// may miss a message that arrives while it writes.
	Unread bool

	Pages   []core.Page
	Records []core.Record
	Chunks  *core.Chunks // of the records: large values in them and in Output and Calls, and in Pages later; nil: none

	Taken   []int64 // messages that the step took, by Seq
	Release []int64 // those of Taken whose event was refused: the event is kept for the instance

	Calls       []Call
	Answered    []core.Ticket // calls that are over: answered, or no longer waited for
	Emits       []Emit
	Subscribe   []Subscription // replaces one of the same ticket
	Unsubscribe []core.Ticket
	Children    []NewInstance
	Messages    []Message // for others, or for itself

	// Event, if not nil, is ingested in the same transaction. The step took it directly: its routing has
	// one delivery, to this instance, which puts no message into the inbox. The commit fails with the
	// router's error, or ErrDuplicate. A [Shared] store may refuse it.
	Event *Arrival
}

// CheckChunks refuses chunks for another place in the history than that of the records.
func (c *Commit) CheckChunks() error {
	if at := c.Instance.Records + int64(len(c.Records)); c.Chunks != nil && c.Chunks.Total != at {
		return fmt.Errorf("commit instance %s: its chunks are of a history of %d records, not %d", c.Instance.ID, c.Chunks.Total, at)
	}
	return nil
}

// Arrival is an event as [Store.Ingest] takes it.
type Arrival struct {
	Event Event
	Emit  int64
	Route EventRouter
}

// Delivery gives an event to an instance under the ticket of a subscription. Unless the ticket is
// standing, the subscription is closed to other events until the instance has taken or refused this one.
type Delivery struct {
	Event    int64
	Instance string
	At       core.Time
	Reply    core.Reply
}

// Routing is what a router decided about events.
type Routing struct {
	Deliver []Delivery
	Start   []NewInstance
	Events  []Event     // with their new Until, For, Used and Why; only those in Again are routed again
	Gather  []Gathering // new or changed
	Drop    []int64     // gatherings that are over
	Again   []int64     // events that must be routed again
	Checked []string    // instances whose subscriptions are no longer fresh
}
