package inst

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

func treeOf(records ...api.Record) *treeView {
	v := &treeView{instance: api.Instance{ID: "i", Definition: api.DefinitionRef{ID: "order", Version: "1"}, Status: api.Running}}
	for _, rec := range records {
		_ = v.add(rec)
	}
	return v
}

func state(kind, node string, at time.Duration) api.Record {
	return api.Record{Type: kind, Node: node, Time: time.Unix(0, 0).Add(at)}
}

func TestTree(t *testing.T) {
	failure := &api.Fault{Name: "CardDeclined", Code: "402", Node: "Charge"}
	v := treeOf(
		state("entered", "Check", 0), state("left", "Check", 250*time.Millisecond), state("entered", "Charge", time.Second),
		api.Record{Type: "called", Node: "Charge", Name: "charge", Attempt: 1},
		api.Record{Type: "finished", Status: api.Failed, Error: failure},
	)
	want := "i  order@1  failed\n  ✓ Check   done, 250ms\n  ✗ Charge   failed: CardDeclined (402)"
	if got := strings.Join(v.lines(10, 80), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := v.lines(10, 12)[2]; got != "  ✗ Charge…" {
		t.Errorf("%q", got)
	}
}

// TestTreeFolds: what failed stays in sight when the terminal is too small.
func TestTreeFolds(t *testing.T) {
	var records []api.Record
	for i := range 30 {
		name := fmt.Sprintf("S%d", i)
		records = append(records, state("entered", name, 0))
		if i == 3 {
			records = append(records, api.Record{Type: "callFailed", Node: name, Error: &api.Fault{Name: "Timeout"}})
		}
		records = append(records, state("left", name, 0))
	}
	v := treeOf(records...)
	lines := v.lines(10, 80)
	if len(lines) > 10 || !strings.Contains(lines[1], "earlier") || !strings.Contains(lines[2], "S3 ") || !strings.Contains(lines[len(lines)-1], "S29 ") {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	var out bytes.Buffer
	v.app, v.size = &cli.App{Out: &out}, func() (int, int) { return 10, 80 }
	if err := v.show(); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := v.show(); err != nil || !strings.HasPrefix(out.String(), fmt.Sprintf("\x1b[%dA", len(v.lines(9, 80)))) {
		t.Errorf("%v: the second drawing does not begin where the first did: %q", err, out.String())
	}
}

func TestWhyLines(t *testing.T) {
	value := "42"
	now := time.Now()
	w := api.Why{
		Instance: "i", Summary: "It waits.", NextWake: now.Add(90 * time.Second),
		Waits: []api.Wait{
			{Kind: "event", Node: "Paid", Event: "Paid", Match: &api.Match{Type: "paid", Attributes: []api.Attribute{{Name: "orderid", Value: &value}, {Name: "a"}, {Name: "b", Impossible: true}}}},
			{Kind: "timer", Node: "Wait", At: now.Add(time.Hour)},
			{Kind: "child", Child: "c"},
			{Kind: "retry", At: now.Add(-time.Second)},
		},
		Error: &api.Fault{Name: "Timeout", Node: "Pay", Place: &api.Place{Line: 3, Column: 5}, Args: api.Data(`{"a":1}`), Trail: []api.Trail{{Workflow: "order", Node: "Charge"}}},
	}
	text := strings.Join(whyLines(w, true, now), "\n")
	for _, want := range []string{
		`waits in "Paid" for event "Paid": type paid, orderid = "42", a of any value, b equal to a value that does not exist, so no event can match`,
		`waits in "Wait" for a delay until `, `(in 1h)`, `waits for instance c`, `for the next attempt until `, `(due)`,
		`failed in "Pay": Timeout`, `at line 3, column 5`, `the arguments were {"a":1}`, `through workflow "order" in "Charge"`, `next wake-up: `, `(in 1m30s)`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestWhyFailedOnce: a failure is told once, also where it is one of several items of a foreach.
func TestWhyFailedOnce(t *testing.T) {
	fault := func(i int) *api.Fault {
		return &api.Fault{Name: "BadItem", Detail: fmt.Sprintf("no article %d", i), Node: "Score", Item: &api.Item{Index: i}}
	}
	w := api.Why{
		Summary: "It failed in \"Score\" with BadItem: no article 3", Status: api.Failed, Error: fault(3),
		Progress: []api.Progress{{State: "Score", Total: 9, Done: 2, Failed: 7}},
	}
	for i := range 7 {
		w.Progress[0].Failures = append(w.Progress[0].Failures, api.FailedItem{Index: i, Error: fault(i)})
	}
	lines := whyLines(w, false, time.Now())
	want := []string{
		"It failed in \"Score\": BadItem: no article 3 (item 3: )", "Score: 2 of 9 done, 7 failed, 0 in flight",
		"  failed item 0: BadItem: no article 0", "  failed item 1: BadItem: no article 1", "  failed item 2: BadItem: no article 2",
		"  failed item 4: BadItem: no article 4", "  failed item 5: BadItem: no article 5", "  and 1 more failed; --all lists them",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if all := whyLines(w, true, time.Now()); strings.Count(strings.Join(all, "\n"), "no article") != 7 {
		t.Errorf("with --all\n%s", strings.Join(all, "\n"))
	}
	if lines := whyLines(api.Why{Summary: "It is in quarantine: x", Quarantine: "x"}, false, time.Now()); len(lines) != 1 {
		t.Errorf("in quarantine: %q", lines)
	}
}
