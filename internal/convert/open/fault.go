package open

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
)

// guarded is the tasks of a state with its error definitions: a try. With several of them a switch behind it says
// where to go on.
func (f *flow) guarded(s *states.State, inner []*task, failed string) expr.Value {
	w := f.w
	if len(inner) == 0 {
		inner = []*task{{name: "nothing", value: obj("set", jq("."))}}
	}
	if inner = w.attempts(s, inner); len(s.Handlers) == 0 {
		return finished(s.Name, inner, "", nil, "").value
	}
	handlers := slices.Clone(s.Handlers)
	slices.SortStableFunc(handlers, func(a, b *states.Handler) int { // a wildcard takes the rest
		switch {
		case a.Any == b.Any:
			return 0
		case a.Any:
			return 1
		}
		return -1
	})
	var retrying []*states.Handler
	for _, h := range handlers {
		if h.Retry != nil && (h.Retry.Max > 0 || h.Retry.Always) {
			retrying = append(retrying, h)
		}
	}
	for _, h := range retrying[min(1, len(retrying)):] {
		w.lose(h.Pos, "the retries of "+handlerName(h), "several retries of one state count their attempts one by one; in 1.0 they are inside of each other, and the inner ones count again after an outer one",
			"keep one of them, or let both have the same errors")
		c := expr.EmptyObject.With("retry", w.retry(h.Retry))
		if when := w.matching(handlers, h, "$error"); when != "" {
			c = c.With("when", str(when))
		}
		inner = []*task{{name: words("attempt", handlerName(h)), value: obj("try", list(inner), "catch", c)}}
	}
	c := expr.EmptyObject
	if len(retrying) > 0 {
		c = c.With("retry", w.retry(retrying[0].Retry))
		if when := w.matching(handlers, retrying[0], "$error"); when != "" && len(handlers) > 1 {
			r, _ := c.Get("retry")
			c = c.With("retry", r.With("when", str(when)))
		}
	}
	tried := obj("try", list(inner))
	if len(handlers) == 1 {
		h := handlers[0]
		if only, when := w.filter(h); !only.IsNull() {
			c = c.With("errors", obj("with", only))
		} else if when != "" {
			c = c.With("when", str(when))
		}
		if undone, ok := f.inside(s, h, failed); ok {
			next := h.Exit
			next.Compensate = false
			return tried.With("catch", c.With("do", list(undone)).With("then", str(f.way(s, next, "failed"))))
		}
		switch {
		case h.Put != nil:
			c = c.With("do", list([]*task{{name: "keep the error", value: obj("set", jq(w.errorData(h, failed)))}}))
		case failed != ".":
			c = c.With("do", list([]*task{{name: "forget", value: obj("set", jq(failed))}}))
		case len(retrying) > 0: // without it the error would go on outwards
			c = c.With("do", list([]*task{{name: "give up", value: obj("set", jq("."))}}))
		}
		return tried.With("catch", c.With("then", str(f.way(s, h.Exit, "failed"))))
	}
	return tried.With("catch", f.chosen(s, c, handlers, failed))
}

// inside are the tasks that undo what was done, where they can stand in the catch of a state.
func (f *flow) inside(s *states.State, h *states.Handler, failed string) ([]*task, bool) {
	if !h.Exit.Compensate || h.Exit.Guard != nil || failed != "." {
		return nil, false
	}
	steps, ok := f.steps(s, true)
	return steps, ok && len(steps) > 0
}

// chosen adds the switch over several error definitions.
func (f *flow) chosen(s *states.State, c expr.Value, handlers []*states.Handler, failed string) expr.Value {
	w := f.w
	route := &task{name: f.scope.name(words(s.Name, "failed"))}
	if any, caught := handlers[len(handlers)-1].Any, []string(nil); !any {
		for _, h := range handlers {
			caught = append(caught, w.matches(h, "$error"))
		}
		c = c.With("when", str(strings.Join(caught, " or ")))
	}
	c = c.With("do", list([]*task{{name: "keep", value: obj("set", obj("data", jq(w.errorsData(handlers, failed)), "error", jq("$error")))}})).With("then", str(route.name))
	f.add(route)
	var cases []expr.Value
	sc := newScope()
	for i, h := range handlers {
		label := handlerName(h)
		one := obj("then", str(f.way(s, h.Exit, "failed with "+label)))
		if i < len(handlers)-1 || !h.Any {
			one = one.With("when", str(w.matches(h, ".error")))
		}
		cases = append(cases, obj(sc.name(label), one))
	}
	route.value = obj("switch", expr.Array(cases...))
	route.as(".data")
	return c
}

func handlerName(h *states.Handler) string {
	switch {
	case h.Any:
		return "any error"
	case h.When != nil:
		return h.When.Src
	}
	for _, name := range []string{h.Errors[0].Name, h.Errors[0].Status, h.Errors[0].Type} {
		if name != "" {
			return name
		}
	}
	return "error"
}

