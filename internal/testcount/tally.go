package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
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
	test   string // the one that started last, and when
	since  time.Time
}

// report shows one run of go test: each package when it ends and, in between, what is running.
type report struct {
	total *tally
	now   func() time.Time

	mu       sync.Mutex // progress is printed by a goroutine of its own
	out      io.Writer
	packages map[string]*pkg
	builds   map[string][]string // output by import path
	quiet    bool                // no package ended since the last line of progress
}

func newReport(total *tally, out io.Writer, now func() time.Time) *report {
	return &report{total: total, now: now, out: out, packages: map[string]*pkg{}, builds: map[string][]string{}}
}

// read adds the run to the tally.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		switch {
		case err == io.EOF:
			return r.finish()
		case err != nil:
			return err
		}
	}
}

func (r *report) line(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var e event
	switch {
	case json.Unmarshal(line, &e) != nil:
		fmt.Fprintf(r.out, "%s", line) // not an event: show it as it is
	case e.ImportPath != "":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
	default:
		r.take(e)
	}
}

// take handles one event of a package.
func (r *report) take(e event) {
	p := r.packages[e.Package]
	if p == nil {
		p = &pkg{output: map[string][]string{}}
		r.packages[e.Package] = p
	}
	ended := e.Action == "pass" || e.Action == "fail" || e.Action == "skip"
	switch {
	case e.Action == "run":
		p.test, p.since = e.Test, r.now()
	case e.Action == "output":
		p.output[e.Test] = append(p.output[e.Test], e.Output)
		p.cached = p.cached || e.Test == "" && strings.Contains(e.Output, "\t(cached)")
	case ended && e.Test != "":
		p.ended(e)
	case ended:
		if e.Action == "fail" && p.failed == 0 {
			p.failed++ // no test is to blame
		}
		p.show(e, r.builds[e.FailedBuild], r.out)
		r.quiet = false
		r.total.add(p)
		delete(r.packages, e.Package)
	}
}

// progressEvery prints what is running at each interval in which no package ended, until stop
// is called.
func (r *report) progressEvery(interval time.Duration) (stop func()) {
	ticker := time.NewTicker(interval)
	done := make(chan struct{})
	var printing sync.WaitGroup
	printing.Go(func() {
		for {
			select {
			case <-ticker.C:
				r.progress()
			case <-done:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		printing.Wait()
	}
}

// progress prints for each package the test that started last, unless a package ended since
// the last time.
func (r *report) progress() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.quiet {
		r.quiet = true
		return
	}
	running := false
	for _, name := range slices.Sorted(maps.Keys(r.packages)) {
		if p := r.packages[name]; p.test != "" {
			running = true
			fmt.Fprintf(r.out, "…    %s: %d passed, in %s for %.0fs\n", name, p.passed, p.test, r.now().Sub(p.since).Seconds())
		}
	}
	if !running {
		fmt.Fprintln(r.out, "…    building")
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

// rest prints the output of tests that never ended and of the package itself, where a panic or a
// deadline leaves its trace.
func (p *pkg) rest(out io.Writer) {
	for _, test := range slices.Sorted(maps.Keys(p.output)) {
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
func (r *report) finish() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.packages)) {
		p := r.packages[name]
		p.failed++
		p.show(event{Action: "fail", Package: name}, nil, r.out)
		r.total.add(p)
	}
	return nil
}
