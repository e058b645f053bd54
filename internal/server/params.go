package server

import (
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// request is a request that passed all that comes before its handler.
type request struct {
	*http.Request
	who   identity
	query url.Values
	visit *visit
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func didYouMean(got string, among []string) string {
	if near := dialect.Suggest(got, among); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// badParameter refuses a parameter.
func badParameter(name, format string, args ...any) *Problem {
	msg := fmt.Sprintf(format, args...)
	p := problem(CodeBadParameter, name+": "+msg)
	p.Errors = []Detail{{Parameter: name, Message: msg}}
	return p
}

// parseQuery reads the query, and refuses what the route does not know.
func (rt *route) parseQuery(raw string) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, problem(CodeBadParameter, "the query cannot be read: "+err.Error())
	}
	for _, name := range sortedNames(values) {
		if !slices.Contains(rt.params, name) {
			p := badParameter(name, "there is no such parameter here")
			if near := dialect.Suggest(name, rt.params); near != "" {
				p.Hint = fmt.Sprintf("did you mean %q?", near)
			} else if len(rt.params) > 0 {
				p.Hint = "the parameters are " + strings.Join(rt.params, ", ")
			}
			return nil, p
		}
		if len(values[name]) > 1 {
			return nil, badParameter(name, "is given more than once")
		}
	}
	return values, nil
}

// checkTexts refuses what no name that is stored can have: in the path, the query and the headers that
// name something.
func (rt *route) checkTexts(r *http.Request, query url.Values) error {
	for part := range strings.SplitSeq(rt.path, "/") {
		if name := strings.Trim(part, "{}"); name != part && !store.Storable(r.PathValue(name)) {
			return badParameter(name, "it has a zero byte, or is no UTF-8")
		}
	}
	for _, name := range sortedNames(query) {
		if !store.Storable(query.Get(name)) {
			return badParameter(name, "it has a zero byte, or is no UTF-8")
		}
	}
	for _, name := range []string{"Idempotency-Key", "If-Match", "Last-Event-ID"} {
		if !store.Storable(r.Header.Get(name)) {
			return badParameter(name, "it has a zero byte, or is no UTF-8")
		}
	}
	return nil
}

func sortedNames(values url.Values) []string {
	out := make([]string, 0, len(values))
	for name := range values {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// flag reads a parameter that is true or false.
func (r *request) flag(name string) (bool, error) {
	switch r.query.Get(name) {
	case "":
		if r.query.Has(name) {
			return false, badParameter(name, "must be true or false")
		}
		return false, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, badParameter(name, "must be true or false")
}

// choice reads a parameter that has one of several values, the first by default.
func (r *request) choice(name string, values ...string) (string, error) {
	got := r.query.Get(name)
	switch {
	case !r.query.Has(name):
		return values[0], nil
	case slices.Contains(values, got):
		return got, nil
	}
	p := badParameter(name, "must be one of %s", strings.Join(values, ", "))
	if near := dialect.Suggest(got, values); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return "", p
}

// limit is how many items a page may have.
func (s *Server) limit(r *request) (int, error) {
	text := r.query.Get("limit")
	if !r.query.Has("limit") {
		return min(defaultPage, s.limits.Page), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > s.limits.Page {
		return 0, badParameter("limit", "must be a number from 1 to %d (limit page-items)", s.limits.Page)
	}
	return n, nil
}

// Cursors are opaque to clients: the kind of list, then where it goes on.
func cursor(kind byte, at string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(string(kind) + at))
}

// after reads the cursor of a list, "" where there is none.
func (r *request) after(kind byte) (string, error) {
	text := r.query.Get("after")
	if text == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < 2 || raw[0] != kind {
		p := problem(CodeBadCursor, "after is not a cursor of this list; pass the next of the page before, as it is")
		p.Errors = []Detail{{Parameter: "after", Message: "is not a cursor of this list"}}
		return "", p
	}
	return string(raw[1:]), nil
}

// afterNumber reads a cursor that is a number, 0 where there is none.
func (r *request) afterNumber(kind byte) (int64, error) {
	text, err := r.after(kind)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, problem(CodeBadCursor, "after is not a cursor of this list; pass the next of the page before, as it is")
	}
	return n, nil
}

// wait reads how long a request waits for an end, 0 where it does not.
func (s *Server) wait(r *request) (time.Duration, error) {
	text := r.query.Get("wait")
	if !r.query.Has("wait") {
		return 0, nil
	}
	digits := strings.TrimRight(text, "ms")
	unit := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute}[text[len(digits):]]
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || unit == 0 || strings.HasPrefix(digits, "+") {
		return 0, badParameter("wait", "%q is not a time such as 20s, 500ms or 1m", text)
	}
	if d := time.Duration(n) * unit; d <= s.limits.Wait {
		return d, nil
	}
	return 0, badParameter("wait", "must be at most %s (limit request-wait)", s.limits.Wait)
}

// ifMatch reads the revision that the client read, 0 where it says none.
func (r *request) ifMatch() (int64, error) {
	values := r.Header.Values("If-Match")
	text := strings.TrimSpace(r.Header.Get("If-Match"))
	if len(values) == 0 || text == "*" && len(values) == 1 {
		return 0, nil
	}
	if len(values) > 1 {
		return 0, badParameter("If-Match", "is given more than once")
	}
	rev, err := strconv.ParseInt(strings.Trim(text, `"`), 10, 64)
	if err != nil || rev <= 0 || len(text) < 3 || text[0] != '"' || text[len(text)-1] != '"' {
		return 0, badParameter("If-Match", "%.100q is not the ETag of an instance, which is its revision in quotes", text)
	}
	return rev, nil
}

// idempotencyKey reads the key of a request, "" where it has none.
func (r *request) idempotencyKey() (string, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	visible := !strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' })
	if len(values) > 1 || key == "" || len(key) > maxKey || !visible {
		return "", badParameter("Idempotency-Key", "must have 1 to %d visible ASCII characters (limit idempotency-key)", maxKey)
	}
	return key, nil
}

// errBody says that a body could not be read to its end.
var errBody = errors.New("read body")

// body reads the body of a request that has one of the media types. Without a body it
// is nil.
func (s *Server) body(r *request, limit string, most int64, types ...string) ([]byte, string, error) {
	text, err := whole(r.Body, most)
	if _, large := as[*http.MaxBytesError](err); large {
		return nil, "", tooLarge(limit, most)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", errBody, err)
	}
	if len(r.Header.Values("Content-Type")) > 1 {
		return nil, "", badParameter("Content-Type", "is given more than once")
	}
	header := r.Header.Get("Content-Type")
	if len(text) == 0 && header == "" {
		return nil, "", nil
	}
	media, params, err := mime.ParseMediaType(header)
	charset := params["charset"]
	if err != nil || !slices.Contains(types, media) || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, "", problem(CodeMediaType, fmt.Sprintf("the content type %.100q is not taken here", header)).
			hint("send " + strings.Join(types, ", ") + " in UTF-8")
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, "", problem(CodeMediaType, "bodies are taken as they are, not compressed")
	}
	return text, media, nil
}

// json reads a body of JSON; ok is false where there is none.
func (s *Server) json(r *request) (v expr.Value, ok bool, err error) {
	limit, most := "request-bytes", s.limits.Body
	if r.visit.pools == s.open {
		limit, most = "open-request-bytes", s.limits.OpenBody
	}
	text, _, err := s.body(r, limit, most, "application/json")
	if err != nil || len(text) == 0 {
		return expr.Null, false, err
	}
	v, err = expr.ParseJSON(text)
	if err == nil {
		err = unambiguous(text)
	}
	if err != nil {
		return expr.Null, false, problem(CodeBadJSON, "the body is not JSON: "+err.Error())
	}
	return v, true, nil
}

// object reads a body that is an object with these members at most; without a body it
// is the empty one.
func (s *Server) object(r *request, members ...string) (expr.Value, error) {
	v, ok, err := s.json(r)
	if err != nil || !ok {
		return expr.EmptyObject, err
	}
	return v, onlyMembers("", v, members...)
}

// onlyMembers refuses what is not an object, and members that it should not have.
func onlyMembers(pointer string, v expr.Value, members ...string) error {
	if !v.IsObject() {
		p := problem(CodeBadJSON, "the body must be a JSON object, not "+v.Kind().String())
		p.Errors = []Detail{{Pointer: pointer, Message: "must be an object"}}
		return p
	}
	for _, m := range v.Members() {
		if slices.Contains(members, m.Key) {
			continue
		}
		p := problem(CodeUnknownField, fmt.Sprintf("there is no member %q here", m.Key))
		p.Hint = "the members are " + strings.Join(members, ", ")
		if near := dialect.Suggest(m.Key, members); near != "" {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		p.Errors = []Detail{{Pointer: pointer + "/" + escapePointer(m.Key), Message: "there is no such member", Hint: p.Hint}}
		return p
	}
	return nil
}

func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// text reads a member that is a string, "" where it is absent.
func text(v expr.Value, pointer, name string) (string, error) {
	m, ok := v.Get(name)
	if !ok {
		return "", nil
	}
	if m.Kind() != expr.KindString {
		p := problem(CodeUnknownField, fmt.Sprintf("%s must be a string, not %s", name, m.Kind()))
		p.Errors = []Detail{{Pointer: pointer + "/" + name, Message: "must be a string"}}
		return "", p
	}
	return m.Str(), nil
}
