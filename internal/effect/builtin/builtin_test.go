package builtin

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
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
