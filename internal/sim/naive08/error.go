package naive08

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const errorTypes = "https://serverlessworkflow.io/spec/errors/"

// builtIn are the types and statuses of faults that the runtime raises (0.9 §Error Types).
var builtIn = map[string][2]string{
	"Timeout": {"timeout", "408"}, "ExpressionError": {"expression", "400"}, "SchemaViolation": {"validation", "400"},
}

func timeout(ptr string, final bool) *Fault {
	return &Fault{Name: "Timeout", instance: ptr, final: final}
}

// located says where a fault came from, unless that is known.
func located(f *Fault, ptr string) *Fault {
	if f.instance != "" {
		return f
	}
	g := *f
	g.instance = ptr
	return &g
}

// typeOf and statusOf are what handlers of 0.9 compare.
func (f *Fault) typeOf() string {
	if f.Type != "" {
		return f.Type
	}
	if b, ok := builtIn[f.Name]; ok {
		return errorTypes + b[0]
	}
	return errorTypes + "runtime"
}

func (f *Fault) statusOf() string {
	if f.Status != "" {
		return f.Status
	}
	if b, ok := builtIn[f.Name]; ok && f.Type == "" {
		return b[1]
	}
	return "500"
}

// has reports whether a fault has a code or a status, and same whether one is this.
func (f *Fault) has(code string) (some, same bool) {
	return f.Code != "" || f.Status != "", f.Code == code || f.Status == code
}

// matches6 compares name and code as 0.5 does: with both given the name must match and the code not
// contradict, or a fault without a name matches by its code.
func (f *Fault) matches6(d map[string]any) bool {
	named := slices.Contains([]string{f.Name, f.Title, f.Type}, text(d["error"]))
	code := text(d["code"])
	if code == "" {
		return named
	}
	some, same := f.has(code)
	if f.Name == "Error" {
		return same || named && !some
	}
	return named && (same || !some)
}

// is reports whether a fault is the error that the workflow defines under a name (0.7, 0.8). Names are the author's own
// words for technical errors: an entry with a code means whatever has that code.
func (in *instance) is(f *Fault, name string) bool {
	for _, d := range list(in.def["errors"]) {
		o := object(d)
		if o["name"] != name {
			continue
		}
		if name == "*" {
			return true
		}
		code := text(o["code"])
		if code == "" {
			return f.Name == name
		}
		some, same := f.has(code)
		return same || f.Name == name && !some
	}
	panic("naive08: no error " + name)
}

// isOneOf reports whether a fault is one of the named errors.
func (in *instance) isOneOf(f *Fault, names any) bool {
	return slices.ContainsFunc(list(names), func(name any) bool { return in.is(f, text(name)) })
}

// known reports whether a fault is an error that the workflow defines.
func (in *instance) known(f *Fault) bool {
	return slices.ContainsFunc(list(in.def["errors"]), func(d any) bool { return in.is(f, text(object(d)["name"])) })
}

// attempts counts the retries of one retry definition in one place, with the delay of the last.
type attempts struct {
	n    int
	last time.Duration
}

// retry says whether another retry begins, and after which time: (delay + increment) × multiplier, at most maxDelay, of
// the delay before.
func (in *instance) retry(def map[string]any, a *attempts) (time.Duration, bool) {
	most := 1 // as in 0.5
	if def["unlimited"] == true {
		most = math.MaxInt
	}
	if v, ok := def["maxAttempts"]; ok {
		n, err := in.number(v, nil)
		if err != nil {
			panic("naive08: " + err.Error())
		}
		most = n
	}
	if a.n >= most {
		in.w.saw("retries used up")
		return 0, false
	}
	span := func(key string) time.Duration {
		if _, ok := def[key]; !ok {
			return 0
		}
		d, err := in.duration(def[key], nil, nil)
		if err != nil {
			panic("naive08: " + err.Error())
		}
		return d
	}
	d := span("delay")
	if a.n > 0 {
		d = a.last + span("increment")
		if v, ok := def["multiplier"]; ok {
			factor, err := strconv.ParseFloat(fmt.Sprint(v), 64)
			if err != nil {
				panic("naive08: " + err.Error())
			}
			d = time.Duration(float64(d) * factor)
		}
	}
	if most, ok := def["maxDelay"]; ok && most != "" && d > span("maxDelay") {
		in.w.saw("a delay that maxDelay bounds")
		d = span("maxDelay")
	}
	if a.n > maxRetries {
		in.w.isOpen(openLong)
		return 0, false
	}
	a.n, a.last = a.n+1, d
	return d, true
}

