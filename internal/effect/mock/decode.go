package mock

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
)

// DecodeError names the place in the mocks that cannot be used.
type DecodeError struct {
	Path string // such as mocks.charge[1].delay
	Msg  string
}

func (e *DecodeError) Error() string { return e.Path + ": " + e.Msg }

// Decode reads a mocks map.
func Decode(v expr.Value) (Mocks, error) {
	const path = "mocks"
	if v.IsNull() {
		return nil, nil
	}
	if !v.IsObject() {
		return nil, fail(path, "must be a map from function names to answers, not %s", v.Kind())
	}
	out := make(Mocks, v.Len())
	for _, m := range v.Members() {
		answers, err := decodeAnswers(path+"."+m.Key, m.Value)
		if err != nil {
			return nil, err
		}
		out[m.Key] = answers
	}
	return out, nil
}

func fail(path, format string, args ...any) error {
	return &DecodeError{path, fmt.Sprintf(format, args...)}
}

func decodeAnswers(path string, v expr.Value) ([]Answer, error) {
	if !v.IsArray() {
		a, err := decodeAnswer(path, v)
		return []Answer{a}, err
	}
	if v.Len() == 0 {
		return nil, fail(path, "the list of answers is empty")
	}
	out := make([]Answer, 0, v.Len())
	for i, item := range v.Items() {
		a, err := decodeAnswer(fmt.Sprintf("%s[%d]", path, i), item)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

const shape = "an answer is {result: …}, {error: {name: …}} or {echo: true}, each with an optional delay"

func decodeAnswer(path string, v expr.Value) (Answer, error) {
	if !v.IsObject() {
		return Answer{}, fail(path, "%s, not %s", shape, v.Kind())
	}
	var a Answer
	var err error
	kinds := 0
	for _, m := range v.Members() {
		at := path + "." + m.Key
		switch m.Key {
		case "result":
			a.Result, a.HasResult = m.Value, true
			kinds++
		case "error":
			a.Error, err = decodeError(at, m.Value)
			kinds++
		case "echo":
			if m.Value.Kind() != expr.KindBool {
				return Answer{}, fail(at, "must be true or false, not %s", m.Value.Kind())
			}
			if a.Echo = m.Value.Bool(); a.Echo {
				kinds++
			}
		case "delay":
			a.Delay, err = decodeDelay(at, m.Value)
		default:
			return Answer{}, fail(at, "unknown key; %s", shape)
		}
		if err != nil {
			return Answer{}, err
		}
	}
	if kinds > 1 {
		return Answer{}, fail(path, "has more than one of result, error and echo")
	}
	return a, nil
}

func decodeDelay(path string, v expr.Value) (time.Duration, error) {
	if v.Kind() != expr.KindString {
		return 0, fail(path, "must be an ISO 8601 duration such as PT2S, not %s", v.Kind())
	}
	d, err := calendar.ParseDuration(v.Str())
	if err != nil {
		return 0, fail(path, "%v", err)
	}
	if d.Months != 0 {
		return 0, fail(path, "%q: a delay has no months or years, whose length is not fixed; write days", v.Str())
	}
	const day = int64(24 * time.Hour)
	if d.Days > (1<<63-1-d.Nanos)/day {
		return 0, fail(path, "%q is too long", v.Str())
	}
	return time.Duration(d.Days*day + d.Nanos), nil
}

func decodeError(path string, v expr.Value) (*effect.Failure, error) {
	if v.Kind() == expr.KindString {
		return &effect.Failure{Name: v.Str()}, nil
	}
	if !v.IsObject() {
		return nil, fail(path, "must be a name or {name, code, status, title, type, detail, data}, not %s", v.Kind())
	}
	f := &effect.Failure{Name: effect.Unnamed}
	for _, m := range v.Members() {
		if m.Key == "data" {
			f.Data = m.Value
			continue
		}
		into := map[string]*string{
			"name": &f.Name, "code": &f.Code, "status": &f.Status,
			"title": &f.Title, "type": &f.Type, "detail": &f.Detail, "message": &f.Detail,
		}[m.Key]
		if into == nil {
			return nil, fail(path+"."+m.Key, "unknown key; an error has name, code, status, title, type, detail and data")
		}
		switch m.Value.Kind() {
		case expr.KindString:
			*into = m.Value.Str()
		case expr.KindNumber: // code: 402
			*into = m.Value.NumberText()
		default:
			return nil, fail(path+"."+m.Key, "must be a string, not %s", m.Value.Kind())
		}
	}
	return f, nil
}
