package catalogue

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
)

// A function's type says which kind is meant; other types are the author's own.
func TestTypeSelectsTheKind(t *testing.T) {
	c, _, found := Read(context.Background(), "functions.yaml", []byte("functions:\n  f: {builtin: echo}\n"), options(t))
	if found.HasErrors() {
		t.Fatal(found)
	}
	for typ, ok := range map[string]bool{"": true, "builtin": true, "Builtin": true, "cloud": true, "http": false, "EXEC": false} {
		out := c.Invoke(context.Background(), effect.Call{Function: "f", Type: typ, Args: value(t, `{"a":1}`)})
		if (out.Failure == nil) != ok {
			t.Errorf("type %q: %+v", typ, out)
		}
		if !ok && (out.Failure.Name != effect.NotFound || !strings.Contains(out.Failure.Detail, `of type "builtin"`)) {
			t.Errorf("type %q: %+v", typ, out.Failure)
		}
	}
}
