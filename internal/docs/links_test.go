//go:build unix

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fenced  = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	idOf    = regexp.MustCompile(`id="([^"]+)"`)
	noWord  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors are the places of a page that links can name: its headings, as GitHub writes them, and its ids.
func anchors(text string) []string {
	var out []string
	for _, m := range idOf.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		words := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		out = append(out, strings.ReplaceAll(noWord.ReplaceAllString(strings.ToLower(words), ""), " ", "-"))
	}
	return out
}

// TestLinks: what a page refers to in the repository exists, and so does the heading.
func TestLinks(t *testing.T) {
	const root = "../.."
	files := append(pages(t), filepath.Join(root, "ARCHITECTURE.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "CHANGELOG.md"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, ":") {
				continue // elsewhere
			}
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), path)
			}
			there, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() && anchor == "" {
				continue
			}
			if err != nil {
				t.Errorf("%s: %s: %v", file, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(string(there)), anchor) {
				t.Errorf("%s: %s: the page has no such heading", file, m[1])
			}
		}
	}
}
