package schedule

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// Command is `lockstep schedule`.
func Command(a *cli.App) *cobra.Command {
	var server remote.Flags
	cmd := a.Group("schedule", "Read and control the schedules of a server", `  lockstep schedule ls
  lockstep schedule describe nightly
  lockstep schedule pause nightly --reason 'month end'
  lockstep schedule trigger nightly
  lockstep schedule backfill nightly --from 2026-03-01 --to 2026-03-08`)
	server.Add(cmd)
	cmd.AddCommand(list(a, &server), describe(a, &server), pause(a, &server), resume(a, &server), set(a, &server), trigger(a, &server), backfill(a, &server))
	return cmd
}

var listing = cli.Listing[api.Schedule]{
	What:    "schedules: no definition starts by itself",
	Columns: []string{"DEFINITION", "SCHEDULE", "STATE", "NEXT", "LAST", "OUTCOME"},
	Row: func(s api.Schedule) []string {
		next, last, outcome := "", "", ""
		if len(s.Next) > 0 {
			next = cli.Instant(s.Next[0])
		}
		if len(s.Fires) > 0 {
			last, outcome = cli.Instant(s.Fires[0].At), outcomeOf(s.Fires[0])
		}
		return []string{s.Definition, when(s), s.State, next, last, outcome}
	},
	Wide: []string{"OVERLAP", "CATCH-UP", "REASON"},
	WideRow: func(s api.Schedule) []string {
		reason := ""
		if s.Paused != nil {
			reason = s.Paused.Reason
		}
		return []string{s.Overlap, catchUp(s), reason}
	},
	Name: func(s api.Schedule) string { return s.Definition },
}

// when says when a schedule fires.
func when(s api.Schedule) string {
	text := cmp.Or(s.Cron, s.Every)
	if s.Every != "" {
		text = "every " + s.Every
	}
	if s.After != "" {
		text = s.After + " after the end"
	}
	switch {
	case s.Cron == "":
	case s.Zone == time.Local.String():
		text += " server's time"
	default:
		text += " " + s.Zone
	}
	return text
}

// outcomeOf is what became of a fire time.
func outcomeOf(f api.Fire) string {
	return strings.TrimSpace(f.Outcome + " " + string(f.Status))
}

func catchUp(s api.Schedule) string {
	if s.CatchUpWindow != "" && s.CatchUp != "none" {
		return s.CatchUp + " within " + s.CatchUpWindow
	}
	return s.CatchUp
}

func list(a *cli.App, server *remote.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "List schedules with their next fire time and the last one", Args: cli.AtMost(0),
		Example: `  lockstep schedule ls
  lockstep schedule ls -o wide
  lockstep schedule ls -w`,
	}
	flags := cli.AddListFlags(cmd, 50)
	flags.AddWatch(cmd)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, _ []string) error {
		schedules := func() iter.Seq2[api.Schedule, error] {
			return remote.Pages(flags.Limit, func(p client.Paging) (api.Page[api.Schedule], error) {
				return r.ListSchedules(r.Ctx, p)
			})
		}
		return remote.List(r.Ctx, a, listing, flags, schedules)
	})
	return cmd
}

func describe(a *cli.App, server *remote.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "describe DEFINITION", Short: "Show a schedule, its next fire times and the last ones", Args: oneDefinition,
		Example: "  lockstep schedule describe nightly",
	}
	output := cli.ItemFlag(cmd)
	cmd.ValidArgsFunction = remote.CompleteDefinitions(server)
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		s, err := r.GetSchedule(r.Ctx, args[0])
		if err != nil {
			return err
		}
		return write(a, s, output)
	})
	return cmd
}

var oneDefinition = cli.Exactly("the id of a definition")

// write shows a schedule.
func write(a *cli.App, s api.Schedule, output *cli.Format) error {
	fields := []cli.Field{
		{"definition", cli.JoinVersion(s.Definition, s.Version)},
		{"schedule", when(s)},
		{"from", s.From},
		{"until", s.Until},
		{"state", s.State},
	}
	if s.Paused != nil {
		fields = append(fields, cli.Field{"since", cli.Instant(s.Paused.At)}, cli.Field{"by", s.Paused.By}, cli.Field{"reason", s.Paused.Reason})
	}
	fields = append(fields, cli.Field{"overlap", s.Overlap}, cli.Field{"catch-up", catchUp(s)})
	for _, at := range s.Next {
		fields = append(fields, cli.Field{"next", cli.Instant(at)})
	}
	for _, f := range s.Fires {
		until := ""
		if !f.Until.IsZero() {
			until = " until " + cli.Instant(f.Until)
		}
		fields = append(fields, cli.Field{"fired", strings.TrimSpace(fmt.Sprintf("%s%s  %s  %s", cli.Instant(f.At), until, outcomeOf(f), f.Instance))})
	}
	return cli.WriteItem(a, s, s.Definition, output, fields)
}

// instant reads a time of the command line: a day in UTC, or an instant.
func instant(flag, text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, cli.Usagef("--%s %q is not an instant such as 2026-03-01T00:00:00Z, nor a day such as 2026-03-01", flag, text)
}
