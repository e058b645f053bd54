package sw01_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// waiting is a workflow that rests for a second and then waits; %s are its entries.
const waiting = `name: waiting
trigger-defs:
- {name: A, source: s, type: a, correlation-token: k}
- {name: B, source: s, type: b, correlation-token: k}
- {name: C, source: s, type: c, correlation-token: k}
states:
- {name: Rest, type: DELAY, start: true, time-delay: 1, next-state: Hear}
- name: Hear
  type: EVENT
  events:
ENTRIES
- {name: One, type: END}
- {name: Two, type: END}
- {name: Three, type: END}
`

// run checks one scenario of a workflow with these entries: which events come when, and
// where it ends with what.
func run(t *testing.T, entries []string, events, expect string) {
	t.Helper()
	var b strings.Builder
	for _, e := range entries {
		b.WriteString("  - {" + e + ", actions: []}\n")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("workflow.yaml", strings.Replace(waiting, "ENTRIES\n", b.String(), 1))
	file, err := scenario.Load(t.Context(), write("w_test.yaml", "workflow: workflow.yaml\nscenarios:\n- {name: it, events: ["+events+"], expect: {"+expect+"}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	report := scenario.Run(context.Background(), file, scenario.Options{Registry: dialect.NewRegistry(sw01.FrontEnds()...), Languages: languages.All()})
	if report.Diagnostics.HasErrors() || report.Failed() {
		var text strings.Builder
		if err := scenario.WriteText(&text, []scenario.Report{report}, scenario.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%v\n%s", report.Diagnostics, text.String())
	}
}

// event writes an event that comes at a time.
func event(at, typ, data string) string {
	return "{at: " + at + ", event: {type: " + typ + ", source: s, id: " + typ + at + ", data: " + data + "}},"
}

func TestRaces(t *testing.T) {
	const lapsed = "status: failed, error: {name: SYS.Timeout}, path: [Rest, Hear]"
	ends := func(state, output, elapsed string) string {
		return "status: completed, path: [Rest, Hear, " + state + "], output: " + output + ", elapsed: " + elapsed
	}
	for _, c := range []struct {
		name            string
		entries         []string
		events, expects string
	}{
		{
			"the first entry wins a tie, however deep",
			[]string{"event-expression: (A and B) or (C and A), next-state: One", "event-expression: B, next-state: Two"},
			event("PT2S", "a", "{a: 1}") + event("PT3S", "b", "{b: 2}"), ends("One", "{a: 1, b: 2}", "PT3S"),
		},
		{
			"the first entry wins a tie, however flat",
			[]string{"event-expression: B, next-state: Two", "event-expression: A and B, next-state: One"},
			event("PT2S", "a", "{a: 1}") + event("PT3S", "b", "{b: 2}"), ends("Two", "{b: 2}", "PT3S"),
		},
		{
			"data merge in the order of the expression",
			[]string{"event-expression: A and (B or C) and B, next-state: One"},
			event("PT2S", "b", "{x: b}") + event("PT3S", "a", "{x: a}"), ends("One", "{x: b}", "PT3S"),
		},
		{
			"what lost entries took is dropped",
			[]string{"event-expression: A and B, next-state: One", "event-expression: C, next-state: Two"},
			event("PT2S", "a", "{a: 1}") + event("PT3S", "c", "{c: 3}"), ends("Two", "{c: 3}", "PT3S"),
		},
		{
			"not is decided when its time is up, and before the state's",
			[]string{"event-expression: A, timeout: 10, next-state: One", "event-expression: B and not C, timeout: 10, next-state: Two"},
			event("PT2S", "b", "{b: 1}"), ends("Two", "{b: 1}", "PT11S"),
		},
		{
			"two that come true at one instant: the first",
			[]string{"event-expression: not A and not C, timeout: 10, next-state: One", "event-expression: not B, timeout: 10, next-state: Two"},
			"", ends("One", "{}", "PT11S"),
		},
		{
			"not of a group",
			[]string{"event-expression: not (A and B), timeout: 10, next-state: One"},
			event("PT2S", "a", "{}"), ends("One", "{}", "PT11S"),
		},
		{
			"not of a group that came",
			[]string{"event-expression: not (A and B), timeout: 10, next-state: One"},
			event("PT2S", "a", "{}") + event("PT3S", "b", "{}"), lapsed + ", elapsed: PT11S",
		},
		{
			"an entry that lapsed cannot win",
			[]string{"event-expression: A, timeout: 5, next-state: One", "event-expression: B, timeout: 10, next-state: Two"},
			event("PT7S", "a", "{}") + event("PT8S", "b", "{b: 1}"), ends("Two", "{b: 1}", "PT8S"),
		},
		{
			"the state lapses with the last",
			[]string{"event-expression: A, timeout: 5, next-state: One", "event-expression: B, timeout: 10, next-state: Two"},
			event("PT7S", "a", "{}") + event("PT11S", "b", "{}"), lapsed + ", elapsed: PT11S",
		},
		{
			"without a time it waits for ever",
			[]string{"event-expression: A, timeout: 5, next-state: One", "event-expression: B, next-state: Two"},
			event("PT7S", "a", "{}"), "status: waiting, path: [Rest, Hear]",
		},
		{
			"half of a group is not enough",
			[]string{"event-expression: A and B, timeout: 5, next-state: One", "event-expression: C, timeout: 6, next-state: Two"},
			event("PT2S", "a", "{}"), lapsed + ", elapsed: PT7S",
		},
		{
			"an event of another order is not its own",
			[]string{"event-expression: A and (B or C), next-state: One"},
			event("PT2S", "a", "{k: 1, a: 1}") + event("PT3S", "b", "{k: 2, b: 1}") + event("PT4S", "c", "{k: 1, c: 1}"),
			ends("One", "{k: 1, a: 1, c: 1}", "PT4S"),
		},
		{
			"what is no object is not merged, unless a filter selects it",
			[]string{"event-expression: A and B or C, next-state: One"},
			event("PT2S", "a", "[1]") + event("PT3S", "b", "{b: 2}"), ends("One", "{b: 2}", "PT3S"),
		},
		{
			"a filter of each event",
			[]string{"event-expression: A and B or C, filter: {input-path: $.in}, next-state: One"},
			event("PT2S", "a", "{in: {a: 1}, out: 1}") + event("PT3S", "b", "{in: {b: 2}}"), ends("One", "{a: 1, b: 2}", "PT3S"),
		},
	} {
		t.Run(c.name, func(t *testing.T) { run(t, c.entries, c.events, c.expects) })
	}
}
