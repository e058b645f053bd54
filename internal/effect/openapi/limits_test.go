package openapi

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	limits "github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// mostPinned is the limit pinned-documents.
const mostPinned = limits.MaxDocuments

func TestPinIsBounded(t *testing.T) {
	doc := "openapi: 3.1.0\nservers: [{url: https://x}]\npaths: {/p: {get: {operationId: op}}}\n"
	pin := func(count, size int) (*ir.Program, dialect.Diagnostics) {
		bundle := dialect.MapBundle{}
		p := &ir.Program{}
		for i := range count {
			name := fmt.Sprintf("api%d.yaml", i)
			bundle[name] = []byte(doc + "# " + strings.Repeat("x", size) + "\n")
			p.Functions = append(p.Functions, ir.Function{Name: name, Operation: name + "#op"})
		}
		return p, Pin(context.Background(), p, bundle, Definition{})
	}
	if p, found := pin(mostPinned, 0); len(found) > 0 || len(p.Resources) != mostPinned {
		t.Errorf("%d documents: %v", mostPinned, found)
	}
	p, found := pin(mostPinned+1, 0)
	if len(found) != 1 || !strings.Contains(found[0].Message, "limit pinned-documents") || len(p.Resources) != mostPinned || p.Functions[mostPinned].Resource != 0 {
		t.Errorf("%v", found)
	}
	if p, found := pin(3, 3<<20); len(found) != 1 || !strings.Contains(found[0].Message, "limit pinned-bytes") || len(p.Resources) != 2 {
		t.Errorf("%v", found)
	}
}

func TestSchemasAreBounded(t *testing.T) {
	doc := func(n int) string {
		return api("/x", "post", "requestBody: {content: {application/json: {schema: {enum: ["+strings.Repeat("1,", n)+"1]}}}}")
	}
	for n, want := range map[int]int{1000: 0, maxSchemaValues + 1: 1} {
		text := strings.ReplaceAll(doc(n), "SERVER", "https://x")
		_, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(text)}, "api.yaml#op", `{}`)
		if len(found) != want || want > 0 && (found[0].Code != codeUnchecked || !strings.Contains(found[0].Message, "limit openapi-schema-values")) {
			t.Errorf("%d values: %v", n, found)
		}
	}
}

// Two functions with operations of one document do not get in each other's way.
func TestOperationsOfOneDocument(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := "openapi: 3.1.0\nservers: [{url: " + s.URL + "}]\npaths: {/a: {get: {operationId: a}}, /b: {get: {operationId: b}}}\n"
	p := &ir.Program{Functions: []ir.Function{{Name: "a", Operation: "api.yaml#a"}, {Name: "b", Operation: "api.yaml#b"}}}
	Pin(context.Background(), p, dialect.MapBundle{"api.yaml": []byte(doc)}, Definition{})
	for _, f := range append(p.Functions, p.Functions...) {
		out := i.Invoke(context.Background(), effect.Call{Operation: f.Operation, Documents: effect.Documents{Key: p.Digest, Root: f.Resource, All: documentsOf(p)}})
		if out.Failure != nil || s.seen.URL.Path != "/"+f.Name {
			t.Errorf("%s: %+v %s", f.Name, out.Failure, s.seen.URL.Path)
		}
	}
}

func TestOddRequests(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	for _, c := range []struct{ doc, args, says string }{
		{"swagger: '2.0'\nhost: HOST\nschemes: [http]\npaths: {'/x/{id}': {get: {operationId: op, parameters: [{name: id, in: path, type: string}]}}}", `{}`, `"id" is missing`},
		{api("/x", "post", "requestBody: {content: {multipart/form-data: {}}}"), `{"a\r\nX-Evil: 1":"b"}`, "control character"},
		{api("/x", "post", "requestBody: {content: {multipart/form-data: {}}}"), `{"body":[1]}`, "must be an object"},
	} {
		if f := s.invoke(t, i, c.doc, c.args).Failure; f == nil || f.Name != effect.InvalidArguments || !strings.Contains(f.Detail, c.says) {
			t.Errorf("%s: %+v", c.args, f)
		}
	}
	if s.calls > 0 {
		t.Errorf("%d requests were made", s.calls)
	}
}
