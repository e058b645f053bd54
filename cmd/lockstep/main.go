// Command lockstep runs, tests and validates workflow definitions.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	log.SetOutput(io.Discard) // net/http tells there what no user can do anything about
	os.Exit(lockstep(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// lockstep is the program: configure, run, tell by the exit code how it went.
func lockstep(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program whatever it does
	app := &app{in: stdin, out: stdout, err: stderr, problems: wantsJSON(args)}
	root := app.command()
	root.SetArgs(args)
	return app.exit(root.ExecuteContext(ctx))
}
