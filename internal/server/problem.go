package server

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/lockstep-workflows/lockstep/api"
)

// kind is what a code means.
type kind api.ProblemKind

// kinds lists every code, in order of status.
var kinds = []kind{
	{api.CodeBadRequest, 400, "Bad request", "The request is not valid HTTP."},
	{api.CodeBadJSON, 400, "Not JSON", "The body is not JSON in UTF-8, or not the expected object."},
	{api.CodeBadParameter, 400, "Wrong parameter", "A query parameter or header is unknown, given twice, or has an invalid value. errors names it."},
	{api.CodeUnknownField, 400, "Unknown member", "The body has an unknown member, or one of the wrong type. errors points at it."},
	{api.CodeBadFilter, 400, "Wrong filter", "The filter q cannot be parsed. errors has the column."},
	{api.CodeBadCursor, 400, "Wrong cursor", "The parameter after is not a cursor (next) of this list."},
	{api.CodeUnauthorized, 401, "No token", "The server requires a token, and the request has none or an unknown one. Send Authorization: Bearer TOKEN."},
	{api.CodeForbidden, 403, "Not allowed for this role", "The role of the token may not do this. The contract lists the roles of each operation."},
	{api.CodeCrossOrigin, 403, "From another site", "A browser sent this from a page of another site. Only the server's own pages may make changes."},
	{api.CodeNotFound, 404, "Not found", "There is no such definition, version, instance or call. It may have been deleted."},
	{api.CodeNoSchedule, 404, "No schedule", "The current version of the definition has no schedule that starts instances."},
	{api.CodeNoRoute, 404, "No such path", "This path does not exist. /openapi.yaml lists all paths."},
	{api.CodeMethod, 405, "Method not allowed", "The path does not support this method. The Allow header lists the supported ones."},
	{api.CodeRequestTimeout, 408, "Too slow", "The body did not arrive in time (limit request-time), or arrived too slowly (limit minimum-rate)."},
	{api.CodeNotAllowedNow, 409, "Not allowed now", "The instance does not allow this in its current status. allowed lists what it does allow."},
	{api.CodeNoOutput, 409, "No output", "The instance has no output: it has not ended, or it did not complete."},
	{api.CodeVersion, 409, "Version has other content", "This id and version are deployed with different content, and a version never changes. Use a new version."},
	{api.CodeInUse, 409, "In use", "Instances use the definition; count says how many. Delete them first, or keep it: it only takes space."},
	{api.CodeExists, 409, "Exists already", "An instance with this id exists."},
	{api.CodeSchedule, 409, "Schedule not active", "The definition's schedule does not allow a start now."},
	{api.CodePaused, 409, "Definition paused", "An operator paused the definition: nothing of it starts or continues until it is resumed. Events are kept."},
	{api.CodeRetired, 409, "Definition retired", "An operator retired the definition: no instance of it is started any more. Deploy a new version, or undo it."},
	{api.CodeQuarantine, 409, "In quarantine", "The instance is in quarantine because an invariant was violated. resume retries it, terminate ends it."},
	{api.CodeEventConflict, 409, "Event id taken", "Another event with this source and id was accepted before. An id belongs to one event forever; this event was not accepted."},
	{api.CodeChanged, 412, "Changed meanwhile", "The instance changed since it was read (If-Match). Read it again and decide again."},
	{api.CodeTooLarge, 413, "Too large", "The request exceeds a limit; limit names it."},
	{api.CodeMediaType, 415, "Unsupported content type", "This operation does not accept the content type of the body."},
	{api.CodeHost, 421, "Wrong host", "The server requires no token, and the Host header is not one of its names: a page of another site could have sent this. Use the server's address, or configure the name."},
	{api.CodeInvalid, 422, "Invalid definition", "The definition has errors. errors lists all of them with line and column; lockstep explain CODE explains each."},
	{api.CodeInput, 422, "Invalid input", "The data does not match what the definition requires. errors points at the differences."},
	{api.CodeInvalidEvent, 422, "Invalid event", "An event is not a valid CloudEvent 1.0. errors names the attributes. None of the request's events was accepted."},
	{api.CodeKeyReused, 422, "Idempotency key reused", "The Idempotency-Key was used for a request with different content. A key belongs to one request."},
	{api.CodeBusy, 429, "Over capacity", "The server, or one credential, device or address, has reached its limit of requests; limit names which. Retry after Retry-After seconds."},
	{api.CodeInternal, 500, "Internal error", "A bug in the server. Its log has the details, under the traceId."},
	{api.CodeDamaged, 500, "Damaged", "The stored data cannot be read, or exceeds a limit of this version. Retrying does not help; lockstep doctor --store lists all damage."},
	{api.CodeStore, 503, "Store unavailable", "The store does not respond. Nothing was stored; retry after Retry-After seconds."},
	{api.CodeStopping, 503, "Stopping", "The server is stopping. Nothing was stored; retry elsewhere or later."},
	{api.CodeNotReady, 503, "Not ready", "The server runs but cannot serve requests now. errors lists the reasons, each with a code: store-read, store-write, storage-full, store-moved."},
	{api.CodeUncertain, 504, "Outcome unknown", "The store did not confirm in time. Check whether the change was made, or repeat the request with the same Idempotency-Key, or the same event: it takes effect only once."},
	{api.CodeStorageFull, 507, "Storage full", "There is no space left. Nothing was stored; requests succeed again once there is space."},
}

func kindOf(code api.Code) kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.Code == code })
	if i < 0 {
		return kind{Code: code, Status: http.StatusInternalServerError, Title: "Internal error"}
	}
	return kinds[i]
}

// problemError is a problem as an error.
type problemError struct {
	api.Problem
	retry int   // seconds for Retry-After
	cause error // for the log only
}

func (p *problemError) Error() string { return string(p.Code) + ": " + p.Detail }
func (p *problemError) Unwrap() error { return p.cause }

// problem returns a problem of a kind.
func problem(code api.Code, detail string) *problemError {
	k := kindOf(code)
	return &problemError{Problem: api.Problem{
		Type: "/problems/" + string(code), Title: k.Title, Status: k.Status, Code: code, Detail: detail,
	}}
}

func (p *problemError) hint(text string) *problemError {
	p.Hint = text
	return p
}

// write answers with the problem.
func (p *problemError) write(w http.ResponseWriter) {
	body, err := json.Marshal(&p.Problem)
	if err != nil { // nothing in it can fail
		body = []byte(`{"type":"/problems/internal","title":"Internal error","status":500,"code":"internal"}`)
	}
	h := w.Header()
	for _, name := range []string{"ETag", "Location", "Cache-Control"} {
		h.Del(name)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="lockstep"`)
	}
	if p.retry > 0 {
		h.Set("Retry-After", itoa(int64(p.retry)))
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}
