package graph_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"

	"github.com/lockstep-workflows/lockstep/internal/graph"
)

// written compiles a definition of the text.
func written(t *testing.T, text string) *graph.Graph {
	t.Helper()
	file := filepath.Join(t.TempDir(), "definition.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, file)
}

func TestUndoFirstIsOnEveryWayThatUndoes(t *testing.T) {
	text := render(t, "list", written(t, `
id: undo
version: "1"
name: Undo
functions: [{name: book}, {name: cancel}]
events: [{name: Changed, source: shop, type: changed}]
states:
- {name: Book, type: operation, start: {kind: default}, compensatedBy: Cancel, actions: [{functionRef: {refName: book}}], transition: {nextState: Check}}
- {name: Cancel, type: operation, usedForCompensation: true, actions: [{functionRef: {refName: cancel}}]}
- name: Check
  type: switch
  dataConditions:
  - {condition: "{{ $[?(@.bad == true)] }}", transition: {nextState: Again, compensateBefore: true}}
  default: {transition: {nextState: Rest, compensateBefore: true}}
- {name: Again, type: inject, data: {}, transition: {nextState: Rest, compensateBefore: true}}
- {name: Rest, type: inject, data: {}, end: {kind: default, compensateBefore: true}}
`))
	for _, want := range []string{
		"undo first it goes to Again.",
		"Otherwise it goes to Rest, undo first.",
		"Again (inject). Then Rest, undo first.",
		"Rest (inject). Then it ends, undo first.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
}

func TestManyHoursAreDays(t *testing.T) {
	text := render(t, "list", written(t, `
id: rest
version: "1"
name: Rest
states:
- {name: Week, type: delay, start: {kind: default}, timeDelay: PT168H, transition: {nextState: Night}}
- {name: Night, type: delay, timeDelay: PT30H, transition: {nextState: Short}}
- {name: Short, type: delay, timeDelay: PT23H, end: {kind: default}}
`))
	for _, want := range []string{"wait 7 days", "wait 1 day 6 h", "wait 23 h"} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
}

func TestAnEventThatOnlyGoesOnIsNotRepeatedOnItsWay(t *testing.T) {
	text, err := os.ReadFile("../../examples/v01/video.json")
	if err != nil {
		t.Fatal(err)
	}
	c, ds := dialects.All().Compile("video.json", text, nil, dialect.Options{})
	if n, _ := ds.Counts(); n > 0 {
		t.Fatal(ds)
	}
	list := strings.Join(graph.List(graph.FromProgram(c.Program)), "\n")
	if got := strings.Count(strings.ToLower(list), "on upload"); got != 1 { // what starts it
		t.Errorf("%d times on Upload in\n%s", got, list)
	}
}
