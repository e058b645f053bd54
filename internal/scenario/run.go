package scenario

import (
	"context"
	"regexp"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Options say how to run a file.
type Options struct {
	Registry  *dialect.Registry
	Languages expr.Languages
	Dialect   string                           // of the definitions; "" detects it
	Only      *regexp.Regexp                   // run only scenarios with such a name; nil: all
	Bundle    func(file string) dialect.Bundle // what a definition may refer to; nil: its folder
	Limits    Limits
}

// Limits bound one scenario. A zero field means its default.
type Limits struct {
	Calls     int // of functions ("scenario-calls")
	Steps     int // commits ("scenario-steps")
	Instances int // that are not over, at a time ("scenario-instances")
}

// DefaultLimits hold unless Options say otherwise.
var DefaultLimits = Limits{Calls: 100_000, Steps: 100_000, Instances: 10_000}

func (l Limits) orDefault() Limits {
	if l.Calls == 0 {
		l.Calls = DefaultLimits.Calls
	}
	if l.Steps == 0 {
		l.Steps = DefaultLimits.Steps
	}
	if l.Instances == 0 {
		l.Instances = DefaultLimits.Instances
	}
	return l
}

// Run runs the scenarios of a file, each in a world of its own, in order. Where a
// definition has errors nothing runs; the report then holds only diagnostics.
func Run(ctx context.Context, f *File, o Options) Report {
	report := Report{File: f.Path, Documents: []*dialect.Document{f.Document}}
	definitions := compile(ctx, f, o, &report)
	if report.Diagnostics.HasErrors() {
		return report
	}
	for _, d := range definitions {
		report.Coverage = append(report.Coverage, newCoverage(d.File, d.Program))
	}
	for _, s := range f.Scenarios {
		if ctx.Err() != nil {
			break
		}
		if o.Only != nil && !o.Only.MatchString(s.Name) {
			continue
		}
		report.Results = append(report.Results, runScenario(ctx, s, definitions, o, report.Coverage))
	}
	return report
}
