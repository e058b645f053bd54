package process

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/process/javascript"
)

// The test binary runs JavaScript, too.
func TestMain(m *testing.M) {
	javascript.Main()
	os.Exit(m.Run())
}

func value(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// invoke runs a program to its end.
func invoke(t *testing.T, r *Runner, kind, args string) effect.Outcome {
	t.Helper()
	v := value(t, args)
	if kind == "script" {
		v = v.WithPath([]string{"environment", "GORACE"}, expr.String("atexit_sleep_ms=0")) // else it lasts a second under -race
	}
	return wait(t.Context(), r, kind, v)
}

func wait(ctx context.Context, r *Runner, kind string, args expr.Value) effect.Outcome {
	out := r.Kinds()[kind].Invoke(ctx, effect.Call{Key: "i-1/1.1", Function: "task", Operation: "call:" + kind + "&", Args: args})
	for out.Wait != nil {
		out = out.Wait(ctx)
	}
	return out
}

func runner(t *testing.T, o Options) *Runner {
	t.Helper()
	o.Allow = true
	t.Setenv("TMPDIR", t.TempDir()) // so that what is left there is seen
	r := New(o)
	t.Cleanup(func() {
		r.Close()
		if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "lockstep-*")); len(left) > 0 {
			t.Errorf("folders are left: %v", left)
		}
	})
	return r
}

// outcome is the value of a call, or how it failed.
func outcome(out effect.Outcome) string {
	if f := out.Failure; f != nil {
		return f.Name + " " + f.Code + ": " + f.Detail
	}
	return out.Value.String()
}

// TestUnmarkedCall: neither without the permission of the operator, nor a call that was not deployed as one that runs
// a program.
func TestUnmarkedCall(t *testing.T) {
	for kind := range kinds {
		for operation, allow := range map[string]bool{"call:" + kind + "&": false, "call:" + kind: true, "": true} {
			r := New(Options{Allow: allow})
			out := r.Kinds()[kind].Invoke(t.Context(), effect.Call{Function: "task", Operation: operation, Args: value(t, `{"command": "true"}`)})
			if out.Wait != nil || out.Failure == nil || out.Failure.Name != effect.NotFound {
				t.Errorf("%s %q, allowed: %t: %+v", kind, operation, allow, out)
			}
			r.Close()
		}
	}
}

