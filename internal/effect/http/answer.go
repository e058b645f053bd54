package http

import (
	"bytes"
	"cmp"
	"fmt"
	"mime"
	nethttp "net/http"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// Outcome is what an answer means to the workflow.
func (a Answer) Outcome(where string) effect.Outcome {
	if !a.Success() {
		f := a.failure()
		if f.Detail == "" {
			f.Detail = fmt.Sprintf("%s answered %d %s", where, a.Status, nethttp.StatusText(a.Status))
		}
		return effect.Fail(f)
	}
	if len(a.Body) == 0 {
		return effect.Outcome{Value: expr.EmptyObject, None: true}
	}
	v, err := a.value()
	if err != nil {
		return Failed(where, &Error{CodeInvalid, err.Error()})
	}
	return effect.Outcome{Value: v}
}

// Success reports whether the status says that the call succeeded.
func (a Answer) Success() bool { return a.Status < 300 }

// value reads the body as its media type says.
func (a Answer) value() (expr.Value, error) {
	a.Body = bytes.TrimPrefix(a.Body, []byte("\ufeff")) // a byte order mark is not part of the text
	media, _, err := mime.ParseMediaType(a.Media)
	if err != nil {
		media = ""
	}
	switch {
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		v, err := expr.ParseJSON(a.Body)
		if err != nil {
			return expr.Null, fmt.Errorf("the answer says it is %s, but: %w", media, err)
		}
		return v, nil
	case strings.HasPrefix(media, "text/"), media == "application/xml", strings.HasSuffix(media, "+xml"):
		return expr.String(strings.ToValidUTF8(string(a.Body), "\ufffd")), nil
	}
	v, err := expr.ParseJSON(a.Body)
	if err != nil {
		media = cmp.Or(media, "without a media type")
		return expr.Null, fmt.Errorf("the answer is %s: neither JSON nor text", media)
	}
	return v, nil
}

// failure is the failure of a status of 300 and above (semantics.md §Functions, events, errors:
// `error` matches the fault's name, title or type).
func (a Answer) failure() effect.Failure {
	f := effect.Failure{Name: effect.Unnamed, Status: strconv.Itoa(a.Status)}
	if len(a.Body) == 0 {
		return f
	}
	v, err := a.value()
	if err != nil {
		return f // the status says more than "not JSON" would
	}
	f.Data = v
	media, _, _ := mime.ParseMediaType(a.Media)
	if media == "application/problem+json" {
		problem(&f, v)
	} else {
		f.Describe(v)
	}
	return f
}

// problem reads an RFC 9457 problem. The type about:blank carries no information, and its title
// is only the status in words.
func problem(f *effect.Failure, v expr.Value) {
	f.Title = effect.Text(v, "title")
	f.Type = effect.Text(v, "type")
	f.Detail = effect.Text(v, "detail")
	f.Code = effect.Text(v, "code")
	switch {
	case effect.Name(v, "name") != "":
		f.Name = effect.Name(v, "name")
	case f.Type == "" || f.Type == "about:blank":
		f.Type = ""
	case f.Title != "":
		f.Name = f.Title
	default:
		f.Name = f.Type
	}
}
