package openapi

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/expr/jsonschema"
)

// maxSchemaValues is the limit openapi-schema-values: how many values the schemas of
// one operation have in all, where what a $ref names counts once for each schema.
const maxSchemaValues = 100_000

// direction is which way a value goes: readOnly properties are not required in what
// is sent, writeOnly ones not in what comes back.
type direction string

const (
	sent     direction = "readOnly"
	received direction = "writeOnly"
)

// check is a schema that values are checked against. A nil check finds nothing.
type check struct{ program expr.Program }

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

// compileSchema makes a check of a schema. One that cannot be used is noted and not
// checked: a service with an odd description can still be called.
func (c *compiler) compileSchema(what string, p place, way direction) *check {
	t := translator{compiler: c, way: way, ids: map[string]string{}}
	program, err := t.compile(p)
	if err != nil {
		c.notes = append(c.notes, fmt.Sprintf("%s is not checked: %v", what, err))
		return nil
	}
	return &check{program}
}

// translator turns OpenAPI's schemas into JSON Schema 2020-12 that refers to nothing
// outside of itself.
type translator struct {
	*compiler
	way  direction
	ids  map[string]string // by document and pointer
	defs []expr.Member
}

func (t *translator) compile(p place) (expr.Program, error) {
	top, err := t.schema(p)
	if err != nil {
		return nil, err
	}
	if len(t.defs) > 0 && top.IsObject() {
		top = top.With("$defs", expr.Object(t.defs...))
	}
	program, err := jsonschema.Compiler{}.Compile(top.String())
	if syntax, ok := err.(*expr.SyntaxError); ok {
		return nil, fmt.Errorf("%s", syntax.Msg)
	}
	return program, err
}

func (t *translator) spend(n int) error {
	if t.values += n; t.values > maxSchemaValues {
		return fmt.Errorf("the schemas have more than %d values (limit openapi-schema-values)", maxSchemaValues)
	}
	return nil
}

// reference gives the definition that a $ref stands for a name, and translates it once.
func (t *translator) reference(from *document, ref string) (expr.Value, error) {
	target, err := t.lib.resolve(from, ref)
	if err != nil {
		return expr.Null, err
	}
	key := target.doc.ref + "#" + target.ptr
	id, known := t.ids[key]
	if !known {
		id = "s" + strconv.Itoa(len(t.ids))
		t.ids[key] = id // before it is translated: it may refer to itself
		v, err := t.schema(target)
		if err != nil {
			return expr.Null, err
		}
		t.defs = append(t.defs, expr.Member{Key: id, Value: v})
	}
	return expr.String("#/$defs/" + id), nil
}

// How keywords are translated; the others say nothing about what is valid.
var (
	oneSchema = map[string]bool{
		"items": true, "additionalProperties": true, "not": true, "contains": true, "if": true, "then": true, "else": true,
		"propertyNames": true, "unevaluatedItems": true, "unevaluatedProperties": true,
	}
	schemaList = map[string]bool{"allOf": true, "anyOf": true, "oneOf": true, "prefixItems": true}
	schemaMap  = map[string]bool{"properties": true, "patternProperties": true, "dependentSchemas": true}
	asItIs     = map[string]bool{
		"type": true, "enum": true, "const": true, "multipleOf": true, "maximum": true, "minimum": true, "exclusiveMaximum": true,
		"exclusiveMinimum": true, "maxLength": true, "minLength": true, "pattern": true, "maxItems": true, "minItems": true,
		"uniqueItems": true, "maxContains": true, "minContains": true, "maxProperties": true, "minProperties": true,
		"dependentRequired": true,
	}
)

func (t *translator) schema(p place) (expr.Value, error) {
	if p.Kind() == expr.KindBool {
		return p.Value, nil
	}
	if !p.IsObject() {
		return expr.Null, fmt.Errorf("a schema is an object, not %s", p.Kind())
	}
	if err := t.spend(1 + p.Len()); err != nil {
		return expr.Null, err
	}
	var out []expr.Member
	if ref, ok := p.Get("$ref"); ok && ref.Kind() == expr.KindString {
		v, err := t.reference(p.doc, ref.Str())
		if err != nil {
			return expr.Null, err
		}
		out = append(out, expr.Member{Key: "$ref", Value: v})
		if t.version != v31 {
			return expr.Object(out...), nil // what stands beside a $ref is ignored
		}
	}
	for _, m := range p.Members() {
		v, ok, err := t.keyword(p, m)
		if err != nil {
			return expr.Null, err
		}
		if ok {
			out = append(out, expr.Member{Key: m.Key, Value: v})
		}
	}
	s := expr.Object(out...)
	if t.version == v31 {
		return s, nil
	}
	return older(p.Value, s), nil
}

