package main

import (
	"bytes"
	"context"
	"io"
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

// TestWatchedLists: job ls, schedule ls and node ls go on with what changes.
func TestWatchedLists(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nightly.yaml": "document: {dsl: 1.0.0, namespace: default, name: nightly, version: 1.0.0}\nschedule: {cron: 0 4 * * *}\ndo: [done: {set: {ok: true}}]\n",
		"board.yaml":   "name: board\nstates: [{name: NEW}, {name: DOING}]\ntransitions: [{from: NEW, to: DOING, eligible: CLIENT}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server, err := launch(dir, os.Environ(), "serve", "--north", "127.0.0.1:0", "--store", "memory:", "--node-name", "alone")
	if err != nil {
		t.Fatal(err)
	}
	defer server.kill()
	lockstep := func(ctx context.Context, out io.Writer, args ...string) (string, int) {
		var told bytes.Buffer
		a := &cli.App{In: strings.NewReader(""), Out: out, Err: &told}
		root := command(a)
		root.SetArgs(append(args, "--url", server.url))
		code := a.Exit(root.ExecuteContext(ctx))
		return told.String(), code
	}
	for _, args := range [][]string{{"def", "apply", dir}, {"job", "create", "--workflow", "board", "--client-id", "dana"}} {
		if told, code := lockstep(t.Context(), io.Discard, args...); code != 0 {
			t.Fatalf("%v: %s", args, told)
		}
	}
	for _, c := range []struct {
		list   string
		change []string // nil: nothing of it changes
		first  string
		second string
	}{
		{"schedule ls -w -o jsonl", []string{"schedule", "pause", "nightly"}, `"state":"active"`, `"state":"paused"`},
		{"job ls -w -o jsonl --workflow board", []string{"job", "create", "--workflow", "board", "--client-id", "robin"}, `"clientId":"dana"`, `"clientId":"robin"`},
		{"node ls -w", nil, "alone", ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var lines []string
		out := writerFunc(func(p []byte) (int, error) {
			lines = append(lines, string(p))
			if len(lines) == 1 && c.change != nil {
				if told, code := lockstep(t.Context(), io.Discard, c.change...); code != 0 {
					t.Errorf("%v: %s", c.change, told)
				}
			} else {
				cancel()
			}
			return len(p), nil
		})
		told, code := lockstep(ctx, out, strings.Fields(c.list)...)
		cancel()
		if code != cli.ExitInterrupted {
			t.Errorf("%s: exit code %d, want %d: %s", c.list, code, cli.ExitInterrupted, told)
		}
		if c.change != nil && len(lines) != 2 || !strings.Contains(lines[0], c.first) || !strings.Contains(lines[len(lines)-1], c.second) {
			t.Errorf("%s wrote %q", c.list, lines)
		}
	}
}
