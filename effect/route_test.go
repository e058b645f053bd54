package effect_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

func TestParseOperation(t *testing.T) {
	for text, want := range map[string]effect.Operation{
		"":                             {},
		"https://x/p":                  {Kind: effect.PlainURL, Document: "https://x/p"},
		"HTTPS://x/p#put":              {Kind: effect.PlainURL, Document: "https://x/p", ID: "PUT"},
		"https://x/api.json#getPet":    {Kind: effect.Document, Document: "https://x/api.json", ID: "getPet"},
		"https://x/api.json#TRACE":     {Kind: effect.Document, Document: "https://x/api.json", ID: "TRACE"},
		"api.json#get":                 {Kind: effect.Document, Document: "api.json", ID: "get"},
		"file:api.json#a#b":            {Kind: effect.Document, Document: "file:api.json", ID: "a#b"},
		"api.json":                     {Kind: effect.Document, Document: "api.json"},
		"gopher://127.0.0.1:6379/_x":   {Kind: effect.Document, Document: "gopher://127.0.0.1:6379/_x"},
		"job:firmware.update":          {Kind: effect.Job, ID: "firmware.update"},
		"httpsx://x/p":                 {Kind: effect.Document, Document: "httpsx://x/p"},
		"dir/https://x/not-an-address": {Kind: effect.Document, Document: "dir/https://x/not-an-address"},
	} {
		if got := effect.ParseOperation(text); got != want {
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
	full := &effect.Router{HTTP: by("http"), OpenAPI: by("openapi"), Catalogue: names{"known": true}}
	for _, c := range []struct {
		r                         *effect.Router
		function, operation, want string
	}{
		{full, "known", "https://x/p#GET", "http"},
		{full, "known", "api.yaml#op", "openapi"},
		{full, "known", "", "catalogue"},
		{full, "knwon", "", `the catalogue does not know its name; did you mean "known"?`},
		{&effect.Router{}, "known", "", "there is no catalogue"},
		{&effect.Router{}, "known", "api.yaml#op", "nothing here can call"},
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
