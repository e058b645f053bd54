package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// modes are what else the test binary does as a command, by system.
var modes = map[string]func(){}

// The test binary is the command too.
func TestMain(m *testing.M) {
	if run := modes[os.Getenv("EXEC_TEST")]; run != nil {
		run()
		return
	}
	switch os.Getenv("EXEC_TEST") {
	case "":
		os.Exit(m.Run())
	case "tell":
		in, _ := io.ReadAll(os.Stdin)
		dir, _ := os.Getwd()
		fmt.Printf("%q %q %q %s", os.Args[1:], in, dir, strings.Join(os.Environ(), " "))
	case "fail":
		fmt.Print("out")
		fmt.Fprint(os.Stderr, strings.Repeat("x", 2*maxErrors)+"the end")
		os.Exit(3)
	case "grumble":
		for {
			if _, err := fmt.Fprintln(os.Stderr, strings.Repeat("x", 1<<16)); err != nil {
				os.Exit(1)
			}
		}
	case "flood":
		for {
			if _, err := fmt.Println(strings.Repeat("x", 1<<16)); err != nil {
				os.Exit(1)
			}
		}
	case "wait":
		<-time.After(time.Hour)
	}
}

func command(mode string, args ...string) Command {
	return Command{Argv: append([]string{os.Args[0]}, args...), Env: []string{"EXEC_TEST=" + mode}}
}

func TestRun(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "x")
	c := command("tell", "a b", "$HOME", "; ls", "")
	c.Stdin, c.Dir = []byte(`{"a":1}`), t.TempDir()
	r, err := Run(context.Background(), c)
	want := fmt.Sprintf("%q %q %q EXEC_TEST=tell", c.Argv[1:], c.Stdin, c.Dir)
	if err != nil || r.Code != 0 || !strings.HasPrefix(string(r.Stdout), want) || strings.Contains(string(r.Stdout), "SECRET_OF_OURS") {
		t.Errorf("%v %d %s\nwant %s", err, r.Code, r.Stdout, want)
	}
	r, err = Run(context.Background(), command("fail"))
	if err != nil || r.Code != 3 || string(r.Stdout) != "out" || len(r.Stderr) != maxErrors || !strings.HasSuffix(r.Stderr, "the end") {
		t.Errorf("%v %d %s %d", err, r.Code, r.Stdout, len(r.Stderr))
	}
}

// A command without an environment does not get ours.
func TestRunWithoutEnvironment(t *testing.T) {
	t.Setenv("EXEC_TEST", "fail")
	r, err := Run(context.Background(), Command{Argv: []string{os.Args[0], "-test.run=^$"}})
	if err != nil || r.Code != 0 {
		t.Errorf("%v %d %s", err, r.Code, r.Stderr)
	}
}

func TestRunIsBounded(t *testing.T) {
	if _, err := Run(context.Background(), command("flood")); !errors.Is(err, ErrOutput) {
		t.Errorf("flood: %v", err)
	}
	whole := command("fail")
	whole.Whole = true
	if r, err := Run(context.Background(), whole); err != nil || len(r.Stderr) != 2*maxErrors+len("the end") {
		t.Errorf("whole: %v %d", err, len(r.Stderr))
	}
	whole = command("grumble")
	whole.Whole = true
	if _, err := Run(context.Background(), whole); !errors.Is(err, ErrOutput) {
		t.Errorf("grumble: %v", err)
	}
	c := command("wait")
	c.Timeout = 50 * time.Millisecond
	if _, err := Run(context.Background(), c); !errors.Is(err, ErrTimeout) {
		t.Errorf("wait: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, command("wait")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Run(context.Background(), Command{Argv: []string{"/no/such/program"}}); err == nil {
		t.Error("a program that is not there runs")
	}
}
