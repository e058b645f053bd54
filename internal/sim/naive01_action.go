package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

const openCounts = "errors of one SYS name with and without a code, which may be counted apart"

// actions runs actions one after the other, each with what the one before gave, or side
// by side, which gives a list.
func (s scope) actions(t *thread, holder, data expr.Value) (expr.Value, error) {
	w, list := s.in.w, get(holder, "actions").Items()
	if len(list) == 0 {
		w.saw("no actions")
		return data, nil
	}
	if !strings.EqualFold(word(holder, "action-mode").Str(), "PARALLEL") {
		for _, a := range list {
			var err error
			if data, err = s.action(t, a, data); err != nil {
				return data, err
			}
		}
		return data, nil
	}
	w.saw("parallel actions")
	b, results := t.box(), make([]expr.Value, len(list))
	for i, a := range list {
		w.spawn(t, func(t *thread) {
			out, err := s.action(t, a, data)
			b.post(ended{i, contribution{value: out, present: true}, err})
		})
	}
	for range list {
		e := b.receive().(ended)
		if e.err != nil {
			if w.first(); t.busy() {
				w.isOpen(openTie)
			}
			return data, e.err
		}
		results[e.index] = e.result.value
	}
	return expr.Array(results...), nil
}

// action calls a function, again where a retry says so. What it answers takes the place
// of what it was given.
func (s scope) action(t *thread, a, data expr.Value) (expr.Value, error) {
	w := s.in.w
	given := w.select01(path01(a, "input-path"), data)
	name, args := get(a, "function").Str(), given
	if f := get(a, "function"); f.IsObject() {
		name = str(f, "name")
		if p, ok := f.Get("parameters"); ok {
			args = w.fill01(p, given)
		}
	}
	limit := never
	if v := get(a, "timeout"); !v.IsNull() {
		if limit = w.span01(v); limit == 0 {
			limit = never
		}
	}
	tried, coded := map[string]int64{}, map[string]bool{}
	for {
		answer, err := w.invoke(t, a, name, args, limit)
		f, _ := err.(*Fault)
		r, way := w.retry01(a, f, answer)
		if f != nil && strings.HasPrefix(f.Name, "SYS.") { // with and without a code may count apart
			if before, seen := coded[f.Name]; seen && before != (code01(f) != "") {
				w.isOpen(openCounts)
			}
			coded[f.Name] = code01(f) != ""
		}
		switch {
		case r.IsNull() && err != nil:
			return data, err
		case r.IsNull():
			out := given
			if answer.present {
				out = answer.value
			}
			return w.shape01(a, out), nil
		}
		interval, most := w.again(r)
		if tried[way] >= most {
			if most > 0 {
				w.saw("retries used up")
			}
			if to := word(r, "next-state").Str(); to != "" {
				return data, leap{to}
			}
			if err == nil {
				err = &Fault{Name: "SYS.Fail"}
			}
			return data, err
		}
		tried[way]++
		w.saw("a retry")
		t.sleep(interval)
	}
}

// again is how long a retry waits, and how often it tries.
func (w *world) again(r expr.Value) (interval time.Duration, most int64) {
	v, limited := word(r, "max-retry"), false
	if limited = !v.IsNull(); limited {
		most = w.number(v, expr.Null)
	}
	v = word(r, "retry-interval")
	if times, each, ok := strings.Cut(v.Str(), "/"); ok {
		w.saw("a repeatable interval")
		n := w.number(expr.String(strings.TrimPrefix(times, "R")), expr.Null)
		if !limited || n < most {
			most = n
		}
		v = expr.String(each)
	}
	if !v.IsNull() {
		interval = w.span01(v)
	}
	return interval, most
}

