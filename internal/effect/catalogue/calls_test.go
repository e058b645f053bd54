package catalogue

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
)

// TestCheckCalls: calls of functions by their names are compared with the documents of the catalogue, which are not the
// definition's: what does not fit is an error, unless it is allowed. Headers that the operator gives need no argument.
func TestCheckCalls(t *testing.T) {
	o := options(t)
	o.Bundle = dialect.MapBundle{"api.yaml": []byte(`{"openapi": "3.1.0", "servers": [{"url": "https://x.example"}], "paths": {"/p/{id}": {"get": {
		"operationId": "get", "responses": {}, "parameters": [{"name": "id", "in": "path"}, {"name": "X-Tenant", "in": "header", "required": true}, {"name": "n", "in": "query", "schema": {"type": "integer"}}]}}}}`)}
	c, _, found := Read(t.Context(), "f.yaml", []byte(`functions: {f: {openapi: {document: api.yaml, operation: get, headers: {x-tenant: a}}}, g: {http: {url: "https://x.example"}}}`), o)
	if c == nil || len(found) > 0 {
		t.Fatal(found)
	}
	for version, text := range map[string]string{
		"0.1": `---
{name: w, functions: [{name: f}], states: [{name: S, type: OPERATION, start: true, end: true, action-mode: SEQUENTIAL, actions: [{function: {name: f, parameters: %A}}]}]}`,
		"0.2": `---
{id: w, name: w, version: "1", functions: [{name: f, resource: r}], states: [{name: S, type: OPERATION, start: {kind: DEFAULT}, actions: [{functionRef: {refName: f, parameters: %A}}], end: {kind: DEFAULT}}]}`,
		"0.5": `---
{id: w, name: w, version: "1", functions: [{name: f}, {name: g}], states: [{name: S, type: operation, start: {kind: default}, actions: [{functionRef: {refName: g}}, {functionRef: {refName: f, parameters: %A}}], end: {kind: default}}]}`,
		"0.8": `---
{id: w, name: w, version: "1", specVersion: "0.8", start: S, functions: [{name: f, type: custom, operation: f}], states: [{name: S, type: operation, actions: [{functionRef: {refName: f, arguments: %A}}], end: true}]}`,
		"1.0": `---
{document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0}, do: [{a: {call: f, with: %A}}]}`,
	} {
		for args, want := range map[string]string{
			`{id: $.a, n: 3}`:    "",
			`{id: a, n: many}`:   `CALL006 function "f": the argument "n" must be an integer, not a string`,
			`{id: a, N: many}`:   `CALL005 function "f": "get" takes no argument "N"; did you mean "n"?`,
			`{idd: a}`:           `CALL005 function "f": "get" takes no argument "idd"; did you mean "id"?`,
			`{n: 1}`:             `CALL004 function "f": the argument "id" is missing (a required path parameter of "get")`,
			`{id: a, zzz: true}`: `CALL005 function "f": "get" takes no argument "zzz"; it takes X-Tenant, id, n`,
		} {
			text := strings.ReplaceAll(text, "%A", args)
			d, found := dialects.All().Compile("w.yaml", []byte(text), nil, dialect.Options{Functions: c.Names()})
			if d.Program == nil {
				t.Fatalf("%s: %v", version, found)
			}
			for severity, allow := range map[string]bool{"error": false, "warning": true} {
				got := ""
				for _, one := range c.CheckCalls(t.Context(), pin.Definition{File: "w.yaml", Program: d.Program, Root: d.Document.Root, AllowMismatch: allow}) {
					got += strings.TrimPrefix(one.String(), one.Pos().String()+" "+severity+" ")
				}
				if got != want {
					t.Errorf("%s %s: %s, want %s", version, args, got, want)
				}
			}
		}
	}
}