func (t *translator) keyword(p place, m expr.Member) (v expr.Value, ok bool, err error) {
	inner := place{p.doc, "", m.Value}
	switch {
	case m.Key == "$dynamicRef" || m.Key == "$recursiveRef":
		return v, false, fmt.Errorf("%s is not supported", m.Key)
	case oneSchema[m.Key]:
		v, err = t.schema(inner)
		return v, true, err
	case schemaList[m.Key] && m.Value.IsArray():
		items := make([]expr.Value, 0, m.Value.Len())
		for _, item := range m.Value.Items() {
			s, err := t.schema(place{p.doc, "", item})
			if err != nil {
				return v, false, err
			}
			items = append(items, s)
		}
		return expr.Array(items...), true, nil
	case schemaMap[m.Key] && m.Value.IsObject():
		members := make([]expr.Member, 0, m.Value.Len())
		for _, k := range m.Value.Members() {
			s, err := t.schema(place{p.doc, "", k.Value})
			if err != nil {
				return v, false, err
			}
			members = append(members, expr.Member{Key: k.Key, Value: s})
		}
		return expr.Object(members...), true, nil
	case m.Key == "required" && m.Value.IsArray():
		return t.required(p, m.Value), true, nil
	case m.Key == "type" && m.Value.Str() == "file": // 2.0
		return v, false, nil
	}
	if m.Key == "enum" {
		err = t.spend(m.Value.Len())
	}
	return m.Value, asItIs[m.Key], err
}

// required leaves out properties that only go the other way.
func (t *translator) required(p place, names expr.Value) expr.Value {
	properties, _ := p.member("properties")
	var out []expr.Value
	for _, name := range names.Items() {
		property, ok := properties.member(name.Str())
		if ok {
			if followed, err := t.lib.follow(property); err == nil {
				property = followed
			}
			if other, _ := property.Get(string(t.way)); other.Bool() {
				continue
			}
		}
		out = append(out, name)
	}
	return expr.Array(out...)
}

// older translates what 3.0 and 2.0 say in another way: nullable, and exclusive
// bounds as booleans.
func older(src, s expr.Value) expr.Value {
	for key, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		exclusive, ok := s.Get(key)
		if !ok || exclusive.Kind() != expr.KindBool {
			continue
		}
		s = s.Without(key)
		if limit, ok := s.Get(bound); ok && exclusive.Bool() {
			s = s.Without(bound).With(key, limit)
		}
	}
	if !nullable(src) {
		return s
	}
	kind, typed := s.Get("type")
	composed := false
	for key := range schemaList {
		_, has := s.Get(key)
		composed = composed || has
	}
	if !typed || composed || kind.Kind() != expr.KindString {
		return expr.Object(expr.Member{Key: "anyOf", Value: expr.Array(
			expr.Object(expr.Member{Key: "type", Value: expr.String("null")}), s)})
	}
	s = s.With("type", expr.Array(kind, expr.String("null")))
	if values, ok := s.Get("enum"); ok && !slices.ContainsFunc(values.Items(), expr.Value.IsNull) {
		s = s.With("enum", values.Append(expr.Null)) // strictly it would have to be listed; hardly anybody does
	}
	return s
}

func nullable(v expr.Value) bool {
	for _, key := range []string{"nullable", "x-nullable"} {
		if n, _ := v.Get(key); n.Bool() {
			return true
		}
	}
	return false
}

// shape is which properties an object has that adheres to a schema, and whether it
// may have others that the schema does not name.
func (c *compiler) shape(p place, properties map[string]place, hops int) (open bool) {
	p, err := c.lib.follow(p)
	if c.values++; err != nil || hops > maxHops || c.values > maxSchemaValues {
		return true
	}
	own, _ := p.member("properties")
	for _, m := range own.Members() {
		properties[m.Key] = place{p.doc, "", m.Value}
	}
	for _, key := range []string{"oneOf", "anyOf", "if", "patternProperties", "dependentSchemas"} {
		if _, ok := p.Get(key); ok {
			open = true
		}
	}
	if more, ok := p.Get("additionalProperties"); ok && (more.Kind() != expr.KindBool || more.Bool()) {
		open = true
	}
	parts, _ := p.member("allOf")
	for _, part := range parts.Items() {
		open = c.shape(place{p.doc, "", part}, properties, hops+1) || open
	}
	return open
}
