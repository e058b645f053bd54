package backups

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/stores"
)

// RestoreCommand is `lockstep restore`.
func RestoreCommand(a *cli.App) *cobra.Command {
	var storeText string
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Make a store of a backup, paused", Args: cli.Exactly("FILE"),
		Long: "Restore makes a store of a backup. The store must not exist yet: another file, or a database without the schema. It is paused, and no\n" +
			"server starts with it, until \"lockstep resume\", because what happened after the backup happened: calls that were in flight then are\n" +
			"made again, under the same idempotency keys, and timers that were due since fire. Restore lists both.",
		Example: `  lockstep restore nightly.backup --store sqlite:/var/lib/lockstep/lockstep.db
  lockstep resume --store sqlite:/var/lib/lockstep/lockstep.db`,
	}
	output := cli.OutputFlag(cmd, "format", "text", "json")
	cmd.Flags().StringVar(&storeText, "store", "", "the store to make: sqlite:`FILE` or postgres://…")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := parse(storeText)
		if err != nil {
			return err
		}
		head, err := at.Restore(cmd.Context(), args[0])
		if at.Kind == stores.SQLite {
			tellLeftovers(a, at.Path)
		}
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		p, err := pendingIn(cmd.Context(), at)
		if err != nil {
			return fmt.Errorf("read the restored store: %w", err)
		}
		fmt.Fprintf(a.Err, "%s: restored as it was at %s, and paused: \"lockstep resume\" lets it run\n", at, head.Created.Format(time.RFC3339))
		return p.write(a, output.Value == "json")
	}
	return cmd
}

// ResumeCommand is `lockstep resume`.
func ResumeCommand(a *cli.App) *cobra.Command {
	var storeText string
	var dry bool
	cmd := &cobra.Command{
		Use: "resume", Short: "Let a store run that was restored from a backup", Args: cli.AtMost(0),
		Long:    "Resume lists the calls that will be made again and what is due, and lets servers start with the store. It starts nothing itself.",
		Example: `  lockstep resume --store sqlite:/var/lib/lockstep/lockstep.db --dry-run`,
	}
	output := cli.OutputFlag(cmd, "format", "text", "json")
	cmd.Flags().StringVar(&storeText, "store", "", "the store: sqlite:`FILE` or postgres://…")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		at, err := parse(storeText)
		switch {
		case err != nil:
			return err
		case !at.Exists():
			return cli.NotFoundf("there is no store %s", at)
		}
		p, err := pendingIn(cmd.Context(), at)
		if err != nil {
			return fmt.Errorf("read the store %s: %w", at, err)
		}
		if err := p.write(a, output.Value == "json"); err != nil || dry {
			return err
		}
		s, err := at.Open(cmd.Context(), stores.Options{Namespace: "default", Resume: true})
		if err != nil {
			return fmt.Errorf("open the store %s: %w", at, err)
		}
		fmt.Fprintf(a.Err, "%s is resumed\n", at)
		return s.Close()
	}
	return cmd
}

// pending is what a store does once it runs.
type pending struct {
	Calls     []call `json:"calls"`     // made again
	Due       int    `json:"due"`       // instances that have something to do, such as a timer that is due
	Schedules int    `json:"schedules"` // that are due, and not paused
	Events    int    `json:"events"`    // not sent to the sink yet
}

// call is a call that was in flight.
type call struct {
	Namespace string `json:"namespace"`
	Instance  string `json:"instance"`
	Function  string `json:"function"`
	Key       string `json:"idempotencyKey"`
}

// maxPending is how many of each kind are counted ("pending-count").
const maxPending = 10_000

func pendingIn(ctx context.Context, at stores.Address) (*pending, error) {
	p := &pending{Calls: []call{}}
	now := core.TimeOf(time.Now())
	err := at.Namespaces(ctx, func(name string, s store.Store) error {
		calls, err := s.Calls(ctx, "")
		if err != nil {
			return err
		}
		for _, c := range calls {
			p.Calls = append(p.Calls, call{name, c.Instance, c.Function.Name, engine.CallKey(c)})
		}
		due, err := s.Ready(ctx, now, maxPending)
		if err != nil {
			return err
		}
		fires, err := engine.DueSchedules(ctx, s, now)
		if err != nil {
			return err
		}
		unsent, err := s.Outbound(ctx, maxPending)
		p.Due, p.Schedules, p.Events = p.Due+len(due), p.Schedules+len(fires), p.Events+len(unsent)
		return err
	})
	return p, err
}

func (p *pending) write(a *cli.App, asJSON bool) error {
	if asJSON {
		return cli.WriteJSONLine(a.Out, p)
	}
	fmt.Fprintf(a.Err, "once it runs: %s made again, %s to do, %s due, %s for the sink\n",
		cli.Plural(len(p.Calls), "call"), cli.Plural(p.Due, "instance")+" with something", cli.Plural(p.Schedules, "schedule"), cli.Plural(p.Events, "event"))
	for _, c := range p.Calls {
		if _, err := fmt.Fprintf(a.Out, "call of %s by %s, key %s\n", cli.Plain(c.Function), cli.Plain(c.Instance), cli.Plain(c.Key)); err != nil {
			return err
		}
	}
	return nil
}
