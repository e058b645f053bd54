package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// unambiguous refuses JSON that others would read otherwise than we do, or not at all: a member
// that is there twice, a number or a nesting beyond what documents may have.
func unambiguous(text []byte) error {
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

// verbOf is what an intervention is called here.
func verbOf(r *core.Record) string {
	if r.Type == core.RecControl && r.Name == string(core.VerbSuspend) {
		return "pause"
	}
	return r.Name
}
