package examples

import (
	"bytes"
	"os"
	"os/exec"
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

// TestCommands runs what the README says, and compares what it prints. Progress
// is left out: it tells how long things took.
func TestCommands(t *testing.T) {
	program := build(t)
	var commands [][]string
	for _, dir := range folders {
		commands = append(commands, regexp.MustCompile("(?m)^\\$ "+lockstep+" (.*)\n((?:[^$`].*\n)*)").FindAllStringSubmatch(readme(t, dir), -1)...)
	}
	if len(commands) < 2*len(definitions(t)) {
		t.Errorf("only %d commands", len(commands))
	}
	for _, c := range commands {
		arguments, shown := words(c[1]), c[2]
		t.Run(c[1], func(t *testing.T) {
			for _, a := range arguments {
				if !strings.HasPrefix(a, "examples") {
					continue
				}
				if _, err := os.Stat(filepath.Join("..", a)); err != nil {
					t.Error(err)
				}
			}
			run := exec.Command(program, arguments...)
			run.Dir = ".."
			var stdout, stderr bytes.Buffer
			run.Stdout, run.Stderr = &stdout, &stderr
			if err := run.Run(); err != nil {
				t.Fatalf("%v\n%s%s", err, &stdout, &stderr)
			}
			if shown != "" && !strings.HasSuffix(shown, "\n"+stdout.String()) {
				t.Errorf("the README shows\n%sbut it prints\n%s", shown, &stdout)
			}
		})
	}
}

// words splits a command as a shell does, as far as the README needs it.
func words(command string) []string {
	var out []string
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

func readme(t *testing.T, dir string) string {
	t.Helper()
	return string(read(t, filepath.Join(dir, "README.md")))
}

// TestFiveMinutes does what the README at the top asks a newcomer to do: it writes both files, and tests them.
func TestFiveMinutes(t *testing.T) {
	_, walk, found := strings.Cut(readme(t, ".."), "\n## Five minutes\n")
	walk, _, _ = strings.Cut(walk, "\n## ")
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(walk, -1)
	if !found || len(blocks) != 2 {
		t.Fatalf("the README has %d documents there", len(blocks))
	}
	dir := t.TempDir()
	for i, name := range []string{"parcel.yaml", "parcel_test.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(blocks[i][1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := build(t)
	run := func(arguments ...string) string {
		cmd := exec.Command(program, arguments...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("lockstep %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
		return string(out)
	}
	run("validate", "parcel.yaml")
	run("fmt", "--check", ".")
	if out := run("test", "parcel_test.yaml"); !strings.Contains(walk, "\n"+out+"```") {
		t.Errorf("the README does not show what lockstep test prints:\n%s", out)
	}
}

// TestManual08 does what docs/definitions-0.8.md shows: it runs the first definition, tests another one with its
// scenarios, and reads the catalogue.
func TestManual08(t *testing.T) {
	page := string(read(t, "../docs/definitions-0.8.md"))
	dir := t.TempDir()
	for name, begins := range map[string]string{
		"greet.yaml": "id: greet\n", "quote.yaml": "name: quote\n", "quote_test.yaml": "workflow: quote.yaml\n", "functions.yaml": "# functions.yaml, the catalogue",
	} {
		_, block, found := strings.Cut(page, "```yaml\n"+begins)
		block, _, _ = strings.Cut(block, "```")
		if !found {
			t.Fatalf("the page has no %s", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(begins+block), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := build(t)
	run := func(arguments ...string) string {
		cmd := exec.Command(program, arguments...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("lockstep %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
		return string(out)
	}
	_, shown, _ := strings.Cut(page, "\n$ lockstep run greet.yaml --input '")
	input, shown, _ := strings.Cut(shown, "'\n")
	shown, _, _ = strings.Cut(shown, "```")
	if out := run("run", "greet.yaml", "--input", input); !strings.HasSuffix(shown, "\n"+out) {
		t.Errorf("the page shows\n%sbut it prints\n%s", shown, out)
	}
	run("test", "quote_test.yaml")
	run("validate", "--strict", "--functions", "functions.yaml", "quote.yaml")
}

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "lockstep.exe")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/lockstep").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
