package naive10

import (
	"time"
)

// Values are decoded JSON in the form that gojq has: nil, bool, int, *big.Int, float64,
// string, []any and map[string]any. Decode makes them.

// Case is one thing to run.
type Case struct {
	Definitions []map[string]any // the first is under test, the others are there for it
	Input       any
	HasInput    bool      // false: events or a schedule start it, else it starts with {}
	Start       time.Time // where virtual time begins
	Until       time.Duration
	Secrets     map[string]any
	Answer      func(Call) Answer
	Events      []Event // in order of time
}

// Event is a CloudEvent that arrives some time after the start.
type Event struct {
	At    time.Duration
	Event map[string]any
}

// Call is one call of a function that the definition does not define itself.
type Call struct {
	At       time.Duration
	Function string // the name that mocks have for it
	Kind     string // what the call task says: http, openapi, …, or the name of the function
	Args     any
	Maybe    bool // it was cancelled as it began: a runtime need not have made it
}

// Answer is how a call ends, after a delay.
type Answer struct {
	Result any
	Echo   bool           // the arguments come back
	Error  map[string]any // type, status, title, detail; nil if none
	Delay  time.Duration
}

// Mocks are answers by the name of a function, call by call; the last one repeats.
// "*" stands for every other function.
type Mocks map[string][]Answer

// Answer returns a function that answers as the mocks say, for one run. A function that has no mock gets no
// answer; unknown is told its name.
func (m Mocks) Answer(unknown func(string)) func(Call) Answer {
	asked := map[string]int{}
	return func(c Call) Answer {
		list, ok := m[c.Function]
		if !ok {
			if list, ok = m["*"]; !ok {
				unknown(c.Function)
				return Answer{Error: map[string]any{"title": "no mock of " + c.Function}}
			}
		}
		i := min(asked[c.Function], len(list)-1)
		asked[c.Function]++
		return list[i]
	}
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
	Namespace, Workflow, Version string
	Status                       string
	Output                       any
	Error                        map[string]any // of a failed one
	Path                         []string       // tasks of the main list, as they ran
	Created, Ended               time.Duration
	Child                        bool
}

// Produced is an event that an instance emitted.
type Produced struct {
	At    time.Duration
	Event map[string]any
}

// TaskRun is one run of a task, in order of beginning.
type TaskRun struct {
	Name, Reference string
	Status          string // completed, failed, cancelled
	Output          any
	Error           map[string]any
	Began, Ended    int // places in one order of all beginnings and endings
}

// Outcome is everything that is observed of a case.
type Outcome struct {
	Instances []Instance // in order of creation
	Calls     []Call
	Produced  []Produced
	Tasks     []*TaskRun

	// Reached names what the case came by, for coverage.
	Reached map[string]bool
	// Mixed are the instants at which several branches acted; in which order is nobody's promise.
	Mixed map[time.Duration]bool
	// Open says why a comparison with the outcome proves nothing, "" if it does.
	Open string
}

// Why an outcome is open.
const (
	openTie    = "two things at one instant"
	openLong   = "too long"
	openJitter = "a jitter that varies"
	openTwice  = "an event for several listens of one instance"
	openOld    = "a correlated event older than the instance"
	openUnmade = "a call after one that was cancelled as it began"
)

// maxTasks bounds the tasks that a case may run.
const maxTasks = 400
