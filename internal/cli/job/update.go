package job

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// statusFlags are the flags of a status.
type statusFlags struct {
	status   api.JobStatus
	progress int
	context  string
}

func update(a *cli.App, server *Flags) *cobra.Command {
	var s statusFlags
	cmd := &cobra.Command{
		Use: "update-status ID --state STATE", Short: "Update a job's status",
		Long: "Update-status replaces the status of a job: the state, progress, message and context. Repeat the current state to report\n" +
			"progress. With --actor client, the default, it acts for the device, at the address for devices; with wfx for the operator. Exit\n" +
			"code 6 means that the workflow does not allow the move now.",
		Example: `  lockstep job update-status ID --state PROGRESS --progress 50 --message 'half of it'
  lockstep job update-status ID --state DISCARDED --actor wfx`,
	}
	output, filter := cli.ItemFlag(cmd), jqFlag(cmd)
	f := cmd.Flags()
	actor := &cli.Choice{Value: "client", Allowed: []string{"client", "wfx"}}
	f.StringVar(&s.status.State, "state", "", "the new `state`, or the current one")
	f.IntVar(&s.progress, "progress", 0, "progress in `percent`")
	f.StringVar(&s.status.Message, "message", "", "a `message` for people")
	f.StringVar(&s.context, "context", "", "any object: `JSON`, @FILE, or - for stdin")
	f.StringVar(&s.status.ClientID, "client-id", "", "the `client` that reports")
	cli.ParseFlag(f, "actor", "who moves it: client (the default), the device, or wfx, the operator", func(text string) error {
		return actor.Set(strings.ToLower(text))
	})
	cli.CompleteFlag(cmd, "actor", actor.Allowed)
	CompleteFlag(server, cmd, "state", moveWords)
	CompleteFlag(server, cmd, "client-id", clientWords)
	oneJob(a, server, cmd, 0, func(r Server, id string, _ []string) error {
		if err := s.read(r, cmd); err != nil {
			return err
		}
		side, done, err := r.as(actor.Value)
		if err != nil {
			return err
		}
		defer done()
		r.Jobs = side
		err = show(r, about(http.MethodPut, id, "status", s.status), *filter, func(got api.JobStatus) error {
			return writeStatus(a, got, output)
		})
		return r.explainMove(id, actor.Value, err)
	})
	return cmd
}

func (s *statusFlags) read(r Server, cmd *cobra.Command) error {
	if s.status.State == "" {
		return cli.Usagef("lockstep job update-status needs --state").
			WithHint("\"lockstep job get ID\" shows what is possible; to report progress, repeat the current state")
	}
	if cmd.Flags().Changed("progress") {
		s.status.Progress = &s.progress
	}
	if s.context == "" {
		return nil
	}
	v, given, err := r.ReadData(r.Ctx, "--context", s.context)
	switch {
	case err != nil:
		return err
	case given && !v.IsObject():
		return cli.Invalidf("the context of a status must be a JSON object, not %s", v.Kind().WithArticle())
	case given:
		s.status.Context = api.Data(v.String())
	}
	return nil
}

// explainMove adds the possible moves to the error of a refused one.
func (r Server) explainMove(id, actor string, err error) error {
	if err == nil || IsNoJob(err) {
		return err
	}
	refused := failure(err)
	f := cli.AsFailure(refused)
	if f.Exit != cli.ExitConflict || f.Hint != "" {
		return refused
	}
	j, problem := r.GetJob(r.Ctx, id, false)
	if problem != nil || j.Workflow == nil {
		return refused
	}
	other := "wfx"
	if actor == "wfx" {
		other = "client"
	}
	actors := map[string]string{"client": api.ActorClient, "wfx": api.ActorOperator}
	possible := append(j.Workflow.Moves(j.State(), actors[actor]), j.State())
	f.Hint = fmt.Sprintf("it is in %s; possible as %s: %s", j.State(), actor, strings.Join(possible, ", "))
	if moves := j.Workflow.Moves(j.State(), actors[other]); len(moves) > 0 {
		f.Hint += fmt.Sprintf("; as %s: %s", other, strings.Join(moves, ", "))
	}
	return f
}

func definition(a *cli.App, server *Flags) *cobra.Command {
	cmd := a.Group("definition", "Read or replace the definition of a job", `  lockstep job definition get ID
  lockstep job definition update ID '{"url":"https://example.com/fw-2.bin"}'`)
	cmd.AddCommand(definitionGet(a, server), definitionUpdate(a, server))
	return cmd
}

func definitionGet(a *cli.App, server *Flags) *cobra.Command {
	cmd := &cobra.Command{Use: "get ID", Short: "Print the definition of a job", Example: "  lockstep job definition get ID | jq .url"}
	output, filter := cli.FormatFlag(cmd, "json", "yaml"), jqFlag(cmd)
	oneJob(a, server, cmd, 0, func(r Server, id string, _ []string) error {
		return show(r, about(http.MethodGet, id, "definition", nil), *filter, func(d api.Data) error {
			return output.WriteData(a.Out, d)
		})
	})
	return cmd
}

func definitionUpdate(a *cli.App, server *Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "update ID JSON|@FILE|-", Aliases: []string{"set"}, Short: "Replace the definition of a job",
		Long: "Update replaces the definition of a job in any state. Its client sees a new hash in the status.",
		Example: `  lockstep job definition update ID '{"url":"https://example.com/fw-2.bin"}'
  lockstep job definition update ID @firmware.json`,
	}
	output := cli.FormatFlag(cmd, "json", "yaml")
	oneJob(a, server, cmd, 1, func(r Server, id string, rest []string) error {
		if len(rest) == 0 {
			return cli.Usagef("%s needs the new definition: JSON, @FILE, or - for stdin", cmd.CommandPath())
		}
		v, given, err := r.ReadData(r.Ctx, "the definition", rest[0])
		switch {
		case err != nil:
			return err
		case !given || !v.IsObject():
			return cli.Invalidf("the definition of a job must be a JSON object")
		}
		call := about(http.MethodPut, id, "definition", api.Data(v.String()))
		return show(r, call, "", func(d api.Data) error { return output.WriteData(a.Out, d) })
	})
	return cmd
}

func tags(a *cli.App, server *Flags) *cobra.Command {
	cmd := a.Group("tags", "Read, add and remove the tags of a job", `  lockstep job tags get ID
  lockstep job tags add ID pilot eu
  lockstep job tags rm ID pilot`)
	remove := tagsCommand(a, server, "rm ID TAG…", "Remove tags from a job, one a line", http.MethodDelete)
	remove.ValidArgsFunction = completeTags(server)
	cmd.AddCommand(
		tagsCommand(a, server, "get ID", "Print the tags of a job, one a line", http.MethodGet),
		tagsCommand(a, server, "add ID TAG…", "Add tags to a job, one a line", http.MethodPost),
		remove)
	return cmd
}

func tagsCommand(a *cli.App, server *Flags, use, short, method string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	output := cli.ListFlag(cmd)
	rest := -1
	if method == http.MethodGet {
		rest = 0
	}
	oneJob(a, server, cmd, rest, func(r Server, id string, tags []string) error {
		call := about(method, id, "tags", nil)
		if method != http.MethodGet {
			call.Body = tags
			if len(tags) == 0 {
				return cli.Usagef("%s needs a tag", cmd.CommandPath())
			}
		}
		return show(r, call, "", func(got []string) error {
			format := output
			if format.Value == "table" {
				format = cli.AsFormat("name")
			}
			return cli.Listing[string]{Name: func(t string) string { return t }}.Write(a, format, got)
		})
	})
	return cmd
}
