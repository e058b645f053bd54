package event

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DecodeHeader reads the value of an attribute's header, as HTTP and other protocols
// with headers have it (HTTP protocol binding §3.1.3.2): quotes around it go first, then
// percent-encoding.
func DecodeHeader(s string) (string, error) {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = unquote(s[1 : len(s)-1])
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", errors.New("a % must be followed by two hexadecimal digits")
		}
		hi, lo := digit(s[i+1]), digit(s[i+2])
		if hi < 0 || lo < 0 {
			return "", errors.New("a % must be followed by two hexadecimal digits")
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	if !utf8.ValidString(b.String()) {
		return "", errors.New("is not UTF-8 text")
	}
	return b.String(), nil
}

// unquote takes backslashes out of a quoted string (RFC 9110 §5.6.4).
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// EncodeHeader writes an attribute's value: printable ASCII stands as it is, apart from
// space, quote and percent.
func EncodeHeader(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c > ' ' && c < 0x7f && c != '"' && c != '%' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
