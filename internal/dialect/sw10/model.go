package sw10

import (
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/jqvar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The definition as it was written, every value with its place. A nil pointer is
// something that is not there, or that was wrong and has been reported. Everything "decided by
// check" is complete once there is no error.

type definition struct {
	node     *dialect.Node // its JSON is $workflow.definition
	document document
	input    dataFlow // from, schema
	output   dataFlow // as, schema
	use      components
	do       *taskList
	timeout  use[timeout]
	schedule *schedule
	loose    bool // evaluate.mode
	metadata *dialect.Node
	labels   []label

	expressions []*expression // all of them, templates and their parts
}

// asks reports whether any expression may look at a member of a variable; see expression.asks.
func (d *definition) asks(name, member string) bool {
	for _, e := range d.expressions {
		if e.asks(name, member) {
			return true
		}
	}
	return false
}

type document struct {
	dsl                      version
	namespace, name, version *dialect.Node
	title, summary           *dialect.Node
	tags, metadata           *dialect.Node
}

// version is the version of the language.
type version struct {
	patch      int // of 1.0.x
	prerelease bool
}

// components are what `use` defines, in the order written.
type components struct {
	authentications []*authentication
	catalogs        []*catalog
	errors          []*errorDef
	extensions      []*extension
	functions       []*function
	retries         []*retry
	secrets         []*dialect.Node
	timeouts        []*timeout
}

// shared is what components have in common. Those that are written where they are used have no
// name.
type shared struct {
	node *dialect.Node
	name *dialect.Node
	used bool // decided by check
}

// use is a component, written in place or named. The zero use is none.
type use[T any] struct {
	name  *dialect.Node // nil: it is written in place
	def   *T            // of a name: decided by check
	scope scope         // where it is used
}

type catalog struct {
	shared
	endpoint *endpoint
}

type function struct {
	shared
	task *task
}

type timeout struct {
	shared
	after *duration
}

type errorDef struct {
	shared
	typ, title, detail *expression
	status             int64
	value              *expression // as it is raised, one template
}

// extension adds tasks around tasks of a kind.
type extension struct {
	node          *dialect.Node
	name          *dialect.Node
	ref           string
	extend        string // a kind of tasks, extendComposite or extendAll; "" extends nothing
	when          *expression
	before, after *taskList
}

// What an extension extends besides one kind of tasks.
const (
	extendAll       = "all"
	extendComposite = "composite" // do, fork
)

// authentication is one scheme with its properties, or with the name of a secret that has them.
type authentication struct {
	shared
	scheme     string
	secret     *dialect.Node // use: NAME
	properties *expression   // the scheme's object as a template
}

// The schemes of authentication.
const (
	schemeBasic  = "basic"
	schemeBearer = "bearer"
	schemeDigest = "digest"
	schemeOAuth2 = "oauth2"
	schemeOIDC   = "oidc"
)

// expression is whatever is evaluated when the workflow runs: one expression (jq, jqif), or a value
// whose texts may be expressions (jqt, jqloose). It has what an ir.Expr needs.
type expression struct {
	node *dialect.Node
	lang string
	src  string // jq without ${ }, or the JSON of a template
	pos  ir.Pos // of the first character of src; of a template, of the value
	// parts are the places of the texts in a template that hold expressions, in the order that
	// an expr.PartError counts in; none where the template is one text.
	parts    []ir.Pos
	constant bool // a template without expressions that compile: its value is the node's
	vars     []varUse
}

// The languages of expressions.
const (
	langJQ     = "jq"      // one expression, any value
	langIf     = "jqif"    // one expression, as a condition
	langStrict = "jqt"     // texts that are ${ … } as a whole are expressions
	langLoose  = "jqloose" // every text is one, where it compiles and can be evaluated
)

// text returns a constant text.
func (e *expression) text() (string, bool) {
	if e == nil || !e.constant {
		return "", false
	}
	return e.node.Str()
}

// varUse is a variable in a text of the document.
type varUse struct {
	jqvar.Use
	node *dialect.Node // the text; offset counts from its beginning
}

// span is where the variable stands.
func (v varUse) span() dialect.Span { return v.node.SpanIn(v.Offset, v.Offset+len(v.Name)+1) }

// asks reports whether the expression may look at a member of a variable: $name.member, or the
// variable as a whole. The member "" is for the variable in any way.
func (e *expression) asks(name, member string) bool {
	if e == nil {
		return false
	}
	for _, v := range e.vars {
		if v.Name == name && (member == "" || v.Member == "" || v.Member == member) {
			return true
		}
	}
	return false
}

// dataFlow is an input, output or export: a schema, and an expression that transforms.
type dataFlow struct {
	node   *dialect.Node // nil: not given
	schema *schema
	value  *expression // from, or as; jq where it is a text, else a template
}

// schema is a JSON Schema, as it is written or was fetched.
type schema struct {
	node *dialect.Node
	text string
}

// resource is a document elsewhere.
type resource struct {
	node     *dialect.Node
	name     *dialect.Node
	endpoint *endpoint
}

// endpoint is an address. A constant one may be a URI template over the task's input.
type endpoint struct {
	node *dialect.Node
	uri  *expression
	auth use[authentication]
}

// duration is an amount of time, or an expression that gives one in ISO 8601.
type duration struct {
	node  *dialect.Node
	value calendar.Duration
	expr  *expression
}

// label is a label of instances, or their name.
type label struct {
	key   string
	value *expression
}
