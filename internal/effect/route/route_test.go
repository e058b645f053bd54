package route_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]route.Operation{
		"":                                {},
		"https://x/p":                     {Kind: route.PlainURL, Document: "https://x/p"},
		"HTTPS://x/p#put":                 {Kind: route.PlainURL, Document: "https://x/p", ID: "PUT"},
		"https://x/api.json#getPet":       {Kind: route.Document, Document: "https://x/api.json", ID: "getPet"},
		"https://x/api.json#TRACE":        {Kind: route.Document, Document: "https://x/api.json", ID: "TRACE"},
		"api.json#get":                    {Kind: route.Document, Document: "api.json", ID: "get"},
		"file:api.json#a#b":               {Kind: route.Document, Document: "file:api.json", ID: "a#b"},
		"api.json":                        {Kind: route.Document, Document: "api.json"},
		"gopher://127.0.0.1:6379/_x":      {Kind: route.Document, Document: "gopher://127.0.0.1:6379/_x"},
		"job:firmware.update":             {Kind: route.Job, ID: "firmware.update"},
		"call:http!":                      {Kind: route.PlainURL},
		"call:openapi:HTTP://x/a.json#op": {Kind: route.Document, Document: "http://x/a.json", ID: "op"},
		"call:openapi!:api.yaml#GET":      {Kind: route.Document, Document: "api.yaml", ID: "GET"},
		"call:grpc!:HTTP://x/a.proto#s/m": {Kind: route.Other, Document: "http://x/a.proto", ID: "grpc"},
		"call:shell&":                     {Kind: route.Other, ID: "shell"},
		"httpsx://x/p":                    {Kind: route.Document, Document: "httpsx://x/p"},
		"dir/https://x/not-an-address":    {Kind: route.Document, Document: "dir/https://x/not-an-address"},
	} {
		if got := route.Parse(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

type names map[string]bool

func (n names) Knows(name string) (bool, string) { return n[name], "known" }

func (n names) Invoke(context.Context, effect.Call) effect.Outcome { return says("catalogue") }

func says(text string) effect.Outcome { return effect.Outcome{Value: expr.String(text)} }

// TestRouter: the definition's operation comes before the catalogue.
func TestRouter(t *testing.T) {
	by := func(text string) effect.Invoker {
		return effect.Func(func(context.Context, effect.Call) effect.Outcome { return says(text) })
	}
	full := &route.Router{HTTP: by("http"), OpenAPI: by("openapi"), Catalogue: names{"known": true}, Others: map[string]effect.Invoker{"shell": by("shell")}}
	for _, c := range []struct {
		r                         *route.Router
		function, operation, want string
	}{
		{full, "known", "https://x/p#GET", "http"},
		{full, "known", "api.yaml#op", "openapi"},
		{full, "known", "", "catalogue"},
		{full, "known", "call:http", "http"},
		{full, "known", "call:openapi:api.yaml#op", "openapi"},
		{full, "known", "call:shell&", "shell"},
		{full, "known", "call:grpc", "nothing here can call"},
		{full, "knwon", "", `the catalogue does not have it; did you mean "known"?`},
		{&route.Router{}, "known", "", "there is no catalogue"},
		{&route.Router{}, "known", "api.yaml#op", "nothing here can call"},
	} {
		out := c.r.Invoke(context.Background(), effect.Call{Function: c.function, Operation: c.operation})
		if out.Failure == nil && out.Value.Str() != c.want {
			t.Errorf("%+v: %s", c, out.Value)
		}
		if out.Failure != nil && (out.Failure.Name != effect.NotFound || !strings.Contains(out.Failure.Detail, c.want)) {
			t.Errorf("%+v: %+v", c, out.Failure)
		}
	}
}
