package sw10

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The kinds of tasks.
const (
	kindCall   = "call"
	kindDo     = "do"
	kindEmit   = "emit"
	kindFor    = "for"
	kindFork   = "fork"
	kindListen = "listen"
	kindRaise  = "raise"
	kindRun    = "run"
	kindSet    = "set"
	kindSwitch = "switch"
	kindTry    = "try"
	kindWait   = "wait"
)

// for comes before do: a task with both is a loop.
var taskKinds = []string{
	kindCall, kindFor, kindDo, kindEmit, kindFork, kindListen, kindRaise, kindRun, kindSet, kindSwitch, kindTry, kindWait,
}

// taskList is a list of tasks, in which then finds its targets.
type taskList struct {
	node     *dialect.Node
	ref      string // a JSON pointer
	tasks    []*task
	separate bool // branches of a fork: each task is a list of its own
	unsure   bool // an item was wrong: nothing is certain about the flow

	completes bool // it can come to its end, decided by check
}

type task struct {
	node     *dialect.Node // its JSON is $task.definition
	name     *dialect.Node // the key; in use.functions the name of the function
	ref      string        // a JSON pointer, as in $task.reference and the instance of errors
	list     *taskList     // nil for a function
	index    int           // in the list
	kind     string        // "" where it is unknown
	when     *expression   // if
	input    dataFlow
	output   dataFlow
	export   dataFlow
	timeout  use[timeout]
	then     directive
	metadata *dialect.Node
	body     body

	reachable bool // decided by check
}

// directive says where the flow goes on. The zero directive is "continue", not written.
type directive struct {
	node *dialect.Node
	flow flow
	to   *task // of flowTask, decided by check; to.index is its place in the list
}

type flow uint8

const (
	flowContinue flow = iota
	flowExit
	flowEnd
	flowTask
)

// The words that are not names of tasks.
const (
	wordContinue = "continue"
	wordExit     = "exit"
	wordEnd      = "end"
)

// body is what a kind of tasks adds: one struct per kind.
type body interface {
	// lists are the task lists inside, in the order written.
	lists() []*taskList
}

type (
	callTask struct {
		function *dialect.Node // the text of call
		with     *expression   // all arguments as one template, nil where there are none
		args     arguments     // nil for custom functions
		custom   *customCall   // nil for built-in ones
	}
	doTask   struct{ do *taskList }
	emitTask struct {
		event *expression // the attributes as one template
		typ   *expression // one of them
	}
	forTask struct {
		each, at string
		in       *expression // jq, or a template of an array
		while    *expression
		do       *taskList
	}
	forkTask struct {
		branches *taskList // separate
		compete  bool
	}
	listenTask struct {
		to      *consumption
		read    string
		foreach *iterator
	}
	raiseTask struct{ err use[errorDef] }
	runTask   struct {
		await   bool
		returns string
		process process
		with    *expression // the process as a whole; nil of a workflow
	}
	setTask    struct{ value *expression }
	switchTask struct {
		cases     []*switchCase // those with a condition, in order
		otherwise *switchCase   // the one without
	}
	tryTask struct {
		try   *taskList
		catch *catch
	}
	waitTask struct{ duration *duration }
)

type switchCase struct {
	node *dialect.Node
	name *dialect.Node
	when *expression
	then directive
}

type catch struct {
	node             *dialect.Node
	filter           *errorFilter
	as               string
	when, exceptWhen *expression
	retry            use[retry]
	do               *taskList
	then             directive // looked up in the list of the try task
}

// errorFilter selects errors by their members.
type errorFilter struct {
	node                         *dialect.Node
	typ, title, detail, instance *dialect.Node
	status                       *dialect.Node
	statusValue                  int64
}

type retry struct {
	shared
	when, exceptWhen     *expression
	delay                *duration
	backoff              string
	limited              bool // attempts is given
	attempts             int64
	attempt              *duration // limit.attempt.duration
	within               *duration // limit.duration
	jitterFrom, jitterTo *duration
}

// The backoffs. Without one the delay is constant.
const (
	backoffConstant    = "constant"
	backoffLinear      = "linear"
	backoffExponential = "exponential"
)

// consumption is an event consumption strategy.
type consumption struct {
	node        *dialect.Node
	mode        string
	filters     []*eventFilter // of one: one
	until       *expression    // of any
	untilEvents *consumption   // of any
}

// The strategies.
const (
	consumeAll = "all"
	consumeAny = "any"
	consumeOne = "one"
)

// What is read of an event.
const (
	readData     = "data"
	readEnvelope = "envelope"
	readRaw      = "raw"
)

type eventFilter struct {
	node       *dialect.Node
	attributes []attribute
	correlate  []correlation
}

// attribute is a condition on an attribute of an event or its data: a constant, which a text
// equals or matches as a regular expression, or an expression over the attribute's value.
type attribute struct {
	name  string
	value *expression
}

type correlation struct {
	key          *dialect.Node
	from, expect *expression // expect may be nil
}

// iterator is what happens for each event or message.
type iterator struct {
	node           *dialect.Node
	item, at       string
	do             *taskList // nil: nothing
	output, export dataFlow
}

type schedule struct {
	node         *dialect.Node
	every, after *duration
	cron         *dialect.Node
	on           *consumption
	read         string
}

func (*emitTask) lists() []*taskList   { return nil }
func (*raiseTask) lists() []*taskList  { return nil }
func (*runTask) lists() []*taskList    { return nil }
func (*setTask) lists() []*taskList    { return nil }
func (*switchTask) lists() []*taskList { return nil }
func (*waitTask) lists() []*taskList   { return nil }
func (b *doTask) lists() []*taskList   { return given(b.do) }
func (b *forTask) lists() []*taskList  { return given(b.do) }
func (b *forkTask) lists() []*taskList { return given(b.branches) }

func (b *tryTask) lists() []*taskList {
	if b.catch == nil {
		return given(b.try)
	}
	return given(b.try, b.catch.do)
}

func (b *listenTask) lists() []*taskList {
	if b.foreach == nil {
		return nil
	}
	return given(b.foreach.do)
}

func (b *callTask) lists() []*taskList {
	if s := b.subscription(); s != nil && s.foreach != nil {
		return given(s.foreach.do)
	}
	return nil
}

// given leaves out the lists that are not there.
func given(lists ...*taskList) []*taskList {
	var out []*taskList
	for _, l := range lists {
		if l != nil {
			out = append(out, l)
		}
	}
	return out
}

// title is how messages call a task.
func (t *task) title() string {
	if t.name == nil {
		return "the task"
	}
	return fmt.Sprintf("task %q", t.name.Text)
}
