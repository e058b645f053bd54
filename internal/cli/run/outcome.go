package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// inputHint is for a run without an input that needs one.
const inputHint = `give the workflow its input, for example --input '{"name":"Ada"}' or --input @FILE`

// refusedInput describes an invalid workflow input: where the schema is, and what the input has there.
func (s *session) refusedInput(e *engine.InputError) error {
	f := cli.Invalidf("%v", e)
	var at cli.ProblemError
	if e.Pos != (ir.Pos{}) {
		for _, d := range s.definitions {
			if d.Program.ID == e.Definition {
				at.File, at.Line, at.Column = d.File, e.Pos.Line, e.Pos.Column
				f.More = append(f.More, fmt.Sprintf("the schema is the dataInputSchema at %s:%d:%d", d.File, e.Pos.Line, e.Pos.Column))
			}
		}
		f.Hint = "change the input (--input) or the schema"
	}
	if e.Input.IsObject() && e.Input.Len() == 0 && s.flags.input == "" {
		f.Hint = inputHint
	}
	const most = 5
	shown := map[string]bool{}
	for i, v := range e.Violations {
		one := at
		one.Pointer, one.Message = v.Pointer, v.Message
		value, found := pointed(e.Input, v.Pointer)
		if found {
			one.Value, one.Cut = core.Shorten(value)
		}
		f.Errors = append(f.Errors, one)
		switch {
		case !found || shown[v.Pointer] || i >= most:
		case v.Pointer == "":
			f.More = append(f.More, "the input was "+shownValue(one.Value, one.Cut))
		default:
			f.More = append(f.More, fmt.Sprintf("at %s the input has %s", v.Pointer, shownValue(one.Value, one.Cut)))
		}
		shown[v.Pointer] = true
	}
	return f
}

// pointed is the value at a JSON pointer (RFC 6901).
func pointed(v expr.Value, pointer string) (expr.Value, bool) {
	if pointer == "" {
		return v, true
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if v.IsArray() {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= v.Len() {
				return expr.Null, false
			}
			v = v.Items()[i]
			continue
		}
		next, ok := v.Get(unescape.Replace(step))
		if !ok {
			return expr.Null, false
		}
		v = next
	}
	return v, true
}

// explain is the failure for why a run gave no result, with its exit code.
func (s *session) explain(err error) error {
	var end *endError
	var input *engine.InputError
	var schedule *engine.ScheduleError
	var version *engine.VersionConflictError
	var limit *trial.LimitError
	switch {
	case errors.As(context.Cause(s.ctx), &limit):
		return &cli.Failure{Exit: cli.ExitError, Code: "limit", Title: "A limit was reached", Detail: limit.Error()}
	case errors.As(err, &end):
		return s.ended(end.row)
	case errors.Is(err, errStuck):
		return s.waiting()
	case errors.Is(err, errTimeout):
		return s.late()
	case errors.As(err, &input):
		return s.refusedInput(input)
	case errors.As(err, &schedule):
		return &cli.Failure{
			Exit: cli.ExitConflict, Code: "not-active", Title: "The schedule is not active", Detail: schedule.Error(),
			Hint: "directInvoke: allow in the definition's schedule lets it be started at any time",
		}
	case errors.As(err, &version):
		return cli.Invalidf("two files define %q", version.ID)
	}
	return err
}

// ended describes an instance that ended without completing.
func (s *session) ended(row engine.Instance) error {
	switch {
	case row.Status == core.Completed:
		return &cli.Failure{
			Exit: cli.ExitError, Code: "not-reached", Title: "The state was not reached",
			Detail: fmt.Sprintf("the instance completed without entering state %q", s.flags.until),
		}
	case row.Status != core.Failed || row.Fault == nil:
		return &cli.Failure{
			Exit: cli.ExitCancelled, Code: string(row.Status), Title: "The instance was stopped",
			Detail: "the instance is " + string(row.Status),
		}
	}
	return s.failed(row)
}

// waiting describes a run in which nothing more can happen.
func (s *session) waiting() error {
	f := &cli.Failure{Exit: cli.ExitTimeout, Code: "waiting", Title: "Nothing more can happen"}
	if s.first().Job {
		return s.jobWaits(f)
	}
	f.Hint = "send events with --events FILE, or with --events - from stdin"
	id, _, _ := s.seen()
	if id == "" {
		var names []string
		for _, e := range s.first().Start.Events {
			ev := s.first().Events[e]
			name := fmt.Sprintf("%q (type %s, source %s)", ev.Name, cmp.Or(ev.Either, ev.Type), ev.Source)
			if !slices.Contains(names, name) { // an event may occur several times
				names = append(names, name)
			}
		}
		f.Detail = fmt.Sprintf("no event started %q, which starts with %s", s.first().ID, strings.Join(names, ", "))
		return f
	}
	f.Detail = "the workflow waits for " + s.waitsFor(id) + ", and nothing more can happen"
	if w, err := s.engine.Waiting(context.Background(), id); err == nil {
		for _, miss := range w.NearMisses {
			f.More = append(f.More, fmt.Sprintf("event %s is not event %q: %s", miss.Event.Event.ID, miss.Name, miss.Why))
		}
	}
	return f
}

// late describes a run that took too long.
func (s *session) late() error {
	f := &cli.Failure{Exit: cli.ExitTimeout, Code: "timeout", Title: "The run took too long", Detail: "the workflow did not end within " + s.flags.timeout.Text}
	id, _, _ := s.seen()
	switch asked := s.asked(); {
	case asked != "":
		f.More = append(f.More, fmt.Sprintf("it waits for your answer before state %q", asked))
	case id != "":
		f.More = append(f.More, "it waits for "+s.waitsFor(id))
	}
	return f
}

// waitsFor describes what an instance waits for.
func (s *session) waitsFor(id string) string {
	w, err := s.engine.Waiting(context.Background(), id)
	if err != nil {
		return "something"
	}
	var parts []string
	for _, sub := range w.Subscriptions {
		parts = append(parts, scenario.DescribeWait(sub))
	}
	for _, o := range w.Open {
		switch o.Kind {
		case core.WaitTimer, core.WaitDeadline, core.WaitTotal, core.WaitRetry:
			parts = append(parts, fmt.Sprintf("%s (%s)", o.At, o.Node))
		case core.WaitCall:
			parts = append(parts, fmt.Sprintf("the answer to a call (%s)", o.Node))
		case core.WaitChild:
			parts = append(parts, fmt.Sprintf("another workflow (%s)", o.Node))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
