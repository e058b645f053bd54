// Package javascript runs one script in a process of its own: this program, started once more. So an endless loop, or
// one that takes all memory, ends with that process, and what it could reach in memory is nothing but the script.
//
// A script has the language itself as the engine goja knows it (ES2015 and much of what came after; no modules apart from
// the imports below, no await outside of async functions), and of Node.js console, process (argv, env, exit, exitCode,
// stdin.fd, stdout.write, stderr.write) and readFileSync of fs for stdin, by require or by an import at its beginning.
package javascript

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/dop251/goja"
)

// Argument is the first argument of a process that runs a script. The others are the bytes of memory it may use, a file
// with an object whose members are variables ("": none), the file of the script, and its arguments.
const Argument = "lockstep:javascript"

// maxCalls is how many functions may call one another.
const maxCalls = 10_000

var enabled atomic.Bool

// Enabled reports whether Main was called: then this program, started once more, runs scripts.
func Enabled() bool { return enabled.Load() }

// Main runs a script and ends the process, if it was started to do that. Else it returns.
func Main() {
	enabled.Store(true)
	if len(os.Args) < 5 || os.Args[1] != Argument {
		return
	}
	if memory, err := strconv.ParseInt(os.Args[2], 10, 64); err == nil {
		limitMemory(memory)
	}
	os.Exit(run(os.Args[3], os.Args[4], os.Args[5:]))
}

// script is a script that runs.
type script struct {
	vm        *goja.Runtime
	out, err  *bufio.Writer
	process   *goja.Object
	stringify goja.Callable          // JSON.stringify as it was before the script could change it
	rejected  map[*goja.Promise]bool // and nothing takes what they were rejected with
}

func run(variables, file string, args []string) (code int) {
	s := &script{
		vm: goja.New(), out: bufio.NewWriterSize(os.Stdout, 1<<16), err: bufio.NewWriter(os.Stderr),
		rejected: map[*goja.Promise]bool{},
	}
	defer s.flush()
	text, err := os.ReadFile(file)
	if err == nil {
		err = s.prepare(variables, file, args)
	}
	if err == nil {
		_, err = s.vm.RunScript("script.js", imports(string(text)))
	}
	// What is shown, and the exit code, may be the script's own objects, whose functions may throw again.
	if thrown := s.vm.Try(func() { code = s.end(err) }); thrown != nil {
		fmt.Fprintln(s.err, "Uncaught exception, which cannot be shown")
		return 1
	}
	return code
}

// end is the exit code of a script that ended with an error, if not nil.
func (s *script) end(err error) int {
	for p := range s.rejected {
		if err == nil {
			err = errors.New(s.show(p.Result()))
		}
	}
	if err != nil {
		fmt.Fprintln(s.err, "Uncaught", explain(err))
		return 1
	}
	if code := s.process.Get("exitCode"); code != nil && !goja.IsUndefined(code) {
		return int(code.ToInteger())
	}
	return 0
}

func (s *script) flush() {
	_ = s.out.Flush()
	_ = s.err.Flush()
}

// explain is an exception with its stack.
func explain(err error) string {
	var thrown *goja.Exception
	var deep *goja.StackOverflowError
	switch {
	case errors.As(err, &deep): // scripts cannot catch it
		return "RangeError: maximum call stack size exceeded"
	case errors.As(err, &thrown):
		return strings.TrimRight(thrown.String(), "\n")
	}
	return err.Error()
}

