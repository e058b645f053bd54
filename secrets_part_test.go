package lockstep_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/expr"
)

// half is enough of a secret that nobody may read it.
const half = "half-of-a-secret"

// TestSecretsAreNotToldInPart: errors show the beginning of values that are long. It is not that of a
// secret, in the error, in what a workflow makes of it and in the store.
func TestSecretsAreNotToldInPart(t *testing.T) {
	secret := half + strings.Repeat("-0123456789", 20)
	path := filepath.Join(t.TempDir(), "test.db")
	e, err := lockstep.Open(t.Context(), "sqlite:"+path, lockstep.Secrets(func(name string) (expr.Value, bool) {
		return expr.String(secret), name == "token"
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	catch := func(task string) string {
		return `
- wrong:
    try: [{one: ` + task + `}]
    catch: {as: problem, do: [{note: {set: {why: '${ $problem }'}}}]}
- hold: {raise: {error: {type: https://example.com/bad, status: 500, detail: '${ .why | tostring }'}}}`
	}
	workflows := []string{
		`[{one: {raise: {error: {type: '${ "https://example.com/" + $secrets.token }', status: 500}}}}]`,
	}
	for _, task := range []string{
		`{set: '${ $secrets.token | tonumber }'}`,
		`{set: '${ {a: $secrets.token} + 1 }'}`,
		`{set: '${ error($secrets.token) }'}`,
		`{set: '${ error(("x" * 420) + $secrets.token) }'}`,
		`{wait: '${ $secrets.token }'}`,
		`{set: {a: 1}, output: {as: '${ {a: $secrets.token} }', schema: {document: {type: object, properties: {a: {type: number}}}}}}`,
		`{set: {a: 1}, output: {as: '${ {a: $secrets.token} }', schema: {document: {type: object, properties: {a: {enum: [a, b]}}}}}}`,
		`{set: {a: 1}, output: {as: '${ {a: $secrets.token} }', schema: {document: {type: object, properties: {a: {pattern: "^x"}}}}}}`,
		`{for: {in: '${ $secrets.token }'}, do: [{a: {set: {a: 1}}}]}`,
		`{emit: {event: {with: {type: '${ $secrets.token }', time: '${ $secrets.token }'}}}}`,
		`{call: http, with: {method: get, endpoint: '${ "http://127.0.0.1:1/" + $secrets.token }'}}`,
		`{call: http, with: {method: '${ $secrets.token }', endpoint: 'http://127.0.0.1:1/'}}`,
		`{call: http, with: {method: get, endpoint: '${ $secrets.token }'}}`,
	} {
		workflows = append(workflows, catch(task))
	}
	// A fault keeps the beginning of large data: the secret lies across its end.
	for missing := range 3 {
		filler := (64 << 10) - len(`{"a":"`) - len(half) - 60*missing - 1
		workflows = append(workflows, fmt.Sprintf(`
- fill: {set: {a: '${ ("x" * %d) + $secrets.token + "-end" }'}}
- wrong: {set: '${ error("no") }'}`, filler))
	}
	for i, do := range workflows {
		name := fmt.Sprintf("part-%d", i)
		deploy(e, lockstep.Text(fmt.Sprintf("document: {dsl: 1.0.3, namespace: default, name: %s, version: 1.0.0}\nuse: {secrets: [token]}\ndo: %s\n", name, do)))
		id, err := e.Start(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if in, err := e.Wait(t.Context(), id); err != nil || in.Status != "failed" {
			t.Errorf("%s: %+v, %v", do, in, err)
		}
		for _, route := range []string{"", "/history", "/why"} {
			answer := httptest.NewRecorder()
			e.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/api/v1/instances/"+id+route, nil))
			if at := strings.Index(answer.Body.String(), half); at >= 0 {
				t.Errorf("%s\n%s tells %.150q", do, route, answer.Body.String()[max(0, at-50):])
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at := bytes.Index(text, []byte(half)); at >= 0 {
		t.Errorf("the store has a part of a secret: %.200q", text[max(0, at-100):])
	}
}

// TestRecordsOfVerbs: secrets that are words of records do not change what these tell.
func TestRecordsOfVerbs(t *testing.T) {
	e, err := lockstep.Open(t.Context(), "memory:", lockstep.Secrets(func(name string) (expr.Value, bool) { return expr.String(name), true }))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	deploy(e, lockstep.Text("document: {dsl: 1.0.3, namespace: default, name: waits, version: 1.0.0}\nuse: {secrets: [suspend, suspended]}\ndo: [{hold: {wait: PT1H}}]\n"))
	id, err := e.Start(t.Context(), "waits", nil)
	if err == nil {
		_, err = e.Pause(t.Context(), id, "because")
	}
	if err != nil {
		t.Fatal(err)
	}
	verb, task := "", ""
	for r, err := range e.History(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		switch r.Type {
		case "control":
			verb = r.Name
		case "task":
			task = r.Name
		}
	}
	if verb != "pause" || task != "suspended" {
		t.Errorf("the verb is %q, and the task was %q", verb, task)
	}
}
