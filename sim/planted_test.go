package sim

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	flagPlants = flag.Bool("sim.plants", false, "let TestPlantedBugs plant all bugs, not only the quick ones")
	flagUpdate = flag.Bool("sim.update", false, "let TestPlantedBugs write the table of README.md; with -sim.plants")
)

// plantCases is how many cases the oracle gets to find a bug.
const plantCases = 6000

// suite is tests that look for a planted bug.
type suite struct {
	name string
	args []string
}

// suites are tried in order; the first that fails has found the bug.
var suites = []suite{
	{"TestOracle", []string{"./sim", "-run", "^TestOracle$", "-sim.failfast", "-sim.dialect=sw05", fmt.Sprintf("-sim.cases=%d", plantCases)}},
	{"conformance", []string{"./conformance"}},
	{"core's transcripts", []string{"./core", "-run", "Transcript"}},
}

// suites01 look for bugs in version 0.1. What is found by a case bears its name; those that the cases do not find, the oracle must.
var suites01 = []suite{
	{"", []string{"./conformance", "-run", "^TestCases$/^sw01$"}},
	{"TestOracle", []string{"./sim", "-run", "^TestOracle$", "-sim.failfast", "-sim.dialect=sw01", fmt.Sprintf("-sim.cases=%d", plantCases)}},
}

// suitesWFX look for bugs in job workflows.
var suitesWFX = []suite{
	{"TestOracle", []string{"./sim", "-run", "^TestOracle$", "-sim.failfast", "-sim.dialect=wfx", fmt.Sprintf("-sim.cases=%d", plantCases)}},
}

// suitesCluster look for bugs that only several nodes, crashes and lost answers show.
var suitesCluster = []suite{
	{"TestCluster", []string{"./sim/cluster", "-run", "^TestCluster$", "-sim.failfast", "-sim.seeds=10000"}},
}

// suitesSQLite look for bugs that only a crash, a disk that fails or a clock that steps shows.
var suitesSQLite = []suite{
	{"TestCluster", []string{"./sim/cluster", "-run", "^TestCluster$", "-sim.failfast", "-sim.seeds=10000", "-sim.store=sqlite"}},
}

// TestPlantedBugs puts bugs into copies of the kernel's source, one at a time, and
// expects the tests to fail. Nothing in the production code knows about them: the
// copies take the place of the files with go test -overlay.
func TestPlantedBugs(t *testing.T) {
	if len(plants) < 15 || len(plants01) < 15 || len(plantsWFX) < 5 || len(plantsCluster) < 15 {
		t.Errorf("there are only %d planted bugs, %d in version 0.1, %d in jobs, %d of several nodes", len(plants), len(plants01), len(plantsWFX), len(plantsCluster))
	}
	if *flagPlants { // else the other tests of the day say so
		if by := search(t, slices.Concat(suites, suites01, suitesWFX, suitesCluster), nil); by != "" {
			t.Fatalf("%s fails without any planted bug", by)
		}
	}
	table := readTable(t)
	var rows []string
	for _, p := range allPlants() {
		listed := table[p.name]
		if listed == "" && !*flagUpdate {
			t.Errorf("the table of README.md lacks %q: go test ./sim -run TestPlantedBugs -sim.plants -sim.update", p.name)
		}
		file, patched, err := p.patch()
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		if !p.quick && !*flagPlants && !p.today() {
			continue
		}
		t.Run(strings.ReplaceAll(p.name, " ", "-"), func(t *testing.T) {
			look := suites
			switch {
			case slices.Contains(plants01, p):
				look = suites01
			case slices.Contains(plantsWFX, p):
				look = suitesWFX
			case slices.Contains(plantsCluster, p):
				look = suitesCluster
			case slices.Contains(plantsSQLite, p):
				look = suitesSQLite
			}
			by := p.find(t, look, file, patched)
			rows = append(rows, fmt.Sprintf("| %s | `%s` | %s |", p.name, p.in, by))
			switch {
			case by == "":
				t.Error("no test finds it")
			case unnumbered(by) != unnumbered(listed) && !*flagUpdate:
				t.Errorf("%s finds it; README.md says %q", by, listed)
			}
		})
	}
	if *flagUpdate && *flagPlants && !t.Failed() {
		writeTable(t, rows)
	}
}

func allPlants() []plant {
	return slices.Concat(plants, plants01, plantsWFX, plantsCluster, plantsSQLite)
}

