package dialect

import (
	"fmt"
	"slices"
)

// MaxDiagnostics is how many diagnostics are reported for one definition (limit "diagnostics").
const MaxDiagnostics = 100

// maxKept is how many errors, and how many warnings, a Reporter with a budget keeps. It is more than
// are reported, because the first in the document are not the first that are found.
const maxKept = 10 * MaxDiagnostics

// more counts the diagnostics that were left out.
type more struct{ errors, warnings int }

// Truncate keeps the first MaxDiagnostics of ds, which must be sorted, and adds one that says how
// many were left out. Errors take precedence over warnings, so that a reason for refusing the
// definition is always shown. More can be added to its result, and truncated again.
func (c *Compiled) Truncate(ds Diagnostics) Diagnostics {
	ds = slices.DeleteFunc(ds, func(d Diagnostic) bool { return d.Code == CodeMore })
	errors, _ := ds.Counts()
	places := map[Severity]int{Error: min(errors, MaxDiagnostics)}
	places[Warning] = MaxDiagnostics - places[Error]
	kept := ds[:0]
	for _, d := range ds {
		switch {
		case places[d.Severity] > 0:
			places[d.Severity]--
			kept = append(kept, d)
		case d.Severity == Error:
			c.omitted.errors++
		default:
			c.omitted.warnings++
		}
	}
	if c.omitted == (more{}) {
		return kept
	}
	end := c.Document.pos(len(c.Document.Source)) // after all others
	last := Diagnostic{
		File: end.File, Line: end.Line, Column: end.Column, Severity: Warning, Code: CodeMore, Hint: "correct these first",
		Message: fmt.Sprintf("%d more diagnostics are not shown (limit diagnostics)", c.omitted.errors+c.omitted.warnings),
	}
	if c.omitted.errors > 0 {
		last.Severity = Error
	}
	return append(kept, last)
}
