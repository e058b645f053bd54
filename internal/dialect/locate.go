package dialect

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

// ColumnIn returns where the byte at offset of a string's Text stands in the
// document, so that an error inside an expression can be pointed at. It is exact
// for plain and quoted text, escapes included; in block text (| and >) the line
// is right and the column nearly always. An offset at the end of the text is
// the place behind its last character.
func (n *Node) ColumnIn(offset int) Pos {
	if n == nil {
		return Pos{}
	}
	return n.doc.pos(n.sourceOffset(offset))
}

// SpanIn returns where Text[from:to] stands in the document.
func (n *Node) SpanIn(from, to int) Span {
	if n == nil {
		return Span{}
	}
	return n.doc.span(n.sourceOffset(from), n.sourceOffset(to))
}

// sourceOffset maps an offset in Text to one in the source.
func (n *Node) sourceOffset(offset int) int {
	offset = max(offset, 0)
	if n.Kind != expr.KindString {
		return min(n.start+offset, n.end())
	}
	offset = min(offset, len(n.Text))
	switch n.style {
	case styleLiteral, styleFolded:
		return n.blockOffset(offset)
	case styleEmpty, styleFlow:
		return n.start
	}
	at, _ := n.walk(offset)
	return at
}

// end returns the offset behind a scalar's last character in the source, or
// behind the first character of a container.
func (n *Node) end() int {
	switch {
	case n.style == styleEmpty:
		return n.start
	case n.Kind == expr.KindArray || n.Kind == expr.KindObject:
		return min(n.start+1, len(n.doc.Source))
	case n.Kind != expr.KindString:
		return n.start + wordLen(n.doc.Source[n.start:])
	case n.style == styleLiteral || n.style == styleFolded:
		return n.start + wordLen(n.doc.Source[n.start:]) // its header
	}
	at, quoted := n.walk(len(n.Text))
	if quoted && at < len(n.doc.Source) {
		at++
	}
	return at
}

// wordLen returns how far a number, a word or a block header goes.
func wordLen(text []byte) int {
	if i := bytes.IndexAny(text, " \t\r\n,]}:"); i >= 0 {
		return i
	}
	return len(text)
}

// walk goes through the source of a plain or quoted string in step with its
// decoded text until offset bytes of that are passed.
func (n *Node) walk(offset int) (at int, quoted bool) {
	src := n.doc.Source
	at = n.start
	quoted = n.style != stylePlain
	var quote byte
	if quoted && at < len(src) {
		quote = src[at]
		at++
	}
	for done := 0; at < len(src); {
		width, length := 1, 1 // bytes of source, bytes of text
		switch c := src[at]; {
		case quoted && c == quote && n.style == styleSingle && at+1 < len(src) && src[at+1] == quote:
			width = 2
		case quoted && c == quote:
			return at, quoted
		case c == '\\' && (n.style == styleDouble || n.style == styleQuoted):
			width, length = escapeLen(src[at:], n.style)
		case n.style != styleQuoted && isBlank(c):
			width, length = foldLen(src[at:])
		}
		// Escapes that stand for nothing (a broken line) belong to what precedes them.
		if done == offset && length > 0 {
			return at, quoted
		}
		if done+length > offset {
			if width == length {
				at += offset - done
			}
			return at, quoted
		}
		at += width
		done += length
	}
	return len(src), quoted
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// foldLen measures white space at the start of text: within a line it is itself;
// around line breaks all of it is one space, or the breaks but the first.
func foldLen(text []byte) (width, length int) {
	width, breaks := blankLen(text)
	if breaks == 0 {
		return width, width
	}
	return width, max(breaks-1, 1)
}

// blankLen returns how far white space goes, and how many line breaks are in it.
func blankLen(text []byte) (width, breaks int) {
	for width < len(text) && isBlank(text[width]) {
		n := breakLen(text[width:])
		if n > 0 {
			breaks++
		}
		width += max(n, 1)
	}
	return width, breaks
}

// escapeLen measures one escape: its bytes in the source and in the text.
func escapeLen(text []byte, s style) (width, length int) {
	if len(text) < 2 {
		return 1, 1
	}
	digits := 0
	switch c := text[1]; {
	case c == 'u':
		digits = 4
	case s == styleQuoted:
		return 2, 1
	case c == 'x':
		digits = 2
	case c == 'U':
		digits = 8
	case c == 'N', c == '_': // NEL, no-break space
		return 2, 2
	case c == 'L', c == 'P': // line and paragraph separator
		return 2, 3
	case breakLen(text[1:]) > 0: // a broken line, joined without a space
		width, breaks := blankLen(text[1:])
		return 1 + width, breaks - 1
	default:
		return 2, 1
	}
	r, ok := hexRune(text[2:], digits)
	if !ok {
		return 2, 1
	}
	width = 2 + digits
	if low, ok := lowSurrogate(r, text[width:]); ok {
		return width + 6, utf8.RuneLen(low)
	}
	if !utf8.ValidRune(r) {
		return width, len("\ufffd")
	}
	return width, utf8.RuneLen(r)
}

// blockOffset maps an offset in block text. Each line of the source, without its
// indentation, is looked for in the text from where the last one ended.
func (n *Node) blockOffset(offset int) int {
	src, at, done := n.doc.Source, n.start, 0
	last := at
	for {
		for at < len(src) && breakLen(src[at:]) == 0 { // to the end of the line
			at++
		}
		if at >= len(src) {
			return last
		}
		at += breakLen(src[at:])
		end := at
		for end < len(src) && breakLen(src[end:]) == 0 {
			end++
		}
		line := strings.Trim(string(src[at:end]), " \t")
		if line == "" {
			continue
		}
		i := strings.Index(n.Text[done:], line)
		if i < 0 {
			return last
		}
		begin := at + len(src[at:end]) - len(bytes.TrimLeft(src[at:end], " \t"))
		if first := done + i; offset < first+len(line) {
			return max(begin+offset-first, at)
		}
		done += i + len(line)
		if last = end; done >= len(n.Text) || offset == done {
			return last
		}
	}
}
