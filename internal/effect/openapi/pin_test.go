package openapi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

var files = dialect.MapBundle{
	"pets.yaml": []byte(`
openapi: 3.1.0
servers: [{url: https://pets.example}]
paths:
  /pets/{id}:
    get: {operationId: getPet, parameters: [{name: id, in: path}]}
    put: {operationId: lost, parameters: [{$ref: "#/components/parameters/none"}]}
    post: {operationId: odd, parameters: [{name: id, in: path, schema: {type: nothing}}]}
  /a: {get: {operationId: twin}}
  /b: {get: {operationId: twin}}
`),
	"torn.yaml":   []byte("openapi: [3"),
	"schema.json": []byte(`{"type":"object"}`),
}

// complete makes a definition of an excerpt.
func complete(functions string) string {
	return "id: x\nname: X\n" + functions + "states:\n- {name: A, type: inject, data: {x: 1}, start: {kind: default}, end: {kind: default}}\n"
}

func checkText(t *testing.T, source string) dialect.Diagnostics {
	t.Helper()
	c, found := dialect.NewRegistry(sw05.FrontEnd{}).Compile("def.yaml", []byte(source), files, dialect.Options{})
	if found.HasErrors() {
		t.Fatal(found)
	}
	return kinds.Check(context.Background(), files, Definition{File: "def.yaml", Program: c.Program, Operations: c.Operations}, false)
}

func TestExplanations(t *testing.T) {
	for _, e := range Codes() {
		found := checkText(t, complete(e.Bad))
		want := dialect.Error
		if e.Code == codeUnchecked || e.Code == codeTwice {
			want = dialect.Warning
		}
		if len(found) != 1 || found[0].Code != e.Code || found[0].Severity != want {
			t.Errorf("%s: Bad leads to %v", e.Code, found)
		}
		if found := checkText(t, complete(e.Good)); len(found) > 0 {
			t.Errorf("%s: Good leads to %v", e.Code, found)
		}
		if e.Title == "" || e.Text == "" {
			t.Errorf("%s is not explained", e.Code)
		}
	}
}

func TestDiagnosticsPointAtTheirPart(t *testing.T) {
	for source, want := range map[string]string{
		"functions:\n- name: f\n  operation: \"pets.yaml#getPte\"\n":                   `def.yaml:5:25 error OA004 function "f": "pets.yaml" has no operation "getPte"; did you mean "getPet"?`,
		"functions:\n- {name: f, operation: pest.yaml#getPet}\n":                       `def.yaml:4:24 error OA001 function "f": the document cannot be opened: "pest.yaml": file does not exist`,
		"functions:\n- {name: f, operation: torn.yaml#getPet}\n":                       `def.yaml:4:24 error OA002 function "f": the document cannot be read: torn.yaml:1:`,
		"functions:\n- {name: f, operation: pets.yaml#zzzzzzzzz}\n":                    `def.yaml:4:34 error OA004 function "f": "pets.yaml" has no operation "zzzzzzzzz"; it has getPet, lost, odd, twin`,
		"functions:\n- {name: f, operation: 'https://x.invalid/api.json#a'}\n":         `def.yaml:4:25 warning OA001 function "f": the document cannot be opened: "https://x.invalid/api.json": it was not fetched`,
		"functions:\n- {name: g, operation: 'https://x.invalid/p#GET'}\n- {name: h}\n": "", // no documents
	} {
		if found := checkText(t, complete(source)); !strings.HasPrefix(found.Error(), want) || want == "" && len(found) > 0 {
			t.Errorf("got  %v\nwant %s", found, want)
		}
	}
}

