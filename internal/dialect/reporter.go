package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Reporter collects diagnostics while a front-end walks a document.
//
//	r.Errorf(n, "SW104", "unknown state type %q", n.Text).DidYouMean(n.Text, types)
//	r.Warnf(n.KeySpan(), "SW310", "state %q is unreachable", name)
//	r.Errorf(n.ColumnIn(offset), "SW120", "malformed expression: %s", problem)
//
// The zero Reporter is ready to use. A nil place means "somewhere in File".
type Reporter struct {
	File   string
	Budget *Budget // of the definition; nil: everything is kept
	found  []*Diagnostic

	errors, warnings int
}

// Errorf reports an error at a place. The result is for adding a hint.
func (r *Reporter) Errorf(at Place, code, format string, args ...any) *Diagnostic {
	return r.add(at, Error, code, fmt.Sprintf(format, args...))
}

// Warnf reports a warning at a place. The result is for adding a hint.
func (r *Reporter) Warnf(at Place, code, format string, args ...any) *Diagnostic {
	return r.add(at, Warning, code, fmt.Sprintf(format, args...))
}

// Unopened reports that a document that the definition refers to cannot be opened. If it was only not fetched, nothing
// is known to be wrong, but the definition cannot be compiled without it: [Registry.Compile] makes a warning of it.
func (r *Reporter) Unopened(at Place, code, what string, err error) *Diagnostic {
	d := r.Errorf(at, code, "%s cannot be fetched: %v", what, err)
	d.unfetched = errors.Is(err, ErrNotFetched)
	return d
}

// Malformed reports an error of parsing the text of a string, at the character where the
// parser stopped. begin is the offset of the parsed text in the string.
func (r *Reporter) Malformed(n *Node, begin int, code, what string, err error) *Diagnostic {
	var detailed interface {
		error
		Detail() (offset int, msg, hint string)
	}
	if !errors.As(err, &detailed) {
		return r.Errorf(n, code, "malformed %s: %v", what, err)
	}
	offset, msg, hint := detailed.Detail()
	d := r.Errorf(n.ColumnIn(begin+offset), code, "malformed %s: %s", what, msg)
	d.Hint = hint
	return d
}

func (r *Reporter) add(at Place, severity Severity, code, message string) *Diagnostic {
	r.Budget.Spend(1 + len(message)/16)
	if severity == Error {
		r.errors++
	} else {
		r.warnings++
	}
	if r.Budget != nil && severity == Error && r.errors > maxKept {
		r.Budget.omitted.errors++
		return &Diagnostic{}
	}
	if r.Budget != nil && severity == Warning && r.warnings > maxKept {
		r.Budget.omitted.warnings++
		return &Diagnostic{}
	}
	var span Span
	if at != nil {
		span = at.Span()
	}
	span.File = cmp.Or(span.File, r.File)
	d := &Diagnostic{
		File: span.File, Line: span.Line, Column: span.Column, EndColumn: span.EndColumn,
		Severity: severity, Code: code, Message: message,
	}
	r.found = append(r.found, d)
	return d
}

// Include reports again what was found in a document that this one refers to, at its own places.
func (r *Reporter) Include(found Diagnostics) {
	for _, d := range found {
		at := Span{Pos: d.Pos(), EndColumn: d.EndColumn}
		if again := r.add(at, d.Severity, d.Code, d.Message); d.Hint != "" {
			again.WithHint("%s", d.Hint)
		}
	}
}

// HasErrors reports whether an error was reported so far.
func (r *Reporter) HasErrors() bool { return r.errors > 0 }

// Diagnostics returns what was reported, sorted. What an alias repeats is
// reported at one place many times, and returned once.
func (r *Reporter) Diagnostics() Diagnostics {
	ds := make(Diagnostics, 0, len(r.found))
	for _, d := range r.found {
		ds = append(ds, *d)
	}
	ds.Sort()
	return slices.Compact(ds)
}
