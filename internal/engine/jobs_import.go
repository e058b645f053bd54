package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// JobImport is a job of another system, with its past.
type JobImport struct {
	JobRequest            // its ID is required
	Created    core.Time  // stime of wfx
	Updated    core.Time  // mtime of wfx
	Status     expr.Value // with the state that it is in
	History    []JobVersion
}

// JobVersion is a change of a job, oldest first, as wfx tells it.
type JobVersion struct {
	At         core.Time  // since when that held which it replaced
	Status     expr.Value // which it replaced, with the hash of its definition; null: it changed the tags
	Definition expr.Value // which it set; null: it changed another part
}

// Imported says what became of a job that was imported.
type Imported string

// What may become of it.
const (
	ImportNew       Imported = "imported"
	ImportUpdated   Imported = "updated"   // it changed there since the import before
	ImportUnchanged Imported = "unchanged" // as the import before left it
	ImportKept      Imported = "kept"      // it changed here since: it stays as it is here
	ImportDiverged  Imported = "diverged"  // it changed here and there since: likewise
)

// verbImport is the name of the control record that ends an imported history. While it is the last record,
// the job has not changed here.
const verbImport = "import"

// ImportError says why a job cannot be imported.
type ImportError struct{ Msg string }

func (e *ImportError) Error() string { return e.Msg }

func cannotImport(format string, args ...any) error {
	return &ImportError{fmt.Sprintf(format, args...)}
}

// ImportJob stores a job of another system in the state that it is in there, with its id, its times and its
// history, or brings it to that state if nothing changed it here since. Its workflow must be deployed. A dry
// import stores nothing. The error is an *ImportError, or one of CreateJob, if the job itself is the reason.
func (e *Engine) ImportJob(ctx context.Context, j JobImport, dry bool) (Imported, error) {
	if j.ID == "" {
		return "", cannotImport("it has no id")
	}
	input := jobInput(j.Client, j.Tags, j.Definition)
	d, err := e.find(ctx, j.Workflow, "")
	if err == nil {
		err = e.checkJob(d, &j.JobRequest, input)
	}
	if err != nil {
		return "", noWorkflow(err, j.Workflow)
	}
	l, err := e.live.acquire(ctx, j.ID, ordinary)
	if err != nil {
		return "", err
	}
	defer e.live.release(l)
	defer l.forget() // the next one reads what was stored
	before, what, err := e.importedBefore(ctx, &j)
	if err != nil || what == ImportUnchanged || what == ImportKept || what == ImportDiverged {
		return what, err
	}
	c, err := e.importCommit(ctx, l, d, &j, input)
	if err != nil || dry {
		return what, err
	}
	if what == ImportUpdated {
		if err := e.onTopOf(ctx, &c, before); err != nil {
			return "", err
		}
	}
	if err := e.store.Commit(ctx, c); err != nil {
		return "", fmt.Errorf("import job %s: %w", j.ID, err)
	}
	e.stored.Add(1)
	e.changed(j.ID)
	return what, nil
}

// importedBefore reads the job as an import before left it, and what is to be done with it.
func (e *Engine) importedBefore(ctx context.Context, j *JobImport) (store.Instance, Imported, error) {
	row, err := e.store.Instance(ctx, j.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return row, ImportNew, nil
	case err != nil:
		return row, "", fmt.Errorf("import job %s: %w", j.ID, err)
	case row.Job.State == "" || row.Created != j.Created || row.Definition != j.Workflow || row.Job.Client != j.Client:
		return row, "", cannotImport("another instance has this id")
	}
	at, last, err := e.lastImport(ctx, &row)
	there := at != max(j.Created, j.Updated)
	switch {
	case err != nil:
		return row, "", fmt.Errorf("import job %s: %w", j.ID, err)
	case last && there:
		return row, ImportUpdated, nil
	case last:
		return row, ImportUnchanged, nil
	case there:
		return row, ImportDiverged, nil
	}
	return row, ImportKept, nil
}

