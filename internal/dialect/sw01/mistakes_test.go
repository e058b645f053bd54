package sw01

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Every dangling reference once made a list of all states: what checking takes must
// grow with the mistakes, not with their square.
func TestManyDanglingReferences(t *testing.T) {
	allocated := func(n int) float64 {
		var b strings.Builder
		b.WriteString("name: many\nstates:\n")
		for i := range n {
			fmt.Fprintf(&b, "- {name: s%d, type: DELAY, time-delay: 1, next-state: q%dx}\n", i, i)
		}
		doc, _ := dialect.Read("f.yaml", []byte(b.String()))
		w := newParser(&dialect.Reporter{}, kebab).workflow(doc)
		c := checker{Hinter: dialect.Hinter{Spent: dialect.MaxHinting}, r: &dialect.Reporter{}, w: w, homes: map[string][]*scope{}}
		c.collect(w.scope)
		each := testing.AllocsPerRun(1, func() {
			for _, s := range w.states {
				c.find(w.scope, s.next, "")
			}
		})
		return each / float64(n)
	}
	if few, many := allocated(100), allocated(4000); many > few+4 {
		t.Errorf("each of 100 takes %.0f allocations, each of 4000 takes %.0f", few, many)
	}
}

// A state whose time is up says what it waited for.
func TestLapseTellsWhatWasAwaited(t *testing.T) {
	c, found := compileText(t, "f.yaml", `
name: lapse
trigger-defs: [{name: A, source: s, type: a, correlation-token: x}, {name: B, source: s, type: b, correlation-token: x}]
states:
- {name: First, type: DELAY, start: true, time-delay: 1, next-state: Hear}
- {name: Hear, type: EVENT, events: [{event-expression: A and not B, timeout: 3600, actions: []}, {event-expression: B, timeout: 60, actions: []}]}
`)
	if found.HasErrors() {
		t.Fatal(found)
	}
	want := "the events did not come in time: it waited PT1H for A and not B, and PT1M for B"
	if !slices.ContainsFunc(c.Program.Nodes, func(n ir.Node) bool {
		raise, ok := n.Op.(*ir.Raise)
		return ok && raise.Error == SysTimeout && raise.Detail == want
	}) {
		t.Errorf("nothing says %q", want)
	}
}

// The nearest word, whatever its case; in the spelling of the mistake.
func TestSuggestions(t *testing.T) {
	for _, c := range []struct{ state, hint string }{
		{"{name: A, type: oepration, start: true, actions: []}", `did you mean "OPERATION"?`},
		{"{name: A, type: banana, start: true}", "one of EVENT, OPERATION"},
		{"{name: A, type: OPERATION, start: true, action-mode: sequental, actions: []}", `did you mean "SEQUENTIAL"?`},
		{"{name: A, type: OPERATION, start: true, actionMod: PARALLEL, actions: []}", `did you mean "actionMode"?`},
		{"{name: A, type: OPERATION, start: true, action-mod: PARALLEL, actions: []}", `did you mean "action-mode"?`},
		{"{name: A, type: DELAY, start: true, time-delay: soon}", "or an instant as in"},
	} {
		_, found := compileText(t, "f.yaml", "name: hint\nexec-status: SYS.Success\nstates:\n- "+c.state+"\n")
		if !slices.ContainsFunc(found, func(d dialect.Diagnostic) bool { return strings.Contains(d.Hint, c.hint) }) {
			t.Errorf("%s: no hint %q in\n%v", c.state, c.hint, found)
		}
	}
}

// An expression with too many events says that, and not that they are never used.
func TestTooManyEventsAreNotUnused(t *testing.T) {
	names := make([]string, maxEvents+1)
	var defs strings.Builder
	for i := range names {
		names[i] = fmt.Sprintf("E%d", i)
		fmt.Fprintf(&defs, "- {name: E%d, source: s, type: t%d}\n", i, i)
	}
	_, found := compileText(t, "f.yaml", "name: x\ntrigger-defs:\n"+defs.String()+
		"states:\n- {name: A, type: EVENT, start: true, events: [{event-expression: "+strings.Join(names, " or ")+", actions: []}]}\n")
	if got := codesOf(found); !slices.Equal(got, []string{codeTooMany}) {
		t.Errorf("got %v", got)
	}
}