// What a document refers to in other documents is pinned with it, and a running
// instance sees no other text.
func TestPinKeepsDocuments(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	bundle := dialect.MapBundle{
		"api/main.yaml":         []byte("openapi: 3.0.0\nservers: [{url: " + s.URL + "}]\npaths: {/x: {$ref: paths/x.yaml}}"),
		"api/paths/x.yaml":      []byte("post:\n  operationId: op\n  requestBody: {content: {application/json: {schema: {$ref: ../schemas.json#/Pet}}}}"),
		"api/schemas.json":      []byte(`{"Pet":{"type":"object","properties":{"n":{"$ref":"#/N"}}},"N":{"type":"integer"}}`),
		"api/unused.yaml":       []byte("x"),
		"../outside/secret.yml": []byte("x"),
	}
	p := &ir.Program{Digest: "before", Functions: []ir.Function{{Name: "a"}, {Name: "f", Operation: "api/main.yaml#op"}, {Name: "g", Operation: "api/main.yaml#op"}}}
	if found := Pin(context.Background(), p, bundle, Definition{}); len(found) > 0 {
		t.Fatal(found)
	}
	var refs []string
	for _, r := range p.Resources {
		refs = append(refs, r.Ref)
	}
	if got := strings.Join(refs, " "); got != "api/main.yaml api/paths/x.yaml api/schemas.json" {
		t.Errorf("pinned: %s", got)
	}
	if p.Functions[0].Resource != 0 || p.Functions[1].Resource != 1 || p.Functions[2].Resource != 1 || p.Digest == "before" || len(p.Digest) != 64 {
		t.Errorf("%+v", p)
	}
	call := effect.Call{Operation: "api/main.yaml#op", Args: value(t, `{"n":"x"}`), Documents: effect.Documents{Key: p.Digest, Root: 1, All: documentsOf(p)}}
	if f := i.Invoke(context.Background(), call).Failure; f == nil || !strings.Contains(f.Detail, "/n: ") {
		t.Errorf("%+v", f)
	}
	before := p.Digest
	bundle["api/schemas.json"] = []byte(`{"Pet":{}}`)
	again := &ir.Program{Digest: "before", Functions: slices.Clone(p.Functions)}
	Pin(context.Background(), again, bundle, Definition{})
	if again.Digest == before {
		t.Error("the digest does not cover what the document refers to")
	}
}