// prepare gives the script what is there beside the language.
func (s *script) prepare(variables, file string, args []string) error {
	s.vm.SetMaxCallStackSize(maxCalls)
	s.vm.SetPromiseRejectionTracker(func(p *goja.Promise, operation goja.PromiseRejectionOperation) {
		if operation == goja.PromiseRejectionReject {
			s.rejected[p] = true
		} else {
			delete(s.rejected, p)
		}
	})
	env := s.vm.NewObject()
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if err := env.Set(name, value); err != nil {
			return err
		}
	}
	argv := []any{"lockstep", file}
	for _, a := range args {
		argv = append(argv, a)
	}
	s.stringify, _ = goja.AssertFunction(s.vm.Get("JSON").ToObject(s.vm).Get("stringify"))
	s.process = s.vm.NewObject()
	log, complain := s.printer(s.out), s.printer(s.err)
	fs := s.object(member{"readFileSync", s.readFile})
	modules := map[string]*goja.Object{"fs": fs, "process": s.process}
	for _, m := range []member{
		{"argv", s.vm.NewArray(argv...)},
		{"env", env},
		{"exit", s.exit},
		{"stdin", s.object(member{"fd", 0})},
		{"stdout", s.object(member{"write", s.writer(s.out)})},
		{"stderr", s.object(member{"write", s.writer(s.err)})},
	} {
		if err := s.process.Set(m.name, m.value); err != nil {
			return err
		}
	}
	globals := []member{
		{"process", s.process},
		{"console", s.object(member{"log", log}, member{"info", log}, member{"debug", log}, member{"error", complain}, member{"warn", complain})},
		{"require", func(call goja.FunctionCall) goja.Value {
			name := strings.TrimPrefix(call.Argument(0).String(), "node:")
			if m := modules[name]; m != nil {
				return m
			}
			panic(s.vm.NewGoError(fmt.Errorf("there is no module %q: scripts have fs, for readFileSync of stdin, and process", name)))
		}},
	}
	for _, g := range globals {
		if err := s.vm.Set(g.name, g.value); err != nil {
			return err
		}
	}
	return s.define(variables)
}

// member is a property of an object.
type member struct {
	name  string
	value any
}

func (s *script) object(members ...member) *goja.Object {
	o := s.vm.NewObject()
	for _, m := range members {
		_ = o.Set(m.name, m.value) // fails on objects only that refuse it
	}
	return o
}

// define makes the members of an object in a file variables.
func (s *script) define(file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	parse, _ := goja.AssertFunction(s.vm.Get("JSON").ToObject(s.vm).Get("parse"))
	v, err := parse(goja.Undefined(), s.vm.ToValue(string(text)))
	if err != nil {
		return err
	}
	o := v.ToObject(s.vm)
	for _, name := range o.Keys() {
		if err := s.vm.Set(name, o.Get(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) exit(call goja.FunctionCall) goja.Value {
	code := call.Argument(0)
	if goja.IsUndefined(code) {
		code = s.process.Get("exitCode")
	}
	s.flush()
	if code == nil || goja.IsUndefined(code) {
		os.Exit(0)
	}
	os.Exit(int(code.ToInteger()))
	return nil
}

// printer is console.log: texts as they are, other values as JSON.
func (s *script) printer(w io.Writer) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		parts := make([]string, len(call.Arguments))
		for i, v := range call.Arguments {
			parts[i] = s.show(v)
		}
		s.write(w, strings.Join(parts, " ")+"\n")
		return goja.Undefined()
	}
}

// writer is process.stdout.write.
func (s *script) writer(w io.Writer) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		s.write(w, call.Argument(0).String())
		return s.vm.ToValue(true)
	}
}

func (s *script) write(w io.Writer, text string) {
	if _, err := io.WriteString(w, text); err != nil {
		os.Exit(1) // nobody reads it
	}
}

// show is a value as it is written.
func (s *script) show(v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		return v.String()
	}
	if o.ClassName() == "Error" {
		if stack := o.Get("stack"); stack != nil && !goja.IsUndefined(stack) {
			return strings.TrimRight(stack.String(), "\n")
		}
		return v.String()
	}
	if text, err := s.stringify(goja.Undefined(), v); err == nil && !goja.IsUndefined(text) {
		return text.String()
	}
	return v.String()
}

// readFile is readFileSync, for stdin only. It gives a text, whatever encoding is asked for.
func (s *script) readFile(call goja.FunctionCall) goja.Value {
	if file := call.Argument(0).String(); file != "0" && file != "/dev/stdin" {
		panic(s.vm.NewGoError(fmt.Errorf("%s cannot be read: readFileSync is for stdin only, 0 or /dev/stdin", file)))
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(s.vm.NewGoError(err))
	}
	return s.vm.ToValue(string(text))
}
