package schedule

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

func trigger(a *cli.App, server *remote.Flags) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "trigger DEFINITION", Short: "Start an instance now, as the schedule would", Args: oneDefinition,
		Long: "Trigger starts an instance as the schedule would: with the same input, even if the schedule is paused, the definition\n" +
			"does not allow other starts, or another instance has not ended. It is refused while the definition is paused or retired.",
		Example: "  lockstep schedule trigger nightly",
	}
	output := cli.ItemFlag(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the log of the server")
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		t, err := r.TriggerSchedule(r.Ctx, args[0], reason)
		if err != nil {
			return err
		}
		return cli.WriteItem(a, t, t.Instance, output, []cli.Field{{"definition", t.Definition}, {"instance", t.Instance}})
	})
	return cmd
}

func backfill(a *cli.App, server *remote.Flags) *cobra.Command {
	var from, to, reason string
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use: "backfill DEFINITION --from TIME --to TIME", Short: "Start the instances of fire times that have passed", Args: oneDefinition,
		Long: "Backfill starts an instance for each fire time from --from until --to, which is not included, at most 1000. It shows how many there\n" +
			"are, and asks. A fire time that has an instance is not started again, so the command can be repeated. Overlap rules do not\n" +
			"apply: all instances start now.",
		Example: `  lockstep schedule backfill nightly --from 2026-03-01 --to 2026-03-08 --dry-run
  lockstep schedule backfill nightly --from 2026-03-01T00:00:00Z --to 2026-03-02T12:00:00Z --yes`,
	}
	output := cli.ListFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "the first fire time at the earliest: an `instant` or a day (UTC)")
	f.StringVar(&to, "to", "", "fire times before this `instant` or day (UTC)")
	f.BoolVar(&dryRun, "dry-run", false, "only show what would be started")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.StringVar(&reason, "reason", "", "why, for the log of the server")
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		if from == "" || to == "" {
			return cli.Usagef("lockstep schedule backfill needs --from and --to")
		}
		b := api.BackfillRequest{DryRun: true, Reason: reason}
		var err error
		if b.From, err = instant("from", from); err != nil {
			return err
		}
		if b.To, err = instant("to", to); err != nil {
			return err
		}
		plan, err := r.BackfillSchedule(r.Ctx, args[0], b)
		if err != nil {
			return err
		}
		if !dryRun && plan.Started > 0 {
			var fresh []api.BackfilledFire
			for _, x := range plan.Fires {
				if !x.Existing {
					fresh = append(fresh, x)
				}
			}
			err := a.Confirm(r.Ctx, len(fresh), "instance", "started", func(i int) string {
				return fmt.Sprintf("%s  %s", cli.Instant(fresh[i].At), fresh[i].Instance)
			}, yes)
			if err != nil {
				return err
			}
			b.DryRun = false
			if plan, err = r.BackfillSchedule(r.Ctx, args[0], b); err != nil {
				return err
			}
		}
		result := "started"
		if plan.DryRun {
			result = "would start"
		}
		return cli.Listing[api.BackfilledFire]{
			What:    "fire times in this range",
			Columns: []string{"FIRE TIME", "INSTANCE", "RESULT"},
			Row: func(x api.BackfilledFire) []string {
				if x.Existing {
					return []string{cli.Instant(x.At), x.Instance, "exists"}
				}
				return []string{cli.Instant(x.At), x.Instance, result}
			},
			Name: func(x api.BackfilledFire) string { return x.Instance },
		}.Write(a, output, plan.Fires)
	})
	return cmd
}
