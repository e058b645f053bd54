package builtin

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestExplanations: every code has one, and its examples are definitions.
func TestExplanations(t *testing.T) {
	for _, e := range Codes() {
		for name, text := range map[string]string{"bad": e.Bad, "good": e.Good} {
			c, found := dialects.All().Compile("w.yaml", []byte(text), nil, dialect.Options{})
			if c.Program == nil {
				t.Errorf("%s, the %s example: %v", e.Code, name, found)
			} else if refused := len(CheckExec("w.yaml", c.Program)) > 0; refused != (e.Code == codeNoExec && name == "bad") {
				t.Errorf("%s, the %s example runs a program: %t", e.Code, name, refused)
			}
		}
	}
}

// TestPrograms: whatever runs a program on the server's machine is found, wherever it stands.
func TestPrograms(t *testing.T) {
	for _, task := range []string{
		"run: {shell: {command: ls}}",
		"run: {script: {language: js, code: '1'}}",
		"run: {container: {image: busybox}}",
		"call: mcp\n    with: {method: tools/list, transport: {stdio: {command: npx}}}",
		"try: [{inner: {fork: {branches: [{one: {run: {shell: {command: ls}}}}]}}}]\n    catch: {}",
		"call: own",
	} {
		text := "document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0}\n" +
			"use: {functions: {own: {run: {shell: {command: ls}}}}}\ndo:\n- outer:\n    " + task + "\n"
		c, found := dialects.All().Compile("w.yaml", []byte(text), nil, dialect.Options{})
		if c.Program == nil {
			t.Fatalf("%s: %v", task, found)
		}
		refused := CheckExec("w.yaml", c.Program)
		if len(refused) == 0 || refused[0].Code != codeNoExec || !refused.HasErrors() || !strings.Contains(refused[0].Hint, "--allow-exec") {
			t.Errorf("%s: %v", task, refused)
		}
	}
}

// TestDescribedFunctions: functions that the definition describes are listed with where their calls go, need no
// document, and are routed.
func TestDescribedFunctions(t *testing.T) {
	const uri = "https://x.example/p"
	p := &ir.Program{}
	want := []Function{
		{Kind: "http", Target: "GET " + uri},
		{Kind: "rest", Target: "POST " + uri},
		{Kind: "graphql", Target: uri + "#query#pet"},
		{Kind: "odata", Target: uri + "#Persons"},
		{Kind: "log", Target: "WARN"},
		{Kind: "request", Target: "oops", Problem: "its operation describes no request"},
	}
	for _, operation := range []string{
		ir.Request{Protocol: ir.RequestHTTP, Method: "get", URI: uri}.Operation(false),
		ir.Request{Protocol: ir.RequestREST, Method: "POST", URI: uri}.Operation(true),
		ir.Request{Protocol: ir.RequestGraphQL, URI: uri, Kind: "query", Field: "pet"}.Operation(false),
		ir.Request{Protocol: ir.RequestOData, URI: uri, EntitySet: "Persons"}.Operation(false),
		"call:log:WARN", "call:request:oops",
	} {
		p.Functions = append(p.Functions, ir.Function{Operation: operation})
	}
	if got := Functions(p, false, nil); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	client, err := effecthttp.New(effecthttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	r := Router(Options{Client: client}, nil)
	t.Cleanup(r.Close)
	if out := r.Invoke(t.Context(), effect.Call{Operation: "call:log:INFO"}); out.Failure != nil || !out.None {
		t.Errorf("%+v", out)
	}
	out := r.Invoke(t.Context(), effect.Call{Operation: ir.Request{Protocol: ir.RequestREST, Method: "GET", URI: uri + "/{id}"}.Operation(false)})
	if out.Failure == nil || out.Failure.Name != effect.InvalidArguments {
		t.Errorf("%+v", out.Failure)
	}
}

// TestForgedOperations: no document of another dialect makes a call whose compiler did not say what it may reach.
func TestForgedOperations(t *testing.T) {
	for _, operation := range []string{"call:log:INFO", `call:request:{"protocol":"rest","method":"GET","uri":"http://127.0.0.1/"}`, "call:shell&"} {
		quoted, _ := json.Marshal(operation)
		for name, text := range map[string]string{
			"0.5": `{id: w, name: w, version: "1", functions: [{name: f, operation: ` + string(quoted) + `}], states: [{name: S, type: operation, start: {kind: default}, actions: [{functionRef: {refName: f}}], end: {kind: default}}]}`,
			"wfx": `{name: w, functions: [{name: f, operation: ` + string(quoted) + `}], states: [{name: A}, {name: B}], transitions: [{from: A, to: B, eligible: WFX, operation: ` + string(quoted) + `}]}`,
		} {
			c, found := dialects.All().Compile("w.yaml", []byte(text), nil, dialect.Options{})
			if c.Program == nil && !found.HasErrors() {
				t.Errorf("%s: no program and no error", name)
			}
			if name == "0.5" && c.Program != nil {
				t.Errorf("0.5 takes the operation %s", operation)
			}
			for i := 0; c.Program != nil && i < len(c.Program.Functions); i++ {
				if _, ok := ir.BuiltinOf(c.Program.Functions[i].Operation); ok {
					t.Errorf("%s has the operation %s", name, operation)
				}
			}
		}
	}
}
