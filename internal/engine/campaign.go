package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// A function whose operation is job:WORKFLOW is not called. The commit that decided on
// the call creates a job, a child of the instance, and the end of the job answers: with
// its status, its client and its id, or with a fault where it is given up from outside.

// jobAnswerID is the member of the answer that tells the id of the job.
const jobAnswerID = "id"

// delegates reports whether a function creates jobs, and of which workflow.
func (e *Engine) delegates(f *ir.Function) (workflow string, ok bool) {
	workflow, ok = ir.JobWorkflow(f.Operation)
	if ok && e.cfg.Mocked != nil {
		own := *f // else the caller's would always be on the heap
		ok = !e.cfg.Mocked(&own)
	}
	return workflow, ok
}

// parks reports whether a person or a device answers the calls of a function.
func (e *Engine) parks(f *ir.Function) bool {
	_, job := e.delegates(f)
	return job || e.cfg.Parks != nil && e.cfg.Parks(f)
}

// ownJobID is a UUID, as clients of wfx expect it, and the same for the same ticket: a
// step that is applied again creates no second job. An instance that takes the id of one
// that was deleted has other jobs.
func ownJobID(parent *store.Instance, t core.Ticket) string {
	sum := sha256.Sum256([]byte("job " + parent.ID + "/" + t.String() + "/" + strconv.FormatInt(int64(parent.Created), 36)))
	return uuidOf([16]byte(sum[:16]), 5) // of the version that is made of a name
}

// isDelegated reports whether a row is that of a job which a function call created. Ids
// of other children have a separator.
func isDelegated(row *store.Instance) bool {
	return row.Parent != "" && row.Job.State != "" && !strings.Contains(row.ID, idSeparator)
}

// delegate creates the job that a call asks for, or answers at once where none can be.
func (f *fold) delegate(ctx context.Context, c core.Invoke, workflow string) error {
	refuse := func(name, detail string) {
		f.message(f.l.id, core.Reply{Ticket: c.Ticket, Fault: &core.Fault{
			Name: name, Detail: fmt.Sprintf("function %q: %s", c.Function.Name, detail), Args: c.Args,
		}})
	}
	r, err := f.jobRequest(c, workflow)
	if err != nil {
		refuse(effect.InvalidArguments, err.Error())
		return nil
	}
	d, data, err := f.e.jobFor(ctx, r)
	var input *InputError
	switch {
	case isMissing(err):
		refuse(core.FaultNoWorkflow, err.Error()+" whose jobs could be created")
		return nil
	case errors.As(err, &input):
		refuse(effect.InvalidArguments, input.Error())
		return nil
	case err != nil:
		return err
	case f.e.retired(workflow) != nil:
		refuse(core.FaultNoWorkflow, fmt.Sprintf("definition %q is retired", workflow))
		return nil
	case f.l.row.Depth >= maxSpawnDepth:
		refuse(core.FaultStateLimit, fmt.Sprintf("%d workflows wait for one another (limit spawn-depth)", maxSpawnDepth))
		return nil
	}
	row := newRow(d, ownJobID(&f.l.row, c.Ticket), f.now)
	row.Tree = treeOf(&f.l.row)
	row.Parent, row.Ticket, row.Awaited, row.Depth = f.l.id, c.Ticket, true, f.l.row.Depth+1
	row.Job = jobOf(d.prog, data, store.Job{})
	row.Trace = f.childTrace(c.Ticket)
	over, err := f.create(ctx, row, data, false)
	if err != nil {
		return err
	}
	if over != nil {
		refuse(core.FaultStateLimit, over.Error())
		return nil
	}
	f.tellCalled(c.Ticket, "job "+row.ID)
	return nil
}

// tellCalled adds to the record of a call. Records come in the order of the calls, so the
// search goes on where the one before ended: a wide fan has many.
func (f *fold) tellCalled(t core.Ticket, text string) {
	for ; f.told < len(f.c.Records); f.told++ {
		if r := &f.c.Records[f.told]; r.Type == core.RecCalled && r.Ticket == t {
			r.Text = text
			return
		}
	}
}

// jobRequest reads the arguments of a call that creates a job.
func (f *fold) jobRequest(c core.Invoke, workflow string) (JobRequest, error) {
	r := JobRequest{Workflow: workflow}
	for _, m := range c.Args.Members() {
		switch m.Key {
		case ir.JobArgClient:
			r.Client = m.Value.Str()
			if r.Client == "" {
				return r, fmt.Errorf("%s must be a text that is not empty, not %s", ir.JobArgClient, m.Value.String())
			}
		case ir.JobArgTags:
			if m.Value.IsNull() {
				continue
			}
			if !m.Value.IsArray() || slices.ContainsFunc(m.Value.Items(), func(v expr.Value) bool { return v.Kind() != expr.KindString }) {
				return r, fmt.Errorf("%s must be a list of texts, not %s", ir.JobArgTags, m.Value.String())
			}
			for _, tag := range m.Value.Items() {
				r.Tags = append(r.Tags, tag.Str())
			}
		case ir.JobArgDefinition:
			r.Definition = m.Value
		default:
			f.warn("function %q creates a job, which has no argument %q", c.Function.Name, m.Key)
		}
	}
	if r.Client == "" {
		return r, fmt.Errorf("it needs %s: whose job it is", ir.JobArgClient)
	}
	return r, nil
}

// recall gives up the job of a ticket that nobody waits for any more. It reports false
// where the ticket is that of a call.
func (f *fold) recall(ctx context.Context, t core.Ticket) (bool, error) {
	if !slices.ContainsFunc(f.l.prog.Functions, func(fn ir.Function) bool { _, ok := f.e.delegates(&fn); return ok }) {
		return false, nil
	}
	id := ownJobID(&f.l.row, t)
	if f.undecide(id) {
		return true, nil
	}
	row, err := f.e.store.Instance(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read job %s: %w", id, err)
	case !row.Status.Final():
		f.message(id, core.Control{Verb: core.VerbCancel, Actor: f.l.id})
	}
	return true, nil
}

// givenUp reports whether an instance is over without having come to an end of its own.
func givenUp(s core.Status) bool { return s.Final() && s != core.Completed }

// tellJob makes the end of a job the answer to the call that created it.
func tellJob(reply *core.Reply, row *store.Instance, status core.Status) {
	switch {
	case reply.Fault == nil:
		reply.Value = reply.Value.With(jobdata.Client, expr.String(row.Job.Client)).With(jobAnswerID, expr.String(row.ID))
	case status != core.Failed:
		reply.Fault.Detail = fmt.Sprintf("job %s of client %q was %s", row.ID, row.Job.Client, status)
	}
}
