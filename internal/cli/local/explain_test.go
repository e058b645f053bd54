package local

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
)

// TestDialectExamplesHold compiles the examples of DIA codes as this program would:
// the dialects in it decide, not those of a test.
func TestDialectExamplesHold(t *testing.T) {
	for _, e := range dialect.Codes() {
		if !strings.HasPrefix(e.Code, "DIA") {
			continue
		}
		for text, want := range map[string]bool{e.Bad: true, e.Good: false} {
			var opts dialect.Options
			if _, rest, ok := strings.Cut(text, "--dialect "); ok {
				opts.Dialect = strings.Fields(rest)[0]
			}
			_, found := dialects.All().Compile("f.yaml", []byte(text), nil, opts)
			if got := slices.ContainsFunc(found, func(d dialect.Diagnostic) bool { return d.Code == e.Code }); got != want {
				t.Errorf("%s is %t for %q:\n%v", e.Code, got, text, found)
			}
		}
		if e.Bad == e.Good {
			t.Errorf("%s has the same example twice", e.Code)
		}
	}
}

// TestFirstExampleIsDetected copies the first definition of the manual, as a reader would.
func TestFirstExampleIsDetected(t *testing.T) {
	page, err := os.ReadFile("../../../docs/definitions-0.5.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	files := dialect.MapBundle{"in.json": []byte("{}"), "out.json": []byte("{}")}
	if c, found := dialects.All().Compile("f.yaml", []byte(text), files, dialect.Options{}); c.Program == nil {
		t.Errorf("%v in\n%s", found, text)
	}
}
