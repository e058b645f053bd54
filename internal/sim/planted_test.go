package sim

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
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
	flagPlants = flag.Bool("sim.plants", false, "let TestPlantedBugs plant all bugs, not only those of the day")
	flagUpdate = flag.Bool("sim.update", false, "let TestPlantedBugs write the tables of README.md, with what it measured")
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
	{"TestOracle", []string{"./internal/sim", "-run", "^TestOracle$", "-sim.failfast", "-sim.dialect=sw05", fmt.Sprintf("-sim.cases=%d", plantCases)}},
	{"conformance", []string{"./internal/conformance"}},
	{"core's transcripts", []string{"./internal/core", "-run", "Transcript"}},
}

// suites01 look for bugs in version 0.1. What is found by a case bears its name; those that the cases do not find, the oracle must.
var suites01 = []suite{
	{"", []string{"./internal/conformance", "-run", "^TestCases$/^sw01$"}},
	{"TestOracle", []string{"./internal/sim", "-run", "^TestOracle$", "-sim.failfast", "-sim.dialect=sw01", fmt.Sprintf("-sim.cases=%d", plantCases)}},
}

// suites02 look for bugs in 0.1 as released and 0.2.
var suites02 = []suite{
	{"", []string{"./internal/conformance", "-run", "^TestCases$/^sw02$"}},
	{"TestOracle", []string{"./internal/sim", "-run", "^TestOracle$", "-sim.failfast", "-sim.dialect=sw02", fmt.Sprintf("-sim.cases=%d", plantCases)}},
}

// suitesWFX look for bugs in job workflows.
var suitesWFX = []suite{
	{"TestOracle", []string{"./internal/sim", "-run", "^TestOracle$", "-sim.failfast", "-sim.dialect=wfx", fmt.Sprintf("-sim.cases=%d", plantCases)}},
}

// suites08 look for bugs in 0.6 to 0.9.
var suites08 = []suite{
	{"TestOracle", []string{"./internal/sim", "-run", "^TestOracle$", "-sim.failfast", "-sim.dialect=later", fmt.Sprintf("-sim.cases=%d", plantCases)}},
}

// suites10 look for bugs in Open Workflow 1.0.
var suites10 = []suite{
	{"TestOracle", []string{"./internal/sim", "-run", "^TestOracle$", "-sim.failfast", "-sim.dialect=sw10", fmt.Sprintf("-sim.cases=%d", plantCases)}},
}

// suitesCluster look for bugs that only several nodes, crashes and lost answers show.
var suitesCluster = []suite{
	{"TestCluster", []string{"./internal/sim/cluster", "-run", "^TestCluster$", "-sim.failfast", "-sim.seeds=10000"}},
}

// suitesSQLite look for bugs that only a crash, a disk that fails or a clock that steps shows.
var suitesSQLite = []suite{
	{"TestCluster", []string{"./internal/sim/cluster", "-run", "^TestCluster$", "-sim.failfast", "-sim.seeds=10000", "-sim.store=sqlite"}},
}

// kind is bugs that the same tests look for.
type kind struct {
	name   string
	plants []plant
	look   []suite // nil: each bug names its test
	turn   int     // how many of them a day has
}

func kinds() []kind {
	return []kind{
		{"kernel", plants, suites, 2},
		{"sw01", plants01, suites01, 2},
		{"sw02", plants02, suites02, 1},
		{"wfx", plantsWFX, suitesWFX, 1},
		{"sw08", plants08, suites08, 1},
		{"sw10", plants10, suites10, 1},
		{"cluster", plantsCluster, suitesCluster, 1},
		{"sqlite", plantsSQLite, suitesSQLite, 1},
		{"rules", plantsRules, nil, 2},
		{"postgres", plantsPostgres, nil, 1},
		{"convert", plantsConvert, nil, 1},
	}
}

func allPlants() (all []plant) {
	for _, k := range kinds() {
		all = append(all, k.plants...)
	}
	return all
}

