package run

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// writeFiles writes files of a test, given as name and text by turns, and returns their
// paths.
func writeFiles(t *testing.T, pairs ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := 0; i < len(pairs); i += 2 {
		paths = append(paths, filepath.Join(dir, pairs[i]))
		if err := os.WriteFile(paths[i/2], []byte(pairs[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// terminating starts two workflows of which the first, when it ends, ends the other.
var terminating = []string{
	"both.yaml", `
id: both
name: Both
states:
- name: Both
  type: parallel
  start: {kind: default}
  branches: [{name: a, workflowId: first}, {name: b, workflowId: second}]
  end: {kind: default}
`, "first.yaml", `
id: first
name: First
states: [{name: A1, type: delay, start: {kind: default}, timeDelay: PT0S, end: {kind: terminate}}]
`, "second.yaml", `
id: second
name: Second
states:
- {name: B1, type: inject, start: {kind: default}, data: {}, transition: {nextState: B2}}
- {name: B2, type: inject, data: {}, end: {kind: default}}
`,
}

var prompted = regexp.MustCompile(`→ (\S+)`)

// person answers the questions of --step: each state with what answer says, "" with
// nothing at all.
type person struct {
	io.Reader
	mu     sync.Mutex
	told   bytes.Buffer
	answer func(state string) string
	types  io.Writer
}

func newPerson(answer func(string) string) *person {
	r, w := io.Pipe()
	return &person{Reader: r, answer: answer, types: w}
}

func (p *person) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := prompted.FindSubmatch(text); m != nil {
		if line := p.answer(string(m[1])); line != "" {
			go io.WriteString(p.types, line)
		}
	}
	return p.told.Write(text)
}

func (p *person) run(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var stdout bytes.Buffer
	a := &cli.App{In: p, Out: &stdout, Err: p}
	root := a.Root(Command(a))
	root.SetArgs(append([]string{"run"}, args...))
	return a.Exit(root.ExecuteContext(t.Context())), stdout.String()
}

// TestStepOutlivesACancelledSubflow: nobody answers for the second workflow, which the
// first one ends.
func TestStepOutlivesACancelledSubflow(t *testing.T) {
	ended := false
	p := newPerson(func(state string) string {
		if state == "A1" {
			ended = true
		}
		if ended && state != "A1" {
			return ""
		}
		return "\n"
	})
	code, out := p.run(t, append(writeFiles(t, terminating...), "--step", "--timeout", "1m")...)
	if code != cli.ExitOK || out != "{}\n" {
		t.Errorf("exit code %d, output %q", code, out)
	}
	if !regexp.MustCompile(`(?m)^! B\d was cancelled meanwhile$`).MatchString(p.told.String()) {
		t.Errorf("it is not told that the question is void:\n%s", p.told.String())
	}
}

// TestStepAnswersTooLate: the answer comes when the instance is over.
func TestStepAnswersTooLate(t *testing.T) {
	var told bytes.Buffer
	a := &cli.App{In: strings.NewReader(""), Out: io.Discard, Err: &told}
	s, err := newSession(a, t.Context(), writeFiles(t, terminating...), runFlags{skipTime: true, step: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.asking = t.Context()
	if _, err := s.engine.Start(t.Context(), engine.StartRequest{Definition: "second"}); err != nil {
		t.Fatal(err)
	}
	at, ok := s.nextStop()
	if !ok {
		t.Fatal("it does not stop")
	}
	if err := s.engine.Control(t.Context(), at.instance, core.Control{Verb: core.VerbCancel}); err != nil {
		t.Fatal(err)
	}
	var gone *goneError
	if err := s.resume(t.Context(), at); !errors.As(err, &gone) || gone.status != core.Cancelled {
		t.Errorf("resumed: %v", err)
	}
	if err := s.quit(t.Context()); err != nil {
		t.Errorf("cancelled again: %v", err)
	}
}

// TestStepIgnoresAnAnswerThatIsTooLong: the run went on by itself.
func TestStepIgnoresAnAnswerThatIsTooLong(t *testing.T) {
	long := strings.Repeat("x", 100)
	r := bufio.NewReaderSize(strings.NewReader("one\n"+long+"\ntwo\n"+long), 16)
	for _, want := range []typed{{"one\n", nil}, {"", errLongAnswer}, {"two\n", nil}, {"", errLongAnswer}, {"", io.EOF}} {
		if text, err := readAnswer(r, 50); text != want.text || !errors.Is(err, want.err) {
			t.Errorf("got %q, %v; want %q, %v", text, err, want.text, want.err)
		}
	}
	answers := []string{"= {\"a\": \"" + strings.Repeat("x", 5<<20) + "\"}\n", "q\n"}
	var told bytes.Buffer
	a := &cli.App{In: strings.NewReader(strings.Join(answers, "")), Out: io.Discard, Err: &told}
	root := a.Root(Command(a))
	root.SetArgs([]string{"run", "../../../examples/hello.yaml", "--step", "--skip-time"})
	if code := a.Exit(root.ExecuteContext(t.Context())); code != cli.ExitCancelled || !strings.Contains(told.String(), "(limit document-bytes)") {
		t.Errorf("exit code %d; stderr:\n%s", code, told.String())
	}
}
