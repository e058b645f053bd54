package wfx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// chainOf is a workflow of so many states in a row, groups of one state, and
// transitions: what is more than the row needs goes from the first states to the last.
func chainOf(states, groups, transitions int) string {
	var b strings.Builder
	b.WriteString("name: long\ngroups:\n")
	if groups == 0 {
		b.WriteString("- {name: ALL, states: [S0]}\n")
	}
	for i := range groups {
		fmt.Fprintf(&b, "- {name: G%d, states: [S%d]}\n", i, i)
	}
	b.WriteString("states:\n")
	for i := range states {
		fmt.Fprintf(&b, "- {name: S%d}\n", i)
	}
	b.WriteString("transitions:\n")
	written := 0
	for distance := 1; distance < states && written < transitions; distance++ {
		for i := 0; i+distance < states && written < transitions; i++ {
			fmt.Fprintf(&b, "- {from: S%d, to: S%d, eligible: CLIENT}\n", i, i+distance)
			written++
		}
	}
	return b.String()
}

// At each limit a workflow is fine, and one further it is refused with its name.
func TestLimits(t *testing.T) {
	text := func(n int) string { return strings.Repeat("ä", n) }
	tests := []struct {
		limit, code string
		at          func(extra int) string
	}{
		{"workflow-states", codeTooMany, func(x int) string { return chainOf(MaxStates+x, 0, MaxStates+x-1) }},
		{"workflow-groups", codeTooMany, func(x int) string { return chainOf(MaxGroups+1+x, MaxGroups+x, MaxGroups+x) }},
		{"workflow-transitions", codeTooMany, func(x int) string { return chainOf(MaxStates, 0, MaxTransitions+x) }},
		{"workflow-name", codeTooLong, func(x int) string { return complete("name: " + strings.Repeat("n", MaxName+x) + "\n") }},
		{"workflow-description", codeTooLong, func(x int) string { return complete("description: " + text(MaxDescription+x) + "\n") }},
	}
	for _, test := range tests {
		t.Run(test.limit, func(t *testing.T) {
			p, found := compileText(test.at(0))
			if p == nil {
				t.Fatalf("at the limit: %.500s", found.Error())
			}
			roundTrip(t, p)
			p, found = compileText(test.at(1))
			if p != nil || len(found) != 1 || found[0].Code != test.code || !strings.Contains(found[0].Message, "limit "+test.limit) {
				t.Errorf("beyond the limit: %t %.500s", p != nil, found.Error())
			}
		})
	}
}

// A circle through all states, and names that are all wrong, are told in little time and
// few words each.
func TestManyMistakes(t *testing.T) {
	circle := chainOf(MaxStates, 0, MaxStates-1) + fmt.Sprintf("- {from: S%d, to: S0, eligible: WFX}\n", MaxStates-1)
	_, found := compileText(circle)
	if len(found) != 2 || found[0].Code != codeNoInitial || found[1].Code != codeCycle || len(found[1].Message) > 200 {
		t.Errorf("%.500s", found.Error())
	}
	wrong := strings.ReplaceAll(chainOf(MaxStates, 0, MaxTransitions), "to: S", "to: X")
	if _, found := compileText(wrong); len(found) != dialect.MaxDiagnostics+1 || !strings.Contains(found[len(found)-1].Message, fmt.Sprint(MaxTransitions-dialect.MaxDiagnostics)) {
		t.Errorf("%d mistakes were told, the last: %v", len(found), found[len(found)-1])
	}
}
