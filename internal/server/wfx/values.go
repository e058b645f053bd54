package wfx

import (
	"context"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Answers are values, not structs of package api: wfx orders the members of an object by name, and a
// response filter (jq) takes a value. The tests hold both to the contract.

// object makes an object of alternating keys and values. Keys are sorted, as in wfx.
func object(pairs ...any) expr.Value {
	members := make([]expr.Member, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, expr.Member{Key: pairs[i].(string), Value: pairs[i+1].(expr.Value)})
	}
	return expr.Object(members...)
}

// instant is a time as RFC 3339, with as many digits as needed, up to nanoseconds.
func instant(t core.Time) expr.Value { return expr.String(t.Std().UTC().Format(time.RFC3339Nano)) }

// statusFields are the members of a status as it is sent and stored; clients also see definitionHash.
var statusFields = []string{"clientId", "context", "message", "progress", "state"}

// statusValue is a status with the hash of the current definition. Empty members are left out, except
// progress and context, which wfx shows if they were sent.
func statusValue(status, definition expr.Value) expr.Value {
	return statusWith(status, definitionHash(definition))
}

// statusWith is statusValue with a given hash; "": none.
func statusWith(status expr.Value, hash string) expr.Value {
	out := expr.EmptyObject
	if hash != "" {
		out = object("definitionHash", expr.String(hash))
	}
	for _, key := range statusFields {
		v, ok := status.Get(key)
		if !ok || v.IsNull() || v.Kind() == expr.KindString && v.Str() == "" {
			continue
		}
		out = out.With(key, v)
	}
	return out
}

func texts(list []string) expr.Value {
	items := make([]expr.Value, len(list))
	for i, s := range list {
		items[i] = expr.String(s)
	}
	return expr.Array(items...)
}

// jobValue is a job without history. The response to its creation leaves out empty tags; others have [].
func jobValue(j *engine.Job, workflow expr.Value, created bool) expr.Value {
	out := object(
		"clientId", expr.String(j.Instance.Job.Client), "id", expr.String(j.ID),
		"mtime", instant(j.Updated), "stime", instant(j.Created),
		"status", statusValue(j.Status, j.Content), "workflow", workflow)
	if j.Content.Len() > 0 {
		out = out.With("definition", j.Content)
	}
	if tags := j.Tags(); len(tags) > 0 || !created {
		out = out.With("tags", texts(tags))
	}
	return out
}

// historyValue is the replaced status or definition.
func historyValue(c *engine.JobChange) expr.Value {
	out := object("mtime", instant(c.At))
	if c.HasStatus {
		hash := definitionHash(c.Content)
		if imported, ok := c.Status.Get(jobdata.Hash); ok && c.Content.IsNull() { // it is not known what it was
			hash = imported.Str()
		}
		return out.With("status", statusWith(c.Status, hash))
	}
	if c.Content.IsNull() {
		return out
	}
	return out.With("definition", c.Content)
}

// maxWorkflows is how many workflows are cached ("wfx-workflows-kept").
const maxWorkflows = 512

// workflow returns the document of a job's workflow, as wfx shows it.
func (v *View) workflow(ctx context.Context, id, digest string) (expr.Value, error) {
	m, err := v.model(ctx, id, digest)
	return m.value, err
}

// model is a cached workflow.
type model struct {
	value    expr.Value
	workflow *wfxdef.Workflow // nil: the document is not known
}

func (v *View) model(ctx context.Context, id, digest string) (model, error) {
	v.mu.Lock()
	m, ok := v.models[digest]
	v.mu.Unlock()
	if ok {
		return m, nil
	}
	row, err := v.engine.Content(ctx, id, digest)
	if err != nil {
		return model{}, err
	}
	if m, err = newModel(&row); err != nil {
		return model{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.models) >= maxWorkflows {
		clear(v.models)
	}
	v.models[digest] = m
	return m, nil
}

// newModel reads a stored document. A workflow that was deployed without one has only its name.
func newModel(row *store.Definition) (model, error) {
	w, found := wfxdef.Parse(row.ID, row.Source)
	if row.Source == nil || w == nil || found.HasErrors() {
		return model{value: object("name", expr.String(row.ID), "states", expr.Array(), "transitions", expr.Array())}, nil
	}
	value, err := expr.ParseJSON(w.AppendJSON(nil))
	return model{value, w}, err
}
