package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

var jobActions = []string{client.JobCreated, client.JobStatusUpdated, client.JobDefinitionUpdated, client.JobTagsAdded, client.JobTagsDeleted, client.JobDeleted}

func (a *app) jobEvents(server *jobFlags) *cobra.Command {
	var q client.JobEventQuery
	var most int
	cmd := &cobra.Command{
		Use: "events", Short: "Follow what happens to jobs", Args: atMost(0),
		Long: "Events follows jobs from now on, until Ctrl-C or --count: all of them, or those of some clients, workflows or ids. Where the connection breaks it\n" +
			"goes on without a gap, also after a restart of the server; --after goes on from the position of an event seen before, which\n" +
			"stands first in its line.",
		Example: `  lockstep job events
  lockstep job events --client-id dana --workflow kanban
  lockstep job events --action UPDATE_STATUS -o jsonl | jq .job.status.state`,
	}
	output := outputFlag(cmd, "format", "table", "jsonl")
	f := cmd.Flags()
	f.Var((*wordList)(&q.ClientIDs), "client-id", "jobs of this `client`; repeatable")
	f.Var((*wordList)(&q.Workflows), "workflow", "jobs of this `workflow`; repeatable")
	f.Var((*wordList)(&q.JobIDs), "job-id", "the job with this `id`; repeatable")
	f.Var((*actionList)(&q.Actions), "action", "only events of this `kind`; repeatable: "+strings.Join(jobActions, ", "))
	f.Var((*wordList)(&q.Tags), "tag", "a `word` that comes back with every event; repeatable")
	f.StringVar(&q.After, "after", "", "go on behind this `position`; 0: from the first event that is kept")
	f.IntVar(&most, "count", 0, "end after so many events; 0: go on")
	_ = cmd.RegisterFlagCompletionFunc("action", cobra.FixedCompletions(jobActions, cobra.ShellCompDirectiveNoFileComp))
	a.completeFlag(server, cmd, "client-id", clientWords)
	a.completeFlag(server, cmd, "workflow", workflowWords)
	a.completeFlag(server, cmd, "job-id", idWords)
	cmd.RunE = a.jobly(server, func(r jobRemote, _ []string) error {
		return r.followJobs(q, most, output.value)
	})
	return cmd
}

// followJobs writes a line for each event; it ends after so many, if most is not 0.
func (r jobRemote) followJobs(q client.JobEventQuery, most int, format string) error {
	q.Broke = r.tellBroken
	seen := 0
	for e, err := range r.JobEvents(r.ctx, q) {
		switch {
		case err != nil:
			return r.followEnd(err)
		case e.Kind != client.StreamChange:
			if !r.problems {
				fmt.Fprintln(r.err, "following "+plain(r.URL()))
			}
			continue
		}
		if err := r.writeEvent(e, format); err != nil {
			return err
		}
		if seen++; seen == most {
			break
		}
	}
	return nil
}

// actionList is a list of kinds of events.
type actionList []string

func (l *actionList) String() string { return strings.Join(*l, ",") }
func (l *actionList) Type() string   { return "kind" }

func (l *actionList) Set(text string) error {
	for word := range strings.SplitSeq(strings.ToUpper(text), ",") {
		one := choice{allowed: jobActions}
		if err := one.Set(strings.TrimSpace(word)); err != nil {
			return err
		}
		*l = append(*l, one.value)
	}
	return nil
}

// followEnd: to be interrupted is how following ends.
func (r jobRemote) followEnd(err error) error {
	if r.ctx.Err() != nil {
		return shown(exitInterrupted)
	}
	return err
}

func (r jobRemote) writeEvent(e client.JobEvent, format string) error {
	if format == "jsonl" {
		_, err := fmt.Fprintf(r.out, "%s\n", positioned(e))
		return err
	}
	line := fmt.Sprintf("%s  %s  %s  %s  %s  %-13s  %s", e.Position, e.Ctime.Local().Format("15:04:05.000"), e.Job.ID, e.Job.WorkflowName(), e.Job.ClientID, e.Action, eventDetail(e))
	_, err := fmt.Fprintln(r.out, plain(strings.TrimRight(line, " ")))
	return err
}

// positioned is an event with its position, which --after takes; the stream has it beside the event.
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
	case client.JobTagsAdded, client.JobTagsDeleted:
		return strings.Join(e.Job.Tags, ", ")
	case client.JobDefinitionUpdated:
		return short(string(e.Job.Definition))
	}
	if e.Job.Status == nil {
		return ""
	}
	return statusText(*e.Job.Status)
}

