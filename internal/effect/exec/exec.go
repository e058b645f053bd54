package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Limits of a command.
const (
	MaxOutput      = 4 << 20          // exec-output-bytes
	DefaultTimeout = 30 * time.Second // exec-timeout, where the command has none of its own
	maxErrors      = 4 << 10          // how much of stderr is kept: its end
)

// Command is what to run. Nothing in it is interpreted: each argument reaches the
// program as it is.
type Command struct {
	Argv    []string // the program first
	Env     []string // NAME=value: all there is
	Dir     string
	Stdin   []byte
	Timeout time.Duration
	Named   string // what the timeout is, for messages; "": the function's timeout
	Whole   bool   // stderr is part of the result: it is kept whole, within exec-output-bytes
	Limits  Limits // of each process
	// Mark is an entry of Env that no other process has. Processes that have left the group of the command
	// are known by it, and end with it. Linux only.
	Mark string
}

// Limits are those of each process of a command. They need /bin/sh; Memory works on Linux only.
type Limits struct {
	Memory int64 // bytes of heap, stack and anonymous memory; 0: no limit
	File   int64 // bytes of a file that it writes; 0: no limit
}

// Trace is a W3C trace context as the entries of Env by which programs find it; an empty text: none.
func Trace(traceparent, tracestate string) []string {
	switch {
	case traceparent == "":
		return nil
	case tracestate == "":
		return []string{"TRACEPARENT=" + traceparent}
	}
	return []string{"TRACEPARENT=" + traceparent, "TRACESTATE=" + tracestate}
}

// Path is what every program needs of the environment of this process, as entries of Env. Where one name has several,
// the last counts.
func Path() []string {
	var out []string
	for _, name := range []string{"PATH", "SYSTEMROOT"} { // without the second one nothing runs on Windows
		if value, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// Result is how it ended.
type Result struct {
	Code   int    // exit code
	Signal string // that killed it, such as SIGKILL; Code is then -1
	Stdout []byte
	Stderr string // the end of it, unless it is Whole
	Cut    bool   // there was more
}

// Errors of Run.
var (
	ErrTimeout = errors.New("the command took too long")
	ErrOutput  = fmt.Errorf("the command wrote more than %d bytes (limit exec-output-bytes)", MaxOutput)
)

// Run runs a command to its end; what it started and left behind ends with it. The error says why there is no result; a command that
// exits with another code than 0 has one.
func Run(ctx context.Context, c Command) (Result, error) {
	if c.Named == "" {
		c.Named = "the function's timeout"
	}
	if c.Timeout == 0 {
		c.Timeout, c.Named = DefaultTimeout, "limit exec-timeout"
	}
	path := c.Argv[0]
	if filepath.Base(path) == path { // others are relative to Dir
		found, err := exec.LookPath(path)
		if err != nil {
			return Result{}, startError(c, err)
		}
		path = found
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	stdout, whole := limitedBuffer{full: cancel}, limitedBuffer{full: cancel}
	var end tail
	argv := c.Limits.wrap(append([]string{path}, c.Argv[1:]...))
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be ours
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Stdin), &stdout, &end
	if c.Whole {
		cmd.Stderr = &whole
	}
	cmd.WaitDelay = time.Second // for what it left behind with our pipes open
	g := newGroup()
	g.add(cmd)
	err := cmd.Run()
	g.end(cmd)
	endMarked(c.Mark)
	var exit *exec.ExitError
	switch {
	case stdout.over || whole.over:
		return Result{}, ErrOutput
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case limited.Err() != nil:
		return Result{}, fmt.Errorf("%w: more than %v (%s)", ErrTimeout, c.Timeout, c.Named)
	case errors.As(err, &exit):
	case errors.Is(err, exec.ErrWaitDelay):
	case err != nil:
		return Result{}, startError(c, err)
	}
	r := Result{cmd.ProcessState.ExitCode(), signalOf(cmd.ProcessState), stdout.text.Bytes(), end.String(), end.cut}
	if c.Whole {
		r.Stderr = whole.text.String()
	}
	return r, nil
}

// startError names a directory that is missing, for which the system blames the program.
func startError(c Command, err error) error {
	if c.Dir == "" {
		return err
	}
	switch info, bad := os.Stat(c.Dir); {
	case errors.Is(bad, fs.ErrNotExist):
		return fmt.Errorf("the directory %q, in which the command runs, is missing", c.Dir)
	case bad == nil && !info.IsDir():
		return fmt.Errorf("%q, in which the command runs, is not a directory", c.Dir)
	}
	return err
}

// limitedBuffer keeps what fits, and stops the command that writes more. The buffer is
// not embedded: its ReadFrom would go around the limit.
type limitedBuffer struct {
	text bytes.Buffer
	over bool
	full func()
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > MaxOutput {
		b.over = true
		b.full()
		return 0, ErrOutput
	}
	return b.text.Write(p)
}

// tail keeps the end of what is written.
type tail struct {
	text []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - maxErrors; extra > 0 {
		t.text, t.cut = append(t.text[:0], t.text[extra:]...), true
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.text) }