// importCommit is the commit of a new job in its present state.
func (e *Engine) importCommit(ctx context.Context, l *live, d *definition, j *JobImport, data expr.Value) (store.Commit, error) {
	state, _ := j.Status.Get(jobdata.State)
	entry, ok := entryOf(d.prog, state.Str())
	if !ok {
		return store.Commit{}, cannotImport("its state %q is not one of the workflow", state.Str())
	}
	l.forget()
	l.row = newRow(d, j.ID, j.Created)
	l.row.Updated, l.row.Job = j.Updated, jobOf(d.prog, data, store.Job{})
	l.prog, l.state, l.loaded, l.trusted = startingAt(d.prog, entry), nil, true, true
	f := e.newFold(l)
	start := core.Start{Data: data, Seed: e.cfg.Seed(j.ID)}
	for _, in := range []core.Input{start, core.Take{Actor: importActor, Choice: state.Str(), Value: j.Status}} {
		err := guard(func() error { return f.give(ctx, input{in: in, extra: 1}) })
		var no *core.Rejected
		if errors.As(err, &no) {
			return store.Commit{}, cannotImport("its state %q cannot be resumed: %s", state.Str(), no.Msg)
		}
		if err != nil {
			return store.Commit{}, fmt.Errorf("import job %s: %w", j.ID, err)
		}
	}
	l.prog = d.prog
	if err := f.finish(false); err != nil {
		return store.Commit{}, err
	}
	c := f.c
	if c.Instance.Job.State != state.Str() {
		return store.Commit{}, cannotImport("a job does not stay in its state %q", state.Str())
	}
	c.Records = j.records(c.Records)
	return c, nil
}

// lastImport is when a job last changed there before it was imported, and whether that is the last of its records.
func (e *Engine) lastImport(ctx context.Context, row *store.Instance) (at core.Time, last bool, err error) {
	const page = 1000
	for to := row.Records; to > 0; to = max(0, to-page) {
		from := max(0, to-page)
		records, err := e.store.Records(ctx, row.ID, from, int(to-from))
		if err != nil {
			return 0, false, err
		}
		for i, r := range slices.Backward(records) {
			if r.Type == core.RecControl && r.Name == verbImport {
				return r.Time, from+int64(i) == row.Records-1, nil
			}
		}
	}
	return 0, false, nil
}

// importActor repeats the status that a job has: every state allows it that.
const importActor = "WFX"

// onTopOf makes the commit one of the job as an import before left it.
func (e *Engine) onTopOf(ctx context.Context, c *store.Commit, before store.Instance) error {
	pages, err := e.store.Pages(ctx, before.ID)
	if err != nil {
		return fmt.Errorf("import job %s: %w", before.ID, err)
	}
	for _, old := range pages {
		if old.Chunk == 0 && !slices.ContainsFunc(c.Pages, func(p core.Page) bool { return p.Frame == old.Frame && p.Part == old.Part }) {
			c.Pages = append(c.Pages, core.Page{Frame: old.Frame, Part: old.Part})
		}
	}
	c.Instance.Rev, c.Instance.Created, c.Deployed = before.Rev, before.Created, 0
	c.Records = slices.DeleteFunc(c.Records, func(r core.Record) bool { return r.Time <= before.Updated })
	first := slices.IndexFunc(c.Records, func(r core.Record) bool { return r.Type == core.RecControl && r.Name == string(core.VerbAmend) })
	if first < 0 {
		return nil
	}
	// Here it is known what the first change of the definition since then replaced.
	job, ok, err := e.jobAt(ctx, before)
	if err != nil {
		return err
	}
	if r := &c.Records[first]; ok && !job.Content.IsNull() {
		r.Data = r.Data.With(jobdata.Replaced, job.Content)
	}
	return nil
}

