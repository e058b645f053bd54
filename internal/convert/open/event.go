package open

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
)

// attributes of events that every event has, and that it may have.
var (
	certain  = []string{"data", "type", "source", "id", "specversion"}
	possible = []string{"subject", "time", "datacontenttype", "dataschema"}
)

// payload is what is merged of an event `.`, by the filter of its use.
func (w *writer) payload(u *states.EventUse) (exact, plain string) {
	p := u.Filter
	to := placed{to: u.To, wrap: u.Wrap, drop: u.Drop}
	switch base := (view{over: ".data"}); {
	case u.Drop:
		return "empty", "{}"
	case w.o.Version05:
	case u.Event.Envelope:
		return w.picked(p, to, view{})
	case u.Event.Either && p != nil && firstName.MatchString(p.Src):
		name := firstName.FindStringSubmatch(p.Src)[1]
		if !w.exact {
			if slices.Contains(certain, name) {
				w.assume(p.Pos, fmt.Sprintf("the data of event %q has no %s", u.Event.Name, name))
				return w.picked(p, to, view{})
			}
			w.assume(p.Pos, fmt.Sprintf("event %q has no attribute %s, or its data has it too", u.Event.Name, name))
			return w.picked(p, to, base)
		}
		return w.picked(p, to, view{over: fmt.Sprintf(`if has(%s) and (.data | type != "object" or (has(%[1]s) | not)) then . else .data end`, text(name))})
	default:
		return w.picked(p, to, base)
	}
	if p == nil || p.Shape.Root || len(p.Shape.Keys) == 1 && p.Shape.Keys[0] == "data" {
		return ".data", ".data"
	}
	first := p.Shape.First
	correlated := slices.ContainsFunc(u.Event.Correlation, func(c states.Correlation) bool { return c.Attribute == first })
	switch {
	case u.Event.Envelope, slices.Contains(certain, first):
		return w.picked(p, to, view{})
	case first == "":
		return w.picked(p, to, view{over: ".data"})
	case w.exact:
		exact, _ := w.picked(p, to, view{})
		return fmt.Sprintf("if has(%s) then . else .data end | %s", text(first), exact), ""
	case correlated, slices.Contains(possible, first):
		w.assume(p.Pos, fmt.Sprintf("event %q has the attribute %s", u.Event.Name, first))
		return w.picked(p, to, view{})
	}
	w.assume(p.Pos, fmt.Sprintf("event %q has no attribute %s", u.Event.Name, first))
	return w.picked(p, to, view{over: ".data"})
}

// firstName finds the name that a path begins with.
var firstName = regexp.MustCompile(`^\s*\$?\.([A-Za-z_]\w*)`)

// isEvent is whether an event `.` is one that is used.
func isEvent(e *states.Event) string {
	var out []string
	if e.Type != "" {
		out = append(out, ".type == "+text(e.Type))
	}
	if e.Source != "" {
		out = append(out, ".source == "+text(e.Source))
	}
	if len(out) == 0 {
		return "true"
	}
	return strings.Join(out, " and ")
}

// received is the data after events have come: what they carry is merged into a value. `.` is the list of events.
func (w *writer) received(uses []*states.EventUse, into string, all bool) string {
	var exact []string
	plain := ""
	for _, u := range uses {
		one := ".[0]"
		if all {
			one = fmt.Sprintf(".[] | select(%s)", isEvent(u.Event))
		}
		e, p := w.payload(u)
		exact = append(exact, one+" | "+e)
		if len(uses) == 1 && p != "" {
			plain = view{over: one}.apply(p)
			if strings.HasPrefix(p, "{") {
				plain = one + " | " + p
			}
			if p == "{}" {
				plain = p
			}
		}
	}
	u := uses[0]
	if plain != "" && !w.exact {
		w.assume(u.Pos, fmt.Sprintf("what event %q carries is an object, and no list of it meets a list in the data", u.Event.Name))
		if into == "{}" {
			return plain
		}
		w.assumeObject()
		return into + " * " + operand(plain)
	}
	return w.fold(into, strings.Join(parenthesised(exact), ", "))
}

func parenthesised(list []string) []string {
	if len(list) == 1 {
		return list
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = "(" + s + ")"
	}
	return out
}

