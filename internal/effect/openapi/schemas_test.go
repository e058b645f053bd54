package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// mesh is a document of n operations and n schemas, each of which leads to all.
func mesh(n int) []byte {
	var out strings.Builder
	out.WriteString(`{"openapi":"3.0.3","servers":[{"url":"https://x"}],"paths":{`)
	for i := range n {
		answer := fmt.Sprintf(`{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S%d"}}}}`, i)
		fmt.Fprintf(&out, `"/p%d":{"get":{"operationId":"op%d","responses":{"200":%s,"default":%s}}},`, i, i, answer, answer)
	}
	out.WriteString(`"/end":{}},"components":{"schemas":{`)
	for i := range n {
		fmt.Fprintf(&out, `"S%d":{"properties":{`, i)
		for p := range 12 {
			if p < 3 {
				fmt.Fprintf(&out, `"p%d":{"$ref":"#/components/schemas/S%d"},`, p, (i*31+p*7+1)%n)
			} else {
				fmt.Fprintf(&out, `"p%d":{"type":"string"},`, p)
			}
		}
		out.WriteString(`"end":{}}},`)
	}
	out.WriteString(`"End":{}}}}`)
	return []byte(out.String())
}

func meshProgram(n int) *ir.Program {
	p := &ir.Program{}
	for i := range n {
		p.Functions = append(p.Functions, ir.Function{Name: fmt.Sprint("f", i), Operation: fmt.Sprintf("mesh.json#op%d", i)})
	}
	return p
}

