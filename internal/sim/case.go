package sim

import (
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Case is one thing to run: a definition with those it starts, what goes in, and
// how the world answers. It is data only, so that both sides read the same.
type Case struct {
	Seed    uint64
	Dialect string       // as --dialect says it
	Detect  bool         // the front-ends find the dialect out
	Def     expr.Value   // the definition as a JSON document
	Subs    []expr.Value // definitions it refers to by workflowId
	Input   expr.Value   // of the instance that is started by hand
	ByHand  bool         // false: the events start it
	Mocks   []Mock
	Events  []TimedEvent // in order of time
	Updates []Update     // of the job that the case is, in order of time
}

// Mock lists the answers of one function, call by call; the last one repeats.
type Mock struct {
	Function string
	Answers  []Answer
}

// Answer is what one call gives, after a delay.
type Answer struct {
	Result    expr.Value
	HasResult bool
	Echo      bool // the arguments come back
	Error     *Fault
	Delay     time.Duration
}

// TimedEvent is a CloudEvent that arrives some time after the start.
type TimedEvent struct {
	At    time.Duration
	Event expr.Value
}

// Update is what somebody sends to the job of a case.
type Update struct {
	At     time.Duration
	Kind   UpdateKind
	Actor  string     // of a status: CLIENT or WFX
	Value  expr.Value // the status, the definition or the list of tags
	Client string     // whose job it must be; "": anybody's
	Rev    RevKind
}

// UpdateKind is what an update changes.
type UpdateKind string

// The kinds of updates.
const (
	UpdateStatus     UpdateKind = "status"
	UpdateDefinition UpdateKind = "definition"
	UpdateAddTags    UpdateKind = "add tags"
	UpdateDeleteTags UpdateKind = "delete tags"
)

// RevKind is which revision of the job the sender has read.
type RevKind string

// The kinds of revisions.
const (
	RevAny   RevKind = ""
	RevNow   RevKind = "now"   // the newest
	RevStale RevKind = "stale" // the one before; any, where there is none
)

// Fault is an error inside a workflow.
type Fault struct {
	Name, Code, Status, Title, Type string

	uncatchable bool
}

func (f *Fault) Error() string { return f.Name }

// Call is one call of a function, with the time it was made at.
type Call struct {
	At       time.Duration
	Function string
	Args     expr.Value
	Maybe    bool // it was cancelled as it began, and need not have been made. The interpreter tells
}

// Instance is what became of one instance. Times count from the start of the case.
type Instance struct {
	Workflow string
	Status   string // completed, failed, cancelled, waiting
	Output   expr.Value
	Error    string // the name of the fault of a failed one
	Path     []string
	Created  time.Duration
	Ended    time.Duration // of one that is over
	Job      string        // of a job: its client, state, group and tags
}

// The statuses of an instance.
const (
	Completed = "completed"
	Failed    = "failed"
	Cancelled = "cancelled"
	Waiting   = "waiting"
)

// Produced is an event that an instance made, without its id and time attributes.
type Produced struct {
	At    time.Duration
	Event expr.Value
}

// Reply is what came of an update.
type Reply struct {
	At    time.Duration
	Taken bool
}

// Outcome is everything that is observed of a case.
type Outcome struct {
	Instances []Instance // in order of creation
	Calls     []Call
	Produced  []Produced
	Replies   []Reply  // to the updates of a job
	History   []string // of a job: what it is now and what was replaced, newest first

	// Reached names what the interpreter came by, for coverage.
	Reached map[string]bool

	// Mixed are the instants at which several branches acted. Which of them acts first
	// is nobody's promise, so their acts are compared in any order. The interpreter tells.
	Mixed map[time.Duration]bool
}
