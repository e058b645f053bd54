package ir

// Pick selects a part of a value and gives it a shape. The zero Pick is the
// value as it is.
//
// Applied to an event, the expression sees the whole CloudEvent where First is
// an attribute the event has, else the event's data.
type Pick struct {
	Expr  ExprID `json:"expr,omitempty"`
	First string `json:"first,omitempty"` // the first name of the path; only for events
	Key   string `json:"key,omitempty"`   // what Wrap wraps under
	Wrap  Wrap   `json:"wrap,omitempty"`
}

// Wrap says when a selected value v becomes {Key: v}.
type Wrap string

// The wraps.
const (
	WrapNever   Wrap = ""
	WrapSingle  Wrap = "single"  // unless it is an array
	WrapAlways  Wrap = "always"  //
	WrapMatches Wrap = "matches" // a list of matches, unless it is one object, which stands for itself
	WrapOther   Wrap = "other"   // unless it is an object or null; also a value that no expression selects
)

// Put says how a value changes the frame's data, after Pick. A Pick that selects
// nothing leaves the data as it is.
type Put struct {
	Pick Pick     `json:"pick,omitzero"`
	Mode Mode     `json:"mode,omitempty"`
	To   Target   `json:"to,omitempty"`
	Var  string   `json:"var,omitempty"`  // of ToVar: the name
	Path []string `json:"path,omitempty"` // PutReplace: builds a new document with the value there; PutSet, PutMerge: where it goes
	Warn bool     `json:"warn,omitempty"` // record a warning when nothing is selected, or when what is collected is not merged
}

// Mode is a way to put a value.
type Mode string

// The modes.
const (
	PutNone    Mode = ""        // the data stays
	PutMerge   Mode = "merge"   // objects merge in; others only into the delta, with a warning, unless there is a Path
	PutReplace Mode = "replace" // the value is the data
	PutSet     Mode = "set"     // the value replaces what is at Path in the data; the rest of that stays
)

// Target is what a Put changes. Only PutReplace can change something else than the data.
type Target string

// The targets.
const (
	ToData    Target = ""
	ToContext Target = "context" // the one value that all frames of the instance share
	ToVar     Target = "var"     // a variable of the frame, which those inside of it see, too
)
