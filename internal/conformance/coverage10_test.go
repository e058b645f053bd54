package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCoverageOf10 checks docs/coverage-1.0.md: every case that it links exists, and every case is linked in
// the row of each section that its first line names.
func TestCoverageOf10(t *testing.T) {
	const page = "../../docs/coverage-1.0.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("sw10/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	rows := map[string][]string{} // the cases of a section
	link := regexp.MustCompile(`\[([^\]]*)\]\(\.\./internal/conformance/sw10/([^)]*)\.txtar\)`)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		section := strings.TrimSpace(cells[1])
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			if m[1] != m[2] {
				t.Errorf("%s: the link to %s is called %s", page, m[2], m[1])
			}
			if !slices.Contains(paths, filepath.Join("sw10", m[2]+".txtar")) {
				t.Errorf("%s: %s is linked, but there is no such case", page, m[2])
			}
			rows[section] = append(rows[section], m[2])
		}
	}
	sections := regexp.MustCompile(`§([A-Z][A-Za-z -]*[A-Za-z])`)
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		head, _, _ := strings.Cut(string(source), ":")
		named := sections.FindAllStringSubmatch(head, -1)
		if len(named) == 0 {
			t.Errorf("%s: the first line names no section, as in \"# ref §For: …\"", path)
		}
		for _, m := range named {
			if !slices.Contains(rows[m[1]], name) {
				t.Errorf("%s: add [%s](../internal/conformance/sw10/%[2]s.txtar) to the row %s", page, name, m[1])
			}
		}
	}
}
