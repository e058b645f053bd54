package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme: every example has a section that shows its files and its diagram,
// and how it is run and tested, in the README of its folder.
func TestReadme(t *testing.T) {
	for _, path := range definitions(t) {
		dir, name := filepath.Split(bare(path))
		sections := strings.Split(readme(t, dir), "\n## ")[1:]
		from := "examples/" + filepath.ToSlash(dir)
		found := false
		for _, s := range sections {
			if !strings.Contains(s, "(diagrams/"+name+".svg)") {
				continue
			}
			found = true
			for _, want := range []string{
				"](" + filepath.Base(path) + ")", "](" + name + "_test.yaml)",
				"\n$ " + lockstep + " run " + from + filepath.Base(path),
				"\n$ " + lockstep + " test " + from + name + "_test.yaml\n",
			} {
				if !strings.Contains(s, want) {
					t.Errorf("the section of %s lacks %q", path, strings.TrimSpace(want))
				}
			}
		}
		if !found {
			t.Errorf("%s has no section with its diagram", path)
		}
	}
	for _, dir := range folders {
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(readme(t, dir), -1) {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(link[1]))); err != nil {
				t.Errorf("a link that leads nowhere: %v", err)
			}
		}
	}
}

// lockstep is how the README calls the program.
const lockstep = "go run ./cmd/lockstep"

func readme(t *testing.T, dir string) string {
	t.Helper()
	return string(read(t, filepath.Join(dir, "README.md")))
}
