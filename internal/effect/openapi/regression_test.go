package openapi

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// What is wrong in a document is told when it is deployed, not when it is called.
func TestBrokenDocumentsAreToldBeforeTheCall(t *testing.T) {
	const server = "servers: [{url: https://x}]\n"
	get := func(path, rest string) string {
		return server + "paths: {'" + path + "': {get: {operationId: op" + rest + "}}}"
	}
	for _, c := range []struct{ name, rest, says string }{
		{"escaped step up", get("/a/%2e%2E/b", ""), `"/a/%2e%2E/b" has the step "%2e%2E"`},
		{"half escaped step up", get("/a/.%2e/b", ""), `the step ".%2e"`},
		{"plain step up", get("/a/../b", ""), `the step ".."`},
		{"placeholder in a query", get("/x?id={id}", ", parameters: [{name: id, in: path}]"), `the path "/x?id={id}" has a placeholder in a query`},
		{"placeholder in a query, parameter of the query", get("/x?id={id}", ", parameters: [{name: id, in: query}]"), `"/x?id={id}"`},
		{"parameter without a placeholder", get("/x", ", parameters: [{name: id, in: path}]"), `the path "/x" has no placeholder {id}`},
		{"placeholder without a parameter", get("/x/{id}", ""), `the path "/x/{id}" has the placeholder {id}`},
		{"half a placeholder", get("/x/{id", ""), "a brace without its other half"},
		{"blank in a path", get("/x y", ""), `the path "/x y" holds a blank`},
		{"blank behind a path", get("/x ", ""), `the path "/x " holds a blank`},
		{"name of a header", get("/x", ", parameters: [{name: 'X Y', in: header}]"), `parameter "X Y" goes into a header`},
		{"parameters of an operation", get("/x", ", parameters: {id: {in: query}}"), `the parameters of the path "/x" must be an array, not an object`},
		{"parameters of a path", server + "paths: {/x: {parameters: {a: 1}, get: {operationId: op}}}", "must be an array, not an object"},
		{"required as text", get("/x", ", parameters: [{name: id, in: query, required: 'true'}]"), `parameter "id": "required" must be true or false, not "true"`},
		{"explode as text", get("/x", ", parameters: [{name: id, in: query, explode: 'false'}]"), `parameter "id": "explode" must be true or false`},
		{"required body as text", get("/x", ", requestBody: {required: 'yes', content: {application/json: {}}}"), `the request body: "required" must be true or false`},
		{"server that goes up", "servers: [{url: 'https://x/a/../b'}]\npaths: {/x: {get: {operationId: op}}}", `the server's url "https://x/a/../b" has the step ".."`},
		{"server that goes up, escaped", "servers: [{url: 'https://x/%2E%2e'}]\npaths: {/x: {get: {operationId: op}}}", `the step "%2E%2e"`},
		{"server that a variable leads up", "servers: [{url: 'https://x/{v}', variables: {v: {default: ..}}}]\npaths: {/x: {get: {operationId: op}}}", `the step ".."`},
		{"reference of a path", server + "paths: {/x: {$ref: '#/none'}}", `its path "/x": the reference "#/none"`},
		{"path that is no object", server + "paths: {/x: {$ref: '#/list'}}\nlist: [1]", `its path "/x": it is an array`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := "openapi: 3.1.0\n" + c.rest
			call, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{"id":"1"}`)
			if len(found) != 1 || found[0].Code != codeBroken || !strings.Contains(found[0].Message, c.says) {
				t.Errorf("%v, want %q", found, c.says)
			}
			if f := newInvoker(t).Invoke(context.Background(), call).Failure; f == nil || f.Name != effect.NotFound || f.Code != codeBroken {
				t.Errorf("called: %+v", f)
			}
		})
	}
}

func TestBrokenSwagger2IsToldBeforeTheCall(t *testing.T) {
	for parameters, says := range map[string]string{
		"[{name: 'X Y', in: header, type: string}]":                   "not the name of one",
		"[{name: q, in: query, type: string, required: 'true'}]":      "must be true or false",
		"[{name: q, in: formData, type: string, required: 'true'}]":   "must be true or false",
		"[{name: q, in: body, schema: {}, required: 'true'}]":         "must be true or false",
		"[{name: id, in: path, type: string, required: true}]":        "no placeholder {id}",
		"{q: {in: query, type: string}}":                              "must be an array",
		"[{name: q, in: query, type: string}]\nbasePath: /a/%2e%2e/b": `the step "%2e%2e"`,
	} {
		parameters, more, _ := strings.Cut(parameters, "\n")
		doc := "swagger: '2.0'\nhost: x\n" + more + "\npaths: {/x: {post: {operationId: op, parameters: " + parameters + "}}}"
		_, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{}`)
		if len(found) != 1 || found[0].Code != codeBroken || !strings.Contains(found[0].Message, says) {
			t.Errorf("%s: %v, want %q", parameters, found, says)
		}
	}
}

