package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

// statusFlags say what to report of a job.
type statusFlags struct {
	id, filter string
	status     client.JobStatus
	progress   int
	context    string
}

func (a *app) jobUpdate(server *jobFlags) *cobra.Command {
	var s statusFlags
	cmd := &cobra.Command{
		Use: "update-status ID --state STATE", Short: "Report on a job, and so lead it to a state",
		Long: "Update-status replaces the status of a job: the state, and with it progress, message and context. The state it is in may be named\n" +
			"again, to report progress. As --actor client, which is the default, it speaks for the device, at the address of devices; as wfx for\n" +
			"the operator. A move that the workflow does not allow now ends with exit code 6.",
		Example: `  lockstep job update-status ID --state PROGRESS --progress 50 --message 'half of it'
  lockstep job update-status ID --state DISCARDED --actor wfx`,
	}
	output := itemFlag(cmd)
	jobArg(cmd, &s.id)
	jqFlag(cmd, &s.filter)
	f := cmd.Flags()
	actor := &choice{value: "client", allowed: []string{"client", "wfx"}}
	f.StringVar(&s.status.State, "state", "", "the `state` to lead it to, or the one it is in")
	f.IntVar(&s.progress, "progress", 0, "how far it is, in `percent`")
	f.StringVar(&s.status.Message, "message", "", "a `sentence` for people")
	f.StringVar(&s.context, "context", "", "an object of your own: `JSON`, @FILE, or - for stdin")
	f.StringVar(&s.status.ClientID, "client-id", "", "the `client` that reports")
	f.Var((*lowerChoice)(actor), "actor", "who moves it: client, the device, or wfx, the operator")
	_ = cmd.RegisterFlagCompletionFunc("actor", cobra.FixedCompletions(actor.allowed, cobra.ShellCompDirectiveNoFileComp))
	a.completeFlag(server, cmd, "state", moveWords)
	a.completeFlag(server, cmd, "client-id", clientWords)
	cmd.ValidArgsFunction = a.completeJobs(server)
	a.oneJob(server, cmd, &s.id, 0, func(r jobRemote, id string, _ []string) error {
		if err := s.read(r, cmd); err != nil {
			return err
		}
		side, done, err := r.as(actor.value)
		if err != nil {
			return err
		}
		defer done()
		r.Jobs = side
		if s.filter != "" {
			err := r.filtered(client.JobsCall{Method: "PUT", Path: []string{"jobs", id, "status"}, Body: s.status, Filter: s.filter})
			return r.explainMove(id, actor.value, err)
		}
		got, err := r.UpdateStatus(r.ctx, id, s.status)
		if err != nil {
			return r.explainMove(id, actor.value, err)
		}
		return writeStatus(a, got, output.value)
	})
	return cmd
}

// lowerChoice is a choice whose words may be in capitals.
type lowerChoice choice

func (c *lowerChoice) String() string         { return (*choice)(c).String() }
func (c *lowerChoice) Type() string           { return (*choice)(c).Type() }
func (c *lowerChoice) Set(value string) error { return (*choice)(c).Set(strings.ToLower(value)) }

func (s *statusFlags) read(r jobRemote, cmd *cobra.Command) error {
	if s.status.State == "" {
		f := usagef("lockstep job update-status needs --state")
		f.hint = "\"lockstep job get ID\" shows what is possible; to report progress, name the state that it is in"
		return f
	}
	if cmd.Flags().Changed("progress") {
		s.status.Progress = &s.progress
	}
	if s.context == "" {
		return nil
	}
	v, given, err := r.readData(r.ctx, "--context", s.context)
	switch {
	case err != nil:
		return err
	case given && !v.IsObject():
		return invalidf("the context of a status must be a JSON object, not %s", v.Kind())
	case given:
		s.status.Context = client.Data(v.String())
	}
	return nil
}

// explainMove adds to a refused move what would be possible.
func (r jobRemote) explainMove(id, actor string, err error) error {
	if err == nil || isNoJob(err) {
		return err
	}
	told := jobFailure(err)
	f := asFailure(told)
	if f.exit != exitConflict || f.hint != "" {
		return told
	}
	j, problem := r.GetJob(r.ctx, id, false)
	if problem != nil || j.Workflow == nil {
		return told
	}
	word, other, who := client.ActorClient, client.ActorOperator, "wfx"
	if actor == "wfx" {
		word, other, who = other, word, "client"
	}
	possible := append(j.Workflow.Moves(j.State(), word), j.State())
	f.hint = fmt.Sprintf("it is in %s; possible as %s: %s", j.State(), actor, strings.Join(possible, ", "))
	if moves := j.Workflow.Moves(j.State(), other); len(moves) > 0 {
		f.hint += fmt.Sprintf("; as %s: %s", who, strings.Join(moves, ", "))
	}
	return f
}

