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
	Job       bool       `json:"job,omitempty"` // actors advance it, see Job
	Resources []Resource `json:"resources,omitempty"`

	InputSchema  ExprID  `json:"inputSchema,omitempty"` // schema programs give a list of violations
	OutputSchema ExprID  `json:"outputSchema,omitempty"`
	WarnSchemas  bool    `json:"warnSchemas,omitempty"` // violations are warnings (--schemas=warn)
	Labels       []Label `json:"labels,omitempty"`      // shown on the instance, computed from its input

	States     []State `json:"states,omitempty"` // what people see: for paths, coverage and diagrams
	Edges      []Edge  `json:"edges,omitempty"`
	Metadata   string  `json:"metadata,omitempty"`   // JSON text, kept and shown, never executed
	Extensions string  `json:"extensions,omitempty"` // likewise
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
	Entry   NodeID    `json:"entry"`
	Timeout Span      `json:"timeout,omitzero"` // for one attempt
	Total   Span      `json:"total,omitzero"`   // for all attempts with the waits between
	Catch   []Catch   `json:"catch,omitempty"`
	Undo    RegionID  `json:"undo,omitempty"`    // what compensates it once it completed
	Listen  []EventID `json:"listen,omitempty"`  // subscribed while the region lives; arms refer to them
	Collect bool      `json:"collect,omitempty"` // its frame collects a delta
}

// Catch handles faults of a region. A specific match beats Any; among those the
// first wins.
type Catch struct {
	Error string `json:"error,omitempty"` // name, title or type of the fault
	Code  string `json:"code,omitempty"`
	Any   bool   `json:"any,omitempty"`
	Retry *Retry `json:"retry,omitempty"`
	Next  NodeID `json:"next,omitempty"` // in the frame that entered the region, with the region's input as data; 0: the fault climbs on
}

// Retry re-enters a region with its saved input: the k-th time after
// Delay + (k−1)·Add, changed by jitter.
type Retry struct {
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
}

// Expr is one expression or template of a program.
type Expr struct {
	Lang string `json:"lang"`
	Src  string `json:"src"`
	Pos  Pos    `json:"pos,omitzero"`
	// Parts are the places of the strings inside a template that hold expressions, in
	// the order that an expr.PartError counts in; none where the template is one string.
	Parts []Pos `json:"parts,omitempty"`
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

// Resource is a document that functions need when they are called, as it was when
// the definition was deployed: a running instance never sees another. The digest of
// the program covers it.
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
	Metadata  string        `json:"metadata,omitempty"`
	Pos       Pos           `json:"pos,omitzero"`
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
}

// Start says how instances come to be. Without Events they are created by hand
// or by the schedule.
type Start struct {
	Events   []EventID `json:"events,omitempty"`
	All      bool      `json:"all,omitempty"`   // all of Events are needed, else any one
	Window   Span      `json:"window,omitzero"` // with All: from the first event to the last
	Any      []Need    `json:"any,omitempty"`   // instead: all of one of these are needed
	Schedule *Schedule `json:"schedule,omitempty"`
}

// Need is one set of events that starts an instance. An event that several slots ask
// for fills them all; the instance gets one for each slot of the set.
type Need struct {
	Slots  []int `json:"slots"`           // indexes into Start.Events
	Window Span  `json:"window,omitzero"` // from the first event to the last
}

// Schedule restricts or triggers starts. Exactly one of Interval and Cron is set.
type Schedule struct {
	Interval     string `json:"interval,omitempty"`
	Cron         string `json:"cron,omitempty"`
	Zone         string `json:"zone,omitempty"`
	DirectInvoke bool   `json:"directInvoke,omitempty"` // starts by hand are allowed outside of it
}

// A program with Job set is a state machine that actors outside advance by taking offers
// (wfx). Its data is {"clientId": …, "definition": …, "status": {"state": …, …}}, whose
// definition may be absent. It is started with the same, without a state and perhaps with
// "tags", which become the label of that name. An offer's value is the status that
// replaces the one before; its output is the last status. When it is over it still takes
// the offers of its last End, and its definition can still be amended.
//
// Records of entered states have the status only, and those of left ones nothing: the
// rest changes by amendments, whose record has the new definition and what it replaced.

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
	In           string `json:"in,omitempty"` // the branch that it stands in; "": the workflow itself
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
	EdgeOffer      EdgeKind = "offer" // an actor takes it; the label says who
	EdgeError      EdgeKind = "error"
	EdgeCompensate EdgeKind = "compensate"
)
