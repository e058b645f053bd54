package wfx

import (
	"context"
	"errors"
	"net/http"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// job reads the job that a request names, if its sender may see it.
func (v *View) job(r *request) (engine.Job, error) {
	id, err := r.jobID()
	if err != nil {
		return engine.Job{}, err
	}
	j, err := v.engine.Job(r.Context(), id)
	if err == nil && r.client != "" && j.Instance.Job.Client != r.client {
		err = noJob()
	}
	return j, err
}

// maxHistory is how many entries of a history are shown ("wfx-history").
const maxHistory = 8192

func (v *View) getJob(w http.ResponseWriter, r *request) error {
	history, err := r.flag("history")
	if err != nil {
		return err
	}
	j, err := v.job(r)
	var changes []engine.JobChange
	cut := false
	if err == nil && history {
		if err := v.enterHeavy(r); err != nil {
			return err
		}
		j, changes, cut, err = v.engine.JobWithHistory(r.Context(), j.ID, maxHistory, v.limits.History)
		changes = sinceCreation(&j, changes)
	}
	if err != nil {
		return err
	}
	shown, err := v.shown(r.Context(), &j, false)
	if err != nil {
		return err
	}
	setRevision(w, j.Rev)
	if cut {
		w.Header().Set(truncatedHeader, "true")
	}
	switch {
	case len(changes) == 0:
		return v.answer(w, r, http.StatusOK, shown)
	case r.filter != nil:
		var list []expr.Value
		for i := range changes {
			list = append(list, historyValue(&changes[i]))
		}
		return v.answer(w, r, http.StatusOK, shown.With(historyKey, expr.Array(list...)))
	}
	return v.writeHistory(w, shown, changes)
}

// sinceCreation removes the IMMEDIATE transitions that a job took when it was created: for clients of wfx it
// was created in the state that they lead to. Changes are sorted newest first.
func sinceCreation(j *engine.Job, changes []engine.JobChange) []engine.JobChange {
	for n := len(changes); n > 0; n-- {
		if c := &changes[n-1]; !c.HasStatus || c.Actor != "" || c.Replaced != j.Created {
			return changes[:n]
		}
	}
	return nil
}

// truncatedHeader says that older entries of a history are missing.
const truncatedHeader = "X-History-Truncated"

// historyKey is the member of a job with its history.
const historyKey = "history"

// writeHistory writes a job with its history. The memory of each entry is released once it is written.
func (v *View) writeHistory(w http.ResponseWriter, shown expr.Value, changes []engine.JobChange) error {
	a := &written{w: w, gather: true}
	separator := byte('{')
	begin := func(key string) {
		a.out = append(expr.String(key).AppendJSON(append(a.out, separator)), ':')
		separator = ','
	}
	list := func() error {
		begin(historyKey)
		a.out = append(a.out, '[')
		for i := range changes {
			if err := a.add(i == 0, historyValue(&changes[i])); err != nil {
				return err
			}
			changes[i] = engine.JobChange{}
		}
		a.out = append(a.out, ']')
		return nil
	}
	written := false
	for _, m := range shown.Members() { // sorted by key
		if m.Key > historyKey && !written {
			if err := list(); err != nil {
				return a.failed(err)
			}
			written = true
		}
		begin(m.Key)
		a.out = m.Value.AppendJSON(a.out)
	}
	a.out = append(a.out, '}', '\n')
	return a.finish()
}

// shown is a job with its workflow.
func (v *View) shown(ctx context.Context, j *engine.Job, created bool) (expr.Value, error) {
	workflow, err := v.workflow(ctx, j.Definition, j.Digest)
	if err != nil {
		return expr.Null, err
	}
	return jobValue(j, workflow, created), nil
}

// createJob creates a job. Members that a client may not set are ignored, or refused as in wfx.
func (v *View) createJob(w http.ResponseWriter, r *request) error {
	_, body, err := v.object(r)
	if err != nil {
		return err
	}
	in := engine.JobRequest{Client: body.Name("clientId"), Workflow: body.Name("workflow"), Definition: body.Object("definition")}
	if body.Err() != nil {
		return mistake(body)
	}
	if tags, ok := body.Get("tags"); ok && !tags.IsNull() {
		in.Tags, err = tagsOf(tags)
		if err != nil {
			return err
		}
		if len(in.Tags) > maxTags {
			return malformed("tags has more than %d items (limit wfx-tags)", maxTags)
		}
	}
	j, err := v.engine.CreateJob(r.Context(), in)
	if e, ok := errors.AsType[*engine.NotFoundError](err); ok {
		return refuse(http.StatusBadRequest, workflowNotFound, "%s", e.Error())
	}
	if err != nil {
		return err
	}
	shown, err := v.shown(r.Context(), &j, true)
	if err != nil {
		return err
	}
	setRevision(w, j.Rev)
	return v.answer(w, r, http.StatusCreated, shown)
}

func (v *View) deleteJob(w http.ResponseWriter, r *request) error {
	id, rev, err := r.target()
	if err != nil {
		return err
	}
	r.changed(v.before(r, id, shownState), "")
	err = v.engine.DeleteJob(r.Context(), id, rev)
	if _, missing := errors.AsType[*engine.NotFoundError](err); missing {
		return &failure{status: http.StatusNotFound} // {}, as with wfx
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// jobQuery reads the filters of a list of jobs. empty says that the list is empty: a device asks for jobs of
// another client.
func (r *request) jobQuery() (q store.Query, empty bool, err error) {
	q = store.Query{
		Jobs: true, Definition: r.query.Get("workflow"), State: r.query.Get("state"), Client: r.query.Get("clientId"),
	}
	if q.Groups, err = r.list("group"); err != nil {
		return q, false, err
	}
	tags, err := r.list("tag")
	if err != nil {
		return q, false, err
	}
	for _, tag := range tags {
		q.Tagged = append(q.Tagged, store.Label{Name: "tags", Value: tag})
	}
	if q.CreatedFrom, err = r.instant("stimeFrom"); err != nil {
		return q, false, err
	}
	if q.CreatedTo, err = r.instant("stimeTo"); err != nil {
		return q, false, err
	}
	if q.UpdatedFrom, err = r.instant("mtimeFrom"); err != nil {
		return q, false, err
	}
	if q.UpdatedTo, err = r.instant("mtimeTo"); err != nil {
		return q, false, err
	}
	if r.client != "" {
		empty = q.Client != "" && q.Client != r.client
		q.Client = r.client
	}
	return q, empty, nil
}
