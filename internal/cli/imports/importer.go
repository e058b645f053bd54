package imports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/stores"
	"github.com/lockstep-workflows/lockstep/internal/wfxdb"
)

// target is where jobs are imported to.
type target struct {
	engine *engine.Engine // over the store; it is not run
	trial  *engine.Engine // of a dry run: has the workflows that the store does not have yet
	close  func() error
}

func openTarget(ctx context.Context, flags *wfxFlags) (*target, error) {
	at, err := parse("--store", flags.store)
	switch {
	case err != nil:
		return nil, err
	case at.Kind == stores.Memory:
		return nil, cli.Usagef("--store memory: keeps nothing")
	}
	t := &target{close: func() error { return nil }}
	if t.trial, err = engine.New(engine.Config{Store: memory.New(), Languages: languages.All()}); err != nil {
		return nil, err
	}
	if flags.dry && !at.Exists() { // a dry run creates no file
		t.engine = t.trial
		return t, nil
	}
	s, err := at.Open(ctx, stores.Options{Namespace: flags.namespace, KeepSchema: flags.dry})
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, &cli.Failure{Exit: cli.ExitError, Code: "store", Title: "The store cannot be opened", Detail: err.Error()}
		}
		return nil, fmt.Errorf("open the store %s: %w", at, err)
	}
	t.close = s.Close
	if t.engine, err = engine.New(engine.Config{Store: s.Store, Languages: languages.All(), Namespace: flags.namespace}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return t, nil
}

// importer imports one database.
type importer struct {
	*target
	report    *report
	dry       bool
	workflows map[string]string // why the jobs of a workflow cannot be imported; "": they can
	tried     map[string]bool   // workflows that only trial has
}

// workflow deploys a workflow, unless it is there already.
func (i *importer) workflow(ctx context.Context, w wfxdb.Workflow) error {
	refuse := func(reason string) error {
		i.workflows[w.Name] = "its workflow " + w.Name + " is left out"
		return i.report.leaveOut(&i.report.Workflows, "workflow", w.Name, reason)
	}
	if w.Err != nil {
		return refuse(w.Err.Error())
	}
	text := []byte(w.Document.String())
	compiled, found := dialects.All().Compile(w.Name, text, dialect.NoBundle, dialect.Options{Dialect: wfxdef.Name, Budget: &dialect.Budget{Stop: ctx.Err}})
	if found.HasErrors() || compiled.Program == nil {
		return refuse(found.Sentence())
	}
	d := engine.Document{Program: compiled.Program, Source: text}
	before, err := i.engine.Definition(ctx, w.Name, "")
	_, missing := errors.AsType[*engine.NotFoundError](err)
	switch {
	case err != nil && !missing:
		return err
	case missing:
		return i.deploy(ctx, w.Name, d, refuse)
	}
	now, err := i.engine.CheckDocuments(ctx, []engine.Document{d})
	if err == nil && now[0].Row.Digest == before.Digest {
		i.workflows[w.Name] = ""
		i.report.Workflows.Unchanged++
		return nil
	}
	return refuse("the store has another definition of this name")
}

func (i *importer) deploy(ctx context.Context, name string, d engine.Document, refuse func(string) error) error {
	to := i.engine
	if i.dry {
		to, i.tried = i.trial, addTo(i.tried, name)
	}
	if _, _, err := to.DeployDocument(ctx, d); err != nil {
		if _, ok := errors.AsType[*engine.VersionConflictError](err); ok {
			return refuse(err.Error())
		}
		return err
	}
	i.workflows[name] = ""
	i.report.Workflows.Imported++
	return nil
}

func addTo(set map[string]bool, name string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[name] = true
	return set
}

// job imports a job, or says why not. An error ends the import: it is the store's.
func (i *importer) job(ctx context.Context, j wfxdb.Job) error {
	reason, known := i.workflows[j.Workflow]
	switch {
	case j.Err != nil:
		reason = j.Err.Error()
	case !known:
		reason = fmt.Sprintf("there is no workflow %q", j.Workflow)
	}
	if reason != "" {
		return i.report.leaveOut(&i.report.Jobs, "job", j.ID, reason)
	}
	to := i.engine
	if i.tried[j.Workflow] {
		to = i.trial
	}
	what, err := to.ImportJob(ctx, converted(&j), i.dry)
	switch {
	case isTheJobs(err):
		return i.report.leaveOut(&i.report.Jobs, "job", j.ID, err.Error())
	case err != nil:
		return err
	}
	i.report.Jobs.count(what)
	if what == engine.ImportKept || what == engine.ImportDiverged {
		return i.report.kept(j.ID, what)
	}
	if j.Cut > 0 && (what == engine.ImportNew || what == engine.ImportUpdated) {
		return i.report.leaveOut(nil, "history", j.ID, fmt.Sprintf("its %d oldest entries (limits import-history, import-history-bytes, import-row-bytes)", j.Cut))
	}
	return nil
}

// isTheJobs reports whether an error is about the job, and not about the store.
func isTheJobs(err error) bool {
	_, cannot := errors.AsType[*engine.ImportError](err)
	_, input := errors.AsType[*engine.InputError](err)
	_, id := errors.AsType[*engine.IDError](err)
	_, missing := errors.AsType[*engine.NotFoundError](err)
	return cannot || input || id || missing
}

// converted is a job as the engine imports it.
func converted(j *wfxdb.Job) engine.JobImport {
	out := engine.JobImport{
		JobRequest: engine.JobRequest{ID: j.ID, Workflow: j.Workflow, Client: j.Client, Tags: j.Tags, Definition: j.Definition},
		Created:    core.TimeOf(j.Created), Updated: core.TimeOf(j.Updated), Status: j.Status,
	}
	for _, e := range j.History {
		out.History = append(out.History, engine.JobVersion{At: core.TimeOf(e.At), Status: e.Status, Definition: e.Definition})
	}
	return out
}
