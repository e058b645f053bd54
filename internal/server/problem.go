package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Code names a kind of problem. A code is never given another meaning.
type Code string

// The codes. problems.go says what each means.
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

// kind is what a code stands for.
type kind struct {
	Code    Code   `json:"code"`
	Status  int    `json:"status"`
	Title   string `json:"title"`
	Meaning string `json:"meaning"`
}

// kinds lists every code, in the order of statuses.
var kinds = []kind{
	{CodeBadRequest, 400, "Bad request", "The request cannot be understood as HTTP."},
	{CodeBadJSON, 400, "Not JSON", "The body is not JSON text in UTF-8, or not the object that is asked for."},
	{CodeBadParameter, 400, "Wrong parameter", "A parameter of the query or a header is unknown, given twice, or has a value that it cannot have. errors names it."},
	{CodeUnknownField, 400, "Unknown member", "The body has a member that is not in the contract, or one of the wrong kind. errors points at it."},
	{CodeBadFilter, 400, "Wrong filter", "The filter q cannot be understood. errors has the column."},
	{CodeBadCursor, 400, "Wrong cursor", "The parameter after is not the next of a page of this list."},
	{CodeUnauthorized, 401, "No token", "The server has tokens, and the request bears none that it knows. Send Authorization: Bearer TOKEN."},
	{CodeForbidden, 403, "Not allowed for this role", "The role of the token may not do this. The contract lists the roles of each operation."},
	{CodeCrossOrigin, 403, "From another site", "A browser sent this from the page of another site. Only this server's own pages may change something."},
	{CodeNotFound, 404, "Not found", "There is no such definition, version, instance or call. It may have been deleted."},
	{CodeNoRoute, 404, "No such path", "Nothing is served under this path. /openapi.yaml lists what is."},
	{CodeMethod, 405, "Method not allowed", "The path exists, but not with this method. The header Allow lists those it has."},
	{CodeRequestTimeout, 408, "Too slow", "The body did not arrive in time (limit request-time), or too slowly (limit minimum-rate)."},
	{CodeNotAllowedNow, 409, "Not allowed now", "The instance is not in a state in which this is possible. allowed lists what is."},
	{CodeNoOutput, 409, "No output", "The instance has no output: it is not over, or it did not complete."},
	{CodeVersion, 409, "Version has other content", "This id and version are deployed with other content, and a version never changes. Give it a new version."},
	{CodeInUse, 409, "In use", "Instances refer to the definition; count says how many. Delete them first, or leave it: it only takes space."},
	{CodeExists, 409, "Exists already", "An instance with this id exists."},
	{CodeSchedule, 409, "Schedule not active", "The definition's schedule does not allow a start now."},
	{CodeQuarantine, 409, "In quarantine", "The instance is set aside because an invariant broke. resume tries again, terminate gives it up."},
	{CodeEventConflict, 409, "Event id taken", "Another event with this source and id is known. An id belongs to one event for ever: the event was not taken."},
	{CodeChanged, 412, "Changed meanwhile", "The instance changed since it was read (If-Match). Read it again, and decide again."},
	{CodeTooLarge, 413, "Too large", "The request exceeds a limit, which limit names."},
	{CodeMediaType, 415, "Unsupported content type", "The content type of the body is none that this operation takes."},
	{CodeHost, 421, "Wrong host", "The server has no tokens, and the Host header is a name that it does not have: a page of another site could be behind it. Use its address, or configure the name."},
	{CodeInvalid, 422, "Invalid definition", "The definition has errors. errors lists all of them with line and column; lockstep explain CODE tells more of each."},
	{CodeInput, 422, "Invalid input", "The data does not fit what the definition asks for. errors points at what differs."},
	{CodeInvalidEvent, 422, "Invalid event", "An event is not a CloudEvent 1.0. errors names the attributes. None of the request's events was taken."},
	{CodeKeyReused, 422, "Idempotency key reused", "The Idempotency-Key was used for a request with other content. A key belongs to one request."},
	{CodeBusy, 429, "Over capacity", "The server has as many requests as it can serve, or as one credential, device or address may have; limit names which. Try again after Retry-After seconds."},
	{CodeInternal, 500, "Internal error", "A fault of the server. Its log has more, under the traceId."},
	{CodeDamaged, 500, "Damaged", "What is stored of it cannot be read, or does not fit into a limit that this version has. To try again does not help; lockstep doctor --store tells what else is damaged."},
	{CodeStore, 503, "Store unavailable", "The store does not answer. Nothing was acknowledged; try again after Retry-After seconds."},
	{CodeStopping, 503, "Stopping", "The server is being stopped. Nothing was acknowledged; try again elsewhere or later."},
	{CodeNotReady, 503, "Not ready", "The server lives but cannot serve requests now. errors lists why, each with a code: store-read, store-write, storage-full, store-moved."},
	{CodeUncertain, 504, "Outcome unknown", "The store did not say in time whether this happened. Look whether it did, or send the same again with the same Idempotency-Key, or the same event: what happened does not happen twice."},
	{CodeStorageFull, 507, "Storage full", "There is no space left. Nothing was acknowledged; once there is room, it works again by itself."},
}

func kindOf(code Code) kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.Code == code })
	if i < 0 {
		return kind{code, http.StatusInternalServerError, "Internal error", ""}
	}
	return kinds[i]
}

// Problem is an error as clients see it (RFC 9457). Type, Title and Status follow
// from Code.
type Problem struct {
	Type     string   `json:"type"`
	Title    string   `json:"title"`
	Status   int      `json:"status"`
	Code     Code     `json:"code"`
	Detail   string   `json:"detail,omitempty"`
	Hint     string   `json:"hint,omitempty"`
	Instance string   `json:"instance,omitempty"`
	Limit    string   `json:"limit,omitempty"`
	Allowed  []string `json:"allowed,omitempty"`
	Count    int64    `json:"count,omitempty"`
	TraceID  string   `json:"traceId,omitempty"`
	Errors   []Detail `json:"errors,omitempty"`

	retry int      // seconds for Retry-After
	allow []string // methods for Allow
	cause error    // for the log, where the client is not told
}

// Detail is one of several things that are wrong.
type Detail struct {
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

func (p *Problem) Error() string { return string(p.Code) + ": " + p.Detail }
func (p *Problem) Unwrap() error { return p.cause }

// problem makes one of a kind.
func problem(code Code, detail string) *Problem {
	k := kindOf(code)
	return &Problem{Type: "/problems/" + string(code), Title: k.Title, Status: k.Status, Code: code, Detail: detail}
}

func (p *Problem) hint(text string) *Problem {
	p.Hint = text
	return p
}

// write answers with the problem.
func (p *Problem) write(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil { // nothing in it can fail
		body = []byte(`{"type":"/problems/internal","title":"Internal error","status":500,"code":"internal"}`)
	}
	h := w.Header()
	for _, name := range []string{"ETag", "Location", "Cache-Control"} {
		h.Del(name)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="lockstep"`)
	case http.StatusMethodNotAllowed:
		h.Set("Allow", strings.Join(p.allow, ", "))
	}
	if p.retry > 0 {
		h.Set("Retry-After", itoa(int64(p.retry)))
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}