func TestShell(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "x")
	r := runner(t, Options{})
	for _, c := range []struct{ name, args, want string }{
		{"stdout is verbatim", `{"command": "printf ' a\\n\\tä\\n\\n'"}`, `" a\n\tä\n\n"`},
		{"bytes that are no text", `{"command": "printf 'a\\377b'"}`, `"a�b"`},
		{"an exit code is a result", `{"command": "echo out; echo err >&2; exit 3", "return": "code"}`, `3`},
		{"stderr", `{"command": "echo out; echo err >&2; exit 3", "return": "stderr"}`, `"err\n"`},
		{"all", `{"command": "echo out; echo err >&2; exit 3", "return": "all"}`, `{"code":3,"stderr":"err\n","stdout":"out\n"}`},
		{"none", `{"command": "echo out", "return": "none"}`, `null`},
		{"arguments", `{"command": "echo \"$#:$1:$2:$3\"", "arguments": ["a b", "$HOME; ls", 7]}`, `"3:a b:$HOME; ls:7\n"`},
		{"arguments of 1.0.2", `{"command": "echo \"$@\"", "arguments": {"size": 3, "name": "a b"}}`, `"--name a b --size 3\n"`},
		{"stdin", `{"command": "cat", "stdin": "a\nb"}`, `"a\nb"`},
		{"stdin of a value", `{"command": "cat", "stdin": {"a": [1, null]}}`, `"{\"a\":[1,null]}"`},
		{"no stdin", `{"command": "cat; echo over"}`, `"over\n"`},
		{
			"environment", `{"command": "echo $A $LOCKSTEP_IDEMPOTENCY_KEY; env | cut -d= -f1 | sort | tr '\\n' ' '", "environment": {"A": "b", "N": 7, "NONE": null}}`,
			`"b i-1/1.1\nA LOCKSTEP_IDEMPOTENCY_KEY N PATH PWD TMPDIR "`,
		},
		{"an empty folder", `{"command": "ls -A; test \"$PWD\" = \"$TMPDIR\" && mkdir -p a/b && touch a/b/c && chmod 500 a && echo ok"}`, `"ok\n"`},
		{"the shell's own signal", `{"command": "kill -TERM $$"}`, `runtime SIGTERM: run "task": the program was killed by signal SIGTERM`},
		{"a group that it ends itself", `{"command": "trap 'exit 5' TERM; kill 0; sleep 60", "return": "code"}`, `5`},
		{"null", `{"command": "true", "arguments": ["a", null]}`, `runtime invalid-arguments: run "task": arguments[1] is null`},
		{"a text as arguments", `{"command": "true", "arguments": "a"}`, `runtime invalid-arguments: run "task": arguments must be a list of texts, not a string`},
		{"U+0000", `{"command": "true", "arguments": ["a\u0000b"]}`, `runtime invalid-arguments: run "task": arguments[0] holds the character U+0000`},
		{"a variable of ours", `{"command": "true", "environment": {"TMPDIR": "/"}}`, `runtime invalid-arguments: run "task": the environment variable TMPDIR is set by Lockstep, for each call`},
		{"no name of a variable", `{"command": "true", "environment": {"A=B": "x"}}`, `runtime invalid-arguments: run "task": "A=B" is not the name of an environment variable`},
		{"no text", `{"command": 7}`, `runtime invalid-arguments: run "task": command must be a text, not a number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := outcome(invoke(t, r, "shell", c.args)); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestCommandIsInNoArgument: a list of processes must not show it, nor a secret.
func TestCommandIsInNoArgument(t *testing.T) {
	sh, _ := exec.LookPath("sh")
	r := runner(t, Options{Holds: func(v expr.Value) bool { return strings.Contains(v.String(), "hunter2") }})
	if got := outcome(invoke(t, r, "shell", `{"command": "tr '\\0' ' ' </proc/$$/cmdline; : hunter2", "environment": {"P": "hunter2"}, "stdin": "hunter2", "arguments": ["a"]}`)); got != `"`+sh+` ../command a "` {
		if _, err := os.Stat("/proc/self/cmdline"); err == nil {
			t.Error(got)
		}
	}
	want := `runtime invalid-arguments: run "task": arguments[1] holds a secret, which lists of processes would show; pass it by environment or stdin`
	if got := outcome(invoke(t, r, "shell", `{"command": "true", "arguments": ["a", "x hunter2"]}`)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestNotAllowed(t *testing.T) {
	r := New(Options{})
	defer r.Close()
	for kind := range r.Kinds() {
		out := invoke(t, r, kind, `{"command": "true", "language": "js", "code": "1", "image": "x"}`)
		if f := out.Failure; f == nil || f.Name != effect.NotFound || !strings.Contains(f.Detail, "--allow-exec") {
			t.Errorf("%s: %s", kind, outcome(out))
		}
	}
}

func TestLimits(t *testing.T) {
	r := runner(t, Options{})
	want := `runtime response-too-large: run "task": the command wrote more than 4194304 bytes (limit exec-output-bytes)`
	for _, command := range []string{"yes", "yes >&2", "while :; do (yes &); done"} {
		if got := outcome(invoke(t, r, "shell", `{"command": "`+command+`"}`)); got != want {
			t.Errorf("%s: %s\nwant %s", command, got, want)
		}
	}
	short := runner(t, Options{Timeout: 100 * time.Millisecond})
	want = `Timeout : run "task": the command took too long: more than 100ms (limit program-timeout)`
	for _, command := range []string{"while :; do :; done", "trap '' TERM HUP INT; sleep 60 & wait"} {
		if got := outcome(invoke(t, short, "shell", `{"command": "`+command+`"}`)); got != want {
			t.Errorf("%s: %s\nwant %s", command, got, want)
		}
	}
}

// TestNoProgram: what is not installed is named.
func TestNoProgram(t *testing.T) {
	r := runner(t, Options{})
	t.Setenv("PATH", t.TempDir())
	for kind, args := range map[string]string{
		"shell":     `{"command": "true"}`,
		"script":    `{"language": "python", "code": "1"}`,
		"container": `{"image": "x"}`,
	} {
		out := invoke(t, r, kind, args)
		want := map[string]string{
			"shell":     `run "task": exec: "sh": executable file not found in $PATH`,
			"script":    `run "task": Python is not installed here: exec: "python3": executable file not found in $PATH`,
			"container": `run "task": no container engine is installed here: neither podman nor docker is in PATH`,
		}[kind]
		if out.Failure == nil || out.Failure.Name != effect.Runtime || out.Failure.Detail != want {
			t.Errorf("%s: %s\nwant %s", kind, outcome(out), want)
		}
	}
}

// TestPlaces: no more programs run than there are places, detached ones included.
func TestPlaces(t *testing.T) {
	r := runner(t, Options{})
	r.places = make(chan struct{}, 1)
	if out := invoke(t, r, "shell", `{"command": "sleep 600", "await": false}`); outcome(out) != "null" {
		t.Fatal(outcome(out))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan effect.Outcome)
	go func() { done <- wait(ctx, r, "shell", value(t, `{"command": "true"}`)) }()
	cancel() // it waits, or runs: its program is over then
	if got := outcome(<-done); got != `runtime cancelled: run "task": context canceled` {
		t.Error(got)
	}
	r.Close()
	if got := outcome(invoke(t, r, "shell", `{"command": "echo ok"}`)); got != `"ok\n"` {
		t.Errorf("there is no place again: %s", got)
	}
}
