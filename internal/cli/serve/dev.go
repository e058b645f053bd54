package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/stores"
)

// DevCommand is `lockstep dev`.
func DevCommand(a *cli.App) *cobra.Command {
	var flags hostFlags
	var allowUnreachable bool
	cmd := &cobra.Command{
		Use: "dev [DIR]", Short: "Serve the definitions of a folder, and reload them when they change", Args: cli.AtMost(1),
		Long: "Dev runs a server for this machine with every definition below DIR, deployed with the files that they refer to as one bundle.\n" +
			"When a file changes, the new content is deployed under the same version; running instances keep the old one. While a file has\n" +
			"errors, the last good version stays deployed. The scenarios of what was saved are run, and dev says what failed. Calls of functions without an endpoint wait for \"lockstep inst answer\". Calls to\n" +
			"this machine are allowed.",
		Example: `  lockstep dev examples/v10
  lockstep inst start greet --input '{"name":"Ada"}' --wait`,
	}
	flags.add(cmd, "sqlite:"+stores.StateDir+"/dev.db", "wait", "warn")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.Settings(cmd.Context(), cmd); err != nil {
			return err
		}
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		return dev(a, cmd.Context(), dir, allowUnreachable, &flags)
	}
	load.UnreachableFlag(cmd, &allowUnreachable)
	return cmd
}

// loopbackAddresses are those that dev may call.
var loopbackAddresses = []string{"127.0.0.0/8", "::1/128"}

func dev(a *cli.App, ctx context.Context, dir string, allowUnreachable bool, flags *hostFlags) (err error) {
	shared := *a
	shared.Err = &lockedWriter{w: a.Err} // several goroutines write
	a = &shared
	flags.outbound.Allow = append(flags.outbound.Allow, loopbackAddresses...)
	n, err := flags.configure(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	w := &watcher{host: n, dir: dir, deployed: map[string]loadedFile{}, broken: map[string]string{}, uses: map[string]fileSet{}, allowUnreachable: allowUnreachable}
	if err := w.look(); err != nil {
		return err
	}
	if err := flags.openHere(); err != nil {
		return devListenFailure(err)
	}
	base := urlOf(flags.northOpened.Addr(), false)
	n.invoker.onParked = func(c effect.Call) { reportParked(a, base, c) }
	reports := &reporter{app: a}
	if err := n.open(ctx, lockstep.Redeploy(), lockstep.OnRecord(reports.record), lockstep.Logger(slog.New(withoutFailures{n.log.Handler()}))); err != nil {
		return err
	}
	reports.know(func(id string) string {
		in, err := n.engine.Get(ctx, id)
		if err != nil {
			return "" // it is deleted, or the server ends
		}
		return in.Definition.ID
	})
	loaded, _ := w.load(ctx)
	if err := n.announce("dev", false, false); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "loaded %s   watching %s   Ctrl-C stops\n", orNothing(loaded), dir)
	watching, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { w.watch(watching) })
	err = n.serve(ctx)
	stop()
	done.Wait()
	reports.rest()
	return err
}

// openHere opens both sides for this machine only.
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

// devListenFailure is the failure of a side of dev.
func devListenFailure(err error) error {
	f := cli.AsFailure(err)
	if f.Code == "unsafe" {
		f.Hint = "lockstep dev is only for this machine; use \"lockstep serve\" for others"
	}
	return f
}

func orNothing(loaded []string) string {
	if len(loaded) == 0 {
		return "nothing"
	}
	return strings.Join(loaded, " ")
}

// reportParked says how to answer a call without an implementation.
func reportParked(a *cli.App, base string, c effect.Call) {
	ticket := c.Key[strings.LastIndexByte(c.Key, '/')+1:]
	server := ""
	if base != remote.DefaultURL {
		server = " --url " + base
	}
	fmt.Fprintf(a.Err, "… function %s waits for an answer to %s\n  lockstep inst answer%s %s %s --result '{…}'\n",
		cli.Plain(c.Function), cli.Plain(cli.Short(c.Args.String())), server, cli.Plain(c.Instance), ticket)
}
