package ir

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestRequest: an operation says all of a request, in whatever text it has.
func TestRequest(t *testing.T) {
	for _, r := range []Request{
		{Protocol: RequestHTTP, Method: "GET", URI: "https://x.example/a#b:{c}?d=1&e=<f>", Headers: json.RawMessage(`{"X-A":"<"}`), Cookies: json.RawMessage("null")},
		{Protocol: RequestREST, Method: "post", URI: "https://{host}/"},
		{Protocol: RequestGraphQL, URI: "https://x.example/graphql", Kind: "query", Field: "pet"},
		{Protocol: RequestOData, URI: "https://x.example/odata", EntitySet: "Persons"},
	} {
		guarded := r.Protocol == RequestREST
		b, ok := BuiltinOf(r.Operation(guarded))
		if !ok || b.Kind != RequestKind || b.Guarded != guarded || b.Open || b.Authorized || b.Exec {
			t.Errorf("%s is read as %+v", r.Operation(guarded), b)
		}
		if got, err := b.Request(); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s gives %+v, %v", r.Operation(guarded), got, err)
		}
	}
	want := `call:request:{"protocol":"rest","method":"GET","uri":"https://x.example/a?b=1&c={d}"}`
	if got := (Request{Protocol: RequestREST, Method: "GET", URI: "https://x.example/a?b=1&c={d}"}).Operation(false); got != want {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"", "x", `{"protocol":"rest","guarded":true}`, `{"protocol":1}`, `{} {}`, `{}}`} {
		if r, err := (Builtin{Kind: RequestKind, Document: text}).Request(); err == nil {
			t.Errorf("%q is read as %+v", text, r)
		}
	}
}

func TestIsLog(t *testing.T) {
	for text, want := range map[string]bool{
		"call:log": true, "call:log:WARN": true, (Builtin{Kind: LogKind, Document: "INFO"}).Operation(): true,
		"": false, "log": false, "call:logs": false, "call:http:log": false, "https://x.example/call:log": false,
	} {
		if IsLog(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
