package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

func (a *app) jobCommand() *cobra.Command {
	var server jobFlags
	cmd := a.group("job", "Create, follow and advance the jobs of a server", `  lockstep job create --workflow kanban --client-id dana --definition '{"title":"write docs"}'
  lockstep job ls --group OPEN --tag urgent
  lockstep job update-status ID --state PROGRESS --progress 50
  lockstep job watch ID
  lockstep job rm --older-than 30d --state DONE`)
	server.add(cmd)
	cmd.AddCommand(a.jobCreate(&server), a.jobList(&server), a.jobCount(&server), a.jobGet(&server), a.jobWatch(&server), a.jobEvents(&server),
		a.jobStatus(&server), a.jobUpdate(&server), a.jobDefinition(&server), a.jobTags(&server), a.jobRemove(&server))
	return cmd
}

// jobArg adds --id beside the argument ID, for those who know it from wfxctl.
func jobArg(cmd *cobra.Command, id *string) {
	cmd.Flags().StringVar(id, "id", "", "the job's `id`, instead of the argument")
}

// theJob is the id that a command was given, and the arguments behind it.
func theJob(cmd *cobra.Command, id string, args []string, rest int) (string, []string, error) {
	if id == "" && len(args) > 0 {
		id, args = args[0], args[1:]
	}
	switch {
	case id == "":
		f := usagef("%s needs the id of a job", cmd.CommandPath())
		f.hint = fmt.Sprintf("%q shows examples; \"lockstep job ls\" lists jobs", cmd.CommandPath()+" --help")
		return "", nil, f
	case rest >= 0 && len(args) > rest:
		return "", nil, usagef("%s takes no argument %q", cmd.CommandPath(), args[rest])
	}
	return id, args, nil
}

// jqFlag adds --filter, which the server applies to its answer.
func jqFlag(cmd *cobra.Command, filter *string) {
	cmd.Flags().StringVar(filter, "filter", "", "let the server apply this `jq` expression to its answer, and print what comes out")
}

// filtered writes the answer of the server as its filter left it.
func (r jobRemote) filtered(call client.JobsCall) error {
	text, err := r.Do(r.ctx, call)
	if err != nil {
		return err
	}
	_, err = r.out.Write(text)
	return err
}

func jobListing() listing[client.Job] {
	return listing[client.Job]{
		columns: []string{"JOB", "CLIENT", "WORKFLOW", "STATE", "PROGRESS", "AGE", "CHANGED", "TAGS", "MESSAGE"},
		row: func(j client.Job) []string {
			progress, message := "", ""
			if s := j.Status; s != nil {
				progress, message = percent(s.Progress), short(s.Message)
			}
			return []string{j.ID, j.ClientID, j.WorkflowName(), j.State(), progress, ago(j.Stime), ago(j.Mtime) + " ago", strings.Join(j.Tags, ","), message}
		},
		name: func(j client.Job) string { return j.ID },
	}
}

func percent(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("%d%%", *n)
}

// writeJob writes all that is known of one.
func writeJob(a *app, j client.Job, format string) error {
	fields := []field{
		{"id", j.ID},
		{"client", j.ClientID},
		{"workflow", j.WorkflowName()},
		{"state", j.State()},
	}
	if j.Workflow != nil {
		fields = append(fields, field{"group", j.Workflow.Group(j.State())})
	}
	if s := j.Status; s != nil {
		fields = append(fields, field{"progress", percent(s.Progress)}, field{"message", s.Message}, field{"context", string(s.Context)}, field{"reported by", s.ClientID})
	}
	fields = append(fields, field{"created", instant(j.Stime)}, field{"changed", instant(j.Mtime)}, field{"tags", strings.Join(j.Tags, ", ")}, field{"definition", string(j.Definition)})
	if j.Workflow != nil {
		for _, who := range []struct{ actor, name string }{{client.ActorClient, "client may"}, {client.ActorOperator, "operator may"}} {
			fields = append(fields, field{who.name, strings.Join(j.Workflow.Moves(j.State(), who.actor), ", ")})
		}
		if len(j.Workflow.States) > 0 && j.Workflow.Final(j.State()) {
			fields = append(fields, field{"final", "yes"})
		}
	}
	for i, h := range j.History {
		name := ""
		if i == 0 {
			name = "before"
		}
		fields = append(fields, field{orBlank(name), changeText(h)})
	}
	return writeItem(a, j, j.ID, format, fields)
}

func orBlank(name string) string {
	if name == "" {
		return " "
	}
	return name
}

// changeText tells in a line what a change replaced.
func changeText(h client.JobChange) string {
	if h.Status == nil {
		return instant(h.Mtime) + "  definition " + short(string(h.Definition))
	}
	return strings.TrimRight(instant(h.Mtime)+"  "+statusText(*h.Status), " ")
}

// statusText is a status in a line.
func statusText(s client.JobStatus) string {
	parts := []string{s.State}
	for _, part := range []string{percent(s.Progress), s.Message, string(s.Context)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "  ")
}

func (a *app) jobGet(server *jobFlags) *cobra.Command {
	var id, filter string
	var history bool
	cmd := &cobra.Command{
		Use: "get ID", Short: "Show a job",
		Long: "Get shows a job: its state, what its client and its operator may do next, and with --history what each change replaced.",
		Example: `  lockstep job get ID --history
  lockstep job get ID -o json
  lockstep job get ID --filter .status.state`,
	}
	output := itemFlag(cmd)
	jobArg(cmd, &id)
	jqFlag(cmd, &filter)
	cmd.Flags().BoolVar(&history, "history", false, "with what each change replaced, newest first")
	cmd.ValidArgsFunction = a.completeJobs(server)
	a.oneJob(server, cmd, &id, 0, func(r jobRemote, id string, _ []string) error {
		if filter != "" {
			return r.filtered(client.JobsCall{Method: "GET", Path: []string{"jobs", id}, Query: map[string][]string{"history": {fmt.Sprint(history)}}, Filter: filter})
		}
		j, err := r.GetJob(r.ctx, id, history)
		if err != nil {
			return err
		}
		return writeJob(a, j, output.value)
	})
	return cmd
}

func (a *app) jobStatus(server *jobFlags) *cobra.Command {
	var id, filter string
	cmd := &cobra.Command{
		Use: "status ID", Aliases: []string{"get-status"}, Short: "Show the status of a job",
		Example: `  lockstep job status ID
  lockstep job status ID -o json | jq .progress`,
	}
	output := itemFlag(cmd)
	jobArg(cmd, &id)
	jqFlag(cmd, &filter)
	cmd.ValidArgsFunction = a.completeJobs(server)
	a.oneJob(server, cmd, &id, 0, func(r jobRemote, id string, _ []string) error {
		if filter != "" {
			return r.filtered(client.JobsCall{Method: "GET", Path: []string{"jobs", id, "status"}, Filter: filter})
		}
		s, err := r.GetStatus(r.ctx, id)
		if err != nil {
			return err
		}
		return writeStatus(a, s, output.value)
	})
	return cmd
}

func writeStatus(a *app, s client.JobStatus, format string) error {
	return writeItem(a, s, s.State, format, []field{
		{"state", s.State},
		{"progress", percent(s.Progress)},
		{"message", s.Message},
		{"context", string(s.Context)},
		{"reported by", s.ClientID},
		{"definition hash", s.DefinitionHash},
	})
}
