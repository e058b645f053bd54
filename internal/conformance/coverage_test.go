package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCoverage checks the pages that list the sections of a specification: every case that a page links exists,
// and every case is linked in the row of each section that its first line names.
func TestCoverage(t *testing.T) {
	for page, folder := range map[string]string{"coverage-0.8.md": "sw08", "coverage-1.0.md": "sw10"} {
		t.Run(page, func(t *testing.T) {
			paths, err := filepath.Glob(folder + "/*.txtar")
			if err != nil || len(paths) == 0 {
				t.Fatal("no cases", err)
			}
			rows := coverageRows(t, page, folder, paths)
			for _, path := range paths {
				checkCovered(t, page, path, rows)
			}
		})
	}
}

// coverageRows returns the cases that a page links, by section.
func coverageRows(t *testing.T, page, folder string, paths []string) map[string][]string {
	text, err := os.ReadFile(filepath.Join("../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	link := regexp.MustCompile(`\[([^\]]*)\]\(\.\./internal/conformance/` + folder + `/([^)]*)\.txtar\)`)
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
			if !slices.Contains(paths, filepath.Join(folder, m[2]+".txtar")) {
				t.Errorf("%s: %s is linked, but there is no such case", page, m[2])
			}
			rows[section] = append(rows[section], m[2])
		}
	}
	return rows
}

var sectionsNamed = regexp.MustCompile(`§([A-Z][A-Za-z0-9 -]*[A-Za-z])`)

// checkCovered expects a case in the rows of the sections that it names.
func checkCovered(t *testing.T, page, path string, rows map[string][]string) {
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	folder, name := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".txtar")
	head, _, _ := strings.Cut(string(source), ":")
	named := sectionsNamed.FindAllStringSubmatch(head, -1)
	if len(named) == 0 {
		t.Errorf("%s: the first line names no section, as in \"# ref §For: …\"", path)
	}
	for _, m := range named {
		if !slices.Contains(rows[m[1]], name) {
			t.Errorf("%s: add [%s](../internal/conformance/%s/%[2]s.txtar) to the row %[4]s", page, name, folder, m[1])
		}
	}
}
