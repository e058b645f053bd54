package inst

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// verb is an intervention.
type verb struct {
	name, past string
	command    string // if it is not the name
	short      string
	example    string

	// atRev: only if the instance has not changed since it was read.
	atRev bool
	flags func(cmd *cobra.Command, v *verbFlags)
	do    func(ctx context.Context, r remote.Server, id string, v *verbFlags, c client.Control) (api.Instance, error)
}

// verbFlags are the flags of all of them.
type verbFlags struct {
	filter, reason string
	yes            bool
	data, result   string
	compensate     bool
	failedItems    bool

	read api.Data // the value of data or result
}

var verbs = []verb{
	{
		name: api.VerbRetry, past: "retried", short: "Continue failed instances from where they failed", atRev: true,
		example: `  lockstep inst retry ID
  lockstep inst retry ID --data '{"amount":3}'
  lockstep inst retry ID --failed-items
  lockstep inst retry -q 'status:failed error:Timeout'`,
		flags: func(cmd *cobra.Command, v *verbFlags) {
			cmd.Flags().StringVar(&v.data, "data", "", "new input for the failed state: `JSON`, @FILE, or - for stdin")
			cmd.Flags().BoolVar(&v.failedItems, "failed-items", false, "run only the unfinished items of the foreach again")
		},
		do: func(ctx context.Context, r remote.Server, id string, v *verbFlags, c client.Control) (api.Instance, error) {
			c.FailedItems = v.failedItems
			return r.RetryInstance(ctx, id, v.read, c)
		},
	},
	{
		name: api.VerbSkip, past: "skipped", short: "Continue failed instances as if the failed state had returned a result", atRev: true,
		example: `  lockstep inst skip ID --result '{"charged":true}'`,
		flags: func(cmd *cobra.Command, v *verbFlags) {
			cmd.Flags().StringVar(&v.result, "result", "", "what the failed state should have returned: `JSON`, @FILE, or - for stdin")
		},
		do: func(ctx context.Context, r remote.Server, id string, v *verbFlags, c client.Control) (api.Instance, error) {
			return r.SkipInstance(ctx, id, v.read, c)
		},
	},
	{
		name: api.VerbPause, past: "paused", short: "Pause instances",
		example: `  lockstep inst pause ID
  lockstep inst pause -q 'def:order status:running,waiting' --reason 'the shop is closed'`,
		do: func(ctx context.Context, r remote.Server, id string, _ *verbFlags, c client.Control) (api.Instance, error) {
			return r.PauseInstance(ctx, id, c)
		},
	},
	{
		name: api.VerbResume, past: "resumed", short: "Resume paused instances, and retry quarantined ones",
		example: `  lockstep inst resume ID
  lockstep inst resume -q 'status:paused'`,
		do: func(ctx context.Context, r remote.Server, id string, _ *verbFlags, c client.Control) (api.Instance, error) {
			return r.ResumeInstance(ctx, id, c)
		},
	},
	{
		name: api.VerbCancel, past: "cancelled", short: "Cancel instances and what they wait for",
		example: `  lockstep inst cancel ID --compensate
  lockstep inst cancel -q 'def:order age:>30d'`,
		flags: func(cmd *cobra.Command, v *verbFlags) {
			cmd.Flags().BoolVar(&v.compensate, "compensate", false, "undo completed states first")
		},
		do: func(ctx context.Context, r remote.Server, id string, v *verbFlags, c client.Control) (api.Instance, error) {
			return r.CancelInstance(ctx, id, v.compensate, c)
		},
	},
	{
		name: api.VerbTerminate, past: "terminated", short: "Stop instances now",
		example: `  lockstep inst terminate ID --reason 'wrong order'`,
		do: func(ctx context.Context, r remote.Server, id string, _ *verbFlags, c client.Control) (api.Instance, error) {
			return r.TerminateInstance(ctx, id, c)
		},
	},
	{
		name: api.VerbDelete, command: "rm", past: "deleted", short: "Delete instances that have ended, with their history", atRev: true,
		example: `  lockstep inst rm ID
  lockstep inst rm -q 'def:order status:completed age:>90d'`,
		do: func(ctx context.Context, r remote.Server, id string, _ *verbFlags, c client.Control) (api.Instance, error) {
			return api.Instance{}, r.DeleteInstance(ctx, id, c.Rev)
		},
	},
}

func controls(a *cli.App, server *remote.Flags) []*cobra.Command {
	out := make([]*cobra.Command, len(verbs))
	for i := range verbs {
		out[i] = control(a, server, &verbs[i])
	}
	return out
}

func control(a *cli.App, server *remote.Flags, v *verb) *cobra.Command {
	var flags verbFlags
	cmd := &cobra.Command{
		Use: cmp.Or(v.command, v.name) + " ID… | -q FILTER", Short: v.short, Example: v.example,
		Long: v.short + ". With a filter it shows how many there are and asks first, unless --yes is given. Exit code 6 means that some could\n" +
			"not be " + v.past + ".",
	}
	output := cli.ListFlag(cmd)
	filterFlag(cmd, &flags.filter)
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask before changing the instances of a filter")
	if v.name != api.VerbDelete { // it has no history then
		cmd.Flags().StringVar(&flags.reason, "reason", "", "a `sentence` for the history")
	}
	if v.flags != nil {
		v.flags(cmd, &flags)
	}
	cmd.ValidArgsFunction = remote.CompleteInstances(server, v.name)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		if err := flags.check(cmd, args); err != nil {
			return err
		}
		if err := flags.readData(r, cmd); err != nil {
			return err
		}
		b := &bulk{Server: r, verb: v, flags: &flags}
		if !cmd.Flags().Changed("filter") {
			for _, id := range args {
				b.targets = append(b.targets, api.Instance{ID: id})
			}
			return b.each(output)
		}
		if err := b.find(); err != nil {
			return err
		}
		if len(b.targets) == 0 {
			if output.Value == "table" {
				fmt.Fprintln(a.Err, "no instances")
			}
			return nil
		}
		if err := b.confirm(); err != nil {
			return err
		}
		return b.all(output)
	})
	return cmd
}

func (v *verbFlags) check(cmd *cobra.Command, args []string) error {
	filtered := cmd.Flags().Changed("filter")
	switch {
	case filtered && len(args) > 0:
		return cli.Usagef("give either ids or a filter, not both")
	case !filtered && len(args) == 0:
		return cli.Usagef("%s needs the id of an instance, or a filter with -q", cmd.CommandPath()).WithExamples(cmd)
	case v.failedItems && cmd.Flags().Changed("data"):
		return cli.Usagef("give either --failed-items or --data: failed items run with the data that is there")
	case cmd.Name() == api.VerbSkip && !cmd.Flags().Changed("result"):
		return cli.Usagef("lockstep inst skip needs --result, what the failed state should have returned")
	}
	return nil
}

// readData reads --data or --result.
func (v *verbFlags) readData(r remote.Server, cmd *cobra.Command) error {
	for _, name := range []string{"data", "result"} {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		value, given, err := r.App.ReadData(r.Ctx, "--"+name, f.Value.String())
		if err != nil {
			return err
		}
		if !given {
			return cli.Usagef("--%s is empty; is a variable not set?", name)
		}
		v.read = api.Data(value.String())
	}
	return nil
}
