package mcp

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// TestFind: what is wrong with the constants of a call, and nothing where expressions decide.
func TestFind(t *testing.T) {
	for args, want := range map[string]string{
		`{"method":"tools/call"}`:                                                     "tools/call needs parameters.name",
		`{"method":"tools/call","parameters":{"name":7}}`:                             "parameters.name must be a text",
		`{"method":"prompts/get","parameters":{"arguments":{}}}`:                      "prompts/get needs parameters.name",
		`{"method":"resources/read","parameters":{}}`:                                 "resources/read needs parameters.uri",
		`{"method":"tools/list","protocolVersion":"2020-01-01"}`:                      `protocolVersion is "2020-01-01", which is not known`,
		`{"method":"tools/list","transport":{"options":{"a":"b"}}}`:                   "transport.options has no meaning here",
		`{"method":"tools/call","parameters":"${ .p }","protocolVersion":"${ .v }"}`:  "",
		`{"method":"tools/call","parameters":{"name":"${ .name }"},"transport":{}}`:   "",
		`{"method":"tools/list","protocolVersion":"2025-03-26","parameters":{"a":1}}`: "",
	} {
		f := pin.NewFinder(t.Context(), dialect.DirBundle(t.TempDir()), pin.Definition{File: "x.yaml"})
		Kind{}.Find(f, pin.Function{Name: "f", ID: dialect.Pos{File: "x.yaml", Line: 1, Column: 1}, Calls: []pin.Call{{With: value(t, args)}}})
		found := f.Diagnostics()
		if wrong := strings.Contains(want, " needs ") || strings.Contains(want, " must be "); found.HasErrors() != wrong {
			t.Errorf("%s: %v, errors: %t", args, found, wrong)
		}
		if (want == "") != (len(found) == 0) || want != "" && (found[0].Code != pin.CodeMismatch || !strings.Contains(found[0].Message, want)) {
			t.Errorf("%s: %v\nwant %s", args, found, want)
		}
	}
}