// Each schema is translated and compiled once, however many answers need it: the time to
// pin a document does not grow with the product.
func TestPinningALargeDocumentTakesMinutes(t *testing.T) {
	if found := Pin(context.Background(), meshProgram(20), dialect.MapBundle{"mesh.json": mesh(1000)}, Definition{}); len(found) > 0 {
		t.Fatal(found)
	}
	lib := newLibrary(func(string) ([]byte, error) { return mesh(50), nil })
	for i := range 50 {
		if _, _, err := lib.compile(context.Background(), "mesh.json", fmt.Sprint("op", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(lib.schemasFor(v30, received).byKey); n > 150 {
		t.Errorf("%d schemas are compiled for 50 in the document", n)
	}
}

// endsAfter is a context that ends when it was asked a few times.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestPinningGoesOnAfterTheEndOfItsContext(t *testing.T) {
	ctx := &endsAfter{context.Background(), 20}
	p := meshProgram(3)
	found := Pin(ctx, p, dialect.MapBundle{"mesh.json": mesh(1000)}, Definition{File: "def.yaml"})
	if !found.HasErrors() || len(p.Resources) > 0 || ctx.left < -20 {
		t.Errorf("%v, %d documents, asked %d times after the end", found, len(p.Resources), -ctx.left)
	}
	call, _ := pinnedCall(t, dialect.MapBundle{"mesh.json": mesh(100)}, "mesh.json#op1", `{}`)
	i := newInvoker(t)
	if _, err := i.operation(&endsAfter{context.Background(), 5}, call, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := i.operation(context.Background(), call, ""); err != nil {
		t.Errorf("the call after it: %v", err)
	}
}

func TestPartsOfASchemaAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range maxSchemaParts {
		fmt.Fprintf(&b, "p%d: {}, ", i)
	}
	doc := strings.ReplaceAll(api("/x", "post", "requestBody: {content: {application/json: {schema: {properties: {"+b.String()+"}}}}}"), "SERVER", "https://x")
	_, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{}`)
	if len(found) != 1 || found[0].Code != codeUnchecked || !strings.Contains(found[0].Message, "limit openapi-schema-parts") {
		t.Errorf("%v", found)
	}
}

// One schema that cannot be used is told for each that needs it, and the others stay.
func TestBrokenSchemaAmongOthers(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	const doc = "openapi: 3.1.0\nservers: [{url: SERVER}]\npaths:\n" +
		"  /a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {$ref: '#/s/A'}}}}}}\n" +
		"  /b: {post: {operationId: op, requestBody: {content: {application/json: {schema: {$ref: '#/s/B'}}}}}}\n" +
		"s:\n  A: {properties: {c: {$ref: '#/s/C'}}}\n  B: {properties: {b: {$ref: '#/s/B'}, n: {type: integer}}}\n  C: {type: nothing}\n"
	text := []byte(strings.ReplaceAll(doc, "SERVER", s.URL))
	p := &ir.Program{Functions: []ir.Function{{Name: "a", Operation: "api.yaml#a"}, {Name: "b", Operation: "api.yaml#op"}}}
	found := Pin(context.Background(), p, dialect.MapBundle{"api.yaml": text}, Definition{})
	if len(found) != 1 || !strings.Contains(found[0].Message, "api.yaml#/s/C") {
		t.Errorf("%v", found)
	}
	if f := s.invoke(t, i, doc, `{"b":{"b":{"n":"x"}}}`).Failure; f == nil || f.Code != codeSent || !strings.Contains(f.Detail, "/b/b/n") {
		t.Errorf("%+v", f)
	}
}

// What stands beside a $ref counts in 3.1, and readOnly properties are not required
// wherever they are declared.
func TestSiblingsAndReadOnly(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	const schemas = `components:
  schemas:
    Base: {type: object, required: [id], properties: {id: {type: integer, readOnly: true}, b: {type: string}}}
    Id: {type: integer}
    Number: {type: integer, readOnly: true}
    Strict: {required: [id, b]}
    Low: {allOf: [{$ref: '#/components/schemas/Base'}]}
`
	for _, c := range []struct{ name, version, schema, args, says string }{
		{"properties beside a $ref", "3.1.0", "{$ref: '#/components/schemas/Base', properties: {extra: {type: string}}}", `{"b":"x","extra":"y"}`, ""},
		{"properties beside a $ref are checked", "3.1.0", "{$ref: '#/components/schemas/Base', properties: {extra: {type: string}}}", `{"b":"x","extra":1}`, "/extra"},
		{"before 3.1 they are ignored", "3.0.3", "{$ref: '#/components/schemas/Base', properties: {extra: {type: string}}}", `{"b":"x","extra":"y"}`, `no parameter "extra"`},
		{"readOnly beside a $ref", "3.1.0", "{type: object, required: [id, b], properties: {id: {$ref: '#/components/schemas/Id', readOnly: true}, b: {type: string}}}", `{"b":"x"}`, ""},
		{"required beside a $ref", "3.1.0", "{$ref: '#/components/schemas/Base', required: [id, b]}", `{"b":"x"}`, ""},
		{"required beside a $ref is required", "3.1.0", "{$ref: '#/components/schemas/Base', required: [id, b]}", `{"id":1}`, `"b"`},
		{"required in another part", "3.0.3", "{allOf: [{$ref: '#/components/schemas/Base'}, {required: [id, b]}]}", `{"b":"x"}`, ""},
		{"required in another part, 3.1", "3.1.0", "{allOf: [{$ref: '#/components/schemas/Base'}, {required: [id, b]}]}", `{"b":"x"}`, ""},
		{"required in a $ref", "3.0.3", "{allOf: [{$ref: '#/components/schemas/Strict'}, {$ref: '#/components/schemas/Low'}]}", `{"b":"x"}`, ""},
		{"the rest stays required", "3.0.3", "{allOf: [{$ref: '#/components/schemas/Strict'}, {$ref: '#/components/schemas/Low'}]}", `{"id":1}`, `"b"`},
		{"required by the whole", "3.0.3", "{required: [id], allOf: [{$ref: '#/components/schemas/Base'}]}", `{"b":"x"}`, ""},
		{"readOnly around allOf", "3.0.3", "{type: object, required: [id], properties: {id: {allOf: [{$ref: '#/components/schemas/Id'}], readOnly: true}, b: {}}}", `{"b":"x"}`, ""},
		{"readOnly inside allOf", "3.0.3", "{type: object, required: [id], properties: {id: {allOf: [{$ref: '#/components/schemas/Number'}]}, b: {}}}", `{"b":"x"}`, ""},
		{"another object", "3.0.3", "{allOf: [{$ref: '#/components/schemas/Base'}, {properties: {o: {type: object, required: [id]}}}]}", `{"o":{}}`, "/o"},
		{"not", "3.0.3", "{allOf: [{$ref: '#/components/schemas/Base'}, {not: {required: [id]}}]}", `{"b":"x"}`, ""},
	} {
		doc := "openapi: " + c.version + "\nservers: [{url: SERVER}]\npaths: {/x: {post: {operationId: op, requestBody: {content: {application/json: {schema: " + c.schema + "}}}}}}\n" + schemas
		f := s.invoke(t, i, doc, c.args).Failure
		if c.says == "" && f != nil || c.says != "" && (f == nil || !strings.Contains(f.Detail, c.says)) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// XML and other text is not an object, whatever its schema describes.
func TestTextIsCheckedAsAnObject(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	s.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		fmt.Fprint(w, "<pet><id>1</id></pet>")
	}
	const pet = "{type: object, required: [id], properties: {id: {type: integer}}}"
	for _, c := range []struct{ doc, args string }{
		{api("/x", "post", "requestBody: {content: {application/xml: {schema: "+pet+"}}}"), `{"body":"<pet/>"}`},
		{api("/x", "post", "requestBody: {content: {application/xml: {schema: {type: array, items: {}}}}}"), `{"body":"<pet/>"}`},
		{api("/x", "get", "responses: {'200': {content: {application/xml: {schema: "+pet+"}, application/json: {schema: "+pet+"}}}}"), `{}`},
		{api("/x", "get", "responses: {'200': {content: {'*/*': {schema: {allOf: [{$ref: '#/pet'}]}}}}}") + "pet: " + pet + "\n", `{}`},
		{"swagger: '2.0'\nhost: HOST\nschemes: [http]\npaths: {/x: {post: {operationId: op, consumes: [application/xml], produces: [application/xml], parameters: [{name: pet, in: body, schema: " + pet + "}], responses: {'200': {schema: " + pet + "}}}}}", `{"pet":"<pet/>"}`},
	} {
		if out := s.invoke(t, i, c.doc, c.args); out.Failure != nil || out.Value.Str() == "" {
			t.Errorf("%s: %s %+v", c.doc, out.Value, out.Failure)
		}
	}
	// What describes a text is checked.
	for doc, args := range map[string]string{
		api("/x", "post", "requestBody: {content: {text/plain: {schema: {type: string, maxLength: 2}}}}"):            `{"body":"abc"}`,
		api("/x", "get", "responses: {'200': {content: {application/xml: {schema: {type: string, maxLength: 2}}}}}"): `{}`,
	} {
		if f := s.invoke(t, i, doc, args).Failure; f == nil || f.Name != effect.SchemaViolation {
			t.Errorf("%s: %+v", doc, f)
		}
	}
}
