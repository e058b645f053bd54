package lockstep_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/expr"
)

// program is a definition with one task.
func program(name, run string) string {
	return "document: {dsl: 1.0.3, namespace: default, name: " + name + ", version: 1.0.0}\nuse: {secrets: [token]}\ndo:\n- task: {run: " + run + "}\n"
}

func TestPrograms(t *testing.T) {
	secret := expr.String("hunter2-hunter2")
	e := opened(t, "memory:", lockstep.AllowExec(), lockstep.Secrets(func(name string) (expr.Value, bool) { return secret, name == "token" }))
	for _, c := range []struct{ name, run, want string }{
		{"shell", `{shell: {command: 'echo "$1"', arguments: [a]}}`, `"a\n"`},
		{"javascript", `{script: {language: js, code: "1"}}`, "call lockstep.RunScript first in its main function"},
		{"secret", `{shell: {command: 'test "$T" = "$(cat)" && printf "%s" "${#T}"', stdin: "${ $secrets.token }", environment: {T: "${ $secrets.token }"}}}`, `"15"`},
		{"argument", `{shell: {command: "true", arguments: ["${ $secrets.token }"]}}`, "arguments[0] holds a secret"},
		{"told", `{shell: {command: 'echo "no $T" >&2; kill $$', environment: {T: "${ $secrets.token }"}}}`, "killed by signal SIGTERM"},
	} {
		deploy(e, lockstep.Text(program(c.name, c.run)))
		in, err := e.Run(t.Context(), c.name, nil)
		text, _ := json.Marshal(in)
		if err != nil || !strings.Contains(string(text), c.want) || strings.Contains(string(text), secret.Str()) {
			t.Errorf("%s: %v\n%s\nwant %s", c.name, err, text, c.want)
		}
	}
}

func TestProgramsAreRefused(t *testing.T) {
	e := opened(t, "memory:")
	if _, err := e.Deploy(t.Context(), lockstep.Text(program("shell", `{shell: {command: "true"}}`))); err == nil || !strings.Contains(err.Error(), "not allowed here") {
		t.Error(err)
	}
}

// TestPlaygroundRunsPrograms: it never does, also where definitions may.
func TestPlaygroundRunsPrograms(t *testing.T) {
	e := opened(t, "memory:", lockstep.AllowExec())
	trace := filepath.Join(t.TempDir(), "trace")
	definition := program("shell", `{shell: {command: 'touch "$1"', arguments: ["`+trace+`"]}}`)
	for _, mocks := range []string{"", "task: {result: mocked}"} {
		body, _ := json.Marshal(map[string]any{"definition": definition, "mocks": mocks})
		answer := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodPost, "http://localhost/api/v1/playground", strings.NewReader(string(body)))
		request.Header.Set("Content-Type", "application/json")
		e.Handler().ServeHTTP(answer, request)
		want := "MockMissing"
		if mocks != "" {
			want = `"output":"mocked"`
		}
		if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
		if _, err := os.Stat(trace); err == nil {
			t.Fatal("the playground ran a program")
		}
	}
	deploy(e, lockstep.Text(definition))
	if _, err := e.Run(t.Context(), "shell", nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(trace); err != nil {
		t.Errorf("the program itself leaves no trace: %v", err)
	}
}
