package sw10

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// program is the program of a definition.
func program(t *testing.T, source string) *ir.Program {
	t.Helper()
	doc, found := dialect.Read("f", []byte(complete(source)))
	p, more := FrontEnd{}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
	if p == nil {
		t.Fatal(append(found, more...))
	}
	return p
}

// Calls whose host data may choose are guarded, those whose endpoint it gives are open, and those that refer
// to $authorization are authorized; no others.
func TestGuardedCalls(t *testing.T) {
	for _, c := range []struct{ with, want string }{
		{`{method: get, endpoint: "https://example.com/a"}`, "call:http"},
		{`{method: get, endpoint: "https://example.com/{path}?q={q}"}`, "call:http"},
		{`{method: get, endpoint: "https://{host}/a"}`, "call:http!"},
		{`{method: get, endpoint: "https://example.com{port}/a"}`, "call:http!"},
		{`{method: get, endpoint: "${ .address }"}`, "call:http!*"},
		{`{method: get, endpoint: "${ .address + $authorization.scheme }"}`, "call:http!*$"},
		{`{method: get, endpoint: "https://example.com/a", headers: {A: "${ $authorization.scheme }"}}`, "call:http$"},
		{`{method: get, endpoint: {uri: "${ .address }"}}`, "call:http!"},
		{`{method: get, endpoint: {uri: "https://example.com", authentication: {basic: {username: "${ .u }", password: p}}}}`, "call:http"},
		{`{method: get, endpoint: {uri: "https://example.com", authentication: {oauth2: {authority: "https://id.example", grant: client_credentials, client: {id: "${ .id }"}}}}}`, "call:http"},
		{`{method: get, endpoint: {uri: "https://example.com", authentication: {oauth2: {authority: "${ .authority }", grant: client_credentials}}}}`, "call:http!"},
		{`{method: get, endpoint: {uri: "https://example.com", authentication: {oidc: {authority: "${ .authority }", grant: client_credentials}}}}`, "call:http!"},
		{`{method: get, endpoint: {uri: "https://example.com", authentication: {oauth2: {authority: "https://id.example", grant: client_credentials, endpoints: {token: "${ .token }"}}}}}`, "call:http!"},
		{`{method: get, endpoint: {uri: "https://example.com", authentication: {use: fixed}}}`, "call:http"},
		{`{method: get, endpoint: {uri: "https://example.com", authentication: {use: chosen}}}`, "call:http!"},
	} {
		p := program(t, `
use:
  authentications:
    fixed: {oauth2: {authority: "https://id.example", grant: client_credentials}}
    chosen: {oauth2: {authority: "${ .authority }", grant: client_credentials}}
do:
- a: {call: http, with: `+c.with+`}
`)
		if got := p.Functions[0]; got.Operation != c.want || got.Name != "a" || got.Type != "http" {
			t.Errorf("%s: %+v, want the operation %s", c.with, got, c.want)
		}
	}
}

// A call of OpenAPI names its document.
func TestOpenAPIOperation(t *testing.T) {
	for _, c := range []struct{ more, want string }{
		{"", "call:openapi:https://example.com/api.json#getPet"},
		{`, authentication: {oidc: {authority: "${ .a }", grant: client_credentials}}`, "call:openapi!:https://example.com/api.json#getPet"},
	} {
		p := program(t, `- a: {call: openapi, with: {document: {endpoint: "https://example.com/api.json"}, operationId: getPet, parameters: {id: "${ .id }"}`+c.more+`}}
`)
		if got := p.Functions[0].Operation; got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// An authentication that is named stands in the arguments, with the places of its own texts; what it
// asks for is bound.
func TestNamedAuthentication(t *testing.T) {
	const use = `
use:
  authentications:
    one: {basic: {username: "${ $input.user }", password: "${ .password }"}}
do:
`
	for _, c := range []struct{ task, want string }{
		{
			`- a: {call: http, with: {method: get, endpoint: {uri: "https://example.com", authentication: {use: one}}, query: {q: "${ .q }"}}}`,
			`{"endpoint":{"authentication":{"basic":{"password":"${ .password }","username":"${ $input.user }"}},"uri":"https://example.com"},"method":"get","query":{"q":"${ .q }"}}`,
		},
		{
			`- a: {call: openapi, with: {document: {endpoint: "https://example.com/a.json"}, operationId: b, authentication: one, parameters: {q: "${ .q }"}}}`,
			`{"authentication":{"basic":{"password":"${ .password }","username":"${ $input.user }"}},"document":{"endpoint":"https://example.com/a.json"},"operationId":"b","parameters":{"q":"${ .q }"}}`,
		},
	} {
		p := program(t, use+c.task)
		var args ir.Expr
		bound := false
		for _, n := range p.Nodes {
			switch op := n.Op.(type) {
			case *ir.Call:
				args = p.Exprs[op.Args]
			case *ir.Eval:
				bound = bound || op.Put.Var == varInput
			}
		}
		if args.Src != c.want {
			t.Errorf("the arguments are\n%s, want\n%s", args.Src, c.want)
		}
		lines := strings.Split(complete(use+c.task), "\n")
		for i, want := range []string{`"${ .password`, `"${ $input`, `"${ .q`} {
			if at := args.Parts[i]; !strings.HasPrefix(lines[at.Line-1][at.Column-1:], want) {
				t.Errorf("part %d is at %+v, which is not %s", i, at, want)
			}
		}
		if !bound {
			t.Error("$input is not bound")
		}
	}
}

// TestProgramsOfTasks: a process is a call whose arguments are the process as written, with return and await where
// they are not the default.
func TestProgramsOfTasks(t *testing.T) {
	for _, c := range []struct{ run, operation, metadata, args string }{
		{`{shell: {command: "echo ${HOME}", arguments: ["${ .a }"]}}`, "call:shell&", `{"target":"echo ${HOME}"}`, `{"arguments":["${ .a }"],"command":"echo ${HOME}"}`},
		{`{shell: {command: ls}, return: all, await: true}`, "call:shell&", `{"target":"ls"}`, `{"command":"ls","return":"all"}`},
		{`{script: {language: js, source: {endpoint: f.js}}, await: false}`, "call:script&:f.js", `{"target":"js"}`, `{"await":false,"language":"js","source":{"endpoint":"f.js"}}`},
		{`{container: {image: x}}`, "call:container&", `{"name":"example","namespace":"test","target":"x"}`, `{"image":"x"}`},
	} {
		p := program(t, "- a: {run: "+c.run+"}\n")
		if f := p.Functions[0]; f.Operation != c.operation || f.Metadata != c.metadata {
			t.Errorf("%s: %s %s", c.run, f.Operation, f.Metadata)
		}
		for _, n := range p.Nodes {
			if call, ok := n.Op.(*ir.Call); ok && p.Exprs[call.Args].Src != c.args {
				t.Errorf("%s: %s", c.run, p.Exprs[call.Args].Src)
			}
		}
	}
}
