package ir

// Op is one of the eleven operations; the set is closed.
type Op interface{ opName() string }

// Eval computes: filters, inject, set, schema checks.
//
// From computes the value (0: it is the frame's data), and Put stores it. Check, if given, is a
// schema that the data must satisfy first, or with CheckResult the value before it is stored.
// Checkpoint makes a retry of the region begin after this node, with the data as it is here.
type Eval struct {
	Check       ExprID `json:"check,omitempty"`
	CheckPos    Pos    `json:"checkPos,omitzero"` // where the schema is referred to; nodes share schemas
	CheckResult bool   `json:"checkResult,omitempty"`
	From        ExprID `json:"from,omitempty"`
	Put         Put    `json:"put,omitzero"`
	Checkpoint  bool   `json:"checkpoint,omitempty"`
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

// Await waits until Need of its arms are satisfied, or until the timeout. One without arms and timeout
// waits until something around it ends.
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
	// Stay, of an offer: taking it stores its value, and the Await goes on waiting. Its timer
	// is not restarted.
	Stay bool `json:"stay,omitempty"`
}

// Offer is a choice open to an actor outside the workflow.
type Offer struct {
	Actor  string `json:"actor"`
	Choice string `json:"choice"`
}

// Emit produces an event. Data is a template (From) or a selection (Pick) over
// the scoped data; neither: the event has no data.
//
// With Whole, From gives all attributes of the event with its data, which win over those of
// Event, and Result stores the event as it was produced.
type Emit struct {
	Event  EventID `json:"event"`
	Scope  Pick    `json:"scope,omitzero"`
	From   ExprID  `json:"from,omitempty"`
	Pick   Pick    `json:"pick,omitzero"`
	Attrs  ExprID  `json:"attrs,omitempty"` // template of an object of context attributes
	Whole  bool    `json:"whole,omitempty"`
	Result Put     `json:"result,omitzero"`
}

// Fan runs regions: fixed branches or one region per item side by side, or one region per event
// in the order in which events arrive.
type Fan struct {
	Branches []FanBranch `json:"branches,omitempty"`
	Each     *Each       `json:"each,omitempty"`
	Feed     *Feed       `json:"feed,omitempty"`
	Need     ExprID      `json:"need,omitempty"` // how many must finish; 0: all. The others are cancelled
	Join     Join        `json:"join"`
	Path     []string    `json:"path,omitempty"` // of JoinAppend
}

// FanBranch is one branch. Nothing waits for a detached one: it goes on by itself.
type FanBranch struct {
	Region   RegionID `json:"region"`
	Detached bool     `json:"detached,omitempty"`
}

// Each runs Body per item of Over with the data {Var: item}.
//
// With Carry items come one after the other, and the data of one is what the one before ended
// with; Var and At are variables: the item, and its index from 0. While is asked before each
// item, with the data that it would get and its variables; the first time that it is false,
// the fan ends.
//
// With Batch the items come in batches of Max: the next batch begins when all items of the one
// before have ended.
type Each struct {
	Over  ExprID   `json:"over"`
	Body  RegionID `json:"body"`
	Var   string   `json:"var"`
	Max   ExprID   `json:"max,omitempty"` // how many at once; 0 or none: the engine's limit
	Batch bool     `json:"batch,omitempty"`
	Carry bool     `json:"carry,omitempty"`
	At    string   `json:"at,omitempty"`
	While ExprID   `json:"while,omitempty"`
	// In is instead of Var: the data of an item is that of the state, with the item at this path.
	In []string `json:"in,omitempty"`
}

// Feed takes events until it has enough of them: one for each of Events where All is set, else
// one of any, or as many as come until Until holds or the events Stop have come. Each is read
// by Read (0: the whole event), then goes through Body (0: none), with its variables Var and At.
// The results are joined by JoinArray when the last is there.
//
// Until sees the array of what was read so far. Correlation keys without a value are fixed by the
// first event that the Feed takes, for the Feed alone.
type Feed struct {
	Events  []EventID `json:"events"`
	All     bool      `json:"all,omitempty"`
	Until   ExprID    `json:"until,omitempty"`
	Stop    []EventID `json:"stop,omitempty"`
	StopAll bool      `json:"stopAll,omitempty"` // all of Stop end it, else any one
	Read    ExprID    `json:"read,omitempty"`
	Body    RegionID  `json:"body,omitempty"`
	Var     string    `json:"var,omitempty"`
	At      string    `json:"at,omitempty"`
}

// Ends reports whether a number of events that is known from the beginning ends it.
func (f *Feed) Ends() bool { return f.Until == 0 && len(f.Stop) == 0 }

// Join says what a Fan does with its branches' results.
type Join string

// The joins.
const (
	JoinMerge  Join = "merge"  // deltas merge into the data, in order of declaration
	JoinAppend Join = "append" // deltas are appended to the array at Path, in order of items
	JoinArray  Join = "array"  // outputs become an array that replaces the data; null for a detached branch
	JoinFirst  Join = "first"  // the output of the first branch that ends replaces the data; the others are cancelled
	JoinLast   Join = "last"   // of Each with Carry: the output of the last item replaces the data
	JoinDrop   Join = "drop"
)

// Enter runs a region and goes on at Next with the data it ends with; with Drop the data stays as
// it was, unless the region names another way out. As the handler of a Catch it gives the region the error
// object, as the variable Takes.
type Enter struct {
	Region RegionID `json:"region"`
	Drop   bool     `json:"drop,omitempty"`
	Takes  string   `json:"takes,omitempty"`
}

// Spawn starts an instance of another definition. Its input is what From gives, or the frame's data
// where From is 0 or selects nothing.
//
// With Continue the new instance takes the place of this one, which is about to end: it is waited for
// only if another instance waits for this one.
type Spawn struct {
	Workflow string `json:"workflow"`
	Version  string `json:"version,omitempty"` // "": the one deployed last
	Latest   bool   `json:"latest,omitempty"`  // instead, the highest semantic version
	Wait     bool   `json:"wait,omitempty"`
	Continue bool   `json:"continue,omitempty"` // instead of Wait
	From     ExprID `json:"from,omitempty"`
	Result   Put    `json:"result,omitzero"`
}

// Raise raises a fault. A final one cannot be caught. From gives an object whose members type,
// status, title and detail are those of the fault, instead.
type Raise struct {
	From   ExprID `json:"from,omitempty"`
	Error  string `json:"error"`
	Code   string `json:"code,omitempty"`
	Detail string `json:"detail,omitempty"`
	Final  bool   `json:"final,omitempty"`
}

// Undo compensates the completed regions that have an Undo, newest first, one at
// a time, the data flowing through them.
type Undo struct{}

// End finishes the instance with the frame's data as output. Terminate cancels
// every other activity; without it, detached branches finish first. Inside of branches the
// output of a Terminate is the data of the state around them, and an instance that waits for
// this one ends as well; with Own neither is so.
type End struct {
	Terminate bool   `json:"terminate,omitempty"`
	Own       bool   `json:"own,omitempty"`
	Offers    []Arm  `json:"offers,omitempty"` // for jobs: what actors may take after the end, all with Stay
	Fail      string `json:"fail,omitempty"`   // the instance fails with this error name, and keeps its output
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
