package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
)

const (
	// JobID is the id of the job of a case.
	JobID     = "job"
	jobClient = "dev"
)

// IsJob reports whether the case is one job, and no instance of a workflow.
func (c *Case) IsJob() bool { return c.Language() == "wfx" }

// JobRequest is what creates the job of a case.
func (c *Case) JobRequest() engine.JobRequest {
	return engine.JobRequest{Workflow: idOf(c.Def), Client: jobClient, Definition: c.Input, ID: JobID}
}

// Send sends an update and tells what came of it. An error is one that no update may
// meet.
func (u *Update) Send(ctx context.Context, e *engine.Engine, now time.Time) (Reply, error) {
	err := u.send(ctx, e)
	var rejected *core.Rejected
	var stale *engine.RevisionError
	var missing *engine.NotFoundError
	if errors.As(err, &rejected) || errors.As(err, &stale) || errors.As(err, &missing) {
		return Reply{At: now.Sub(Epoch)}, nil
	}
	return Reply{now.Sub(Epoch), err == nil}, err
}

func (u *Update) send(ctx context.Context, e *engine.Engine) error {
	rev := int64(0)
	if u.Rev != RevAny {
		job, err := e.Job(ctx, JobID)
		if err != nil {
			return err
		}
		if rev = job.Rev; u.Rev == RevStale {
			rev--
		}
	}
	var err error
	switch u.Kind {
	case UpdateStatus:
		_, err = e.UpdateJob(ctx, JobID, engine.JobUpdate{Actor: u.Actor, Status: u.Value, Rev: rev, Client: u.Client})
	case UpdateDefinition:
		_, err = e.DefineJob(ctx, JobID, u.Value, rev, u.Client)
	case UpdateAddTags:
		_, err = e.TagJob(ctx, JobID, list(u.Value), nil, rev)
	case UpdateDeleteTags:
		_, err = e.TagJob(ctx, JobID, nil, list(u.Value), rev)
	}
	return err
}

// jobNow writes what a job is.
func jobNow(changed time.Duration, status, definition expr.Value) string {
	return fmt.Sprintf("since %s %s with %s", at(changed), canonical(status), canonical(definition))
}

// jobWas writes what was replaced in a job: a status, or its definition.
func jobWas(from, to time.Duration, actor string, status, definition expr.Value, isStatus bool) string {
	if !isStatus {
		return fmt.Sprintf("%s to %s definition %s", at(from), at(to), canonical(definition))
	}
	return fmt.Sprintf("%s to %s %s with %s, replaced by %q", at(from), at(to), canonical(status), canonical(definition), actor)
}

// list is an array of texts.
func list(v expr.Value) (out []string) {
	for _, item := range v.Items() {
		out = append(out, item.Str())
	}
	return out
}

func tagsOf(labels expr.Value) []string { return list(get(labels, jobdata.Tags)) }
