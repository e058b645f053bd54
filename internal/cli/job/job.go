package job

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// Command is `lockstep job`.
func Command(a *cli.App) *cobra.Command {
	var server Flags
	cmd := a.Group("job", "Create, follow and advance the jobs of a server", `  lockstep job create --workflow kanban --client-id dana --definition '{"title":"write docs"}'
  lockstep job ls --group OPEN --tag urgent
  lockstep job update-status ID --state PROGRESS --progress 50
  lockstep job watch ID
  lockstep job rm --older-than 30d --state DONE`)
	server.Add(cmd)
	cmd.AddCommand(create(a, &server), list(a, &server), count(a, &server), get(a, &server), watch(a, &server), events(a, &server),
		status(a, &server), update(a, &server), definition(a, &server), tags(a, &server), remove(a, &server))
	return cmd
}

// oneJob makes a command for one job, which the first argument or --id names, as in wfxctl; rest is how many
// arguments may follow, -1 any number.
func oneJob(a *cli.App, server *Flags, cmd *cobra.Command, rest int, run func(r Server, id string, args []string) error) {
	id := cmd.Flags().String("id", "", "the job's `id`, instead of the argument")
	cmd.ValidArgsFunction = completeIDs(server)
	cmd.RunE = Run(a, server, func(r Server, args []string) error {
		id := *id
		if id == "" && len(args) > 0 {
			id, args = args[0], args[1:]
		}
		switch {
		case id == "":
			return cli.Usagef("%s needs the id of a job", cmd.CommandPath()).
				WithHint(fmt.Sprintf("%q shows examples; \"lockstep job ls\" lists jobs", cmd.CommandPath()+" --help"))
		case rest >= 0 && len(args) > rest:
			return cli.Usagef("%s takes no argument %q", cmd.CommandPath(), args[rest])
		}
		return namedJob(id, run(r, id, args))
	})
}

// jqFlag adds --filter, which the server applies to its answer.
func jqFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("filter", "", "print the result of this `jq` expression, which the server applies to its answer")
}

// about is a request for a job, or for a part of it: "status", "definition" or "tags".
func about(method, id, part string, body any) client.JobsCall {
	path := []string{"jobs", id}
	if part != "" {
		path = append(path, part)
	}
	return client.JobsCall{Method: method, Path: path, Body: body}
}

// show sends a request and writes the answer, or the result of a filter.
func show[T any](r Server, call client.JobsCall, filter string, write func(T) error) error {
	call.Filter = filter
	if filter == "" {
		answer, err := client.Ask[T](r.Ctx, r.Jobs, call)
		if err != nil {
			return err
		}
		return write(answer)
	}
	text, err := r.Do(r.Ctx, call)
	if err != nil {
		return err
	}
	_, err = r.Out.Write(text)
	return err
}

var listing = cli.Listing[api.Job]{
	What:    "jobs",
	Columns: []string{"JOB", "CLIENT", "WORKFLOW", "STATE", "PROGRESS", "AGE", "CHANGED", "TAGS", "MESSAGE"},
	Row: func(j api.Job) []string {
		progress, message := "", ""
		if s := j.Status; s != nil {
			progress, message = percent(s.Progress), cli.Short(s.Message)
		}
		return []string{
			j.ID, j.ClientID, j.WorkflowName(), j.State(), progress, cli.Ago(j.Stime), cli.Ago(j.Mtime) + " ago",
			strings.Join(j.Tags, ","), message,
		}
	},
	Wide: []string{"GROUP", "CREATED", "DEFINITION"},
	WideRow: func(j api.Job) []string {
		group := ""
		if j.Workflow != nil {
			group = j.Workflow.Group(j.State())
		}
		return []string{group, cli.Instant(j.Stime), cli.Short(string(j.Definition))}
	},
	Name: func(j api.Job) string { return j.ID },
}

func percent(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("%d%%", *n)
}

