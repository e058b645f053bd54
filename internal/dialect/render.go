package dialect

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// The shape of a snippet.
const (
	tabStop      = 4
	snippetWidth = 100 // characters of source shown of a line
	snippetLead  = 60  // of which before the place, in lines that are cut
)

// Render writes a diagnostic and, where doc is the file it speaks of, the source
// line with the place underlined:
//
//	order.yaml:14:9 error SW104 unknown state type "operaton"; did you mean "operation"?
//	   14 |   type: operaton
//	      |         ^^^^^^^^
func Render(w io.Writer, doc *Document, d Diagnostic) error {
	return render(w, doc, d, func(_, text string) string { return text })
}

// RenderColor is Render for a terminal: the severity and what is underlined are red,
// or yellow for warnings.
func RenderColor(w io.Writer, doc *Document, d Diagnostic) error {
	return render(w, doc, d, func(color, text string) string { return "\x1b[" + color + "m" + text + "\x1b[0m" })
}

func render(w io.Writer, doc *Document, d Diagnostic, paint func(color, text string) string) error {
	color := "33"
	if d.Severity == Error {
		color = "31"
	}
	var b strings.Builder
	place, word := d.Pos().String(), string(d.Severity)
	b.WriteString(Plain(place) + " " + paint(color, word) + Plain(strings.TrimPrefix(d.String(), place+" "+word)) + "\n")
	if doc != nil && doc.File == d.File && d.Line >= 1 && d.Line <= doc.Lines() {
		text, under := doc.snippet(d.Line, d.Column, d.EndColumn)
		blank := len(under) - len(strings.TrimLeft(under, " "))
		fmt.Fprintf(&b, "%5d | %s\n%5s | %s%s\n", d.Line, text, "", under[:blank], paint(color, under[blank:]))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// snippet returns a line as shown, and the carets below it. Tabs become spaces
// up to the next stop; what a terminal might obey is shown as a dot. Of a long
// line only the part around the place is shown.
func (d *Document) snippet(line, column, endColumn int) (text, under string) {
	endColumn = max(endColumn, column+1)
	part, at, cut := d.around(line, column)
	var shown, marks strings.Builder
	if at > 1 {
		shown.WriteString("… ")
		marks.WriteString("  ")
	}
	cells := 0
	for _, c := range part {
		piece, width := string(c), runeWidth(c)
		switch {
		case c == '\t':
			width = tabStop - cells%tabStop
			piece = strings.Repeat(" ", width)
		case obeyed(c):
			piece, width = "·", 1
		}
		shown.WriteString(piece)
		mark := " "
		if at >= column && at < endColumn {
			mark = "^"
		}
		marks.WriteString(strings.Repeat(mark, width))
		cells += width
		at++
	}
	if cut {
		shown.WriteString(" …")
	} else if at <= column { // behind the end of the line
		marks.WriteByte('^')
	}
	return shown.String(), strings.TrimRight(marks.String(), " ")
}

// obeyed reports whether a terminal might do something else with a character than
// show it.
func obeyed(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) }

// Plain shows what a terminal might obey, in text from elsewhere, as dots. It keeps
// to one line.
func Plain(text string) string {
	return strings.Map(func(c rune) rune {
		if obeyed(c) {
			return '·'
		}
		return c
	}, text)
}

// around returns the part of a line to show, the column it begins at, and whether
// the end is cut off. It looks at no more of the line than that: in minified JSON
// every diagnostic is about the same, very long one.
func (d *Document) around(line, column int) (part string, first int, cut bool) {
	first = 1
	if d.lines.has(line, snippetWidth+1) && column > snippetLead {
		first = column - snippetLead
	}
	from, to := d.lines.offset(line, first), d.lines.offset(line, first+snippetWidth)
	return string(d.Source[from:to]), first, d.lines.has(line, first+snippetWidth)
}

// runeWidth is how many cells a terminal gives a character: none to combining
// marks, two to East Asian wide ones and most pictographs.
func runeWidth(c rune) int {
	switch {
	case c < 0x300:
		return 1
	case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case c >= 0x1100 && c <= 0x115F, c >= 0x2E80 && c <= 0x303E, c >= 0x3041 && c <= 0xA4CF,
		c >= 0xAC00 && c <= 0xD7A3, c >= 0xF900 && c <= 0xFAFF, c >= 0xFE30 && c <= 0xFE6F,
		c >= 0xFF00 && c <= 0xFF60, c >= 0xFFE0 && c <= 0xFFE6, c >= 0x1F300 && c <= 0x1FAFF,
		c >= 0x20000 && c <= 0x3FFFD:
		return 2
	}
	return 1
}
