//go:build unix

package docs

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/nodetest"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var update = flag.Bool("update", false, "write what commands print into the pages")

// pages are all pages of the repository that readers follow.
func pages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md", "deploy/*.md", "examples/README.md", "examples/*/README.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	if len(out) < 30 {
		t.Fatalf("only %d pages", len(out))
	}
	return out
}

// readPage reads a page.
func readPage(t *testing.T, file string) *page {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parse(strings.TrimPrefix(filepath.ToSlash(file), "../../"), string(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPages carries out every page.
func TestPages(t *testing.T) {
	program, err := nodetest.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range pages(t) {
		path := strings.TrimPrefix(filepath.ToSlash(file), "../../")
		t.Run(path, func(t *testing.T) {
			p := readPage(t, file)
			before := strings.Join(p.lines, "\n")
			follow(t, p, program)
			if changed := strings.Join(p.lines, "\n"); *update && changed != before {
				if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// follow does what a page says, from its first line to its last.
func follow(t *testing.T, p *page, program string) {
	t.Helper()
	var r *reader
	moved := 0 // by how many lines an update moved what follows
	for _, s := range p.steps {
		if s.file == "" && s.command == "" {
			continue // TestParts
		}
		if s.elsewhere {
			if strings.HasPrefix(s.command, "lockstep ") {
				checkFlags(t, p, s, program)
			}
			continue
		}
		if r == nil {
			r = newReader(t, program)
		}
		if s.command == "" {
			write(t, p, s, r)
			continue
		}
		got, ok, err := r.run(strings.ReplaceAll(s.command, "go run ./cmd/lockstep", "lockstep"))
		switch {
		case err != nil:
			t.Fatalf("%s:%d: %s: %v", p.path, s.line, s.command, err)
		case len(s.shown) == 0 && ok, len(s.shown) > 0 && fits(s.shown, got):
		case *update && len(s.shown) > 0:
			at := s.line + strings.Count(s.command, "\n") + moved
			p.lines = slices.Replace(p.lines, at, at+len(s.shown), got...)
			moved += len(got) - len(s.shown)
		default:
			t.Errorf("%s:%d: %s\nprints\n%s\nthe page shows\n%s", p.path, s.line, s.command, strings.Join(got, "\n"), strings.Join(s.shown, "\n"))
		}
	}
}

var flagOf = regexp.MustCompile(`(?:^|\s)(--[a-z][a-z-]*)`)

// checkFlags checks that a command which cannot be run here knows the flags that it is given.
func checkFlags(t *testing.T, p *page, s step, program string) {
	t.Helper()
	var words []string
	for _, word := range strings.Fields(s.command)[1:] {
		if !regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(word) {
			break
		}
		words = append(words, word)
	}
	help, err := exec.Command(program, append(words, "--help")...).CombinedOutput()
	if err != nil {
		t.Errorf("%s:%d: %s: %v\n%s", p.path, s.line, s.command, err, help)
	}
	for _, flag := range flagOf.FindAllStringSubmatch(s.command, -1) {
		if !strings.Contains(string(help), flag[1]+" ") {
			t.Errorf("%s:%d: lockstep %s has no flag %s", p.path, s.line, strings.Join(words, " "), flag[1])
		}
	}
	if strings.HasPrefix(s.command, "lockstep serve ") && !strings.Contains(s.command, "postgres://") {
		checkSettings(t, p, s, program)
	}
}

// absentFile is what "serve --check" says of a file that only the other machine has.
var absentFile = regexp.MustCompile(`there is no file|no such file`)

// checkSettings checks the values of a server's flags as well.
func checkSettings(t *testing.T, p *page, s step, program string) {
	t.Helper()
	check := exec.Command("bash", "-c", strings.Replace(s.command, "lockstep", `"$0"`, 1)+" --check", program)
	check.Dir = t.TempDir()
	if out, err := check.CombinedOutput(); err != nil && !absentFile.Match(out) {
		t.Errorf("%s:%d: %s: %v\n%s", p.path, s.line, s.command, err, out)
	}
}

// write writes a file that a page shows.
func write(t *testing.T, p *page, s step, r *reader) {
	t.Helper()
	where, err := r.folder()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(where, filepath.FromSlash(s.file))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(r.actual(s.text)), 0o644); err != nil {
		t.Fatalf("%s:%d: %v", p.path, s.line, err)
	}
}

// TestFits: what pages show is compared line by line.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		shown, got string
		want       bool
	}{
		{"a\nb", "a\nb", true},
		{"a", "a\nb", false},
		{"a\n…", "a\nb\nc", true},
		{"…\nc", "a\nb\nc", true},
		{"id …", "id k7f3", true},
		{"id … x", "id k7f3 y", false},
		{"a.c", "abc", false},
	} {
		if got := fits(split(c.shown), split(c.got)); got != c.want {
			t.Errorf("%q against %q: %v", c.shown, c.got, got)
		}
	}
}
