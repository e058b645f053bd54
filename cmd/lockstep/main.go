// Command lockstep runs, tests and validates workflow definitions.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	log.SetOutput(io.Discard) // net/http tells there what no user can do anything about
	if isWfxctl(os.Args[0]) {
		os.Exit(wfxctl(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(lockstep(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// lockstep is the program: configure, run, tell by the exit code how it went.
func lockstep(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := interruptible()
	defer stop()
	app := &app{in: stdin, out: stdout, err: stderr, problems: wantsJSON(args)}
	root := app.command()
	root.SetArgs(args)
	return app.exit(bySignal(ctx, root.ExecuteContext(ctx)))
}

// signalled is why the program ends: which signal it got.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return s.Signal.String() }

// Is lets it be what it is for everybody else.
func (signalled) Is(target error) bool { return target == context.Canceled }

// interruptible is a context that a signal ends. A second signal ends the program
// whatever it does.
func interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signals = append(signals, syscall.SIGHUP)
	}
	got := make(chan os.Signal, 1)
	signal.Notify(got, signals...)
	go func() {
		select {
		case s := <-got:
			signal.Stop(got)
			number, _ := s.(syscall.Signal)
			cancel(signalled{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(nil)
	}
}

// bySignal gives an error that a signal caused the exit code of shells: 128 and the
// signal's number.
func bySignal(ctx context.Context, err error) error {
	var by signalled
	if err == nil || !errors.As(context.Cause(ctx), &by) {
		return err
	}
	f := asFailure(err)
	if f.exit == exitInterrupted {
		f.exit = 128 + int(by.Signal)
	}
	return f
}
