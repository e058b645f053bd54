package sw05

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// marks are keys that no other family has. 0.5 shares some with the forms before it, which are asked first.
var marks = []string{
	"onEvents", "functionRef", "stateDataFilter", "actionDataFilter", "eventDataFilter", "dataConditions", "eventConditions",
	"compensatedBy", "usedForCompensation",
}

// Detect looks for what no other family has (semantics.md §Detection): a start or
// end with a kind, keys of this version, expressions in double braces. The forms before 0.5 show by keys and words
// that 0.5 does not have.
func (e FrontEnd) Detect(root *dialect.Node) (reason string, ok bool) {
	if e.form == released {
		return detect(root, false)
	}
	m := &olderMarks{}
	m.document(root)
	switch {
	case m.later || m.april == "" && m.summer == "":
		return "", false
	case m.april != "" && !m.lower:
		return m.april, e.form == april
	case m.summer == "":
		return m.april, e.form == summer
	}
	return m.summer, e.form == summer
}

// detect looks below n; inside of parameters keys are the author's own.
func detect(n *dialect.Node, free bool) (string, bool) {
	if n == nil {
		return "", false
	}
	key := n.Name()
	switch {
	case key == "metadata" || key == "data":
		return "", false
	case free && n.Kind != expr.KindString:
	case (key == "start" || key == "end") && !n.Get("kind").IsNull():
		return fmt.Sprintf("%q with a kind at line %d", key, n.Key.Pos().Line), true
	case slices.Contains(marks, key):
		return fmt.Sprintf("key %q at line %d", key, n.Key.Pos().Line), true
	case n.Kind == expr.KindString && strings.Contains(n.Text, "{{"):
		return fmt.Sprintf("an expression in {{ }} at line %d", n.Pos().Line), true
	}
	for _, m := range n.Members {
		if reason, ok := detect(m, free || key == "parameters"); ok {
			return reason, true
		}
	}
	for _, item := range n.Items {
		if reason, ok := detect(item, free || key == "parameters"); ok {
			return reason, true
		}
	}
	return "", false
}

// olderMarks are the first marks of each form, as phrases. What only 0.5 has overrules them: a document of 0.5 with
// a key that it does not know is one of 0.5.
type olderMarks struct {
	april, summer string
	lower         bool // a type of a state is in lower case: 0.2 with a slip, since all of 0.1 is in upper case
	later         bool
}

func (m *olderMarks) note(to *string, n *dialect.Node, format string) {
	if *to == "" {
		*to = fmt.Sprintf(format+" at line %d", n.Text, n.Pos().Line)
	}
}

// key notes a member by its key.
func (m *olderMarks) key(to *string, of *dialect.Node, key string) {
	if n := of.Get(key); !n.IsNull() && *to == "" {
		*to = fmt.Sprintf("key %q at line %d", key, n.Key.Pos().Line)
	}
}

// document looks at the places where a mark can stand, and nowhere else: keys of parameters and data are the
// author's own.
func (m *olderMarks) document(root *dialect.Node) {
	m.later = !root.Get("retries").IsNull()
	m.key(&m.summer, root, "expressionLanguage")
	for _, f := range items(root, "functions") {
		m.later = m.later || !f.Get("operation").IsNull()
		m.key(&m.summer, f, "resource")
	}
	for _, e := range items(root, "events") {
		m.key(&m.summer, e, "correlationToken")
	}
	m.states(root, 0)
}

// maxDetected bounds how deep states are looked for; the reader bounds how deep a document is.
const maxDetected = 64

func (m *olderMarks) states(of *dialect.Node, depth int) {
	for _, s := range items(of, "states") {
		if depth < maxDetected && s.Is(expr.KindObject) {
			m.state(s, depth)
		}
	}
}

func (m *olderMarks) state(s *dialect.Node, depth int) {
	for _, key := range []string{"onErrors", "compensatedBy", "usedForCompensation"} {
		m.later = m.later || !s.Get(key).IsNull()
	}
	typ := s.Get("type")
	m.lower = m.lower || slices.Contains(stateTypes, typ.Literal())
	if isUpper(typ.Literal()) && (strings.EqualFold(typ.Text, relay) || slices.Contains(stateTypes, strings.ToLower(typ.Text))) && m.released(s) {
		m.note(&m.april, typ, "a state of type %q")
	}
	for _, key := range []string{"start", "end"} {
		if kind := s.Lookup(key, "kind"); isUpper(kind.Literal()) {
			m.note(&m.april, kind, "a kind %q")
		}
	}
	m.key(&m.summer, s, "eventsActions")
	for _, key := range []string{"retry", "onError"} {
		if s.Get(key).Is(expr.KindArray) {
			m.key(&m.summer, s, key)
		}
	}
	if strings.EqualFold(typ.Literal(), typeForeach) {
		m.key(&m.summer, s, "inputParameter")
		m.key(&m.summer, s, "states")
	}
	if strings.EqualFold(typ.Literal(), typeSwitch) {
		m.key(&m.summer, s, "choices")
		m.key(&m.summer, s.Get("default"), "nextState")
		for _, c := range items(s, "dataConditions") {
			m.key(&m.summer, c, "operator")
		}
	}
	for _, key := range []string{"transition", "end"} {
		m.key(&m.summer, s.Get(key), "produceEvent")
		m.later = m.later || !s.Lookup(key, "produceEvents").IsNull() || !s.Lookup(key, "compensateBefore").IsNull()
	}
	if e := s.Lookup("transition", "expression"); e.Is(expr.KindObject) {
		m.key(&m.summer, s.Get("transition"), "expression")
	}
	m.states(s, depth+1)
	for _, b := range items(s, "branches") {
		m.key(&m.summer, b, "states")
		m.states(b, depth+1)
	}
}

// released reports whether a state with a type in upper case is one of the release: drafts of 0.1 have those, too,
// but lead on by the name of a state and end with a boolean.
func (m *olderMarks) released(s *dialect.Node) bool {
	return s.Get("transition").Is(expr.KindObject) || s.Get("end").Is(expr.KindObject) || s.Get("start").Is(expr.KindObject) ||
		s.Get("default").Is(expr.KindObject)
}

func items(of *dialect.Node, key string) []*dialect.Node {
	if of == nil {
		return nil
	}
	if list := of.Get(key); list.Is(expr.KindArray) {
		return list.Items
	}
	return nil
}

func isUpper(s string) bool { return s != "" && s == strings.ToUpper(s) && s != strings.ToLower(s) }
