package server

import (
	"encoding/json"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func viewDefinition(row store.Definition) api.Definition {
	v := api.Definition{
		ID: row.ID, Version: row.Version, Name: row.Name, Dialect: row.Dialect, Digest: row.Digest,
		Deployed: timeOf(row.Deployed), Current: row.Current, Diagnostics: []api.Diagnostic{}, Path: row.Path, Bundle: row.Bundle,
	}
	if row.Diagnostics != nil { // written by viewDiagnostics
		_ = json.Unmarshal(row.Diagnostics, &v.Diagnostics)
	}
	return v
}

// viewDeployed is viewDefinition with what operators decided, whether it has a schedule, and an error if the definition is set aside.
func (s *Server) viewDeployed(row store.Definition) api.Definition {
	v := viewDefinition(row)
	paused, retired := s.engine.Decisions(row.ID)
	v.Paused, v.Retired = viewDecision(paused), viewDecision(retired)
	v.Scheduled = row.Current && s.engine.Scheduled(row.ID)
	if e := s.engine.Unloadable(row.Digest); e != nil {
		v.Diagnostics = append(v.Diagnostics, api.Diagnostic{
			Severity: api.SeverityError, Code: dialect.CodePrograms, Message: e.Error(),
		})
	}
	return v
}

// documentName stands for a definition that came over the network in diagnostics.
const documentName = "definition"

// viewDiagnostics leaves out the name of the document itself.
func viewDiagnostics(ds dialect.Diagnostics, document string) []api.Diagnostic {
	out := []api.Diagnostic{}
	for _, d := range ds {
		v := api.Diagnostic{
			File: d.File, Line: d.Line, Column: d.Column,
			Severity: string(d.Severity), Code: d.Code, Message: d.Message, Hint: d.Hint,
		}
		if d.File == document {
			v.File = ""
		}
		out = append(out, v)
	}
	return out
}

// ViewInstance is an instance as the API shows it.
func ViewInstance(row *store.Instance) api.Instance {
	v := viewBrief(row)
	v.Error, v.Progress = viewFault(row.Fault), viewProgress(row.Progress, true)
	if row.Status == core.Completed {
		v.Output = dataOf(row.Output)
	}
	return v
}

// viewBrief is an instance in a list, without data that may be large.
func viewBrief(row *store.Instance) api.Instance {
	v := api.Instance{
		ID: row.ID, Name: row.Name, Key: row.Key, Children: row.Children, Definition: api.DefinitionRef{ID: row.Definition, Version: row.Version, Digest: row.Digest},
		Status: api.Status(row.Status), States: row.Active, Created: row.Created.Std(), Updated: row.Updated.Std(),
		Rev: row.Rev, Error: briefFault(row.Fault), Labels: emptyObject, Parent: row.Parent, RestartOf: row.RestartOf,
		Reason: row.PauseReason, Quarantine: row.Quarantine, Allowed: allowed(row), Job: viewJob(row),
		Progress: viewProgress(row.Progress, false),
	}
	if len(row.Active) > 0 {
		v.State = row.Active[0]
	}
	if row.Labels.IsObject() && row.Labels.Len() > 0 {
		v.Labels = dataOf(row.Labels)
	}
	if row.Status.Final() {
		v.Ended = timeOf(row.Ended)
	}
	if row.HasWake {
		v.Wake = timeOf(row.Wake)
	}
	return v
}

// viewProgress is how far each foreach of an instance is; with failures: which items failed.
func viewProgress(list []core.Progress, failures bool) []api.Progress {
	var out []api.Progress
	for _, p := range list {
		v := api.Progress{State: p.State, Total: p.Total, Done: p.Done, Failed: p.Failed, InFlight: p.InFlight}
		for _, f := range p.Failures {
			if !failures {
				break
			}
			item := api.FailedItem{Index: f.Index, Error: briefFault(f.Fault)}
			if at := f.Fault.Item; at != nil && at.Index == f.Index {
				item.Item, item.Cut = dataOf(at.Value), at.Cut
			}
			v.Failures = append(v.Failures, item)
		}
		out = append(out, v)
	}
	return out
}

// allowed lists the possible interventions. Only the definition knows whether a failed state can be
// skipped.
func allowed(row *store.Instance) []string {
	switch {
	case row.Quarantine != "":
		return quarantinedVerbs
	case row.Status == core.Failed:
		return failedVerbs
	case row.Status.Final():
		return endedVerbs
	case row.Status == core.Paused:
		return pausedVerbs
	}
	return liveVerbs
}

// The interventions by status. The lists are shared, and never changed.
var (
	quarantinedVerbs = []string{api.VerbResume, api.VerbTerminate, api.VerbRestart}
	failedVerbs      = []string{api.VerbRetry, api.VerbSkip, api.VerbRestart, api.VerbDelete}
	endedVerbs       = []string{api.VerbRestart, api.VerbDelete}
	pausedVerbs      = []string{api.VerbResume, api.VerbCancel, api.VerbTerminate, api.VerbRestart}
	liveVerbs        = []string{api.VerbPause, api.VerbCancel, api.VerbTerminate, api.VerbRestart}
)

func viewPlace(p ir.Pos) *api.Place {
	if p.Line == 0 {
		return nil
	}
	return &api.Place{Line: p.Line, Column: p.Column}
}

func viewFault(f *core.Fault) *api.Fault {
	v := briefFault(f)
	if v != nil {
		v.Data, v.Args, v.State, v.Cut = unlessNull(f.Data), unlessNull(f.Args), unlessNull(f.State), f.Cut
	}
	return v
}

// briefFault is a fault without its data.
func briefFault(f *core.Fault) *api.Fault {
	if f == nil {
		return nil
	}
	v := &api.Fault{
		Name: f.Name, Code: f.Code, Status: f.Status, Title: f.Title, Type: f.Type, Detail: f.Detail, Node: f.Node,
		Place: viewPlace(f.Pos),
	}
	if f.Item != nil {
		v.Item = &api.Item{Index: f.Item.Index, Value: dataOf(f.Item.Value), Cut: f.Item.Cut}
	}
	for _, hop := range f.Trail {
		v.Trail = append(v.Trail, api.Trail{Workflow: hop.Workflow, Node: hop.Node, Place: viewPlace(hop.Pos)})
	}
	return v
}

// ViewRecord is the record of an instance that has this number, as the API shows it.
func ViewRecord(seq int64, r *core.Record) api.Record {
	v := api.Record{
		Seq: seq, Time: r.Time.Std(), Type: string(r.Type), Node: r.Node, Place: viewPlace(r.Pos), Depth: r.Depth,
		Frame: int(r.Frame), Name: verbOf(r), Attempt: r.Attempt, At: timeOf(r.At), Error: viewFault(r.Fault),
		Text: textOf(r), Status: api.Status(r.Status), Exchange: viewExchange(r),
	}
	if r.Ticket != 0 {
		v.Ticket = r.Ticket.String()
	}
	if r.Item != 0 {
		v.Index = new(r.Item - 1)
	}
	if r.HasData {
		v.Data = dataOf(r.Data)
	}
	return v
}

// verbOf is the name of a record; an intervention has the name of its verb in the API.
func verbOf(r *core.Record) string {
	if r.Type == core.RecControl && r.Name == string(core.VerbSuspend) {
		return api.VerbPause
	}
	return r.Name
}

// timeOf is an instant; 0 is the zero time, which JSON leaves out.
func timeOf(t core.Time) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.Std()
}

var emptyObject = api.Data("{}")

// dataOf is a value as text, with every digit of its numbers.
func dataOf(v expr.Value) api.Data { return v.AppendJSON(make([]byte, 0, 64)) }

// unlessNull is dataOf; null is nil, which JSON leaves out.
func unlessNull(v expr.Value) api.Data {
	if v.IsNull() {
		return nil
	}
	return dataOf(v)
}
