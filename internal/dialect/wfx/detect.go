package wfx

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// foreign are keys of the top level, and of states, that only other families have.
var (
	foreign       = []string{"id", "startsAt", "starts-at", "start", "functions", "events", "retries", "triggerDefs", "trigger-defs", "trigger"}
	foreignStates = []string{"type", "start", "end", "transition", "nextState", "next-state", "actions"}
)

// Detect looks for transitions beside states: other families write them inside of
// states. Without any, states that have no more than a name and a description do.
func (FrontEnd) Detect(root *dialect.Node) (reason string, ok bool) {
	if has(root, foreign) {
		return "", false
	}
	states, transitions := root.Get("states"), root.Get("transitions")
	for _, s := range items(states) {
		if has(s, foreignStates) {
			return "", false
		}
	}
	switch {
	case transitions != nil && states != nil:
		return fmt.Sprintf("transitions beside states at line %d", transitions.Key.Pos().Line), true
	case slices.ContainsFunc(items(transitions), wayBetween):
		return fmt.Sprintf("transitions with from and to at line %d", transitions.Key.Pos().Line), true
	case len(items(states)) > 0 && root.Get("name") != nil && !slices.ContainsFunc(items(states), func(s *dialect.Node) bool { return !bare(s) }):
		return fmt.Sprintf("states without a type at line %d", states.Key.Pos().Line), true
	}
	return "", false
}

func items(n *dialect.Node) []*dialect.Node {
	if !n.Is(expr.KindArray) {
		return nil
	}
	return n.Items
}

func has(n *dialect.Node, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return n.Get(key) != nil })
}

func wayBetween(n *dialect.Node) bool { return n.Get("from") != nil && n.Get("to") != nil }

func bare(s *dialect.Node) bool {
	return s.Get("name") != nil && !slices.ContainsFunc(s.Members, func(m *dialect.Node) bool {
		return m.Name() != "name" && m.Name() != "description" && m.Name() != "timeout"
	})
}
