package sw01

import (
	"os"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The definitions in the manual are sound: the first as a whole, the others as far as
// excerpts can be, whose states lead to states that are not shown.
func TestManual(t *testing.T) {
	page, err := os.ReadFile("../../../docs/definitions-0.1.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```yaml\n")[1:]
	if len(blocks) < 9 {
		t.Errorf("only %d examples", len(blocks))
	}
	registry := dialect.NewRegistry(FrontEnds()...)
	for i, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		if i == 0 {
			if c, found := registry.Compile("manual.yaml", []byte(text), nil, dialect.Options{}); c.Program == nil || len(found) > 0 {
				t.Errorf("%v in\n%s", found, text)
			}
			continue
		}
		if strings.HasPrefix(text, "actions:") {
			text = "- name: Call\n  type: OPERATION\n  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
		}
		_, found := registry.Compile("manual.yaml", []byte(complete(text)), nil, dialect.Options{Dialect: Family})
		for _, d := range found {
			switch d.Code {
			case codeNoState, codeNoEvent, codeNoStart, codeUnreachable, codeUnusedEvent, codeNoCorrelation, codeNoName, codeIgnored:
			default:
				t.Errorf("%v in\n%s", d, text)
			}
		}
	}
}
