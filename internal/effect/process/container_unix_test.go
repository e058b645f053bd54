//go:build unix

package process

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// standIn stands in for the client of a container engine: it writes down how it is called. Its "containers" are the
// lines of the file running.
const standIn = `#!/bin/sh
dir=${0%/*}
{ printf '%s' "${0##*/}"; for a in "$@"; do printf ' <%s>' "$a"; done; echo; } >>"$dir/log"
case $1 in
ps) cat "$dir/running" 2>/dev/null || : ;;
rm|kill) rm -f "$dir/running" ;;
run)
	echo c-1 >"$dir/running"
	test -p "$dir/alive" && { exec >"$dir/alive"; sleep 600; }
	echo "A=$A KEY=$LOCKSTEP_IDEMPOTENCY_KEY SECRET=$SECRET_OF_OURS"
	cat
	echo warned >&2
	exit $(cat "$dir/code" 2>/dev/null || echo 0) ;;
esac
`

// engine puts stand-ins into PATH, and returns their folder.
func engine(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(standIn), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return dir
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const (
	find = "podman <ps> <--quiet> <--filter> <label=lockstep.call=‹id›> <--all>\n"
	head = "podman <run> <--name> <flow-‹id›.prod-task> <--label> <lockstep.call=‹id›>"
)

// containerCall runs a container.
func containerCall(ctx context.Context, r *Runner, args expr.Value) effect.Outcome {
	out := r.Kinds()["container"].Invoke(ctx, effect.Call{Key: "i-1/1.1", Function: "task", Operation: "call:container&", Args: args, Metadata: `{"namespace": "prod", "name": "flow"}`})
	for out.Wait != nil {
		out = out.Wait(ctx)
	}
	return out
}

func TestContainer(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "x")
	r := runner(t, Options{Holds: func(v expr.Value) bool { return strings.Contains(v.String(), "hunter2") }})
	for _, c := range []struct{ name, args, want, log string }{
		{"an image", `{"image": "hello-world"}`, `"A= KEY=i-1/1.1 SECRET=\n"`, find + head + " <--pull> <missing> <--env> <LOCKSTEP_IDEMPOTENCY_KEY> <hello-world>\n"},
		{
			"everything", `{"image": "alpine:3", "name": "mine", "command": "cat; echo $1", "arguments": ["a b", "-x"], "ports": {"8080": 80, "127.0.0.1:53": "53/udp"},
			"volumes": {"/data": "/srv:ro"}, "environment": {"A": "hunter2", "B": null}, "stdin": "in", "pullPolicy": "always", "lifetime": {"cleanup": "always"}, "return": "all"}`,
			`{"code":0,"stderr":"warned\n","stdout":"A=hunter2 KEY=i-1/1.1 SECRET=\nin"}`,
			find + "podman <run> <--name> <mine> <--label> <lockstep.call=‹id›> <--rm> <--pull> <always> <--interactive> <--publish> <127.0.0.1:53:53/udp> <--publish> <8080:80> " +
				"<--volume> </data:/srv:ro> <--env> <LOCKSTEP_IDEMPOTENCY_KEY> <--env> <A> <alpine:3> <sh> <-c> <cat; echo $1> <sh> <a b> <-x>\n",
		},
		{
			"arguments of the image's own command", `{"image": "x", "arguments": ["a"], "pullPolicy": "never", "lifetime": {"cleanup": "never"}, "return": "code"}`, `0`,
			find + head + " <--pull> <never> <--env> <LOCKSTEP_IDEMPOTENCY_KEY> <x> <a>\n",
		},
		{
			"removed later", `{"image": "x", "lifetime": {"cleanup": "eventually", "after": {"hours": 1000}}, "return": "none"}`, `null`,
			find + head + " <--pull> <missing> <--env> <LOCKSTEP_IDEMPOTENCY_KEY> <x>\n",
		},
		{"a secret in the command", `{"image": "x", "command": "echo hunter2"}`, `runtime invalid-arguments: run "task": command holds a secret, which lists of processes would show; pass it by environment or stdin`, ""},
		{"an option as image", `{"image": "--privileged"}`, `runtime invalid-arguments: run "task": image must not begin with -: "--privileged"`, ""},
		{"a name", `{"image": "x", "name": "-a"}`, `runtime invalid-arguments: run "task": "-a" cannot be the name of a container: letters, digits, _, . and - can stand in it, and it begins with a letter or a digit`, ""},
		{"a variable of the engine", `{"image": "x", "environment": {"DOCKER_HOST": "tcp://elsewhere"}}`, `runtime invalid-arguments: run "task": the environment variable DOCKER_HOST is that of the container engine; set it in the command`, ""},
		{"all variables of the engine", `{"image": "x", "environment": {"DOCKER_*": "x"}}`, `runtime invalid-arguments: run "task": "DOCKER_*" is not the name of an environment variable`, ""},
		{"a secret as the name of a variable", `{"image": "x", "environment": {"hunter2": "x"}}`, `runtime invalid-arguments: run "task": the name of an environment variable holds a secret, which lists of processes would show; pass it by environment or stdin`, ""},
		{"a duration", `{"image": "x", "lifetime": {"cleanup": "eventually", "after": 3}}`, `runtime invalid-arguments: run "task": lifetime.after: it must be a duration, not a number`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := engine(t, "podman", "docker")
			if got := outcome(containerCall(t.Context(), r, value(t, c.args))); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			log, _ := os.ReadFile(filepath.Join(dir, "log")) // it may not be there
			if want := strings.ReplaceAll(c.log, "‹id›", callID("i-1/1.1")); string(log) != want {
				t.Errorf("log:\n%s\nwant:\n%s", log, want)
			}
		})
	}
}

// TestContainerOfCallBefore: a call that is made again replaces what the one before left.
func TestContainerOfCallBefore(t *testing.T) {
	r := runner(t, Options{})
	dir := engine(t, "docker")
	for range 2 {
		if got := outcome(containerCall(t.Context(), r, value(t, `{"image": "x", "return": "code"}`))); got != "0" {
			t.Error(got)
		}
	}
	var verbs []string
	for line := range strings.Lines(read(t, filepath.Join(dir, "log"))) {
		verbs = append(verbs, strings.Join(strings.Fields(line)[:2], " "))
	}
	if got := strings.Join(verbs, ", "); got != "docker <ps>, docker <run>, docker <ps>, docker <rm>, docker <run>" {
		t.Error(got)
	}
}

func TestEngineFails(t *testing.T) {
	r := runner(t, Options{})
	dir := engine(t, "podman")
	if err := os.WriteFile(filepath.Join(dir, "code"), []byte("125"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := `runtime command: run "task": the container engine did not run the container: warned`
	if got := outcome(containerCall(t.Context(), r, value(t, `{"image": "x"}`))); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
