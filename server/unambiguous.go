package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/dialect"
)

// unambiguous refuses JSON that others would read otherwise than we do, or not at all: a member
// that is there twice, half of a surrogate pair, a number or a nesting beyond what documents
// may have.
func unambiguous(text []byte) error {
	if at := loneSurrogate(text); at >= 0 {
		return fmt.Errorf("the escape at byte %d is half of a surrogate pair, which no text has", at)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var open []map[string]bool // the names of objects, nil for arrays
	named := false             // a name came, and its value has not
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		within := len(open) > 0 && open[len(open)-1] != nil
		switch v := token.(type) {
		case json.Delim:
			named = false
			if v == '}' || v == ']' {
				open = open[:len(open)-1]
				continue
			}
			if len(open) == dialect.DefaultLimits.Depth {
				return fmt.Errorf("it is nested deeper than %d (limit document-depth)", dialect.DefaultLimits.Depth)
			}
			var names map[string]bool
			if v == '{' {
				names = map[string]bool{}
			}
			open = append(open, names)
			continue
		case json.Number:
			if len(v) > dialect.DefaultLimits.Digits {
				return fmt.Errorf("a number has %d characters, more than %d (limit document-digits)", len(v), dialect.DefaultLimits.Digits)
			}
		case string:
			if within && !named {
				if open[len(open)-1][v] {
					return fmt.Errorf("the member %.100q is there twice", v)
				}
				open[len(open)-1][v] = true
				named = true
				continue
			}
		}
		named = false
	}
}

// loneSurrogate is where an escape stands that is half of a character; -1: nowhere.
func loneSurrogate(text []byte) int {
	unit := func(i int) (rune, bool) {
		if i+6 > len(text) || text[i] != '\\' || text[i+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
		return rune(n), err == nil
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		first, ok := unit(i)
		switch {
		case !ok:
			i++ // what is escaped
		case !utf16.IsSurrogate(first):
			i += 5
		default:
			second, _ := unit(i + 6)
			if utf16.DecodeRune(first, second) == '\uFFFD' {
				return i
			}
			i += 11
		}
	}
	return -1
}

// verbOf is what an intervention is called here.
func verbOf(r *core.Record) string {
	if r.Type == core.RecControl && r.Name == string(core.VerbSuspend) {
		return "pause"
	}
	return r.Name
}
