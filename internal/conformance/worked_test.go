package conformance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// corpus is where a copy of what is published with the specification may lie. It
// is no part of the repository; the cases of this package carry the same facts.
var corpus = filepath.Join("..", "..", "..", "shared", "corpus")

// readCorpus reads one of its files; ok is false where there is no copy.
func readCorpus(t *testing.T, name string, into any) (ok bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Logf("no copy of the published examples at %s: only our own cases are run", corpus)
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return true
}

// worked is one published example with its inputs and its result.
type worked struct {
	ID, Version, Kind, Workflow string

	Input     *expr.Value
	Output    *expr.Value
	Data      expr.Value
	Filter    expr.Value
	Events    []expr.Value
	Error     string
	Functions map[string]struct {
		In  *expr.Value
		Out expr.Value
		Map map[string]expr.Value
	}
	FunctionCalls []struct {
		Fn   string
		Args expr.Value
	} `json:"function_calls"`
	MergedAdds   *expr.Value `json:"merged_adds"`
	ExpectedPath []string    `json:"expected_path"`
	ByTheLetter  []string    `json:"actual_by_the_letter"`
	DeniedPath   []string    `json:"alt_event_denied_path"`
	Retry        expr.Value
	Delays       []int64  `json:"delays_s"`
	Sequence     []string `json:"compensation_sequence"`
	Executed     []string
	CompensateBy map[string]string `json:"compensatedBy"`
	Transitions  map[string]string
}

func TestWorkedExamples(t *testing.T) {
	var all []worked
	if !readCorpus(t, "worked.json", &all) {
		return
	}
	ran := 0
	for _, w := range all {
		if w.Version != "v0.5" {
			continue
		}
		ran++
		t.Run(w.ID, func(t *testing.T) {
			switch w.Kind {
			case "":
				runPublished(t, w)
			case "retry":
				runRetry(t, w)
			case "compensation":
				runCompensation(t, w)
			default:
				runFilter(t, w)
			}
		})
	}
	if ran == 0 {
		t.Error("no example of version 0.5 found")
	}
}

// runPublished runs a published definition with the functions and events of the
// example. Where the example says what happens by the letter, that is expected.
func runPublished(t *testing.T, w worked) {
	s := scenario.Scenario{Name: w.ID, Clock: clock, Mocks: mock.Mocks{mock.Any: {{Result: expr.EmptyObject, HasResult: true}}}}
	if w.Input != nil {
		s.Input, s.HasInput = *w.Input, true
	}
	s.Expect = scenario.Expect{Output: w.Output}
	if w.Output != nil {
		s.Expect.Status = scenario.StatusCompleted
	}
	path := w.ExpectedPath
	if w.ByTheLetter != nil {
		path = w.ByTheLetter
	}
	if path != nil {
		s.Expect.Path = &path
	}
	w.answer(t, &s)
	for i, event := range w.Events {
		s.Events = append(s.Events, scenario.Event{Value: scenario.WithEventDefaults(event, i)})
	}
	if w.FunctionCalls != nil {
		calls := []scenario.ExpectCall{}
		for _, c := range w.FunctionCalls {
			calls = append(calls, scenario.ExpectCall{Function: c.Fn, Arguments: &c.Args})
		}
		s.Expect.Calls = &calls
	}
	file := &scenario.File{
		Path:      w.ID,
		Workflows: []scenario.Workflow{{Path: filepath.Join(corpus, w.Workflow)}},
		Scenarios: []scenario.Scenario{s},
	}
	if w.DeniedPath != nil {
		file.Scenarios = append(file.Scenarios, w.denied(t, s))
	}
	runFile(t, file)
}

