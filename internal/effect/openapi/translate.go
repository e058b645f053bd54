package openapi

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// translation turns one of OpenAPI's schemas into JSON Schema 2020-12.
type translation struct {
	*schemas
	of *translated
}

// scope is the context of a subschema.
type scope struct {
	same   bool     // it describes the same value, not a part of it
	strict bool     // below not or if, where requiring less would refuse more
	lax    []string // properties that are not required
}

// sameValue are the keywords whose schemas describe the same value, not a part of it.
var sameValue = map[string]bool{
	"allOf": true, "anyOf": true, "oneOf": true, "not": true, "if": true, "then": true, "else": true, "dependentSchemas": true,
}

// under is the scope of the schemas of a keyword.
func (s scope) under(keyword string) scope {
	if !sameValue[keyword] {
		return scope{}
	}
	if keyword == "not" || keyword == "if" {
		s.strict = true
	}
	return s
}

// How keywords are translated. Those that are not listed have no effect on validity.
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

func (t translation) spend(n int) error {
	t.of.values += n
	if t.of.values > maxSchemaValues {
		return fmt.Errorf("the schemas have more than %d values (limit openapi-schema-values)", maxSchemaValues)
	}
	return nil
}

func (t translation) schema(p place, at scope) (expr.Value, error) {
	if p.Kind() == expr.KindBool {
		return p.Value, nil
	}
	if !p.IsObject() {
		return expr.Null, fmt.Errorf("a schema is an object, not %s", p.Kind().WithArticle())
	}
	t.of.parts++
	if t.of.parts > maxSchemaParts {
		return expr.Null, fmt.Errorf("one schema holds more than %d others (limit openapi-schema-parts)", maxSchemaParts)
	}
	if err := t.spend(1 + p.Len()); err != nil {
		return expr.Null, err
	}
	if !at.strict {
		at.lax = union(at.lax, t.onlyOther(p))
	}
	var out []expr.Member
	if ref, ok := p.Get("$ref"); ok && ref.Kind() == expr.KindString {
		name, err := t.reference(p.doc, ref.Str(), at)
		if err != nil {
			return expr.Null, err
		}
		out = append(out, expr.Member{Key: jsonschema.Ref, Value: expr.String(name)})
		if t.version != v31 {
			return expr.Object(out...), nil // everything beside a $ref is ignored
		}
	}
	for _, m := range p.Members() {
		v, ok, err := t.keyword(p, m, at)
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

// reference adds the target of a $ref to the set, and returns its name there.
func (t translation) reference(from *document, ref string, at scope) (string, error) {
	target, err := t.lib.resolve(from, ref)
	if err != nil {
		return "", err
	}
	lax := at.lax
	if at.strict {
		lax = nil
	}
	found := t.find(target, lax)
	t.of.refs = append(t.of.refs, found)
	if at.same {
		t.of.same = append(t.of.same, found)
	}
	return found.name, nil
}

func (t translation) keyword(p place, m expr.Member, at scope) (v expr.Value, ok bool, err error) {
	below := at.under(m.Key)
	switch {
	case m.Key == "$dynamicRef" || m.Key == "$recursiveRef":
		return v, false, fmt.Errorf("%s is not supported", m.Key)
	case oneSchema[m.Key]:
		v, err = t.schema(place{p.doc, "", m.Value}, below)
		return v, true, err
	case schemaList[m.Key] && m.Value.IsArray():
		items := make([]expr.Value, 0, m.Value.Len())
		for _, item := range m.Value.Items() {
			s, err := t.schema(place{p.doc, "", item}, below)
			if err != nil {
				return v, false, err
			}
			items = append(items, s)
		}
		return expr.Array(items...), true, nil
	case schemaMap[m.Key] && m.Value.IsObject():
		members := make([]expr.Member, 0, m.Value.Len())
		for _, k := range m.Value.Members() {
			s, err := t.schema(place{p.doc, "", k.Value}, below)
			if err != nil {
				return v, false, err
			}
			members = append(members, expr.Member{Key: k.Key, Value: s})
		}
		return expr.Object(members...), true, nil
	case m.Key == "required" && m.Value.IsArray() && !at.strict:
		return expr.Array(slices.DeleteFunc(slices.Clone(m.Value.Items()), func(name expr.Value) bool {
			return name.Kind() == expr.KindString && slices.Contains(at.lax, name.Str())
		})...), true, nil
	case m.Key == "required" && m.Value.IsArray():
		return m.Value, true, nil
	case m.Key == "type" && m.Value.Str() == "file": // 2.0
		return v, false, nil
	}
	if m.Key == "enum" {
		err = t.spend(m.Value.Len())
	}
	return m.Value, asItIs[m.Key], err
}

// union merges two sorted lists without duplicates.
func union(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return append(a[:len(a):len(a)], b...)
	}
	return slices.Compact(slices.Sorted(slices.Values(append(a[:len(a):len(a)], b...))))
}

// older translates what 3.0 and 2.0 write differently: nullable, and exclusive bounds as
// booleans.
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
		s = s.With("enum", values.Append(expr.Null)) // strictly null must be listed, but documents hardly ever do
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
