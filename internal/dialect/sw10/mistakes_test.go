package sw10

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMistakes reads testdata/mistakes.txt: a heading, a definition or an excerpt of one, and what
// is reported about it. Excerpts that are a list of tasks have do: before them.
func TestMistakes(t *testing.T) {
	const path = "testdata/mistakes.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	seen := map[string]bool{}
	for _, section := range strings.Split(string(text), "=== ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		source, want, _ := strings.Cut(rest, "---\n")
		_, found := read(t, complete(source), dialect.Options{Functions: []string{"notify"}})
		var got strings.Builder
		for _, d := range found {
			seen[d.Code] = true
			got.WriteString(strings.TrimPrefix(d.String(), "f:") + "\n")
		}
		if got.String() != want && !*update {
			t.Errorf("%s:\n%s\nwant\n%s", name, got.String(), want)
		}
		out.WriteString("=== " + name + "\n" + source + "---\n" + got.String())
	}
	for _, e := range Codes() {
		if !seen[e.Code] {
			t.Errorf("no mistake leads to %s", e.Code)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