func TestReferences(t *testing.T) {
	for _, c := range []struct{ base, ref, want string }{
		{"api.yaml", "b.yaml", "b.yaml"},
		{"d/api.yaml", "../b.yaml", "b.yaml"},
		{"file:d/api.yaml", "b.yaml", "d/b.yaml"},
		{"file://api.yaml", "b.yaml", "b.yaml"},
		{"file:///abs/api.yaml", "b.yaml", "file:///abs/b.yaml"},
		{"api.yaml", "https://x/b.yaml", "https://x/b.yaml"},
		{"https://x/d/api.yaml", "../b.yaml", "https://x/b.yaml"},
		{"https://x/d/api.yaml", "/etc/passwd", "https://x/etc/passwd"},
		{"https://x/api.yaml", "file:///etc/passwd", "!"},
		{"https://x/api.yaml", "ftp://y/b", "!"},
	} {
		got, err := pin.Join(c.base, c.ref)
		if err != nil {
			got = "!"
		}
		if got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.ref, c.base, got, c.want)
		}
	}
	// The folder's own rule holds for references too.
	b := dialect.DirBundle(t.TempDir())
	lib := newLibrary(b.Open)
	if _, err := lib.resolve(&document{ref: "api.yaml"}, "../secret.yaml"); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestBrokenOperations(t *testing.T) {
	for rest, says := range map[string]string{
		"paths: {/p: {get: {operationId: op}}}":                                                                              "no server is known",
		"servers: [{url: 'https://{a}'}]\npaths: {/p: {get: {operationId: op}}}":                                             `variable "a"`,
		"servers: [{url: 'ftp://x'}]\npaths: {/p: {get: {operationId: op}}}":                                                 "only http and https",
		"servers: [{url: 'https://u:secret@x'}]\npaths: {/p: {get: {operationId: op}}}":                                      "credentials",
		"servers: [{url: https://x}]\npaths: {'/p/{id}': {get: {operationId: op}}}":                                          "placeholder {id}",
		"servers: [{url: https://x}]\npaths: {/p: {get: {operationId: op, parameters: [{name: Host, in: header}]}}}":         "no argument may set",
		"servers: [{url: https://x}]\npaths: {/p: {get: {operationId: op, parameters: [{name: a, in: body}]}}}":              "not path, query",
		"servers: [{url: https://x}]\npaths: {/p: {get: {operationId: op, parameters: [{name: a, in: path, style: form}]}}}": `style "form"`,
		"servers: [{url: https://x}]\npaths: {/p: {get: {operationId: op, parameters: [{$ref: '#/a'}]}}}\na: {$ref: '#/a'}":  `the reference "#/a" in "api.yaml" leads back to itself`,
		"servers: [{url: https://x}]\npaths: {/p: {get: {operationId: op, parameters: [{$ref: '#here'}]}}}":                  "anchor",
	} {
		doc := "openapi: 3.1.0\n" + rest
		call, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{}`)
		if len(found) != 1 || found[0].Code != codeBroken || !strings.Contains(found[0].Message, says) || strings.Contains(found.Error(), "secret") {
			t.Errorf("%s: %v, want %q", rest, found, says)
		}
		if f := newInvoker(t).Invoke(context.Background(), call).Failure; f == nil || f.Name != effect.NotFound || !strings.Contains(f.Detail, says) {
			t.Errorf("%s: %+v", rest, f)
		}
	}
}

// TestChainOfReferences: one that is too long is no cycle; the message has the reference that it begins with.
func TestChainOfReferences(t *testing.T) {
	for n, want := range map[int]string{
		pin.MaxReferences:     "",
		pin.MaxReferences + 1: `the reference "#/r1" in "api.yaml" is too deep: it leads through more than 32 references (limit reference-chain)`,
	} {
		var doc strings.Builder
		doc.WriteString("openapi: 3.1.0\nservers: [{url: https://x}]\npaths: {/p: {get: {operationId: op, parameters: [{$ref: '#/r1'}]}}}\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&doc, "r%d: {$ref: '#/r%d'}\n", i, i+1)
		}
		fmt.Fprintf(&doc, "r%d: {name: a, in: query}\n", n)
		_, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc.String())}, "api.yaml#op", `{}`)
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("%d references: %v", n, found)
		case want != "" && (len(found) != 1 || !strings.Contains(found[0].Message, want)):
			t.Errorf("%d references: %v", n, found)
		}
	}
}

func TestUnpinnedIsNotFound(t *testing.T) {
	f := newInvoker(t).Invoke(context.Background(), effect.Call{Function: "f", Operation: "api.yaml#op"}).Failure
	if f == nil || f.Name != effect.NotFound || !strings.Contains(f.Detail, "could not be opened when the definition was deployed") {
		t.Errorf("%+v", f)
	}
}

// A schema that doubles at every reference is not checked, and costs little.
func TestSchemaBomb(t *testing.T) {
	doc := "openapi: 3.1.0\nservers: [{url: https://x}]\npaths: {/p: {post: {operationId: op, requestBody: {content: {application/json: {schema: {$ref: '#/s/a0'}}}}}}}\ns:\n"
	for i := range 60 {
		name := string(rune('a'+i/10)) + string(rune('0'+i%10))
		next := string(rune('a'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		doc += "  " + name + ": {allOf: [{$ref: '#/s/" + next + "'}, {$ref: '#/s/" + next + "'}]}\n"
	}
	doc += "  g0: {type: object}\n"
	call, _ := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{}`)
	if _, err := newInvoker(t).operation(context.Background(), call, ""); err != nil {
		t.Error(err)
	}
}

func TestCacheForgetsTheOldest(t *testing.T) {
	c := newCache[int](2)
	c.put("a", 1)
	c.put("b", 2)
	c.get("a")
	c.put("c", 3)
	if _, ok := c.get("b"); ok {
		t.Error("b is kept")
	}
	if v, ok := c.get("a"); !ok || v != 1 || len(c.byKey) != 2 {
		t.Error("a is forgotten")
	}
}
