package jsonschema

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Limits of one schema. For each subschema, and again for each unusual reference, the library
// searches all subschemas, so both must be few.
const (
	maxParts      = 4096 // objects and booleans ("schema-parts")
	maxReferences = 256  // identifiers, and references to unusual places; see usual ("schema-references")
)

// The memory of a checker in bytes: upper bounds measured with version 6 of the library, see
// TestWeightIsTheMemory.
const (
	partBytes  = 2048 // per subschema
	valueBytes = 160  // per value of its document
)

// size is how large a schema is.
type size struct {
	parts, values, text int
	references          map[string]bool // unusual ones
}

func (s *size) bytes() int { return partBytes*(s.parts+1) + valueBytes*s.values + 2*s.text }

func (s *size) check() error {
	switch {
	case s.parts > maxParts:
		return &expr.SyntaxError{
			Msg:  fmt.Sprintf("the schema has more than %d objects and booleans (limit schema-parts)", maxParts),
			Hint: "check less of the data, or split the workflow",
		}
	case len(s.references) > maxReferences:
		return &expr.SyntaxError{
			Msg: fmt.Sprintf("the schema has more than %d identifiers and references to other places than $defs and the like "+
				"(limit schema-references)", maxReferences),
			Hint: "move what is referred to into $defs, and refer to it with #/$defs/NAME",
		}
	}
	return nil
}

// measure returns the size of a schema.
func measure(v expr.Value) size {
	s := size{references: map[string]bool{}}
	dialect, _ := v.Get("$schema")
	old := strings.Contains(dialect.Str(), "draft-0")
	s.add(v, old)
	return s
}

func (s *size) add(v expr.Value, old bool) {
	s.values++
	switch v.Kind() {
	case expr.KindObject, expr.KindBool:
		s.parts++
	case expr.KindString:
		s.text += v.Len()
	}
	for _, it := range v.Items() {
		s.add(it, old)
	}
	for _, m := range v.Members() {
		s.text += len(m.Key)
		switch m.Key {
		case "$ref", "$dynamicRef", "$recursiveRef":
			if !usual(m.Value.Str(), old) {
				s.references[m.Value.Str()] = true
			}
		case "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor":
			s.references[m.Key+" "+m.Value.Str()] = true
		}
		s.add(m.Value, old)
	}
}

// usual reports whether a reference leads to a place where the library expects a schema.
// Old drafts have fewer such places.
func usual(ref string, old bool) bool {
	if ref == "#" {
		return true
	}
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return false
	}
	tokens := strings.Split(pointer, "/")
	for i := 0; i < len(tokens); i++ {
		switch tokens[i] {
		case "not", "additionalProperties", "additionalItems", "propertyNames", "contains", "if", "then", "else":
		case "unevaluatedProperties", "unevaluatedItems", "contentSchema":
			if old {
				return false
			}
		case "definitions", "properties", "patternProperties", "dependencies", "allOf", "anyOf", "oneOf":
			i++
		case "$defs", "dependentSchemas", "prefixItems":
			i++
			if old {
				return false
			}
		case "items":
			if i+1 < len(tokens) && digits(tokens[i+1]) {
				i++
			}
		default:
			return false
		}
		if i >= len(tokens) {
			return false
		}
	}
	return true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
