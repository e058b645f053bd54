package naive08

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/sim/naive10"
)

// TestScenarios runs cases made by hand for each section of the decisions: what is expected there is
// derived from the text, not from this interpreter.
func TestScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := yaml.Unmarshal(data, &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, s := range list(naive10.Normalise(v)) {
			scenario := object(s)
			forms := list(scenario["forms"])
			if len(forms) == 0 {
				t.Fatalf("%s: %v has no forms", path, scenario["name"])
			}
			for _, form := range forms {
				name := strings.TrimSuffix(filepath.Base(path), ".yaml") + "/" + text(scenario["name"]) + "/" + string(rune('0'+form.(int)))
				t.Run(name, func(t *testing.T) { play(t, form.(int), scenario) })
			}
		}
	}
}

func known(t *testing.T, what string, m map[string]any, keys ...string) {
	t.Helper()
	for key := range m {
		if !slices.Contains(keys, key) {
			t.Fatalf("%s: unknown key %s", what, key)
		}
	}
}

// play runs a scenario in one version and compares what came of it.
func play(t *testing.T, form int, s map[string]any) {
	known(t, "scenario", s, "name", "forms", "workflow", "subs", "input", "mocks", "events", "expect")
	c := &Case{Form: form, Start: time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC), Mocks: map[string][]Answer{}}
	c.Input, c.ByHand = s["input"], s["input"] != nil
	for _, def := range append([]any{s["workflow"]}, list(s["subs"])...) {
		c.Definitions = append(c.Definitions, object(def))
	}
	for name, v := range object(s["mocks"]) {
		for _, a := range list(v) {
			o := object(a)
			known(t, "mock", o, "result", "error", "echo", "delay")
			_, has := o["result"]
			answer := Answer{Result: o["result"], HasResult: has, Echo: o["echo"] == true, Delay: span(t, o["delay"])}
			if e, ok := o["error"].(map[string]any); ok {
				answer.Error = &Fault{Name: text(e["name"]), Code: text(e["code"]), Status: text(e["status"]), Type: text(e["type"])}
			}
			c.Mocks[name] = append(c.Mocks[name], answer)
		}
	}
	for _, e := range list(s["events"]) {
		c.Events = append(c.Events, Event{span(t, object(e)["at"]), object(object(e)["event"])})
	}
	out := Run(c)
	expect := object(s["expect"])
	known(t, "expect", expect, "status", "output", "error", "path", "calls", "elapsed", "produced", "instances", "open")
	if out.Open != text(expect["open"]) {
		t.Fatalf("open: %q", out.Open)
	}
	if out.Open != "" {
		return
	}
	var first Instance
	if len(out.Instances) > 0 {
		first = out.Instances[0]
	}
	check := func(key string, got any) {
		t.Helper()
		if want, ok := expect[key]; ok && !equal(want, got) {
			t.Errorf("%s: %s, want %s", key, naive10.Encode(got), naive10.Encode(want))
		}
	}
	if want := text(expect["status"]); want == "" && first.Status != Completed || want != "" && first.Status != want {
		t.Errorf("status %s: %v", first.Status, first.Fault)
	}
	if first.Fault != nil {
		check("error", first.Fault.Name)
	}
	var path, calls, produced []any
	for _, name := range first.Path {
		path = append(path, name)
	}
	for _, c := range out.Calls {
		calls = append(calls, []any{c.At.Seconds(), c.Function, c.Args})
	}
	for _, p := range out.Produced {
		produced = append(produced, p.Event["data"])
	}
	var instances []any
	for _, in := range out.Instances {
		instances = append(instances, in.Workflow+" "+in.Status)
	}
	check("output", first.Output)
	check("path", path)
	check("calls", calls)
	check("produced", produced)
	check("instances", instances)
	check("elapsed", (first.Ended - first.Created).Seconds())
}

func span(t *testing.T, v any) time.Duration {
	t.Helper()
	if v == nil {
		return 0
	}
	d, err := calendar.ParseDuration(text(v))
	if err != nil {
		t.Fatal(err)
	}
	epoch := time.Unix(0, 0)
	return d.AddTo(epoch).Sub(epoch)
}