// matching is when a handler is the one for an error: not those before it are.
func (w *writer) matching(all []*states.Handler, h *states.Handler, err string) string {
	if !h.Any {
		return w.matches(h, err)
	}
	var others []string
	for _, o := range all {
		if o != h && !o.Any {
			others = append(others, w.matches(o, err))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return strings.Join(others, " or ") + " | not"
}

// Errors that the engine raises, by their names before 1.0.
var standard = map[string]string{
	"Timeout": "timeout", "ExpressionError": "expression", "DataError": "expression", "SchemaViolation": "validation",
	"FunctionNotFound": "configuration", "WorkflowNotFound": "configuration",
}

var numeral = regexp.MustCompile(`^[1-9]\d\d$`)

// filter is the errors of a handler as a filter, or as a condition.
func (w *writer) filter(h *states.Handler) (with expr.Value, when string) {
	if h.Any {
		return expr.Null, ""
	}
	if h.When == nil && len(h.Errors) == 1 && h.Errors[0].Code == "" && h.Errors[0].Type == "" && h.Errors[0].Status == "" && !isType(h.Errors[0].Name) {
		e := h.Errors[0]
		if name := standard[e.Name]; name != "" {
			w.sameType(h.Pos, e.Name)
			return obj("type", str(errorBase+name)), ""
		}
		w.titled(h.Pos, e)
		return obj("title", str(e.Name)), ""
	}
	return expr.Null, w.matches(h, "$error")
}

// matches is whether an error is one of a handler's, as an expression over it.
func (w *writer) matches(h *states.Handler, err string) string {
	if h.When != nil {
		return w.errorTest(h.When.Pos, h.When.Tree, err)
	}
	var out []string
	for _, e := range h.Errors {
		if e.Type != "" || e.Status != "" {
			out = append(out, typed(e, err))
			continue
		}
		if name := standard[e.Name]; name != "" {
			w.sameType(h.Pos, e.Name)
			out = append(out, err+".type == "+text(errorBase+name))
			continue
		}
		w.titled(h.Pos, e)
		if e.Name != "" {
			out = append(out, err+".title == "+text(e.Name))
		}
		if isType(e.Name) {
			out = append(out, err+".type == "+text(e.Name))
		}
		switch {
		case e.Code == "":
		case numeral.MatchString(e.Code):
			w.calls.Codes[e.Name] = e.Code
			out = append(out, err+".status == "+e.Code)
		default:
			w.lose(h.Pos, "the code "+quote(e.Code)+" of "+quote(e.Name), "errors of 1.0 have a status, which is a number as in HTTP", "let the function say it in the title")
		}
	}
	joined := strings.Join(out, " or ")
	if len(out) == 0 {
		return "false"
	}
	return joined
}

// typed is whether an error has a type and a status.
func typed(e *states.Error, err string) string {
	var out []string
	if e.Type != "" {
		typ := e.Type
		if i := strings.LastIndex(typ, "/"); strings.Contains(typ, "serverlessworkflow.io/spec/") {
			typ = errorBase + typ[i+1:]
		}
		out = append(out, err+".type == "+text(typ))
	}
	if e.Status != "" {
		out = append(out, err+".status == "+e.Status)
	}
	if len(out) > 1 {
		return "(" + strings.Join(out, " and ") + ")"
	}
	return out[0]
}

// isType reports whether the name of an error can be its type.
func isType(name string) bool {
	return strings.Contains(name, "://") || strings.HasPrefix(name, "urn:")
}

// titled notes that errors of 1.0 have no name.
func (w *writer) titled(pos dialect.Pos, e *states.Error) {
	if e.Name == "" || standard[e.Name] != "" {
		return
	}
	note := "what fails with " + quote(e.Name) + " says so in the title of its error: errors of 1.0 have no name"
	if e.Code != "" {
		note += "; it has the status " + e.Code + ", and no other error with a title does"
	}
	w.assume(pos, note)
}

// sameType notes that 1.0 has one type for several errors.
func (w *writer) sameType(pos dialect.Pos, name string) {
	switch name {
	case "DataError", "ExpressionError", "FunctionNotFound", "WorkflowNotFound":
		other := map[string]string{"DataError": "ExpressionError", "ExpressionError": "DataError", "FunctionNotFound": "WorkflowNotFound", "WorkflowNotFound": "FunctionNotFound"}[name]
		w.lose(pos, "the error "+name, "it has the same type in 1.0 as "+other, "check whether that can occur here")
	}
}

// retry is how often a try is repeated.
func (w *writer) retry(r *states.Retry) expr.Value {
	out := expr.EmptyObject
	zero := r.Delay == nil || r.Delay.Expr == nil && r.Delay.Value.IsZero()
	if !zero {
		out = out.With("delay", w.duration(r.Delay, view{}))
	}
	grows := r.Add != nil && (r.Add.Expr != nil || !r.Add.Value.IsZero())
	switch {
	case grows && !zero && r.Delay.Expr == nil && r.Add.Value == r.Delay.Value && (r.Factor == 0 || r.Factor == 1) && r.AtMost == nil:
		out = out.With("backoff", obj("linear", expr.EmptyObject))
	case grows:
		w.lose(r.Add.Pos, "the growing delay of retry "+quote(r.Name), "in 1.0 a delay grows by itself (linear), or doubles (exponential); here it stays",
			"choose a backoff")
	case r.Factor == 2 && r.AtMost == nil:
		out = out.With("backoff", obj("exponential", expr.EmptyObject))
	case r.Factor != 0 && r.Factor != 1 || r.AtMost != nil && grows:
		w.lose(r.Pos, "the growing delay of retry "+quote(r.Name), "in 1.0 a delay doubles (exponential), without a limit; here it stays", "choose a backoff")
	}
	if r.JitterMillis > 0 || r.JitterAtMost != nil {
		w.lose(r.Pos, "the jitter of retry "+quote(r.Name), "in 1.0 jitter only makes a delay longer; here there is none", "add a jitter with from and to")
	}
	if !r.Always {
		out = out.With("limit", obj("attempt", obj("count", expr.Int(int64(r.Max)))))
	}
	return out
}
