package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Exit codes. The table in docs/cli.md says what each of them means, and which answers of a server.
const (
	ExitOK          = 0
	ExitError       = 1
	ExitUsage       = 2
	ExitInvalid     = 3 // a definition, a scenario file or an input; also one that is too large
	ExitAuth        = 4
	ExitNotFound    = 5 // also a file that does not exist, and a folder without what is looked for
	ExitConflict    = 6 // what is there does not allow it: a taken id, other content, the status of an instance
	ExitUnreachable = 7 // the server; or it is too busy, or the outcome is unknown
	ExitFailed      = 10
	ExitCancelled   = 11 // or terminated
	ExitTimeout     = 12 // or it waits for something that cannot happen any more
	ExitInterrupted = 130
)

// Failure is an error with everything that people and programs need to know.
type Failure struct {
	Exit   int
	Code   string // stable, for programs
	Title  string
	Detail string
	More   []string // further lines for people
	Hint   string
	Errors []ProblemError
	Extra  map[string]any // further members of the problem object
	Shown  bool           // already reported: only the exit code is left
	Cause  error
}

// ProblemError is one error in a document, with the value at its pointer.
type ProblemError struct {
	api.ProblemDetail
	Value expr.Value `json:"value,omitzero"`
	Cut   bool       `json:"cut,omitempty"` // the value is too large: this is the beginning of its text
}

func (f *Failure) Error() string { return f.Detail }

func (f *Failure) Unwrap() error { return f.Cause }

// Usagef is a mistake in the command line.
func Usagef(format string, args ...any) *Failure {
	return &Failure{Exit: ExitUsage, Code: "usage", Title: "Wrong usage", Detail: fmt.Sprintf(format, args...)}
}

// Invalidf is a mistake in what a command reads.
func Invalidf(format string, args ...any) *Failure {
	return &Failure{Exit: ExitInvalid, Code: "invalid-input", Title: "Invalid input", Detail: fmt.Sprintf(format, args...)}
}

// NotFoundf is the failure for something that does not exist.
func NotFoundf(format string, args ...any) *Failure {
	return &Failure{Exit: ExitNotFound, Code: "not-found", Title: "Not found", Detail: fmt.Sprintf(format, args...)}
}

// WithHint adds what to do about it.
func (f *Failure) WithHint(hint string) *Failure {
	f.Hint = hint
	return f
}

// WithExamples points to the help of a command.
func (f *Failure) WithExamples(cmd *cobra.Command) *Failure {
	return f.WithHint(fmt.Sprintf("%q shows examples", cmd.CommandPath()+" --help"))
}

// Near suggests a similar name, if there is one.
func (f *Failure) Near(word string, names []string) *Failure {
	if near := dialect.Suggest(word, names); near != "" {
		f.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return f
}

// Shown is an exit code without a message: everything was reported already.
func Shown(exit int) error { return &Failure{Exit: exit, Shown: true} }

// InvalidDefinition is a document with errors in it.
func InvalidDefinition(ds dialect.Diagnostics) *Failure {
	errors, warnings := ds.Counts()
	f := &Failure{
		Exit: ExitInvalid, Code: "invalid-definition", Title: "Invalid definition",
		Detail: Tally(errors, warnings), Cause: ds,
	}
	for _, d := range ds {
		f.Errors = append(f.Errors, ProblemError{ProblemDetail: api.ProblemDetail{
			File: d.File, Line: d.Line, Column: d.Column, Code: d.Code, Message: d.Message, Hint: d.Hint,
		}})
	}
	return f
}

// Tally is the number of errors and warnings in words.
func Tally(errors, warnings int) string {
	return fmt.Sprintf("%s, %s", Plural(errors, "error"), Plural(warnings, "warning"))
}

// AsFailure is the failure for any error, with its exit code.
func AsFailure(err error) *Failure {
	var f *Failure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, fs.ErrNotExist):
		return NotFoundf("%v", err)
	case errors.Is(err, dialect.ErrNotFile):
		return Invalidf("%v", err)
	case errors.Is(err, context.Canceled):
		return &Failure{Exit: ExitInterrupted, Code: "interrupted", Title: "Interrupted", Detail: "interrupted"}
	}
	return &Failure{Exit: ExitError, Code: "error", Title: "Error", Detail: err.Error()}
}

// Exit reports an error on stderr and returns the exit code.
func (a *App) Exit(err error) int {
	if err == nil {
		return ExitOK
	}
	f := AsFailure(err)
	switch {
	case f.Shown:
	case a.Problems:
		a.problem(f)
	default:
		fmt.Fprintf(a.Stderr(), "error: %s\n", Plain(f.Detail))
		for _, line := range f.More {
			fmt.Fprintf(a.Stderr(), "  %s\n", Plain(line))
		}
		if f.Hint != "" {
			fmt.Fprintf(a.Stderr(), "hint: %s\n", Plain(f.Hint))
		}
	}
	return f.Exit
}

// problem writes an error as one object after RFC 9457.
func (a *App) problem(f *Failure) {
	body := map[string]any{"type": "about:blank", "title": f.Title, "detail": f.Detail, "code": f.Code, "exit": f.Exit}
	if f.Hint != "" {
		body["hint"] = f.Hint
	}
	if len(f.Errors) > 0 {
		body["errors"] = f.Errors
	}
	for key, value := range f.Extra {
		body[key] = value
	}
	enc := json.NewEncoder(a.Stderr())
	enc.SetEscapeHTML(false)
	// If stderr cannot be written there is no way to report it.
	_ = enc.Encode(body)
}

// WantsJSON finds -o json in arguments that may be invalid, so that a program that asked for JSON also gets
// usage errors as JSON.
func WantsJSON(args []string) bool {
	for i, arg := range args {
		switch {
		case arg == "--":
			return false
		case arg == "-o" || arg == "--output":
			if i+1 < len(args) && args[i+1] == "json" {
				return true
			}
		case strings.TrimPrefix(arg, "--output=") == "json" && arg != "json",
			strings.TrimPrefix(strings.TrimPrefix(arg, "-o"), "=") == "json" && strings.HasPrefix(arg, "-o"):
			return true
		}
	}
	return false
}

// signalled is the cancellation of a context by a signal.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return s.Signal.String() }

// Is makes it match context.Canceled.
func (signalled) Is(target error) bool { return target == context.Canceled }

// Interruptible is a context that a signal cancels. A second signal ends the program at once.
func Interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signals = append(signals, syscall.SIGHUP)
	}
	got := make(chan os.Signal, 1)
	signal.Notify(got, signals...)
	go func() {
		for {
			select {
			case s := <-got:
				number, _ := s.(syscall.Signal)
				if number == syscall.SIGHUP && reloads.Load() {
					continue
				}
				signal.Stop(got)
				cancel(signalled{number})
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(nil)
	}
}

// reloads says that SIGHUP reloads settings; otherwise it ends the program, as when its terminal closes.
var reloads atomic.Bool

// Hangups receives a value for each SIGHUP, which no longer ends the program until stop is called. Signals that
// come while one waits are one. Windows sends none.
func Hangups() (got <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	reloads.Store(true)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() {
		signal.Stop(c)
		reloads.Store(false)
	}
}

// BySignal gives an error that a signal caused the exit code of shells: 128 plus the signal's number.
func BySignal(ctx context.Context, err error) error {
	var by signalled
	if err == nil || !errors.As(context.Cause(ctx), &by) {
		return err
	}
	f := AsFailure(err)
	if f.Exit == ExitInterrupted {
		f.Exit = 128 + int(by.Signal)
	}
	return f
}
