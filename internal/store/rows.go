package store

import (
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
	Diagnostics []byte // what there was to say against it then, as JSON; nil: nothing
	Deployed    core.Time
	Current     bool // live for starts by events and schedules
}

// Schedule is when a definition starts next by itself.
type Schedule struct {
	Definition string
	Digest     string
	Next       core.Time
}

// Instance is one run: what can be asked without reading its state.
type Instance struct {
	ID  string
	Seq int64 // given by the store when it is created
	Rev int64 // counts commits, from 1

	Definition, Version, Digest string // for ever

	Status  core.Status
	Active  []string // the states it is in, outermost first
	Created core.Time
	Updated core.Time
	Ended   core.Time // while Status is final
	Wake    core.Time // where HasWake: when its earliest timer is due
	HasWake bool
	More    bool // a step ran out of fuel

	Output expr.Value
	Fault  *core.Fault
	Labels expr.Value
	Keys   []core.Key // correlation attributes that consumed events fixed
	Offers []Offer    // what actors may choose now

	Parent  string      // the instance that spawned it
	Ticket  core.Ticket // and under which ticket
	Awaited bool        // the parent waits for its end
	Depth   int         // of instances that wait for one another above it

	RestartOf string // the instance that this one repeats

	Job Job // what a job is found by

	PauseReason string // why it paused by itself: core.TooExpensive
	Quarantine  string // why it is set aside: an invariant broke
}

// Fixed reports whether all these correlation attributes are fixed to these values.
func (in *Instance) Fixed(keys []core.Key) bool {
	return !slices.ContainsFunc(keys, func(k core.Key) bool {
		return !slices.ContainsFunc(in.Keys, func(o core.Key) bool { return o.Name == k.Name && o.Value == k.Value })
	})
}

// Job is what jobs are found by: instances of state machines that actors advance.
type Job struct {
	Client string // the device that it is for; it never changes
	State  string // the one it is in; "": the instance is no job
	Group  string // of that state; "": none
}

// Offer is a choice that is open under a ticket.
type Offer struct {
	Ticket core.Ticket
	ir.Offer
}

// NewInstance is an instance that is yet to take its start. It is created with Rev
// 1 and the start as its first message; where the id exists, nothing happens.
type NewInstance struct {
	Instance Instance
	Start    core.Start
}

// Message is an input in an instance's inbox.
type Message struct {
	Seq   int64
	To    string
	At    core.Time // when it came
	Input core.Input
	Event int64 // Seq of the event it carries, if any
}

// Call is a function call that was decided on and has no answer yet.
type Call struct {
	Seq      int64
	Instance string
	Created  core.Time // of the instance; given by the store
	Parked   bool      // it waits for a person; a Shared store tells
	Part     int       // of a Shared store: the node that has it makes the call; 0: where its instance is
	core.Invoke
}

// Emit is an event that was decided on and has not gone yet where it is to go. One that
// goes to two places is two emits.
type Emit struct {
	Seq        int64
	Instance   string
	Definition string
	Event      event.Event
	Sink       bool // it goes out to the sink; else it is ingested here
}

// Subscription is an instance's wait for an event.
type Subscription struct {
	Instance    string
	InstanceSeq int64 // given by the store
	Ticket      core.Ticket
	Name        string // of the event in the definition
	Filter      event.Filter
}

// Event is an event that came, kept for a time: for waits that begin later, and to
// know duplicates.
type Event struct {
	Seq      int64
	Event    event.Event
	Received core.Time
	Until    core.Time
	Producer string // the instance that produced it, if one did
	Origin   string // and its definition

	Taken bool     // some instance has it, or a start used it; the store tells
	Again bool     // it must be routed again; View.Event tells
	For   []string // instances that it belongs to and that have not taken it
	Used  []string // definitions that started with it, or gather it for a start
	Why   []string // what differed from what others wait for
}

// Gathering is a start that needs several events and has some of them.
type Gathering struct {
	Seq                int64 // 0: new
	Definition, Digest string
	Keys               []core.Key // fixed by the events it has
	Key                string     // what an event must have to fit, in the engine's words; empty: it may fit any
	Events             []int64    // by position in the definition's start; 0: not there yet
	Until              core.Time  // 0: another content of the definition is the current one now; the store sees to that
}

// Commit is the outcome of one step of one instance.
type Commit struct {
	Instance Instance // as it is now; Rev and Created as they were read, Rev 0 to create it
	Deployed int64    // where not 0: what Shared.Deployments was; ErrOutdated if it is another now
	Unread   bool     // nobody looked into the inbox: the commit conflicts where something is in it; a Shared store may miss what comes while it writes
	Pages    []core.Page
	Records  []core.Record

	Taken   []int64 // messages that the step took, by Seq
	Release []int64 // those of Taken whose event nobody waited for: it is kept for the instance

	Calls       []Call
	Answered    []core.Ticket // calls that are over: answered, or nobody waits
	Emits       []Emit
	Subscribe   []Subscription // replaces one of the same ticket
	Unsubscribe []core.Ticket
	Children    []NewInstance
	Messages    []Message // for others, or for itself
}

// Delivery gives an event to an instance under the ticket of a subscription, which
// is closed to other events until the instance has taken or refused this one.
type Delivery struct {
	Event    int64
	Instance string
	At       core.Time
	Reply    core.Reply
}

// Routing is what becomes of events.
type Routing struct {
	Deliver []Delivery
	Start   []NewInstance
	Events  []Event     // with Until, For, Used and Why as they are now; they need not be routed again, but for those in Again
	Gather  []Gathering // new or changed
	Drop    []int64     // gatherings that are over
	Again   []int64     // events that must be routed again
	Checked []string    // instances whose subscriptions are not fresh any more
}
