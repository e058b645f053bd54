package sw01

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The definition as it was written, every value with its place. A nil pointer is
// something that is not there, or that was wrong and has been reported.

type workflow struct {
	form                 form
	node                 *dialect.Node
	id, name             *dialect.Node
	description, version *dialect.Node
	execStatus           *dialect.Node
	triggers             []*trigger
	scope                *scope
	metadata, extensions *dialect.Node
	labels               []dialect.Label // of instances
	states               []*state        // of all scopes, the workflow's own first
	vague                bool            // an event expression is malformed: nobody knows which events it means
	derivedID            string          // where the document has none
}

// trigger is an event that the workflow waits for (0.1 E §触发器定义, K and C
// §Trigger Definition).
type trigger struct {
	node, name  *dialect.Node
	source, typ *dialect.Node
	eventID     *dialect.Node // E: the event's type or id
	token       *token

	used bool       // decided by check
	id   ir.EventID // in the program's table
}

// token says where an event bears what tells which instance it belongs to.
type token struct {
	node *dialect.Node
	from string
}

// scope is a set of states with names of its own: those of the workflow, or those of
// one branch.
type scope struct {
	node     *dialect.Node // the object that has the states
	branch   *branch       // nil for the workflow
	startsAt *dialect.Node
	states   []*state

	start  *state // decided by check
	byName dialect.Names[*state]
	byID   dialect.Names[*state]
	names  []string // and ids, as they stand
	ends   []*state // its END states
}

// title is how messages call a scope.
func (s *scope) title() string {
	switch {
	case s.branch == nil:
		return "the workflow"
	case s.branch.name.Literal() != "":
		return fmt.Sprintf("branch %q", s.branch.name.Text)
	}
	return "the branch"
}

// The types of states.
const (
	typeEvent     = "EVENT"
	typeOperation = "OPERATION"
	typeSwitch    = "SWITCH"
	typeDelay     = "DELAY"
	typeParallel  = "PARALLEL"
	typeSubflow   = "SUBFLOW"
	typeEnd       = "END"
)

var stateTypes = []string{typeEvent, typeOperation, typeSwitch, typeDelay, typeParallel, typeSubflow, typeEnd}

type state struct {
	node     *dialect.Node
	name, id *dialect.Node
	typ      string        // "" where it is unknown
	start    *dialect.Node // start: true
	end      *dialect.Node // end: true
	next     *reference
	filter   filter
	metadata *dialect.Node
	body     body
	scope    *scope

	index     int    // among all states of the workflow
	label     string // what people know it by: unique in the workflow
	reachable bool   // decided by check
}

// body is what a type of states adds: one struct per type.
type body interface {
	ways() []way
}

// way is a way out of a state besides its own next state.
type way struct {
	to    *reference
	label string
	kind  wayKind
}

type wayKind uint8

const (
	wayEvent wayKind = iota
	wayCondition
	wayDefault
	wayError
)

// reference is the name (or id) of a state.
type reference struct {
	node   *dialect.Node
	to     *state // decided by check
	likely *state // the same, or what a dangling one most likely means
}

type (
	eventState     struct{ entries []*entry }
	operationState struct{ actions actions }
	switchState    struct {
		choices   []*switchChoice
		otherwise *reference
	}
	delayState    struct{ delay *amount }
	parallelState struct{ branches []*branch }
	subflowState  struct {
		workflow *dialect.Node
		wait     bool
	}
	endState struct{ failure bool }
)

// entry is what an EVENT state does about one event expression.
type entry struct {
	node       *dialect.Node
	text       *dialect.Node // the expression as it is written
	expression *eventExpr
	timeout    *amount
	actions    actions
	filter     *path // the event filter's input path
	next       *reference
}

type actions struct {
	list     []*action
	parallel bool
}

type action struct {
	node     *dialect.Node
	function *function
	timeout  *amount
	retries  []*retry
	filter   filter
}

type function struct {
	name, typ  *dialect.Node
	parameters *dialect.Node
}

// retry is what is done about one outcome of a call.
type retry struct {
	node     *dialect.Node
	match    *dialect.Node
	interval *amount
	max      int
	next     *reference

	unused bool // decided by check: an earlier one takes all that it would
}

// switchChoice is one way out of a SWITCH.
type switchChoice struct {
	node *dialect.Node
	when *condition
	next *reference
}

// condition is a comparison, or several of them.
type condition struct {
	node  *dialect.Node
	op    string // "and", "or", "not", or that of a comparison
	items []*condition

	path  *path
	value *dialect.Node // nil where none is given
}

type branch struct {
	node   *dialect.Node
	name   *dialect.Node
	number int // among the branches of its state, from 1
	wait   bool
	parent *state
	scope  *scope
}

// filter is the three paths by which data passes (0.1 E §过滤器机制, K and C
// §Filter Mechanism).
type filter struct {
	input  *path
	result []string // where the result stands in a new document
	output *path

	resultNode *dialect.Node
}

// path is a JSONPath.
type path struct {
	node *dialect.Node
	src  string
	jsonpath.Shape
}

// amount is an amount of time, or an instant.
type amount struct {
	node  *dialect.Node
	value calendar.Duration
	until string // RFC 3339
}

// title is how messages call a state.
func (s *state) title() string {
	if s.name == nil {
		return "the state"
	}
	return fmt.Sprintf("state %q", s.name.Text)
}

func (s *eventState) ways() []way {
	var out []way
	for _, e := range s.entries {
		if e.next != nil {
			out = append(out, way{e.next, e.text.Literal(), wayEvent})
		}
		out = append(out, e.actions.ways()...)
	}
	return out
}

func (s *operationState) ways() []way { return s.actions.ways() }

func (s *switchState) ways() []way {
	var out []way
	for _, c := range s.choices {
		if c.next != nil {
			out = append(out, way{c.next, c.when.label(), wayCondition})
		}
	}
	if s.otherwise != nil {
		out = append(out, way{s.otherwise, "", wayDefault})
	}
	return out
}

func (*delayState) ways() []way    { return nil }
func (*parallelState) ways() []way { return nil }
func (*subflowState) ways() []way  { return nil }
func (*endState) ways() []way      { return nil }

// ways are the states that retries lead to.
func (a actions) ways() []way {
	var out []way
	for _, one := range a.list {
		for _, r := range one.retries {
			if r.next != nil {
				out = append(out, way{r.next, r.match.Literal(), wayError})
			}
		}
	}
	return out
}

// actions are the calls of a state, in the order in which they stand.
func (s *state) actions() []*action {
	switch b := s.body.(type) {
	case *operationState:
		return b.actions.list
	case *eventState:
		var out []*action
		for _, e := range b.entries {
			out = append(out, e.actions.list...)
		}
		return out
	}
	return nil
}
