package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a diagnostic stops a definition from being used.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Pos is a place in a file. Lines and columns count from 1, columns in
// characters (code points; a tab is one). Line 0 means the file as a whole.
type Pos struct {
	File         string
	Line, Column int
}

// Span is a piece of one line. EndColumn is the column after its last
// character, 0 when unknown.
type Span struct {
	Pos
	EndColumn int
}

// Place is anything a diagnostic can point at: a *[Node], a [Span], a [Pos].
type Place interface{ Span() Span }

// Span returns the place without an extent.
func (p Pos) Span() Span { return Span{Pos: p} }

// Span returns s.
func (s Span) Span() Span { return s }

func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Diagnostic is one thing wrong in a user's document.
type Diagnostic struct {
	File      string   `json:"file"`
	Line      int      `json:"line"`
	Column    int      `json:"column"`
	EndColumn int      `json:"-"` // after the last character underlined; 0 when unknown
	Severity  Severity `json:"severity"`
	Code      string   `json:"code"`
	Message   string   `json:"message"`
	Hint      string   `json:"hint"`

	unfetched bool // see Reporter.Unopened
}

// Pos returns where the diagnostic points.
func (d Diagnostic) Pos() Pos { return Pos{d.File, d.Line, d.Column} }

// Span returns what the diagnostic underlines.
func (d Diagnostic) Span() Span { return Span{d.Pos(), d.EndColumn} }

// WithHint sets the hint, a half sentence that follows the message after a semicolon.
func (d *Diagnostic) WithHint(format string, args ...any) *Diagnostic {
	d.Hint = fmt.Sprintf(format, args...)
	return d
}

// DidYouMean sets the hint to the candidate nearest to got. Without a near one
// the hint stays as it is.
func (d *Diagnostic) DidYouMean(got string, among []string) *Diagnostic {
	if near := Suggest(got, among); near != "" {
		d.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return d
}

// String returns one line: file:line:column severity CODE message; hint.
func (d Diagnostic) String() string {
	s := fmt.Sprintf("%s %s %s %s", d.Pos(), d.Severity, d.Code, d.Message)
	if d.Hint != "" {
		s += "; " + d.Hint
	}
	return s
}

// Diagnostics is everything found in a definition.
type Diagnostics []Diagnostic

// Error returns one line for each diagnostic, so that a list can travel as an error.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Sentence returns the messages and hints without places and codes, for text too short to
// need them.
func (ds Diagnostics) Sentence() string {
	var parts []string
	for _, d := range ds {
		parts = append(parts, d.Message)
		if d.Hint != "" {
			parts = append(parts, d.Hint)
		}
	}
	return strings.Join(parts, "; ")
}

// HasErrors reports whether any diagnostic is an error.
func (ds Diagnostics) HasErrors() bool {
	errors, _ := ds.Counts()
	return errors > 0
}

// Errors returns the diagnostics that are errors.
func (ds Diagnostics) Errors() (out Diagnostics) {
	for _, d := range ds {
		if d.Severity == Error {
			out = append(out, d)
		}
	}
	return out
}

// Counts returns how many errors and warnings there are.
func (ds Diagnostics) Counts() (errors, warnings int) {
	for _, d := range ds {
		if d.Severity == Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// Sort orders by file, line, column and code, and by text where those agree, so
// that the order never depends on how the document was walked.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Hint, b.Hint),
		)
	})
}
