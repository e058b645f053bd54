package ir

import "testing"

func TestBuiltinOperations(t *testing.T) {
	for text, want := range map[string]Builtin{
		"call:http":                     {Kind: "http"},
		"call:http!":                    {Kind: "http", Guarded: true},
		"call:openapi:pets.yaml#getPet": {Kind: "openapi", Document: "pets.yaml#getPet"},
		"call:openapi!:https://x.example/d#get:Pet": {Kind: "openapi", Guarded: true, Document: "https://x.example/d#get:Pet"},
	} {
		got, ok := BuiltinOf(text)
		if !ok || got != want {
			t.Errorf("%s is %+v, %t", text, got, ok)
		}
		if got.Operation() != text {
			t.Errorf("%+v is written %s, want %s", got, got.Operation(), text)
		}
	}
	for _, text := range []string{"", "http://x.example", "job:x", "call:", "call:!", "pets.yaml#getPet"} {
		if got, ok := BuiltinOf(text); ok {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
