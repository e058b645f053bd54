// Package states holds a checked definition of Serverless Workflow as plain data, of 0.1 as released, 0.2, and 0.5 to 0.9, with every
// reference resolved: for tools that translate definitions. The front-ends fill it.
//
// What the versions disagree about is said by fields, not by the name of a version: a translator asks how
// a filter shapes what it selects, or what a retry repeats.
package states

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// Outline is a definition.
type Outline struct {
	Title                      string // of its version
	Version05                  bool   // data follows the rules of 0.5: see Path
	ID, Name, Version          string
	Description                string
	Metadata, Extensions       expr.Value
	HasMetadata, HasExtensions bool
	InputSchema, OutputSchema  *Schema
	Functions                  []*Function
	Events                     []*Event
	States                     []*State // also those inside of branches and iterations
	Start                      *State
	Schedule                   *Schedule

	// From 0.6 or 0.7 on.
	Unknown    []string   // what the outline cannot hold
	Constants  expr.Value // an object; null: none
	Secrets    []string
	Errors     []*Error
	Timeout    *Duration // of the workflow
	Interrupt  bool      // the timeout does not let the state finish
	RunBefore  *State
	KeepActive bool
	// StateRetries says that a retry repeats the state, not the action.
	StateRetries bool
}

// Path is an expression that selects from data.
//
// In the rules of 0.5 what a state filter selects by one name keeps that name, and what is merged into the
// data always does; in later versions the value is what it is.
type Path struct {
	Pos   dialect.Pos
	Lang  string // jsonpath.Lang, "jq", or choice.Lang
	Src   string // without braces; of a choice, for people
	Shape jsonpath.Shape
	Tree  choice.Condition // of a choice
}

// Template is a value in which every text may hold expressions of a language.
type Template struct {
	Pos   dialect.Pos
	Lang  string // of the expressions: jsonpath.Lang in {{ }}, "jq" in ${ }
	Value expr.Value
}

// Schema is a JSON Schema.
type Schema struct {
	Pos  dialect.Pos
	Text string
	Warn bool // what does not match is a warning
}

// Function is something that actions call.
type Function struct {
	Pos             dialect.Pos
	Name, Operation string // Operation "": whoever runs the workflow has it
	Type            string // from 0.6 on
	Metadata        expr.Value
}

// Types of functions whose operation is not what the type's contract says.
const (
	FunctionHTTP = "http" // Operation is METHOD URL
	FunctionLog  = "log"
)

// Event is an event that is consumed or produced.
type Event struct {
	Pos         dialect.Pos
	Name        string
	Source      string // "": any
	Type        string // "": any
	Produced    bool
	Correlation []Correlation
	Envelope    bool // filters see the whole event, not its data
	Either      bool // filters see the whole event where they begin with an attribute that its data has not (0.6)
}

// Correlation is one attribute by which events belong to an instance: it equals Value, or what the first consumed
// event had.
type Correlation struct {
	Pos       dialect.Pos
	Attribute string
	Value     *Template
}

// Error is an error that handlers name: by name and code, or by type and status.
type Error struct {
	Name, Code   string
	Type, Status string
}

// Retry says how often something is tried again, and when.
type Retry struct {
	Pos          dialect.Pos
	Name         string
	Delay        *Duration
	Add          *Duration // to the delay, each time
	Factor       float64   // 0: 1
	AtMost       *Duration
	Max          int // retries after the first try
	Always       bool
	JitterMillis int64 // thousandths of the delay
	JitterAtMost *Duration
}

// Schedule starts instances, or says when they may start.
type Schedule struct {
	Pos          dialect.Pos
	Interval     string
	Every        *Duration
	Cron, Zone   string
	DirectInvoke bool
	Window       bool // Interval only allows starts
}

// The types of states.
const (
	TypeEvent     = "event"
	TypeOperation = "operation"
	TypeSwitch    = "switch"
	TypeDelay     = "delay"
	TypeParallel  = "parallel"
	TypeSubflow   = "subflow"
	TypeInject    = "inject"
	TypeForeach   = "foreach"
	TypeCallback  = "callback"
)

// State is a state; of the fields after Metadata only those of its type are set.
type State struct {
	Pos                       dialect.Pos
	Name                      string
	Type                      string
	Exit                      Exit
	Input, Output             *Path
	InputSchema, OutputSchema *Schema
	Handlers                  []*Handler
	CompensatedBy             *State
	Compensates               bool // it is for compensation alone
	Timeout                   *Duration
	Metadata                  expr.Value
	Inside                    bool       // of a branch or an iteration
	Retries                   []*Attempt // before 0.5: the first whose condition holds decides

	Actions    Actions     // operation
	Exclusive  bool        // event: one event is enough
	Entries    []*Entry    // event
	Wait       *Duration   // event, callback, switch: for events; delay: how long
	Conditions []*Case     // switch
	Default    *Exit       // switch; nil: no match is an error
	OnEvents   bool        // switch
	Branches   []*Branch   // parallel
	Need       *Quantity   // parallel; nil: all branches
	Subflow    *Subflow    // subflow
	Data       *Template   // inject
	Each       *Each       // foreach
	Action     *Action     // callback
	Event      *EventUse   // callback
	Unknown    []string    // what of the state the outline cannot hold
	UnknownPos dialect.Pos // of that
}

