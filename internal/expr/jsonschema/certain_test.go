package jsonschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// TestCertain: only what no value of the open parts can make right is reported.
func TestCertain(t *testing.T) {
	object := `{"type": "object", "required": ["a", "b"], "additionalProperties": false, "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"minItems": 3, "uniqueItems": true, "items": {"type": "string"}}}}`
	for _, c := range []struct{ schema, value, open, want string }{
		{object, `{"a": null, "b": 1}`, "/a", ""},
		{object, `{"a": null, "b": "x"}`, "/a", "/b: must be an integer, not a string"},
		{object, `{"a": null}`, "/a", `: misses the property "b" [b]`},
		{object, `{"a": null, "b": 1, "d": 1}`, "/a", `: does not allow the property "d"`},
		{object, `[null]`, "/0", ": must be an object, not an array"},
		{object, `null`, "", ""},
		// What is said of a value as a whole needs all of it.
		{object, `{"a": "", "b": 1, "c": [null, null]}`, "/c/0 /c/1", ""},
		{object, `{"a": "", "b": 1, "c": [null, 5]}`, "/c/0", "/c/1: must be a string, not a number"},
		{`{"maxProperties": 1}`, `{"a": null, "b": 1}`, "/a", ""},
		{`{"const": {"a": 1}}`, `{"a": null}`, "/a", ""},
		{`{"not": {"properties": {"a": {"type": "null"}}}}`, `{"a": null}`, "/a", ""},
		// A schema that applies depending on another part does not count, unless that is known.
		{`{"if": {"properties": {"k": {"const": "x"}}}, "then": {"required": ["b"]}, "else": {"properties": {"a": {"type": "string"}}}}`, `{"k": null, "a": 1}`, "/k", ""},
		{`{"if": {"properties": {"k": {"const": "x"}}}, "then": {"required": ["b"]}}`, `{"k": "x", "a": 1}`, "/z", ""},
		{`{"dependentSchemas": {"k": {"properties": {"a": {"type": "string"}}}}}`, `{"k": null, "a": 1}`, "/k", ""},
		{`{"anyOf": [{"properties": {"k": {"const": 1}}}, {"properties": {"a": {"type": "string"}}}]}`, `{"k": null, "a": 1}`, "/k", ""},
		{`{"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "boolean"}]}}}`, `{"k": null, "a": 1}`, "/k", "/a: fits none"},
		{`{"unevaluatedProperties": false, "anyOf": [{"required": ["k"], "properties": {"k": {"const": 1}, "a": true}}, {"properties": {"k": true}}]}`, `{"k": null, "a": 1}`, "/k", ""},
		{`{"allOf": [{"$ref": "#/$defs/t"}], "$defs": {"t": {"properties": {"a": {"type": "string"}}}}}`, `{"k": null, "a": 1}`, "/k", "/a: must be a string"},
	} {
		p, err := Compiler{}.Compile(c.schema)
		if err != nil {
			t.Fatal(err)
		}
		v, err := expr.ParseJSON([]byte(c.value))
		if err != nil {
			t.Fatal(err)
		}
		open := strings.Fields(c.open)
		if c.open == "" {
			open = []string{""}
		}
		budget := expr.NewBudget()
		found, err := Certain(p, v, open, &budget)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, one := range found {
			got += one.Pointer + ": " + one.Message
			if len(one.Missing) > 0 {
				got += " " + fmt.Sprint(one.Missing)
			}
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s of %s: %q, want %q", c.value, c.schema, got, c.want)
		}
	}
}
