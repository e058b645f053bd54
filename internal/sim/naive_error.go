package sim

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// handler finds the error definition for a fault, -1 if none. A specific one beats
// the wildcard, whatever their order (0.5 §Defining Errors).
func handler(onErrors expr.Value, f *Fault) int {
	if f.uncatchable {
		return -1
	}
	for i, d := range onErrors.Items() {
		if str(d, "error") != "*" && matches(d, f) {
			return i
		}
	}
	for i, d := range onErrors.Items() {
		if str(d, "error") == "*" {
			return i
		}
	}
	return -1
}

// matches compares name and code (semantics.md §Functions, events, errors): with both
// given the name must match and the code not contradict, or a fault without a name
// matches by its code.
func matches(d expr.Value, f *Fault) bool {
	named := slices.Contains([]string{f.Name, f.Title, f.Type}, str(d, "error"))
	code := str(d, "code")
	if code == "" {
		return named
	}
	has := f.Code != "" || f.Status != ""
	same := f.Code == code || f.Status == code
	if f.Name == "Error" { // nothing but technical facts is known
		return same || named && !has
	}
	return named && (same || !has)
}

// retry says whether to try again after n retries, and after how long: the delay
// grows by the multiplier each time (0.5 §Retry Definition).
func (in *instance) retry(d expr.Value, n int64) (time.Duration, bool) {
	name := str(d, "retryRef")
	if name == "" {
		return 0, false
	}
	for _, r := range get(in.def, "retries").Items() {
		if str(r, "name") != name {
			continue
		}
		most := int64(1)
		if v, ok := r.Get("maxAttempts"); ok {
			most = in.w.number(v, expr.Null)
		}
		if n >= most {
			return 0, false
		}
		var delay time.Duration
		if s := str(r, "delay"); s != "" {
			delay = in.w.span(s)
		}
		if s := str(r, "multiplier"); s != "" {
			delay += time.Duration(n) * in.w.span(s)
		}
		return delay, true
	}
	panic("sim: no retry " + name)
}

// number reads an integer, a numeric string or an expression; 0 where there is none.
func (w *world) number(v, data expr.Value) int64 {
	if v.Kind() == expr.KindString {
		if n, err := strconv.ParseInt(v.Str(), 10, 64); err == nil {
			return n
		}
		v = w.fill(v, data)
	}
	n, _ := v.Int()
	return n
}
