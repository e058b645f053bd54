package naive10

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
)

// cases are those of package conformance.
const cases = "../../conformance/sw10/*.txtar"

// beyond are cases that the interpreter is too naive for: it reads no files, and looks for the names of
// secrets in the text of expressions.
var beyond = []string{"catalog", "secrets-computed"}

// TestCases runs our cases of each section of the reference.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob(cases)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases %s: %v", cases, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		if slices.Contains(beyond, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]map[string]any{}
			for _, f := range archive.Files {
				files[f.Name] = object(decodeYAML(t, f.Data))
			}
			file := files["scenario.yaml"]
			var definitions []map[string]any
			for _, name := range workflows(file["workflow"]) {
				if files[name] == nil {
					t.Fatalf("no file %s", name)
				}
				definitions = append(definitions, files[name])
			}
			for _, s := range list(file["scenarios"]) {
				t.Run(text(object(s)["name"]), func(t *testing.T) { runScenario(t, definitions, object(s)) })
			}
		})
	}
}

func workflows(v any) (names []string) {
	if name, ok := v.(string); ok {
		return []string{name}
	}
	for _, name := range list(v) {
		names = append(names, text(name))
	}
	return names
}

func decodeYAML(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	return Normalise(v)
}

func known(t *testing.T, what string, m map[string]any, keys ...string) {
	t.Helper()
	for key := range m {
		if !slices.Contains(keys, key) {
			t.Fatalf("%s: unknown key %s", what, key)
		}
	}
}

// runScenario runs one scenario and compares what came of it.
func runScenario(t *testing.T, definitions []map[string]any, s map[string]any) {
	known(t, "scenario", s, "name", "clock", "input", "mocks", "events", "secrets", "until", "expect")
	c := &Case{Definitions: definitions, Start: time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC), Secrets: object(s["secrets"])}
	if clock, ok := s["clock"].(time.Time); ok {
		c.Start = clock
	}
	c.Input, c.HasInput = s["input"], hasKey(s, "input")
	if until, ok := s["until"]; ok {
		c.Until = span(t, until)
	}
	for i, e := range list(s["events"]) {
		event := map[string]any{"specversion": "1.0", "source": "lockstep/scenario", "id": fmt.Sprintf("event-%d", i+1)}
		maps.Copy(event, object(object(e)["event"]))
		c.Events = append(c.Events, Event{span(t, object(e)["at"]), event})
	}
	c.Answer = readMocks(t, object(s["mocks"])).Answer(func(name string) { t.Errorf("no mock of %s", name) })
	compare(t, Run(c), object(s["expect"]))
}

func hasKey(m map[string]any, key string) bool { _, ok := m[key]; return ok }

func readMocks(t *testing.T, mocks map[string]any) Mocks {
	out := Mocks{}
	for name, v := range mocks {
		answers, ok := v.([]any)
		if !ok {
			answers = []any{v}
		}
		for _, a := range answers {
			m := object(a)
			known(t, "mock", m, "result", "error", "echo", "delay")
			answer := Answer{Result: m["result"], Echo: m["echo"] == true}
			if e, ok := m["error"].(map[string]any); ok {
				answer.Error = maps.Clone(e)
				if n, err := strconv.Atoi(text(e["status"])); err == nil {
					answer.Error["status"] = n
				}
			}
			if d, ok := m["delay"]; ok {
				answer.Delay = span(t, d)
			}
			out[name] = append(out[name], answer)
		}
	}
	return out
}

func span(t *testing.T, v any) time.Duration {
	t.Helper()
	d, err := calendar.ParseDuration(text(v))
	if err != nil {
		t.Fatal(err)
	}
	epoch := time.Unix(0, 0)
	return d.AddTo(epoch).Sub(epoch)
}

// compare checks an outcome as scenario files say.
func compare(t *testing.T, out Outcome, expect map[string]any) {
	t.Helper()
	known(t, "expect", expect, "status", "output", "error", "path", "calls", "produced", "lifecycle", "elapsed", "instances") // nothing here has a lifecycle
	if out.Open == openLong {
		t.Fatal("it takes too long")
	}
	started := slices.DeleteFunc(slices.Clone(out.Instances), func(in Instance) bool { return in.Child })
	first := Instance{Status: "none"}
	if len(started) > 0 {
		first = started[0]
	}
	if want, ok := expect["status"]; ok && want != first.Status || !ok && first.Status == Failed && expect["error"] == nil {
		t.Errorf("status %s, want %v; error %s", first.Status, want, Encode(toAny(first.Error)))
	}
	same := func(what string, got, want any) {
		if !equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", what, Encode(got), Encode(want))
		}
	}
	if want, ok := expect["output"]; ok {
		same("output", first.Output, want)
	}
	if want, ok := expect["error"]; ok && !subset(want, toAny(first.Error)) {
		t.Errorf("error %s, want %s", Encode(toAny(first.Error)), Encode(want))
	}
	if want, ok := expect["path"]; ok {
		path := []any{}
		for _, name := range first.Path {
			path = append(path, name)
		}
		same("path", path, want)
	}
	if want, ok := expect["elapsed"]; ok {
		if d := span(t, want); first.Ended-first.Created != d {
			t.Errorf("elapsed %s, want %s", first.Ended-first.Created, d)
		}
	}
	if want, ok := expect["instances"]; ok {
		same("instances", len(started), want)
	}
	if want, ok := expect["calls"]; ok {
		compareCalls(t, out.Calls, list(want))
	}
	if want, ok := expect["produced"]; ok {
		compareProduced(t, out.Produced, list(want))
	}
}

func compareCalls(t *testing.T, calls []Call, want []any) {
	t.Helper()
	if len(calls) != len(want) {
		t.Errorf("%d calls, want %d", len(calls), len(want))
	}
	for i := range min(len(calls), len(want)) {
		w := object(want[i])
		if calls[i].Function != w["function"] {
			t.Errorf("call %d of %s, want %v", i, calls[i].Function, w["function"])
		}
		if args, ok := w["arguments"]; ok && !equal(calls[i].Args, args) {
			t.Errorf("call %d:\n got %s\nwant %s", i, Encode(calls[i].Args), Encode(args))
		}
	}
}

func compareProduced(t *testing.T, produced []Produced, want []any) {
	t.Helper()
	if len(produced) != len(want) {
		t.Errorf("%d events, want %d", len(produced), len(want))
	}
	for i := range min(len(produced), len(want)) {
		if !subset(want[i], toAny(produced[i].Event)) {
			t.Errorf("event %d is %s, want %s", i, Encode(produced[i].Event), Encode(want[i]))
		}
	}
}

// subset reports whether what is expected is there.
func subset(want, got any) bool {
	w, ok := want.(map[string]any)
	if !ok {
		return equal(want, got)
	}
	for key, v := range w {
		g, ok := object(got)[key]
		if !ok || !subset(v, g) {
			return false
		}
	}
	return got != nil
}

// toAny keeps a nil map from being an object.
func toAny(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}
