package wfx

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// part is what a request reads or changes of a job.
type part func(*engine.Job) expr.Value

func statusPart(j *engine.Job) expr.Value     { return statusValue(j.Status, j.Content) }
func definitionPart(j *engine.Job) expr.Value { return j.Content }
func tagsPart(j *engine.Job) expr.Value       { return texts(j.Tags()) }

// get is the handler that reads a part.
func (p part) get(v *View, w http.ResponseWriter, r *request) error {
	j, err := v.job(r)
	if err != nil {
		return err
	}
	return p.answer(v, w, r, &j)
}

func (p part) answer(v *View, w http.ResponseWriter, r *request, j *engine.Job) error {
	setRevision(w, j.Rev)
	return v.answer(w, r, http.StatusOK, p(j))
}

// shown is a part of a job as an audit log has it: never its data.
type shown func(*engine.Job) string

func shownState(j *engine.Job) string {
	return "workflow=" + j.Definition + " client=" + j.Instance.Job.Client + " state=" + j.Instance.Job.State
}

func shownDefinition(j *engine.Job) string { return "definitionHash=" + definitionHash(j.Content) }

func shownTags(j *engine.Job) string {
	return "tags=" + strings.Join(j.Tags(), ",")
}

// before is what an operator is about to change; "": the job cannot be read, or a device changes it.
func (v *View) before(r *request, id string, show shown) string {
	if r.side == South {
		return ""
	}
	j, err := v.engine.Job(r.Context(), id)
	if err != nil {
		return ""
	}
	return show(&j)
}

// updateStatus sets a status on behalf of the side's actor. It replaces the previous status completely: as
// in wfx, clientId, context, message and progress stay only if they are sent again.
func (v *View) updateStatus(w http.ResponseWriter, r *request) error {
	body, members, err := v.object(r)
	if err != nil {
		return err
	}
	status, err := statusOf(body, members)
	if err != nil {
		return err
	}
	id, rev, err := r.target()
	if err != nil {
		return err
	}
	before := v.before(r, id, shownState)
	j, err := v.engine.UpdateJob(r.Context(), id, engine.JobUpdate{Actor: r.side.actor(), Status: status, Rev: rev, Client: r.client})
	if no, ok := errors.AsType[*core.Rejected](err); ok {
		return v.illegal(r, id, status, no)
	}
	if err != nil {
		return err
	}
	r.changed(before, shownState(&j))
	state, _ := status.Get("state")
	v.updates.add(Update{j.Definition, state.Str(), r.side.actor()})
	return part(statusPart).answer(v, w, r, &j)
}

// illegal is the error of a refused transition, in the words of wfx. The state is read after the refusal: if
// the job has moved on meanwhile, the message names the newer one.
func (v *View) illegal(r *request, id string, status expr.Value, no *core.Rejected) error {
	j, err := v.engine.Job(r.Context(), id)
	if err != nil {
		return err
	}
	switch {
	case j.Instance.Status.Final() && j.Instance.Status != core.Completed:
		return givenUp(&j)
	case j.Instance.Status == core.Paused || j.Quarantine != "" || no.Allowed == nil: // the transition is not the reason
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

// givenUp refuses to change a job whose instance was cancelled or terminated.
func givenUp(j *engine.Job) error {
	return refuse(http.StatusBadRequest, invalidRequest, "the job is %s and cannot be changed any more; its state stays '%s'", j.Instance.Status, j.Instance.Job.State)
}

// unchanged is the error of a refused change of a job.
func (v *View) unchanged(r *request, id string, err error) error {
	if _, ok := errors.AsType[*core.Rejected](err); !ok {
		return err
	}
	j, failed := v.engine.Job(r.Context(), id)
	if failed == nil && j.Instance.Status.Final() && j.Instance.Status != core.Completed {
		return givenUp(&j)
	}
	return err
}

func (v *View) updateJobDefinition(w http.ResponseWriter, r *request) error {
	body, _, err := v.object(r)
	if err != nil {
		return err
	}
	id, rev, err := r.target()
	if err != nil {
		return err
	}
	before := v.before(r, id, shownDefinition)
	j, err := v.engine.DefineJob(r.Context(), id, body, rev, r.client)
	if err != nil {
		return v.unchanged(r, id, err)
	}
	r.changed(before, shownDefinition(&j))
	return part(definitionPart).answer(v, w, r, &j)
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
	before := v.before(r, id, shownTags)
	j, err := v.engine.TagJob(r.Context(), id, added, removed, rev)
	if err != nil {
		return v.unchanged(r, id, err)
	}
	r.changed(before, shownTags(&j))
	setRevision(w, j.Rev)
	list := j.Tags()
	slices.Sort(list)
	return v.answer(w, r, http.StatusOK, texts(list))
}
