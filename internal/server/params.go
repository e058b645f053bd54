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

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/server/web"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// request is a request that passed all checks before its handler.
type request struct {
	*http.Request
	route *route
	who   identity
	path  web.Values
	query params
	visit *visit
	deed  *deed // for the audit log
}

// PathValue returns a segment of the path. Those of http.Request are not set.
func (r *request) PathValue(name string) string { return r.path.PathValue(name) }

// params are the parameters of a query, in their order.
type params []param

type param struct{ name, value string }

// Has reports whether there is a parameter of this name.
func (ps params) Has(name string) bool {
	for i := range ps {
		if ps[i].name == name {
			return true
		}
	}
	return false
}

// Get returns the first value of a parameter.
func (ps params) Get(name string) string {
	for i := range ps {
		if ps[i].name == name {
			return ps[i].value
		}
	}
	return ""
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// badParameter refuses a parameter.
func badParameter(name, format string, args ...any) *problemError {
	msg := fmt.Sprintf(format, args...)
	p := problem(api.CodeBadParameter, name+": "+msg)
	p.Errors = []api.ProblemDetail{{Parameter: name, Message: msg}}
	return p
}

// parseQuery reads the query into out, and refuses what the route does not know.
func (rt *route) parseQuery(raw string, out params) (params, error) {
	for raw != "" {
		var part string
		part, raw, _ = strings.Cut(raw, "&")
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		var err error
		if strings.Contains(part, ";") {
			err = errors.New("it contains ; where & separates parameters")
		} else if name, err = url.QueryUnescape(name); err == nil {
			value, err = url.QueryUnescape(value)
		}
		switch {
		case err != nil:
			return nil, problem(api.CodeBadParameter, "the query cannot be read: "+err.Error())
		case !slices.Contains(rt.params, name):
			p := badParameter(name, "unknown parameter")
			if near := dialect.Suggest(name, rt.params); near != "" {
				p.Hint = fmt.Sprintf("did you mean %q?", near)
			} else if len(rt.params) > 0 {
				p.Hint = "the parameters are " + strings.Join(rt.params, ", ")
			}
			return nil, p
		case out.Has(name) && name != "label":
			return nil, badParameter(name, "is given more than once")
		}
		out = append(out, param{name, value})
	}
	return out, nil
}

// checkTexts refuses text that the store cannot hold, in the path, the query and the headers.
func (r *request) checkTexts() error {
	wrong := func(name string) error { return badParameter(name, "contains NUL or is not valid UTF-8") }
	if name := r.path.Unless(store.Storable); name != "" {
		return wrong(name)
	}
	for _, p := range r.query {
		if !store.Storable(p.value) {
			return wrong(p.name)
		}
	}
	for _, name := range [...]string{"Idempotency-Key", "If-Match", "Last-Event-Id"} { // in canonical form, which costs nothing
		if !store.Storable(r.Header.Get(name)) {
			return wrong(name)
		}
	}
	return nil
}

// flag reads a parameter that is true or false.
func (r *request) flag(name string) (bool, error) {
	value := r.query.Get(name)
	if r.query.Has(name) && value != "true" && value != "false" {
		return false, badParameter(name, "must be true or false")
	}
	return value == "true", nil
}

// labels reads the labels of a new instance.
func (r *request) labels() (map[string]string, error) {
	var out map[string]string
	for _, p := range r.query {
		if p.name != "label" {
			continue
		}
		text := p.value
		name, value, ok := strings.Cut(text, "=")
		if _, twice := out[name]; twice {
			return nil, badParameter("label", "%.100q is given more than once", name)
		}
		if !ok {
			return nil, badParameter("label", "%.100q is not key=value", text)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out, nil
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

// Cursors are opaque to clients: the kind of list, then the position to continue from.
func cursor(kind byte, at string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(string(kind) + at))
}

// after reads the cursor of a list; "": there is none.
func (r *request) after(kind byte) (string, error) {
	text := r.query.Get("after")
	if text == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < 2 || raw[0] != kind {
		p := problem(api.CodeBadCursor, "after is not a cursor of this list; pass the unchanged next of the previous page")
		p.Errors = []api.ProblemDetail{{Parameter: "after", Message: "is not a cursor of this list"}}
		return "", p
	}
	return string(raw[1:]), nil
}

// afterNumber reads a cursor that is a number; 0: there is none.
func (r *request) afterNumber(kind byte) (int64, error) {
	text, err := r.after(kind)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, badCursor()
	}
	return n, nil
}

// Lists of instances are ordered by number, or by the time of creation: their cursors have both.

func instanceList(newest bool) byte {
	if newest {
		return 'n'
	}
	return 'o'
}

func cursorBehind(in *store.Instance, newest bool) string {
	return cursor(instanceList(newest), itoa(in.Seq)+" "+itoa(int64(in.Created)))
}

// afterInstance reads the cursor of a list of instances; 0: there is none.
func (r *request) afterInstance(newest bool) (seq int64, created core.Time, err error) {
	text, err := r.after(instanceList(newest))
	if err != nil || text == "" {
		return 0, 0, err
	}
	if _, err := fmt.Sscanf(text, "%d %d", &seq, &created); err != nil || seq <= 0 {
		return 0, 0, badCursor()
	}
	return seq, created, nil
}

func badCursor() error {
	return problem(api.CodeBadCursor, "after is not a cursor of this list; pass the unchanged next of the previous page")
}

// wait reads how long a request waits for an instance to end; 0: it does not wait.
func (s *Server) wait(r *request) (time.Duration, error) {
	text := r.query.Get("wait")
	if !r.query.Has("wait") {
		return 0, nil
	}
	digits, unit := strings.TrimRight(text, "ms"), time.Duration(0)
	switch text[len(digits):] {
	case "ms":
		unit = time.Millisecond
	case "s":
		unit = time.Second
	case "m":
		unit = time.Minute
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || unit == 0 || strings.HasPrefix(digits, "+") {
		return 0, badParameter("wait", "%q is not a time such as 20s, 500ms or 1m", text)
	}
	if d := time.Duration(n) * unit; d <= s.limits.Wait {
		return d, nil
	}
	return 0, badParameter("wait", "must be at most %s (limit request-wait)", s.limits.Wait)
}

// ifMatch reads the revision that the client expects; 0: any.
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

// idempotencyKey reads the key of a request; "": it has none.
func (r *request) idempotencyKey() (string, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if len(values) > 1 || !validKey(key) {
		return "", badParameter("Idempotency-Key", "must have 1 to %d visible ASCII characters (limit idempotency-key)", maxKey)
	}
	return key, nil
}

// body reads the body of a request, which must have one of the media types; nil: there is no body.
func (s *Server) body(r *request, limit string, most int64, types ...string) ([]byte, string, error) {
	text, err := web.ReadBody(r.Body, most)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, "", tooLarge(limit, most)
	}
	if err != nil {
		return nil, "", err
	}
	if len(r.Header.Values("Content-Type")) > 1 {
		return nil, "", badParameter("Content-Type", "is given more than once")
	}
	header := r.Header.Get("Content-Type")
	if len(text) == 0 && header == "" {
		return nil, "", nil
	}
	media, charset, err := parseMedia(header)
	if err != nil || !slices.Contains(types, media) || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, "", problem(api.CodeMediaType, fmt.Sprintf("the content type %.100q is not supported here", header)).
			hint("send " + strings.Join(types, ", ") + " in UTF-8")
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, "", problem(api.CodeMediaType, "compressed bodies are not supported")
	}
	return text, media, nil
}

// json reads a body of JSON; ok is false if there is none.
func (s *Server) json(r *request) (v expr.Value, ok bool, err error) {
	limit, most := "request-bytes", s.limits.Body
	if r.visit.pools == s.open {
		limit, most = "open-request-bytes", s.limits.OpenBody
	}
	text, _, err := s.body(r, limit, most, "application/json")
	if err != nil || len(text) == 0 {
		return expr.Null, false, err
	}
	v, err = parseBody(text)
	if err != nil {
		return expr.Null, false, problem(api.CodeBadJSON, "the body is not JSON: "+err.Error())
	}
	return v, true, nil
}

// object reads a body that is an object with these members at most; no body counts as {}.
func (s *Server) object(r *request, members ...string) (*dialect.Members, error) {
	v, ok, err := s.json(r)
	if err != nil {
		return nil, err
	}
	if !ok {
		v = expr.EmptyObject
	}
	body := dialect.ReadMembers(v, "the body", "", members...)
	return body, memberProblem(body)
}

// memberProblem is the problem for the first mistake in an object of a body.
func memberProblem(m *dialect.Members) error {
	wrong, _ := errors.AsType[*dialect.MemberError](m.Err())
	switch {
	case wrong == nil:
		return nil
	case wrong.Mistake == dialect.NotObject:
		return memberProblemAs(api.CodeBadJSON, wrong)
	case wrong.Mistake == dialect.UnknownMember || wrong.Mistake == dialect.NotString:
		return memberProblemAs(api.CodeUnknownField, wrong)
	}
	return memberProblemAs(api.CodeInput, wrong)
}

func memberProblemAs(code api.Code, wrong *dialect.MemberError) *problemError {
	p := problem(code, wrong.Message)
	p.Hint = wrong.Hint
	p.Errors = []api.ProblemDetail{{Pointer: wrong.Pointer, Message: wrong.Message, Hint: wrong.Hint}}
	return p
}

// parseMedia reads the header Content-Type.
func parseMedia(header string) (media, charset string, err error) {
	if header == mediaJSON { // most are that, and nothing more
		return header, "", nil
	}
	media, params, err := mime.ParseMediaType(header)
	return media, params["charset"], err
}

func validKey(key string) bool {
	return key != "" && len(key) <= maxKey && !strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' })
}
