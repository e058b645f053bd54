package sw08

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Detect looks for what no other family has (semantics.md §Detection): specVersion, or keys and shapes of
// these versions in a document that has nothing of 0.5.
func (f frontEnd) Detect(root *dialect.Node) (reason string, ok bool) {
	return detected(root, f.form, false)
}

// DetectWithin tells the forms of a document that is of the family.
func (f frontEnd) DetectWithin(root *dialect.Node) (reason string, ok bool) {
	return detected(root, f.form, true)
}

func detected(root *dialect.Node, f form, within bool) (string, bool) {
	found, reason := classify(root, within)
	return reason, found == f
}

// classify returns the form of a document, 0 where it is not of the family.
func classify(root *dialect.Node, within bool) (form, string) {
	if !within && !root.Get("document").IsNull() {
		return 0, ""
	}
	if n := root.Get("specVersion"); n.Is(expr.KindString) || n.Is(expr.KindNumber) {
		return bySpecVersion(root, n)
	}
	if !within && ofEarlier(root) {
		return 0, ""
	}
	m := &familyMarks{}
	m.visit(root, nil)
	if m.found == "" && !within {
		return 0, ""
	}
	f, why := formOf(root)
	switch {
	case f == form08 && m.found == "":
		return f, "nothing tells the version: taken for 0.8"
	case f == form08:
		return f, m.found + ", no specVersion: taken for 0.8"
	}
	return f, fmt.Sprintf("%s, no specVersion: taken for %s", why, f)
}

// bySpecVersion reads the version that a document names. 1.0 without a document is what some wrote who
// had 0.8 before them.
func bySpecVersion(root, n *dialect.Node) (form, string) {
	says := fmt.Sprintf("specVersion %s at line %d", n.Literal(), n.Pos().Line)
	version := versionText.FindStringSubmatch(strings.TrimSpace(n.Literal()))
	if version != nil {
		for _, f := range []form{form06, form07, form08, form09} {
			if version[1] == f.String() {
				return f, says
			}
		}
		if version[1] == "1.0" {
			return form08, says + ", in the shape of 0.8: taken for 0.8"
		}
	}
	f, why := formOf(root)
	if why != "" {
		says += ", " + why
	}
	return f, fmt.Sprintf("%s: taken for %s", says, f)
}

// earlierKeys are those of 0.5 and before that no later version has.
var earlierKeys = []string{
	"dataInputPath", "dataOutputPath", "dataResultsPath", "compensateBefore", "directInvoke", "startsAt", "triggerDefs", "eventsActions",
}

// ofEarlier reports whether a document has what only 0.5 and earlier versions have: a start inside of a state,
// an end with a kind, types in upper case.
func ofEarlier(n *dialect.Node) bool {
	if n == nil || free[n.Name()] {
		return false
	}
	switch {
	case n.Name() == "end" && n.Is(expr.KindObject) && !n.Get("kind").IsNull():
		return true
	case slices.Contains(earlierKeys, n.Name()):
		return true
	case n.Name() == "states":
		for _, s := range n.Items {
			typ := s.Get("type").Literal()
			if !s.Get("start").IsNull() || typ != "" && typ == strings.ToUpper(typ) {
				return true
			}
		}
	}
	return slices.ContainsFunc(n.Members, ofEarlier) || slices.ContainsFunc(n.Items, ofEarlier)
}

// free are keys whose values are the author's own.
var free = map[string]bool{
	"metadata": true, "data": true, "arguments": true, "parameters": true, "constants": true, "contextAttributes": true,
	"dataInputSchema": true, "dataOutputSchema": true,
}

// familyKeys are those that only these versions have.
var familyKeys = []string{
	"specVersion", "arguments", "subFlowRef", "errorRef", "errorRefs", "defaultCondition", "timeouts", "stateExecTimeout",
	"expressionLang", "fromStateData", "toStateData", "execTimeout", "keepActive", "dataOnly", "onParentComplete",
}

// familyMarks finds the first thing that tells the family.
type familyMarks struct{ found string }

func (m *familyMarks) visit(n, parent *dialect.Node) {
	if n == nil || m.found != "" || n.Name() == "metadata" || n.Name() == "constants" {
		return
	}
	key := n.Name()
	switch on, _ := n.Bool(); {
	case slices.Contains(familyKeys, key),
		parent != nil && parent.Key == nil && key == "start" && (n.Is(expr.KindString) || n.Get("stateName") != nil || n.Get("schedule") != nil) && parent.Get("states") != nil,
		key == "end" && on,
		(key == "transition" || key == "functionRef") && n.Is(expr.KindString):
		m.found = fmt.Sprintf("key %q at line %d", key, n.Key.Pos().Line)
	case n.Is(expr.KindString) && strings.Contains(n.Text, "${"):
		m.found = fmt.Sprintf("an expression in ${ } at line %d", n.Pos().Line)
	}
	if free[key] {
		m.texts(n)
		return
	}
	for _, one := range n.Members {
		m.visit(one, n)
	}
	for _, one := range n.Items {
		m.visit(one, n)
	}
}

