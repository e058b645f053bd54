package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/effect/mock"
	"github.com/lockstep-workflows/lockstep/engine"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/scenario"
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
		f := invalidf("%v", input)
		for _, v := range input.Violations {
			f.errors = append(f.errors, problemError{Pointer: v.Pointer, Message: v.Message})
		}
		return f
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
	fault := row.Fault
	f := &failure{exit: exitFailed, code: "failed", title: "The instance failed", detail: fault.Error(), hint: s.faultHint(fault)}
	place := s.locate(row.Definition, fault)
	if fault.Node != "" {
		where := fmt.Sprintf("in state %q", fault.Node)
		if at := place.String(); at != "" {
			where += " at " + at
		}
		f.more = append(f.more, where)
	}
	if !fault.Data.IsNull() {
		f.more = append(f.more, "the data was "+clipped(fault.Data.String()))
	}
	f.extra = map[string]any{"fault": faultJSON{
		Name: fault.Name, Code: fault.Code, Status: fault.Status, Title: fault.Title, Type: fault.Type,
		Detail: fault.Detail, Data: fault.Data, State: fault.Node,
		File: place.Exact.File, Line: place.Exact.Line, Column: place.Exact.Column,
	}}
	return f
}

func (s *session) locate(definition string, fault *core.Fault) scenario.Place {
	var all []scenario.Definition
	for _, d := range s.definitions {
		all = append(all, scenario.Definition{File: d.file, Program: d.Program})
	}
	return scenario.Locate(all, definition, fault)
}

type faultJSON struct {
	Name   string `json:"name"`
	Code   string `json:"code,omitempty"`
	Status string `json:"status,omitempty"`
	Title  string `json:"title,omitempty"`
	Type   string `json:"type,omitempty"`
	Detail string `json:"detail,omitempty"`
	State  string `json:"state,omitempty"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`

	Data expr.Value `json:"data,omitzero"`
}

// clipped cuts long text for a terminal; -o json has all of it.
func clipped(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("… (%d bytes; -o json shows all)", len(text))
}

// faultHint says what can be done about a fault.
func (s *session) faultHint(fault *core.Fault) string {
	switch {
	case fault.Name == core.FaultNoFunction:
		return "give the function an operation, name a catalogue that has it with --functions FILE, or answer its calls with --mock FILE"
	case fault.Name == core.FaultNoWorkflow:
		return "name the file of the other workflow after the first: lockstep run FILE OTHER"
	case fault.Name == mock.Missing:
		return "with --mock every function that is called needs an answer; \"*\" answers for all others"
	case fault.Code == http.CodeRefused && strings.Contains(fault.Detail, "outbound policy"):
		return "--outbound-allow HOST[:PORT] lets calls reach a private address"
	case fault.Name == core.FaultRestricted:
		return "the state's output must satisfy the expression before the workflow may go on; --step shows the data before each state"
	case fault.Name == core.FaultExpression && fault.Final:
		return "let the path select less, for example without .. or *; docs/limits.md tells what is allowed"
	case fault.Name == core.FaultData:
		return fmt.Sprintf("look at the data above, or see what the state gets with --until %s", quoteArg(fault.Node))
	case fault.Final, fault.Name == core.FaultStateLimit, fault.Name == core.FaultStepLimit: // what asks for too much has to be changed
		return ""
	}
	return fmt.Sprintf("onErrors in state %q can handle it: {error: %s, transition: …}", fault.Node, fault.Name)
}

// waiting explains a run in which nothing more can happen.
func (s *session) waiting() error {
	f := &failure{exit: exitTimeout, code: "waiting", title: "Nothing more can happen"}
	f.hint = "send events with --events FILE, or with --events - from stdin"
	id, _, _ := s.seen()
	if id == "" {
		var names []string
		for _, e := range s.first().Start.Events {
			ev := s.first().Events[e]
			names = append(names, fmt.Sprintf("%q (type %s, source %s)", ev.Name, ev.Type, ev.Source))
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
	if id, _, _ := s.seen(); id != "" {
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

// quoteArg writes a name as a shell takes it.
func quoteArg(name string) string {
	if strings.ContainsAny(name, " '\"$\\!*?[](){}<>|&;`~#") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}
