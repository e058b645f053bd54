package sw01

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Keys that only one side of the family has (semantics.md §Detection).
var (
	kebabMarks = []string{"trigger-defs", "next-state", "event-expression", "action-mode", "time-delay", "exec-status"}
	camelMarks = []string{"triggerDefs", "startsAt", "eventExpression"}
)

// Detect looks for the marks of a form. Kebab-case is asked for first, so a document
// with both is in kebab-case. In it the earliest draft shows by functions that are
// names, lists of retries and eventID; the later one by what only it has. What shows
// neither is taken for the earliest: all of it means the same there.
func (e FrontEnd) Detect(root *dialect.Node) (reason string, ok bool) {
	m := &marks{}
	m.visit(root, "")
	switch {
	case m.kebab != "":
		switch {
		case m.early != "":
			return m.kebab + ", " + m.early, e.form == early
		case m.later != "":
			return m.kebab + ", " + m.later, e.form == kebab
		}
		return m.kebab, e.form == early
	case m.camel != "":
		return m.camel, e.form == camel
	}
	return "", false
}

// weakMarks are keys that tell camelCase in a document that is known to be of the family.
var weakMarks = []string{
	"nextState", "actionMode", "timeDelay", "waitForCompletion", "workflowId", "execStatus", "correlationToken",
	"retryInterval", "maxRetry", "inputPath", "resultPath", "outputPath", "schemaVersion", "id", "end",
}

// DetectWithin tells the forms of a document that is of the family. Where nothing
// does, it is the earliest.
func (e FrontEnd) DetectWithin(root *dialect.Node) (reason string, ok bool) {
	m := &marks{}
	m.visit(root, "")
	if m.kebab == "" && m.camel == "" {
		if m.weak != "" {
			return m.weak, e.form == camel
		}
		if m.early == "" && m.later != "" {
			return m.later, e.form == kebab
		}
		return "without marks of a later form", e.form == early
	}
	return e.Detect(root)
}

// marks are the first of each kind, as phrases.
type marks struct{ kebab, camel, early, later, weak string }

func note(to *string, n *dialect.Node, format string) {
	if *to == "" {
		*to = fmt.Sprintf(format+" at line %d", n.Key.Text, n.Key.Pos().Line)
	}
}

// visit looks at a value and below it. In metadata, data, parameters and extensions
// keys are the author's own. in is the key of the list that an item stands in.
func (m *marks) visit(n *dialect.Node, in string) {
	if n == nil {
		return
	}
	key := n.Name()
	switch key {
	case "metadata", "data", "parameters", "extensions":
		return
	}
	if n.Key != nil {
		m.member(n, key, in)
	}
	for _, member := range n.Members {
		below := in
		if n.Key != nil {
			below = key
		}
		if n.Key == nil && in == "" {
			below = "workflow"
		}
		m.visit(member, below)
	}
	for _, item := range n.Items {
		m.visit(item, key)
	}
}

// member looks at one key; in is what the object that has it is.
func (m *marks) member(n *dialect.Node, key, in string) {
	switch {
	case slices.Contains(kebabMarks, key):
		note(&m.kebab, n, "key %q")
	case slices.Contains(camelMarks, key), key == "nextState" && in == "states":
		note(&m.camel, n, "key %q")
	case slices.Contains(weakMarks, key):
		note(&m.weak, n, "key %q")
	}
	switch {
	case key == "function" && n.Kind == expr.KindString:
		note(&m.early, n, "a name as %q")
	case key == "retry" && n.Kind == expr.KindArray:
		note(&m.early, n, "a list as %q")
	case key == "eventID":
		note(&m.early, n, "key %q")
	case key == "function" && n.Kind == expr.KindObject:
		note(&m.later, n, "an object as %q")
	case key == "exec-status", key == "wait-for-completion", key == "filter" && n.Kind == expr.KindObject:
		note(&m.later, n, "key %q")
	case key == "name" && in == "workflow", key == "type" && in == "trigger-defs":
		note(&m.later, n, "key %q")
	}
}
