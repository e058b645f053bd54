package main

import (
	"errors"
	"maps"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lockstep": main, "wfxctl": main})
}

func TestScripts(t *testing.T) {
	commands := map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "metric": metric, "petshop": petshop, "notmodified": notModified, "certificate": certificate, "receiver": receivers(t), "wfxports": wfxPorts, "wfxdatabase": wfxDatabase}
	maps.Copy(commands, scriptCommands(t))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every command lasts a second under -race
			return nil
		},
	})
}

// exits CODE COMMAND… runs a command like exec and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
