package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/regex"
)

// scanner reads the characters of one source text. What a character means
// depends on where it stands (`-` in a name, `*` after a dot), so there are no
// tokens; the parser asks for what it expects.
type scanner struct {
	src   string
	pos   int
	depth int // nesting, see MaxNesting

	weight int // of the regular expressions so far
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *scanner) atEnd() bool { return s.pos >= len(s.src) }

func (s *scanner) has(prefix string) bool { return strings.HasPrefix(s.src[s.pos:], prefix) }

func (s *scanner) accept(prefix string) bool {
	if s.has(prefix) {
		s.pos += len(prefix)
		return true
	}
	return false
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) blank() {
	for s.pos < len(s.src) && isBlank(s.src[s.pos]) {
		s.pos++
	}
}

// fail reports what is wrong at off.
func fail(off int, hint, format string, args ...any) error {
	return &expr.SyntaxError{Offset: off, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// expected reports that something else stands at the current place.
func (s *scanner) expected(what, hint string) error {
	return fail(s.pos, hint, "found %s, expected %s", s.found(), what)
}

// found names what stands at the current place.
func (s *scanner) found() string {
	if s.atEnd() {
		return "the end"
	}
	if s.has("{{") || s.has("}}") {
		return s.src[s.pos : s.pos+2]
	}
	if w := s.word(); len(w) > 1 {
		return strconv.Quote(w)
	}
	r, _ := utf8.DecodeRuneInString(s.src[s.pos:])
	return strconv.QuoteRune(r)
}

// word returns the letters, digits and underscores that stand here, without
// reading them.
func (s *scanner) word() string {
	end := s.pos
	for end < len(s.src) && end-s.pos < 40 {
		r, size := utf8.DecodeRuneInString(s.src[end:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		end += size
	}
	return s.src[s.pos:end]
}

// enter counts one level of nesting; leave undoes it.
func (s *scanner) enter() error {
	if s.depth++; s.depth > MaxNesting {
		return fail(s.pos, "", "nested deeper than %d levels (limit expression-nesting)", MaxNesting)
	}
	return nil
}

func (s *scanner) leave() { s.depth-- }

// notInName are the characters that end a property name after a dot. Names that
// hold one stand in brackets and quotes.
const notInName = ".[](){}'\"*?,<>=!~&|"

// name reads a property name after a dot; it is empty where none stands.
func (s *scanner) name() string {
	start := s.pos
	for s.pos < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		if r <= ' ' || r == 0x7f || strings.ContainsRune(notInName, r) || r == utf8.RuneError && size == 1 || unicode.IsSpace(r) {
			break
		}
		s.pos += size
	}
	return s.src[start:s.pos]
}

// quoted reads a string in either kind of quotes. A backslash takes the next
// character as it is, but for JSON's escapes.
func (s *scanner) quoted() (string, error) {
	open := s.pos
	quote := s.src[s.pos]
	s.pos++
	var out []byte
	plain := s.pos // start of what is not yet in out
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case quote:
			text := s.src[plain:s.pos]
			s.pos++
			if out == nil {
				return text, nil
			}
			return string(append(out, text...)), nil
		case '\\':
			out = append(out, s.src[plain:s.pos]...)
			s.pos++
			var err error
			if out, err = s.escape(out); err != nil {
				return "", err
			}
			plain = s.pos
		default:
			s.pos++
		}
	}
	s.pos = open
	return "", fail(open, fmt.Sprintf("close it with %c", quote), "the string has no closing quote")
}

func (s *scanner) escape(out []byte) ([]byte, error) {
	if s.atEnd() {
		return nil, fail(s.pos-1, "", "the text ends inside an escape")
	}
	r, size := utf8.DecodeRuneInString(s.src[s.pos:])
	at := s.pos - 1
	text := s.src[s.pos : s.pos+size]
	s.pos += size
	switch r {
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'n':
		return append(out, '\n'), nil
	case 'r':
		return append(out, '\r'), nil
	case 't':
		return append(out, '\t'), nil
	case 'u':
		u, ok := s.hex4(s.pos)
		if !ok {
			return nil, fail(at, `write four hexadecimal digits, as in \u00e9`, `malformed \u escape`)
		}
		s.pos += 4
		if utf16.IsSurrogate(u) {
			low := rune(0)
			if s.has(`\u`) {
				low, _ = s.hex4(s.pos + 2)
			}
			if u = utf16.DecodeRune(u, low); u != utf8.RuneError {
				s.pos += 6
			}
		}
		return utf8.AppendRune(out, u), nil
	}
	return append(out, text...), nil
}

func (s *scanner) hex4(at int) (rune, bool) {
	if at+4 > len(s.src) {
		return 0, false
	}
	u, err := strconv.ParseUint(s.src[at:at+4], 16, 16)
	return rune(u), err == nil
}

// number reads a JSON number.
func (s *scanner) number() (expr.Value, error) {
	start := s.pos
	for s.pos < len(s.src) && strings.IndexByte("+-.0123456789eE", s.src[s.pos]) >= 0 {
		s.pos++
	}
	text := s.src[start:s.pos]
	v, err := expr.Number(text)
	if err != nil {
		return v, fail(start, "numbers are written as in JSON: 5, -2, 0.5, 1e3", "%q is not a number", text)
	}
	return v, nil
}

// integer reads a whole number that indexes an array.
func (s *scanner) integer() (int, error) {
	start := s.pos
	s.accept("-")
	for s.pos < len(s.src) && s.src[s.pos] >= '0' && s.src[s.pos] <= '9' {
		s.pos++
	}
	text := s.src[start:s.pos]
	i, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		if text == "" || text == "-" {
			s.pos = start
			return 0, s.expected("a whole number", "")
		}
		return 0, fail(start, "", "the index %s is too large", text)
	}
	return int(i), nil
}

// regex reads /pattern/flags.
func (s *scanner) regex() (*regex.Pattern, error) {
	open := s.pos
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case '/':
			body := s.src[open+1 : s.pos]
			s.pos++
			at := s.pos
			for c := s.peek(); c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'; c = s.peek() {
				s.pos++
			}
			flags, bad := regex.ParseFlags(s.src[at:s.pos])
			if bad >= 0 {
				return nil, fail(at+bad, "flags are i (case), m (lines), s (dot matches line ends), x (comments), u and U (Unicode), d",
					"unknown flag %q of a regular expression", s.src[at+bad])
			}
			re, err := regex.Compile(body, flags)
			if err != nil {
				err.Offset += open + 1
				return nil, err
			}
			s.weight += re.Weight()
			return re, nil
		}
	}
	s.pos = open
	return nil, fail(open, `close it with /; a / inside it is written \/`, "the regular expression has no closing /")
}
