//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSignalLeavesCommandsRunning: what a call runs is dead when lockstep is.
func TestSignalLeavesCommandsRunning(t *testing.T) {
	lockstep, err := exec.LookPath("lockstep") // testscript.Main has put it there
	if err != nil {
		t.Fatal(err)
	}
	// Where nohup runs the tests, lockstep would ignore the hangup, too, and rightly so. A signal
	// that the test itself gets is not ignored by what it starts.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		dir := t.TempDir()
		pipe := filepath.Join(dir, "alive") // held open by the command and what it started
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"functions.yaml": `functions: {f: {exec: {command: [sh, -c, "exec > alive; sleep 30 & sleep 30"], timeout: PT1M}}}`,
			"w.yaml": "id: w\nname: W\nfunctions: [{name: f}]\nstates:\n- {name: A, type: operation, start: {kind: default}, " +
				"actions: [{functionRef: {refName: f}}], end: {kind: default}}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(lockstep, "run", "w.yaml", "--functions", "functions.yaml", "--allow-exec")
		cmd.Dir = dir
		var told strings.Builder
		cmd.Stderr = &told
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan error, 1)
		go func() {
			over <- cmd.Wait()
			if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				w.Close() // the command may never have run
			}
		}()
		alive, err := os.Open(pipe) // waits until the command runs
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Signal(c.signal) // where it is over already, the exit code tells
		var exit *exec.ExitError
		if err := <-over; !errors.As(err, &exit) || exit.ExitCode() != c.code {
			t.Errorf("%v: %v, want exit code %d; stderr:\n%s", c.signal, err, c.code, told.String())
		}
		if err := alive.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := alive.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("%v: the command lives on: %v", c.signal, err)
		}
		alive.Close()
	}
}

// TestKilledServerLeavesProgramsRunning: what a task runs is dead when its server is, however that died, and runs
// again with the next one.
func TestKilledServerLeavesProgramsRunning(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "alive") // held open by the program and what it started
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	command := fmt.Sprintf(`trap "" TERM; exec >%s; sleep 600 & sleep 600`, pipe)
	definition := "document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0}\n" +
		"do:\n- s: {run: {shell: {command: '" + command + "'}}}\n"
	file := filepath.Join(dir, "w.yaml")
	if err := os.WriteFile(file, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--north", "127.0.0.1:0", "--store", "sqlite:" + filepath.Join(dir, "db"), "--allow-exec"}
	for round := range 2 {
		p, err := launch(dir, os.Environ(), args...)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			var out, told strings.Builder
			if code := lockstep([]string{"def", "apply", file, "--url", p.url}, strings.NewReader(""), &out, &told); code != 0 {
				t.Fatal(told.String())
			}
			if code := lockstep([]string{"inst", "start", "w", "--url", p.url}, strings.NewReader(""), &out, &told); code != 0 {
				t.Fatal(told.String())
			}
		}
		alive, err := os.Open(pipe) // waits until the program runs
		if err != nil {
			t.Fatal(err)
		}
		_ = p.cmd.Process.Kill()
		<-p.over
		_ = alive.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := alive.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the program lives on: %v", err)
		}
		alive.Close()
	}
}
