package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/log"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/redact"
)

// TestLogCallsHoldNoSecrets: what a workflow logs has no secret in it, also where the log does not redact. Not even a
// piece of one, which is left where a message is cut off.
func TestLogCallsHoldNoSecrets(t *testing.T) {
	var out bytes.Buffer
	secrets := redact.NewSets(func(name string) (expr.Value, bool) { return expr.String("open sesame"), name == "token" })
	h := newHarness(t, nil, func(c *Config) {
		c.Invoker = log.New(slog.New(slog.NewTextHandler(&out, nil)))
		c.Languages, c.Secrets = languages.All(), secrets.For
	})
	b := build("w")
	b.p.Variables, b.p.Secrets = true, []string{"token"}
	b.p.Functions = []ir.Function{{Name: "print", Operation: "call:log:INFO"}}
	message := `{"message": "${ \"x\" * 8190 + $secrets.token }"}`
	h.deploy(b.main(stepOp{"Print", &ir.Call{Args: b.expr(jq.TemplateLang, message), Result: ir.Put{Mode: ir.PutMerge}}}))
	id := h.start("w", `{"a":1}`)
	h.poll()
	if text := out.String(); !strings.Contains(text, "xx… (") || !strings.Contains(text, "instance="+id) {
		t.Errorf("the log is %.200s…%s", text, text[max(0, len(text)-200):])
	}
}
