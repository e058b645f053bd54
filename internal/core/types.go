package core

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Time is an instant in nanoseconds since 1970 UTC.
type Time int64

// TimeOf converts from the standard library's time.
func TimeOf(t time.Time) Time { return Time(t.UnixNano()) }

// Std converts to the standard library's time, in UTC.
func (t Time) Std() time.Time { return time.Unix(0, int64(t)).UTC() }

func (t Time) String() string { return t.Std().Format(time.RFC3339Nano) }

// FrameID identifies a frame of an instance. Ids grow and are never reused.
type FrameID uint32

// Ticket identifies one thing an instance waits for: the frame in the upper 32 bits, and a
// number within the frame in the lower, with a mark if it is standing.
type Ticket uint64

func ticket(f FrameID, n uint32) Ticket { return Ticket(f)<<32 | Ticket(n) }

func (t Ticket) frame() FrameID { return FrameID(t >> 32) }

// standing marks the numbers of tickets that an answer does not close.
const standing = 1 << 31

// Standing reports whether the ticket stays open: it gets one event after the other until the instance
// closes it. Hosts must know that before the instance has seen the event, so the ticket says it itself.
func (t Ticket) Standing() bool { return t&standing != 0 }

// Wait names what a standing ticket is part of: those of one frame belong together.
func (t Ticket) Wait() FrameID { return t.frame() }

// String is frame.number, with a + if the ticket is standing.
func (t Ticket) String() string {
	var room [24]byte
	return string(t.Append(room[:0]))
}

// Append appends what String gives.
func (t Ticket) Append(dst []byte) []byte {
	dst = strconv.AppendUint(dst, uint64(t.frame()), 10)
	dst = strconv.AppendUint(append(dst, '.'), uint64(uint32(t&^standing)), 10)
	if t.Standing() {
		dst = append(dst, '+')
	}
	return dst
}

// ParseTicket reads what Ticket.String writes.
func ParseTicket(s string) (Ticket, error) {
	frame, n, _ := strings.Cut(s, ".")
	f, err := strconv.ParseUint(frame, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a ticket", s)
	}
	n, stands := strings.CutSuffix(n, "+")
	k, err := strconv.ParseUint(n, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%q is not a ticket", s)
	}
	if stands {
		k |= standing
	}
	return ticket(FrameID(f), uint32(k)), nil
}

// Status is the status of an instance.
type Status string

// The statuses. The last four are final.
const (
	Running    Status = "running"
	Waiting    Status = "waiting"
	Paused     Status = "paused"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
	Terminated Status = "terminated"
)

// Final reports whether the instance is over.
func (s Status) Final() bool {
	return s == Completed || s == Failed || s == Cancelled || s == Terminated
}

// Input is what an instance is given: Start, Reply, Take, Control or Continue.
type Input interface{ input() }

// Start begins an instance.
type Start struct {
	Data   expr.Value // the workflow input; an object, unless the program takes any
	Seed   uint64     // for jitter; fixed for the life of the instance
	Events []Arrival  // the events that started it, if any
	Labels expr.Value // an object: labels in place of those that the program computes; null: none
}

// Arrival is an event that reached an instance.
type Arrival struct {
	Event ir.EventID
	Value expr.Value // the CloudEvent as an object: attributes and data
}

// Reply answers a ticket: a call's result, a fired timer, an event (the CloudEvent
// as an object), a finished child's output.
type Reply struct {
	Ticket    Ticket
	Value     expr.Value
	None      bool   // there is no value: the child's schedule was not active
	Fault     *Fault // instead of a value
	Terminate bool   // the child ended with terminate, which also ends every instance waiting for it
	Text      string // how the answer of a call came about; for its record alone
}

// Take is an actor's choice among the offers.
type Take struct {
	Actor, Choice string
	Value         expr.Value
}

// Verb is what a Control asks for.
type Verb string

// The verbs. They mean the same in the API, on the command line and on the page.
const (
	VerbCancel    Verb = "cancel"
	VerbTerminate Verb = "terminate"
	VerbSuspend   Verb = "suspend"
	VerbResume    Verb = "resume"
	VerbRetry     Verb = "retry" // from the failed node, with Data instead of its input if HasData
	VerbSkip      Verb = "skip"  // go on as if the failed state had given Data
	VerbAmend     Verb = "amend" // replace the data of the current state
	VerbLabel     Verb = "label" // merge Data into the labels
)

// Control intervenes.
type Control struct {
	Verb       Verb
	Data       expr.Value
	HasData    bool
	Items      bool // with retry: only the items of a foreach that did not complete
	Compensate bool // with cancel: undo completed states first
	Actor      string

	TooExpensive bool // with suspend: that is the reason, see [State.PauseReason]
}

// Continue goes on after a step that ran out of fuel.
type Continue struct{}

func (Start) input()    {}
func (Reply) input()    {}
func (Take) input()     {}
func (Control) input()  {}
func (Continue) input() {}

// Command is something the host must do once the state is durable.
type Command interface{ command() }

// Invoke calls a function; answer with Reply.
type Invoke struct {
	Ticket   Ticket
	Function ir.Function
	Args     expr.Value
	Attempt  int    // of the region around it, from 1
	Node     string // for people
	Deadline Time   // when the innermost timeout around it ends the wait for its answer; 0: there is none but the workflow's
}

