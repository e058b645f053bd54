package scenario

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func sampleReports(t *testing.T) []Report {
	created := defaultClock
	failed := Outcome{
		Status: StatusFailed, Path: []string{"Charge", "Refund"}, Created: created, Ended: created.Add(90 * time.Second),
		Fault:     &Fault{Value: value(t, `{"name": "Declined"}`), Text: "Declined (402)", State: "Charge", Place: Place{dialect.Pos{File: "order.yaml", Line: 7, Column: 3}, dialect.Pos{File: "order.yaml", Line: 9, Column: 5}}, Inner: []Hop{{"pay", "Ask", Place{dialect.Pos{File: "pay.yaml", Line: 4, Column: 3}, dialect.Pos{File: "pay.yaml", Line: 4, Column: 3}}}}},
		Calls:     []Call{{Function: "charge", Arguments: value(t, `{"id": 1}`)}, {Function: "ship", Arguments: expr.EmptyObject}},
		Produced:  []expr.Value{value(t, `{"id": "x", "type": "a", "source": "s", "data": {"n": 1}}`)},
		Instances: 1,
	}
	output := value(t, `{"ok": true}`)
	calls := []ExpectCall{{Function: "charge"}}
	produced := []expr.Value{value(t, `{"type": "a", "data": {"n": 2}}`)}
	two := int64(2)
	expect := Expect{Status: StatusCompleted, Output: &output, Calls: &calls, Produced: &produced, Instances: &two}
	return []Report{
		{File: "a_test.yaml", Results: []Result{
			{Name: "good # one", Outcome: Outcome{Status: StatusCompleted, Created: created, Ended: created.Add(36 * time.Hour)}},
			{Name: "bad", At: dialect.Pos{File: "a_test.yaml", Line: 9, Column: 9}, Outcome: failed, Failures: check(expect, failed)},
		}},
		{File: "b_test.yaml", Diagnostics: dialect.Diagnostics{{File: "b_test.yaml", Line: 1, Column: 1, Severity: dialect.Error, Code: "TS101", Message: "no"}}},
	}
}

func TestWriteText(t *testing.T) {
	var b strings.Builder
	if err := WriteText(&b, sampleReports(t), TextOptions{Coverage: FullCoverage}); err != nil {
		t.Fatal(err)
	}
	const want = `a_test.yaml
  ✓ passed  good # one  P1DT12H
  ✗ FAILED  bad  PT1M30S
      at a_test.yaml:9:9
      status: expected completed, got failed
      output: there is none: the status is failed
      calls: the calls differ (- expected, + got)
            charge
          + ship {}
      produced: the events produced differ (- expected, + got)
            [
              {
          -     "data": {"n": 2},
          +     "data": {"n": 1},
                "type": "a"
              }
            ]
      instances: expected 2, got 1
      path taken: Charge → Refund
      fault: Declined (402), in state "Charge" at order.yaml:7:3 (there at line 9, column 5)
      it arose in state "Ask" of workflow "pay" at pay.yaml:4:3
b_test.yaml  INVALID
2 scenarios: 1 passed, 1 failed, 1 file invalid
`
	if b.String() != want {
		t.Errorf("difference (- want, + got):\n%s", strings.Join(Diff(want, b.String()), "\n"))
	}
}

