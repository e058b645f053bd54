package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

// verb is an intervention.
type verb struct {
	name, past string
	short      string
	example    string

	// atRev: it means the instance as it was read. One that moved on is left alone.
	atRev bool
	flags func(cmd *cobra.Command, v *verbFlags)
	do    func(ctx context.Context, r remote, id string, v *verbFlags, c client.Control) (client.Instance, error)
}

// verbFlags are the flags of all of them.
type verbFlags struct {
	filter, reason string
	yes            bool
	data, result   string
	compensate     bool

	read client.Data // what data or result stand for
}

var verbs = []verb{
	{
		name: "retry", past: "retried", short: "Run failed instances on from where they failed", atRev: true,
		example: `  lockstep inst retry ID
  lockstep inst retry ID --data '{"amount":3}'
  lockstep inst retry -q 'status:failed error:Timeout'`,
		flags: func(cmd *cobra.Command, v *verbFlags) {
			cmd.Flags().StringVar(&v.data, "data", "", "the input that the failed state gets instead: `JSON`, @FILE, or - for stdin")
		},
		do: func(ctx context.Context, r remote, id string, v *verbFlags, c client.Control) (client.Instance, error) {
			return r.RetryInstance(ctx, id, v.read, c)
		},
	},
	{
		name: "skip", past: "skipped", short: "Let failed instances go on as if the failed state had given a result", atRev: true,
		example: `  lockstep inst skip ID --result '{"charged":true}'`,
		flags: func(cmd *cobra.Command, v *verbFlags) {
			cmd.Flags().StringVar(&v.result, "result", "", "what the failed state should have given: `JSON`, @FILE, or - for stdin")
		},
		do: func(ctx context.Context, r remote, id string, v *verbFlags, c client.Control) (client.Instance, error) {
			return r.SkipInstance(ctx, id, v.read, c)
		},
	},
	{
		name: "pause", past: "paused", short: "Pause instances",
		example: `  lockstep inst pause ID
  lockstep inst pause -q 'def:order status:running,waiting' --reason 'the shop is closed'`,
		do: func(ctx context.Context, r remote, id string, _ *verbFlags, c client.Control) (client.Instance, error) {
			return r.PauseInstance(ctx, id, c)
		},
	},
	{
		name: "resume", past: "resumed", short: "Let paused instances go on, and those that are set aside try again",
		example: `  lockstep inst resume ID
  lockstep inst resume -q 'status:paused'`,
		do: func(ctx context.Context, r remote, id string, _ *verbFlags, c client.Control) (client.Instance, error) {
			return r.ResumeInstance(ctx, id, c)
		},
	},
	{
		name: "cancel", past: "cancelled", short: "Ask instances to stop, and what they wait for",
		example: `  lockstep inst cancel ID --compensate
  lockstep inst cancel -q 'def:order age:>30d'`,
		flags: func(cmd *cobra.Command, v *verbFlags) {
			cmd.Flags().BoolVar(&v.compensate, "compensate", false, "undo completed states first")
		},
		do: func(ctx context.Context, r remote, id string, v *verbFlags, c client.Control) (client.Instance, error) {
			return r.CancelInstance(ctx, id, v.compensate, c)
		},
	},
	{
		name: "terminate", past: "terminated", short: "Stop instances now",
		example: `  lockstep inst terminate ID --reason 'wrong order'`,
		do: func(ctx context.Context, r remote, id string, _ *verbFlags, c client.Control) (client.Instance, error) {
			return r.TerminateInstance(ctx, id, c)
		},
	},
}

func (a *app) instControls(server *remoteFlags) []*cobra.Command {
	out := make([]*cobra.Command, len(verbs))
	for i := range verbs {
		out[i] = a.instControl(server, &verbs[i])
	}
	return out
}

func (a *app) instControl(server *remoteFlags, v *verb) *cobra.Command {
	var flags verbFlags
	cmd := &cobra.Command{
		Use: v.name + " ID… | -q FILTER", Short: v.short, Example: v.example,
		Long: v.short + ". Over a filter, it says how many there are and asks first, unless --yes is given. Exit code 6 says that some could\n" +
			"not be " + v.past + ".",
	}
	output := listFlag(cmd)
	filterFlag(cmd, &flags.filter)
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask before a change over a filter")
	cmd.Flags().StringVar(&flags.reason, "reason", "", "a `sentence` for the history")
	if v.flags != nil {
		v.flags(cmd, &flags)
	}
	cmd.ValidArgsFunction = a.completeInstances(server, v.name)
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		if err := flags.check(cmd, args); err != nil {
			return err
		}
		if err := flags.readData(r, cmd); err != nil {
			return err
		}
		b := &bulk{remote: r, verb: v, flags: &flags}
		if !cmd.Flags().Changed("filter") {
			for _, id := range args {
				b.targets = append(b.targets, client.Instance{ID: id})
			}
			return b.each(output.value)
		}
		if err := b.find(); err != nil {
			return err
		}
		if len(b.targets) == 0 {
			a.none("instances", output.value)
			return nil
		}
		if err := b.confirm(); err != nil {
			return err
		}
		return b.all(output.value)
	})
	return cmd
}

func (v *verbFlags) check(cmd *cobra.Command, args []string) error {
	filtered := cmd.Flags().Changed("filter")
	switch {
	case filtered && len(args) > 0:
		return usagef("ids and a filter both say which instances; give one of them")
	case !filtered && len(args) == 0:
		f := usagef("%s needs the id of an instance, or a filter with -q", cmd.CommandPath())
		f.hint = fmt.Sprintf("%q shows examples", cmd.CommandPath()+" --help")
		return f
	case cmd.Name() == "skip" && !cmd.Flags().Changed("result"):
		return usagef("lockstep inst skip needs --result, what the failed state should have given")
	}
	return nil
}

// readData reads --data or --result.
func (v *verbFlags) readData(r remote, cmd *cobra.Command) error {
	for _, name := range []string{"data", "result"} {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		value, given, err := r.app.readData(r.ctx, "--"+name, f.Value.String())
		if err != nil {
			return err
		}
		if !given {
			return usagef("--%s is empty; is a variable not set?", name)
		}
		v.read = client.Data(value.String())
	}
	return nil
}