func (a *app) jobWatch(server *jobFlags) *cobra.Command {
	var id string
	var timeout waitLimit
	var until string
	cmd := &cobra.Command{
		Use: "watch ID", Short: "Follow a job to its end",
		Long: "Watch shows the status of a job as it changes, and ends in a final state, or in the one that --until names. Exit codes: 5 the job was\n" +
			"deleted, 10 it ended in another state than --until, 12 not there in time. Ctrl-C ends the watching, not the job.",
		Example: `  lockstep job watch ID
  lockstep job watch ID --until DONE --timeout 10m`,
	}
	output := outputFlag(cmd, "format", "table", "jsonl")
	jobArg(cmd, &id)
	cmd.Flags().StringVar(&until, "until", "", "end in this `state`")
	cmd.Flags().Var(&timeout, "timeout", "give up after this `time` (PT1M or 1m)")
	a.completeFlag(server, cmd, "until", jobStateWords)
	cmd.ValidArgsFunction = a.completeJobs(server)
	a.oneJob(server, cmd, &id, 0, func(r jobRemote, id string, _ []string) error {
		return r.watchJob(id, until, timeout, output.value)
	})
	return cmd
}

// watchJob shows the status of a job as it changes: as it is when the stream begins, and then what the
// stream tells, which leaves nothing out.
func (r jobRemote) watchJob(id, until string, timeout waitLimit, format string) error {
	ctx, cancel := timeout.bound(r.ctx)
	defer cancel()
	var j client.Job
	for e, err := range r.JobEvents(ctx, client.JobEventQuery{JobIDs: []string{id}, Broke: r.tellBroken}) {
		newer := false
		switch {
		case err != nil:
		case e.Kind == client.StreamReady && (j.ID == "" || e.Position == ""): // else the stream goes on where it broke
			var got client.Job
			got, err = r.GetJob(ctx, id, false)
			if newer = err == nil && got.Mtime.After(j.Mtime); newer {
				j = got
			}
			if err == nil && got.Workflow != nil {
				err = knownState(*got.Workflow, "--until", until)
			}
		case e.Action == client.JobDeleted:
			return deletedJob(id)
		case e.Action == client.JobStatusUpdated && e.Job.Mtime.After(j.Mtime):
			j.Status, j.Mtime, newer = e.Job.Status, e.Job.Mtime, true
		}
		if err != nil {
			return r.watchFailure(ctx, j, id, timeout.text, err)
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
	return &failure{exit: exitNotFound, code: "deleted", title: "The job was deleted", detail: fmt.Sprintf("job %s was deleted", id)}
}

// watchFailure tells why watching ended before the job did.
func (r jobRemote) watchFailure(ctx context.Context, j client.Job, id, timeout string, err error) error {
	var problem *client.Problem
	switch {
	case r.ctx.Err() != nil:
		if !r.problems {
			fmt.Fprintf(r.err, "job %s goes on\n", id)
		}
		return shown(exitInterrupted)
	case ctx.Err() != nil:
		state := "is in " + j.State()
		if j.ID == "" {
			state = "could not be read"
		}
		return &failure{exit: exitTimeout, code: "timeout", title: "Waiting took too long", detail: fmt.Sprintf("job %s %s after %s", id, state, timeout)}
	case errors.As(err, &problem) && problem.Status == http.StatusNotFound && j.ID != "":
		return deletedJob(id)
	}
	return err
}

// watched reports whether watching is over, and how.
func watched(j client.Job, until string) (bool, error) {
	final := j.Workflow != nil && len(j.Workflow.States) > 0 && j.Workflow.Final(j.State())
	switch {
	case until == "" || j.State() == until:
		return final || until != "", nil
	case final:
		return true, &failure{exit: exitFailed, code: "other-end", title: "The job ended otherwise", detail: fmt.Sprintf("job %s ended in %s, not in %s", j.ID, j.State(), until)}
	}
	return false, nil
}

func (r jobRemote) writeWatched(j client.Job, format string) error {
	if format == "jsonl" {
		return writeJSONLine(r.out, map[string]any{"mtime": j.Mtime.Format(time.RFC3339Nano), "status": j.Status})
	}
	_, err := fmt.Fprintln(r.out, plain(j.Mtime.Local().Format("15:04:05.000")+"  "+statusText(*j.Status)))
	return err
}
