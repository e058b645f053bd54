package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// A workflow under test may create jobs of another that the file lists. They are real
// unless the function has a mock, and takes drive them by the client they are for.

// checkCampaignTakes reports what takes of created jobs cannot be.
func checkCampaignTakes(r *dialect.Reporter, f *File, definitions []Definition) {
	var names []string
	for _, d := range definitions {
		for _, s := range d.Program.States {
			if d.Program.Job && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	for _, s := range f.Scenarios {
		for _, t := range s.Takes {
			if t.Client == "" {
				r.Errorf(t.At, codeMissing, "the take does not say whose job it moves").WithHint("add client: and the id of a device")
			}
			if !t.Rejected && t.State != "" && !slices.Contains(names, t.State) {
				r.Errorf(t.At, codeValue, "no workflow of jobs that is listed has a state %q", t.State).
					WithHint("the states are %s", strings.Join(names[:min(len(names), 12)], ", ")).DidYouMean(t.State, names)
			}
		}
	}
}

// mocked reports whether a mock answers for a function that creates jobs. Without a mock
// and without the workflow, its answer is that there is none.
func (w *world) mocked(f *ir.Function) bool {
	return w.scenario.Mocks.Answers(f.Name) || !w.creates(f.Operation)
}

// creates reports whether an operation creates jobs of a workflow that is there.
func (w *world) creates(operation string) bool {
	name, ok := ir.JobWorkflow(operation)
	return ok && slices.ContainsFunc(w.definitions, func(d Definition) bool { return d.Program.Job && d.Program.ID == name })
}

// needsNoMock reports whether a function of that name may do without a mock: it created jobs, or wrote to the log.
func (w *world) needsNoMock(function string) bool {
	for _, d := range w.definitions {
		for _, f := range d.Program.Functions {
			if f.Name == function && (w.creates(f.Operation) || ir.IsLog(f.Operation)) {
				return true
			}
		}
	}
	return false
}

// jobOf is the job that a client has to do: the newest that is not over, else the newest.
func (w *world) jobOf(ctx context.Context, client string) (string, error) {
	jobs, err := w.engine.Jobs(ctx, store.Query{Client: client})
	if err != nil {
		return "", err
	}
	if len(jobs) == 0 {
		return "", fmt.Errorf("client %q has no job at that time", client)
	}
	slices.SortStableFunc(jobs, func(a, b engine.Job) int { return int(b.Seq - a.Seq) })
	if i := slices.IndexFunc(jobs, func(j engine.Job) bool { return !j.Instance.Status.Final() }); i >= 0 {
		return jobs[i].ID, nil
	}
	return jobs[0].ID, nil
}
