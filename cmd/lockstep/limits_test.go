package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// TestSkippedTimeEndsAtALimit runs a loop that waits each time: only skipping time
// makes it run for ever.
func TestSkippedTimeEndsAtALimit(t *testing.T) {
	defaults := scenario.DefaultLimits
	defer func() { scenario.DefaultLimits = defaults }()
	scenario.DefaultLimits.Steps = 100
	file := filepath.Join(t.TempDir(), "loop.yaml")
	definition := `
id: loop
name: Loop
states: [{name: Wait, type: delay, start: {kind: default}, timeDelay: PT1H, transition: {nextState: Wait}}]
`
	if err := os.WriteFile(file, []byte(definition), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := lockstep([]string{"run", file, "--skip-time"}, strings.NewReader(""), &stdout, &stderr)
	if want := "error: more than 100 steps (limit scenario-steps): is this a loop without an end?\n"; code != cli.ExitError || !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("exit code %d, stderr %s", code, stderr.String())
	}
}

func TestLongLineOfEvents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wait.yaml")
	definition := `
id: wait
name: Wait
events: [{name: Go, source: s, type: go}]
states:
- {name: Begin, type: inject, start: {kind: default}, data: {}, transition: {nextState: Hear}}
- {name: Hear, type: event, onEvents: [{eventRefs: [Go], actions: []}], end: {kind: default}}
`
	if err := os.WriteFile(file, []byte(definition), 0o644); err != nil {
		t.Fatal(err)
	}
	lines := "{\"type\":\"other\"}\n" + strings.Repeat("x", dialect.DefaultLimits.Bytes+1)
	for _, flag := range []string{"--skip-time", "--skip-time=false"} {
		var stdout, stderr bytes.Buffer
		code := lockstep([]string{"run", file, "--events", "-", flag}, strings.NewReader(lines), &stdout, &stderr)
		if want := "error: stdin:2: the line has more than 4194304 bytes (limit document-bytes)\n"; code != cli.ExitInvalid || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, stderr %s", flag, code, stderr.String())
		}
	}
}
