package graph_test

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/graph"
)

// Branches of Serverless Workflow 0.1 have states of their own, and event states wait
// for expressions: both are told inside of their state, without what the compiler adds.
func TestInsideOfEarlyStates(t *testing.T) {
	const source = `name: early
trigger-defs:
- {name: A, source: s, type: a, correlation-token: k}
- {name: B, source: s, type: b, correlation-token: k}
states:
- name: Hear
  type: EVENT
  start: true
  events:
  - {event-expression: A and not B, timeout: 60, actions: [{function: f}], next-state: Both}
  - {event-expression: B and A, timeout: 30, filter: {input-path: $.x}, actions: [{function: g}, {function: h}], next-state: Done}
- name: Both
  type: PARALLEL
  branches:
  - name: left
    wait-for-completion: true
    states:
    - {name: Call, type: OPERATION, start: true, actions: [{function: f, timeout: 5, retry: {match: busy, max-retry: 2, next-state: Rest}}]}
    - {name: Rest, type: DELAY, time-delay: 5, next-state: Call}
  - name: right
    wait-for-completion: true
    states:
    - {name: Call, type: OPERATION, start: true, actions: [{function: g}]}
  next-state: One
- {name: One, type: EVENT, events: [{event-expression: B, filter: {input-path: $.x}, actions: [{function: f}], next-state: Done}]}
- {name: Done, type: END}
`
	c, found := dialect.NewRegistry(sw01.FrontEnds()...).Compile("early.yaml", []byte(source), nil, dialect.Options{})
	if c.Program == nil {
		t.Fatal(found)
	}
	g := graph.FromProgram(c.Program)
	got := strings.Join(graph.List(g), "\n")
	for _, want := range []string{
		"Hear (event, start): the first (1 min at most) [on A and not B [call f], on B and A [call g, call h]]. Starts on A or B and A. ", "When the time is up it goes to Done.",
		"Both (parallel): side by side [left [Call (operation) [call f (5 s at most)], Rest (delay) [wait 5 s]], right [Both/right/Call (operation) [call g]]]. Then One.",
		"One (event): wait for B, call f. ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q", want)
		}
	}
	if len(g.Nodes) != 4 || t.Failed() {
		t.Errorf("%d nodes:\n%s", len(g.Nodes), got)
	}
}
