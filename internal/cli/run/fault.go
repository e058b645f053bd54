package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// failed describes an instance that failed: the error, its place, the data there, and what to try.
func (s *session) failed(row engine.Instance) error {
	fault := row.Fault
	f := &cli.Failure{Exit: cli.ExitFailed, Code: "failed", Title: "The instance failed", Detail: fault.Error(), Hint: s.faultHint(fault)}
	if item := fault.Item; item != nil {
		f.Detail += fmt.Sprintf(" (item %s: %s)", cli.Grouped(item.Index), cli.Short(itemText(item)))
	}
	trail := scenario.Trail(s.located(), row.Definition, fault)
	f.More = append(f.More, trailLines(trail)...)
	value := func(what, name string, v expr.Value) {
		if !v.IsNull() {
			f.More = append(f.More, what+" "+shownValue(v, slices.Contains(fault.Cut, name)))
		}
	}
	value("the arguments were", "args", fault.Args)
	if fault.Args.IsNull() {
		value("the data was", "data", fault.Data)
	} else {
		value("the answer was", "data", fault.Data)
	}
	value("the state's data was", "state", fault.State)
	value("the output is", "", row.Output) // of an END state with the status FAILURE
	f.Extra = map[string]any{"fault": faultObject(fault, trail)}
	if !row.Output.IsNull() {
		f.Extra["output"] = row.Output
	}
	s.addEnding(f, row)
	return f
}

// itemText is the value of an item; of a long one the beginning.
func itemText(item *core.Item) string {
	if item.Cut {
		return item.Value.Str() + "…"
	}
	return item.Value.String()
}

// located lists the definitions with their files.
func (s *session) located() []scenario.Definition {
	var all []scenario.Definition
	for _, d := range s.definitions {
		all = append(all, scenario.Definition{File: d.File, Program: d.Program})
	}
	return all
}

// longTrail is how many workflows around a fault are shown on a terminal.
const longTrail = 8

// trailLines describe where a fault arose, innermost first.
func trailLines(trail []scenario.Hop) []string {
	if len(trail) == 1 {
		h := trail[0]
		if h.State == "" {
			return nil
		}
		where := fmt.Sprintf("in state %q", h.State)
		if at := h.Place.String(); at != "" {
			where += " at " + at
		}
		return []string{where}
	}
	var out []string
	for i, h := range trail {
		word := "called from "
		if i == 0 {
			word = "in "
		}
		out = append(out, word+h.String())
	}
	if n := len(out) - longTrail; n > 0 {
		more := fmt.Sprintf("… %d more (-o json shows all) …", n)
		out = slices.Replace(out, longTrail/2, longTrail/2+n, more)
	}
	return out
}

type faultJSON struct {
	Name   string `json:"name"`
	Code   string `json:"code,omitempty"`
	Status string `json:"status,omitempty"`
	Title  string `json:"title,omitempty"`
	Type   string `json:"type,omitempty"`
	Detail string `json:"detail,omitempty"`
	hopJSON

	Data      expr.Value `json:"data,omitzero"`
	Arguments expr.Value `json:"arguments,omitzero"`
	StateData expr.Value `json:"stateData,omitzero"`
	Cut       []string   `json:"cut,omitempty"`   // which of the three are too large: they are the beginning of their text
	Trail     []hopJSON  `json:"trail,omitempty"` // innermost first
}

