package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// failed explains an instance that failed: what, where, what was seen there, and what
// to try.
func (s *session) failed(row engine.Instance) error {
	fault := row.Fault
	f := &failure{exit: exitFailed, code: "failed", title: "The instance failed", detail: fault.Error(), hint: s.faultHint(fault)}
	trail := scenario.Trail(s.located(), row.Definition, fault)
	f.more = append(f.more, trailLines(trail)...)
	value := func(what, name string, v expr.Value) {
		if !v.IsNull() {
			f.more = append(f.more, what+" "+shownValue(v, slices.Contains(fault.Cut, name)))
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
	f.extra = map[string]any{"fault": faultObject(fault, trail)}
	if !row.Output.IsNull() {
		f.extra["output"] = row.Output
	}
	s.tellFailure(f, row)
	return f
}

// located lists what runs with the files it stands in.
func (s *session) located() []scenario.Definition {
	var all []scenario.Definition
	for _, d := range s.definitions {
		all = append(all, scenario.Definition{File: d.file, Program: d.Program})
	}
	return all
}

// longTrail is how many workflows around a fault are told on a terminal.
const longTrail = 8

// trailLines tells where a fault arose, innermost first.
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
	Cut       []string   `json:"cut,omitempty"`   // which of the three are too large, and the beginning of their text
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

// longValue is how much of a value is told on a terminal, in bytes.
const longValue = 400

// shownValue is a value for a terminal; one that was cut is the beginning of its text.
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

// faultHint says what can be done about a fault.
func (s *session) faultHint(fault *core.Fault) string {
	inner := len(fault.Trail) > 0 // in a workflow that was called: --until cannot get there
	switch {
	case fault.Name == core.FaultNoFunction && openapi.Hint(fault.Code) != "":
		return openapi.Hint(fault.Code)
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
	case fault.Name == core.FaultSchema && fault.Args.IsNull():
		return "the data above must adhere to the schema that is asked for there; --step shows the data before each state and lets you change it"
	case fault.Name == core.FaultExpression && (fault.Final || inner):
		return "let the path select less, for example without .. or *; docs/limits.md tells what is allowed"
	case fault.Name == core.FaultData && inner:
		return "look at the data above, or see what each state gets with --step"
	case fault.Name == core.FaultData:
		return fmt.Sprintf("look at the data above, or see what the state gets with --until %s", quoteArg(fault.Node))
	case fault.Name == core.FaultStepLimit:
		return "let it wait somewhere (a delay, an event, a function), or end the loop with a condition"
	case fault.Final, fault.Name == core.FaultStateLimit: // what asks for too much has to be changed
		return "ask for less at a time; docs/limits.md tells what is allowed"
	}
	if code := cmp.Or(fault.Code, fault.Status); fault.Name == core.FaultUnnamed && code != "" {
		return fmt.Sprintf("onErrors in state %q can handle it: {error: %s, code: %q, transition: …}", fault.Node, core.FaultUnnamed, code)
	}
	return fmt.Sprintf("onErrors in state %q can handle it: {error: %s, transition: …}", fault.Node, flowYAML(fault.Name))
}

// flowYAML writes text as it can stand between the brackets of YAML.
func flowYAML(text string) string { return scalarYAML(expr.String(text)) }

// quoteArg writes a name as a shell takes it.
func quoteArg(name string) string {
	if strings.ContainsAny(name, " '\"$\\!*?[](){}<>|&;`~#") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}