// answer adds the functions of the example as mocks, and what they are called with.
func (w worked) answer(t *testing.T, s *scenario.Scenario) {
	if w.Error != "" {
		s.Mocks[mock.Any] = []mock.Answer{{Error: &effect.Failure{Name: w.Error}}}
	}
	for name, f := range w.Functions {
		if f.Map == nil {
			s.Mocks[name] = []mock.Answer{{Result: f.Out, HasResult: true}}
			if f.In != nil && len(w.Functions) == 1 {
				s.Expect.Calls = &[]scenario.ExpectCall{{Function: name, Arguments: f.In}}
			}
			continue
		}
		// One answer per item of the collection, in its order.
		items, _ := w.Input.Get("expressions")
		for _, item := range items.Items() {
			result, ok := f.Map[item.Str()]
			if !ok {
				t.Fatalf("the example has no result for %s", item)
			}
			s.Mocks[name] = append(s.Mocks[name], mock.Answer{Result: result, HasResult: true})
		}
	}
}

// denied is the same example with the other decision in its event.
func (w worked) denied(t *testing.T, s scenario.Scenario) scenario.Scenario {
	text := strings.ReplaceAll(s.Events[0].Value.String(), "Approved", "Denied")
	event, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.Name += " denied"
	s.Events = []scenario.Event{{Value: event}}
	s.Expect.Path = &w.DeniedPath
	return s
}

var clock = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// runFilter puts the filter of an example into a definition of one state.
func runFilter(t *testing.T, w worked) {
	state := map[string]any{"name": "Only", "type": "inject", "start": kind, "end": kind, "data": object}
	definition := map[string]any{"id": "worked", "name": "Worked", "states": []any{state}}
	s := scenario.Scenario{Name: w.ID, Clock: clock, Input: expr.EmptyObject, HasInput: true}
	s.Expect = scenario.Expect{Status: scenario.StatusCompleted, Output: w.Output}
	if w.Input != nil {
		s.Input = *w.Input
	}
	switch w.Kind {
	case "stateDataFilter":
		state["stateDataFilter"] = w.Filter
	case "inject", "inject+stateDataFilter":
		state["data"] = w.Data
		if !w.Filter.IsNull() {
			state["stateDataFilter"] = w.Filter
		}
	case "eventDataFilter":
		delete(state, "data")
		state["type"] = "event"
		state["onEvents"] = []any{map[string]any{"eventRefs": []string{"E"}, "eventDataFilter": w.Filter, "actions": []any{}}}
		definition["events"] = []any{map[string]any{"name": "E", "source": "s", "type": "e"}}
		event := expr.Object(expr.Member{Key: "type", Value: expr.String("e")}, expr.Member{Key: "source", Value: expr.String("s")},
			expr.Member{Key: "data", Value: *w.Input})
		s.Input, s.Events = expr.EmptyObject, []scenario.Event{{Value: scenario.WithEventDefaults(event, 0)}}
	case "actionDataFilter":
		delete(state, "data")
		state["type"] = "operation"
		state["actions"] = []any{map[string]any{"functionRef": map[string]any{"refName": "f"}, "actionDataFilter": w.Filter}}
		definition["functions"] = []any{map[string]any{"name": "f"}}
		s.Mocks = mock.Mocks{"f": {{Result: *w.Input, HasResult: true}}}
		s.Input, s.Expect.Output = expr.EmptyObject, w.MergedAdds
	default:
		t.Fatalf("an example of unknown kind %q", w.Kind)
	}
	runDefinition(t, definition, s)
}

var (
	kind   = map[string]any{"kind": "default"}
	object = map[string]any{}
)

// runRetry lets a function fail for ever and looks at how long all retries took.
func runRetry(t *testing.T, w worked) {
	definition := map[string]any{
		"id": "worked", "name": "Worked",
		"functions": []any{map[string]any{"name": "f"}},
		"retries":   []any{w.Retry.With("name", expr.String("R"))},
		"states": []any{map[string]any{
			"name": "Only", "type": "operation", "start": kind, "end": kind,
			"actions":  []any{map[string]any{"functionRef": map[string]any{"refName": "f"}}},
			"onErrors": []any{map[string]any{"error": "*", "retryRef": "R", "end": kind}},
		}},
	}
	calls := []scenario.ExpectCall{{Function: "f"}}
	var total calendar.Duration
	for _, seconds := range w.Delays {
		calls = append(calls, scenario.ExpectCall{Function: "f"})
		total.Nanos += seconds * 1e9
	}
	runDefinition(t, definition, scenario.Scenario{
		Name: w.ID, Clock: clock,
		Mocks:  mock.Mocks{"f": {{Error: &effect.Failure{Name: "No"}}}},
		Expect: scenario.Expect{Status: scenario.StatusCompleted, Calls: &calls, Elapsed: &total},
	})
}

