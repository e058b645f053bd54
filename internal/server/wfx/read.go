package wfx

import (
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

// What a request may have, as with wfx.
const (
	maxMessage  = 1024 // wfx-message: characters of a status' message
	maxProgress = 100
	maxTags     = 16 // wfx-tags: at creation
)

// text reads a body, which must be JSON by its content type.
func (r *request) text(limit string, most int64) ([]byte, error) {
	text, err := whole(r.Body, most)
	if _, large := as[*http.MaxBytesError](err); large {
		return nil, &failure{status: http.StatusRequestEntityTooLarge, text: "the request body exceeds the limit " + limit}
	}
	if err != nil {
		return nil, malformed("the request body cannot be read to its end")
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

// whole reads a body. One that was read already is not copied.
func whole(body io.ReadCloser, most int64) ([]byte, error) {
	read, ok := body.(interface{ Bytes() ([]byte, error) })
	if !ok {
		return io.ReadAll(http.MaxBytesReader(nil, body, most))
	}
	text, err := read.Bytes()
	if int64(len(text)) > most {
		return nil, &http.MaxBytesError{Limit: most}
	}
	return text, err
}

// json reads a body of JSON as wfx does: where a key comes twice the last one counts, and
// half of a surrogate pair is U+FFFD.
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

func (v *View) object(r *request) (expr.Value, error) {
	body, err := v.json(r)
	if err == nil && !body.IsObject() {
		err = malformed("the request body must be an object, not %s", body.Kind())
	}
	return body, err
}

// stringIn reads a member that is text; one that is required must not be empty.
func stringIn(body expr.Value, key string, required bool) (string, error) {
	m, ok := body.Get(key)
	switch {
	case !ok && required:
		return "", malformed("property %q is missing", key)
	case !ok:
		return "", nil
	case m.Kind() != expr.KindString:
		return "", malformed("property %q must be a string, not %s", key, m.Kind())
	case required && m.Str() == "":
		return "", malformed("property %q is empty", key)
	}
	return m.Str(), nil
}

// objectIn reads a member that is an object, Null where it is absent.
func objectIn(body expr.Value, key string) (expr.Value, error) {
	m, ok := body.Get(key)
	if ok && !m.IsObject() {
		return expr.Null, malformed("property %q must be an object, not %s", key, m.Kind())
	}
	return m, nil
}

// statusOf reads a status. It is kept as it is sent: nothing of the one before stays, and
// members that no status has are dropped. definitionHash is the server's to say.
func statusOf(body expr.Value) (expr.Value, error) {
	if _, ok := body.Get("definitionHash"); ok {
		return expr.Null, malformed("property \"definitionHash\" is read-only")
	}
	if _, err := stringIn(body, "state", true); err != nil {
		return expr.Null, err
	}
	if _, err := stringIn(body, "clientId", false); err != nil {
		return expr.Null, err
	}
	message, err := stringIn(body, "message", false)
	if err != nil {
		return expr.Null, err
	}
	if utf8.RuneCountInString(message) > maxMessage {
		return expr.Null, malformed("property \"message\" has more than %d characters (limit wfx-message)", maxMessage)
	}
	if _, err := objectIn(body, "context"); err != nil {
		return expr.Null, err
	}
	if p, ok := body.Get("progress"); ok {
		n, err := strconv.ParseInt(p.NumberText(), 10, 32) // 1e1 and 10.0 are none to most clients
		if err != nil || n > maxProgress {
			return expr.Null, malformed("property \"progress\" must be an integer from %d to %d, without fraction and exponent, not %.40s", math.MinInt32, maxProgress, p)
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
		return nil, malformed("tags must be an array of strings, not %s", body.Kind())
	}
	var out []string
	for _, it := range body.Items() {
		if it.Kind() != expr.KindString {
			return nil, malformed("tags must be strings; %.40s is none", it)
		}
		out = append(out, it.Str())
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