type hopJSON struct {
	Workflow string `json:"workflow,omitempty"`
	State    string `json:"state,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
}

func faultObject(f *core.Fault, trail []scenario.Hop) faultJSON {
	out := faultJSON{
		Name: f.Name, Code: f.Code, Status: f.Status, Title: f.Title, Type: f.Type, Detail: f.Detail,
		Data: f.Data, Arguments: f.Args, StateData: f.State,
	}
	for _, name := range f.Cut {
		out.Cut = append(out.Cut, map[string]string{"args": "arguments", "data": "data", "state": "stateData"}[name])
	}
	var hops []hopJSON
	for _, h := range trail {
		at := h.Place.Exact
		hops = append(hops, hopJSON{h.Workflow, h.State, at.File, at.Line, at.Column})
	}
	if out.hopJSON = hops[len(hops)-1]; len(hops) > 1 {
		out.Trail = hops
	}
	return out
}

// longValue is how many bytes of a value are shown on a terminal.
const longValue = 400

// shownValue is a value for a terminal; a cut one is the beginning of its text.
func shownValue(v expr.Value, cut bool) string {
	if cut {
		return begin(v.Str()) + fmt.Sprintf("… (-o json shows the first %d KiB: limit fault-data)", core.MaxFaultData>>10)
	}
	text := v.String()
	if len(text) <= longValue {
		return text
	}
	return begin(text) + fmt.Sprintf("… (%d bytes; -o json shows all)", len(text))
}

func begin(text string) string { return strings.ToValidUTF8(text[:min(len(text), longValue)], "") }

// faultHint suggests what to do about a fault.
func (s *session) faultHint(fault *core.Fault) string {
	inner := len(fault.Trail) > 0 // in a called workflow, which --until cannot reach
	switch {
	case fault.Name == core.FaultNoFunction && openapi.Hint(fault.Code) != "":
		return openapi.Hint(fault.Code)
	case fault.Name == core.FaultNoFunction:
		return "give the function an operation, name a catalogue that has it with --functions FILE, or answer its calls with --mock FILE"
	case fault.Name == core.FaultNoWorkflow:
		return "name the file of the other workflow after the first: lockstep run FILE OTHER"
	case fault.Name == mock.Missing:
		return "with --mock every called function needs a mock; \"*\" is for all others"
	case fault.Code == http.CodeRefused && strings.Contains(fault.Detail, "outbound policy"):
		return "--outbound-allow HOST[:PORT] allows calls to a private address"
	case fault.Name == core.FaultRestricted:
		return "the state's output must satisfy the expression before the workflow continues; --step shows the data before each state"
	case s.flags.input == "" && fault.State.IsObject() && fault.State.Len() == 0 && slices.Contains([]string{core.FaultSchema, effect.InvalidArguments}, fault.Name),
		s.flags.input == "" && fault.Name == core.FaultSchema && fault.Instance == "/input":
		return inputHint
	case fault.Name == core.FaultSchema && fault.Args.IsNull():
		return "the data above must match the schema; --step shows the data before each state and can change it"
	case fault.Name == core.FaultExpression && (fault.Final || inner):
		return "let the path select less, for example without .. or *; docs/limits.md lists the limits"
	case fault.Name == core.FaultData && inner:
		return "check the data above, or the input of each state with --step"
	case fault.Name == core.FaultData:
		return fmt.Sprintf("check the data above, or the input of the state with --until %s", cli.QuoteArg(fault.Node))
	case fault.Name == core.FaultStepLimit:
		return "let it wait somewhere (a delay, an event, a function), or end the loop with a condition"
	case fault.Final, fault.Name == core.FaultStateLimit: // what asks for too much has to be changed
		return "ask for less at a time; docs/limits.md lists the limits"
	}
	if slices.Contains([]string{"/timeout", "/input", "/output"}, fault.Instance) {
		return "" // it is the workflow's, and no task can catch it
	}
	if hint := s.handling(fault); hint != "" {
		return hint
	}
	if fault.Type != "" && len(s.first().Errors) > 0 {
		return fmt.Sprintf("a try around %q can catch it: errors: {with: {type: %s}}", fault.Node, cli.FlowYAML(fault.Type))
	}
	if code := cmp.Or(fault.Code, fault.Status); fault.Name == core.FaultUnnamed && code != "" {
		return fmt.Sprintf("onErrors in state %q can handle it: {error: %s, code: %q, transition: …}", fault.Node, core.FaultUnnamed, code)
	}
	return fmt.Sprintf("onErrors in state %q can handle it: {error: %s, transition: …}", fault.Node, cli.FlowYAML(fault.Name))
}
