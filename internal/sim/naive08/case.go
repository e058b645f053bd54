package naive08

import (
	"fmt"
	"strings"
	"time"
)

// Values are decoded JSON in the form that gojq has: nil, bool, int, *big.Int, float64,
// string, []any and map[string]any.

// Case is one thing to run.
type Case struct {
	Form        int              // 6 to 9: the version of the definitions
	Definitions []map[string]any // the first is under test, the others are there for it
	Input       any
	ByHand      bool      // false: events start it
	Start       time.Time // where virtual time begins
	Mocks       map[string][]Answer
	Events      []Event // in order of time
}

// Event is a CloudEvent that arrives some time after the start.
type Event struct {
	At    time.Duration
	Event map[string]any
}

// Call is one call of a function.
type Call struct {
	At       time.Duration
	Function string
	Args     any
	Maybe    bool // it was cancelled as it began: a runtime need not have made it
}

// Answer is how a call ends, after a delay.
type Answer struct {
	Result    any
	HasResult bool // else there is none, which is not null
	Echo      bool // the arguments come back
	Error     *Fault
	Delay     time.Duration
}

// Fault is an error inside a workflow.
type Fault struct {
	Name, Code, Status, Title, Type string

	instance string // 0.9: where it came from, as a JSON pointer
	final    bool   // nobody retries it
}

func (f *Fault) Error() string { return f.Name }

// String is what is compared of the fault of an instance: its name, or what it is in terms of 0.9, where it has a type.
func (f *Fault) String() string {
	if !strings.Contains(f.Type, "://") || f.instance == "" {
		return f.Name
	}
	return fmt.Sprintf("%s %s at %s", f.Type, f.Status, f.instance)
}

// The statuses of an instance.
const (
	Completed = "completed"
	Failed    = "failed"
	Cancelled = "cancelled"
	Waiting   = "waiting"
)

// Instance is what became of one instance. Times count from the start of the case.
type Instance struct {
	Workflow       string
	Status         string
	Output         any
	Fault          *Fault
	Path           []string // states, as they were entered
	Created, Ended time.Duration
}

// Produced is an event that an instance made.
type Produced struct {
	At    time.Duration
	Event map[string]any
}

// Outcome is everything that is observed of a case.
type Outcome struct {
	Instances []Instance // in order of creation
	Calls     []Call
	Produced  []Produced

	// Reached names what the case came by, for coverage.
	Reached map[string]bool
	// Mixed are the instants at which several branches acted; in which order is nobody's promise.
	Mixed map[time.Duration]bool
	// Open says why a comparison with the outcome proves nothing, "" if it does.
	Open string
}

// Why an outcome is open: the specification and the decisions about it do not say.
const (
	openTie       = "two things at one instant"
	openLong      = "too long"
	openUnmade    = "a call after one that was cancelled as it began"
	openOld       = "a correlated event older than the instance"
	openTwice     = "an event for several waits of one instance"
	openPartial   = "a timeout after half of the correlated events"
	openEarly     = "a callback that fails after its event came"
	openHeld      = "a start event of an instance that ended, for a start with a timeout"
	openKept      = "a start event for an instance that is kept active"
	openNothing   = "an iteration without a result"
	openScalars   = "several actions of an iteration, one without an object"
	openTarget    = "a place for data that is no array or object"
	openNeed      = "a number of branches that is not between 1 and all"
	openUndoEnd   = "an end in compensation"
	openUndoLate  = "the end of the workflow's time in compensation"
	openLateExit  = "an exit with events or compensation after the workflow's time"
	openAsync     = "an asynchronous call that is not answered when its workflow's time ends, compensates or continues"
	openStop      = "a stop event before the sub-workflow began"
	openIgnored   = "an ignored error of a state that has a compensation"
	openExit      = "an exit that fails"
	openWhole     = "everything where more than the data is visible"
	openByHand    = "a start by hand of what events start"
	openResults   = "a filter of results that fails, in an action that handles its errors"
	openContinued = "an asynchronous child that ends with its parent, and continues"
	openInput     = "a child's input that is no object"
	openCondition = "a correlation value that is no text"
)

// limits of a case; beyond them it is open.
const (
	maxStates  = 150
	maxCalls   = 300
	maxRetries = 10
)
