package graph_test

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/graph"
)

// A listen task of Open Workflow 1.0 tells what it waits for, and a race of branches that it is one.
func TestInsideOfListen(t *testing.T) {
	const source = `document: {dsl: 1.0.3, namespace: default, name: listen, version: 1.0.0}
do:
- one: {listen: {to: {one: {with: {type: a}}}}, timeout: {after: P2D}}
- both: {listen: {to: {all: [{with: {type: a}}, {with: {type: b}}]}}}
- some: {listen: {to: {any: [{with: {type: a}}, {with: {type: b}}], until: length == 3}}}
- each: {listen: {to: {any: [{with: {type: a}}], until: {one: {with: {type: stop}}}}}, foreach: {do: [note: {set: {x: 1}}]}}
- race: {fork: {compete: true, branches: [p: {wait: PT1H}, q: {set: {x: 1}}]}}
- fail: {raise: {error: {type: https://example.com/e, status: 400}}}
`
	c, found := dialect.NewRegistry(sw10.FrontEnd{}).Compile("listen.yaml", []byte(source), nil, dialect.Options{})
	if c.Program == nil {
		t.Fatal(found)
	}
	got := strings.Join(graph.List(graph.FromProgram(c.Program)), "\n")
	for _, want := range []string{
		"one (listen, start): wait for a (2 days at most). Then both.",
		"both (listen): wait for a and b. Then some.",
		"some (listen): wait for a or b (until length == 3). Then each.",
		"each (listen): for each a (until stop)",
		"race (fork): side by side (until 1 finished) [",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}