// consumption is what is listened to.
func (w *writer) consumption(uses []*states.EventUse, all bool, known map[string]certainty, in view) expr.Value {
	var filters []expr.Value
	var seen []*states.Event
	shared := map[string]int{}
	for _, u := range uses {
		for _, c := range u.Event.Correlation {
			shared[c.Attribute]++
		}
	}
	for _, u := range uses {
		if slices.Contains(seen, u.Event) {
			continue
		}
		seen = append(seen, u.Event)
		filters = append(filters, w.eventFilter(u.Event, all && len(uses) > 1, shared, known, in))
	}
	switch {
	case all && len(filters) > 1:
		return obj("all", expr.Array(filters...))
	case len(filters) == 1:
		return obj("one", filters[0])
	}
	return obj("any", expr.Array(filters...))
}

// eventFilter selects an event.
func (w *writer) eventFilter(e *states.Event, all bool, shared map[string]int, known map[string]certainty, in view) expr.Value {
	with, correlate := expr.EmptyObject, expr.EmptyObject
	if e.Type != "" {
		with = with.With("type", attributeText(e.Type))
	}
	if e.Source != "" {
		with = with.With("source", attributeText(e.Source))
	}
	for _, c := range e.Correlation {
		path := "." + key(c.Attribute)
		switch {
		case c.Value != nil:
			correlate = correlate.With(c.Attribute, obj("from", str(path), "expect", w.templated(c.Value, c.Value.Value, in)))
		case w.keys.kept[c.Attribute] && known[c.Attribute] == yes:
			w.hasAttribute(c.Pos, e, c.Attribute)
			correlate = correlate.With(c.Attribute, obj("from", str(path), "expect", jq("$context"+path)))
		case w.keys.kept[c.Attribute] && known[c.Attribute] == maybe:
			w.hasAttribute(c.Pos, e, c.Attribute)
			with = with.With(c.Attribute, jq(fmt.Sprintf("$context%s == null or . == $context%s", path, path)))
		case all && shared[c.Attribute] > 1:
			w.hasAttribute(c.Pos, e, c.Attribute)
			correlate = correlate.With(c.Attribute, obj("from", str(path)))
		}
	}
	out := obj("with", with)
	if with.Len() == 0 {
		w.assume(e.Pos, fmt.Sprintf("event %q may be any event that has an id", e.Name))
		out = obj("with", obj("id", str(".*")))
	}
	if correlate.Len() > 0 {
		out = out.With("correlate", correlate)
	}
	return out
}

func (w *writer) hasAttribute(pos dialect.Pos, e *states.Event, attribute string) {
	w.assume(pos, fmt.Sprintf("every event %q has the attribute %s", e.Name, attribute))
}

// attributeText is a text that an attribute equals: one with signs would be a regular expression.
func attributeText(s string) expr.Value {
	if strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:@~%=&#, -", r))
	}) < 0 {
		return str(s)
	}
	return jq(". == " + text(s))
}

// listen waits for events. Its output is what out makes of their list; attributes that are needed later are kept in
// the context.
func (w *writer) listen(name string, uses []*states.EventUse, all bool, known map[string]certainty, in view, out func(into string) string) *task {
	t := &task{name: name, value: obj("listen", obj("to", w.consumption(uses, all, known, in), "read", str("envelope")))}
	return w.keeping(t, uses, out)
}

// keeping gives a task whose raw output is a list of events its output, and keeps attributes.
func (w *writer) keeping(t *task, uses []*states.EventUse, out func(into string) string) *task {
	var kept []string
	for _, u := range uses {
		for _, c := range u.Event.Correlation {
			if c.Value == nil && w.keys.kept[c.Attribute] && !slices.Contains(kept, c.Attribute) {
				kept = append(kept, c.Attribute)
			}
		}
	}
	if len(kept) == 0 {
		return t.as(out("$input"))
	}
	var members []string
	for _, a := range kept {
		path := "." + key(a)
		members = append(members, fmt.Sprintf("%s: ($context%s // ([.[]%s | values] | .[0]))", key(a), path, path))
	}
	inner := &task{name: "event", value: t.value.With("export", obj("as", str("$context + {"+strings.Join(members, ", ")+"}")))}
	return block(t.name, inner).as(out("$input"))
}

// waiting gives a listener its time: when it is over, the data is as before, and the list goes on at then.
func (w *writer) waiting(t *task, d *states.Duration, in view, then string) *task {
	if d == nil {
		return t
	}
	inner := &task{name: "event", value: t.value.With("timeout", obj("after", w.duration(d, in)))}
	catch := obj("errors", obj("with", obj("type", str(errorBase+"timeout"))))
	if then != "" {
		catch = catch.With("then", str(then))
	}
	return &task{name: t.name, value: obj("try", list([]*task{inner}), "catch", catch)}
}
