package wfx

import (
	"net/http"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

func (v *View) getStatus(w http.ResponseWriter, r *request) error {
	j, err := v.job(r)
	if err != nil {
		return err
	}
	setRevision(w, j.Rev)
	return v.answer(w, r, http.StatusOK, statusValue(j.Status, j.Content))
}

// updateStatus lets the actor of the side send a status. It replaces the one before as a
// whole: wfx keeps clientId, context, message and progress only where they are sent again,
// and sets definitionHash itself.
func (v *View) updateStatus(w http.ResponseWriter, r *request) error {
	body, err := v.object(r)
	if err != nil {
		return err
	}
	status, err := statusOf(body)
	if err != nil {
		return err
	}
	id, rev, err := r.target()
	if err != nil {
		return err
	}
	j, err := v.engine.UpdateJob(r.Context(), id, engine.JobUpdate{Actor: r.side.actor(), Status: status, Rev: rev, Client: r.client})
	if no, ok := as[*core.Rejected](err); ok {
		return v.illegal(r, id, status, no)
	}
	if err != nil {
		return err
	}
	state, _ := status.Get("state")
	v.updates.add(Update{j.Definition, state.Str(), r.side.actor()})
	setRevision(w, j.Rev)
	return v.answer(w, r, http.StatusOK, statusValue(j.Status, j.Content))
}

// illegal tells in wfx's words why a move was refused. The state is read after the
// refusal: where the job has moved on meanwhile, it is the newer one that is named.
func (v *View) illegal(r *request, id string, status expr.Value, no *core.Rejected) error {
	j, err := v.engine.Job(r.Context(), id)
	if err != nil {
		return err
	}
	switch {
	case j.Instance.Status.Final() && j.Instance.Status != core.Completed:
		return givenUp(&j)
	case j.Instance.Status == core.Paused || j.Quarantine != "" || no.Allowed == nil: // it is not the move that is wrong
		return no
	}
	m, err := v.model(r.Context(), j.Definition, j.Digest)
	if err != nil {
		return err
	}
	from, to := j.Instance.Job.State, ""
	if state, ok := status.Get("state"); ok {
		to = state.Str()
	}
	if m.workflow == nil {
		return no
	}
	for _, t := range m.workflow.Transitions {
		if t.From == from && t.To == to {
			return refuse(http.StatusBadRequest, invalidRequest, "transition from '%s' to '%.100s' is not allowed for actor '%s'", from, to, r.side.actor())
		}
	}
	return refuse(http.StatusBadRequest, invalidRequest, "transition from '%s' to '%.100s' does not exist", from, to)
}

// givenUp refuses to change a job that was ended from outside, by cancelling or terminating
// its instance.
func givenUp(j *engine.Job) error {
	return refuse(http.StatusBadRequest, invalidRequest, "the job was given up (it is %s) and takes no more changes; its state stays '%s'", j.Instance.Status, j.Instance.Job.State)
}

// unchanged tells why a change of a job was refused.
func (v *View) unchanged(r *request, id string, err error) error {
	if _, ok := as[*core.Rejected](err); !ok {
		return err
	}
	j, failed := v.engine.Job(r.Context(), id)
	if failed == nil && j.Instance.Status.Final() && j.Instance.Status != core.Completed {
		return givenUp(&j)
	}
	return err
}

func (v *View) getJobDefinition(w http.ResponseWriter, r *request) error {
	j, err := v.job(r)
	if err != nil {
		return err
	}
	setRevision(w, j.Rev)
	return v.answer(w, r, http.StatusOK, j.Content)
}

func (v *View) updateJobDefinition(w http.ResponseWriter, r *request) error {
	body, err := v.object(r)
	if err != nil {
		return err
	}
	id, rev, err := r.target()
	if err != nil {
		return err
	}
	j, err := v.engine.DefineJob(r.Context(), id, body, rev, r.client)
	if err != nil {
		return v.unchanged(r, id, err)
	}
	setRevision(w, j.Rev)
	return v.answer(w, r, http.StatusOK, j.Content)
}

func (v *View) getTags(w http.ResponseWriter, r *request) error {
	j, err := v.job(r)
	if err != nil {
		return err
	}
	setRevision(w, j.Rev)
	return v.answer(w, r, http.StatusOK, texts(j.Tags()))
}

func (v *View) addTags(w http.ResponseWriter, r *request) error { return v.retag(w, r, true) }

func (v *View) deleteTags(w http.ResponseWriter, r *request) error { return v.retag(w, r, false) }

func (v *View) retag(w http.ResponseWriter, r *request, add bool) error {
	body, err := v.json(r)
	if err != nil {
		return err
	}
	tags, err := tagsOf(body)
	if err != nil {
		return err
	}
	if len(tags) == 0 {
		return malformed("the request body must have at least one tag")
	}
	id, rev, err := r.target()
	if err != nil {
		return err
	}
	var added, removed []string
	if add {
		added = tags
	} else {
		removed = tags
	}
	j, err := v.engine.TagJob(r.Context(), id, added, removed, rev)
	if err != nil {
		return v.unchanged(r, id, err)
	}
	setRevision(w, j.Rev)
	list := j.Tags()
	slices.Sort(list)
	return v.answer(w, r, http.StatusOK, texts(list))
}
