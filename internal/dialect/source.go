package dialect

import (
	"slices"
	"sort"
	"unicode/utf8"
)

// Format is how a document is written.
type Format string

// The formats.
const (
	JSON Format = "json"
	YAML Format = "yaml"
)

// Document is one file a user wrote, as a tree with places.
type Document struct {
	// Root is nil when the text could not be read to its end. It is there in spite
	// of lesser errors (a repeated key, a trailing comma), so that a front-end can
	// report its own findings in the same pass.
	Root   *Node
	File   string
	Format Format
	Source []byte
	Digest [32]byte // SHA-256 of Source

	lines lineIndex
}

// Line returns the text of a line without its break, and "" for a line that is
// not there.
func (d *Document) Line(n int) string {
	start, ok := d.lines.start(n)
	if !ok {
		return ""
	}
	end := start
	for end < len(d.Source) && breakLen(d.Source[end:]) == 0 {
		end++
	}
	return string(d.Source[start:end])
}

// Lines returns how many lines there are.
func (d *Document) Lines() int {
	if len(d.lines.marks) == 0 {
		return 0
	}
	return int(d.lines.marks[len(d.lines.marks)-1].line)
}

func (d *Document) pos(offset int) Pos {
	line, column := d.lines.pos(offset)
	return Pos{d.File, line, column}
}

// span is the place of source[from:to], cut at the end of its first line.
func (d *Document) span(from, to int) Span {
	s := Span{Pos: d.pos(from)}
	line, column := d.lines.pos(to)
	if line > s.Line {
		for to = from; to < len(d.Source) && breakLen(d.Source[to:]) == 0; {
			to++
		}
		_, column = d.lines.pos(to)
	}
	if line >= s.Line && column > s.Column {
		s.EndColumn = column
	}
	return s
}

// lineIndex finds the line and column of an offset without counting from the
// beginning: a mark stands at every start of a line, and within long lines
// (minified JSON) at least every markStride bytes.
type lineIndex struct {
	text  []byte
	marks []lineMark
}

type lineMark struct{ offset, line, column int32 }

const markStride = 512

func newLineIndex(text []byte, from int) lineIndex {
	x := lineIndex{text: text, marks: []lineMark{{int32(from), 1, 1}}}
	line, column, last := int32(1), int32(1), from
	for i := from; i < len(text); {
		if n := breakLen(text[i:]); n > 0 {
			i += n
			line, column, last = line+1, 1, i
			x.marks = append(x.marks, lineMark{int32(i), line, 1})
			continue
		}
		_, n := utf8.DecodeRune(text[i:])
		i += n
		column++
		if i-last >= markStride {
			last = i
			x.marks = append(x.marks, lineMark{int32(i), line, column})
		}
	}
	return x
}

// pos returns the line and column of an offset; one outside of the text counts
// as its nearest end.
func (x lineIndex) pos(offset int) (line, column int) {
	if len(x.marks) == 0 {
		return 1, 1
	}
	i := sort.Search(len(x.marks), func(i int) bool { return int(x.marks[i].offset) > offset })
	m := x.marks[max(i-1, 0)]
	column = int(m.column)
	for at := int(m.offset); at < offset && at < len(x.text) && breakLen(x.text[at:]) == 0; column++ {
		_, n := utf8.DecodeRune(x.text[at:])
		if at += n; at > offset {
			break
		}
	}
	return int(m.line), column
}

// offset is the inverse of pos; a column behind the end of its line is that end.
func (x lineIndex) offset(line, column int) int {
	if len(x.marks) == 0 {
		return 0
	}
	i := sort.Search(len(x.marks), func(i int) bool {
		m := x.marks[i]
		return int(m.line) > line || int(m.line) == line && int(m.column) > column
	})
	m := x.marks[max(i-1, 0)]
	at := int(m.offset)
	if int(m.line) < line { // behind the last line
		return len(x.text)
	}
	for c := int(m.column); c < column && at < len(x.text) && breakLen(x.text[at:]) == 0; c++ {
		_, n := utf8.DecodeRune(x.text[at:])
		at += n
	}
	return at
}

// has reports whether a line has a character at a column.
func (x lineIndex) has(line, column int) bool {
	at := x.offset(line, column)
	if at >= len(x.text) || breakLen(x.text[at:]) > 0 {
		return false
	}
	foundLine, foundColumn := x.pos(at)
	return foundLine == line && foundColumn == column
}

func (x lineIndex) start(line int) (offset int, ok bool) {
	i, ok := slices.BinarySearchFunc(x.marks, lineMark{line: int32(line), column: 1}, func(a, b lineMark) int {
		if a.line != b.line {
			return int(a.line) - int(b.line)
		}
		return int(a.column) - int(b.column)
	})
	if !ok {
		return 0, false
	}
	return int(x.marks[i].offset), true
}

// breakLen returns how many bytes of line break text begins with.
func breakLen(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	switch text[0] {
	case '\n':
		return 1
	case '\r':
		if len(text) > 1 && text[1] == '\n' {
			return 2
		}
		return 1
	}
	return 0
}