// runCompensation runs the states of the example one after the other, the last of
// them with compensateBefore.
func runCompensation(t *testing.T, w worked) {
	var states []any
	for i, name := range w.Executed {
		state := map[string]any{"name": name, "type": "inject", "data": object}
		if i == 0 {
			state["start"] = kind
		}
		if i+1 < len(w.Executed) {
			state["transition"] = map[string]any{"nextState": w.Executed[i+1]}
		} else {
			state["end"] = map[string]any{"kind": "default", "compensateBefore": true}
		}
		if by, ok := w.CompensateBy[name]; ok {
			state["compensatedBy"] = by
		}
		states = append(states, state)
	}
	for _, name := range w.Sequence {
		state := map[string]any{"name": name, "type": "inject", "data": object, "usedForCompensation": true}
		if next, ok := w.Transitions[name]; ok {
			state["transition"] = map[string]any{"nextState": next}
		}
		states = append(states, state)
	}
	path := append(append([]string{}, w.Executed...), w.Sequence...)
	runDefinition(t, map[string]any{"id": "worked", "name": "Worked", "states": states}, scenario.Scenario{
		Name: w.ID, Clock: clock, Expect: scenario.Expect{Status: scenario.StatusCompleted, Path: &path},
	})
}

func runDefinition(t *testing.T, definition map[string]any, s scenario.Scenario) {
	t.Helper()
	text, err := json.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "workflow.json")
	write(t, path, text)
	runFile(t, &scenario.File{Path: "worked", Workflows: []scenario.Workflow{{Path: path}}, Scenarios: []scenario.Scenario{s}})
}

func TestWorkedExpressions(t *testing.T) {
	var all []struct {
		Lang, Template string
		Data           expr.Value
		Result         *expr.Value
		Condition      *bool
	}
	if !readCorpus(t, "expressions.json", &all) {
		return
	}
	for _, x := range all {
		t.Run(x.Template, func(t *testing.T) {
			var program expr.Program
			var err error
			switch x.Lang {
			case "jsonpath{{}}":
				program, err = jsonpath.TemplateCompiler{}.Compile(expr.String(x.Template).String())
			case "jsonpath bare":
				program, err = jsonpath.Compiler{}.Compile(x.Template)
			default:
				t.Logf("%s is not of version 0.5", x.Lang)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			budget := expr.NewBudget()
			got, err := program.Eval(x.Data, &budget)
			if err != nil {
				t.Fatal(err)
			}
			if x.Result != nil && !expr.Equal(*x.Result, got.Value) {
				t.Errorf("got %s, want %s", got.Value, x.Result)
			}
			if x.Condition != nil && got.True() != *x.Condition {
				t.Errorf("the condition is %t, want %t (value %s)", got.True(), *x.Condition, got.Value)
			}
		})
	}
}

// TestPublishedDefinitions compiles every complete definition, JSON and YAML.
func TestPublishedDefinitions(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus, "v0.5", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Logf("no copy of the published definitions at %s", corpus)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, found := registry.Compile(path, text, published, dialect.Options{})
			if found.HasErrors() {
				t.Error(found)
			}
		})
	}
}

// published stands for the files that the definitions refer to and that were not
// published with them.
var published = dialect.MapBundle{
	"functiondefs.json": []byte(`{"functions": [{"name": "checkFundsAvailability"}, {"name": "sendSuccessEmail"}, {"name": "sendInsufficientFundsEmail"}]}`),
	"eventdefs.yml":     []byte("events:\n- {name: PaymentReceivedEvent, type: received, source: bank}\n- {name: ConfirmationCompletedEvent, type: completed, kind: produced}\n"),
}
