package openapi

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// maxSchemaValues is the limit openapi-schema-values: how many values the schemas of one
// operation have in all. The target of a $ref counts once for each schema.
const maxSchemaValues = 100_000

// maxSchemaParts is the limit openapi-schema-parts: how many subschemas one schema has, without
// the targets of $ref. The time to compile a schema grows with the square.
const maxSchemaParts = 10_000

// direction is the direction of a value: readOnly properties are not required in requests,
// writeOnly ones not in answers.
type direction string

const (
	sent     direction = "readOnly"
	received direction = "writeOnly"
)

// check is a schema that values are checked against. A nil check finds nothing.
type check struct {
	program    expr.Program
	structured bool // it describes an object or a list, not raw text
}

// violation is one thing wrong with a value.
type violation struct{ pointer, message string }

func (v violation) String() string {
	if v.pointer == "" {
		return v.message
	}
	return v.pointer + ": " + v.message
}

// violations lists what is wrong with a value.
func (c *check) violations(v expr.Value) ([]violation, error) {
	if c == nil {
		return nil, nil
	}
	budget := expr.NewBudget()
	r, err := c.program.Eval(v, &budget)
	if err != nil {
		return nil, err
	}
	var out []violation
	for _, item := range r.Value.Items() {
		pointer, _ := item.Get("pointer")
		message, _ := item.Get("message")
		out = append(out, violation{pointer.Str(), message.Str()})
	}
	return out, nil
}

// compileSchema turns a schema into a check. One that cannot be used is noted and not checked,
// so that a service with an odd description can still be called.
func (c *compiler) compileSchema(what string, p place, way direction) *check {
	program, err := c.lib.schemasFor(c.version, way).program(p, &c.values)
	if err != nil {
		c.notes = append(c.notes, fmt.Sprintf("%s is not checked: %v", what, err))
		return nil
	}
	return &check{program, c.structured(p, map[string]bool{})}
}

// same lists the schemas that together describe a value: the schema itself, and the target of its
// $ref. Before 3.1, everything beside a $ref is ignored.
func (l *library) same(p place, v version) []place {
	var out []place
	for range pin.MaxReferences {
		ref, ok := p.Get("$ref")
		if !ok || ref.Kind() != expr.KindString {
			return append(out, p)
		}
		if v == v31 {
			out = append(out, p)
		}
		next, err := l.resolve(p.doc, ref.Str())
		if err != nil {
			return out
		}
		p = next
	}
	return out
}

// textOf is the first text that a schema, or the target of its $ref, has for a keyword.
func (c *compiler) textOf(p place, key string) string {
	for _, one := range c.lib.same(p, c.version) {
		if v, ok := one.Get(key); ok && v.Kind() == expr.KindString {
			return v.Str()
		}
	}
	return ""
}

// structured reports whether a schema describes only objects or lists. A value that is written
// as text (XML) is not checked against such a schema.
func (c *compiler) structured(p place, seen map[string]bool) bool {
	for _, one := range c.lib.same(p, c.version) {
		if key := one.key(); key != "" {
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		if kind, ok := one.Get("type"); ok {
			types := []expr.Value{kind}
			if kind.IsArray() {
				types = kind.Items()
			}
			for _, t := range types {
				if t.Str() != "object" && t.Str() != "array" && t.Str() != "null" {
					return false
				}
			}
			return true
		}
		for _, key := range []string{"properties", "items", "additionalProperties"} {
			if _, ok := one.Get(key); ok {
				return true
			}
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			parts, _ := one.member(key)
			for _, part := range parts.Items() {
				if c.structured(place{one.doc, "", part}, seen) {
					return true
				}
			}
		}
	}
	return false
}

// shape collects the properties of a schema, and reports whether an object may have others that
// the schema does not name.
func (c *compiler) shape(p place, properties map[string]place, hops int) (open bool) {
	all := c.lib.same(p, c.version)
	c.values += 1 + len(all)
	if len(all) == 0 || hops > pin.MaxReferences || c.values > maxSchemaValues {
		return true
	}
	for _, one := range all {
		named, _ := one.member("properties")
		for _, m := range named.Members() {
			if _, known := properties[m.Key]; !known {
				properties[m.Key] = place{one.doc, "", m.Value}
			}
		}
		for _, key := range []string{"oneOf", "anyOf", "if", "patternProperties", "dependentSchemas"} {
			if _, ok := one.Get(key); ok {
				open = true
			}
		}
		if more, ok := one.Get("additionalProperties"); ok && (more.Kind() != expr.KindBool || more.Bool()) {
			open = true
		}
		parts, _ := one.member("allOf")
		for _, part := range parts.Items() {
			open = c.shape(place{one.doc, "", part}, properties, hops+1) || open
		}
	}
	return open
}
