package catalogue

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/exec"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// command is a function that runs a program.
type command struct {
	argv    []argument
	env     []named
	stdin   bool
	dir     string
	timeout time.Duration
}

// keyVariable holds the idempotency key of the call, for the command.
const keyVariable = "LOCKSTEP_IDEMPOTENCY_KEY"

// argument is constant, or one that data gives as a whole.
type argument struct {
	text    string
	program expr.Program
	free    bool // a "--" stands before it: it may begin with -
}

var shells = []string{"sh", "bash", "rbash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh", "busybox", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh", "pwsh.exe"}

// interpreted reports whether what comes next in a command would be taken as a
// program: a shell stands before it, also behind env or nice, or a -c or -e.
func interpreted(before []*dialect.Node) bool {
	for _, item := range before {
		if slices.Contains(shells, strings.ToLower(filepath.Base(item.Text))) {
			return true
		}
	}
	last := before[len(before)-1].Text
	if slices.Contains([]string{"-c", "-e", "-S", "--eval", "--command", "-Command", "--execute", "--split-string"}, last) {
		return true
	}
	// Flags may be written together: python -Ic, perl -ne.
	together := len(last) > 2 && last[0] == '-' && last[1] != '-' && strings.ContainsAny(last[len(last)-1:], "ceES")
	return together && slices.ContainsFunc(before, func(item *dialect.Node) bool { return interpreters.MatchString(filepath.Base(item.Text)) })
}

// interpreters take a program as the argument of a flag.
var interpreters = regexp.MustCompile(`(?i)^(env|python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|osascript|Rscript|raku|guile|julia|groovy)[0-9.]*(\.exe)?$`)

func (r *reader) exec(n *dialect.Node) entry {
	if !r.options.AllowExec {
		r.Errorf(n.KeySpan(), codeNoExec, "commands are not allowed here").WithHint("allow them with --allow-exec, if you trust this file")
	}
	f := r.Fields(n, "exec")
	if f == nil {
		return nil
	}
	c := &command{stdin: true, dir: r.options.Dir}
	r.argv(f.Need("command"), c)
	if env := f.Typed("env", expr.KindObject); env != nil {
		c.env = r.environment(env)
	}
	if stdin := r.constant(f, "stdin"); stdin != nil {
		c.stdin = r.OneOf(stdin, "stdin", false, "json", "none") == "json"
	}
	c.timeout = r.timeout(f)
	if dir := r.constant(f, "directory"); dir != nil {
		if !filepath.IsLocal(dir.Text) {
			r.Errorf(dir, codeValue, "directory must be below the catalogue's folder, not %q", dir.Text)
		}
		c.dir = filepath.Join(r.options.Dir, dir.Text)
	}
	f.Done()
	return c
}

// environment reads the environment variables of a command.
func (r *reader) environment(env *dialect.Node) []named {
	var out []named
	for _, m := range env.Members {
		switch {
		case m.Name() == "" || strings.ContainsAny(m.Name(), "=\x00"):
			r.Errorf(m.KeySpan(), codeValue, "%q is not the name of an environment variable", m.Name())
		case m.Name() == keyVariable:
			r.Errorf(m.KeySpan(), codeValue, "%s is set by Lockstep, for each call", keyVariable)
		case !r.Is(m, expr.KindString, "an environment variable"):
		case strings.Contains(m.Text, "{{"):
			r.Errorf(m, codeCommand, "the environment of a command must not come from data").WithHint("the command gets its arguments as JSON on stdin")
		default:
			out = append(out, named{name: m.Name(), value: r.template(m)})
		}
	}
	return out
}

// argv reads a command: the program and its arguments.
func (r *reader) argv(list *dialect.Node, c *command) {
	switch {
	case list == nil:
		return
	case list.Is(expr.KindString):
		r.Expected(list, "command", "an array: the program, then each argument").
			WithHint("write [%s]", strings.Join(strings.Fields(list.Text), ", "))
		return
	case !r.Is(list, expr.KindArray, "command"):
		return
	case len(list.Items) == 0:
		r.Errorf(list, codeValue, "command must not be empty").WithHint("the program comes first")
		return
	}
	free := false
	for i, item := range list.Items {
		if !r.Is(item, expr.KindString, "an argument") {
			continue
		}
		a := argument{text: item.Text, free: free}
		free = free || item.Text == "--"
		switch holds := strings.Contains(item.Text, "{{"); {
		case looksSecret(item.Text):
			r.Errorf(item, codeCommand, "a secret must not be an argument of a command, which all users of the machine can read").
				WithHint("put it into env")
		case strings.ContainsRune(item.Text, 0):
			r.Errorf(item, codeValue, "an argument cannot hold the character U+0000")
		case i == 0 && strings.TrimSpace(item.Text) == "":
			r.Errorf(item, codeValue, "the program is empty; the first element of command names it")
		case holds && i == 0:
			r.Errorf(item, codeCommand, "the program must be constant: data never chooses what runs")
		case holds && !single(item.Text):
			r.Errorf(item, codeCommand, "{{ }} in a command must be one whole argument").WithHint("split it into several arguments, or read stdin")
		case holds && interpreted(list.Items[:i]):
			r.Errorf(item, codeCommand, "a shell or another interpreter would run this argument").WithHint("let the command read its arguments as JSON from stdin")
		case holds:
			a.program = r.program(item, 0, len(item.Text))
		}
		c.argv = append(c.argv, a)
	}
}

func (c *command) invoke(ctx context.Context, _ *Catalogue, call effect.Call, s *secrets) (effect.Outcome, error) {
	run := exec.Command{Dir: c.dir, Timeout: c.timeout, Env: append(exec.Path(), keyVariable+"="+call.Key)}
	run.Env = append(run.Env, exec.Trace(effect.Traceparent(ctx), effect.Tracestate(ctx))...)
	for i, a := range c.argv {
		text, err := a.fill(call.Args)
		if err != nil {
			return effect.Outcome{}, fmt.Errorf("argument %d of the command: %w", i, err)
		}
		run.Argv = append(run.Argv, text)
	}
	for _, e := range c.env {
		v, err := e.value.fill(expr.EmptyObject, s)
		if err != nil {
			return effect.Outcome{}, err
		}
		run.Env = append(run.Env, e.name+"="+v.Str())
	}
	if c.stdin {
		run.Stdin = append(call.Args.AppendJSON(nil), '\n')
	}
	result, err := exec.Run(ctx, run)
	if err != nil {
		return effect.Fail(commandFailure(call.Function, err)), nil
	}
	result.Stderr = s.errors(result)
	return outcomeOf(call.Function, result), nil
}

// errors is what a command wrote to stderr, without secrets, before a line of it is
// chosen. Where its beginning was cut off, half a secret may stand there.
func (s *secrets) errors(r exec.Result) string {
	text := r.Stderr
	if r.Cut {
		text = text[min(len(text), s.longest()):]
	}
	if replace := s.replacer(); replace != nil {
		text = replace.Replace(text)
	}
	return text
}

// fill is the argument of one call. Text that begins with - would be taken for an
// option, unless a constant -- stands before it.
func (a argument) fill(args expr.Value) (string, error) {
	if a.program == nil {
		return a.text, nil
	}
	budget := expr.NewBudget()
	r, err := a.program.Eval(args, &budget)
	if err != nil {
		return "", err
	}
	text := r.Value.Text()
	switch {
	case r.Value.IsNull():
		return "", invalidf("%s gives nothing", a.text)
	case strings.HasPrefix(text, "-") && !a.free:
		return "", invalidf("%q begins with -, and would be an option; put \"--\" before %s", text, a.text)
	case strings.ContainsRune(text, 0):
		return "", invalidf("it holds the character U+0000")
	}
	return text, nil
}

func commandFailure(function string, err error) effect.Failure {
	f := effect.Failure{Name: effect.Unnamed, Code: "command", Detail: fmt.Sprintf("function %q: %v", function, err)}
	switch {
	case errors.Is(err, exec.ErrTimeout):
		f.Name, f.Code = effect.Timeout, ""
	case errors.Is(err, exec.ErrOutput):
		f.Code = http.CodeTooLarge
	case errors.Is(err, context.Canceled):
		f.Code = http.CodeCancelled
	}
	return f
}

// outcomeOf reads what a command wrote: JSON is the result, and describes the failure
// where it exits with another code than 0.
func outcomeOf(function string, r exec.Result) effect.Outcome {
	text := strings.TrimSpace(string(r.Stdout))
	v, err := expr.ParseJSON([]byte(text))
	if r.Code != 0 {
		f := effect.Failure{Name: effect.Unnamed}
		how := fmt.Sprintf("exited with %d", r.Code)
		if err == nil && v.IsObject() {
			f.Data = v
			if r.Signal == "" { // else it did not come to say what went wrong
				f.Describe(v)
			}
		}
		f.Code = strconv.Itoa(r.Code)
		if r.Signal != "" {
			how, f.Code = "was killed by signal "+r.Signal, r.Signal
		}
		if f.Detail == "" {
			f.Detail = fmt.Sprintf("function %q: the command %s", function, how)
			if last := lastLine(r.Stderr); last != "" {
				f.Detail += ": " + last
			}
		}
		return effect.Fail(f)
	}
	if text == "" {
		return effect.Outcome{Value: expr.EmptyObject, None: true}
	}
	if err != nil {
		return effect.Fail(effect.Failure{Name: effect.Unnamed, Code: http.CodeInvalid, Detail: fmt.Sprintf("function %q: what the command wrote is not JSON: %v", function, err)})
	}
	return effect.Outcome{Value: v}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
