//go:build unix

package process

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
)

// pipe is open in the processes of a program for as long as they live.
func pipe(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// opened waits until a program has the pipe; over waits until no process has it.
func opened(t *testing.T, name string) (over func()) {
	t.Helper()
	alive, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		defer alive.Close()
		_ = alive.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := alive.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the program lives on: %v", err)
		}
	}
}

// release ends the wait of opened, where the call is over and its program never ran.
func release(name string) {
	if w, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		w.Close()
	}
}

// hold are commands that hold $1 open for long.
var hold = map[string]string{
	"itself":     `exec >$1; trap '' TERM HUP INT; while :; do sleep 60; done`,
	"children":   `exec >$1; sleep 600 & sleep 600 & sleep 600`,
	"a subshell": `(exec >$1; sleep 600) & wait`,
}

func TestCancelledTaskLeavesProcesses(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err == nil {
		hold["a daemon"] = `setsid sh -c 'exec >$0; (trap "" TERM; sleep 600) & sleep 600' "$1" & sleep 600`
	}
	r := runner(t, Options{})
	for name, command := range hold {
		t.Run(name, func(t *testing.T) {
			file := pipe(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan effect.Outcome, 1)
			go func() {
				defer release(file)
				done <- wait(ctx, r, "shell", value(t, `{"command": `+quote(command)+`, "arguments": [`+quote(file)+`]}`))
			}()
			over := opened(t, file)
			cancel()
			if got := outcome(<-done); got != `runtime cancelled: run "task": context canceled` {
				t.Error(got)
			}
			over()
		})
	}
}

// TestFoldersWithoutRights: nothing of a program's folder is left. Root has all rights anyway.
func TestFoldersWithoutRights(t *testing.T) {
	r := runner(t, Options{}) // which looks for what is left
	outside := t.TempDir()
	if err := os.Chmod(outside, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{`mkdir -p a/b/c; ln -s "$1" a/b/link; chmod 0 a/b/c a/b a`, `touch a; chmod 500 .; chmod 0 ..`, `cd ..; rm -r work; ln -s "$1" work; chmod 500 .`} {
		if got := outcome(invoke(t, r, "shell", `{"command": `+quote(command)+`, "arguments": [`+quote(outside)+`], "return": "code"}`)); got != "0" {
			t.Errorf("%s: %s", command, got)
		}
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("the target of a link: %v %v", info.Mode(), err)
	}
}

// TestDetached: a program that nothing waits for runs, and ends with the runner.
func TestDetached(t *testing.T) {
	r := runner(t, Options{})
	file := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	out := wait(ctx, r, "shell", value(t, `{"command": `+quote(hold["children"])+`, "arguments": [`+quote(file)+`], "await": false}`))
	if outcome(out) != "null" {
		t.Fatal(outcome(out))
	}
	cancel() // its task is over
	over := opened(t, file)
	r.Close()
	over()
}

// TestCancelledContainer: killing its client does not end a container.
func TestCancelledContainer(t *testing.T) {
	for cleanup, want := range map[string]string{"always": "<rm> <--force> <c-1>", "never": "<kill> <c-1>"} {
		t.Run(cleanup, func(t *testing.T) {
			r := runner(t, Options{})
			dir := engine(t, "podman")
			if err := syscall.Mkfifo(filepath.Join(dir, "alive"), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan effect.Outcome, 1)
			args := value(t, `{"image": "x", "lifetime": {"cleanup": "`+cleanup+`"}}`)
			go func() {
				defer release(filepath.Join(dir, "alive"))
				done <- containerCall(ctx, r, args)
			}()
			over := opened(t, filepath.Join(dir, "alive"))
			cancel()
			if got := outcome(<-done); got != `runtime cancelled: run "task": context canceled` {
				t.Error(got)
			}
			over()
			if log := read(t, filepath.Join(dir, "log")); !strings.HasSuffix(log, "podman "+want+"\n") {
				t.Errorf("log:\n%s\nwant %s at its end", log, want)
			}
		})
	}
}
