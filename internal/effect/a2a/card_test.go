package a2a

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
)

// TestFind: what is wrong with a card and with the constants of a call, and nothing where expressions decide.
func TestFind(t *testing.T) {
	const (
		good   = `{"url":"https://agent.example.com/a2a","capabilities":{"streaming":true}}`
		plain  = `{"url":"https://agent.example.com/a2a"}`
		closed = `{"url":"https://agent.example.com/a2a","security":[{"oauth":["a"]},{"key":[]}]}`
		either = `{"url":"https://agent.example.com/a2a","security":[{"oauth":["a"]},{}]}`
		send   = `{"method":"message/send","parameters":{"message":{"parts":[{"kind":"text","text":"x"}]}}`
	)
	for _, c := range []struct{ card, args, want string }{
		{good, send + `}`, ""},
		{good, `{"method":"message/stream","parameters":"${ . }"}`, ""},
		{good, `{"method":"message/stream","parameters":{"message":"${ . }"}}`, ""},
		{good, `{"method":"message/stream","parameters":{"message":{"parts":"${ . }"}}}`, ""},
		{"", `{"method":"tasks/get","parameters":{"id":"${ .id }"}}`, ""},
		{either, send + `}`, ""},
		{closed, send + `,"server":{"uri":"https://agent.example.com","authentication":{"bearer":{"token":"x"}}}}`, ""},
		{"", `{"method":"message/send"}`, "CALL003 message/send needs parameters.message"},
		{"", `{"method":"message/send","parameters":{"message":{"role":"user"}}}`, "CALL003 message/send needs parameters.message.parts"},
		{"", `{"method":"message/send","parameters":{"message":{"parts":[]}}}`, "CALL003 message/send needs parameters.message.parts, at least one"},
		{"", `{"method":"tasks/get","parameters":{"historyLength":1}}`, "CALL003 tasks/get needs parameters.id"},
		{"", `{"method":"tasks/pushNotificationConfig/delete","parameters":{"id":"x"}}`, "CALL003 tasks/pushNotificationConfig/delete needs parameters.pushNotificationConfigId"},
		{plain, `{"method":"tasks/resubscribe","parameters":{"id":"x"}}`, "CALL003 tasks/resubscribe needs an agent with capabilities.streaming"},
		{plain, `{"method":"agent/getAuthenticatedExtendedCard"}`, "CALL003 agent/getAuthenticatedExtendedCard needs an agent with supportsAuthenticatedExtendedCard"},
		{closed, send + `}`, "CALL003 the agent demands authentication (oauth, key), and the call has none"},
		{good, send + `,"server":{"uri":"https://example.com","authentication":{"bearer":{"token":"x"}}}}`, "CALL003 the authentication is for https://example.com, and the agent card says"},
		{`{"name":"x"}`, send + `}`, "CALL001 the agent card has no url"},
		{"missing", send + `}`, "CALL001 the agent card cannot be opened"},
	} {
		dir := t.TempDir()
		fn := pin.Function{Name: "f", ID: dialect.Pos{File: "x.yaml", Line: 1, Column: 1}, Document: dialect.Pos{File: "x.yaml", Line: 1, Column: 1}, Calls: []pin.Call{{With: value(t, c.args)}}}
		if c.card != "" {
			fn.Operation = route.Operation{Kind: route.Other, Document: "card.json", ID: "a2a"}
		}
		if c.card != "" && c.card != "missing" {
			if err := os.WriteFile(filepath.Join(dir, "card.json"), []byte(c.card), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f := pin.NewFinder(t.Context(), dialect.DirBundle(dir), pin.Definition{File: "x.yaml"})
		root := Kind{}.Find(f, fn)
		found := f.Diagnostics()
		if (c.want == "") != (len(found) == 0) || c.want != "" && !strings.HasPrefix(found[0].Code+strings.TrimPrefix(found[0].Message, `call "f":`), c.want) {
			t.Errorf("%s %s: %v\nwant %s", c.card, c.args, found, c.want)
		}
		if usable := c.card != "" && !strings.HasPrefix(c.want, "CALL001"); (root != "") != usable {
			t.Errorf("%s: pinned as %q", c.card, root)
		}
	}
}