// A query without placeholders is part of the address, as many documents have it.
func TestFixedQueryOfAPath(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := api("/x?action=list", "get", "parameters: [{name: q, in: query}]")
	if out := s.invoke(t, i, doc, `{"q":1}`); out.Failure != nil || s.seen.RequestURI != "/x?action=list&q=1" {
		t.Errorf("%+v %s", out.Failure, s.seen.RequestURI)
	}
}

// Half of a step in the document, half of it in the data.
func TestEscapedDotsBesideAnArgument(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := api("/x/%2e{p}/y", "get", "parameters: [{name: p, in: path}]")
	if f := s.invoke(t, i, doc, `{"p":"."}`).Failure; f == nil || f.Name != effect.InvalidArguments || !strings.Contains(f.Detail, `the step "%2e."`) || s.calls > 0 {
		t.Errorf("%+v", f)
	}
	if out := s.invoke(t, i, doc, `{"p":"well-known"}`); out.Failure != nil || s.seen.RequestURI != "/x/%2ewell-known/y" {
		t.Errorf("%+v", out.Failure)
	}
}

func TestOperatorsHeadersJoinTheDocuments(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := strings.ReplaceAll(api("/x", "post", `
parameters:
- {name: theme, in: cookie}
- {name: session, in: cookie, required: true}
- {name: X-Key, in: header, required: true}
requestBody: {content: {application/x-www-form-urlencoded: {schema: {properties: {a: {type: string}}}}}}
`), "SERVER", s.URL)
	call, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{"theme":"dark","session":"mine","a":"b"}`)
	if len(found) > 0 {
		t.Fatal(found)
	}
	given := http.Header{"Cookie": {"session=theirs; more=1"}, "Content-Type": {"application/json"}, "X-Key": {"k"}}
	out := i.Call(context.Background(), call, Extra{Header: given})
	if out.Failure != nil {
		t.Fatal(out.Failure.Detail)
	}
	for name, want := range map[string]string{
		"Cookie": "theme=dark; session=theirs; more=1", "Content-Type": "application/x-www-form-urlencoded", "X-Key": "k",
	} {
		if got := s.seen.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// What the operator gives needs no argument.
	call.Args = value(t, `{"theme":"dark"}`)
	if out := i.Call(context.Background(), call, Extra{Header: given}); out.Failure != nil {
		t.Error(out.Failure.Detail)
	}
	given.Set("Cookie", "more=1")
	if f := i.Call(context.Background(), call, Extra{Header: given}).Failure; f == nil || !strings.Contains(f.Detail, `"session" is missing`) {
		t.Errorf("%+v", f)
	}
}

func TestSwagger2FormTakesNoUndeclaredFields(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := "swagger: '2.0'\nhost: HOST\nschemes: [http]\npaths: {/x: {post: {operationId: op, parameters: [{name: size, in: formData, type: string}]}}}"
	for _, args := range []string{`{"body":{"size":"1","sise":"2"}}`, `{"size":"1","sise":"2"}`} {
		f := s.invoke(t, i, doc, args).Failure
		if f == nil || f.Name != effect.InvalidArguments || !strings.Contains(f.Detail, `there is no parameter "sise"; did you mean "size"?`) || s.calls > 0 {
			t.Errorf("%s: %+v", args, f)
		}
	}
	if out := s.invoke(t, i, doc, `{"body":{"size":"1"}}`); out.Failure != nil || s.body != "size=1" {
		t.Errorf("%+v %s", out.Failure, s.body)
	}
}

func TestEndlessSchemaBlamesTheDocument(t *testing.T) {
	for name, schemas := range map[string]string{
		"itself":     "{$ref: '#/s'}",
		"allOf":      "{allOf: [{type: string}, {$ref: '#/s'}]}",
		"not":        "{not: {$ref: '#/s'}}",
		"dependent":  "{dependentSchemas: {a: {$ref: '#/s'}}}",
		"by another": "{anyOf: [{$ref: '#/r'}]}\nr: {if: {$ref: '#/s'}}",
	} {
		doc := "openapi: 3.1.0\nservers: [{url: https://x}]\npaths: {/p: {get: {operationId: op, parameters: [{name: a, in: query, schema: {$ref: '#/s'}}]}}}\ns: " + schemas
		call, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{}`)
		if len(found) != 1 || found[0].Code != codeUnchecked || !strings.Contains(found[0].Message, `parameter "a" is not checked: it refers to itself endlessly`) {
			t.Errorf("%s: %v", name, found)
		}
		o, err := newInvoker(t).operation(context.Background(), call, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, f := o.request(value(t, `{"a":{"a":"1"}}`), nil); f != nil {
			t.Errorf("%s: the argument is blamed: %s", name, f.Detail)
		}
	}
	// A tree refers to itself, but each time for a smaller part of the value.
	doc := "openapi: 3.1.0\nservers: [{url: https://x}]\npaths: {/p: {post: {operationId: op, requestBody: {content: {application/json: {schema: {$ref: '#/s'}}}}}}}\n" +
		"s: {properties: {left: {$ref: '#/s'}, all: {items: {allOf: [{$ref: '#/s'}]}}}}"
	if _, found := pinnedCall(t, dialect.MapBundle{"api.yaml": []byte(doc)}, "api.yaml#op", `{}`); len(found) > 0 {
		t.Errorf("a tree: %v", found)
	}
}

