package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// Errors of the wfx API do not name what is missing. These do, and suggest what was likely meant.

// IsNoJob reports whether an error says that the job does not exist.
func IsNoJob(err error) bool {
	var problem *client.Problem
	return errors.As(err, &problem) && problem.Code == api.CodeJobNotFound
}

// namedJob adds the id of the job to an error.
func namedJob(id string, err error) error {
	if _, done := errors.AsType[*cli.Failure](err); done || !IsNoJob(err) {
		return err
	}
	f := cli.AsFailure(failure(err))
	f.Detail = fmt.Sprintf("there is no job %q", id)
	return f
}

// NamedWorkflow adds the name of the workflow to an error.
func NamedWorkflow(ctx context.Context, j *client.Jobs, name string, err error) error {
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Code != api.CodeWorkflowNotFound {
		return err
	}
	f := cli.AsFailure(failure(err))
	f.Detail = fmt.Sprintf("there is no workflow %q", name)
	f.Hint = "\"lockstep def ls\" lists definitions"
	page, err := j.ListWorkflows(ctx, client.WorkflowQuery{Limit: pageSize})
	if err != nil {
		return f
	}
	var names []string
	for _, w := range page.Content {
		names = append(names, w.Name)
	}
	return f.Near(name, names)
}

// KnownState refuses a misspelled state in a flag; "" is no state.
func KnownState(w api.Workflow, flag, state string) error {
	if state == "" || len(w.States) == 0 {
		return nil
	}
	one := cli.Choice{Allowed: stateNames(w)}
	if err := one.Set(state); err != nil {
		return cli.Usagef("%s %q: %v", flag, state, err)
	}
	return nil
}

// ReportBroken reports that the stream of events broke and is retried.
func (r Server) ReportBroken(err error) {
	if r.Problems {
		return
	}
	why := "the connection ended"
	if err != nil {
		why = err.Error()
	}
	fmt.Fprintf(r.Err, "%s; retrying\n", cli.Plain(why))
}
