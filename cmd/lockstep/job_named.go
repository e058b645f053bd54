package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Answers of the wfx API do not name what is not there. These do, and say what was likely meant.

// isNoJob reports whether an answer says that there is no such job.
func isNoJob(err error) bool {
	var problem *client.Problem
	return errors.As(err, &problem) && problem.Code == "wfx.jobNotFound"
}

// namedJob tells which job an answer is about.
func namedJob(id string, err error) error {
	var told *failure
	if !isNoJob(err) || errors.As(err, &told) {
		return err
	}
	f := asFailure(jobFailure(err))
	f.detail = fmt.Sprintf("there is no job %q", id)
	return f
}

// namedWorkflow tells which workflow an answer is about.
func namedWorkflow(ctx context.Context, j *client.Jobs, name string, err error) error {
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Code != "wfx.workflowNotFound" {
		return err
	}
	f := asFailure(jobFailure(err))
	f.detail = fmt.Sprintf("there is no workflow %q", name)
	f.hint = "\"lockstep def ls\" lists definitions"
	page, err := j.ListWorkflows(ctx, client.WorkflowQuery{Limit: jobPage})
	if err != nil {
		return f
	}
	var names []string
	for _, w := range page.Content {
		names = append(names, w.Name)
	}
	if near := dialect.Suggest(name, names); near != "" {
		f.hint = fmt.Sprintf("did you mean %q?", near)
	}
	return f
}

// knownState finds a misspelled state in the value of a flag; "" names none.
func knownState(w client.Workflow, flag, state string) error {
	if state == "" || len(w.States) == 0 {
		return nil
	}
	var states []string
	for _, s := range w.States {
		states = append(states, s.Name)
	}
	one := choice{allowed: states}
	if err := one.Set(state); err != nil {
		return usagef("%s %q: %v", flag, state, err)
	}
	return nil
}

// tellBroken says that the stream of events broke; it is tried again.
func (r jobRemote) tellBroken(err error) {
	if r.problems {
		return
	}
	why := "the connection ended"
	if err != nil {
		why = err.Error()
	}
	fmt.Fprintf(r.err, "%s; trying again\n", plain(why))
}
