package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// ask is a request to change a job, and its result. Several requests may share a commit; each is
// checked against the state that the ones before it left, and returns the job as it was right
// after it.
type ask struct {
	client string // where not empty: the job must be this client's
	rev    int64  // where not 0: the job must be at this revision
	bytes  int    // about how much it brings
	// input makes the input of the state that it meets; none: nothing is to change. It is
	// nil for the start of a job.
	input func(s *core.State) (core.Input, error)

	settled bool // what follows is durable, or nothing changed
	err     error
	job     Job
	change  int // of the fold, after which the job is like that
}

// answer applies a request to a job. A refusal is the result of the request, not an error.
func (f *fold) answer(ctx context.Context, in input) error {
	a := in.ask
	a.settled, a.err = false, nil
	if a.input != nil {
		if a.err = a.admit(f); a.err != nil {
			return nil
		}
		if in.in, a.err = a.input(f.l.state); a.err != nil {
			return nil
		}
	}
	if in.in != nil {
		var no *core.Rejected
		if err := f.give(ctx, in); errors.As(err, &no) {
			a.err = no
			return nil
		} else if err != nil {
			return err
		}
	}
	a.job, a.change = f.job(), f.changes
	return nil
}

// admit says why nothing can be asked.
func (a *ask) admit(f *fold) error {
	row := &f.l.row
	switch {
	case f.l.state == nil || !f.l.prog.Job || a.client != "" && a.client != clientOf(f.l.state.Data()):
		return &NotFoundError{Kind: "job", ID: row.ID}
	case a.rev != 0:
		return f.isAt(a.rev)
	}
	return nil
}

// job is the job as it is after what the fold was given so far.
func (f *fold) job() Job {
	row := f.c.Instance
	row.Records += int64(len(f.c.Records))
	if f.did {
		f.describe(&row)
	}
	return jobFrom(row, f.l.state.Data())
}

// settle completes the requests, once the fold is durable. A job that was changed again later in the
// same commit is returned with the previous revision: the new one would cover a change that
// the caller has not seen.
func (f *fold) settle(inputs []input) {
	base := f.c.Instance.Rev
	for _, in := range inputs {
		a := in.ask
		if a == nil {
			continue
		}
		a.settled, a.job.Rev = true, base
		if f.did && a.change == f.changes {
			a.job.Rev++
		}
	}
}

// ask asks something of a job and waits for the answer. Others' questions may be settled
// on the way, so it does not stop half-way when ctx ends.
func (e *Engine) ask(ctx context.Context, id string, a *ask) (Job, error) {
	if err := ctx.Err(); err != nil {
		return Job{}, err
	}
	ctx = context.WithoutCancel(ctx)
	for range maxConflicts {
		err := e.post(ctx, id, input{at: e.now(), ask: a})
		switch {
		case a.settled && a.err != nil:
			return Job{}, a.err
		case a.settled:
			return a.job, nil
		case err == nil:
			err = e.quarantined(ctx, id)
		}
		if err != nil {
			return Job{}, noJob(err, id)
		} // else it was let out of quarantine meanwhile
	}
	return Job{}, fmt.Errorf("job %s: %w, %d times", id, store.ErrConflict, maxConflicts)
}

// noJob names what is missing as its caller does.
func noJob(err error, id string) error {
	if isMissing(err) {
		return &NotFoundError{Kind: "job", ID: id}
	}
	return err
}

// jobFrom is a job of its row and its data. Of one whose data cannot be had, the row
// tells the state.
func jobFrom(row store.Instance, data expr.Value) Job {
	j := Job{Instance: row}
	j.Content, _ = data.Get(jobdata.Definition)
	if j.Status, _ = data.Get(jobdata.Status); !j.Status.IsObject() {
		j.Status = expr.Object(
			expr.Member{Key: jobdata.Client, Value: expr.String(row.Job.Client)},
			expr.Member{Key: jobdata.State, Value: expr.String(row.Job.State)})
	}
	return j
}

func clientOf(data expr.Value) string {
	client, _ := data.Get(jobdata.Client)
	return client.Str()
}

// jobOf is what a job is found by, before being what it was until now.
func jobOf(p *core.Program, data expr.Value, before store.Job) store.Job {
	if !p.Job {
		return store.Job{}
	}
	out := store.Job{Client: clientOf(data), State: p.Nodes[p.Regions[0].Entry].Name}
	if state, _ := data.Lookup(jobdata.Status, jobdata.State); state.Str() != "" {
		out.State = state.Str()
	}
	if out.State == before.State && before.Group != "" {
		out.Group = before.Group
		return out
	}
	for _, g := range p.Groups {
		for _, state := range g.States {
			if state == out.State {
				out.Group = g.Name
			}
		}
	}
	return out
}
