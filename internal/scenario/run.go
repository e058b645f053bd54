package scenario

import (
	"cmp"
	"context"
	"regexp"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// Options say how to run a file.
type Options struct {
	Registry  *dialect.Registry
	Languages expr.Languages
	Dialect   string                           // of the definitions; "" detects it
	Only      *regexp.Regexp                   // run only scenarios with such a name; nil: all
	Bundle    func(file string) dialect.Bundle // what a definition may refer to; nil: its folder
	Limits    trial.Limits                     // of one scenario
	// Check reports what else is wrong with a definition; nil: nothing.
	Check func(file string, c dialect.Compiled) dialect.Diagnostics
}

const (
	maxCalls     = 100_000 // of functions ("scenario-calls")
	maxSteps     = 100_000 // commits ("scenario-steps")
	maxInstances = 10_000  // that have not ended, at a time ("scenario-instances")
)

// DefaultLimits hold for each scenario unless Options say otherwise.
var DefaultLimits = trial.Limits{Of: "scenario", Calls: maxCalls, Steps: maxSteps, Instances: maxInstances}

// limits are those of the options, with defaults for those that are zero.
func (o *Options) limits() trial.Limits {
	return trial.Limits{
		Of:        DefaultLimits.Of,
		Calls:     cmp.Or(o.Limits.Calls, DefaultLimits.Calls),
		Steps:     cmp.Or(o.Limits.Steps, DefaultLimits.Steps),
		Instances: cmp.Or(o.Limits.Instances, DefaultLimits.Instances),
	}
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
