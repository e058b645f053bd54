package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// outcome says what happened, once nothing more can.
func (w *world) outcome(ctx context.Context, rows []store.Instance) Outcome {
	o := Outcome{Status: StatusNone, Calls: w.store.made(), Produced: w.produced, Lifecycle: w.store.occurred, Notes: w.notes}
	for _, row := range rows {
		if row.Parent == "" {
			o.Instances++
		}
	}
	if len(rows) == 0 {
		if w.refusal != nil {
			o.Fault = refused(w.refusal)
		}
		return o
	}
	first := rows[0]
	o.Status = statusOf(first)
	o.Created, o.Ended = first.Created.Std(), first.Ended.Std()
	if h := w.store.byID[first.ID]; h != nil {
		o.Path = h.path()
	}
	switch {
	case first.Status == core.Completed:
		o.Output, o.HasOutput = first.Output, true
	case first.Fault != nil:
		o.Fault = w.fault(first)
		o.Output, o.HasOutput = first.Output, !first.Output.IsNull()
	}
	if first.Job.State != "" {
		w.jobOutcome(ctx, first, &o)
	}
	if !first.Status.Final() {
		o.Ended = w.run.Clock.Now()
		o.WaitsFor = append(o.WaitsFor, w.waitsFor(ctx, first)...)
	}
	if first.Quarantine != "" {
		w.failures = append(w.failures, Failure{Field: "engine", Message: "an invariant broke: " + first.Quarantine})
	}
	return o
}

func statusOf(row store.Instance) string {
	switch row.Status {
	case core.Completed:
		return StatusCompleted
	case core.Failed:
		return StatusFailed
	case core.Cancelled, core.Terminated:
		return StatusCancelled
	}
	return StatusWaiting
}

// fault describes why an instance failed, and where in the definition that is.
func (w *world) fault(row store.Instance) *Fault {
	trail := Trail(w.definitions, row.Definition, row.Fault)
	return &Fault{
		Value: faultValue(row.Fault), Text: row.Fault.Error(), State: row.Fault.Node,
		Place: trail[len(trail)-1].Place, Inner: trail[:len(trail)-1],
	}
}

// faultValue is a fault as the object that expectations are compared with.
func faultValue(f *core.Fault) expr.Value {
	text, err := json.Marshal(f)
	if err != nil {
		return expr.EmptyObject
	}
	v, err := expr.ParseJSON(text)
	if err != nil {
		return expr.EmptyObject
	}
	for _, key := range []string{"pos", "final", "args", "state", "cut", "trail"} {
		v = v.Without(key)
	}
	return v
}

func refused(err error) *Fault {
	v := expr.Object(expr.Member{Key: "detail", Value: expr.String(err.Error())})
	return &Fault{Value: v, Text: "the start was refused: " + err.Error()}
}

// waitsFor says what an instance still waits for.
func (w *world) waitsFor(ctx context.Context, row store.Instance) []string {
	var out []string
	subs, err := w.store.Subscriptions(ctx, row.ID)
	if err != nil {
		return nil
	}
	for _, s := range subs {
		out = append(out, DescribeWait(s))
	}
	return out
}

// DescribeWait says which event a subscription waits for.
func DescribeWait(s store.Subscription) string {
	text := fmt.Sprintf("event %q", s.Name)
	var parts []string
	if s.Filter.Type != "" {
		parts = append(parts, "type "+s.Filter.Type)
	}
	if s.Filter.Source != "" {
		parts = append(parts, "source "+s.Filter.Source)
	}
	for _, k := range s.Filter.Keys {
		if k.Fixed {
			parts = append(parts, k.Name+" "+k.Value)
		}
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}
