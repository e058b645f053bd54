package def

import (
	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// decision makes a command that decides about a definition and shows it.
func decision(a *cli.App, server *remote.Flags, cmd *cobra.Command, do func(r remote.Server, id, reason string) (api.Definition, error)) *cobra.Command {
	var reason string
	cmd.Args = cli.Exactly("the id of a definition")
	output := cli.ItemFlag(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for others to read")
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		d, err := do(r, args[0], reason)
		if err != nil {
			return err
		}
		return cli.WriteItem(a, d, d.ID, output, append([]cli.Field{{"id", d.ID}, {"version", d.Version}}, decisions(d)...))
	})
	return cmd
}

// decisions are what operators decided about a definition.
func decisions(d api.Definition) []cli.Field {
	state, by := "active", (*api.Decision)(nil)
	switch {
	case d.Paused != nil:
		state, by = "paused", d.Paused
	case d.Retired != nil:
		state, by = "retired", d.Retired
	}
	if by == nil {
		return []cli.Field{{"state", state}}
	}
	return []cli.Field{{"state", state}, {"since", cli.Instant(by.At)}, {"by", by.By}, {"reason", by.Reason}}
}

func pause(a *cli.App, server *remote.Flags) *cobra.Command {
	return decision(a, server, &cobra.Command{
		Use: "pause ID", Short: "Stop a definition until it is resumed",
		Long: "Pause stops a definition, all versions of it: no instance is started, no timer fires and no call begins until it is resumed.\n" +
			"Calls in flight may answer. Events are kept: one that would start an instance creates one that is held.\n" +
			"Other definitions are not affected.",
		Example: "  lockstep def pause order --reason 'the payment service is down'",
	}, func(r remote.Server, id, reason string) (api.Definition, error) {
		return r.PauseDefinition(r.Ctx, id, reason)
	})
}

func resume(a *cli.App, server *remote.Flags) *cobra.Command {
	return decision(a, server, &cobra.Command{
		Use: "resume ID", Short: "Let a paused definition continue",
		Long:    "Resume lets a paused definition continue. Timers that became due meanwhile fire now; fire times of its schedule are left out.",
		Example: "  lockstep def resume order",
	}, func(r remote.Server, id, reason string) (api.Definition, error) {
		return r.ResumeDefinition(r.Ctx, id, reason)
	})
}

func retire(a *cli.App, server *remote.Flags) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use: "retire ID", Short: "End a definition: no instance is started any more",
		Long: "Retire ends a definition: no request, event, schedule or other workflow starts an instance\n" +
			"until a new version is deployed. Running instances continue to their end. Once none refers to it, \"lockstep def rm\" deletes it.",
		Example: `  lockstep def retire order --reason 'replaced by checkout'
  lockstep def retire --undo order`,
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "let the definition start again")
	return decision(a, server, cmd, func(r remote.Server, id, reason string) (api.Definition, error) {
		if undo {
			return r.UnretireDefinition(r.Ctx, id, reason)
		}
		return r.RetireDefinition(r.Ctx, id, reason)
	})
}
