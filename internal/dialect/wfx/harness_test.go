package wfx

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// complete makes a workflow of an excerpt of its top level.
func complete(excerpt string) string {
	if strings.HasPrefix(excerpt, "- ") {
		return excerpt // meant as a whole
	}
	for _, part := range []struct{ key, text string }{
		{"name", "name: dishes\n"},
		{"states", "states:\n- {name: DIRTY}\n- {name: CLEAN}\n"},
		{"transitions", "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n"},
	} {
		if !regexp.MustCompile(`(?m)^` + part.key + `:`).MatchString(excerpt) {
			excerpt += part.text
		}
	}
	return excerpt
}

// section of a golden file: each begins with a line "-- name --".
type section struct{ name, text string }

func readSections(t testing.TB, path string) (sections []section) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(source)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(name, " --") {
			sections = append(sections, section{name: strings.TrimSuffix(name, " --")})
		} else if len(sections) > 0 {
			sections[len(sections)-1].text += line
		}
	}
	return sections
}

func golden(t testing.TB) []string {
	t.Helper()
	compiled, _ := filepath.Glob("testdata/compile/*.txtar")
	diagnosed, _ := filepath.Glob("testdata/diagnose/*.txtar")
	if len(compiled) == 0 || len(diagnosed) == 0 {
		t.Fatal("no golden files")
	}
	return append(compiled, diagnosed...)
}

// workflows are all sources of the tests: name and text.
func workflows(t testing.TB) []section {
	t.Helper()
	var all []section
	for _, file := range golden(t) {
		for _, s := range readSections(t, file) {
			if strings.HasPrefix(s.name, "definition.") {
				all = append(all, section{filepath.Base(file), s.text})
			}
		}
	}
	examples, _ := filepath.Glob("../../../examples/jobs/*.yaml")
	for _, file := range examples {
		if strings.HasSuffix(file, "_test.yaml") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, section{filepath.Base(file), string(text)})
	}
	for _, e := range Codes() {
		all = append(all, section{e.Code + " bad", complete(e.Bad)}, section{e.Code + " good", complete(e.Good)})
	}
	return all
}

func compileText(source string) (*ir.Program, dialect.Diagnostics) {
	c, found := dialect.NewRegistry(FrontEnd{}).Compile("w.yaml", []byte(source), nil, dialect.Options{Dialect: Name})
	return c.Program, found
}

func codesOf(ds dialect.Diagnostics) []string {
	var codes []string
	for _, d := range ds {
		codes = append(codes, d.Code)
	}
	return codes
}

func lines(ds dialect.Diagnostics) string {
	if len(ds) == 0 {
		return ""
	}
	return ds.Error() + "\n"
}
