package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

var actions = []string{api.JobCreated, api.JobStatusUpdated, api.JobDefinitionUpdated, api.JobTagsAdded, api.JobTagsDeleted, api.JobDeleted}

func events(a *cli.App, server *Flags) *cobra.Command {
	var q client.JobEventQuery
	var most int
	cmd := &cobra.Command{
		Use: "events", Short: "Follow the events of jobs", Args: cli.AtMost(0),
		Long: "Events follows all jobs from now on, or those of some clients, workflows or ids, until Ctrl-C or --count. After a broken\n" +
			"connection or a restart of the server it continues without a gap. --after continues from a position, the first column.",
		Example: `  lockstep job events
  lockstep job events --client-id dana --workflow kanban
  lockstep job events --action UPDATE_STATUS -o jsonl | jq .job.status.state`,
	}
	output := cli.OutputFlag(cmd, "format", "table", "jsonl")
	f := cmd.Flags()
	wordsFlag(f, &q.ClientIDs, "client-id", "jobs of this `client`; repeatable")
	wordsFlag(f, &q.Workflows, "workflow", "jobs of this `workflow`; repeatable")
	wordsFlag(f, &q.JobIDs, "job-id", "the job with this `id`; repeatable")
	cli.ParseFlag(f, "action", "only events of this `kind`; repeatable: "+strings.Join(actions, ", "), func(text string) error {
		for word := range strings.SplitSeq(strings.ToUpper(text), ",") {
			one := cli.Choice{Allowed: actions}
			if err := one.Set(strings.TrimSpace(word)); err != nil {
				return err
			}
			q.Actions = append(q.Actions, one.Value)
		}
		return nil
	})
	wordsFlag(f, &q.Tags, "tag", "a `word` that the server returns with every event; repeatable")
	f.StringVar(&q.After, "after", "", "continue after this `position`; 0: from the oldest event that is kept")
	f.IntVar(&most, "count", 0, "end after this `number` of events; 0: do not end")
	cli.CompleteFlag(cmd, "action", actions)
	CompleteFlag(server, cmd, "client-id", clientWords)
	CompleteFlag(server, cmd, "workflow", WorkflowWords)
	CompleteFlag(server, cmd, "job-id", idWords)
	cmd.RunE = Run(a, server, func(r Server, _ []string) error {
		return r.followJobs(q, most, output.Value)
	})
	return cmd
}

// followJobs writes a line for each event, and ends after most of them, unless most is 0.
func (r Server) followJobs(q client.JobEventQuery, most int, format string) error {
	q.Broke = r.ReportBroken
	seen := 0
	for e, err := range r.JobEvents(r.Ctx, q) {
		switch {
		case err != nil:
			return r.followEnd(err)
		case e.Kind != api.StreamChanged:
			if !r.Problems {
				fmt.Fprintln(r.Err, "following "+cli.Plain(r.URL()))
			}
			continue
		}
		if err := r.writeEvent(e, format); err != nil {
			return err
		}
		seen++
		if seen == most {
			break
		}
	}
	return nil
}

// followEnd is the result of a stream that ended; an interruption is not an error.
func (r Server) followEnd(err error) error {
	if r.Ctx.Err() != nil {
		return cli.Shown(cli.ExitInterrupted)
	}
	return err
}

func (r Server) writeEvent(e client.JobEvent, format string) error {
	if format == "jsonl" {
		_, err := fmt.Fprintf(r.Out, "%s\n", positioned(e))
		return err
	}
	line := fmt.Sprintf("%s  %s  %s  %s  %s  %-13s  %s", e.Position, e.Ctime.Local().Format("15:04:05.000"),
		e.Job.ID, e.Job.WorkflowName(), e.Job.ClientID, e.Action, eventDetail(e))
	_, err := fmt.Fprintln(r.Out, cli.Plain(strings.TrimRight(line, " ")))
	return err
}

// positioned is an event with its position, for --after.
func positioned(e client.JobEvent) []byte {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(e.Text), []byte("{"))
	if !ok || e.Position == "" {
		return e.Text
	}
	comma := ","
	if bytes.HasPrefix(bytes.TrimSpace(rest), []byte("}")) {
		comma = ""
	}
	return fmt.Appendf(nil, "{\"position\":%q%s%s", e.Position, comma, rest)
}

func eventDetail(e client.JobEvent) string {
	switch e.Action {
	case api.JobTagsAdded, api.JobTagsDeleted:
		return strings.Join(e.Job.Tags, ", ")
	case api.JobDefinitionUpdated:
		return cli.Short(string(e.Job.Definition))
	}
	if e.Job.Status == nil {
		return ""
	}
	return statusText(*e.Job.Status)
}

