package dialect

import (
	"fmt"
	"slices"
)

// MaxDiagnostics is the limit diagnostics: how many are told of one definition.
const MaxDiagnostics = 100

// maxKept is how many errors, and how many warnings, a Reporter with a budget keeps. Those that
// are told are the first in the document, which are not the first that are found.
const maxKept = 10 * MaxDiagnostics

// more counts diagnostics that are not told.
type more struct{ errors, warnings int }

// Truncate leaves the first diagnostics of a definition, which are sorted, and says in a last
// one how many more there are. Errors come before warnings: what stops a definition is always
// among them. More can be added to what it returned, and truncated again.
func (c *Compiled) Truncate(ds Diagnostics) Diagnostics {
	ds = slices.DeleteFunc(ds, func(d Diagnostic) bool { return d.Code == CodeMore })
	errors, _ := ds.Counts()
	places := map[Severity]int{Error: min(errors, MaxDiagnostics)}
	places[Warning] = MaxDiagnostics - places[Error]
	told := ds[:0]
	for _, d := range ds {
		switch {
		case places[d.Severity] > 0:
			places[d.Severity]--
			told = append(told, d)
		case d.Severity == Error:
			c.untold.errors++
		default:
			c.untold.warnings++
		}
	}
	if c.untold == (more{}) {
		return told
	}
	end := c.Document.pos(len(c.Document.Source)) // behind all others
	last := Diagnostic{
		File: end.File, Line: end.Line, Column: end.Column, Severity: Warning, Code: CodeMore, Hint: "correct these first",
		Message: fmt.Sprintf("%d more diagnostics are not told (limit diagnostics)", c.untold.errors+c.untold.warnings),
	}
	if c.untold.errors > 0 {
		last.Severity = Error
	}
	return append(told, last)
}