// retries finds a retry definition by its name.
func (in *instance) retries(name string) map[string]any {
	for _, r := range list(in.def["retries"]) {
		if object(r)["name"] == name {
			return object(r)
		}
	}
	panic("naive08: no retry " + name)
}

func counted(all map[string]*attempts, key string) *attempts {
	if all[key] == nil {
		all[key] = &attempts{}
	}
	return all[key]
}

// retryAction says whether an action is tried again: in 0.7 and 0.8 by what it refers to, in 0.9 by its handlers.
func (fr *frame) retryAction(a map[string]any, f *Fault, retried map[string]*attempts) (time.Duration, bool) {
	in := fr.in
	switch in.w.c.Form {
	case 6:
		return 0, false
	case 9:
		if h, key := in.handler(a["onErrors"], f); h != nil {
			return in.retryBy(h, key, f, retried)
		}
		return 0, false
	}
	ref := text(a["retryRef"])
	if in.def["autoRetries"] == true {
		if in.isOneOf(f, a["nonRetryableErrors"]) {
			in.w.saw("an error that must not be retried")
			return 0, false
		}
		in.w.saw("an automatic retry")
		if ref == "" {
			return in.retry(map[string]any{"delay": "PT1S", "multiplier": 2, "unlimited": true}, counted(retried, ""))
		}
		return in.retry(in.retries(ref), counted(retried, ""))
	}
	if ref == "" {
		return 0, false
	}
	if only, ok := a["retryableErrors"]; ok {
		if !in.isOneOf(f, only) {
			in.w.saw("an error that is not to be retried")
			return 0, false
		}
	} else if !in.known(f) || in.isOneOf(f, a["nonRetryableErrors"]) {
		in.w.saw("an unknown error that is not retried")
		return 0, false
	}
	return in.retry(in.retries(ref), counted(retried, ""))
}

// retryState says whether the whole state is tried again (0.6, 0.9).
func (fr *frame) retryState(f *Fault) (time.Duration, bool) {
	in := fr.in
	if f.final {
		return 0, false
	}
	if in.w.c.Form == 6 {
		d, i := in.definition6(fr.st, f)
		if ref := text(d["retryRef"]); ref != "" {
			return in.retry(in.retries(ref), counted(fr.retried, strconv.Itoa(i)))
		}
		return 0, false
	}
	if h, key := in.handler(fr.st["onErrors"], located(f, fr.ptr)); h != nil {
		return in.retryBy(h, key, f, fr.retried)
	}
	return 0, false
}

// retryBy retries as a handler of 0.9 says.
func (in *instance) retryBy(h map[string]any, key string, f *Fault, retried map[string]*attempts) (time.Duration, bool) {
	if f.final {
		return 0, false
	}
	switch r := h["retry"].(type) {
	case string:
		return in.retry(in.retries(r), counted(retried, key))
	case map[string]any:
		return in.retry(r, counted(retried, key))
	}
	return 0, false
}

// definition6 finds the error definition of a state of 0.6. A specific one beats the wildcard, whatever their order.
func (in *instance) definition6(st map[string]any, f *Fault) (map[string]any, int) {
	all := list(st["onErrors"])
	for i, d := range all {
		if object(d)["error"] != "*" && f.matches6(object(d)) {
			return object(d), i
		}
	}
	for i, d := range all {
		if object(d)["error"] == "*" {
			return object(d), i
		}
	}
	return nil, -1
}

func (in *instance) handles6(st map[string]any, f *Fault) bool {
	d, _ := in.definition6(st, f)
	return d != nil
}

// handles reports whether the state has a handler for a fault, or tries again after it. Compensation counts as that.
func (fr *frame) handles(f *Fault) bool {
	in := fr.in
	if f = located(f, fr.ptr); in.undoing {
		return true
	}
	switch in.w.c.Form {
	case 6:
		return in.handles6(fr.st, f)
	case 9:
		h, key := in.handler(fr.st["onErrors"], f)
		if h == nil || object(h["then"])["throw"] != true {
			return h != nil
		}
		now := map[string]*attempts{} // thrown again, it is not handled, unless it is tried again first
		if a := fr.retried[key]; a != nil {
			now[key] = &attempts{a.n, a.last}
		}
		_, again := in.retryBy(h, key, f, now)
		return again
	}
	return slices.ContainsFunc(list(fr.st["onErrors"]), func(d any) bool { return in.catches(object(d), f) })
}

