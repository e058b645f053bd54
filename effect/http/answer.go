package http

import (
	"fmt"
	"mime"
	nethttp "net/http"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// outcome is what an answer means to the workflow.
func (a answer) outcome(where string) effect.Outcome {
	if a.status >= 300 {
		f := a.failure()
		if f.Detail == "" {
			f.Detail = fmt.Sprintf("%s answered %d %s", where, a.status, nethttp.StatusText(a.status))
		}
		return effect.Fail(f)
	}
	if len(a.body) == 0 {
		return effect.Outcome{Value: expr.EmptyObject, None: true}
	}
	v, err := a.value()
	if err != nil {
		return failed(where, &Error{CodeInvalid, err.Error()})
	}
	return effect.Outcome{Value: v}
}

// value reads the body as its media type says.
func (a answer) value() (expr.Value, error) {
	media, _, err := mime.ParseMediaType(a.media)
	if err != nil {
		media = ""
	}
	switch {
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		v, err := expr.ParseJSON(a.body)
		if err != nil {
			return expr.Null, fmt.Errorf("the answer says it is %s, but: %w", media, err)
		}
		return v, nil
	case strings.HasPrefix(media, "text/"), media == "application/xml", strings.HasSuffix(media, "+xml"):
		return expr.String(strings.ToValidUTF8(string(a.body), "\ufffd")), nil
	}
	v, err := expr.ParseJSON(a.body)
	if err != nil {
		if media == "" {
			media = "without a media type"
		}
		return expr.Null, fmt.Errorf("the answer is %s: neither JSON nor text", media)
	}
	return v, nil
}

// failure names what a status of 300 and above says (SEMANTICS §Functions, events,
// errors: `error` matches the fault's name, title or type).
func (a answer) failure() effect.Failure {
	f := effect.Failure{Name: effect.Unnamed, Status: strconv.Itoa(a.status)}
	if len(a.body) == 0 {
		return f
	}
	v, err := a.value()
	if err != nil {
		return f // the status tells more than "not JSON" would
	}
	f.Data = v
	media, _, _ := mime.ParseMediaType(a.media)
	if media == "application/problem+json" {
		problem(&f, v)
	} else {
		plainError(&f, v)
	}
	return f
}

// problem reads an RFC 9457 problem. The type about:blank says nothing, and its
// title is only the status in words.
func problem(f *effect.Failure, v expr.Value) {
	f.Title, f.Type, f.Detail = member(v, "title"), member(v, "type"), member(v, "detail")
	f.Code = member(v, "code")
	switch {
	case member(v, "name") != "":
		f.Name = member(v, "name")
	case f.Type == "" || f.Type == "about:blank":
		f.Type = ""
	case f.Title != "":
		f.Name = f.Title
	default:
		f.Name = f.Type
	}
}

// plainError reads {name|error, code, message}, also one level down in {error: {…}}.
func plainError(f *effect.Failure, v expr.Value) {
	if inner, ok := v.Get("error"); ok && inner.IsObject() {
		v = inner
	}
	for _, key := range []string{"name", "error"} {
		if name := member(v, key); name != "" {
			f.Name = name
			break
		}
	}
	f.Code, f.Type, f.Title = member(v, "code"), member(v, "type"), member(v, "title")
	for _, key := range []string{"message", "detail", "error_description"} {
		if text := member(v, key); text != "" {
			f.Detail = text
			break
		}
	}
}

// member is a member of an object as text, if it is text or a number.
func member(v expr.Value, key string) string {
	m, _ := v.Get(key)
	if m.Kind() == expr.KindNumber {
		return m.NumberText()
	}
	return m.Str()
}
