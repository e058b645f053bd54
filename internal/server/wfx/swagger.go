package wfx

import (
	"fmt"
	"strings"
	"sync"

	"github.com/lockstep-workflows/lockstep/expr"
)

// SwaggerJSON is the contract as a Swagger 2.0 document. wfx publishes one beside its OpenAPI document, and
// SWUpdate 2023.12 to 2024.12.1 reads the limits of a status from it first.
//
// It is generated from the contract, so that the two cannot differ.
var SwaggerJSON = sync.OnceValues(func() ([]byte, error) {
	text, err := ContractJSON()
	if err != nil {
		return nil, err
	}
	doc, err := expr.ParseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return swaggerOf(doc).AppendJSON(nil), nil
})

// swaggerRefs maps references to OpenAPI 3 components to their place in Swagger 2.0.
var swaggerRefs = strings.NewReplacer(
	"#/components/schemas/", "#/definitions/",
	"#/components/parameters/", "#/parameters/",
	"#/components/responses/", "#/responses/",
)

// swaggerOf converts an OpenAPI 3.1 document, as far as the contract uses it.
func swaggerOf(doc expr.Value) expr.Value {
	components := get(doc, "components")
	info := get(doc, "info")
	license := object("name", get(get(info, "license"), "name")) // identifier is new in 3.1
	return object(
		"swagger", expr.String("2.0"), "info", info.With("license", license), "basePath", expr.String(Base),
		"schemes", texts([]string{"http", "https"}), "consumes", texts([]string{"application/json"}), "produces", texts([]string{"application/json", "text/plain"}),
		"tags", get(doc, "tags"),
		"paths", each(get(doc, "paths"), func(path expr.Value) expr.Value { return each(path, swaggerOperation) }),
		"parameters", each(get(components, "parameters"), swaggerParameter),
		"responses", each(get(components, "responses"), swaggerResponse),
		"definitions", each(get(components, "schemas"), swaggerSchema),
	)
}

func get(v expr.Value, key string) expr.Value {
	m, _ := v.Get(key)
	return m
}

// each converts every member of an object.
func each(v expr.Value, convert func(expr.Value) expr.Value) expr.Value {
	out := expr.EmptyObject
	for _, m := range v.Members() {
		out = out.With(m.Key, convert(m.Value))
	}
	return out
}

// only copies some members.
func only(v expr.Value, keys ...string) expr.Value {
	out := expr.EmptyObject
	for _, key := range keys {
		if m, ok := v.Get(key); ok {
			out = out.With(key, m)
		}
	}
	return out
}

func swaggerRef(v expr.Value) (expr.Value, bool) {
	ref, ok := v.Get("$ref")
	if !ok {
		return v, false
	}
	return object("$ref", expr.String(swaggerRefs.Replace(ref.Str()))), true
}

func swaggerOperation(op expr.Value) expr.Value {
	out := only(op, "operationId", "tags", "summary", "description")
	var params []expr.Value
	for _, p := range get(op, "parameters").Items() {
		params = append(params, swaggerParameter(p))
	}
	if body, ok := op.Get("requestBody"); ok { // in Swagger the body is a parameter
		params = append(params, object("name", expr.String("body"), "in", expr.String("body"), "required", get(body, "required"), "schema", swaggerContent(body)))
	}
	if len(params) > 0 {
		out = out.With("parameters", expr.Array(params...))
	}
	return out.With("responses", each(get(op, "responses"), swaggerResponse))
}

// swaggerParameter converts a path, query or header parameter: the keywords of its schema move into the
// parameter itself.
func swaggerParameter(p expr.Value) expr.Value {
	if ref, ok := swaggerRef(p); ok {
		return ref
	}
	out := only(p, "name", "in", "required", "description")
	for _, m := range swaggerSchema(get(p, "schema")).Members() {
		out = out.With(m.Key, m.Value)
	}
	if get(out, "type").Str() == "array" {
		out = out.With("collectionFormat", expr.String("csv"))
	}
	return out
}

func swaggerResponse(r expr.Value) expr.Value {
	if ref, ok := swaggerRef(r); ok {
		return ref
	}
	out := only(r, "description")
	if headers, ok := r.Get("headers"); ok {
		out = out.With("headers", each(headers, func(h expr.Value) expr.Value {
			return only(h, "description").With("type", get(get(h, "schema"), "type"))
		}))
	}
	if schema := swaggerContent(r); !schema.IsNull() {
		out = out.With("schema", schema)
	}
	return out
}

// swaggerContent is the schema of a body, of JSON if possible; null: there is no body.
func swaggerContent(of expr.Value) expr.Value {
	content := get(of, "content")
	media := get(content, "application/json")
	if media.IsNull() && content.Len() > 0 {
		media = content.Members()[0].Value
	}
	if media.IsNull() {
		return expr.Null
	}
	return swaggerSchema(get(media, "schema"))
}

// swaggerSchema converts a schema recursively. A nullable type is a list of types in 3.1, which Swagger does
// not have.
func swaggerSchema(s expr.Value) expr.Value {
	if ref, ok := swaggerRef(s); ok {
		return ref
	}
	out := expr.EmptyObject
	for _, m := range s.Members() {
		switch {
		case m.Key == "properties":
			out = out.With(m.Key, each(m.Value, swaggerSchema))
		case m.Key == "items" || m.Key == "additionalProperties" && m.Value.IsObject():
			out = out.With(m.Key, swaggerSchema(m.Value))
		case m.Key == "type" && m.Value.IsArray():
			out = out.With(m.Key, m.Value.Items()[0]).With("x-nullable", expr.Bool(true))
		default:
			out = out.With(m.Key, m.Value)
		}
	}
	return out
}
