package schedule

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// decision makes a command that decides about a schedule and shows it.
func decision(a *cli.App, server *remote.Flags, cmd *cobra.Command, do func(ctx context.Context, r remote.Server, id, reason string) (api.Schedule, error)) *cobra.Command {
	var reason string
	cmd.Args = oneDefinition
	output := cli.ItemFlag(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for others to read")
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		s, err := do(r.Ctx, r, args[0], reason)
		if err != nil {
			return err
		}
		return write(a, s, output)
	})
	return cmd
}

func pause(a *cli.App, server *remote.Flags) *cobra.Command {
	return decision(a, server, &cobra.Command{
		Use: "pause DEFINITION", Short: "Keep a schedule from firing",
		Long: "Pause keeps a schedule from firing until it is resumed, also after a restart of the server and in new versions.\n" +
			"Instances that run go on, and other starts are possible.",
		Example: "  lockstep schedule pause nightly --reason 'month end'",
	}, func(ctx context.Context, r remote.Server, id, reason string) (api.Schedule, error) {
		return r.PauseSchedule(ctx, id, reason)
	})
}

func resume(a *cli.App, server *remote.Flags) *cobra.Command {
	return decision(a, server, &cobra.Command{
		Use: "resume DEFINITION", Short: "Let a paused schedule continue with the next fire time",
		Long:    "Resume lets a paused schedule continue with the next fire time. Fire times during the pause are left out; backfill starts them.",
		Example: "  lockstep schedule resume nightly",
	}, func(ctx context.Context, r remote.Server, id, reason string) (api.Schedule, error) {
		return r.ResumeSchedule(ctx, id, reason)
	})
}

func set(a *cli.App, server *remote.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set DEFINITION", Short: "Change how a schedule fires",
		Long: "Set changes how a schedule fires; new versions keep it. What is not given stays as it is, and an empty value restores\n" +
			"the setting of the server.\n\n" +
			"  --overlap    what happens at a fire time if an instance of the schedule has not ended:\n" +
			"               allow starts another, skip leaves the fire time out, queue starts it when that instance ends\n" +
			"  --catch-up   which of the runs missed while no server ran to catch up on: latest, all or none\n" +
			"  --window     how long ago they may be, such as 6h",
		Example: `  lockstep schedule set nightly --overlap skip
  lockstep schedule set nightly --catch-up all --window 6h
  lockstep schedule set nightly --overlap ''`,
	}
	texts := map[string]*string{}
	for _, f := range [][2]string{{"overlap", "allow, skip or queue"}, {"catch-up", "latest, all or none"}, {"window", "a `duration` such as 6h or P1D"}} {
		texts[f[0]] = cmd.Flags().String(f[0], "", f[1])
	}
	return decision(a, server, cmd, func(ctx context.Context, r remote.Server, id, reason string) (api.Schedule, error) {
		given := func(name string) *string {
			if cmd.Flags().Changed(name) {
				return texts[name]
			}
			return nil
		}
		rules := api.RulesRequest{Overlap: given("overlap"), CatchUp: given("catch-up"), CatchUpWindow: given("window"), Reason: reason}
		if rules.CatchUpWindow != nil && *rules.CatchUpWindow != "" {
			var window cli.Duration
			if err := window.Set(*rules.CatchUpWindow); err != nil {
				return api.Schedule{}, cli.Usagef("--window %v", err)
			}
			iso := window.ISO()
			rules.CatchUpWindow = &iso
		}
		if rules.Overlap == nil && rules.CatchUp == nil && rules.CatchUpWindow == nil {
			return api.Schedule{}, cli.Usagef("lockstep schedule set needs --overlap, --catch-up or --window")
		}
		return r.SetSchedule(ctx, id, rules)
	})
}