// Actions are done one after the other or side by side.
type Actions struct {
	List     []*Action
	Parallel bool
}

// Action calls a function, starts a workflow, or sends an event and waits for another: one of the three.
type Action struct {
	Pos         dialect.Pos
	Name        string
	Call        *Call
	Trigger     *Trigger
	Subflow     *Subflow
	Timeout     *Duration
	Input       *Path // what arguments see
	Results     *Path
	To          []string // where results go in the data; nil: at the top
	Wrap        string   // the name that a result gets which is no object and goes to the top; "": it is not merged
	DropResults bool
	Evaluate    *Path // instead of the three: the result is that of an expression
	Condition   *Path
	Before      *Duration // sleeps
	After       *Duration
	Async       bool
	Retry       *Retry   // of the action alone
	RetryErrors []*Error // that are retried; none: all
	RetryExcept []*Error
	Unknown     []string // what the outline cannot hold
}

// Call is a call of a function.
type Call struct {
	Function  string
	Def       *Function // nil: not defined here
	Arguments *Template // nil: none
}

// Trigger sends an event. Result is nil where nothing is waited for.
type Trigger struct {
	Produce Produced
	Result  *Event
	Timeout *Duration
}

// Subflow starts another workflow with the data at hand.
type Subflow struct {
	Pos      dialect.Pos
	Workflow string
	Version  string
	Wait     bool
}

// EventUse is an event with the filter of its data.
type EventUse struct {
	Pos    dialect.Pos
	Event  *Event
	Filter *Path
	To     []string
	Wrap   string // as of an action whose result the event is
	Drop   bool
}

// Entry is what an event state does on events.
type Entry struct {
	Pos     dialect.Pos
	Events  []*EventUse
	Actions Actions
}

// Case is one condition of a switch.
type Case struct {
	Pos   dialect.Pos
	Name  string
	When  *Path     // of data
	Event *EventUse // of events
	Exit  Exit
}

// Branch is a branch of a parallel state.
type Branch struct {
	Pos     dialect.Pos
	Name    string
	Actions Actions
	Subflow *Subflow
	Timeout *Duration

	// Before 0.5.
	States   *Scope // instead of actions and a workflow
	Detached bool   // nothing waits for it
}

// Scope is states that lead to one another only, before 0.5.
type Scope struct {
	States   []*State
	Start    *State
	Filtered bool // what they leave is the result, else what they add
}

// Each is the loop of a foreach state.
type Each struct {
	Over       *Path
	Variable   string
	Into       []string
	Keep       bool      // results are kept in Into
	Max        *Quantity // how many at once; nil: no limit
	Sequential bool
	Actions    Actions
	Subflow    *Subflow

	// Before 0.5.
	States *Scope   // instead of actions and a workflow
	In     []string // where an item stands in the data; nil: beside it
	Pause  *Duration
}

// Attempt is a retry of a state before 0.5.
type Attempt struct {
	When    *Path    // of the error
	Errors  []*Error // that the condition names
	Results bool     // the condition asks for the state's output instead
	Retry   *Retry
}

// Handler handles errors of a state.
type Handler struct {
	Pos    dialect.Pos
	Any    bool
	Errors []*Error // one of them, unless Any
	Retry  *Retry   // of the state
	Exit   Exit

	// Before 0.5.
	When *Path // instead of Any and Errors, which are those that it names
	Put  *Put
}

// Put is what of an error becomes data: the value at Keys in it, under a name.
type Put struct {
	Pos  dialect.Pos
	Name string
	Keys []string
	Odd  bool // more than names select it
}

// Exit is a way out: to a state, or the end.
type Exit struct {
	Pos        dialect.Pos
	Next       *State
	End        bool
	Terminate  bool
	Guard      *Path // must hold
	Produce    []Produced
	Compensate bool
	Unknown    []string // what the outline cannot hold
}

// Produced is an event that is sent.
type Produced struct {
	Pos        dialect.Pos
	Event      *Event
	Selects    *Path // one of these, or none
	Data       *Template
	Attributes *Template
}

// Duration is an amount of time, or an expression that gives one.
type Duration struct {
	Pos   dialect.Pos
	Value calendar.Duration
	Expr  *Template
}

// Quantity is a whole number, or an expression that gives one.
type Quantity struct {
	Pos   dialect.Pos
	Value int64
	Expr  *Template
}
