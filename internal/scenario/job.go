package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// defaultClient is the client of the job unless the scenario names one.
const defaultClient = "client"

// checkJobKeys reports states that the workflow does not have, and keys that do not apply to jobs. A
// take that must be rejected may name any state.
func checkJobKeys(r *dialect.Reporter, f *File, p *ir.Program) {
	var names []string
	for _, s := range p.States {
		names = append(names, s.Name)
	}
	known := func(at dialect.Place, state string) {
		if state != "" && !slices.Contains(names, state) {
			r.Errorf(at, codeValue, "%s has no state %q", p.ID, state).
				WithHint("its states are %s", strings.Join(names[:min(len(names), 12)], ", ")).DidYouMean(state, names)
		}
	}
	for _, s := range f.Scenarios {
		for _, t := range s.Takes {
			if !t.Rejected {
				known(t.At, t.State)
			}
			if t.Client != "" {
				r.Errorf(t.At, codeDialect, "all takes move the one job under test").
					WithHint("put client beside takes: it is the client of the job")
			}
		}
		known(s.Expect.At, s.Expect.State)
		if s.Expect.Path != nil {
			for _, state := range *s.Expect.Path {
				known(s.Expect.At, state)
			}
		}
		for _, e := range s.Events {
			r.Errorf(e.At, codeDialect, "a job waits for its actors, never for an event").WithHint("use takes")
		}
	}
}

// startJob creates the job; the input of the scenario is its definition.
func (w *world) startJob(ctx context.Context) error {
	client := w.scenario.Client
	client = cmp.Or(client, defaultClient)
	job, err := w.engine.CreateJob(ctx, engine.JobRequest{
		Workflow: w.definitions[0].Program.ID, Client: client, Definition: w.scenario.Input,
	})
	w.job = job.ID
	return w.refused(err)
}

// take sends the status of an actor, and notes a failure if it is accepted or rejected contrary to the
// scenario.
func (w *world) take(ctx context.Context, t Take) {
	id := w.job
	if t.Client != "" {
		var err error
		if id, err = w.jobOf(ctx, t.Client); err != nil {
			w.takeFailed("the take at %s: %v", t.At.Pos, err)
			return
		}
	}
	if id == "" {
		return // its creation was refused
	}
	status := t.Status.With("state", expr.String(t.State))
	_, err := w.engine.UpdateJob(ctx, id, engine.JobUpdate{Actor: t.Actor, Status: status})
	var rejected *core.Rejected
	switch {
	case err == nil && t.Rejected:
		w.takeFailed("the take at %s, %s to %s, was allowed; it should be rejected", t.At.Pos, t.Actor, t.State)
	case errors.As(err, &rejected) && !t.Rejected:
		w.takeFailed("the take at %s was rejected: %v; open are %s", t.At.Pos, err, DescribeOffers(rejected.Allowed))
	case err != nil && rejected == nil:
		w.takeFailed("the take at %s: %v", t.At.Pos, err)
	}
}

func (w *world) takeFailed(format string, args ...any) {
	w.failures = append(w.failures, Failure{Field: "takes", Message: fmt.Sprintf(format, args...)})
}

// DescribeOffers lists what actors may choose.
func DescribeOffers(offers []ir.Offer) string {
	if len(offers) == 0 {
		return "none"
	}
	texts := make([]string, len(offers))
	for i, o := range offers {
		texts[i] = o.Actor + " to " + o.Choice
	}
	return strings.Join(texts, ", ")
}

// jobOutcome adds the state and the status of a job to an outcome.
func (w *world) jobOutcome(ctx context.Context, row store.Instance, o *Outcome) {
	job, err := w.engine.Job(ctx, row.ID)
	if err != nil {
		w.failures = append(w.failures, Failure{Field: "engine", Message: err.Error()})
		return
	}
	o.State = job.Instance.Job.State
	o.Output, o.HasOutput = job.Status, true
	for _, offer := range row.Offers {
		if offer.Choice != o.State {
			o.WaitsFor = append(o.WaitsFor, offer.Actor+" to "+offer.Choice)
		}
	}
}
