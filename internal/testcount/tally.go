package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// tally counts what "go test -json" reports.
type tally struct{ passed, failed, skipped int }

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed", t.passed, t.failed)
}

// event is one line of "go test -json" (see "go doc test2json"). Lines about a
// build have an ImportPath instead of a Package.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// pkg is what is known of one package so far.
type pkg struct {
	tally
	output map[string][]string // by test, "" for the package itself
	broken []string            // tests that failed, in the order in which they ended
	cached bool
}

// read adds one run to the tally and shows each package when it ends.
func (t *tally) read(in io.Reader, out io.Writer) error {
	packages := map[string]*pkg{}
	builds := map[string][]string{} // output by import path
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(out, "%s", line) // not an event: show it as it is
			} else if e.ImportPath != "" {
				builds[e.ImportPath] = append(builds[e.ImportPath], e.Output)
			} else {
				t.take(e, packages, builds, out)
			}
		}
		switch {
		case err == io.EOF:
			return t.finish(packages, out)
		case err != nil:
			return err
		}
	}
}

// take handles one event of a package.
func (t *tally) take(e event, packages map[string]*pkg, builds map[string][]string, out io.Writer) {
	p := packages[e.Package]
	if p == nil {
		p = &pkg{output: map[string][]string{}}
		packages[e.Package] = p
	}
	ended := e.Action == "pass" || e.Action == "fail" || e.Action == "skip"
	switch {
	case e.Action == "output":
		p.output[e.Test] = append(p.output[e.Test], e.Output)
		p.cached = p.cached || e.Test == "" && strings.Contains(e.Output, "\t(cached)")
	case ended && e.Test != "":
		p.ended(e)
	case ended:
		if e.Action == "fail" && p.failed == 0 {
			p.failed++ // without a test of its own to blame
		}
		p.show(e, builds[e.FailedBuild], out)
		t.add(p)
		delete(packages, e.Package)
	}
}

// ended counts a test, and keeps its output only if it failed.
func (p *pkg) ended(e event) {
	switch e.Action {
	case "pass":
		p.passed++
	case "fail":
		p.failed++
		p.broken = append(p.broken, e.Test)
		return
	case "skip":
		p.skipped++
	}
	delete(p.output, e.Test)
}

// show prints a package's line, and before it what failed.
func (p *pkg) show(e event, build []string, out io.Writer) {
	if e.Action == "fail" {
		for _, text := range build {
			fmt.Fprint(out, text)
		}
		for _, test := range p.broken {
			showTest(p.output[test], out)
			delete(p.output, test)
		}
		p.rest(out)
	}
	verdict := map[string]string{"pass": "ok  ", "fail": "FAIL", "skip": "-   "}[e.Action]
	note := fmt.Sprintf("%d passed, %.1fs", p.passed, e.Elapsed)
	switch {
	case p.cached:
		note = fmt.Sprintf("%d passed, cached", p.passed)
	case p.failed > 0:
		note = fmt.Sprintf("%d passed, %d failed, %.1fs", p.passed, p.failed, e.Elapsed)
	case e.Action == "skip":
		note = "no tests"
	}
	if p.skipped > 0 {
		note += fmt.Sprintf(", %d skipped", p.skipped)
	}
	fmt.Fprintf(out, "%s %s (%s)\n", verdict, e.Package, note)
}

// showTest prints the output of a failed test, the line with its name first.
func showTest(lines []string, out io.Writer) {
	isName := func(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "--- FAIL") }
	if i := slices.IndexFunc(lines, isName); i >= 0 {
		fmt.Fprint(out, strings.TrimLeft(lines[i], " "))
	}
	for _, text := range lines {
		if !isName(text) && !strings.HasPrefix(text, "=== ") {
			fmt.Fprint(out, text)
		}
	}
}

// rest prints the output of what never ended and of the package itself: a panic
// or a deadline leaves its trace there.
func (p *pkg) rest(out io.Writer) {
	tests := make([]string, 0, len(p.output))
	for test := range p.output {
		tests = append(tests, test)
	}
	slices.Sort(tests)
	for _, test := range tests {
		for _, text := range p.output[test] {
			if !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, "FAIL") && text != "PASS\n" {
				fmt.Fprint(out, text)
			}
		}
	}
}

func (t *tally) add(p *pkg) {
	t.passed += p.passed
	t.failed += p.failed
	t.skipped += p.skipped
}

// finish counts packages whose end was never reported.
func (t *tally) finish(packages map[string]*pkg, out io.Writer) error {
	names := make([]string, 0, len(packages))
	for name := range packages {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := packages[name]
		p.failed++
		p.show(event{Action: "fail", Package: name}, nil, out)
		t.add(p)
	}
	return nil
}
