package scenario

import (
	"encoding/json"
	"io"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

type jsonReport struct {
	Passed   int            `json:"passed"`
	Failed   int            `json:"failed"`
	Invalid  int            `json:"invalid"`
	Files    []jsonFile     `json:"files"`
	Coverage []jsonCoverage `json:"coverage"`
}

type jsonFile struct {
	File        string              `json:"file"`
	Diagnostics dialect.Diagnostics `json:"diagnostics,omitempty"`
	Scenarios   []jsonResult        `json:"scenarios"`
}

type jsonResult struct {
	Name     string        `json:"name"`
	Line     int           `json:"line"`
	Column   int           `json:"column"`
	Passed   bool          `json:"passed"`
	Status   string        `json:"status"`
	State    string        `json:"state,omitempty"` // of a job
	Elapsed  string        `json:"elapsed"`
	Path     []string      `json:"path"`
	Output   *expr.Value   `json:"output,omitempty"`
	Error    *jsonFault    `json:"error,omitempty"`
	Failures []jsonFailure `json:"failures,omitempty"`
	WaitsFor []string      `json:"waitsFor,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
}

type jsonFault struct {
	Fault  expr.Value `json:"fault"`
	State  string     `json:"state,omitempty"`
	File   string     `json:"file,omitempty"`
	Line   int        `json:"line,omitempty"`
	Column int        `json:"column,omitempty"`
}

type jsonFailure struct {
	Field   string   `json:"field"`
	Message string   `json:"message"`
	Diff    []string `json:"diff,omitempty"`
}

type jsonCoverage struct {
	File               string   `json:"file"`
	Definition         string   `json:"definition"`
	States             int      `json:"states"`
	StatesEntered      int      `json:"statesEntered"`
	MissingStates      []string `json:"missingStates"`
	Transitions        int      `json:"transitions"`
	TransitionsTaken   int      `json:"transitionsTaken"`
	MissingTransitions []string `json:"missingTransitions"`
}

// WriteJSON writes reports as one JSON object.
func WriteJSON(w io.Writer, reports []Report) error {
	s := Summarize(reports)
	out := jsonReport{Passed: s.Passed, Failed: s.Failed, Invalid: s.Invalid, Files: []jsonFile{}, Coverage: []jsonCoverage{}}
	for _, r := range reports {
		f := jsonFile{File: r.File, Diagnostics: r.Diagnostics, Scenarios: []jsonResult{}}
		for _, result := range r.Results {
			f.Scenarios = append(f.Scenarios, jsonOf(result))
		}
		out.Files = append(out.Files, f)
	}
	for _, c := range MergeCoverage(reports) {
		out.Coverage = append(out.Coverage, jsonCoverage{
			File: c.File, Definition: c.Definition,
			States: c.StateCount().All, StatesEntered: c.StateCount().Reached, MissingStates: orEmpty(c.MissingStates()),
			Transitions: c.EdgeCount().All, TransitionsTaken: c.EdgeCount().Reached, MissingTransitions: orEmpty(c.MissingEdges()),
		})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func jsonOf(r Result) jsonResult {
	out := jsonResult{
		Name: r.Name, Line: r.At.Line, Column: r.At.Column, Passed: r.Passed(),
		Status: r.Outcome.Status, State: r.Outcome.State, Elapsed: r.Outcome.elapsed(), Path: orEmpty(r.Outcome.Path),
		WaitsFor: r.Outcome.WaitsFor, Notes: r.Outcome.Notes,
	}
	if r.Outcome.HasOutput {
		out.Output = &r.Outcome.Output
	}
	if f := r.Outcome.Fault; f != nil {
		out.Error = &jsonFault{f.Value, f.State, f.Place.Exact.File, f.Place.Exact.Line, f.Place.Exact.Column}
	}
	for _, f := range r.Failures {
		out.Failures = append(out.Failures, jsonFailure(f))
	}
	return out
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
