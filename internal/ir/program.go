package ir

// Edition is the edition of the core's semantics that programs are compiled for.
// It changes when the meaning of an existing program would change.
const Edition = 1

// Indexes into the tables of a program. For nodes and expressions 0 means none,
// and slot 0 of the table is a placeholder.
type (
	NodeID     int32
	RegionID   int32
	ExprID     int32
	EventID    int32
	FunctionID int32
)

// Program is one compiled definition.
type Program struct {
	ID          string `json:"id"`
	Version     string `json:"version,omitempty"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Dialect     string `json:"dialect"`
	Digest      string `json:"digest,omitempty"` // hex SHA-256 of the source bundle; an instance pins it
	Edition     int    `json:"edition"`

	Nodes     []Node     `json:"nodes"`
	Regions   []Region   `json:"regions"`
	Exprs     []Expr     `json:"exprs"`
	Functions []Function `json:"functions,omitempty"`
	Events    []Event    `json:"events,omitempty"`
	Start     Start      `json:"start"`
	Groups    []Group    `json:"groups,omitempty"`
	Job       bool       `json:"job,omitempty"` // actors advance it; its data is as package jobdata says
	Resources []Resource `json:"resources,omitempty"`

	InputSchema  ExprID  `json:"inputSchema,omitempty"` // schema programs give a list of violations
	OutputSchema ExprID  `json:"outputSchema,omitempty"`
	WarnSchemas  bool    `json:"warnSchemas,omitempty"` // violations are warnings (--schemas=warn)
	WarnInput    bool    `json:"warnInput,omitempty"`   // those of InputSchema are
	WarnOutput   bool    `json:"warnOutput,omitempty"`  // those of OutputSchema are
	Labels       []Label `json:"labels,omitempty"`      // shown on the instance, computed from its input

	// Variables says that expressions see variables: those that Put and Each name, nearest frame
	// first, and context, secrets, workflow (id, definition, input, startedAt) and now.
	Variables  bool        `json:"variables,omitempty"`
	Definition string      `json:"definition,omitempty"` // JSON text, for the variable workflow; "": no expression asks for it
	AnyInput   bool        `json:"anyInput,omitempty"`   // the input need not be an object
	Secrets    []string    `json:"secrets,omitempty"`    // that the variable secrets may have, sorted
	Errors     []ErrorType `json:"errors,omitempty"`     // how faults look to expressions

	States     []State `json:"states,omitempty"` // what people see: for paths, coverage and diagrams
	Edges      []Edge  `json:"edges,omitempty"`
	Asides     []Aside `json:"asides,omitempty"`
	Metadata   string  `json:"metadata,omitempty"`   // JSON text, kept and shown, never executed
	Extensions string  `json:"extensions,omitempty"` // likewise
}

// ErrorType says how the faults of a name look as error objects, where they have no type or status
// of their own. The last one, without a name, is for all others.
type ErrorType struct {
	Fault  string `json:"fault,omitempty"`
	Type   string `json:"type"`
	Status int    `json:"status"`
	Title  string `json:"title,omitempty"`
}

// Pos is a place in the definition, 1-based.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Node is one operation of a program.
type Node struct {
	Name string // of the state it belongs to, or of the action or branch
	Pos  Pos
	Ref  string // a JSON pointer to what it belongs to in the definition; only where faults tell it
	Mark Mark
	Op   Op
	Next NodeID // 0 returns from the region
	// Out, if set, is instead of Next: the region is complete and the frame that
	// entered it goes on there (how a switch inside a region has many exits).
	Out NodeID
}

// Mark says that a node begins or completes a state people know.
type Mark uint8

// The marks.
const (
	MarkNone    Mark = iota
	MarkEntered      // record that the state Name is entered, with its input
	MarkLeft         // record that it is left, with its output, after the operation
)

// Region is whatever can fail, time out, be retried, cancelled or undone as one thing.
type Region struct {
	Name    string    `json:"name"`
	Ref     string    `json:"ref,omitempty"` // as that of a node: where a timeout of the region arises
	Entry   NodeID    `json:"entry"`
	Timeout Span      `json:"timeout,omitzero"` // for one attempt
	Total   Span      `json:"total,omitzero"`   // for all attempts with the waits between
	Catch   []Catch   `json:"catch,omitempty"`
	Undo    RegionID  `json:"undo,omitempty"`    // what compensates it once it completed
	Listen  []EventID `json:"listen,omitempty"`  // subscribed while the region lives; arms refer to them
	Collect bool      `json:"collect,omitempty"` // its frame collects a delta
	Nested  bool      `json:"nested,omitempty"`  // states in it are inside of a state
	Daemon  bool      `json:"daemon,omitempty"`  // of a detached branch: the instance does not wait for it, and cancels it when it ends
}

// Catch handles faults of a region. A specific match beats Any; among those the
// first wins.
//
// When, instead of Error, Code and Any, lists what it is for: any one must match, which is specific, and none of
// Except. Only narrows it further. Its expressions see the region's input, and the error object as the
// variable As. The handler sees that if it is an Enter that takes it.
type Catch struct {
	Error  string       `json:"error,omitempty"` // name, title or type of the fault
	Code   string       `json:"code,omitempty"`
	Any    bool         `json:"any,omitempty"`
	When   []Match      `json:"when,omitempty"`
	Except []Match      `json:"except,omitempty"`
	Only   *ErrorFilter `json:"only,omitempty"`
	As     string       `json:"as,omitempty"`
	Retry  *Retry       `json:"retry,omitempty"`
	Put    *Put         `json:"put,omitempty"`  // of the error object, into the data that Next begins with
	Next   NodeID       `json:"next,omitempty"` // in the frame that entered the region, with the region's input as data; 0: the fault climbs on
}

// Match selects faults: all that it says must hold; one that says nothing selects every fault.
//
// Code decides where the fault has a code or a status, which one of must equal it; Error, its name, title or
// type, decides where the fault has neither, or where there is no Code.
type Match struct {
	Error    string `json:"error,omitempty"`
	Code     string `json:"code,omitempty"`
	Type     string `json:"type,omitempty"`
	Status   string `json:"status,omitempty"`   // the status, or the code of a fault without one
	Instance string `json:"instance,omitempty"` // a JSON pointer
}

// ErrorFilter selects faults: the error object has the members With, When holds, and Except does not.
type ErrorFilter struct {
	With   []Member `json:"with,omitempty"`
	When   ExprID   `json:"when,omitempty"`
	Except ExprID   `json:"except,omitempty"`
}

// Member is a member of an error object, with its value as JSON text.
type Member struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Retry re-enters a region with its saved input: the k-th time after
// Delay·Factor^(k−1) + (k−1)·Add, at most AtMost, changed by jitter: by a part of it, by
// JitterAtMost more or less, or by something between JitterFrom and JitterTo more.
//
// With Carry each delay is made of the one before, as it was taken: (that + Add)·Factor, changed by jitter, then
// at most AtMost.
//
// Only selects the faults that are retried, and sees what that of the Catch sees. No retry begins
// later than Within after the first attempt did. The handler follows where there is no retry.
type Retry struct {
	Only       *ErrorFilter `json:"only,omitempty"`
	Within     Span         `json:"within,omitzero"`
	Always     bool         `json:"always,omitempty"` // without Max
	Carry      bool         `json:"carry,omitempty"`
	Factor     float64      `json:"factor,omitempty"` // 0: 1
	AtMost     Span         `json:"atMost,omitzero"`
	JitterFrom Span         `json:"jitterFrom,omitzero"`
	JitterTo   Span         `json:"jitterTo,omitzero"`

	Name         string `json:"name,omitempty"`
	Delay        Span   `json:"delay,omitzero"`
	Add          Span   `json:"add,omitzero"`
	Max          int    `json:"max"`                    // retries after the first attempt
	JitterMillis int64  `json:"jitterMillis,omitempty"` // thousandths of the delay, 0 … 1000
	JitterAtMost Span   `json:"jitterAtMost,omitzero"`  // or an absolute bound
}

// Span is an amount of time in calendar units, or an expression that gives an
// ISO 8601 duration, or an instant. The zero Span is none.
type Span struct {
	Set    bool   `json:"set,omitempty"` // tells PT0S from none
	Months int64  `json:"months,omitempty"`
	Days   int64  `json:"days,omitempty"`
	Nanos  int64  `json:"nanos,omitempty"`
	Expr   ExprID `json:"expr,omitempty"`
	Until  string `json:"until,omitempty"` // RFC 3339
	// Since gives the instant that an amount counts from, in RFC 3339; 0: now. So a loop can have one timeout for
	// all of its rounds.
	Since ExprID `json:"since,omitempty"`
}

// Expr is one expression or template of a program.
type Expr struct {
	Lang string `json:"lang"`
	Src  string `json:"src"`
	Pos  Pos    `json:"pos,omitzero"`
	// Parts are the places of the strings inside a template that hold expressions, in
	// the order that an expr.PartError counts in; none where the template is one string.
	Parts []Pos `json:"parts,omitempty"`
	// Secrets are those that it asks for by name: without one of them it is not evaluated.
	Secrets []string `json:"secrets,omitempty"`
}

// Function is something a program can call.
type Function struct {
	Name      string `json:"name"`
	Type      string `json:"type,omitempty"`
	Operation string `json:"operation,omitempty"` // document#operationId, or job:WORKFLOW; empty: resolved by name in the catalogue
	Resource  int    `json:"resource,omitempty"`  // 1 + index into Resources: the operation's document; 0: none
	Metadata  string `json:"metadata,omitempty"`
	Pos       Pos    `json:"pos,omitzero"`
}

// Resource is a document that the definition refers to, as it was when the definition
// was deployed: a running instance never sees another. Those that functions need when
// they are called come first. The digest of the program covers it.
type Resource struct {
	Ref  string `json:"ref"` // as it was opened: relative to the definition, or an address
	Text string `json:"text"`
}

// Event is an event a program consumes or produces. An empty Source or Type of a
// consumed event matches any.
type Event struct {
	Name      string        `json:"name"`
	Source    string        `json:"source,omitempty"`
	Type      string        `json:"type,omitempty"`
	Either    string        `json:"either,omitempty"` // of a consumed event: its type or its id must be this
	Produced  bool          `json:"produced,omitempty"`
	Correlate []Correlation `json:"correlate,omitempty"`
	New       bool          `json:"new,omitempty"`   // of a consumed event: those from before the wait are not wanted
	Where     []Where       `json:"where,omitempty"` // of a consumed event of a Feed: what else must hold
	Metadata  string        `json:"metadata,omitempty"`
	Pos       Pos           `json:"pos,omitzero"`
}

// Where is a condition on an attribute of an event, or on its data, which the expression sees. A
// boolean decides; any other value must equal the attribute. Instances look at it themselves: a
// store finds subscriptions without it.
type Where struct {
	Attribute string `json:"attribute"`
	Expr      ExprID `json:"expr"`
}

// Correlation is one attribute by which events belong to an instance: it must
// equal Value where given, else what the first consumed event had.
//
// From says where an event has it: a path into the event that begins with $, or the
// name of an attribute, else of a field of the data. Events may have the same
// attribute at different places. Without From it is the attribute of that name.
type Correlation struct {
	Attribute string `json:"attribute"`
	From      string `json:"from,omitempty"`
	Value     ExprID `json:"value,omitempty"`
	// Select, of a consumed event of a Feed, is instead of From: an expression over the event.
	// Instances look at it themselves, like Where.
	Select ExprID `json:"select,omitempty"`
}

// Start says how instances come to be. Without Events they are created by hand
// or by the schedule.
type Start struct {
	Events   []EventID `json:"events,omitempty"`
	All      bool      `json:"all,omitempty"`   // all of Events are needed, else any one
	Window   Span      `json:"window,omitzero"` // with All: from the first event to the last
	Any      []Need    `json:"any,omitempty"`   // instead: all of one of these are needed
	Schedule *Schedule `json:"schedule,omitempty"`
	// AsInput makes an array of the events the input of the instance, each read by Read (0: the
	// whole event). No Await gets them then.
	AsInput bool   `json:"asInput,omitempty"`
	Read    ExprID `json:"read,omitempty"`
}

// Need is one set of events that starts an instance. An event that several slots ask
// for fills them all; the instance gets one for each slot of the set.
type Need struct {
	Slots  []int `json:"slots"`           // indexes into Start.Events
	Window Span  `json:"window,omitzero"` // from the first event to the last
}

// Schedule restricts or triggers starts. An Interval is alone; the others start instances side by
// side: Cron, and Every so often, the first time one span after the deployment.
//
// From and Until, in RFC 3339, bound Every and Cron: nothing fires before the one, and nothing at or after the
// other. Every counts from From, which is the first time; with Back it counts back from Until.
type Schedule struct {
	Interval     string `json:"interval,omitempty"`
	Cron         string `json:"cron,omitempty"`
	Every        Span   `json:"every,omitzero"`
	From         string `json:"from,omitempty"`
	Until        string `json:"until,omitempty"`
	Back         bool   `json:"back,omitempty"`
	After        Span   `json:"after,omitzero"` // from the end of one instance to the next; without Cron and Every
	Zone         string `json:"zone,omitempty"`
	DirectInvoke bool   `json:"directInvoke,omitempty"` // starts by hand are allowed outside of it

	Rules ScheduleRules `json:"rules,omitzero"`
}

// ScheduleRules are what a definition says of how its schedule fires. Operators may decide otherwise.
type ScheduleRules struct {
	Overlap string `json:"overlap,omitempty"` // allow, skip or queue; "": the engine's
	CatchUp string `json:"catchUp,omitempty"` // latest, all or none; "": the engine's
	Window  string `json:"window,omitempty"`  // an ISO 8601 duration; "": the engine's
}

// Group is a named set of states, for queries and boards.
type Group struct {
	Name   string   `json:"name"`
	States []string `json:"states"`
}

// Label is a property of the instance computed from the workflow input.
type Label struct {
	Key   string `json:"key"`
	Value ExprID `json:"value"`
}

// State describes a state as the author wrote it.
type State struct {
	Name         string `json:"name"`
	ID           string `json:"id,omitempty"`
	Type         string `json:"type"`
	In           string `json:"in,omitempty"`   // the branch that it stands in; "": the workflow itself
	List         string `json:"list,omitempty"` // which list of the state In it stands in, such as "try" or "catch"
	If           string `json:"if,omitempty"`   // without it the state is skipped
	Does         string `json:"does,omitempty"` // in a few words, instead of what the nodes say
	Start        bool   `json:"start,omitempty"`
	End          bool   `json:"end,omitempty"`
	Compensation bool   `json:"compensation,omitempty"`
	Metadata     string `json:"metadata,omitempty"`
	Pos          Pos    `json:"pos,omitzero"`
}

// Edge is a way from one state to another, or to the end (To empty).
type Edge struct {
	From  string   `json:"from"`
	To    string   `json:"to,omitempty"`
	Kind  EdgeKind `json:"kind"`
	Label string   `json:"label,omitempty"`
	When  string   `json:"when,omitempty"` // the condition, where Label is only its name
	Exit  bool     `json:"exit,omitempty"` // it ends the list that From stands in, not the workflow
}

// Aside is a list of states that stands beside the flow, because several states run it: a function
// of the definition, or what an extension adds. Only diagrams show it.
type Aside struct {
	Title  string  `json:"title"`
	Note   string  `json:"note,omitempty"`
	States []State `json:"states"`
	Edges  []Edge  `json:"edges,omitempty"`
}

// EdgeKind tells edges apart.
type EdgeKind string

// The kinds of edges.
const (
	EdgeNext       EdgeKind = "next"
	EdgeCondition  EdgeKind = "condition"
	EdgeEvent      EdgeKind = "event"
	EdgeDefault    EdgeKind = "default"
	EdgeTimeout    EdgeKind = "timeout"
	EdgeOffer      EdgeKind = "offer" // an actor takes it; the label names the actor
	EdgeError      EdgeKind = "error"
	EdgeCompensate EdgeKind = "compensate"
)
