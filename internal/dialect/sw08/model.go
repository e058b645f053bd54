package sw08

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The definition as it was written, every value with its place. A nil pointer is something that is not
// there, or that was wrong and has been reported. Spellings that differ between the forms are one
// thing here.

type workflow struct {
	node *dialect.Node
	form form

	id                   *dialect.Node // how it is known: id, key or (0.9) name
	name, description    *expression   // for display
	version              *dialect.Node // a literal; "" where it is absent
	language             language
	sonata               bool // written in SonataFlow's style: see detect_sonata.go
	inputSchema          *schema
	outputSchema         *schema
	constants            expr.Value // an object; null where there are none
	constantsNode        *dialect.Node
	secrets              []*dialect.Node
	functions            []*function
	events               []*event
	retries              []*retry
	errors               []*errorDef
	handlers             []*handler // 0.9: errors.handlers
	policies             []*policy  // 0.9: errors.policies
	auth                 []*auth
	timeouts             timeouts
	autoRetries          bool
	keepActive           bool
	states               []*state
	annotations          []string
	metadata, extensions *dialect.Node
	labels               []label
	startNode            *dialect.Node // where the start is written, as the name of a state
	schedule             *schedule

	start   *state          // decided by check
	absent  map[string]bool // of functions, events and so on: the resource that holds them cannot be read
	unknown []string        // decided by check: functions that the definition does not define
}

// form is one of the four versions.
type form int

const (
	form06 form = 6
	form07 form = 7
	form08 form = 8
	form09 form = 9
)

func (f form) String() string { return fmt.Sprintf("0.%d", int(f)) }

// language is the expression language of a definition.
type language int

const (
	langJQ language = iota
	langJSONPath
)

// expression is a value that is computed: one expression, or a template that holds some.
type expression struct {
	node  *dialect.Node
	lang  string // of the program: a name of package jq or jsonpath
	src   string // in that language
	pos   ir.Pos
	parts []ir.Pos   // of a template: see ir.Expr
	value expr.Value // of a template: src as a value, with the program's names of variables
	vars  []variable // that it asks for, without those that it binds itself
}

// variable is a use of a variable of the workflow.
type variable struct {
	name   string // CONST, SECRETS, WORKFLOW, or the parameter of an iteration
	member string // "a" in $SECRETS.a; "" where more of it may be used
}

// asks reports whether the expression uses a variable.
func (e *expression) asks(name string) bool {
	if e == nil {
		return false
	}
	for _, v := range e.vars {
		if v.name == name {
			return true
		}
	}
	return false
}

// constant reports whether a template holds no expression.
func (e *expression) constant() bool {
	return e != nil && len(e.parts) == 0 && !e.value.IsNull()
}

// definition is what functions, events, retries and the like have in common.
type definition struct {
	node   *dialect.Node
	name   *dialect.Node
	shared bool // stands in a resource that other definitions use too
	used   bool // decided by check
}

// The types of functions. rest and openapi are one.
const (
	typeOpenAPI    = "openapi"
	typeHTTP       = "http"
	typeRPC        = "rpc"
	typeExpression = "expression"
	typeGraphQL    = "graphql"
	typeOData      = "odata"
	typeAsyncAPI   = "asyncapi"
	typeCustom     = "custom"
)

type function struct {
	definition
	typ       string
	operation *dialect.Node // text; nil where it is an object
	request   *request      // 0.9, or rest:METHOD:URL: what HTTP is to do
	body      *expression   // of an expression function
	log       string        // of sysout: the level, such as INFO
	auth      *auth         // decided by check: for invocations
	authRef   *dialect.Node // for invocations
	docAuth   *dialect.Node // authRef for the resource only
	metadata  *dialect.Node

	id       ir.FunctionID // in the program's table
	compiled bool
}

// request is an HTTP request with its address as a template: {name} stands for an argument.
type request struct {
	method           string
	uri              *dialect.Node
	address          string // of uri
	headers, cookies *expression
}

type event struct {
	definition
	source, typ *dialect.Node
	produced    bool // kind: produced
	kindGiven   bool
	whole       bool // dataOnly: false
	correlation []correlation
	metadata    *dialect.Node

	consumedID, producedID ir.EventID // in the program's table; an event may be both
	isConsumed, isProduced bool       // decided by check: how it is used
}

type correlation struct {
	attribute *dialect.Node
	value     *expression
}

type retry struct {
	definition
	delay, maxDelay, increment *duration
	multiplier                 float64 // 0: none
	maxAttempts                int
	jitterMillis               int64
	jitterAtMost               *duration
}

// errorDef is an error that the definition names: by name and code (0.7, 0.8), or by type and status (0.9).
type errorDef struct {
	definition
	code          *dialect.Node
	typ, status   *dialect.Node
	title, detail *expression // 0.9; templates
	instance      *dialect.Node
}

// handler is an error handler of 0.9.
type handler struct {
	definition // name is nil where it stands inline
	when       []*errorMatch
	except     []*errorMatch
	retryRef   *dialect.Node
	retry      *retry // inline, or decided by check
	then       *outcome
	refName    *dialect.Node // instead of all: the handler of that name
	ref        *handler      // decided by check
}

// policy is a list of handlers of 0.9.
type policy struct {
	definition
	handlers []*handler
}

// errorMatch is what a handler is for: a reference, or what the error must have.
type errorMatch struct {
	refName               *dialect.Node
	def                   *errorDef // decided by check
	typ, status, instance *dialect.Node
}

// outcome is what follows an error in 0.9.
type outcome struct {
	exit       exit
	throw      *throw
	compensate *dialect.Node // compensate: true
}

type throw struct {
	node    *dialect.Node
	again   bool // true: the error as it is
	refName *dialect.Node
	def     *errorDef   // decided by check, or inline
	value   *expression // a template of an error object, inline
}

type auth struct {
	definition
	scheme     string      // basic, bearer, oauth2
	properties *expression // a template of an object
}

// timeouts are those of a workflow, state or branch; a part that is absent is nil.
type timeouts struct {
	workflow     *workflowTimeout
	state        *duration // stateExecTimeout as text, or its total
	single       *duration
	action       *duration
	branch       *duration
	event        *duration
	explicitHere bool // at least one is written here
}

type workflowTimeout struct {
	node      *dialect.Node
	duration  *duration
	interrupt bool
	runBefore *dialect.Node
	before    *state // decided by check
}

type schedule struct {
	node       *dialect.Node
	repeating  *calendar.Repeating
	cron, zone string
	until      time.Time
}

// duration is an ISO 8601 duration or an expression that gives one.
type duration struct {
	node  *dialect.Node
	value calendar.Duration
	expr  *expression
}

// quantity is a whole number or an expression that gives one.
type quantity struct {
	node  *dialect.Node
	value int64
	expr  *expression
}

// schema is a JSON Schema that the definition refers to or holds.
type schema struct {
	node *dialect.Node
	text string
	warn bool // failOnValidationErrors: false
}

// label is a label of instances, or their name.
type label struct {
	key   string
	value *expression
}
