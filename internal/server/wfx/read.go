package wfx

import (
	"errors"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/server/web"
)

// Limits of a request, as in wfx.
const (
	maxMessage  = 1024 // wfx-message: characters of a status' message
	maxProgress = 100
	maxTags     = 16 // wfx-tags: at creation
)

// text reads a body, which must be JSON by its content type.
func (r *request) text(limit string, most int64) ([]byte, error) {
	text, err := web.ReadBody(r.Body, most)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, &failure{status: http.StatusRequestEntityTooLarge, text: "the request body exceeds the limit " + limit}
	}
	if err != nil {
		return nil, malformed("the request body is truncated")
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case len(text) == 0:
		return nil, malformed("the request body is missing")
	case err != nil || media != "application/json":
		return nil, malformed("the Content-Type must be application/json, not %.100q", r.Header.Get("Content-Type"))
	}
	return text, nil
}

// json reads a body of JSON as wfx does: the last of repeated keys counts, and half of a surrogate pair is
// U+FFFD.
func (v *View) json(r *request) (expr.Value, error) {
	limit, most := "request-bytes", v.limits.Body
	if r.side == South && v.limits.DeviceBody < most {
		limit, most = "device-request-bytes", v.limits.DeviceBody
	}
	text, err := r.text(limit, most)
	if err != nil {
		return expr.Null, err
	}
	value, err := expr.ParseRepaired(text)
	if err != nil {
		return expr.Null, malformed("the request body is not JSON: %v", err)
	}
	return value, nil
}

// object reads a body that is an object. Unknown members are ignored, as in wfx.
func (v *View) object(r *request) (expr.Value, *dialect.Members, error) {
	body, err := v.json(r)
	if err != nil {
		return expr.Null, nil, err
	}
	members := dialect.ReadMembers(body, "the request body", "")
	return body, members, mistake(members)
}

// mistake is the error for the first mistake in an object of a body.
func mistake(m *dialect.Members) error {
	if err := m.Err(); err != nil {
		return malformed("%s", err)
	}
	return nil
}

// statusOf reads a status. It replaces the previous one completely, without unknown members. The server sets
// definitionHash.
func statusOf(body expr.Value, m *dialect.Members) (expr.Value, error) {
	if _, ok := m.Get("definitionHash"); ok {
		return expr.Null, malformed("definitionHash is read-only")
	}
	m.Name("state")
	m.Str("clientId")
	message := m.Str("message")
	m.Object("context")
	switch {
	case m.Err() != nil:
		return expr.Null, mistake(m)
	case utf8.RuneCountInString(message) > maxMessage:
		return expr.Null, malformed("message has more than %d characters (limit wfx-message)", maxMessage)
	}
	if p, ok := body.Get("progress"); ok {
		n, err := strconv.ParseInt(p.NumberText(), 10, 32) // most clients do not accept 1e1 and 10.0
		if err != nil || n > maxProgress {
			return expr.Null, malformed("progress must be an integer from %d to %d, without fraction and exponent, not %.40s", math.MinInt32, maxProgress, p)
		}
		body = body.With("progress", expr.Int(n))
	}
	out := expr.EmptyObject
	for _, key := range statusFields {
		if m, ok := body.Get(key); ok {
			out = out.With(key, m)
		}
	}
	return out, nil
}

// tagsOf reads a list of tags.
func tagsOf(body expr.Value) ([]string, error) {
	if !body.IsArray() {
		return nil, malformed("tags must be an array of strings, not %s", body.Kind().WithArticle())
	}
	var out []string
	for _, it := range body.Items() {
		if it.Kind() != expr.KindString {
			return nil, malformed("tags must be an array of strings; %.40s is not a string", it)
		}
		out = append(out, it.Str())
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