func TestDeepObjectNeedsAnObject(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := api("/x", "get", "parameters: [{name: filter, in: query, style: deepObject}]")
	for args, kind := range map[string]string{`{"filter":"red"}`: "a string", `{"filter":5}`: "a number", `{"filter":["a"]}`: "an array"} {
		f := s.invoke(t, i, doc, args).Failure
		if f == nil || f.Name != effect.InvalidArguments || !strings.Contains(f.Detail, `the argument "filter": deepObject needs an object, not `+kind) || s.calls > 0 {
			t.Errorf("%s: %+v", args, f)
		}
	}
}

// In a path or a query there is only text: the items of a list have no other type.
func TestItemsOfListsAreText(t *testing.T) {
	s, i := newService(t), newInvoker(t)
	doc := api("/x/{p}", "get", `
parameters:
- {name: p, in: path, schema: {type: array, items: {type: string}}}
- {name: q, in: query, schema: {type: array, items: {type: string, maxLength: 5}}}
- {name: n, in: query, schema: {type: array, items: {type: integer}}}
- {name: o, in: query, schema: {type: object, additionalProperties: {type: string}}}
`)
	if out := s.invoke(t, i, doc, `{"p":[1,true],"q":[2.5,"x",false],"n":["3",4],"o":{"k":5}}`); out.Failure != nil {
		t.Error(out.Failure.Detail)
	} else if want := "/x/1,true?q=2.5&q=x&q=false&n=3&n=4&k=5"; s.seen.RequestURI != want {
		t.Errorf("got  %s\nwant %s", s.seen.RequestURI, want)
	}
	calls := s.calls
	for args, says := range map[string]string{
		`{"p":[1],"n":["x"]}`:    "/n/0: ",
		`{"p":[1],"q":[123456]}`: "/q/0: ",
		`{"p":[{"a":1}]}`:        "/p/0: ",
	} {
		if f := s.invoke(t, i, doc, args).Failure; f == nil || f.Name != effect.SchemaViolation || !strings.Contains(f.Detail, says) {
			t.Errorf("%s: %+v", args, f)
		}
	}
	open := api("/x", "get", "parameters: [{name: q, in: query}]")
	if f := s.invoke(t, i, open, `{"q":["a",{"b":1}]}`).Failure; f == nil || !strings.Contains(f.Detail, `the argument "q": item 1 is an object, and only an array of simple values can be written`) {
		t.Errorf("%+v", f)
	}
	if s.calls != calls {
		t.Error("something was sent")
	}
}

// A call that fails for its document says for which reason.
func TestFailuresHaveTheCodeOfTheDocument(t *testing.T) {
	bundle := dialect.MapBundle{
		"torn.yaml":  []byte("openapi: [3"),
		"other.json": []byte(`{"type":"object"}`),
		"api.yaml":   []byte("openapi: 3.1.0\npaths: {/x: {get: {operationId: op}}}"),
	}
	for operation, want := range map[string]string{
		"none.yaml#op": codeOpen, "torn.yaml#op": codeRead, "other.json#op": codeNoOpenAPI, "api.yaml#po": codeNoID, "api.yaml#op": codeBroken,
	} {
		call, found := pinnedCall(t, bundle, operation, `{}`)
		if len(found) != 1 || found[0].Code != want {
			t.Errorf("%s: %v", operation, found)
		}
		f := newInvoker(t).Invoke(context.Background(), call).Failure
		if f == nil || f.Name != effect.NotFound || f.Code != want || Hint(f.Code) == "" {
			t.Errorf("%s: %+v, want %s", operation, f, want)
		}
	}
	if Hint("404") != "" || Hint(codeUnchecked) != "" {
		t.Error("a hint for what is no failure of a document")
	}
}

func TestRetypeLeavesWhatIsNotBlamed(t *testing.T) {
	v := value(t, `{"a":["1",2,{"b":"x"}],"c":"3"}`)
	got := retype(v, "", map[string]bool{"/a/0": true, "/a/1": true, "/a/2/b": true})
	if want := value(t, `{"a":[1,"2",{"b":"x"}],"c":"3"}`); !expr.Equal(got, want) {
		t.Errorf("%s", got)
	}
}
