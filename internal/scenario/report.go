package scenario

import (
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Report is what came of one scenario file.
type Report struct {
	File string

	// Diagnostics are what is wrong in the file and in the definitions it names.
	// Where one is an error, nothing ran. Documents are for showing them.
	Diagnostics dialect.Diagnostics
	Documents   []*dialect.Document

	Results  []Result
	Coverage []Coverage
}

// Failed reports whether a scenario failed.
func (r Report) Failed() bool {
	return slices.ContainsFunc(r.Results, func(one Result) bool { return !one.Passed() })
}

// Result is what came of one scenario.
type Result struct {
	Name     string
	At       dialect.Pos
	Outcome  Outcome
	Failures []Failure // none: it passed
}

// Passed reports whether everything was as expected.
func (r Result) Passed() bool { return len(r.Failures) == 0 }

// Failure is one thing that is not as expected.
type Failure struct {
	Field   string   // the key of expect, or what else went wrong
	Message string   // a sentence
	Diff    []string // lines that begin with "- " (expected), "+ " (got) or two blanks; may be empty
}

// Outcome is what happened in a scenario. Status, Output, Fault, Path, State and
// Elapsed speak of the first instance that was created, the others of all. The output
// of a job is its status, also before it is over.
type Outcome struct {
	Status    string
	Output    expr.Value
	HasOutput bool
	Fault     *Fault
	Path      []string
	State     string // of a job
	Created   time.Time
	Ended     time.Time // or when nothing more could happen
	Calls     []Call
	Produced  []expr.Value // CloudEvents as objects
	Lifecycle []expr.Value // likewise; only where the scenario expects some
	Instances int
	WaitsFor  []string // what an instance that is not over waits for, for people
	Notes     []string // what else helps to understand a failure
}

// Elapsed is the virtual time from creation to end.
func (o Outcome) Elapsed() time.Duration {
	if o.Created.IsZero() {
		return 0
	}
	return o.Ended.Sub(o.Created)
}

// elapsed is Elapsed as reports write it.
func (o Outcome) elapsed() string { return calendar.DurationOf(o.Elapsed()).String() }

// Fault is why an instance failed, and where in the definition.
type Fault struct {
	Value expr.Value // name, code, status, title, type, detail, data, node
	Text  string     // one line
	State string
	Place Place
	Inner []Hop // where it was in workflows that this one waits for, innermost first
}

// Call is one call of a function.
type Call struct {
	Time      time.Time
	Function  string
	Arguments expr.Value
}

// Summary counts scenarios over many reports.
type Summary struct{ Passed, Failed, Invalid int }

// Summarize counts. A file that could not be used counts as one invalid.
func Summarize(reports []Report) Summary {
	var s Summary
	for _, r := range reports {
		if r.Diagnostics.HasErrors() {
			s.Invalid++
			continue
		}
		for _, result := range r.Results {
			if result.Passed() {
				s.Passed++
			} else {
				s.Failed++
			}
		}
	}
	return s
}
