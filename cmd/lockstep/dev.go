package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

func (a *app) devCommand() *cobra.Command {
	var flags hostFlags
	cmd := &cobra.Command{
		Use: "dev [DIR]", Short: "Serve the definitions of a folder, and load them again when they change", Args: atMost(1),
		Long: "Dev runs a server for this machine with every definition below DIR. When a file changes, the new content serves at once under the\n" +
			"same version, and instances that run keep what they began with; while it has errors, the last good one serves on. Functions without\n" +
			"an endpoint wait for an answer, which \"lockstep inst answer\" gives. Calls to this machine are allowed.",
		Example: `  lockstep dev examples/
  lockstep inst start hello --input '{"name":"Ada"}' --wait`,
	}
	flags.add(cmd, "sqlite:"+stateDir+"/dev.db", "wait", "warn")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.settings(cmd.Context(), cmd); err != nil {
			return err
		}
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		return a.dev(cmd.Context(), dir, &flags)
	}
	return cmd
}

// loopbackAddresses are those that dev may call.
var loopbackAddresses = []string{"127.0.0.0/8", "::1/128"}

func (a *app) dev(ctx context.Context, dir string, flags *hostFlags) (err error) {
	a = &app{in: a.in, out: a.out, err: &lockedWriter{w: a.err}, problems: a.problems} // several goroutines tell something
	flags.outbound.allow = append(flags.outbound.allow, loopbackAddresses...)
	n, err := flags.configure(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	w := &watcher{host: n, dir: dir, deployed: map[string]loadedFile{}}
	if err := w.look(); err != nil {
		return err
	}
	if err := n.openFiles(nil); err != nil {
		return err
	}
	if err := flags.openHere(); err != nil {
		return devListenFailure(err)
	}
	base := urlOf(flags.northOpened.Addr(), false)
	n.invoker.onParked = func(c effect.Call) { a.tellParked(base, c) }
	n.onRecord = func(id string, r core.Record) {
		if r.Type == core.RecFinished && r.Fault != nil {
			fmt.Fprintf(a.err, "✗ instance %s failed%s: %s\n", plain(id), plain(inState(r.Fault.Node)), plain(r.Fault.Error()))
		}
	}
	if err := n.open(true); err != nil {
		return err
	}
	loaded := w.load(ctx)
	if err := n.announce("dev", false, false); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "loaded %s   watching %s   Ctrl-C stops\n", orNothing(loaded), dir)
	watching, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { w.watch(watching) })
	err = n.serve(ctx, server.Config{})
	stop()
	done.Wait()
	return err
}

// openHere opens both sides, for this machine only.
func (s *sideFlags) openHere() error {
	north, err := s.listening(server.NorthSide, false)
	if err != nil {
		return err
	}
	south, err := s.listening(server.SouthSide, false)
	if err != nil {
		return err
	}
	return s.open(north, south)
}

// devListenFailure tells what dev is for.
func devListenFailure(err error) error {
	f := asFailure(err)
	if f.code == "unsafe" {
		f.hint = "lockstep dev is for this machine; \"lockstep serve\" can be reached by others"
	}
	return f
}

func orNothing(loaded []string) string {
	if len(loaded) == 0 {
		return "nothing"
	}
	return strings.Join(loaded, " ")
}

// tellParked says how to answer a call that nothing can carry out.
func (a *app) tellParked(base string, c effect.Call) {
	ticket := c.Key[strings.LastIndexByte(c.Key, '/')+1:]
	server := ""
	if base != defaultURL {
		server = " --url " + base
	}
	fmt.Fprintf(a.err, "… function %s waits for an answer to %s\n  lockstep inst answer%s %s %s --result '{…}'\n",
		plain(c.Function), plain(short(c.Args.String())), server, plain(c.Instance), ticket)
}
