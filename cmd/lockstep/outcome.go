package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// explain turns the reason why a run gave no result into words and an exit code.
func (s *session) explain(err error) error {
	var end *endError
	var input *engine.InputError
	var schedule *engine.ScheduleError
	var version *engine.VersionConflictError
	var limit *scenario.LimitError
	switch {
	case errors.As(context.Cause(s.ctx), &limit):
		return &failure{exit: exitError, code: "limit", title: "A limit was reached", detail: limit.Error()}
	case errors.As(err, &end):
		return s.ended(end.row)
	case errors.Is(err, errStuck):
		return s.waiting()
	case errors.Is(err, errTimeout):
		return s.late()
	case errors.As(err, &input):
		return s.refusedInput(input)
	case errors.As(err, &schedule):
		return &failure{
			exit: exitConflict, code: "not-active", title: "The schedule is not active", detail: schedule.Error(),
			hint: "directInvoke: allow in the definition's schedule lets it be started at any time",
		}
	case errors.As(err, &version):
		return invalidf("two of the files define %q", version.ID)
	}
	return err
}

// ended explains an instance that is over, but not completed.
func (s *session) ended(row engine.Instance) error {
	switch {
	case row.Status == core.Completed:
		return &failure{
			exit: exitError, code: "not-reached", title: "The state was not reached",
			detail: fmt.Sprintf("the instance completed without entering state %q", s.flags.until),
		}
	case row.Status != core.Failed || row.Fault == nil:
		return &failure{
			exit: exitCancelled, code: string(row.Status), title: "The instance was stopped",
			detail: "the instance is " + string(row.Status),
		}
	}
	return s.failed(row)
}

// waiting explains a run in which nothing more can happen.
func (s *session) waiting() error {
	f := &failure{exit: exitTimeout, code: "waiting", title: "Nothing more can happen"}
	if s.first().Job {
		return s.jobWaits(f)
	}
	f.hint = "send events with --events FILE, or with --events - from stdin"
	id, _, _ := s.seen()
	if id == "" {
		var names []string
		for _, e := range s.first().Start.Events {
			ev := s.first().Events[e]
			name := fmt.Sprintf("%q (type %s, source %s)", ev.Name, cmp.Or(ev.Either, ev.Type), ev.Source)
			if !slices.Contains(names, name) { // an event may stand at several places
				names = append(names, name)
			}
		}
		f.detail = fmt.Sprintf("no event started %q, which begins with %s", s.first().ID, strings.Join(names, ", "))
		return f
	}
	f.detail = "the workflow waits for " + s.waitsFor(id) + ", and nothing more will come"
	if w, err := s.engine.Waiting(context.Background(), id); err == nil {
		for _, miss := range w.NearMisses {
			f.more = append(f.more, fmt.Sprintf("event %s is not event %q: %s", miss.Event.Event.ID, miss.Name, miss.Why))
		}
	}
	return f
}

// late explains a run that took too long.
func (s *session) late() error {
	f := &failure{exit: exitTimeout, code: "timeout", title: "The run took too long", detail: "the workflow did not end within " + s.flags.timeout.text}
	id, _, _ := s.seen()
	switch asked := s.asked(); {
	case asked != "":
		f.more = append(f.more, fmt.Sprintf("it waits for your answer before state %q", asked))
	case id != "":
		f.more = append(f.more, "it waits for "+s.waitsFor(id))
	}
	return f
}

// waitsFor tells what an instance waits for.
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