// today reports whether it is the turn of a bug that takes longer to look for: each day has two.
func (p plant) today() bool {
	day := int(time.Now().Unix() / (24 * 3600))
	turns := slices.Concat(plantsCluster, plantsSQLite)
	i := slices.Index(turns, p)
	return i >= 0 && i/2 == day%((len(turns)+1)/2)
}

// unnumbered is what found a bug without the seed, which is another one after every change of the generator.
func unnumbered(by string) string {
	name, _, _ := strings.Cut(by, ", seed ")
	return name
}

// patch finds the file of the bug and gives it with the bug in it.
func (p plant) patch() (file, patched string, err error) {
	files, err := filepath.Glob(filepath.Join("..", p.in, "*.go"))
	if err != nil {
		return "", "", err
	}
	n := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return "", "", err
		}
		if found := strings.Count(string(text), p.old); found > 0 {
			n += found
			file, patched = filepath.Base(name), strings.Replace(string(text), p.old, p.new, 1)
		}
	}
	if n != 1 {
		return "", "", fmt.Errorf("package %s has the text %d times, not once; adapt the plant to the code: %q", p.in, n, p.old)
	}
	return file, patched, nil
}

// find runs the suites over the bug and names the first that fails.
func (p plant) find(t *testing.T, look []suite, file, patched string) string {
	dir := t.TempDir()
	original, err := filepath.Abs(filepath.Join("..", p.in, file))
	if err != nil {
		t.Fatal(err)
	}
	copied, list := filepath.Join(dir, file), filepath.Join(dir, "overlay.json")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: copied}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{copied: patched, list: string(overlay)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return search(t, look, []string{"-overlay=" + list})
}

// failedSeed finds the seeds that failed.
var failedSeed = regexp.MustCompile(`(?m): seed (\d+): `)

// failedCase finds the cases that failed.
var failedCase = regexp.MustCompile(`(?m)^ +--- FAIL: TestCases/(\S+)`)

// search runs the suites and names the first that fails, or the case, the first by name,
// where a suite has no name.
func search(t *testing.T, look []suite, flags []string) string {
	for _, s := range look {
		args := slices.Concat([]string{"test", "-vet=off", "-count=1", "-timeout=5m"}, flags, s.args)
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = ".."
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil:
			continue
		case !strings.Contains(string(out), "--- FAIL") && !strings.Contains(string(out), "panic: "):
			t.Fatalf("it does not build or run: %v\n%s", err, out)
		}
		name := s.name
		if cases := failedCase.FindAllStringSubmatch(string(out), -1); name == "" && len(cases) > 0 {
			slices.SortFunc(cases, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
			name = cases[0][1]
		}
		if seeds := failedSeed.FindAllStringSubmatch(string(out), -1); len(seeds) > 0 && name == "TestCluster" {
			first := slices.MinFunc(seeds, func(a, b []string) int { return cmp.Or(cmp.Compare(len(a[1]), len(b[1])), strings.Compare(a[1], b[1])) })
			name += ", seed " + first[1]
		}
		t.Logf("found by %s:\n%s", name, firstLines(string(out), 4))
		return name
	}
	return ""
}

func firstLines(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

const readme = "README.md"

var (
	tableRow  = regexp.MustCompile("(?m)^\\| (.+) \\| `(.+)` \\| (.+) \\|$")
	tableText = regexp.MustCompile("(?s)(\n\\| bug \\| where \\| found by \\|\n\\|---\\|---\\|---\\|\n)(.*?)(\n\n|\n$|$)")
)

// readTable reads what finds which bug from README.md.
func readTable(t *testing.T) map[string]string {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for _, m := range tableRow.FindAllStringSubmatch(string(text), -1) {
		known := false
		for _, p := range allPlants() {
			known = known || p.name == m[1] && p.in == m[2]
		}
		if !known && !*flagUpdate {
			t.Errorf("README.md lists %q in %s, which is no planted bug", m[1], m[2])
		}
		table[m[1]] = m[3]
	}
	return table
}

func writeTable(t *testing.T, rows []string) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	if !tableText.Match(text) {
		t.Fatal("README.md has no table")
	}
	out := tableText.ReplaceAllString(string(text), "${1}"+strings.ReplaceAll(strings.Join(rows, "\n"), "$", "$$")+"${3}")
	if err := os.WriteFile(readme, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
}
