package sw08

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The types of states, as programs and diagrams have them. sleep is also 0.6's delay.
const (
	typeEvent     = "event"
	typeOperation = "operation"
	typeSwitch    = "switch"
	typeSleep     = "sleep"
	typeDelay     = "delay"
	typeParallel  = "parallel"
	typeSubflow   = "subflow" // 0.6
	typeInject    = "inject"
	typeForeach   = "foreach"
	typeCallback  = "callback"
)

type state struct {
	node          *dialect.Node
	name, id      *dialect.Node
	typ           string // "" where it is unknown
	exit          exit   // nothing for a switch
	hasExit       bool   // one is written, though perhaps wrongly
	input, output *expression
	timeouts      timeouts // with those of the workflow where it has none; 0.6's own keys are here too
	onErrors      []*onError
	policyRef     *dialect.Node // 0.9: onErrors as text
	handlers      []*handler    // 0.9; check puts those of the policy here
	compensatedBy *dialect.Node
	compensation  bool // usedForCompensation
	metadata      *dialect.Node
	body          body

	index        int
	ref          string     // a JSON pointer: /states/0
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
	when  string // the condition, where the label is only its name
	kind  ir.EdgeKind
}

type (
	eventState struct {
		exclusive bool
		onEvents  []*onEvents
	}
	operationState struct{ actions actions }
	switchState    struct {
		conditions []*condition
		onEvents   bool // eventConditions, else dataConditions
		otherwise  exit
		hasDefault bool
	}
	sleepState    struct{ duration *duration }
	parallelState struct {
		branches []*branch
		need     *quantity // nil: all
	}
	subflowState struct { // 0.6
		workflow *dialect.Node
		wait     bool
		repeat   *repeat
	}
	injectState  struct{ data *expression }
	foreachState struct {
		over       *expression
		variable   string        // "item" where none is given
		param      *dialect.Node // where it is
		into       []string
		keep       bool // outputCollection is given
		most       *quantity
		batch      bool // most items form a batch; else they are how many at a time
		sequential bool
		actions    actions
		workflow   *dialect.Node // 0.6: workflowId instead of actions
	}
	callbackState struct {
		action *action
		event  *eventUse
		filter eventFilter
	}
)

// repeat is how often 0.6's subflow state runs its workflow.
type repeat struct {
	node            *dialect.Node
	while           *expression
	checkBefore     bool
	max             *quantity
	continueOnError bool
	stop            []*eventUse
}

type onEvents struct {
	node    *dialect.Node
	events  []*eventUse
	filter  eventFilter
	actions actions
}

// eventFilter is an eventDataFilter.
type eventFilter struct {
	drop bool        // useData: false
	data *expression // nil: all of it
	to   *target     // nil: the top
}

// target is where a value goes in the state data: toStateData. An empty path is the top.
type target struct{ path []string }

// eventUse is a reference to an event.
type eventUse struct {
	node     *dialect.Node
	def      *event // decided by check
	kindless bool   // of publish, which belongs to 0.9, where events have no kind
}

type actions struct {
	list     []*action
	parallel bool
}

// action is one action. Exactly one of call, trigger, publish, subscribe, flow and raise is set.
type action struct {
	node          *dialect.Node
	name          *dialect.Node
	ref           string // a JSON pointer
	condition     *expression
	before, after *duration // sleep
	timeout       *duration // 0.6: its own timeout
	from          *expression
	drop          bool // useResults: false
	results       *expression
	to            *target
	retryRef      *dialect.Node // 0.7, 0.8
	retry         *retry        // decided by check
	retryable     []*errorUse
	nonRetryable  []*errorUse
	policyRef     *dialect.Node // 0.9: onErrors as text
	handlers      []*handler    // 0.9; check puts those of the policy here

	call      *call
	trigger   *trigger
	publish   *produced // 0.9
	subscribe *subscribe
	flow      *flow
	raise     *throw // 0.9's errorRef
}

type call struct {
	node       *dialect.Node
	refName    *dialect.Node
	arguments  *expression // a template, or an expression that gives the object
	selection  *expression // selectionSet, a template
	async      bool
	def        *function // decided by check; nil where it is not defined
	inlineExpr bool      // decided by check: def is an expression function
}

// trigger is an eventRef: an event is produced, another one is waited for.
type trigger struct {
	produce produced
	result  *eventUse // nil: nothing is waited for
	timeout *duration // resultEventTimeout
	async   bool
}

type subscribe struct {
	event   *eventUse
	timeout *duration
}

// flow is a subFlowRef.
type flow struct {
	node     *dialect.Node
	workflow *dialect.Node
	version  *dialect.Node
	async    bool
	outlives bool // onParentComplete: continue
}

type condition struct {
	node   *dialect.Node
	name   *dialect.Node
	when   *expression // of data
	event  *eventUse   // of events
	filter eventFilter
	exit   exit
}

type branch struct {
	node     *dialect.Node
	name     *dialect.Node
	actions  actions
	workflow *dialect.Node // 0.6: workflowId instead of actions
	timeouts timeouts      // with those of the state and the workflow where it has none
}

// onError handles errors of a state (0.6 to 0.8).
type onError struct {
	node     *dialect.Node
	errors   []*errorUse   // 0.7, 0.8: any of them
	error    *dialect.Node // 0.6: a name or *
	code     *dialect.Node // 0.6
	retryRef *dialect.Node // 0.6
	retry    *retry        // decided by check
	exit     exit
}

// errorUse is a reference to an error.
type errorUse struct {
	node *dialect.Node
	def  *errorDef // decided by check
}

// exit is where a way out leads; both are nil where a compensating state ends.
type exit struct {
	transition *transition
	end        *end
}

type transition struct {
	node       *dialect.Node
	next       *dialect.Node
	produce    []*produced
	compensate *dialect.Node // compensate: true
	to         *state        // decided by check
	likely     *state        // what a dangling one most likely means
}

type end struct {
	node       *dialect.Node
	terminate  bool
	produce    []*produced
	compensate *dialect.Node
	continueAs *continueAs
}

type continueAs struct {
	workflow *dialect.Node
	version  *dialect.Node
	data     *expression // text is an expression, an object is literal
}

// produced is an event that is sent.
type produced struct {
	event      *eventUse
	data       *expression // a template, or an expression
	attributes *expression // a template of an object
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
func (*sleepState) exits() []labelled     { return nil }
func (*parallelState) exits() []labelled  { return nil }
func (*subflowState) exits() []labelled   { return nil }
func (*injectState) exits() []labelled    { return nil }
func (*foreachState) exits() []labelled   { return nil }
func (*callbackState) exits() []labelled  { return nil }

func (s *switchState) exits() []labelled {
	out := make([]labelled, 0, len(s.conditions)+1)
	for _, c := range s.conditions {
		l := labelled{exit: c.exit, label: c.name.Literal(), kind: ir.EdgeCondition}
		if s.onEvents {
			l.kind = ir.EdgeEvent
			if l.label == "" && c.event != nil {
				l.label = c.event.node.Literal()
			}
		}
		if c.when != nil {
			l.when = c.when.written()
			if l.label == "" {
				l.label, l.when = l.when, ""
			}
		}
		out = append(out, l)
	}
	if s.hasDefault {
		out = append(out, labelled{exit: s.otherwise, kind: ir.EdgeDefault})
	}
	return out
}

// written is the expression as its author wrote it, for people.
func (e *expression) written() string {
	if e.node == nil {
		return e.src
	}
	return e.node.Text
}
