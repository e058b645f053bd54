package scenario

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Detail is how much a report says of coverage.
type Detail int

// The details: nothing, how much was reached and which states were not, and the
// transitions too.
const (
	NoCoverage Detail = iota
	BriefCoverage
	FullCoverage
)

// TextOptions are the options of [WriteText].
type TextOptions struct {
	Coverage Detail
	Color    bool
}

// WriteText writes reports for people. Status is always a word; with colour the
// words are coloured too.
func WriteText(w io.Writer, reports []Report, o TextOptions) error {
	p := textPrinter{w: w, color: o.Color}
	for _, r := range reports {
		p.report(r)
	}
	s := Summarize(reports)
	p.printf("%s: %d passed, %d failed", count(s.Passed+s.Failed, "scenario"), s.Passed, s.Failed)
	if s.Invalid > 0 {
		p.printf(", %s invalid", count(s.Invalid, "file"))
	}
	p.printf("\n")
	if o.Coverage != NoCoverage {
		for _, c := range MergeCoverage(reports) {
			p.coverage(c, o.Coverage)
		}
	}
	return p.err
}

type textPrinter struct {
	w     io.Writer
	color bool
	err   error
}

// printf writes strings without what a terminal might obey: names come from files.
func (p *textPrinter) printf(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = dialect.Plain(text)
		}
	}
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// painted is text with colours.
type painted string

func (p *textPrinter) paint(code, text string) painted {
	text = dialect.Plain(text)
	if !p.color {
		return painted(text)
	}
	return painted("\x1b[" + code + "m" + text + "\x1b[0m")
}

func (p *textPrinter) report(r Report) {
	if r.Diagnostics.HasErrors() {
		p.printf("%s  %s\n", r.File, p.paint("31", "INVALID"))
		return
	}
	p.printf("%s\n", r.File)
	for _, result := range r.Results {
		word := p.paint("32", "✓ passed")
		if !result.Passed() {
			word = p.paint("31", "✗ FAILED")
		}
		p.printf("  %s  %s  %s\n", word, result.Name, result.Outcome.elapsed())
		if !result.Passed() {
			p.failure(result)
		}
	}
}

func (p *textPrinter) failure(r Result) {
	const indent = "      "
	p.printf("%sat %s\n", indent, r.At.String())
	for _, line := range failureLines(r) {
		switch {
		case strings.HasPrefix(line, "    - "):
			p.printf("%s%s\n", indent, p.paint("31", line))
		case strings.HasPrefix(line, "    + "):
			p.printf("%s%s\n", indent, p.paint("32", line))
		default:
			p.printf("%s%s\n", indent, line)
		}
	}
}

// failureLines says what is wrong with a result, what it did and why it failed;
// all formats show the same.
func failureLines(r Result) []string {
	var out []string
	for _, f := range r.Failures {
		line := f.Field + ": " + f.Message
		if len(f.Diff) > 0 {
			line += " (- expected, + got)"
		}
		out = append(out, line)
		out = append(out, prefixed("    ", shortened(f.Diff, longDiff))...)
	}
	path := strings.Join(shortened(r.Outcome.Path, longPath), " → ")
	path = cmp.Or(path, "no state was entered")
	out = append(out, "path taken: "+path)
	if f := r.Outcome.Fault; f != nil {
		line := "fault: " + f.Text
		if f.State != "" {
			line += fmt.Sprintf(", in state %q", f.State)
		}
		if at := f.Place.String(); at != "" {
			line += " at " + at
		}
		out = append(out, line)
		if len(f.Inner) > 0 {
			out = append(out, "it arose in "+f.Inner[0].String())
		}
	}
	for _, wait := range r.Outcome.WaitsFor {
		out = append(out, "waits for: "+wait)
	}
	for _, note := range r.Outcome.Notes {
		out = append(out, "note: "+note)
	}
	return out
}

// How much of a difference and of a path is shown.
const (
	longDiff = 200
	longPath = 50
)

// shortened leaves out the middle of a long list and says so.
func shortened(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	half := most / 2
	gap := fmt.Sprintf("… %d more …", len(list)-2*half)
	return slices.Concat(list[:half], []string{gap}, list[len(list)-half:])
}

func (p *textPrinter) coverage(c Coverage, d Detail) {
	p.printf("coverage %s: states %s, transitions %s\n", c.File, c.StateCount(), c.EdgeCount())
	if missing := c.MissingStates(); len(missing) > 0 {
		p.printf("  states never entered: %s\n", strings.Join(missing, ", "))
	}
	if missing := c.MissingEdges(); d == FullCoverage && len(missing) > 0 {
		p.printf("  transitions never taken: %s\n", strings.Join(missing, ", "))
	}
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
