package job

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// words asks a server for completions.
type words func(ctx context.Context, j *client.Jobs, cmd *cobra.Command) []string

// completeWords offers them.
func completeWords(server *Flags, words words) cobra.CompletionFunc {
	return remote.Complete(&server.Flags, func(ctx context.Context, o client.Options, cmd *cobra.Command, _ string) []string {
		j, err := client.NewJobs(client.JobsOptions{Options: o})
		if err != nil {
			return nil
		}
		defer j.Close()
		return words(ctx, j, cmd)
	})
}

// CompleteFlag completes the value of a flag.
func CompleteFlag(server *Flags, cmd *cobra.Command, flag string, words words) {
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, completeWords(server, words))
}

// completeIDs completes an id as the first argument.
func completeIDs(server *Flags) cobra.CompletionFunc {
	return completeWords(server, func(ctx context.Context, j *client.Jobs, cmd *cobra.Command) []string {
		if cmd.Flags().NArg() > 0 {
			return nil
		}
		return idWords(ctx, j, cmd)
	})
}

// completeTags completes an id as the first argument, then the tags of the job.
func completeTags(server *Flags) cobra.CompletionFunc {
	return completeWords(server, func(ctx context.Context, j *client.Jobs, cmd *cobra.Command) []string {
		id := namedBy(cmd)
		if id == "" {
			return idWords(ctx, j, cmd)
		}
		tags, _ := j.GetTags(ctx, id)
		return slices.DeleteFunc(tags, func(tag string) bool { return slices.Contains(cmd.Flags().Args(), tag) })
	})
}

// namedBy is the job in the command line so far; "": none.
func namedBy(cmd *cobra.Command) string {
	if id := cmd.Flags().Lookup("id").Value.String(); id != "" || cmd.Flags().NArg() == 0 {
		return id
	}
	return cmd.Flags().Arg(0)
}

// jobStates are the states of the workflow of the named job.
func jobStates(ctx context.Context, j *client.Jobs, cmd *cobra.Command) []string {
	id := namedBy(cmd)
	if id == "" {
		return StateWords(ctx, j, cmd)
	}
	job, err := j.GetJob(ctx, id, false)
	if err != nil || job.Workflow == nil {
		return nil
	}
	return stateNames(*job.Workflow)
}

func stateNames(w api.Workflow) []string {
	var out []string
	for _, s := range w.States {
		out = append(out, s.Name)
	}
	return out
}

// completed is how many jobs are read for completion.
const completed = 200

func idWords(ctx context.Context, j *client.Jobs, _ *cobra.Command) []string {
	page, _ := j.ListJobs(ctx, client.JobQuery{Limit: completed, Descending: true})
	var out []string
	for _, job := range page.Content {
		out = append(out, job.ID+"\t"+job.ClientID+" "+job.WorkflowName()+" "+job.State())
	}
	return out
}

func clientWords(ctx context.Context, j *client.Jobs, _ *cobra.Command) []string {
	page, _ := j.ListJobs(ctx, client.JobQuery{Limit: completed, Descending: true})
	var out []string
	for _, job := range page.Content {
		out = append(out, job.ClientID)
	}
	slices.Sort(out)
	return out
}

// WorkflowWords are the names of workflows.
func WorkflowWords(ctx context.Context, j *client.Jobs, _ *cobra.Command) []string {
	page, _ := j.ListWorkflows(ctx, client.WorkflowQuery{Limit: 1000})
	var out []string
	for _, w := range page.Content {
		line, _, _ := strings.Cut(w.Description, "\n")
		out = append(out, strings.TrimRight(w.Name+"\t"+line, "\t"))
	}
	return out
}

// selectedWorkflows are the workflow of --workflow, or all.
func selectedWorkflows(ctx context.Context, j *client.Jobs, cmd *cobra.Command) []api.Workflow {
	if f := cmd.Flags().Lookup("workflow"); f != nil && f.Value.String() != "" {
		w, _ := j.GetWorkflow(ctx, f.Value.String())
		return []api.Workflow{w}
	}
	page, _ := j.ListWorkflows(ctx, client.WorkflowQuery{Limit: 1000})
	return page.Content
}

// StateWords are the states of the selected workflows.
func StateWords(ctx context.Context, j *client.Jobs, cmd *cobra.Command) []string {
	var out []string
	for _, w := range selectedWorkflows(ctx, j, cmd) {
		out = append(out, stateNames(w)...)
	}
	return out
}

func groupWords(ctx context.Context, j *client.Jobs, cmd *cobra.Command) []string {
	var out []string
	for _, w := range selectedWorkflows(ctx, j, cmd) {
		for _, g := range w.Groups {
			out = append(out, g.Name)
		}
	}
	return out
}

// moveWords are the states that the named job can move to now.
func moveWords(ctx context.Context, j *client.Jobs, cmd *cobra.Command) []string {
	id := namedBy(cmd)
	if id == "" {
		return StateWords(ctx, j, cmd)
	}
	job, err := j.GetJob(ctx, id, false)
	if err != nil || job.Workflow == nil {
		return nil
	}
	actor := api.ActorClient
	if strings.EqualFold(cmd.Flags().Lookup("actor").Value.String(), "wfx") {
		actor = api.ActorOperator
	}
	return append(job.Workflow.Moves(job.State(), actor), job.State())
}
