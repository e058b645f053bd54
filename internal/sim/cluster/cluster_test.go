package cluster

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/sim"
)

var (
	flagSeeds = flag.Int("sim.seeds", 2000, "how many seeds TestCluster runs")
	flagFrom  = flag.Uint64("sim.from", 1, "the first of them")
	flagSeed  = flag.Uint64("sim.seed", 0, "replay this one, and draw it as a sequence diagram")
	flagStore = flag.String("sim.store", "", "run only the seeds on this store: model or sqlite")
	flagFast  = flag.Bool("sim.failfast", false, "let TestCluster stop at the first failure, and not shrink it")
)

// tally sums what many cases gave.
type tally struct {
	mu           sync.Mutex
	steps, calls int
	faults       map[FaultKind]int
	acts         map[ActKind]int
	checks       map[Invariant]int
	calm         int
	oracle       map[string]int // compared with the interpreter, by dialect
	stores       map[string]int
	bad          []uint64
}

// TestCluster plays many cases, each twice.
func TestCluster(t *testing.T) {
	if *flagSeed != 0 {
		replay(t, *flagSeed)
		return
	}
	sum := &tally{faults: map[FaultKind]int{}, acts: map[ActKind]int{}, checks: map[Invariant]int{}, oracle: map[string]int{}, stores: map[string]int{}}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(*flagSeeds) || *flagFast && sum.failed() {
					return
				}
				sum.add(t, *flagFrom+uint64(i))
			}
		})
	}
	wg.Wait()
	t.Logf("seeds, each twice: %s; %d steps, %d calls; %d without faults, of which these are compared with the interpreter: %s\nacts: %s\nfaults: %s\nchecks: %s",
		counts(sum.stores), sum.steps, sum.calls, sum.calm, counts(sum.oracle), counts(sum.acts), counts(sum.faults), counts(sum.checks))
	slices.Sort(sum.bad)
	if len(sum.bad) > 0 && !*flagFast {
		show(t, sum.bad[0])
	}
	sum.check(t)
}

func (s *tally) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bad) > 0
}

func (s *tally) add(t *testing.T, seed uint64) {
	c := Generate(seed)
	if *flagStore != "" && *flagStore != c.Store() {
		return
	}
	a, b := RunSafely(c, false), RunSafely(c, false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stores[c.Store()]++
	s.steps += a.Steps
	s.calls += a.Calls
	for kind, n := range a.Faults {
		s.faults[kind] += n
	}
	for i, n := range a.Checks {
		s.checks[i] += n
	}
	for _, a := range c.Acts {
		s.acts[a.Kind]++
	}
	if len(c.Faults) == 0 {
		if s.calm++; c.Oracle != nil {
			s.oracle[c.Oracle.Language()]++
		}
	}
	switch {
	case a.Err != nil:
		t.Errorf("seed %d: %v", seed, a.Err)
	case a.Hash != b.Hash:
		t.Errorf("seed %d: %s", seed, runsDiffer)
	default:
		return
	}
	s.bad = append(s.bad, seed)
}

// check asserts that the generator makes everything there is, and gives every invariant something to check.
func (s *tally) check(t *testing.T) {
	if *flagSeeds < 500 || *flagFast || *flagStore != "" {
		return
	}
	for _, kind := range slices.Concat(faultKinds, diskFaults, []FaultKind{FaultStall}) {
		if s.faults[kind] == 0 {
			t.Errorf("no case has the fault %q", kind)
		}
	}
	for _, kind := range actKinds {
		if s.acts[kind] == 0 {
			t.Errorf("no case has the act %q", kind)
		}
	}
	for _, i := range invariants {
		if s.checks[i] == 0 {
			t.Errorf("no case could have broken the invariant %q", i)
		}
	}
	for _, d := range sim.Dialects {
		if s.oracle[d.Name] == 0 {
			t.Errorf("nothing was compared with the interpreter of %s", d.Name)
		}
	}
}

func counts[K ~string](m map[K]int) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %d", key, m[key]))
	}
	return strings.Join(out, ", ")
}

// show shrinks a case that fails and prints everything that is needed to understand it.
func show(t *testing.T, seed uint64) {
	small := Shrink(Generate(seed))
	out := RunSafely(small, true)
	if out.Err == nil {
		t.Errorf("of the smallest case whose runs differ like those of seed %d:\n%s\n%s", seed, small, Difference(small))
		return
	}
	t.Errorf("the smallest case that fails like seed %d:\n%s\n%v\n\n%s\nReplay the whole one with: go test ./internal/sim/cluster -v -run TestCluster -sim.seed=%d",
		seed, small, out.Err, Diagram(out.Trace), seed)
}

// replay runs one seed again, whole.
func replay(t *testing.T, seed uint64) {
	c := Generate(seed)
	out := RunSafely(c, true)
	for _, l := range out.Trace {
		t.Log(l)
	}
	t.Logf("seed %d\n%s\n%s", seed, c, Diagram(out.Trace))
	if out.Err != nil {
		show(t, seed)
	}
}