// Subscribe asks for the next event that matches; with a standing ticket, for all of them until the
// ticket is closed. Of the standing tickets of one wait, only one gets an event that several match, and
// events come to them in the order in which they were stored. A second Subscribe for the same ticket
// replaces the first.
type Subscribe struct {
	Ticket Ticket
	Event  ir.EventID
	Name   string
	Keys   []Key
	Most   int // with a standing ticket: how many events the wait takes at most; 0: any number
}

// Key is a correlation attribute. Unless Fixed, an event matches with any value of the
// attribute, or without it; if Fixed, its value must be equal. Void: the value to compare with
// does not exist, and no event matches.
type Key struct {
	Name  string
	Value string
	Fixed bool
	Void  bool
}

// Offers lists what actors may choose now.
type Offers struct {
	Ticket Ticket
	Offers []ir.Offer
}

// Spawn starts a child. Its id is derived from the instance and the ticket. Where
// Wait is set, answer with Reply when it is over.
type Spawn struct {
	Ticket            Ticket
	Workflow, Version string
	Latest            bool // the highest semantic version, not the one deployed last
	Input             expr.Value
	Wait              bool
	Continue          bool // it goes on for this instance, which ends when it has begun: the answer says so
}

// Emit sends an event; the ticket is its identity.
type Emit struct {
	Ticket  Ticket
	Name    string
	Source  string // empty: the host's
	Type    string
	Data    expr.Value
	HasData bool
	Event   expr.Value    // instead of all that follows Name: the CloudEvent as an object
	Attrs   []expr.Member // extension context attributes, sorted, values are strings, numbers or booleans
}

// Cancel closes a ticket: its answer is no longer needed. An awaited child must be
// cancelled too.
type Cancel struct {
	Ticket Ticket
	Kind   WaitKind
}

// Finish says that the instance is over.
type Finish struct {
	Status    Status
	Output    expr.Value
	Fault     *Fault
	Terminate bool // by a terminate end
}

func (Invoke) command()    {}
func (Subscribe) command() {}
func (Offers) command()    {}
func (Spawn) command()     {}
func (Emit) command()      {}
func (Cancel) command()    {}
func (Finish) command()    {}

// WaitKind is a kind of thing that is waited for.
type WaitKind uint8

// The kinds.
const (
	WaitCall     WaitKind = iota + 1
	WaitEvent             // an arm of an Await
	WaitListen            // a subscription of a region
	WaitTimer             // the timeout of an Await
	WaitDeadline          // the timeout of a region's attempt
	WaitTotal             // the timeout of a region in all
	WaitRetry             // the back-off before the next attempt
	WaitChild
	WaitOffer
	WaitFeed // an event of a Feed, which may take many
)

func (k WaitKind) String() string {
	return [...]string{"", "call", "event", "listen", "timer", "deadline", "total", "retry", "child", "offer", "event"}[k]
}

// Result is the outcome of a step.
type Result struct {
	State    *State
	Commands []Command
	Records  []Record
	Spent    int  // expression steps, and other work counted in the same unit
	Stale    bool // the input was for a ticket nobody waits for; nothing changed
	More     bool // out of fuel: commit, then give Continue
}

// RecordType says what happened.
type RecordType string

// The types of records.
const (
	RecStarted      RecordType = "started"
	RecEntered      RecordType = "entered" // a state, with its input
	RecLeft         RecordType = "left"    // a state, with its output
	RecCalled       RecordType = "called"  // with the arguments
	RecReturned     RecordType = "returned"
	RecCallFailed   RecordType = "callFailed"
	RecWaiting      RecordType = "waiting"
	RecConsumed     RecordType = "consumed" // an event
	RecProduced     RecordType = "produced"
	RecTimedOut     RecordType = "timedOut"
	RecRetrying     RecordType = "retrying"   // at At, for the Attempt-th time
	RecItemFailed   RecordType = "itemFailed" // of a foreach; the others go on, see holdItem
	RecCaught       RecordType = "caught"
	RecCompensating RecordType = "compensating"
	RecSpawned      RecordType = "spawned"
	RecChildEnded   RecordType = "childEnded"
	RecTaken        RecordType = "taken"
	RecWarning      RecordType = "warning"
	RecControl      RecordType = "control"
	RecTask         RecordType = "task"    // what became of a task, see TaskFaulted; only in programs whose nodes have a Ref
	RecStopped      RecordType = "stopped" // at a breakpoint before a state, with its input
	RecFinished     RecordType = "finished"
	RecDeleted      RecordType = "deleted" // the instance itself; in streams only, its history is gone
)

// Record is one line of an instance's history, for people and tests.
type Record struct {
	Time    Time
	Type    RecordType
	Frame   FrameID
	Depth   int    // 0: the outermost scope
	Node    string // the state, action or branch
	Pos     ir.Pos
	Name    string // function, event, workflow, actor, verb
	Ticket  Ticket
	Attempt int
	At      Time
	Data    expr.Value
	HasData bool
	Fault   *Fault
	Text    string
	Status  Status
	Item    int // of a foreach that the frame works for, from 1; 0: none
}

// Rejected says that an input is not allowed now. The state is unchanged.
type Rejected struct {
	Msg     string
	Allowed []ir.Offer // what a rejected Take could have chosen; nil: rejected for another reason
}

func (e *Rejected) Error() string { return e.Msg }