func TestWriteTAP(t *testing.T) {
	var b strings.Builder
	if err := WriteTAP(&b, sampleReports(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"TAP version 14\n1..3\n", "\nok 1 - a_test.yaml: good \\# one\n", "\nnot ok 2 - a_test.yaml: bad\n  ---\n  message: |\n    at a_test.yaml:9:9\n",
		"\n  ...\n", "\nnot ok 3 - b_test.yaml\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestWriteJUnit(t *testing.T) {
	var b strings.Builder
	if err := WriteJUnit(&b, sampleReports(t)); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 3 || got.Failures != 1 || got.Errors != 1 || got.Suites[0].Cases[1].Failure == nil ||
		got.Suites[0].Cases[0].Properties[0].Value != "P1DT12H" {
		t.Errorf("got %s", b.String())
	}
}

func TestWriteJSON(t *testing.T) {
	var b strings.Builder
	if err := WriteJSON(&b, sampleReports(t)); err != nil {
		t.Fatal(err)
	}
	var got jsonReport
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Passed != 1 || got.Failed != 1 || got.Invalid != 1 || got.Files[0].Scenarios[1].Error.Line != 9 {
		t.Errorf("got %s", b.String())
	}
}

// The last state of a list inside of a state leads to the end of the list, unless it failed.
func TestCoverageOfInnerStates(t *testing.T) {
	c := newCoverage("order.yaml", &ir.Program{
		ID:     "order",
		States: []ir.State{{Name: "A"}, {Name: "A/x", In: "A"}, {Name: "A/y", In: "A"}, {Name: "A/z", In: "A"}, {Name: "B"}},
		Edges: []ir.Edge{
			{From: "A", To: "B", Kind: ir.EdgeNext},
			{From: "A/x", To: "A/y", Kind: ir.EdgeCondition, Label: "more"},
			{From: "A/x", Kind: ir.EdgeDefault},
			{From: "A/y", Kind: ir.EdgeNext},
			{From: "A/z", Kind: ir.EdgeNext},
			{From: "B", Kind: ir.EdgeNext},
		},
	})
	entered := func(frame core.FrameID, name string) core.Record {
		return core.Record{Type: core.RecEntered, Frame: frame, Node: name}
	}
	left := func(frame core.FrameID, name string) core.Record {
		return core.Record{Type: core.RecLeft, Frame: frame, Node: name}
	}
	c.add([]core.Record{
		entered(1, "A"),
		entered(2, "A/x"), left(2, "A/x"), entered(2, "A/y"), left(2, "A/y"),
		entered(3, "A/z"),
		left(1, "A"), entered(1, "B"), left(1, "B"),
		{Type: core.RecFinished, Status: core.Failed},
	})
	want := "A/x → (end) (default), A/z → (end), B → (end)"
	if got := strings.Join(c.MissingEdges(), ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCoverageFollowsHistory(t *testing.T) {
	program := &ir.Program{
		ID: "order", Version: "1.0",
		States: []ir.State{{Name: "A"}, {Name: "B"}, {Name: "C"}, {Name: "UndoA"}, {Name: "Never"}},
		Edges: []ir.Edge{
			{From: "A", To: "B", Kind: ir.EdgeNext},
			{From: "A", To: "B", Kind: ir.EdgeError, Label: "X"},
			{From: "B", To: "C", Kind: ir.EdgeError, Label: "*"},
			{From: "A", To: "UndoA", Kind: ir.EdgeCompensate},
			{From: "C", Kind: ir.EdgeNext},
			{From: "C", To: "Never", Kind: ir.EdgeCondition},
		},
	}
	entered := func(frame core.FrameID, name string) core.Record {
		return core.Record{Type: core.RecEntered, Frame: frame, Node: name}
	}
	c := newCoverage("order.yaml", program)
	c.add([]core.Record{
		entered(1, "A"), entered(1, "B"),
		{Type: core.RecCaught, Node: "B"},
		entered(1, "C"),
		{Type: core.RecCompensating, Node: "A"},
		entered(5, "UndoA"),
		{Type: core.RecFinished, Status: core.Completed},
	})
	merged := MergeCoverage([]Report{{Coverage: []Coverage{c}}, {Coverage: []Coverage{newCoverage("order.yaml", program)}}})
	if len(merged) != 1 {
		t.Fatalf("%d definitions, want 1", len(merged))
	}
	got := merged[0].StateCount().String() + " " + merged[0].EdgeCount().String() + ": " +
		strings.Join(merged[0].MissingStates(), ", ") + "; " + strings.Join(merged[0].MissingEdges(), ", ")
	if want := "4/5 (80%) 4/6 (66%): Never; A → B (error X), C → Never (condition)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestCheckLifecycle: events must occur in the order given, each a subset; others may lie between.
func TestCheckLifecycle(t *testing.T) {
	o := Outcome{Status: StatusCompleted}
	for _, text := range []string{`{"type":"a","data":{"task":"/x","at":1}}`, `{"type":"b"}`, `{"type":"a","data":{"task":"/y"}}`, `{"type":"c"}`} {
		o.Lifecycle = append(o.Lifecycle, value(t, text))
	}
	for want, ok := range map[string]bool{
		`[]`:                          true,
		`[{"type":"a"},{"type":"c"}]`: true,
		`[{"type":"a","data":{"task":"/y"}},{"type":"c"}]`:                                true,
		`[{"type":"a"},{"type":"a"}]`:                                                     true,
		`[{"type":"a"},{"type":"a"},{"type":"a"}]`:                                        false,
		`[{"type":"c"},{"type":"a"}]`:                                                     false,
		`[{"type":"b"},{"type":"a","data":{"task":"/x"}}]`:                                false,
		`[{"type":"a","data":{"task":"/x","at":2}}]`:                                      false,
		`[{"type":"a"},{"type":"b"},{"type":"a"},{"type":"c"}]`:                           true,
		`[{"type":"a"},{"type":"b"},{"type":"a"},{"type":"c"},{"data":{"task":"/none"}}]`: false,
	} {
		items := value(t, want).Items()
		failures := check(Expect{Lifecycle: &items}, o)
		if (len(failures) == 0) != ok {
			t.Errorf("%s: %+v", want, failures)
		}
		if !ok && (failures[0].Field != "lifecycle" || len(failures[0].Diff) != len(o.Lifecycle)) {
			t.Errorf("%s: %+v", want, failures)
		}
	}
}
