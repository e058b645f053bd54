package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// required are the texts among the parameters that each method needs.
var required = map[string][]string{
	"tools/list": nil, methodTool: {"name"},
	"prompts/list": nil, "prompts/get": {"name"},
	"resources/list": nil, "resources/read": {"uri"}, "resources/templates/list": nil,
}

func methods() []string { return slices.Sorted(maps.Keys(required)) }

// missing says what the parameters of a method lack; "": nothing.
func missing(method string, parameters expr.Value) string {
	for _, key := range required[method] {
		switch v, _ := parameters.Get(key); {
		case v.IsNull():
			return fmt.Sprintf("%s needs parameters.%s", method, key)
		case v.Kind() != expr.KindString:
			return fmt.Sprintf("parameters.%s must be a text, not %s", key, v.Kind().WithArticle())
		}
	}
	return ""
}

// Kind checks calls; they need no documents.
type Kind struct{}

var _ pin.Kind = Kind{}

// Find checks the constants of the calls of a function.
func (Kind) Find(f *pin.Finder, fn pin.Function) string {
	for _, call := range fn.Calls {
		args := call.With
		parameters, given := args.Get("parameters")
		if problem := missing(effect.Name(args, "method"), parameters); problem != "" && (!given || parameters.IsObject()) {
			f.Errorf(call.Args.Place("/parameters"), pin.CodeMismatch, "call %q: %s", fn.Name, problem)
		}
		version := effect.Name(args, "protocolVersion")
		if version != "" && !strings.Contains(version, "${") && !slices.Contains(versions, version) {
			f.Warnf(fn.ID, pin.CodeMismatch, "call %q: protocolVersion is %q, which is not known", fn.Name, version).
				WithHint("one of %s", strings.Join(versions, ", "))
		}
		if _, ok := args.Lookup("transport", "options"); ok {
			f.Warnf(fn.ID, pin.CodeMismatch, "call %q: transport.options has no meaning here, and is ignored", fn.Name)
		}
	}
	return ""
}
