package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/exec"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Limits of programs.
const (
	DefaultTimeout = 10 * time.Minute // program-timeout, where the operator gives none
	MaxPrograms    = 32               // programs
	DefaultMemory  = 1 << 30          // program-memory
	maxFile        = 1 << 30          // program-file-bytes
)

// keyVariable holds the idempotency key of the call.
const keyVariable = "LOCKSTEP_IDEMPOTENCY_KEY"

// Options say how programs run.
type Options struct {
	Allow   bool                  // without it all calls fail
	Timeout time.Duration         // of one program; 0: DefaultTimeout
	Memory  int64                 // bytes of each process; 0: DefaultMemory
	Holds   func(expr.Value) bool // reports whether a value has a secret in it; nil: none has
}

// Runner runs programs.
type Runner struct {
	options Options
	places  chan struct{}   // as many as programs may run
	life    context.Context // of programs that nothing waits for
	end     context.CancelFunc
	running sync.WaitGroup
}

// New returns a runner. Close ends what it has started.
func New(o Options) *Runner {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	r := &Runner{options: o, places: make(chan struct{}, MaxPrograms)}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

// Close ends the programs that nothing waits for, and waits until they are gone.
func (r *Runner) Close() {
	r.end()
	r.running.Wait()
}

// kinds read the arguments of each kind of call.
var kinds = map[string]func(*reader, effect.Call) *program{
	"shell": shell, "script": script, "container": container,
}

// Kinds are the kinds of calls that a Runner makes.
func (r *Runner) Kinds() map[string]effect.Invoker {
	out := map[string]effect.Invoker{}
	for kind, read := range kinds {
		out[kind] = effect.Func(func(_ context.Context, c effect.Call) effect.Outcome { return r.call(kind, read, c) })
	}
	return out
}

// program is what a call runs.
type program struct {
	name    string // of the call
	key     string
	await   bool
	returns string
	stdin   []byte
	env     []string
	files   map[string]string // beside the folder in which it runs
	argv    []string
	limits  exec.Limits
	engine  bool                    // it is the client of a container engine, whose processes live on
	problem func(exec.Result) error // why the program itself did not run, if not nil
	before  func(context.Context) error
	after   func(killed bool)
}

func (r *Runner) call(kind string, read func(*reader, effect.Call) *program, c effect.Call) effect.Outcome {
	// Only what is marked was checked when it was deployed, maybe by another server, which does not allow it.
	if b, _ := ir.BuiltinOf(c.Operation); !r.options.Allow || !b.Exec {
		return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: fmt.Sprintf(
			"run %q: it runs a program on the server's machine, which is not allowed here; --allow-exec allows it", c.Function)})
	}
	in := &reader{args: c.Args, kind: kind, holds: r.options.Holds, limits: exec.Limits{Memory: r.options.Memory, File: maxFile}}
	p := read(in, c)
	if in.err != nil {
		return effect.Fail(effect.Failure{Name: effect.Runtime, Code: http.CodeArguments, Detail: fmt.Sprintf("run %q: %v", c.Function, in.err)})
	}
	p.name, p.key, p.await, p.returns = c.Function, c.Key, in.await(), in.text("return")
	return effect.Outcome{Wait: func(ctx context.Context) effect.Outcome { return r.start(ctx, p) }}
}

// start runs a program once there is a place for it.
func (r *Runner) start(ctx context.Context, p *program) effect.Outcome {
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		return effect.Fail(p.failure(ctx.Err()))
	}
	if p.await {
		defer func() { <-r.places }()
		return r.run(ctx, p)
	}
	r.running.Go(func() {
		defer func() { <-r.places }()
		r.run(r.life, p) // nobody is told how it ends
	})
	return effect.Outcome{Value: expr.Null}
}

// run runs a program to its end.
func (r *Runner) run(ctx context.Context, p *program) effect.Outcome {
	folder, err := p.folder()
	if err != nil {
		return effect.Fail(p.failure(err))
	}
	defer remove(filepath.Dir(folder))
	command := exec.Command{
		Argv: p.argv, Env: p.env, Dir: folder, Stdin: p.stdin, Limits: p.limits, Whole: true,
		Timeout: r.options.Timeout, Named: "limit program-timeout",
	}
	if !p.engine {
		command.Mark = "TMPDIR=" + folder
		command.Env = append([]string{command.Mark, keyVariable + "=" + p.key}, command.Env...)
		command.Env = append(exec.Trace(effect.Traceparent(ctx), effect.Tracestate(ctx)), command.Env...)
	}
	if p.before != nil {
		err = p.before(ctx)
	}
	var result exec.Result
	if err == nil {
		result, err = exec.Run(ctx, command)
	}
	if p.after != nil {
		p.after(err != nil)
	}
	if err == nil && p.problem != nil {
		err = p.problem(result)
	}
	if err == nil && result.Signal != "" {
		err = &signalled{result.Signal, lastLine(result.Stderr)}
	}
	if err != nil {
		return effect.Fail(p.failure(err))
	}
	return effect.Outcome{Value: p.result(result)}
}

// folder makes the folder in which a program runs, which is empty, and writes its files beside it.
func (p *program) folder() (string, error) {
	base, err := os.MkdirTemp("", "lockstep-")
	if err != nil {
		return "", err
	}
	folder := filepath.Join(base, "work")
	err = os.Mkdir(folder, 0o700)
	for name, text := range p.files {
		err = errors.Join(err, os.WriteFile(filepath.Join(base, name), []byte(text), 0o600))
	}
	if err != nil {
		_ = os.RemoveAll(base)
	}
	return folder, err
}

// remove removes a folder, also where a program took away the right to read or change folders in it.
func remove(folder string) {
	if os.RemoveAll(folder) == nil {
		return
	}
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() { // no link to one
			_ = os.Chmod(path, 0o700) // before it is read
		}
		return nil
	})
	_ = os.RemoveAll(folder)
}

// result is what a task returns (Open Workflow §Run).
func (p *program) result(r exec.Result) expr.Value {
	code, stdout, stderr := expr.Int(int64(r.Code)), verbatim(string(r.Stdout)), verbatim(r.Stderr)
	switch p.returns {
	case "stderr":
		return stderr
	case "code":
		return code
	case "all":
		return expr.Object(expr.Member{Key: "code", Value: code}, expr.Member{Key: "stdout", Value: stdout}, expr.Member{Key: "stderr", Value: stderr})
	case "none":
		return expr.Null
	}
	return stdout
}

// verbatim is what a program wrote. A value has no bytes that are not text.
func verbatim(text string) expr.Value { return expr.String(strings.ToValidUTF8(text, "\ufffd")) }

// signalled is a program that was killed.
type signalled struct{ signal, last string }

func (s *signalled) Error() string {
	text := "the program was killed by signal " + s.signal
	switch {
	case s.signal == "SIGXFSZ":
		text += fmt.Sprintf(": it wrote a file of more than %d bytes (limit program-file-bytes)", maxFile)
	case s.last != "":
		text += ": " + s.last
	}
	return text
}

// failure says why a program has no result.
func (p *program) failure(err error) effect.Failure {
	f := effect.Failure{Name: effect.Runtime, Code: "command", Detail: fmt.Sprintf("run %q: %v", p.name, err)}
	var killed *signalled
	switch {
	case errors.As(err, &killed):
		f.Code = killed.signal
	case errors.Is(err, exec.ErrTimeout):
		f.Name, f.Code = effect.Timeout, ""
	case errors.Is(err, exec.ErrOutput):
		f.Code = http.CodeTooLarge
	case errors.Is(err, context.Canceled):
		f.Code = http.CodeCancelled
	}
	return f
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