// fill01 replaces texts that are paths.
func (w *world) fill01(v, data expr.Value) expr.Value {
	for _, m := range v.Members() {
		v = v.With(m.Key, w.fill01(m.Value, data))
	}
	if v.IsArray() {
		items := slices.Clone(v.Items())
		for i := range items {
			items[i] = w.fill01(items[i], data)
		}
		return expr.Array(items...)
	}
	if s := v.Str(); s == "$" || strings.HasPrefix(s, "$.") || strings.HasPrefix(s, "$[") {
		return w.eval(s, data).Value
	}
	return v
}

// The categories of errors.
const (
	sysTimeout    = "SYS.Timeout"
	sysFail       = "SYS.Fail"
	sysAny        = "SYS.MatchAny"
	sysPermission = "SYS.Permission"
	sysInvalid    = "SYS.InvalidParameter"
	sysFilter     = "SYS.FilterError"
)

var categories = []string{sysTimeout, sysFail, sysPermission, sysInvalid, sysFilter}

// codes01 are those that tell a category.
var codes01 = map[string]string{"401": sysPermission, "403": sysPermission, "400": sysInvalid, "422": sysInvalid}

// category is the SYS name of an error: that which a function gave it, else by its
// name, else by its code. way tells which it was.
func category(f *Fault) (name, way string) {
	code := f.Code
	if code == "" {
		code = f.Status
	}
	switch {
	case slices.Contains(categories, f.Name):
		return f.Name, "named"
	case f.Name == "Timeout":
		return sysTimeout, ""
	case f.Name == "ExpressionError":
		return sysFilter, ""
	case codes01[code] != "":
		return codes01[code], code
	}
	return sysFail, ""
}

// retry01 finds the retry for an error, or for a result, the first that matches; Null:
// none. Attempts are counted apart for each way.
func (w *world) retry01(a expr.Value, f *Fault, answer contribution) (retry expr.Value, way string) {
	list := get(a, "retry").Items()
	if len(list) == 0 && get(a, "retry").IsObject() {
		list = []expr.Value{get(a, "retry")}
	}
	has := map[string]bool{}
	for i, r := range list {
		match := literal01(get(r, "match"))
		behindFail := has[sysFail]
		has[match] = true
		if f == nil {
			if !system(match) && answer.present && !answer.value.IsObject() && !answer.value.IsArray() && literal01(answer.value) == match {
				w.saw("a result that is asked for again")
				return r, match + " result"
			}
			continue
		}
		is, by := category(f)
		switch {
		case match == sysAny || match == "*":
			if way = match; behindFail {
				way += is + by
			}
		case slices.Contains(categories, match):
			if is != match {
				continue
			}
			if way = match + by; match == sysFail && by != "" && !failsApart(list) {
				way = match
			}
			if match == sysFail && code01(f) == "" && (f.Name == "Error" || textBehind(list[i+1:], f.Name)) && textBehind(list[i+1:], "") {
				way += " of " + f.Name
			}
		case f.Name == match:
			if way = match + " name"; behindFail {
				way += codes01[code01(f)] + code01(f)
			}
		case code01(f) == match:
			way = match + " code"
		default:
			continue
		}
		w.saw("match " + kindOf(match))
		return r, way
	}
	return expr.Null, ""
}

// failsApart reports whether errors that a function itself calls SYS.Fail are counted by
// themselves.
func failsApart(list []expr.Value) bool {
	return len(list) == 1 || slices.ContainsFunc(list, func(r expr.Value) bool { return str(r, "match") == sysPermission || str(r, "match") == sysInvalid })
}

// textBehind reports whether a list has a match that is this text; "": any text.
func textBehind(list []expr.Value, text string) bool {
	return slices.ContainsFunc(list, func(r expr.Value) bool {
		match := str(r, "match")
		return !system(match) && codes01[match] == "" && (text == "" || match == text)
	})
}

func code01(f *Fault) string {
	if f.Code != "" {
		return f.Code
	}
	return f.Status
}

func system(match string) bool {
	return match == sysAny || match == "*" || slices.Contains(categories, match)
}

func kindOf(match string) string {
	if system(match) {
		return match
	}
	return "another text"
}
