package sw05

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The definition as it was written, every value with its place. A nil pointer is
// something that is not there, or that was wrong and has been reported.

type workflow struct {
	form                      form
	node                      *dialect.Node
	id                        *dialect.Node
	name, description         *template
	version                   *template
	inputSchema, outputSchema *schema
	functions                 []*function
	events                    []*event
	retries                   []*retry
	states                    []*state // also those inside of branches and iterations
	top                       *scope
	metadata, extensions      *dialect.Node
	labels                    []label
	absent                    map[string]bool // functions, events or retries: the resource that holds them cannot be read

	start *state // decided by check
}

// scope is a list of states that lead only to one another: the workflow, or in the forms before 0.5 a branch or
// the iterations of a foreach.
type scope struct {
	states []*state
	parent *state // nil: the workflow
	branch *dialect.Node

	byName, byID dialect.Names[*state]
	start        *state // decided by check
}

// definition is what functions, events and retries have in common.
type definition struct {
	node   *dialect.Node
	name   *dialect.Node
	shared bool // stands in a resource that other definitions use too
	used   bool // decided by check
}

type function struct {
	definition
	operation, metadata *dialect.Node
	typ                 *dialect.Node // of the forms before 0.5
	id                  ir.FunctionID // in the program's table
}

type event struct {
	definition
	source, typ *dialect.Node
	produced    bool
	unsure      bool // its kind is misspelt
	either      bool // it has no kind, and may be consumed and produced
	sends       bool // it is produced somewhere, decided by check
	waits       bool // it is consumed somewhere, likewise
	correlation []correlation
	metadata    *dialect.Node
	id          ir.EventID // in the program's table
	sent        ir.EventID // where it is either: as it is produced
}

type correlation struct {
	attribute *dialect.Node
	value     *template
}

type retry struct {
	definition
	delay, multiplier *duration
	maxAttempts       int
	jitterMillis      int64
	jitterAtMost      *duration
}

// The types of states.
const (
	typeEvent     = "event"
	typeOperation = "operation"
	typeSwitch    = "switch"
	typeDelay     = "delay"
	typeParallel  = "parallel"
	typeSubflow   = "subflow"
	typeInject    = "inject"
	typeForeach   = "foreach"
	typeCallback  = "callback"
)

var stateTypes = []string{
	typeEvent, typeOperation, typeSwitch, typeDelay, typeParallel, typeSubflow, typeInject, typeForeach, typeCallback,
}

type state struct {
	node                      *dialect.Node
	name, id                  *dialect.Node
	typ                       string // "" where it is unknown
	start                     *start
	exit                      exit // nothing for a switch
	hasExit                   bool // one is written, though perhaps wrongly
	input, output             *path
	inputSchema, outputSchema *schema
	onErrors                  []*onError
	retries                   []*stateRetry // of the forms before 0.5
	compensatedBy             *dialect.Node
	compensation              bool // usedForCompensation
	metadata                  *dialect.Node
	body                      body

	index        int
	scope        *scope
	label        string     // a name that no other state has, decided by check
	incoming     []incoming // decided by check, as are the rest
	undoneBy     *state     // its compensator
	undoLikely   *state     // the same, or what a dangling reference most likely means
	undoesOthers bool       // another's compensatedBy names it
	reachable    bool
}

// incoming is a way into a state.
type incoming struct {
	from *state
	at   *dialect.Node
}

// body is what a type of states adds: one struct per type.
type body interface{ exits() []labelled }

// labelled is a way out of a switch with its name for diagrams.
type labelled struct {
	exit
	label string
	kind  exitKind
}

type exitKind uint8

const (
	exitCondition exitKind = iota
	exitEvent
	exitDefault
)

type (
	eventState struct {
		exclusive bool
		onEvents  []*onEvents
		timeout   *duration
	}
	operationState struct{ actions actions }
	switchState    struct {
		conditions []*condition
		onEvents   bool // eventConditions, else dataConditions
		timeout    *duration
		otherwise  exit
	}
	delayState    struct{ delay *duration }
	parallelState struct {
		branches []*branch
		need     *quantity // nil: all
	}
	subflowState struct {
		workflow *dialect.Node
		wait     bool
	}
	injectState  struct{ data *template }
	foreachState struct {
		over     *path
		variable *dialect.Node
		into     []string
		keep     bool // outputCollection is given
		max      *quantity
		actions  actions
		workflow *dialect.Node
		states   *scope   // of the forms before 0.5, as are the rest
		in       []string // where an item stands in the state's data
		pause    *duration
	}
	callbackState struct {
		action  *action
		event   *eventUse
		filter  *path
		timeout *duration
	}
)

