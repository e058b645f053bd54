package process

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

func quote(s string) string { return expr.String(s).String() }

// script makes the arguments of a call.
func scriptOf(language, code, more string) string {
	return `{"language": "` + language + `", "code": ` + quote(code) + more + `}`
}

func TestJavaScript(t *testing.T) {
	const unshown = `{"code":1,"stderr":"Uncaught exception, which cannot be shown\n","stdout":"a\n"}`
	r := runner(t, Options{})
	for _, c := range []struct{ name, code, more, want string }{
		{
			"console", `console.log("a", 1, null, undefined, true, {a: [1]}, [2]); console.error("e"); console.info("i"); console.warn("w")`, `, "return": "all"`,
			`{"code":0,"stderr":"e\nw\n","stdout":"a 1 null undefined true {\"a\":[1]} [2]\ni\n"}`,
		},
		{"the specification's example", "const [_, __, arg0, arg1] = process.argv;\nconsole.log('arg > ', arg0, arg1)", `, "arguments": ["hello", "world"]`, `"arg >  hello world\n"`},
		{"stdin by import", "// first\nimport { readFileSync } from 'node:fs';\nconst stdin = readFileSync(process.stdin.fd, 'utf8');\nconsole.log('stdin > ', stdin)", `, "stdin": "Hello Workflow"`, `"stdin >  Hello Workflow\n"`},
		{"stdin by require", `console.log(JSON.parse(require('fs').readFileSync('/dev/stdin', 'utf8')).a + 1)`, `, "stdin": {"a": 1}`, `"2\n"`},
		{"env", `console.log(process.env.foo, process.env.LOCKSTEP_IDEMPOTENCY_KEY, process.env.HOME)`, `, "environment": {"foo": "bar"}`, `"bar i-1/1.1 undefined\n"`},
		{"arguments of 1.0.2", `console.log(greetings, n + 1)`, `, "arguments": {"greetings": "Hello, world!", "n": 1}`, `"Hello, world! 2\n"`},
		{"write", `process.stdout.write("a"); process.stdout.write("b")`, ``, `"ab"`},
		{"exit", `console.log("a"); process.exit(7); console.log("b")`, `, "return": "all"`, `{"code":7,"stderr":"","stdout":"a\n"}`},
		{"exitCode", `process.exitCode = 4`, `, "return": "code"`, `4`},
		{"promises", `(async () => { await null; console.log("later") })(); console.log("first")`, ``, `"first\nlater\n"`},
		{"an exception", "function f() { throw new TypeError('boom') }\nf()", `, "return": "all"`, `{"code":1,"stderr":"Uncaught TypeError: boom\n\tat f (script.js:1:22(3))\n\tat script.js:2:2(3)\n","stdout":""}`},
		{"a rejection", `Promise.reject(new Error("late"))`, `, "return": "code"`, `1`},
		{"a rejection that is caught", `Promise.reject(new Error("late")).catch(e => console.log(e.message))`, ``, `"late\n"`},
		{"no program", `const = 1`, `, "return": "code"`, `1`},
		{"endless recursion", `function f() { return 1 + f() } f()`, `, "return": "stderr"`, `"Uncaught RangeError: maximum call stack size exceeded\n"`},
		{"no JSON", `JSON.stringify = 1; delete globalThis.JSON; console.log({a: 1})`, ``, `"{\"a\":1}\n"`},
		{"an exception that cannot be shown", `console.log("a"); throw Object.create(null)`, `, "return": "all"`, unshown},
		{"a rejection that cannot be shown", `console.log("a"); Promise.reject({toJSON() { throw 1 }, toString() { throw 2 }})`, `, "return": "all"`, unshown},
		{"an exitCode that throws", `console.log("a"); process.exitCode = {valueOf() { throw 1 }}`, `, "return": "all"`, unshown},
		{"another file", `try { require('fs').readFileSync('/etc/passwd') } catch (e) { console.log(e.message) }`, ``, `"/etc/passwd cannot be read: readFileSync is for stdin only, 0 or /dev/stdin\n"`},
		{"another module", `try { require('child_process') } catch (e) { console.log(e.message) }`, ``, `"there is no module \"child_process\": scripts have fs, for readFileSync of stdin, and process\n"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := outcome(invoke(t, r, "script", scriptOf("js", c.code, c.more))); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestHostileJavaScript(t *testing.T) {
	short := runner(t, Options{Timeout: time.Second})
	if f := invoke(t, short, "script", scriptOf("js", "for (;;) {}", "")).Failure; f == nil || f.Name != effect.Timeout || !strings.Contains(f.Detail, "program-timeout") {
		t.Errorf("an endless loop: %+v", f)
	}
	r := runner(t, Options{})
	if f := invoke(t, r, "script", scriptOf("js", `for (;;) console.log("more and more")`, "")).Failure; f == nil || !strings.Contains(f.Detail, "exec-output-bytes") {
		t.Errorf("endless output: %+v", f)
	}
	if runtime.GOOS != "linux" {
		return
	}
	small := runner(t, Options{Memory: 256 << 20})
	for _, code := range []string{`const all = []; for (;;) all.push("x".repeat(1 << 20) + all.length)`, `"x".repeat(2 ** 31)`} {
		out := invoke(t, small, "script", scriptOf("js", code, `, "return": "all"`))
		if got := outcome(out); !strings.Contains(got, "needs more than 268435456 bytes of memory (limit program-memory)") &&
			!(strings.Contains(got, "ThreadSanitizer") && strings.Contains(got, "failed to allocate")) { // the race detector ran out before the program did
			t.Errorf("%s: %.300s", code, got)
		}
	}
}

func TestPython(t *testing.T) {
	r := runner(t, Options{})
	if _, err := exec.LookPath("python3"); err != nil {
		if got := outcome(invoke(t, r, "script", scriptOf("python", "1", ""))); !strings.Contains(got, "Python is not installed here") {
			t.Error(got)
		}
		return
	}
	for _, c := range []struct{ name, code, more, want string }{
		{"argv, stdin, env", "import os, sys\nprint(sys.argv[1:], sys.stdin.read(), os.environ['A'])", `, "arguments": ["a b"], "stdin": "in", "environment": {"A": "b"}`, `"['a b'] in b\n"`},
		{"arguments of 1.0.2", "print(greetings, n + 1, __name__)", `, "arguments": {"greetings": "Hello", "n": 1}`, `"Hello 2 __main__\n"`},
		{"an exit code", "import sys; print('ä'); sys.exit(3)", `, "return": "all"`, `{"code":3,"stderr":"","stdout":"ä\n"}`},
		{"an exception", "raise Exception('boom')", `, "return": "code"`, `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := outcome(invoke(t, r, "script", scriptOf("python", c.code, c.more))); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
	if runtime.GOOS == "linux" {
		small := runner(t, Options{Memory: 256 << 20})
		if got := outcome(invoke(t, small, "script", scriptOf("python", "try:\n  bytearray(2**29)\nexcept MemoryError:\n  print('no memory')", ""))); got != `"no memory\n"` {
			t.Errorf("memory: %s", got)
		}
	}
}

func TestUnknownLanguage(t *testing.T) {
	r := runner(t, Options{})
	want := `runtime invalid-arguments: run "task": the language of a script is js or python, not "ruby"`
	if got := outcome(invoke(t, r, "script", scriptOf("ruby", "1", ""))); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestSourceIsPinned: the text from when the definition was deployed is run.
func TestSourceIsPinned(t *testing.T) {
	r := runner(t, Options{})
	call := effect.Call{Function: "task", Operation: "call:script&:f.js", Args: value(t, `{"language": "js", "source": {"endpoint": "f.js"}}`)}
	out := r.Kinds()["script"].Invoke(t.Context(), call)
	if f := out.Failure; f == nil || !strings.Contains(f.Detail, "CALL001") {
		t.Errorf("without a document: %+v", out)
	}
	call.Documents = effect.Documents{Root: 2, All: []effect.Document{{Ref: "other"}, {Ref: "f.js", Text: `console.log("pinned")`}}}
	out = r.Kinds()["script"].Invoke(t.Context(), call)
	if got := outcome(out.Wait(t.Context())); got != `"pinned\n"` {
		t.Error(got)
	}
}