func (a *app) jobDefinition(server *jobFlags) *cobra.Command {
	cmd := a.group("definition", "Read or replace what a job is about", `  lockstep job definition get ID
  lockstep job definition update ID '{"url":"https://example.com/fw-2.bin"}'`)
	cmd.AddCommand(a.definitionGet(server), a.definitionUpdate(server))
	return cmd
}

func (a *app) definitionGet(server *jobFlags) *cobra.Command {
	var id, filter string
	cmd := &cobra.Command{Use: "get ID", Short: "Print what a job is about", Example: "  lockstep job definition get ID | jq .url"}
	output := outputFlag(cmd, "format", "json", "yaml")
	jobArg(cmd, &id)
	jqFlag(cmd, &filter)
	cmd.ValidArgsFunction = a.completeJobs(server)
	a.oneJob(server, cmd, &id, 0, func(r jobRemote, id string, _ []string) error {
		if filter != "" {
			return r.filtered(client.JobsCall{Method: "GET", Path: []string{"jobs", id, "definition"}, Filter: filter})
		}
		d, err := r.GetJobDefinition(r.ctx, id)
		if err != nil {
			return err
		}
		return writeValue(a.out, d, output.value)
	})
	return cmd
}

func (a *app) definitionUpdate(server *jobFlags) *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use: "update ID JSON|@FILE|-", Aliases: []string{"set"}, Short: "Replace what a job is about",
		Long: "Update replaces the definition of a job, in whatever state it is. Its client sees that by the hash in the status.",
		Example: `  lockstep job definition update ID '{"url":"https://example.com/fw-2.bin"}'
  lockstep job definition update ID @firmware.json`,
	}
	output := outputFlag(cmd, "format", "json", "yaml")
	jobArg(cmd, &id)
	cmd.ValidArgsFunction = a.completeJobs(server)
	a.oneJob(server, cmd, &id, 1, func(r jobRemote, id string, rest []string) error {
		if len(rest) == 0 {
			return usagef("%s needs the new definition: JSON, @FILE, or - for stdin", cmd.CommandPath())
		}
		v, given, err := r.readData(r.ctx, "the definition", rest[0])
		switch {
		case err != nil:
			return err
		case !given || !v.IsObject():
			return invalidf("the definition of a job must be a JSON object")
		}
		d, err := r.UpdateJobDefinition(r.ctx, id, client.Data(v.String()))
		if err != nil {
			return err
		}
		return writeValue(a.out, d, output.value)
	})
	return cmd
}

func (a *app) jobTags(server *jobFlags) *cobra.Command {
	cmd := a.group("tags", "Read, add and remove the tags of a job", `  lockstep job tags get ID
  lockstep job tags add ID pilot eu
  lockstep job tags rm ID pilot`)
	cmd.AddCommand(
		a.tagsChange(server, "get ID", "Print the tags of a job", false, func(r jobRemote, id string, _ []string) ([]string, error) { return r.GetTags(r.ctx, id) }),
		a.tagsChange(server, "add ID TAG…", "Add tags to a job", true, func(r jobRemote, id string, tags []string) ([]string, error) { return r.AddTags(r.ctx, id, tags...) }),
		a.tagsChange(server, "rm ID TAG…", "Remove tags from a job", true, func(r jobRemote, id string, tags []string) ([]string, error) { return r.DeleteTags(r.ctx, id, tags...) }))
	return cmd
}

func (a *app) tagsChange(server *jobFlags, use, short string, change bool, do func(jobRemote, string, []string) ([]string, error)) *cobra.Command {
	var id string
	cmd := &cobra.Command{Use: use, Short: short + ", one a line"}
	output := listFlag(cmd)
	jobArg(cmd, &id)
	most := 0
	cmd.ValidArgsFunction = a.completeJobs(server)
	if change {
		most = -1
	}
	if strings.HasPrefix(use, "rm ") {
		cmd.ValidArgsFunction = a.completeTags(server)
	}
	a.oneJob(server, cmd, &id, most, func(r jobRemote, id string, tags []string) error {
		if change && len(tags) == 0 {
			return usagef("%s needs a tag", cmd.CommandPath())
		}
		got, err := do(r, id, tags)
		if err != nil {
			return err
		}
		format := output.value
		if format == "table" {
			format = "name"
		}
		return listing[string]{name: func(t string) string { return t }, items: got}.write(a, format)
	})
	return cmd
}
