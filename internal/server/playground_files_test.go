package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

const playParent = `id: parent
version: "1.0"
name: Parent
dataInputSchema: schemas/in.json
functions: [{name: pack, operation: "apis/shop.yaml#pack"}]
states:
- {name: Sub, type: subflow, start: {kind: default}, waitForCompletion: true, workflowId: child, transition: {nextState: Pack}}
- {name: Pack, type: operation, actions: [{functionRef: {refName: pack}}], end: {kind: default}}
`

const playChild = `id: child
version: "1.0"
name: Child
states:
- {name: Rest, type: delay, start: {kind: default}, timeDelay: P1D, end: {kind: default}}
`

// TestPlaygroundFiles: sub-workflows and what definitions refer to come as files.
func TestPlaygroundFiles(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	files := map[string]any{
		"flows/child.yaml": playChild, "apis/shop.yaml": shopAPI,
		"schemas/in.json": `{"type": "object", "required": ["order"]}`, "child_test.yaml": "workflow: x\n",
	}
	ask := map[string]any{"definition": playParent, "input": "order: 7", "mocks": "pack: {result: {packed: true}}", "files": files}
	w.play(ask).is("diagnostics", "[]").is("run.status", `"completed"`).is("run.output.packed", "true").
		is("run.message", `"Completed after 1d of virtual time."`).
		is("files.0.path", `"flows/child.yaml"`).is("files.0.id", `"child"`).is("files.1", "null").
		is("run.instances.1.definition.id", `"child"`)

	ask["input"] = "{}"
	w.play(ask).is("run.status", `"none"`).says("order") // the schema holds
	ask["input"] = "order: 7"

	files["flows/child.yaml"] = strings.ReplaceAll(playChild, "type: delay", "type: dely")
	w.play(ask).is("run", "null").is("diagnostics.0.file", `"flows/child.yaml"`).is("diagnostics.0.line", "5")
	files["flows/child.yaml"] = strings.ReplaceAll(playChild, "id: child", "id: parent")
	w.play(ask).says("is also the id of the definition")
	delete(files, "flows/child.yaml")
	w.play(ask).is("diagnostics.0.code", `"BND002"`).is("diagnostics.0.severity", `"warning"`).is("diagnostics.0.file", "null")
	delete(files, "schemas/in.json")
	w.play(ask).says(`schemas/in.json`).is("run", "null")

	bad := func(files map[string]any) answered {
		return w.do("POST", "/api/v1/playground", jsonOf(t, map[string]any{"definition": playChild, "files": files}))
	}
	bad(map[string]any{"../a.yaml": ""}).problem(api.CodeInvalid)
	bad(map[string]any{"mocks": ""}).problem(api.CodeInput).says("member of the request")
	bad(map[string]any{"a.yaml": 1}).problem(api.CodeInput)
	many := map[string]any{}
	for i := range playFiles + 1 {
		many[fmt.Sprintf("f%d", i)] = ""
	}
	bad(many).problem(api.CodeInput).says("playground-files")
}

// TestPlaygroundScenario: what a run was given and what came of it is a scenario file, which passes.
func TestPlaygroundScenario(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	event := "- at: PT1M\n  event: {type: paid, source: shop, id: e1}\n"
	cases := map[string]map[string]any{
		"sub-workflow": {
			"definition": playParent, "input": "order: 7", "mocks": "mocks:\n  unused: {result: 1}\n  pack: [{error: {name: Busy}}, {result: {ok: true}}]",
			"files": map[string]any{"child.yaml": playChild, "apis/shop.yaml": shopAPI, "schemas/in.json": "{}"},
		},
		"delay":     {"definition": playRemind, "input": "who: Ada", "mocks": "mail: {result: {sent: true}, delay: PT5S}", "clock": "2026-12-31T23:59:00Z"},
		"job":       {"definition": playJob, "client": "gateway", "takes": "- {at: PT1H, actor: CLIENT, state: GREEN, message: done}"},
		"unmatched": {"definition": playRemind, "input": "who: Ada", "mocks": "mail: {result: {}}", "events": event},
		"json":      {"definition": `{"id":"j","version":"1","name":"J","states":[{"name":"A","type":"inject","start":{"kind":"default"},"data":{"a":1},"end":{"kind":"default"}}]}`},
	}
	for name, ask := range cases {
		t.Run(name, func(t *testing.T) {
			ask["scenario"] = `it "works": ` + name
			a := w.play(ask)
			dir := t.TempDir()
			write := func(name, text string) {
				t.Helper()
				at := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(a.str("scenario.definition"), ask["definition"].(string))
			write(a.str("scenario.file"), a.str("scenario.text"))
			files, _ := ask["files"].(map[string]any)
			for name, text := range files {
				write(name, text.(string))
			}
			f, err := scenario.Load(context.Background(), filepath.Join(dir, a.str("scenario.file")))
			if err != nil {
				t.Fatalf("%v\n%s", err, a.str("scenario.text"))
			}
			report := scenario.Run(t.Context(), f, scenario.Options{Registry: dialects.All(), Languages: languages()})
			if len(report.Results) != 1 {
				t.Errorf("%v", report.Diagnostics)
			}
			for _, r := range report.Results {
				if !r.Passed() {
					t.Errorf("%+v\n%s", r, a.str("scenario.text"))
				}
			}
		})
	}
	ask := map[string]any{"definition": playRemind, "until": playClock.Add(time.Minute).Format(time.RFC3339), "scenario": "half"}
	w.do("POST", "/api/v1/playground", jsonOf(t, ask)).problem(api.CodeInput).says("did not end")
}

func TestElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 250 * time.Millisecond: "250 ms", 90 * time.Second: "1m 30s", time.Hour: "1h", 24 * time.Hour: "1d", 26 * time.Hour: "1d 2h", 30 * 24 * time.Hour: "30d", 10*time.Hour + time.Minute: "10h",
	} {
		if got := elapsed(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
