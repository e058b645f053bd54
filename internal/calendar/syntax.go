package calendar

import (
	"errors"
	"fmt"
	"strconv"
)

// SyntaxError says what is wrong in an expression, where, and what to write
// instead. It is the only error type the parsers of this package return.
type SyntaxError struct {
	Offset int    // in bytes, from the start of the parsed text; its length when something is missing at the end
	Msg    string // one sentence without a full stop
	Hint   string // what to write instead; may be empty
}

func (e *SyntaxError) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("%s (at byte %d)", e.Msg, e.Offset)
	}
	return fmt.Sprintf("%s (at byte %d); %s", e.Msg, e.Offset, e.Hint)
}

// Detail returns the parts of the error, for reporting it at its place in a document.
func (e *SyntaxError) Detail() (offset int, msg, hint string) { return e.Offset, e.Msg, e.Hint }

func fail(offset int, hint, format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: offset, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// within moves the offset of an error in a part of a text to the whole text.
func within(err error, start int) error {
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	moved := *syntax
	moved.Offset += start
	return &moved
}

// quote shows a piece of the user's text in a message, whatever its length.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// upper maps ASCII letters only, so that byte offsets stay the same.
func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if isLower(c) {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
