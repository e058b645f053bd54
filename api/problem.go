package api

// Code names a kind of problem. A code never changes its meaning.
type Code string

// The codes. GET /problems/CODE explains each.
const (
	CodeBadRequest     Code = "bad-request"
	CodeBadJSON        Code = "bad-json"
	CodeBadParameter   Code = "bad-parameter"
	CodeUnknownField   Code = "unknown-field"
	CodeBadFilter      Code = "bad-filter"
	CodeBadCursor      Code = "bad-cursor"
	CodeUnauthorized   Code = "unauthorized"
	CodeForbidden      Code = "forbidden"
	CodeCrossOrigin    Code = "cross-origin"
	CodeNotFound       Code = "not-found"
	CodeNoRoute        Code = "no-such-path"
	CodeMethod         Code = "method-not-allowed"
	CodeNotAllowedNow  Code = "not-allowed-now"
	CodeNoOutput       Code = "no-output"
	CodeVersion        Code = "version-conflict"
	CodeInUse          Code = "in-use"
	CodeExists         Code = "exists"
	CodeSchedule       Code = "schedule-inactive"
	CodeNoSchedule     Code = "no-schedule"
	CodePaused         Code = "definition-paused"
	CodeRetired        Code = "definition-retired"
	CodeQuarantine     Code = "quarantined"
	CodeEventConflict  Code = "event-conflict"
	CodeChanged        Code = "changed-meanwhile"
	CodeTooLarge       Code = "too-large"
	CodeMediaType      Code = "unsupported-media-type"
	CodeHost           Code = "wrong-host"
	CodeInvalid        Code = "invalid-definition"
	CodeInput          Code = "invalid-input"
	CodeInvalidEvent   Code = "invalid-event"
	CodeKeyReused      Code = "idempotency-key-reused"
	CodeBusy           Code = "over-capacity"
	CodeInternal       Code = "internal"
	CodeDamaged        Code = "damaged"
	CodeStore          Code = "store-unavailable"
	CodeUncertain      Code = "outcome-unknown"
	CodeStopping       Code = "stopping"
	CodeNotReady       Code = "not-ready"
	CodeStorageFull    Code = "storage-full"
	CodeRequestTimeout Code = "request-timeout"
)

// ProblemKind says what a code means.
type ProblemKind struct {
	Code    Code   `json:"code"`
	Status  int    `json:"status"`
	Title   string `json:"title"`
	Meaning string `json:"meaning"`
}

// Problem is an error in an answer (RFC 9457). Type, Title and Status follow from Code.
type Problem struct {
	Type     string          `json:"type"`
	Title    string          `json:"title"`
	Status   int             `json:"status"`
	Code     Code            `json:"code"`
	Detail   string          `json:"detail,omitempty"`
	Hint     string          `json:"hint,omitempty"`
	Instance string          `json:"instance,omitempty"` // the path of the request
	Limit    string          `json:"limit,omitempty"`    // the name of the limit that was reached
	Allowed  []string        `json:"allowed,omitempty"`  // the verbs that are possible now
	Count    int64           `json:"count,omitempty"`    // number of instances that refer to it
	TraceID  string          `json:"traceId,omitempty"`
	Errors   []ProblemDetail `json:"errors,omitempty"`
}

// ProblemDetail is one of several errors in a request.
type ProblemDetail struct {
	Pointer   string `json:"pointer,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	Severity  string `json:"severity,omitempty"`
	Code      string `json:"code,omitempty"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
}
