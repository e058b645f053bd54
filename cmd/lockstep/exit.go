package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Exit codes.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitInvalid     = 3 // a definition, a scenario file or an input
	exitNotFound    = 5 // also a file that does not exist
	exitConflict    = 6 // the schedule does not allow it now
	exitFailed      = 10
	exitCancelled   = 11 // or terminated
	exitTimeout     = 12 // also: it waits for something that can no longer come
	exitInterrupted = 130
)

// failure is an error with everything a person or a program needs of it.
type failure struct {
	exit   int
	code   string // stable, for programs
	title  string
	detail string
	more   []string // further lines for people
	hint   string
	errors []problemError
	extra  map[string]any // further members of the problem object
	shown  bool           // it is told already: only the exit code is left
	cause  error
}

// problemError is one of several things wrong in a document (RFC 9457 extension).
type problemError struct {
	Pointer string `json:"pointer,omitempty"` // into data

	Value   expr.Value `json:"value,omitzero"` // what is there
	Cut     bool       `json:"cut,omitempty"`  // it is too large, and the beginning of its text
	File    string     `json:"file,omitempty"`
	Line    int        `json:"line,omitempty"`
	Column  int        `json:"column,omitempty"`
	Code    string     `json:"code,omitempty"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
}

func (f *failure) Error() string { return f.detail }
func (f *failure) Unwrap() error { return f.cause }

func usagef(format string, args ...any) *failure {
	return &failure{exit: exitUsage, code: "usage", title: "Wrong usage", detail: fmt.Sprintf(format, args...)}
}

func invalidf(format string, args ...any) *failure {
	return &failure{exit: exitInvalid, code: "invalid-input", title: "Invalid input", detail: fmt.Sprintf(format, args...)}
}

// shown ends with a code after everything was told.
func shown(exit int) error { return &failure{exit: exit, shown: true} }

// invalidDefinition is a document with errors in it.
func invalidDefinition(ds dialect.Diagnostics) *failure {
	errors, warnings := ds.Counts()
	f := &failure{
		exit: exitInvalid, code: "invalid-definition", title: "Invalid definition",
		detail: tally(errors, warnings), cause: ds,
	}
	for _, d := range ds {
		f.errors = append(f.errors, problemError{File: d.File, Line: d.Line, Column: d.Column, Code: d.Code, Message: d.Message, Hint: d.Hint})
	}
	return f
}

func tally(errors, warnings int) string {
	return fmt.Sprintf("%s, %s", plural(errors, "error"), plural(warnings, "warning"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// asFailure finds the exit code of an error of any kind.
func asFailure(err error) *failure {
	var f *failure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, fs.ErrNotExist):
		return &failure{exit: exitNotFound, code: "not-found", title: "Not found", detail: err.Error()}
	case errors.Is(err, dialect.ErrNotFile):
		return invalidf("%v", err)
	case errors.Is(err, context.Canceled):
		return &failure{exit: exitInterrupted, code: "interrupted", title: "Interrupted", detail: "interrupted"}
	}
	return &failure{exit: exitError, code: "error", title: "Error", detail: err.Error()}
}

// exit tells an error on stderr and returns the code to exit with.
func (a *app) exit(err error) int {
	if err == nil {
		return exitOK
	}
	f := asFailure(err)
	switch {
	case f.shown:
	case a.problems:
		a.problem(f)
	default:
		fmt.Fprintf(a.err, "error: %s\n", plain(f.detail))
		for _, line := range f.more {
			fmt.Fprintf(a.err, "  %s\n", plain(line))
		}
		if f.hint != "" {
			fmt.Fprintf(a.err, "hint: %s\n", plain(f.hint))
		}
	}
	return f.exit
}

// problem writes an error as one object after RFC 9457.
func (a *app) problem(f *failure) {
	body := map[string]any{"type": "about:blank", "title": f.title, "detail": f.detail, "code": f.code, "exit": f.exit}
	if f.hint != "" {
		body["hint"] = f.hint
	}
	if len(f.errors) > 0 {
		body["errors"] = f.errors
	}
	for key, value := range f.extra {
		body[key] = value
	}
	enc := json.NewEncoder(a.err)
	enc.SetEscapeHTML(false)
	// There is nobody left to tell that stderr cannot be written.
	_ = enc.Encode(body)
}

// wantsJSON finds -o json in arguments that may not even parse, so that a program
// that asked for JSON also gets usage errors as JSON.
func wantsJSON(args []string) bool {
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
