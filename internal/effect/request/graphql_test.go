package request

import (
	"encoding/json"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

var pet = ir.Request{Protocol: ir.RequestGraphQL, URI: "SERVER/graphql", Kind: "query", Field: "pet"}

// TestGraphQL: 0.8 §Using Functions for GraphQL Service Invocations. Data is a literal, whatever it looks like.
func TestGraphQL(t *testing.T) {
	s := newService(t, http.Options{}, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		var ask map[string]string
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &ask); err != nil || r.Method != "POST" || r.URL.Path != "/graphql" ||
			r.Header.Get("Content-Type") != "application/json" || len(ask) != 1 || r.Header.Get("Idempotency-Key") != "i1/3.1" {
			t.Errorf("%s %s %v %s", r.Method, r.URL, r.Header, body)
		}
		answer, _ := json.Marshal(map[string]any{"data": ask["query"]})
		w.Header().Set("Content-Type", "application/graphql-response+json")
		w.Write(answer)
	})
	mutation := pet
	mutation.Kind, mutation.Field = "mutation", "createPet"
	for _, c := range []struct {
		r          ir.Request
		args, want string
	}{
		{pet, `{}`, "query { pet }"},
		{pet, `null`, "query { pet }"},
		{pet, `{"arguments":{},"selectionSet":"{ id }"}`, "query { pet { id } }"},
		{
			pet, `{"arguments":{"id":42,"deep":[1.5,null,true,{"a_1":"x"}]},"selectionSet":" { id, treat(n: 1) { id } }\n"}`,
			`query { pet(deep: [1.5, null, true, {a_1: "x"}], id: 42) { id, treat(n: 1) { id } } }`,
		},
		{mutation, `{"arguments":{"pet":{"name":"Sadaharu"}},"selectionSet":"{ id }"}`, `mutation { createPet(pet: {name: "Sadaharu"}) { id } }`},
		{pet, `{"arguments":{"id":"\") { id } users { password } x: pet(id: \""}}`, `query { pet(id: "\") { id } users { password } x: pet(id: \"") }`},
		{pet, `{"arguments":{"id":"\\\n\u0000\"\"\"#"}}`, `query { pet(id: "\\\n\u0000\"\"\"#") }`},
	} {
		s.sent(c.r, c.args, c.want)
	}
}

// TestGraphQLRefusals: names that are none, and selection sets that end early.
func TestGraphQLRefusals(t *testing.T) {
	s := newService(t, http.Options{}, tells)
	for args, text := range map[string]string{
		`[1]`:                                              "must be an object",
		`{"id":1}`:                                         `"id" is not known`,
		`{"arguments":[1]}`:                                "arguments must be an object",
		`{"selectionSet":1}`:                               "selectionSet must be a text",
		`{"arguments":{"a b":1}}`:                          `"a b" cannot be the name`,
		`{"arguments":{"x) { id } users(y":1}}`:            "cannot be the name",
		`{"arguments":{"a":[{"b: 1, c":2}]}}`:              `"b: 1, c" cannot be the name`,
		`{"arguments":{"":1}}`:                             `"" cannot be the name`,
		`{"selectionSet":"id"}`:                            "must be in braces",
		`{"selectionSet":"{ id } users { all }"}`:          "ends before the end",
		`{"selectionSet":"{ id } } query x { a"}`:          "ends before the end",
		`{"selectionSet":"{ id } # {"}`:                    "ends before the end",
		`{"selectionSet":"{ id # }"}`:                      `has no '}'`,
		`{"selectionSet":"{ id"}`:                          `has no '}'`,
		`{"selectionSet":"{ id(a: 1 }"}`:                   `'}' where a ')' must be`,
		`{"selectionSet":"{ id(a: \"}\") "}`:               `has no '}'`,
		`{"selectionSet":"{ id(a: \"x) }"}`:                "text without an end",
		`{"selectionSet":"{ id(a: \"\\\") }"}`:             "text without an end",
		`{"selectionSet":"{ id(a: \"\n\") }"}`:             "text without an end",
		`{"selectionSet":"{ id(a: \"\"\"x\\\"\"\" \") }"}`: "text without an end",
	} {
		s.refused(pet, args, effect.InvalidArguments, text)
	}
	for _, r := range []ir.Request{
		{URI: "SERVER", Kind: "subscription", Field: "pet"},
		{URI: "SERVER", Kind: "query", Field: "pet { id } users"},
		{URI: "https://{host}/", Kind: "query", Field: "pet"},
		{URI: "/graphql", Kind: "query", Field: "pet"},
	} {
		r.Protocol = ir.RequestGraphQL
		s.refused(r, `{}`, effect.NotFound, `function "f"`)
	}
	for _, set := range []string{
		`{ a(b: "}", c: """ } \""" " """) { d } # }` + "\n}", "\n{ ...F ... on Pet { a(b: [1, {c: 2}]) } }\n", `{a(b:""){c}}`, `{a(b:""""""){c}}`,
	} {
		if err := checkSelection(set); err != nil {
			t.Errorf("%s: %v", set, err)
		}
	}
}

// TestGraphQLAnswers: data is the result, errors are a failure whatever the status is.
func TestGraphQLAnswers(t *testing.T) {
	for _, c := range []struct {
		status      int
		media, body string
		want        string
	}{
		{200, "application/json", `{"data":{"pet":{"id":1}}}`, `{"pet":{"id":1}}`},
		{200, "application/json", `{"data":{"pet":null},"errors":[]}`, `{"pet":null}`},
		{
			200, "application/json", `{"data":null,"errors":[{"message":"no such pet","extensions":{"code":"NOT_FOUND"}},{}]}`,
			"GraphQLError  NOT_FOUND no such pet (and 1 more errors)",
		},
		{200, "application/json", `{"errors":[1]}`, "GraphQLError   POST SERVER/graphql answered with an error"},
		{400, "application/graphql-response+json", `{"errors":[{"message":"syntax"}]}`, "GraphQLError 400  syntax"},
		{401, "application/json", `{"error":"Unauthorized"}`, "Unauthorized 401  POST SERVER/graphql answered 401 Unauthorized"},
		{200, "application/json", `{"pet":1}`, "Error  invalid-response "},
		{200, "application/json", `[]`, "Error  invalid-response "},
		{200, "application/json", ``, "Error  invalid-response "},
		{200, "text/html", `<p>`, "Error  invalid-response "},
	} {
		s := newService(t, http.Options{}, says(c.status, c.media, c.body))
		out := s.calls(false, pet, `{"selectionSet":"{ id }"}`)
		got := out.Value.String()
		if f := out.Failure; f != nil {
			got = strings.Join([]string{f.Name, f.Status, f.Code, f.Detail}, " ")
			if f.Name == GraphQLError && f.Data.String() == "null" {
				t.Errorf("%s: the failure has no data", c.body)
			}
		}
		if want := strings.ReplaceAll(c.want, "SERVER", s.url); !strings.HasPrefix(got, want) {
			t.Errorf("%d %s gives %s, want %s", c.status, c.body, got, want)
		}
	}
}

// FuzzSelection: what is taken for one selection set has no second one behind it, however it is quoted.
func FuzzSelection(f *testing.F) {
	f.Add(`{ a(b: "x") { c } }`)
	f.Add(`{ a(b: """ \""" """) } # }`)
	f.Fuzz(func(t *testing.T, text string) {
		if checkSelection(text) != nil {
			return
		}
		if checkSelection(text+" { x }") == nil || checkSelection(text+" }") == nil {
			t.Errorf("%q does not end", text)
		}
	})
}