// catches reports whether an error definition of 0.7 or 0.8 is meant for a fault.
func (in *instance) catches(d map[string]any, f *Fault) bool {
	ref := text(d["errorRef"])
	return ref != "" && in.is(f, ref) || in.isOneOf(f, d["errorRefs"])
}

// handle finds the exit of a state after a fault, or the fault that goes on.
func (fr *frame) handle(f *Fault, data any) (exit map[string]any, err error) {
	in := fr.in
	switch in.w.c.Form {
	case 6:
		if d, _ := in.definition6(fr.st, f); d != nil {
			return d, nil
		}
		return nil, f
	case 9:
		h, _ := in.handler(fr.st["onErrors"], f)
		if h == nil {
			return nil, f
		}
		then := object(h["then"])
		if then == nil {
			in.w.saw("an error of a state that is ignored")
			if fr.st["compensatedBy"] != nil {
				in.w.isOpen(openIgnored)
			}
			return fr.st, nil
		}
		if throw, ok := then["throw"]; ok {
			return nil, in.thrown(throw, f, fr.ptr, data, nil)
		}
		return then, nil
	}
	for _, d := range list(fr.st["onErrors"]) {
		if o := object(d); in.catches(o, f) {
			return o, nil
		}
	}
	if !in.known(f) {
		in.w.saw("an unknown error that cannot be handled")
	}
	return nil, f
}

// handleAction is what the handlers of an action (0.9) say about a fault that is not retried.
func (fr *frame) handleAction(a map[string]any, f *Fault, data any, vars map[string]any) (ignored bool, err error) {
	in := fr.in
	if in.w.c.Form < 9 {
		return false, f
	}
	h, _ := in.handler(a["onErrors"], f)
	if h == nil {
		return false, f
	}
	then := object(h["then"])
	if then == nil {
		return true, nil
	}
	if throw, ok := then["throw"]; ok {
		in.w.saw("an action that throws")
		return false, in.thrown(throw, f, f.instance, data, vars)
	}
	in.w.saw("an action that leaves its state")
	return false, &outcome{then}
}

// handler finds the first handler of 0.9 that takes a fault, and a key for its place.
func (in *instance) handler(onErrors any, f *Fault) (map[string]any, string) {
	errors := object(in.def["errors"])
	named := func(kind, name string) map[string]any {
		for _, x := range list(errors[kind]) {
			if object(x)["name"] == name {
				return object(x)
			}
		}
		panic("naive08: nothing in " + kind + " is called " + name)
	}
	handlers := list(onErrors)
	if policy, ok := onErrors.(string); ok {
		in.w.saw("an error policy")
		handlers = list(named("policies", policy)["handlers"])
	}
	isOne := func(refs []any) bool {
		return slices.ContainsFunc(refs, func(ref any) bool {
			o := object(ref)
			if name := text(o["refName"]); name != "" {
				o = named("definitions", name)
			}
			if t, ok := o["type"]; ok && t != f.typeOf() {
				return false
			}
			if s, ok := o["status"]; ok && fmt.Sprint(s) != f.statusOf() && fmt.Sprint(s) != f.Code {
				return false
			}
			at, ok := o["instance"]
			return !ok || at == f.instance
		})
	}
	for i, h := range handlers {
		o := object(h)
		if name := text(o["refName"]); name != "" {
			in.w.saw("an error handler by name")
			o = named("handlers", name)
		}
		if when := list(o["when"]); len(when) > 0 && !isOne(when) {
			continue
		}
		if isOne(list(o["exceptWhen"])) {
			in.w.saw("an error that a handler excepts")
			continue
		}
		return o, strconv.Itoa(i)
	}
	return nil, ""
}

// thrown is the error that a handler throws: the same, a defined one, or one made of the data.
func (in *instance) thrown(throw any, f *Fault, ptr string, data any, vars map[string]any) error {
	in.w.saw("an error that is thrown")
	if throw == true {
		return f
	}
	o := object(throw)
	if name := text(o["refName"]); name != "" {
		for _, d := range list(object(in.def["errors"])["definitions"]) {
			if object(d)["name"] == name {
				o = object(d)
			}
		}
	}
	g := &Fault{instance: ptr, Name: text(o["name"])}
	for key, to := range map[string]*string{"type": &g.Type, "status": &g.Status, "title": &g.Title} {
		if v, ok := o[key]; ok {
			v, err := in.template(v, data, vars)
			if err != nil {
				return err
			}
			*to = strings.TrimSpace(fmt.Sprint(v))
		}
	}
	g.Name = cmp.Or(g.Name, g.Title, g.Type) // what is thrown in place has no name of its own
	return g
}
