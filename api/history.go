package api

import "time"

// Types of a record.
const (
	RecordStarted      = "started"
	RecordEntered      = "entered"
	RecordLeft         = "left"
	RecordCalled       = "called"
	RecordReturned     = "returned"
	RecordCallFailed   = "callFailed"
	RecordWaiting      = "waiting"
	RecordConsumed     = "consumed"
	RecordProduced     = "produced"
	RecordTimedOut     = "timedOut"
	RecordRetrying     = "retrying"
	RecordItemFailed   = "itemFailed"
	RecordCaught       = "caught"
	RecordCompensating = "compensating"
	RecordSpawned      = "spawned"
	RecordChildEnded   = "childEnded"
	RecordTaken        = "taken"
	RecordWarning      = "warning"
	RecordControl      = "control"
	RecordTask         = "task"
	RecordStopped      = "stopped"
	RecordFinished     = "finished"
	RecordDeleted      = "deleted"
)

// Record is one line of an instance's history.
type Record struct {
	Seq     int64     `json:"seq"` // counts from 1
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Node    string    `json:"node,omitempty"`
	Place   *Place    `json:"place,omitempty"`
	Depth   int       `json:"depth,omitempty"`
	Frame   int       `json:"frame,omitempty"`
	Name    string    `json:"name,omitempty"` // of a function, event, workflow, actor or verb
	Ticket  string    `json:"ticket,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	At      time.Time `json:"at,omitzero"` // when the timer or the retry is due
	Data    Data      `json:"data,omitempty"`
	Error   *Fault    `json:"error,omitempty"`
	Text    string    `json:"text,omitempty"`
	Status  Status    `json:"status,omitempty"`

	Index    *int      `json:"index,omitempty"`    // of the item of a foreach that it is about, from 0
	Key      string    `json:"key,omitempty"`      // of a call: its idempotency key
	Exchange *Exchange `json:"exchange,omitempty"` // of an answer of a call over HTTP
}

// Exchange is how a call was carried out over HTTP.
type Exchange struct {
	Method         string   `json:"method"`
	Address        string   `json:"address"`                  // without user, query and fragment; the path is left out where it may hold a secret
	RequestHeaders []Header `json:"requestHeaders,omitempty"` // those that the call sets
	Status         int      `json:"status,omitempty"`         // of the answer; 0: none came
	Headers        []Header `json:"headers,omitempty"`        // of the answer: those that say what it is, why it failed, and how to find the request in a log
}

// Header is a header of a request or an answer.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"` // empty: it is redacted, as it may hold a credential
}

// Why explains why an instance does not continue.
type Why struct {
	Instance    string      `json:"instance"`
	Status      Status      `json:"status"`
	States      []string    `json:"states,omitempty"`
	Summary     string      `json:"summary"`
	Groups      []WaitGroup `json:"groups"`            // Waits, those that are alike together
	Waits       []Wait      `json:"waits"`             // the first ones
	Omitted     int         `json:"omitted,omitempty"` // how many waits are left out
	Progress    []Progress  `json:"progress,omitempty"`
	NearMisses  []NearMiss  `json:"nearMisses"`            // the closest first
	OtherEvents int         `json:"otherEvents,omitempty"` // kept events of these types that are plainly for others
	NextWake    time.Time   `json:"nextWake,omitzero"`
	Error       *Fault      `json:"error,omitempty"`
	Reason      string      `json:"reason,omitempty"` // why it paused by itself: too-expensive
	Quarantine  string      `json:"quarantine,omitempty"`
}

// Kinds of a wait.
const (
	WaitCall     = "call"
	WaitEvent    = "event"
	WaitListen   = "listen"
	WaitTimer    = "timer"
	WaitDeadline = "deadline"
	WaitTotal    = "total"
	WaitRetry    = "retry"
	WaitChild    = "child"
	WaitOffer    = "offer"
)

// Wait is one thing that an instance waits for.
type Wait struct {
	Ticket    string    `json:"ticket"`
	Kind      string    `json:"kind"`
	Node      string    `json:"node,omitempty"`
	At        time.Time `json:"at,omitzero"`
	Function  string    `json:"function,omitempty"`
	Arguments Data      `json:"arguments,omitempty"`
	Attempt   int       `json:"attempt,omitempty"`
	Parked    bool      `json:"parked,omitempty"` // it must be answered by hand
	Child     string    `json:"child,omitempty"`
	Client    string    `json:"client,omitempty"` // the client of a child that is a job
	State     string    `json:"state,omitempty"`  // the state of a child that is a job
	Event     string    `json:"event,omitempty"`  // its name in the definition
	Match     *Match    `json:"match,omitempty"`
	Actor     string    `json:"actor,omitempty"`   // of an offer: who may choose
	Choice    string    `json:"choice,omitempty"`  // of an offer: what; of a job a state
	Timeout   bool      `json:"timeout,omitempty"` // of a timer: it ends a wait for something else
	Then      string    `json:"then,omitempty"`    // the state that follows such a timer
}

// Move names, for people, the move that an offer to a job waits for.
func (w Wait) Move() string {
	actor := "the device"
	if w.Actor == ActorOperator {
		actor = "an operator"
	}
	return actor + " to move it to " + w.Choice
}

// WaitGroup is several waits that are alike: of one kind, in one state, for the same function, event or workflow.
type WaitGroup struct {
	Kind     string    `json:"kind"`
	State    string    `json:"state,omitempty"`
	Count    int       `json:"count"`
	Text     string    `json:"text"` // for people
	Function string    `json:"function,omitempty"`
	Event    string    `json:"event,omitempty"`
	Workflow string    `json:"workflow,omitempty"` // of children
	Parked   bool      `json:"parked,omitempty"`
	Timeout  bool      `json:"timeout,omitempty"`
	Then     string    `json:"then,omitempty"`
	At       time.Time `json:"at,omitzero"` // the earliest
}

// Match is what an event must have to be delivered.
type Match struct {
	Source     string      `json:"source,omitempty"`
	Type       string      `json:"type,omitempty"`
	Attributes []Attribute `json:"attributes,omitempty"`
}

// Attribute is an attribute that an event must have.
type Attribute struct {
	Name       string  `json:"name"`
	Value      *string `json:"value,omitempty"`      // nil: any; the first event determines it
	Impossible bool    `json:"impossible,omitempty"` // the value that it must equal does not exist
}

// NearMiss is a stored event that almost matched, and what differed.
type NearMiss struct {
	Name  string   `json:"name"` // of the event that the instance waits for
	Why   string   `json:"why"`
	Event EventRef `json:"event"`
}

// EventRef names a stored event.
type EventRef struct {
	ID       string    `json:"id"`
	Source   string    `json:"source"`
	Type     string    `json:"type"`
	Received time.Time `json:"received"`
}