// TestPlantedBugs puts bugs into copies of the source, one at a time, and expects the tests to fail.
// Nothing in the production code knows about them: the copies take the place of the files with
// go test -overlay. What is measured of some of them only (-run TestPlantedBugs/cluster) leaves the
// other rows of the table as they are.
func TestPlantedBugs(t *testing.T) {
	table := readTable(t)
	for _, k := range kinds() {
		if len(k.plants) < 10 {
			t.Errorf("there are only %d planted bugs of the kind %s", len(k.plants), k.name)
		}
		t.Run(k.name, func(t *testing.T) {
			if *flagPlants && !*flagUpdate && k.look != nil { // else the other tests of the day say so
				t.Run("nothing", func(t *testing.T) {
					if by := search(t, k.look, nil); by != "" {
						t.Errorf("%s fails without any planted bug", by)
					}
				})
			}
			for i, p := range k.plants {
				listed := table[p.name]
				if listed == "" && !*flagUpdate {
					t.Errorf("the table of README.md lacks %q: go test ./internal/sim -run TestPlantedBugs -sim.plants -sim.update", p.name)
				}
				patched, err := p.patches()
				if err != nil {
					t.Errorf("%s: %v", p.name, err)
					continue
				}
				if !*flagPlants && !k.today(i) {
					continue
				}
				t.Run(strings.ReplaceAll(p.name, " ", "-"), func(t *testing.T) {
					by := p.find(t, k.suites(p), patched)
					table[p.name] = by
					switch {
					case by == "":
						t.Error("no test finds it")
					case unnumbered(by) != unnumbered(listed) && !*flagUpdate:
						t.Errorf("%s finds it; README.md says %q", by, listed)
					}
				})
			}
		})
	}
	if *flagUpdate && !t.Failed() {
		writeTables(t, table)
	}
}

// suites are the tests that look for a bug of the kind.
func (k kind) suites(p plant) []suite {
	if p.by == "" {
		return k.look
	}
	where, test, _ := strings.Cut(p.by, " ")
	return []suite{{p.by, []string{"./" + where, "-run", "^" + strings.ReplaceAll(test, "/", "$/^") + "$", "-failfast", "-timeout=3m"}}} // one that hangs has found it, too
}

// today reports whether it is the turn of a bug: make test looks for some of each kind, other ones each day.
func (k kind) today(i int) bool {
	day := int(time.Now().Unix() / (24 * 3600))
	return i/k.turn == day%((len(k.plants)+k.turn-1)/k.turn)
}

// unnumbered is what found a bug without the seed, which is another one after every change of the generator.
func unnumbered(by string) string {
	name, _, _ := strings.Cut(by, ", seed ")
	return name
}

// patches are the files of the bug, with the bug in them.
func (p plant) patches() (map[string]string, error) {
	out := map[string]string{}
	for next := &p; next != nil; next = next.and {
		file, patched, err := next.patch()
		if err != nil {
			return nil, err
		}
		out[file] = patched
	}
	return out, nil
}

// patch finds the file of the bug and gives it with the bug in it.
func (p plant) patch() (file, patched string, err error) {
	pattern := filepath.Join("..", "..", p.in)
	if filepath.Ext(p.in) == "" {
		pattern = filepath.Join(pattern, "*.go")
	}
	files, err := filepath.Glob(pattern)
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
			file, patched = name, strings.Replace(string(text), p.old, p.new, 1)
		}
	}
	if n != 1 {
		return "", "", fmt.Errorf("%s has the text %d times, not once; adapt the plant to the code: %q", p.in, n, p.old)
	}
	if filepath.Ext(file) == ".go" {
		_, err = parser.ParseFile(token.NewFileSet(), file, patched, parser.SkipObjectResolution)
	}
	return file, patched, err
}

// find runs the suites over the bug and names the first that fails.
func (p plant) find(t *testing.T, look []suite, patched map[string]string) string {
	dir := t.TempDir()
	replace, files := map[string]string{}, map[string]string{}
	for file, text := range patched {
		original, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, filepath.Base(file))
		replace[original], files[copied] = copied, text
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	files[list] = string(overlay)
	for name, text := range files {
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
		args := slices.Concat([]string{"test", "-vet=off", "-count=1", "-timeout=20m"}, flags, s.args)
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = filepath.Join("..", "..")
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
		if name == "TestCluster" {
			seeds := failedSeed.FindAllStringSubmatch(string(out), -1)
			if len(seeds) == 0 {
				t.Logf("no seed of TestCluster finds it:\n%s", firstLines(string(out), 4)) // in the time that it has
				continue
			}
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