// texts looks for expressions where the keys are the author's own.
func (m *familyMarks) texts(n *dialect.Node) {
	if m.found == "" && n.Is(expr.KindString) && strings.Contains(n.Text, "${") {
		m.found = fmt.Sprintf("an expression in ${ } at line %d", n.Pos().Line)
	}
	for _, one := range n.Members {
		m.texts(one)
	}
	for _, one := range n.Items {
		m.texts(one)
	}
}

// formOf tells the forms of a document that does not name its version: what is neither of 0.6 nor of 0.9 is
// 0.8, whose documents are the most.
func formOf(root *dialect.Node) (form, string) {
	m := &formMarks{}
	m.visit(root)
	switch name := root.Get("name"); {
	case m.six != "":
		return form06, m.six
	case m.nine != "":
		return form09, m.nine
	case m.eight == "" && name != nil && root.Get("id").IsNull() && root.Get("key").IsNull():
		return form09, fmt.Sprintf("key \"name\" at line %d without an id", name.Key.Pos().Line)
	}
	return form08, ""
}

// formMarks finds what only one form has.
type formMarks struct{ six, eight, nine string }

func (m *formMarks) visit(root *dialect.Node) {
	m.note(&m.six, root.Get("execTimeout"))
	m.note(&m.nine, root.Get("dataOutputSchema"))
	m.note(&m.eight, root.Get("autoRetries"))
	if e := root.Get("errors"); e.Is(expr.KindObject) {
		m.note(&m.nine, e)
	} else {
		m.note(&m.eight, e)
	}
	if list := root.Get("functions"); list.Is(expr.KindArray) {
		for _, f := range list.Items {
			m.function(f)
		}
	}
	if list := root.Get("states"); list.Is(expr.KindArray) {
		for _, s := range list.Items {
			m.state(s)
		}
	}
}

// note keeps the first mark of a form.
func (m *formMarks) note(into *string, n *dialect.Node) {
	if *into == "" && !n.IsNull() {
		*into = fmt.Sprintf("key %q at line %d", n.Name(), n.Key.Pos().Line)
	}
}

func (m *formMarks) word(into *string, n *dialect.Node) {
	if *into == "" {
		*into = fmt.Sprintf("%s %s at line %d", n.Name(), n.Literal(), n.Pos().Line)
	}
}

func (m *formMarks) function(f *dialect.Node) {
	switch typ := f.Get("type"); typ.Literal() {
	case typeHTTP, typeOpenAPI:
		m.word(&m.nine, typ)
	case "rest", typeCustom:
		m.word(&m.eight, typ)
	}
	if o := f.Get("operation"); o.Is(expr.KindObject) {
		m.note(&m.nine, o)
	}
}

func (m *formMarks) state(s *dialect.Node) {
	typ := s.Get("type")
	switch typ.Literal() {
	case typeDelay, typeSubflow:
		m.word(&m.six, typ)
	case typeSleep:
		m.word(&m.eight, typ)
	case typeSwitch:
		m.note(&m.six, s.Get("default"))
	case typeParallel:
		m.note(&m.six, s.Get("n"))
		switch c := s.Get("completionType"); c.Literal() {
		case "and", "xor", "n_of_m":
			m.word(&m.six, c)
		}
	case typeForeach:
		m.note(&m.six, s.Get("max"))
		m.note(&m.six, s.Get("workflowId"))
	}
	m.note(&m.six, s.Get("timeout"))
	m.note(&m.eight, s.Get("id"))
	m.onErrors(s.Get("onErrors"))
	m.actions(s)
	if a := s.Get("action"); a.Is(expr.KindObject) {
		m.action(a)
	}
	for _, key := range []string{"branches", "onEvents"} {
		if list := s.Get(key); list.Is(expr.KindArray) {
			for _, one := range list.Items {
				m.actions(one)
				m.note(&m.six, one.Get("workflowId"))
			}
		}
	}
}

func (m *formMarks) actions(of *dialect.Node) {
	if list := of.Get("actions"); list.Is(expr.KindArray) {
		for _, a := range list.Items {
			m.action(a)
		}
	}
}

func (m *formMarks) action(a *dialect.Node) {
	m.note(&m.six, a.Get("timeout"))
	for _, key := range []string{"publish", "subscribe", "onErrors"} {
		m.note(&m.nine, a.Get(key))
	}
	for _, key := range []string{"eventRef", "retryRef", "retryableErrors", "nonRetryableErrors"} {
		m.note(&m.eight, a.Get(key))
	}
}

func (m *formMarks) onErrors(n *dialect.Node) {
	if n.Is(expr.KindString) {
		m.note(&m.nine, n)
	}
	if !n.Is(expr.KindArray) {
		return
	}
	for _, e := range n.Items {
		m.note(&m.six, e.Get("error"))
		for _, key := range handlerKeys {
			m.note(&m.nine, e.Get(key))
		}
		m.note(&m.eight, e.Get("errorRef"))
		m.note(&m.eight, e.Get("errorRefs"))
	}
}
