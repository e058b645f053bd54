package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Compile compiles the definitions of a case, the main one first. Warnings are fine.
func (c *Case) Compile() ([]*ir.Program, error) {
	fronts := registry()
	options := dialect.Options{Dialect: c.Dialect}
	if c.Detect {
		options.Dialect = ""
	}
	var programs []*ir.Program
	for _, def := range append([]expr.Value{c.Def}, c.Subs...) {
		compiled, found := fronts.Compile(idOf(def)+".json", def.AppendJSON(nil), nil, options)
		if found.HasErrors() {
			return nil, &refusedError{found}
		}
		programs = append(programs, compiled.Program)
	}
	return programs, nil
}

// ID is the id of the definition under test.
func (c *Case) ID() string { return idOf(c.Def) }

// TakesAll reports whether something listens for every event there is.
func (c *Case) TakesAll() bool {
	return slices.ContainsFunc(append([]expr.Value{c.Def}, c.Subs...), func(def expr.Value) bool {
		return strings.Contains(canonical(def), `"any":[]`)
	})
}

// Answers are the mocks in the form of scenarios.
func (c *Case) Answers() mock.Mocks {
	out := mock.Mocks{}
	for _, m := range c.Mocks {
		for _, a := range m.Answers {
			answer := mock.Answer{Result: a.Result, HasResult: a.HasResult, Echo: a.Echo, Delay: a.Delay}
			if f := a.Error; f != nil {
				answer.Error = &effect.Failure{Name: f.Name, Code: f.Code, Status: f.Status, Title: f.Title, Type: f.Type}
			}
			out[m.Function] = append(out[m.Function], answer)
		}
	}
	return out
}

// ProducedAt is a produced event as outcomes show it.
func ProducedAt(at time.Time, e event.Event) Produced {
	return Produced{at.Sub(Epoch), e.Value().Without("id").Without("time").Without("datacontenttype")}
}

// Observe reads the outcome of the instances in a store.
func Observe(ctx context.Context, s store.Store, out *Outcome) error {
	rows, err := s.Instances(ctx, store.Query{})
	if err != nil {
		return err
	}
	for _, row := range rows {
		in := Instance{Workflow: row.Definition, Status: Waiting, Created: since(row.Created)}
		switch row.Status {
		case core.Completed:
			in.Status, in.Output = Completed, row.Output
		case core.Failed:
			if in.Status, in.Error = Failed, row.Fault.Name; row.Fault.Instance != "" && strings.Contains(row.Fault.Type, "://") {
				in.Error = fmt.Sprintf("%s %s at %s", row.Fault.Type, row.Fault.Status, row.Fault.Instance)
			}
		case core.Cancelled, core.Terminated:
			in.Status = Cancelled
		}
		if row.Status.Final() {
			in.Ended = since(row.Ended)
		}
		if row.Job.State != "" {
			in.Job = jobText(row.Job.Client, row.Job.State, row.Job.Group, tagsOf(row.Labels))
		}
		if row.Quarantine != "" {
			return fmt.Errorf("instance %s is set aside: %s", row.ID, row.Quarantine)
		}
		records, err := s.Records(ctx, row.ID, 0, 0)
		if err != nil {
			return err
		}
		for _, r := range records {
			if r.Type == core.RecEntered && r.Depth == 0 {
				in.Path = append(in.Path, r.Node)
			}
		}
		out.Instances = append(out.Instances, in)
	}
	return nil
}

func since(t core.Time) time.Duration { return t.Std().Sub(Epoch) }

// refusedError says that a definition of a case is not valid.
type refusedError struct{ found dialect.Diagnostics }

func (e *refusedError) Error() string { return "the definition is refused: " + e.found.Error() }