func watch(a *cli.App, server *Flags) *cobra.Command {
	var timeout cli.Duration
	var until string
	cmd := &cobra.Command{
		Use: "watch ID", Short: "Follow a job to its end",
		Long: "Watch shows the status of a job as it changes, and ends in a final state, or in the state of --until. Exit codes: 5 the job was\n" +
			"deleted, 10 it ended in another state than --until, 12 timeout. Ctrl-C ends the watching, not the job.",
		Example: `  lockstep job watch ID
  lockstep job watch ID --until DONE --timeout 10m`,
	}
	output := cli.OutputFlag(cmd, "format", "table", "jsonl")
	cmd.Flags().StringVar(&until, "until", "", "end in this `state`")
	cmd.Flags().Var(&timeout, "timeout", "give up after this `time` (PT1M or 1m)")
	CompleteFlag(server, cmd, "until", jobStates)
	oneJob(a, server, cmd, 0, func(r Server, id string, _ []string) error {
		return r.watchJob(id, until, timeout, output.Value)
	})
	return cmd
}

// watchJob shows the status of a job as it changes: the status when the stream begins, and then every
// change that the stream reports.
func (r Server) watchJob(id, until string, timeout cli.Duration, format string) error {
	ctx, cancel := timeout.Bound(r.Ctx)
	defer cancel()
	var j api.Job
	for e, err := range r.JobEvents(ctx, client.JobEventQuery{JobIDs: []string{id}, Broke: r.ReportBroken}) {
		newer := false
		switch {
		case err != nil:
		case e.Kind == api.StreamReady && (j.ID == "" || e.Position == ""): // otherwise the stream continues where it broke
			var got api.Job
			got, err = r.GetJob(ctx, id, false)
			newer = err == nil && got.Mtime.After(j.Mtime)
			if newer {
				j = got
			}
			if err == nil && got.Workflow != nil {
				err = KnownState(*got.Workflow, "--until", until)
			}
		case e.Action == api.JobDeleted:
			return deletedJob(id)
		case e.Action == api.JobStatusUpdated && e.Job.Mtime.After(j.Mtime):
			j.Status = e.Job.Status
			j.Mtime = e.Job.Mtime
			newer = true
		}
		if err != nil {
			return r.watchFailure(ctx, j, id, timeout.Text, err)
		}
		if !newer || j.Status == nil {
			continue
		}
		if err := r.writeWatched(j, format); err != nil {
			return err
		}
		if done, err := watched(j, until); done {
			return err
		}
	}
	return nil
}

func deletedJob(id string) error {
	return &cli.Failure{Exit: cli.ExitNotFound, Code: "deleted", Title: "The job was deleted", Detail: fmt.Sprintf("job %s was deleted", id)}
}

// watchFailure is the error of a watch that ended before the job did.
func (r Server) watchFailure(ctx context.Context, j api.Job, id, timeout string, err error) error {
	var problem *client.Problem
	switch {
	case r.Ctx.Err() != nil:
		if !r.Problems {
			fmt.Fprintf(r.Err, "job %s continues\n", id)
		}
		return cli.Shown(cli.ExitInterrupted)
	case ctx.Err() != nil:
		state := "is in " + j.State()
		if j.ID == "" {
			state = "could not be read"
		}
		return &cli.Failure{
			Exit: cli.ExitTimeout, Code: "timeout", Title: "Waiting took too long",
			Detail: fmt.Sprintf("job %s %s after %s", id, state, timeout),
		}
	case errors.As(err, &problem) && problem.Status == http.StatusNotFound && j.ID != "":
		return deletedJob(id)
	}
	return err
}

// watched reports whether the watch has ended, and how.
func watched(j api.Job, until string) (bool, error) {
	final := j.Workflow != nil && len(j.Workflow.States) > 0 && j.Workflow.Final(j.State())
	switch {
	case until == "" || j.State() == until:
		return final || until != "", nil
	case final:
		return true, &cli.Failure{
			Exit: cli.ExitFailed, Code: "other-end", Title: "The job ended in another state",
			Detail: fmt.Sprintf("job %s ended in %s, not in %s", j.ID, j.State(), until),
		}
	}
	return false, nil
}

func (r Server) writeWatched(j api.Job, format string) error {
	if format == "jsonl" {
		return cli.WriteJSONLine(r.Out, api.JobChange{Mtime: j.Mtime, Status: j.Status})
	}
	_, err := fmt.Fprintln(r.Out, cli.Plain(j.Mtime.Local().Format("15:04:05.000")+"  "+statusText(*j.Status)))
	return err
}
