package naive08

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/itchyny/gojq"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/sim/naive10"
)

func expressionError() *Fault { return &Fault{Name: "ExpressionError"} }

// cut takes the first expression out of a text: what is before it, the expression, what is after it.
func (in *instance) cut(s string) (before, src, after string, ok bool) {
	open := strings.Index(s, "${")
	if in.paths() {
		if i := strings.Index(s, "{{"); i >= 0 && (open < 0 || i < open) {
			if end := strings.Index(s[i:], "}}"); end > 0 {
				return s[:i], s[i+2 : i+end], s[i+end+2:], true
			}
		}
	}
	if open < 0 {
		return s, "", "", false
	}
	depth, quoted := 1, false
	for i := open + 2; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return s[:open], s[open+2 : i], s[i+1:], true
			}
		}
	}
	panic("naive08: an expression without an end: " + s)
}

// paths reports whether expressions are JSONPaths.
func (in *instance) paths() bool { return in.def["expressionLang"] == "jsonpath" }

// eval evaluates a text that is always an expression, delimited or not. Several values are a list;
// some is false if there is none.
func (in *instance) eval(text string, data any, vars map[string]any) (v any, some bool, err error) {
	src := strings.TrimSpace(text)
	if before, inner, after, ok := in.cut(src); ok && before == "" && after == "" {
		src = strings.TrimSpace(inner)
	}
	if name, ok := strings.CutPrefix(src, "fn:"); ok {
		in.w.saw("fn:")
		return in.eval(in.function(name)["operation"].(string), data, vars)
	}
	if in.paths() {
		in.w.saw("a JSONPath")
		v, some = path(src, data)
		return v, some, nil
	}
	all, err := in.jq(src, data, vars)
	switch {
	case err != nil || len(all) == 0:
		return nil, false, err
	case len(all) > 1:
		in.w.saw("an expression with several values")
		return all, true, nil
	}
	return all[0], true, nil
}

// function finds a function by its name; one that is not defined is empty.
func (in *instance) function(name string) map[string]any {
	for _, f := range list(in.def["functions"]) {
		if object(f)["name"] == name {
			return object(f)
		}
	}
	return nil
}

// selected is what a filter of data selects: everything where it selects nothing.
func (in *instance) selected(src, data any, vars map[string]any) (any, error) {
	if src == nil {
		return data, nil
	}
	v, some, err := in.eval(text(src), data, vars)
	if err != nil {
		return nil, err
	}
	if !some || v == nil {
		in.w.saw("a filter that selects nothing")
		return data, nil
	}
	return v, nil
}

// filter is what an expression gives, null where that is nothing.
func (in *instance) filter(src string, data any, vars map[string]any) (any, error) {
	v, _, err := in.eval(src, data, vars)
	return v, err
}

// holds evaluates a condition: true or false, where null and nothing are false too; anything else is an error. With
// JSONPath a filter holds when it selects something.
func (in *instance) holds(cond, data any, vars map[string]any) (bool, error) {
	v, some, err := in.eval(text(cond), data, vars)
	if err != nil || !some || v == nil {
		return false, err
	}
	if all, ok := v.([]any); ok && in.paths() {
		return len(all) > 0, nil
	}
	b, ok := v.(bool)
	if !ok {
		in.w.saw("a condition that is neither true nor false")
		return false, expressionError()
	}
	return b, nil
}

// jq runs a filter.
func (in *instance) jq(src string, data any, vars map[string]any) ([]any, error) {
	all := map[string]any{}
	if in.w.c.Form >= 7 {
		constants := object(in.def["constants"])
		if constants == nil {
			constants = map[string]any{}
		}
		all["CONST"] = constants
	}
	if in.w.c.Form >= 8 {
		all["WORKFLOW"] = map[string]any{"id": in.Workflow, "name": text(in.def["name"]), "version": text(in.def["version"])}
	}
	maps.Copy(all, vars)
	var names []string
	var values []any
	for _, name := range slices.Sorted(maps.Keys(all)) {
		names = append(names, "$"+name)
		values = append(values, all[name])
	}
	results := compile(src, names).Run(data, values...)
	var out []any
	for {
		v, ok := results.Next()
		if !ok {
			return out, nil
		}
		if _, failed := v.(error); failed {
			in.w.saw("an expression that fails")
			return nil, expressionError()
		}
		out = append(out, v)
	}
}

var compiled sync.Map // generated cases say the same things again and again

func compile(src string, names []string) *gojq.Code {
	key := strings.Join(names, " ") + "\n" + src
	if code, ok := compiled.Load(key); ok {
		return code.(*gojq.Code)
	}
	query, err := gojq.Parse(src)
	if err != nil {
		panic("naive08: " + err.Error() + " in " + src)
	}
	code, err := gojq.Compile(query, gojq.WithVariables(names))
	if err != nil {
		panic("naive08: " + err.Error() + " in " + src)
	}
	compiled.Store(key, code)
	return code
}

// template evaluates the expressions inside of a value, at any depth. Keys are none.
func (in *instance) template(v, data any, vars map[string]any) (any, error) {
	switch x := v.(type) {
	case string:
		return in.templateText(x, data, vars)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			var err error
			if out[i], err = in.template(x[i], data, vars); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(x)) {
			var err error
			if out[key], err = in.template(x[key], data, vars); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// templateText evaluates the expressions in a text: alone one keeps its type, in other text it becomes text.
func (in *instance) templateText(s string, data any, vars map[string]any) (any, error) {
	before, src, after, ok := in.cut(strings.TrimSpace(s))
	if ok && before == "" && after == "" {
		return in.filter(src, data, vars)
	}
	var b strings.Builder
	for {
		before, src, after, ok := in.cut(s)
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		in.w.saw("an expression inside text")
		v, err := in.filter(src, data, vars)
		if err != nil {
			return nil, err
		}
		switch x := v.(type) {
		case nil:
		case string:
			b.WriteString(x)
		default:
			b.Write(naive10.Encode(x))
		}
		s = after
	}
}

// duration reads a duration, which may be an expression that gives it.
func (in *instance) duration(v, data any, vars map[string]any) (time.Duration, error) {
	v, err := in.template(v, data, vars)
	if err != nil {
		return 0, err
	}
	d, err := calendar.ParseDuration(text(v))
	if err != nil {
		return 0, expressionError()
	}
	now := in.w.c.Start.Add(in.w.now)
	return d.AddTo(now).Sub(now), nil
}

// place reads where data goes: a path of names; the top has none.
func (in *instance) place(src string) []string {
	src = strings.TrimSpace(src)
	if _, inner, _, ok := in.cut(src); ok {
		src = strings.TrimSpace(inner)
	}
	src = strings.TrimPrefix(src, "$")
	var names []string
	for src != "" && src != "." {
		rest, quoted := strings.CutPrefix(src, `["`)
		if !quoted {
			rest, quoted = strings.CutPrefix(src, `.["`)
		}
		if quoted {
			name, after, _ := strings.Cut(rest, `"]`)
			names, src = append(names, name), after
			continue
		}
		src = strings.TrimPrefix(src, ".")
		end := strings.IndexAny(src, ".[")
		if end < 0 {
			end = len(src)
		}
		names, src = append(names, src[:end]), src[end:]
	}
	return names
}

func equal(a, b any) bool { return gojq.Compare(a, b) == 0 }

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

func list(v any) []any { l, _ := v.([]any); return l }

func text(v any) string { s, _ := v.(string); return s }
