package sw05

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// marks are keys that only this version has.
var marks = []string{
	"onEvents", "functionRef", "stateDataFilter", "actionDataFilter", "eventDataFilter", "dataConditions", "eventConditions",
	"compensatedBy", "usedForCompensation",
}

// Detect looks for what no other family has (semantics.md §Detection): a start or
// end with a kind, keys of this version, expressions in double braces.
func (FrontEnd) Detect(root *dialect.Node) (reason string, ok bool) {
	return detect(root, false)
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