// entryOf is the node that enters a state of a job.
func entryOf(p *core.Program, state string) (ir.NodeID, bool) {
	for id := range p.Nodes {
		op, ok := p.Nodes[id].Op.(*ir.Eval)
		if ok && p.Nodes[id].Name == state && slices.Equal(op.Put.Path, []string{jobdata.Status, jobdata.State}) {
			return ir.NodeID(id), true
		}
	}
	return 0, false
}

// startingAt is a program that begins in another state. Its instances are those of p from then on.
func startingAt(p *core.Program, entry ir.NodeID) *core.Program {
	linked, program := *p, *p.Program
	program.Regions = slices.Clone(program.Regions)
	program.Regions[0].Entry = entry
	linked.Program = &program
	return &linked
}

// records tells the history of a job as if it had happened here. stepped are the records of the step into its
// present state, of which its end is kept.
func (j *JobImport) records(stepped []core.Record) []core.Record {
	n := len(j.History)
	statuses, definitions := make([]expr.Value, n+1), make([]expr.Value, n+1) // that held with each version
	statuses[n] = j.Status
	for i, v := range slices.Backward(j.History) {
		statuses[i] = statuses[i+1]
		if !v.Status.IsNull() {
			statuses[i] = v.Status
		}
	}
	// What the first change of the definition replaced is known to nobody.
	if !slices.ContainsFunc(j.History, func(v JobVersion) bool { return !v.Definition.IsNull() }) {
		definitions[0] = j.Definition
	}
	for i, v := range j.History {
		definitions[i+1] = definitions[i]
		if !v.Definition.IsNull() {
			definitions[i+1] = v.Definition
		}
	}
	at := j.Created
	if n > 0 {
		at = j.History[0].At
	}
	out := []core.Record{
		{Time: at, Type: core.RecStarted, Data: jobInput(j.Client, j.Tags, definitions[0]), HasData: true},
		entered(at, statuses[0]),
	}
	for i, v := range j.History {
		if at = j.Updated; i+1 < n {
			at = j.History[i+1].At
		}
		// A change of the definition has the status, too, because of the hash in it.
		if !v.Status.IsNull() && (v.Definition.IsNull() || !expr.Equal(withoutHash(statuses[i]), withoutHash(statuses[i+1]))) {
			out = append(out, moved(at, statuses[i], statuses[i+1])...)
		}
		if !v.Definition.IsNull() {
			change := expr.Object(expr.Member{Key: jobdata.Definition, Value: v.Definition})
			if !definitions[i].IsNull() {
				change = change.With(jobdata.Replaced, definitions[i])
			}
			out = append(out, core.Record{Time: at, Type: core.RecControl, Name: string(core.VerbAmend), Data: change, HasData: true})
		}
		if v.Status.IsNull() && v.Definition.IsNull() { // wfx does not say which tags it had
			out = append(out, core.Record{Time: at, Type: core.RecControl, Name: string(core.VerbLabel), Data: expr.EmptyObject, HasData: true})
		}
	}
	for _, r := range stepped {
		if r.Type == core.RecFinished {
			out = append(out, r)
		}
	}
	return append(out, core.Record{Time: max(j.Created, j.Updated), Type: core.RecControl, Name: verbImport, Text: "the job was imported in this state"})
}

func withoutHash(status expr.Value) expr.Value {
	if !status.IsObject() {
		return status
	}
	return status.Without(jobdata.Hash)
}

// moved are the records of a status that replaced another.
func moved(at core.Time, from, to expr.Value) []core.Record {
	before, _ := from.Get(jobdata.State)
	after, _ := to.Get(jobdata.State)
	if before.Str() == after.Str() {
		return []core.Record{{Time: at, Type: core.RecTaken, Node: after.Str(), Text: after.Str(), Data: to, HasData: true}}
	}
	return []core.Record{{Time: at, Type: core.RecLeft, Node: before.Str()}, entered(at, to)}
}

func entered(at core.Time, status expr.Value) core.Record {
	state, _ := status.Get(jobdata.State)
	return core.Record{Time: at, Type: core.RecEntered, Node: state.Str(), Data: status, HasData: true}
}
