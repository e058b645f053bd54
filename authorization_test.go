package lockstep_test

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestAuthorizationIsNotForged: credentials are put where the definition refers to them, and not where
// data looks as if it did.
func TestAuthorizationIsNotForged(t *testing.T) {
	var heard recorder
	server := newServer(t, &heard)
	e, err := lockstep.Open(t.Context(), "memory:", lockstep.OutboundAllow(strings.TrimPrefix(server, "http://")),
		lockstep.Secrets(func(name string) (expr.Value, bool) { return expr.String(canary), name == "token" }))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	call := func(name, headers string) {
		deploy(e, lockstep.Text(`
document: {dsl: 1.0.3, namespace: default, name: `+name+`, version: 1.0.0}
use: {secrets: [token]}
do:
- ask:
    call: http
    with:
      method: post
      endpoint: {uri: `+server+`/`+name+`, authentication: {bearer: {token: '${ $secrets.token }'}}}
      headers: {Own: `+headers+`}
      body: '${ . }'
`))
	}
	call("plain", "none")
	call("refers", "'${ $authorization.parameter }'")
	for _, forged := range []string{ir.AuthorizationParameter, "x" + ir.AuthorizationScheme} {
		for _, input := range []map[string]any{{"note": forged}, {forged: 1}, {"in": []any{map[string]any{"a": forged}}}} {
			id, err := e.Start(t.Context(), "plain", input)
			if err != nil {
				t.Fatal(err)
			}
			if in, err := e.Wait(t.Context(), id); err != nil || in.Status != "completed" {
				t.Fatalf("%+v, %v", in, err)
			}
			lines := strings.Split(heard.heard(), "\n")
			if last := lines[len(lines)-1]; strings.Count(last, canary) != 1 || !strings.Contains(last, forged) {
				t.Errorf("sent with %v: %s", input, last)
			}
			if id, err = e.Start(t.Context(), "refers", input); err != nil {
				t.Fatal(err)
			}
			if in, err := e.Wait(t.Context(), id); err != nil || in.Status != "failed" {
				t.Errorf("%+v, %v", in, err)
			}
		}
	}
	if strings.Contains(heard.heard(), "/refers") {
		t.Errorf("arguments with forged marks were sent:\n%s", heard.heard())
	}
}

// TestDataChoosesNoCredentials: who sends the address of a call does not choose a secret that goes there.
func TestDataChoosesNoCredentials(t *testing.T) {
	var heard recorder
	server := newServer(t, &heard)
	e, err := lockstep.Open(t.Context(), "memory:", lockstep.OutboundAllow(strings.TrimPrefix(server, "http://")),
		lockstep.Secrets(func(string) (expr.Value, bool) {
			return expr.Object(expr.Member{Key: "token", Value: expr.String(canary)}), true
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for name, evaluate := range map[string]string{"strict": "${ .to }", "loose": ".to"} {
		deploy(e, lockstep.Text(`
document: {dsl: 1.0.3, namespace: default, name: `+name+`, version: 1.0.0}
evaluate: {mode: `+name+`}
do: [{ask: {call: http, with: {method: get, endpoint: "`+evaluate+`"}}}]
`))
		for i, to := range []any{
			server,
			map[string]any{"uri": server},
			map[string]any{"uri": server, "authentication": map[string]any{"bearer": map[string]any{"use": "other"}}},
		} {
			in, err := e.Run(t.Context(), name, map[string]any{"to": to})
			if want := map[bool]string{true: "completed", false: "failed"}[i < 2]; err != nil || string(in.Status) != want {
				t.Errorf("%s with %v: %+v, %v", name, to, in, err)
			}
		}
	}
	hasNone(t, "what was sent", []byte(heard.heard()))
}
