package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
)

// jobWords asks a server for the words that may stand in a place.
type jobWords func(ctx context.Context, j *client.Jobs, cmd *cobra.Command, begun string) []string

// completeJobWords offers words, once and without much patience, as completion does.
func (a *app) completeJobWords(server *jobFlags, words jobWords) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		j, err := server.north()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer j.Close()
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
		defer cancel()
		var out []string
		for _, word := range words(ctx, j, cmd, begun) {
			if word != "" && strings.HasPrefix(word, begun) && !slices.Contains(out, word) {
				out = append(out, word)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) completeFlag(server *jobFlags, cmd *cobra.Command, flag string, words jobWords) {
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, a.completeJobWords(server, words))
}

// completeJobs offers ids as the first argument.
func (a *app) completeJobs(server *jobFlags) cobra.CompletionFunc {
	ids := a.completeJobWords(server, idWords)
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return ids(cmd, args, begun)
	}
}

// completeTags offers ids as the first argument, and after it tags that the job has.
func (a *app) completeTags(server *jobFlags) cobra.CompletionFunc {
	ids := a.completeJobWords(server, idWords)
	tags := a.completeJobWords(server, tagWords)
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if namedBy(cmd, args) == "" {
			return ids(cmd, args, begun)
		}
		return tags(cmd, args, begun)
	}
}

// namedBy is the job that a command line names so far; "" none.
func namedBy(cmd *cobra.Command, args []string) string {
	if id := cmd.Flags().Lookup("id").Value.String(); id != "" || len(args) == 0 {
		return id
	}
	return args[0]
}

func tagWords(ctx context.Context, j *client.Jobs, cmd *cobra.Command, _ string) []string {
	args := cmd.Flags().Args()
	tags, _ := j.GetTags(ctx, namedBy(cmd, args))
	return slices.DeleteFunc(tags, func(tag string) bool { return slices.Contains(args, tag) })
}

// jobStateWords are the states of the workflow of the job that is named.
func jobStateWords(ctx context.Context, j *client.Jobs, cmd *cobra.Command, _ string) []string {
	id := namedBy(cmd, cmd.Flags().Args())
	if id == "" {
		return stateWords(ctx, j, cmd, "")
	}
	job, err := j.GetJob(ctx, id, false)
	if err != nil || job.Workflow == nil {
		return nil
	}
	var out []string
	for _, s := range job.Workflow.States {
		out = append(out, s.Name)
	}
	return out
}

// completed is how many jobs are looked at for words.
const completed = 200

func idWords(ctx context.Context, j *client.Jobs, _ *cobra.Command, _ string) []string {
	page, _ := j.ListJobs(ctx, client.JobQuery{Limit: completed, Descending: true})
	var out []string
	for _, job := range page.Content {
		out = append(out, job.ID+"\t"+job.ClientID+" "+job.WorkflowName()+" "+job.State())
	}
	return out
}

func clientWords(ctx context.Context, j *client.Jobs, _ *cobra.Command, _ string) []string {
	page, _ := j.ListJobs(ctx, client.JobQuery{Limit: completed, Descending: true})
	var out []string
	for _, job := range page.Content {
		out = append(out, job.ClientID)
	}
	slices.Sort(out)
	return out
}

func workflowWords(ctx context.Context, j *client.Jobs, _ *cobra.Command, _ string) []string {
	page, _ := j.ListWorkflows(ctx, client.WorkflowQuery{Limit: 1000})
	var out []string
	for _, w := range page.Content {
		line, _, _ := strings.Cut(w.Description, "\n")
		out = append(out, strings.TrimRight(w.Name+"\t"+line, "\t"))
	}
	return out
}

// workflowsMeant are the one that --workflow names, or all.
func workflowsMeant(ctx context.Context, j *client.Jobs, cmd *cobra.Command) []client.Workflow {
	if f := cmd.Flags().Lookup("workflow"); f != nil && f.Value.String() != "" {
		w, _ := j.GetWorkflow(ctx, f.Value.String())
		return []client.Workflow{w}
	}
	page, _ := j.ListWorkflows(ctx, client.WorkflowQuery{Limit: 1000})
	return page.Content
}

func stateWords(ctx context.Context, j *client.Jobs, cmd *cobra.Command, _ string) []string {
	var out []string
	for _, w := range workflowsMeant(ctx, j, cmd) {
		for _, s := range w.States {
			out = append(out, s.Name)
		}
	}
	return out
}

func groupWords(ctx context.Context, j *client.Jobs, cmd *cobra.Command, _ string) []string {
	var out []string
	for _, w := range workflowsMeant(ctx, j, cmd) {
		for _, g := range w.Groups {
			out = append(out, g.Name)
		}
	}
	return out
}

// moveWords are the states to which the job that is named can be led now.
func moveWords(ctx context.Context, j *client.Jobs, cmd *cobra.Command, _ string) []string {
	id := namedBy(cmd, cmd.Flags().Args())
	if id == "" {
		return stateWords(ctx, j, cmd, "")
	}
	job, err := j.GetJob(ctx, id, false)
	if err != nil || job.Workflow == nil {
		return nil
	}
	actor := client.ActorClient
	if cmd.Flags().Lookup("actor").Value.String() == "wfx" {
		actor = client.ActorOperator
	}
	return append(job.Workflow.Moves(job.State(), actor), job.State())
}
