package arch_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	tests    = regexp.MustCompile(`\bTest[A-Z]\w*`)
	flags    = regexp.MustCompile(` -([a-z]+(?:\.[a-z]+)?)(?:[ =]|$)`)
	commands = regexp.MustCompile("`((?:go test|go run|make) [^`]*)`")
)

// TestReliabilityNamesWhatThereIs: every test, flag and target that docs/reliability.md names exists, a test in
// the package of its command, and every row of the fault matrix has a command and figures.
func TestReliabilityNamesWhatThereIs(t *testing.T) {
	const root = "../../"
	doc := read(t, root+"docs/reliability.md")
	all := sources(t, root, ".", true)
	for _, name := range tests.FindAllString(doc, -1) {
		if !strings.Contains(all, "func "+name+"(") {
			t.Errorf("there is no %s", name)
		}
	}
	_, matrix, ok := strings.Cut(doc, "\n## The fault matrix\n")
	matrix, _, end := strings.Cut(matrix, "\nLonger runs")
	if !ok || !end {
		t.Fatal("the fault matrix is not found")
	}
	rows := 0
	for line := range strings.Lines(matrix) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| fault |") {
			continue
		}
		rows++
		if len(cells) != 5 || !commands.MatchString(cells[2]) || !strings.ContainsAny(cells[3], "0123456789") {
			t.Errorf("this row has no command, or no figure: %s", line)
		}
	}
	if rows < 25 {
		t.Errorf("the fault matrix has %d rows", rows)
	}
	for _, found := range commands.FindAllStringSubmatch(doc, -1) {
		words := strings.Fields(strings.ReplaceAll(found[1], `\|`, " "))
		if words[0] == "make" {
			if !strings.Contains(read(t, root+"Makefile"), "\n"+words[1]+":") {
				t.Errorf("there is no target of %q", found[1])
			}
			continue
		}
		var packages []string
		for _, w := range words {
			if strings.HasPrefix(w, "./") {
				packages = append(packages, w)
			}
		}
		for _, dir := range packages {
			text := sources(t, root, dir, false)
			for _, name := range tests.FindAllString(found[1], -1) {
				if !strings.Contains(text, "func "+name+"(") {
					t.Errorf("%q: there is no %s in %s", found[1], name, dir)
				}
			}
			for _, f := range flags.FindAllStringSubmatch(found[1], -1) {
				if !slices.Contains([]string{"run", "race", "v", "count", "timeout"}, f[1]) && !strings.Contains(text, `"`+f[1]+`"`) {
					t.Errorf("%q: there is no flag -%s in %s", found[1], f[1], dir)
				}
			}
		}
		if len(packages) == 0 {
			t.Errorf("%q names no package", found[1])
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources is the text of the Go files of a folder, below it too if deep is set.
func sources(t *testing.T, root, dir string, deep bool) string {
	t.Helper()
	var out strings.Builder
	entries, err := os.ReadDir(root + dir)
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		switch {
		case e.IsDir() && deep && !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules" && e.Name() != "testdata":
			out.WriteString(sources(t, root, name, true))
		case strings.HasSuffix(e.Name(), ".go"):
			out.WriteString(read(t, root+name))
		}
	}
	return out.String()
}
