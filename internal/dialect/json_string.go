package dialect

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string in double quotes, or reports and reads one in single quotes.
func (j *jsonReader) quoted() string {
	open, mark := j.pos, j.src[j.pos]
	var out []byte
	j.pos++
	for !j.stopped && j.pos < len(j.src) {
		c := j.src[j.pos]
		switch {
		case c == mark:
			j.pos++
			if mark == '\'' {
				j.errorf(open, j.pos, CodeSyntax, "JSON strings use double quotes").WithHint("write %s", quote(string(out)))
			}
			return string(out)
		case c == '\\':
			out = j.escape(out)
			continue
		case c == '\n' || c == '\r':
			j.fatal(open, j.pos, CodeSyntax, "the string is not closed on its line").
				WithHint("write a line break inside of a string as \\n")
			return ""
		case c == '\t':
			j.errorf(j.pos, j.pos+1, CodeSyntax, "a tab inside of a string").WithHint("write \\t")
		}
		out = append(out, c)
		j.pos++
	}
	if !j.stopped {
		j.fatal(open, open+1, CodeSyntax, "the string that begins here is not closed")
	}
	return ""
}

// escape reads one escape and appends what it stands for.
func (j *jsonReader) escape(out []byte) []byte {
	at := j.pos
	j.pos++
	if j.pos >= len(j.src) {
		return out
	}
	c := j.src[j.pos]
	j.pos++
	switch c {
	case '"', '\\', '/':
		return append(out, c)
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'u':
		return j.unicode(out, at)
	}
	_, n := utf8.DecodeRune(j.src[j.pos-1:])
	j.pos += n - 1
	text := string(j.src[j.pos-n : j.pos])
	if isBlank(c) { // keep the line break that ends an open string
		j.pos = at + 1
		text = ""
	}
	j.errorf(at, j.pos, CodeSyntax, "unknown escape %s", quote("\\"+text)).WithHint("write a backslash as \\\\")
	return append(out, text...)
}

func (j *jsonReader) unicode(out []byte, at int) []byte {
	r, ok := hexRune(j.src[j.pos:], 4)
	if !ok {
		j.errorf(at, j.pos, CodeSyntax, "four hexadecimal digits must follow \\u")
		return append(out, "\ufffd"...)
	}
	j.pos += 4
	if low, ok := lowSurrogate(r, j.src[j.pos:]); ok {
		j.pos += 6
		return utf8.AppendRune(out, low)
	}
	if utf16.IsSurrogate(r) {
		j.errorf(at, j.pos, CodeSyntax, "\\u%04x is half of a character", r).WithHint("a surrogate needs its other half after it")
	}
	return utf8.AppendRune(out, r) // U+FFFD for a lone surrogate
}

// hexRune reads a character's number of so many digits.
func hexRune(text []byte, digits int) (rune, bool) {
	if len(text) < digits {
		return 0, false
	}
	u, err := strconv.ParseUint(string(text[:digits]), 16, 32)
	return rune(u), err == nil && u <= utf8.MaxRune
}

// lowSurrogate returns the character that r and a second escape at the start of
// text make together.
func lowSurrogate(r rune, text []byte) (rune, bool) {
	if !utf16.IsSurrogate(r) || len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	low, ok := hexRune(text[2:], 4)
	if !ok {
		return 0, false
	}
	r = utf16.DecodeRune(r, low)
	return r, r != utf8.RuneError
}
