package wfx

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// documentName is the file name of a workflow in diagnostics.
const documentName = "workflow"

// workflows lists the current workflows by name. Definitions of other dialects are not
// shown here.
func (v *View) workflows(ctx context.Context) ([]store.Definition, error) {
	rows, err := v.engine.Definitions(ctx)
	rows = slices.DeleteFunc(rows, func(d store.Definition) bool { return d.Dialect != wfxdef.Name || !d.Current })
	return rows, err
}

func (v *View) listWorkflows(w http.ResponseWriter, r *request) error {
	p, err := r.page()
	if err != nil {
		return err
	}
	rows, err := v.workflows(r.Context())
	if err != nil {
		return err
	}
	total := int64(len(rows))
	if p.desc {
		slices.Reverse(rows)
	}
	rows = rows[min(p.offset, total):]
	if !p.all() {
		rows = rows[:min(p.limit, int64(len(rows)))]
	}
	list := []expr.Value{}
	for _, row := range rows {
		shown, err := v.workflow(r.Context(), row.ID, row.Digest)
		if err != nil {
			return err
		}
		list = append(list, shown)
	}
	out := object("content", expr.Array(list...))
	if p.total {
		out = out.With("pagination", p.value(total))
	}
	return v.answer(w, r, http.StatusOK, out)
}

// current returns a workflow by its name.
func (v *View) current(ctx context.Context, name string) (store.Definition, error) {
	row, err := v.engine.Definition(ctx, name, "")
	if err == nil && row.Dialect != wfxdef.Name {
		err = &engine.NotFoundError{Kind: "workflow", ID: name}
	}
	return row, err
}

func (v *View) getWorkflow(w http.ResponseWriter, r *request) error {
	row, err := v.current(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	shown, err := v.workflow(r.Context(), row.ID, row.Digest)
	if err != nil {
		return err
	}
	return v.answer(w, r, http.StatusOK, shown)
}

// createWorkflow deploys a workflow. A name that is taken is refused, even with the same content: workflows
// are immutable.
func (v *View) createWorkflow(w http.ResponseWriter, r *request) error {
	text, err := r.text("document-bytes", v.limits.Definition)
	if err != nil {
		return err
	}
	if _, err := expr.ParseJSON(text); err != nil {
		return malformed("the request body is not JSON: %v", err)
	}
	compiled, found, err := v.compile(r.Context(), text)
	if err != nil {
		return err
	}
	if err := refusedWorkflow(found); err != nil {
		return err
	}
	if compiled.Program == nil {
		return errBroken
	}
	name := compiled.Program.ID
	if _, err := v.engine.Definition(r.Context(), name, ""); err == nil {
		return refuse(http.StatusBadRequest, notUnique, "Workflow with name '%s' already exists", name)
	} else if _, missing := errors.AsType[*engine.NotFoundError](err); !missing {
		return err
	}
	row, created, err := v.engine.DeployDocument(r.Context(), engine.Document{Program: compiled.Program, Source: text})
	if _, taken := errors.AsType[*engine.VersionConflictError](err); taken || err == nil && !created { // another request was first
		return refuse(http.StatusBadRequest, notUnique, "Workflow with name '%s' already exists", name)
	}
	if err != nil {
		return err
	}
	r.changed("", name+"="+row.Digest)
	shown, err := v.workflow(r.Context(), row.ID, row.Digest)
	if err != nil {
		return err
	}
	return v.answer(w, r, http.StatusCreated, shown)
}

// compile compiles a workflow, within the limit of definitions that are compiled at a time.
func (v *View) compile(ctx context.Context, text []byte) (dialect.Compiled, dialect.Diagnostics, error) {
	budget, done, err := v.cfg.Compiling(ctx)
	if err != nil {
		return dialect.Compiled{}, nil, err
	}
	defer done() // also when it panics
	compiled, found := v.cfg.Registry.Compile(documentName, text, dialect.NoBundle, dialect.Options{Dialect: wfxdef.Name, Budget: budget})
	return compiled, found, nil
}

// shapeCodes is the prefix of codes for a single invalid value. wfx finds these by its contract, and reports
// them as plain text.
const shapeCodes = "WFX1"

// refusedWorkflow is the error of an invalid workflow, with all its mistakes.
func refusedWorkflow(found dialect.Diagnostics) error {
	var messages []string
	shape := false
	for _, d := range found {
		if d.Severity != dialect.Error {
			continue
		}
		shape = shape || strings.HasPrefix(d.Code, shapeCodes) || !strings.HasPrefix(d.Code, "WFX")
		message := d.Message
		if d.Hint != "" {
			message += "; " + d.Hint
		}
		messages = append(messages, message)
	}
	switch {
	case len(messages) == 0:
		return nil
	case shape:
		return malformed("%s", strings.Join(messages, "\n"))
	}
	return &failure{status: http.StatusBadRequest, kind: workflowInvalid, messages: messages}
}

func (v *View) deleteWorkflow(w http.ResponseWriter, r *request) error {
	name := r.PathValue("name")
	row, err := v.current(r.Context(), name)
	if err == nil {
		r.changed(name+"="+row.Digest, "")
		err = v.engine.DeleteDefinition(r.Context(), name, "")
	}
	if _, missing := errors.AsType[*engine.NotFoundError](err); missing {
		return refuse(http.StatusNotFound, workflowNotFound, "Workflow '%.100s' not found", name)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
