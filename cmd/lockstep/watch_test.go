package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestWatch: scenarios run again when the definition changes, and when an API description beside it does, until Ctrl-C.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const definition = `
id: hello
name: Hello
functions: [{name: f, operation: api.yaml#f}]
states:
- {name: Greet, type: operation, start: {kind: default}, actions: [{functionRef: {refName: f}}], end: {kind: default}}
`
	const document = "openapi: 3.1.0\nservers: [{url: 'https://x.example'}]\npaths: {/p: {get: {operationId: f, responses: {}"
	write("hello.yaml", definition)
	write("api.yaml", document+"}}}\n")
	write("hello_test.yaml", "workflow: hello.yaml\nscenarios:\n- {name: greets, mocks: {f: {result: {a: 1}}}, expect: {output: {a: 1}}}\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rounds := 0
	var out, told bytes.Buffer
	stderr := writerFunc(func(p []byte) (int, error) {
		if strings.HasPrefix(string(p), "watching") {
			switch rounds++; rounds {
			case 1:
				write("hello.yaml", strings.ReplaceAll(definition, "refName: f}", "refName: f}, actionDataFilter: {dataResultsPath: '{{ $.b }}'}"))
			case 2:
				write("api.yaml", document+", parameters: [{name: id, in: query, required: true}]}}}\n")
			case 3:
				cancel()
			}
		}
		return told.Write(p)
	})
	a := &cli.App{In: strings.NewReader(""), Out: &out, Err: stderr}
	root := command(a)
	root.SetArgs([]string{"test", filepath.Join(dir, "hello_test.yaml"), "--watch"})
	if code := a.Exit(root.ExecuteContext(ctx)); code != cli.ExitInterrupted {
		t.Errorf("exit code %d, want %d; stderr:\n%s", code, cli.ExitInterrupted, told.String())
	}
	for _, want := range []string{"1 scenario: 1 passed", "1 scenario: 0 passed, 1 failed", "0 scenarios: 0 passed, 0 failed, 1 file invalid"} {
		before, after, found := strings.Cut(out.String(), want)
		if !found {
			t.Errorf("no %q after what was before it:\n%s\n%s", want, before, told.String())
		}
		out.Reset()
		out.WriteString(after)
	}
	if strings.Contains(out.String(), "\x1b") || !strings.Contains(told.String(), `error CALL004 function "f": the argument "id" is missing`) {
		t.Errorf("%s", told.String())
	}
}
