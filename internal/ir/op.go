package ir

// Op is one of the eleven operations; the set is closed.
type Op interface{ opName() string }

// Eval computes: filters, inject, set, schema checks.
//
// The value is From (0: the frame's data), Put says what becomes of it. Check, if
// given, is a schema program that must find no violation in the data, before
// everything else. Checkpoint makes a retry of the region begin after this node,
// with the data as it is here.
type Eval struct {
	Check      ExprID `json:"check,omitempty"`
	CheckPos   Pos    `json:"checkPos,omitzero"` // where the schema is asked for; nodes share schemas
	From       ExprID `json:"from,omitempty"`
	Put        Put    `json:"put,omitzero"`
	Checkpoint bool   `json:"checkpoint,omitempty"`
}

// Branch goes to the first case whose condition holds, else to the node's Next.
type Branch struct {
	Cases []Case `json:"cases"`
}

// Case is one condition of a Branch.
type Case struct {
	When ExprID `json:"when"`
	Next NodeID `json:"next"`
}

// Call invokes a function. Scope filters the data that Args sees.
type Call struct {
	Function FunctionID `json:"function"`
	Scope    Pick       `json:"scope,omitzero"`
	Args     ExprID     `json:"args,omitempty"` // 0: no arguments, {}
	Data     bool       `json:"data,omitempty"` // the scoped data itself is the argument (v0.1)
	Result   Put        `json:"result,omitzero"`
}

// Await waits until Need of its arms are satisfied, or until the timeout.
//
// With Need 1 it goes on at the arm's Next; else all arms' values are put in
// order of the arms and it goes on at the node's Next. After the timeout it goes
// to OnTimeout, and what arms had taken is dropped. A delay has no arms.
type Await struct {
	Arms      []Arm  `json:"arms,omitempty"`
	Need      int    `json:"need,omitempty"`
	Timeout   Span   `json:"timeout,omitzero"`
	OnTimeout NodeID `json:"onTimeout,omitempty"`
}

// Arm is one thing an Await waits for: an event, or an actor's choice.
type Arm struct {
	Event  EventID `json:"event,omitempty"`
	Listen int     `json:"listen,omitempty"` // 1 + index into the region's Listen; 0: subscribed by the Await itself
	Offer  *Offer  `json:"offer,omitempty"`  // instead of an event
	Put    Put     `json:"put,omitzero"`
	Next   NodeID  `json:"next,omitempty"`
	Stay   bool    `json:"stay,omitempty"` // of an offer: taking it puts its value, and the Await waits on, with its timer as it was
}

// Offer is a choice open to an actor outside.
type Offer struct {
	Actor  string `json:"actor"`
	Choice string `json:"choice"`
}

// Emit produces an event. Data is a template (From) or a selection (Pick) over
// the scoped data; neither: the event has no data.
type Emit struct {
	Event EventID `json:"event"`
	Scope Pick    `json:"scope,omitzero"`
	From  ExprID  `json:"from,omitempty"`
	Pick  Pick    `json:"pick,omitzero"`
	Attrs ExprID  `json:"attrs,omitempty"` // template of an object of context attributes
}

// Fan runs regions side by side: fixed branches, or one region per item.
type Fan struct {
	Branches []FanBranch `json:"branches,omitempty"`
	Each     *Each       `json:"each,omitempty"`
	Need     ExprID      `json:"need,omitempty"` // how many must finish; 0: all. The others are cancelled
	Join     Join        `json:"join"`
	Path     []string    `json:"path,omitempty"` // of JoinAppend
}

// FanBranch is one branch. Nobody waits for a detached one: it goes on by itself.
type FanBranch struct {
	Region   RegionID `json:"region"`
	Detached bool     `json:"detached,omitempty"`
}

// Each runs Body per item of Over with the data {Var: item}.
type Each struct {
	Over ExprID   `json:"over"`
	Body RegionID `json:"body"`
	Var  string   `json:"var"`
	Max  ExprID   `json:"max,omitempty"` // how many at once; 0 or none: the engine's limit
}

// Join says what a Fan does with its branches' results.
type Join string

// The joins.
const (
	JoinMerge  Join = "merge"  // deltas merge into the data, in order of declaration
	JoinAppend Join = "append" // deltas are appended to the array at Path, in order of items
	JoinArray  Join = "array"  // outputs become an array that replaces the data; null where nobody waits
	JoinDrop   Join = "drop"
)

// Enter runs a region and goes on at Next with the data it ends with.
type Enter struct {
	Region RegionID `json:"region"`
}

// Spawn starts an instance of another definition with the frame's data as input.
type Spawn struct {
	Workflow string `json:"workflow"`
	Version  string `json:"version,omitempty"`
	Wait     bool   `json:"wait,omitempty"`
	Result   Put    `json:"result,omitzero"`
}

// Raise is a fault by definition. A final one cannot be caught.
type Raise struct {
	Error  string `json:"error"`
	Code   string `json:"code,omitempty"`
	Detail string `json:"detail,omitempty"`
	Final  bool   `json:"final,omitempty"`
}

// Undo compensates the completed regions that have an Undo, newest first, one at
// a time, the data flowing through them.
type Undo struct{}

// End finishes the instance with the frame's data as output. Terminate cancels
// every other activity; without it, branches that nobody waits for finish first.
type End struct {
	Terminate bool   `json:"terminate,omitempty"`
	Offers    []Arm  `json:"offers,omitempty"` // of a job: what its actors may still take when it is over, all with Stay
	Fail      string `json:"fail,omitempty"`   // ends failed with this error's name, the output kept
}

func (*Eval) opName() string   { return "eval" }
func (*Branch) opName() string { return "branch" }
func (*Call) opName() string   { return "call" }
func (*Await) opName() string  { return "await" }
func (*Emit) opName() string   { return "emit" }
func (*Fan) opName() string    { return "fan" }
func (*Enter) opName() string  { return "enter" }
func (*Spawn) opName() string  { return "spawn" }
func (*Raise) opName() string  { return "raise" }
func (*Undo) opName() string   { return "undo" }
func (*End) opName() string    { return "end" }
