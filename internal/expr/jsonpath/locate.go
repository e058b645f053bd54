package jsonpath

import (
	"errors"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// locate moves the error of a string inside JSON text to its place in that text.
// It looks for the first string value that does not compile, in the order in
// which they are written.
func locate(src string, err error) error {
	for pos := 0; pos < len(src); {
		if src[pos] != '"' {
			pos++
			continue
		}
		end := stringEnd(src, pos)
		v, bad := expr.ParseJSON([]byte(src[pos:end]))
		if bad != nil {
			return err
		}
		isKey := strings.HasPrefix(strings.TrimLeft(src[end:], " \t\r\n"), ":")
		if syntax := (*expr.SyntaxError)(nil); !isKey && errors.As(CheckTemplateString(v.Str()), &syntax) {
			moved := *syntax
			moved.Offset = pos + rawOffset(src[pos:end], syntax.Offset)
			return &moved
		}
		pos = end
	}
	return err
}

// stringEnd returns where the JSON string that starts at pos is over.
func stringEnd(src string, pos int) int {
	for i := pos + 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(src)
}

// rawOffset returns where, in a quoted JSON string, the byte off of its value is
// written.
func rawOffset(quoted string, off int) int {
	raw, n := 1, 0
	for raw < len(quoted)-1 && n < off {
		size := 1
		if quoted[raw] == '\\' {
			if size = 2; quoted[raw+1] == 'u' {
				size = 6
				if v, err := expr.ParseJSON([]byte(`"` + quoted[raw:raw+6] + `"`)); err == nil {
					n += v.Len() - 1
				} else { // the first half of a character beyond U+FFFF, which has four bytes
					size, n = 12, n+3
				}
			}
		}
		raw += size
		n++
	}
	return raw
}