type onEvents struct {
	node    *dialect.Node
	events  []*eventUse
	filter  *path
	actions actions
}

// eventUse is a reference to an event.
type eventUse struct {
	node *dialect.Node
	def  *event // decided by check
}

type actions struct {
	list     []*action
	parallel bool
}

type action struct {
	node           *dialect.Node
	name           *dialect.Node
	call           *call
	trigger        *trigger
	timeout        *duration
	input, results *path
}

type call struct {
	refName    *dialect.Node
	parameters *template
	def        *function // decided by check; a name only where it is not defined
}

type trigger struct {
	produce produced
	result  *eventUse
}

type condition struct {
	node   *dialect.Node
	name   *dialect.Node
	when   *path     // of data
	test   *test     // of data, in the forms before 0.5
	event  *eventUse // of events
	filter *path
	exit   exit
}

type branch struct {
	node     *dialect.Node
	name     *dialect.Node
	actions  actions
	workflow *dialect.Node
	states   *scope // of the forms before 0.5
	detached bool   // nothing waits for it
}

type onError struct {
	node     *dialect.Node
	error    *dialect.Node
	code     *dialect.Node
	retryRef *dialect.Node
	retry    *retry // decided by check
	exit     exit

	// Of the forms before 0.5, instead of error, code and retryRef.
	test   *test
	filter *path
}

// stateRetry is a retry of the forms before 0.5: which errors or results of the state make it run again.
type stateRetry struct {
	node                *dialect.Node
	test                *test
	interval, increment *duration
	maxAttempts         int
}

// exit is where a way out leads; both are nil where a compensating state ends.
type exit struct {
	transition *transition
	end        *end
}

type transition struct {
	node       *dialect.Node
	next       *dialect.Node
	expression *path
	test       *test // instead of expression, in the forms before 0.5
	produce    []*produced
	compensate *dialect.Node // compensateBefore: true
	to         *state        // decided by check
	likely     *state        // what a dangling one most likely means
}

type end struct {
	node       *dialect.Node
	terminate  bool
	produce    []*produced
	compensate *dialect.Node
}

type produced struct {
	event *eventUse
	// One of these, or none: a selection, or a template.
	selects    *path
	data       *template
	attributes *template
}

type start struct {
	node     *dialect.Node
	schedule *schedule
}

type schedule struct {
	interval, cron, zone string
	directInvoke         bool
}

// duration is an ISO 8601 duration or an expression that gives one.
type duration struct {
	node  *dialect.Node
	value calendar.Duration
	expr  *template
}

// quantity is a whole number or an expression that gives one.
type quantity struct {
	node  *dialect.Node
	value int64
	expr  *template
}

// schema is a JSON Schema that a definition refers to.
type schema struct {
	node *dialect.Node
	text string
}

func (s *state) nameText() string { return s.name.Literal() }

// title is how messages call a state.
func (s *state) title() string {
	if s.name == nil {
		return "the state"
	}
	return fmt.Sprintf("state %q", s.name.Text)
}

func (*eventState) exits() []labelled     { return nil }
func (*operationState) exits() []labelled { return nil }
func (*delayState) exits() []labelled     { return nil }
func (*parallelState) exits() []labelled  { return nil }
func (*subflowState) exits() []labelled   { return nil }
func (*injectState) exits() []labelled    { return nil }
func (*foreachState) exits() []labelled   { return nil }
func (*callbackState) exits() []labelled  { return nil }

func (s *switchState) exits() []labelled {
	out := make([]labelled, 0, len(s.conditions)+1)
	for _, c := range s.conditions {
		l := labelled{exit: c.exit, label: c.name.Literal()}
		if s.onEvents {
			l.kind = exitEvent
			if l.label == "" && c.event != nil {
				l.label = c.event.node.Literal()
			}
		}
		if l.label == "" && c.when != nil {
			l.label = c.when.src
		}
		if l.label == "" && c.test != nil {
			l.label = c.test.label
		}
		out = append(out, l)
	}
	return append(out, labelled{exit: s.otherwise, kind: exitDefault})
}

// label is a label of instances, or their name.
type label struct {
	key   string
	value *template
}
