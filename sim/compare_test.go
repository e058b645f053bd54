package sim

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/ir"
)

var (
	flagSeed  = flag.Uint64("sim.seed", 0, "replay this one seed of TestOracle")
	flagCases = flag.Int("sim.cases", 2000, "how many seeds TestOracle runs")
	flagFrom  = flag.Uint64("sim.from", 1, "the first seed of TestOracle")
	flagFast  = flag.Bool("sim.failfast", false, "let TestOracle stop at the first disagreement, and not shrink it")
	flagShow  = flag.Int("sim.show", 3, "how many disagreements TestOracle shrinks and shows")
)

// features are what the cases must come by together, see Outcome.Reached.
var features = []string{
	"state event", "state operation", "state switch", "state delay", "state parallel", "state subflow", "state inject", "state foreach", "state callback",
	"end default", "end terminate", "end event", "a terminate inside a subflow", "a terminate inside a parallel", "a terminate inside a foreach",
	"parallel ", "parallel and", "parallel xor", "parallel n_of_m", "parallel actions", "a failing branch", "a failing iteration", "a cancelled branch",
	"an empty collection", "a missing collection", "a foreach that is held back by max",
	"a data condition", "the default of a switch", "an event condition", "the timeout of a switch",
	"an error that is handled", "a retry", "retries used up", "a restricted transition", "a compensation",
	"a produced event", "an action by events", "the timeout of a call", "the timeout of an action by events",
	"the timeout of an event state", "the timeout of a callback", "an event state that needs all events",
	"an early event", "an event with the right correlation", "an event with another correlation",
	"an event of its own", "an event of another instance", "a start by events", "a start by several events, complete or lapsed", "a start event for a running instance",
	"a child that nobody waits for", "a child that is not active", "a child's child",
	"a state that is entered again", "data that is no object", "a result that is no object",
	"an instance that is completed", "an instance that is failed", "an instance that is cancelled", "an instance that is waiting",
}

// tally sums what many cases gave.
type tally struct {
	mu       sync.Mutex
	compared int
	open     map[string]int
	reached  map[string]int
	ops      map[string]int
	bad      []uint64
	why      map[uint64]string
}

func (s *tally) found() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bad) > 0
}

// TestOracle compares the kernel with the reference interpreter on generated cases.
func TestOracle(t *testing.T) {
	if *flagSeed != 0 {
		replay(t, *flagSeed)
		return
	}
	sum := &tally{open: map[string]int{}, reached: map[string]int{}, ops: map[string]int{}, why: map[uint64]string{}}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(*flagCases) || *flagFast && sum.found() {
					return
				}
				sum.add(*flagFrom + uint64(i))
			}
		})
	}
	wg.Wait()
	if *flagFast {
		if len(sum.bad) > 0 {
			slices.Sort(sum.bad)
			t.Errorf("seed %d disagrees: %s", sum.bad[0], sum.why[sum.bad[0]])
		}
		return
	}
	t.Logf("%d cases: %d compared, left alone: %s", *flagCases, sum.compared, counts(sum.open))
	t.Logf("operations in the programs compared: %s", counts(sum.ops))
	t.Logf("reached by the cases compared: %s", counts(sum.reached))
	slices.Sort(sum.bad)
	for i, seed := range sum.bad {
		if i == *flagShow {
			t.Errorf("and %d more: %v", len(sum.bad)-i, sum.bad[i:min(len(sum.bad), i+20)])
			break
		}
		show(t, seed)
	}
	sum.check(t)
}

func (s *tally) add(seed uint64) {
	c := Generate(seed)
	diff, open := Disagreement(context.Background(), c)
	out, _ := Interpret(c)
	var programs []*ir.Program
	if seed%16 == 0 { // enough to count operations
		programs, _ = c.Compile()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if open != "" {
		s.open[open]++
		return
	}
	s.compared++
	if diff != "" {
		s.bad = append(s.bad, seed)
		s.why[seed] = diff
		return
	}
	for what := range out.Reached {
		s.reached[what]++
	}
	for _, p := range programs {
		for _, n := range p.Nodes {
			if n.Op != nil {
				s.ops[strings.TrimPrefix(fmt.Sprintf("%T", n.Op), "*ir.")]++
			}
		}
	}
}

// check asserts that the generator makes everything there is, and little in vain.
func (s *tally) check(t *testing.T) {
	if *flagCases < 1000 {
		return
	}
	for _, want := range features {
		if s.reached[want] == 0 {
			t.Errorf("no case comes by %q", want)
		}
	}
	for _, op := range []string{"Eval", "Branch", "Call", "Await", "Emit", "Fan", "Enter", "Spawn", "Raise", "Undo", "End"} {
		if s.ops[op] == 0 {
			t.Errorf("no program has the operation %s", op)
		}
	}
	for why, n := range s.open {
		if strings.Contains(why, "invalid") || strings.Contains(why, "refused") {
			t.Errorf("%d generated cases are not valid: %s", n, why)
		}
	}
	if s.compared*10 < *flagCases*7 {
		t.Errorf("only %d of %d cases could be compared", s.compared, *flagCases)
	}
}

func counts(m map[string]int) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "\n  %6d %s", m[key], key)
	}
	return b.String()
}

// show shrinks a disagreement and prints what is needed to decide who is wrong.
func show(t *testing.T, seed uint64) {
	ctx := context.Background()
	small := Shrink(ctx, Generate(seed))
	want, _ := Interpret(small)
	got, err := executeSafely(ctx, small)
	t.Errorf("seed %d: %s\n\nThe smallest case:\n%s\nThe interpreter:\n%s\nThe kernel:\n%s\nReplay with: go test ./sim -run TestOracle -sim.seed=%d",
		seed, Difference(want, got, err), small, want, got.like(want), seed)
}

// replay runs one seed again, whole.
func replay(t *testing.T, seed uint64) {
	c := Generate(seed)
	want, open := Interpret(c)
	got, err := executeSafely(context.Background(), c)
	t.Logf("seed %d\n%s\nThe interpreter (left alone: %q):\n%s\nThe kernel (error: %v):\n%s", seed, c, open, want, err, got.like(want))
	if open == "" && Difference(want, got, err) != "" {
		show(t, seed)
	}
}

// TestGenerateIsDeterministic: a seed gives one case, and a case one outcome, always.
func TestGenerateIsDeterministic(t *testing.T) {
	for seed := uint64(1); seed <= 200; seed++ {
		a, b := Generate(seed), Generate(seed)
		if a.String() != b.String() {
			t.Fatalf("seed %d gives two cases", seed)
		}
		x, open := Interpret(a)
		if open != "" {
			continue
		}
		y, _ := Interpret(b)
		if x.String() != y.String() {
			t.Fatalf("seed %d has two outcomes:\n%s\n%s", seed, x, y)
		}
	}
}