// writeJob writes a job.
func writeJob(a *cli.App, j api.Job, format *cli.Format) error {
	fields := []cli.Field{
		{"id", j.ID},
		{"client", j.ClientID},
		{"workflow", j.WorkflowName()},
		{"state", j.State()},
	}
	if j.Workflow != nil {
		fields = append(fields, cli.Field{"group", j.Workflow.Group(j.State())})
	}
	if s := j.Status; s != nil {
		fields = append(fields, statusFields(*s)...)
	}
	fields = append(fields, cli.Field{"created", cli.Instant(j.Stime)}, cli.Field{"changed", cli.Instant(j.Mtime)}, cli.Field{"tags", strings.Join(j.Tags, ", ")}, cli.Field{"definition", string(j.Definition)})
	if j.Workflow != nil {
		for _, who := range []struct{ actor, name string }{{api.ActorClient, "client may"}, {api.ActorOperator, "operator may"}} {
			fields = append(fields, cli.Field{who.name, strings.Join(j.Workflow.Moves(j.State(), who.actor), ", ")})
		}
		if len(j.Workflow.States) > 0 && j.Workflow.Final(j.State()) {
			fields = append(fields, cli.Field{"final", "yes"})
		}
	}
	name := "before"
	for _, h := range j.History {
		fields = append(fields, cli.Field{name, changeText(h)})
		name = " "
	}
	return cli.WriteItem(a, j, j.ID, format, fields)
}

// changeText is what a change replaced, in a line.
func changeText(h api.JobChange) string {
	if h.Status == nil {
		return cli.Instant(h.Mtime) + "  definition " + cli.Short(string(h.Definition))
	}
	return strings.TrimRight(cli.Instant(h.Mtime)+"  "+statusText(*h.Status), " ")
}

// statusText is a status in a line.
func statusText(s api.JobStatus) string {
	parts := []string{s.State}
	for _, part := range []string{percent(s.Progress), s.Message, string(s.Context)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "  ")
}

func get(a *cli.App, server *Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "get ID", Short: "Show a job",
		Long: "Get shows a job: its state, what its client and its operator can do next, and with --history all previous values.",
		Example: `  lockstep job get ID --history
  lockstep job get ID -o json
  lockstep job get ID --filter .status.state`,
	}
	output, filter := cli.ItemFlag(cmd), jqFlag(cmd)
	history := cmd.Flags().Bool("history", false, "include all previous values, newest first")
	oneJob(a, server, cmd, 0, func(r Server, id string, _ []string) error {
		call := about(http.MethodGet, id, "", nil)
		call.Query = url.Values{"history": {strconv.FormatBool(*history)}}
		return show(r, call, *filter, func(j api.Job) error { return writeJob(a, j, output) })
	})
	return cmd
}

func status(a *cli.App, server *Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status ID", Aliases: []string{"get-status"}, Short: "Show the status of a job",
		Example: `  lockstep job status ID
  lockstep job status ID -o json | jq .progress`,
	}
	output, filter := cli.ItemFlag(cmd), jqFlag(cmd)
	oneJob(a, server, cmd, 0, func(r Server, id string, _ []string) error {
		return show(r, about(http.MethodGet, id, "status", nil), *filter, func(s api.JobStatus) error {
			return writeStatus(a, s, output)
		})
	})
	return cmd
}

func writeStatus(a *cli.App, s api.JobStatus, format *cli.Format) error {
	fields := append([]cli.Field{{"state", s.State}}, statusFields(s)...)
	return cli.WriteItem(a, s, s.State, format, append(fields, cli.Field{"definition hash", s.DefinitionHash}))
}

// statusFields are the fields of a status besides the state.
func statusFields(s api.JobStatus) []cli.Field {
	return []cli.Field{
		{"progress", percent(s.Progress)},
		{"message", s.Message},
		{"context", string(s.Context)},
		{"reported by", s.ClientID},
	}
}
