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

// writerFunc lets a test act when something is written.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestInterrupt ends the context, as Ctrl-C does, once the workflow is under way.
func TestInterrupt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wait.yaml")
	definition := `
id: wait
name: Wait
states:
- {name: Begin, type: inject, start: {kind: default}, data: {}, transition: {nextState: Wait}}
- {name: Wait, type: delay, timeDelay: PT1H, end: {kind: default}}
`
	if err := os.WriteFile(file, []byte(definition), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var told bytes.Buffer
	stderr := writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "Begin") {
			cancel()
		}
		return told.Write(p)
	})
	a := &cli.App{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: stderr}
	root := command(a)
	root.SetArgs([]string{"run", file})
	if code := a.Exit(root.ExecuteContext(ctx)); code != cli.ExitInterrupted {
		t.Errorf("exit code %d, want %d; stderr:\n%s", code, cli.ExitInterrupted, told.String())
	}
}

// endless is a stdin on which nobody types. The first read ends the context, as Ctrl-C
// does while the program waits.
type endless struct {
	interrupt func()
	over      <-chan struct{}
}

func (r endless) Read([]byte) (int, error) {
	r.interrupt()
	<-r.over
	return 0, io.EOF
}

func TestInterruptWhileReading(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hello.yaml")
	definition := `
id: hello
name: Hello
states: [{name: Greet, type: inject, start: {kind: default}, data: {}, end: {kind: default}}]
`
	if err := os.WriteFile(file, []byte(definition), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", file, "--input", "-"},
		{"run", file, "--events", "-", "--skip-time"},
		{"fmt", "-"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var told bytes.Buffer
		a := &cli.App{In: endless{cancel, t.Context().Done()}, Out: &bytes.Buffer{}, Err: &told}
		root := command(a)
		root.SetArgs(args)
		if code := a.Exit(root.ExecuteContext(ctx)); code != cli.ExitInterrupted {
			t.Errorf("%q: exit code %d, want %d; stderr:\n%s", args, code, cli.ExitInterrupted, told.String())
		}
	}
}

// TestInterruptWhileAsking ends the context while --step waits for an answer, under the
// real clock.
func TestInterruptWhileAsking(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over := make(chan struct{})
	defer close(over)
	var told bytes.Buffer
	a := &cli.App{In: endless{cancel, over}, Out: &bytes.Buffer{}, Err: &told}
	root := command(a)
	root.SetArgs([]string{"run", "../../examples/hello.yaml", "--step"})
	if code := a.Exit(root.ExecuteContext(ctx)); code != cli.ExitInterrupted {
		t.Errorf("exit code %d, want %d; stderr:\n%s", code, cli.ExitInterrupted, told.String())
	}
}
