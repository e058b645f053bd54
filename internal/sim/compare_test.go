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
)

var (
	flagSeed  = flag.Uint64("sim.seed", 0, "replay this one seed of TestOracle")
	flagCases = flag.Int("sim.cases", 8000, "how many seeds TestOracle runs")
	flagFrom  = flag.Uint64("sim.from", 1, "the first seed of TestOracle")
	flagIn    = flag.String("sim.dialect", "", "let TestOracle run only cases in this dialect: sw05, sw02, sw01, wfx, sw06, sw07, sw08, sw09 (later: these four) or sw10")
	flagFast  = flag.Bool("sim.failfast", false, "let TestOracle stop at the first disagreement, and not shrink it")
	flagShow  = flag.Int("sim.show", 3, "how many disagreements TestOracle shrinks and shows")
)

// features are what the cases of each dialect must come by together, see Outcome.Reached.
var features = map[string][]string{"sw05": features05, "sw02": features02, "sw01": features01, "wfx": featuresWFX, "later": features08, "sw10": features10}

var features05 = []string{
	"state event", "state operation", "state switch", "state delay", "state parallel", "state subflow", "state inject", "state foreach", "state callback",
	"end default", "end terminate", "end event", "a terminate inside a subflow", "a terminate inside a parallel", "a terminate inside a foreach",
	"parallel ", "parallel and", "parallel xor", "parallel n_of_m", "parallel actions", "a failing branch", "a failing iteration", "items that go on after a failing one", "a cancelled branch",
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

var features02 = []string{
	"state event", "state operation", "state switch", "state delay", "state parallel", "state subflow", "state inject", "state foreach", "state callback",
	"a state inside of a state", "iterations of states", "the output of filtered states", "a part of an error in the data", "a repeatable interval",
	"end default", "end terminate", "end event", "a terminate inside a subflow", "a terminate inside a parallel", "a terminate inside a foreach",
	"parallel ", "parallel and", "parallel xor", "parallel n_of_m", "parallel actions", "a failing branch", "a failing iteration", "items that go on after a failing one", "a cancelled branch",
	"an empty collection", "a missing collection", "a foreach that is held back by max",
	"a data condition", "the default of a switch", "an event condition", "the timeout of a switch",
	"an error that is handled", "a retry", "retries used up", "a restricted transition",
	"a produced event", "an action by events", "the timeout of a call", "the timeout of an action by events",
	"the timeout of an event state", "the timeout of a callback", "an event state that needs all events",
	"an early event", "an event with the right correlation", "an event with another correlation", "an event of its own",
	"a start by events", "a start by several events, complete or lapsed",
	"a child that nobody waits for", "a child that is not active", "a child's child", "a result that is no object",
	"an instance that is completed", "an instance that is failed", "an instance that is cancelled", "an instance that is waiting",
}

var features01 = []string{
	"state event", "state operation", "state switch", "state delay", "state parallel", "state subflow", "state end",
	"a state without a next one", "end: true", "an end with FAILURE", "a state that is entered again", "a delay until an instant",
	"a path that selects nothing", "a result path", "no actions", "parallel actions", "the timeout of a call",
	"a branch in a branch", "a branch that nobody waits for", "a failing branch", "a cancelled branch", "a child that nobody waits for",
	"a choice", "the default of a switch", "the end of a switch", "a switch without a match", "condition and", "condition or", "condition not", "condition single",
	"operator eq", "operator lt", "operator lteq", "operator gt", "operator gteq", "operator equals", "operator lessthan", "operator lessthanequals", "operator greaterthan", "operator greaterthanequals",
	"operator streq", "operator strlt", "operator strlteq", "operator strgt", "operator strgteq", "operator exists",
	"a retry", "retries used up", "the next-state of a retry", "a repeatable interval", "a result that is asked for again",
	"match *", "match SYS.MatchAny", "match SYS.Fail", "match SYS.Timeout", "match SYS.Permission", "match SYS.InvalidParameter", "match another text",
	"an entry that holds", "an event that did not come", "a lapse to the END state", "a lapse without one END state", "an early event",
	"an event with the right correlation", "an event with another correlation",
	"a start by events", "a start by several events, complete or lapsed", "a start event for a running instance", "half of another start", "a child's child",
	"an instance that is completed", "an instance that is failed", "an instance that is cancelled", "an instance that is waiting",
}

var featuresWFX = []string{
	"an immediate transition", "a chain of immediate transitions", "a transition of CLIENT", "a transition of WFX", "a transition that is refused",
	"news of a state", "news of a final state", "a time limit", "a state of a group", "a stale update", "an update of another client",
	"another definition", "other tags", "a job that is completed", "a job that is waiting",
}

// tally sums what many cases gave.
type tally struct {
	mu       sync.Mutex
	compared int
	open     map[string]int
	cases    map[string]int // by dialect
	reached  map[string]int // likewise
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
	sum := &tally{open: map[string]int{}, cases: map[string]int{}, reached: map[string]int{}, why: map[uint64]string{}}
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
	t.Logf("by dialect: %s", counts(sum.cases))
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

// generate makes the case of a seed, in the dialect that is asked for, or in one of its family.
func generate(seed uint64) *Case {
	var asked []*Dialect
	for i := range Dialects {
		if d := &Dialects[i]; *flagIn != "" && (d.Name == *flagIn || d.Family == *flagIn) {
			asked = append(asked, d)
		}
	}
	if len(asked) == 0 {
		return Generate(seed)
	}
	return asked[seed%uint64(len(asked))].Generate(seed)
}

func (s *tally) add(seed uint64) {
	c := generate(seed)
	want, diff, open := compare(context.Background(), c)
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
	s.cases[c.Language()]++
	for what := range want.Reached {
		s.reached[c.Covered()+": "+what]++
	}
}

// check asserts that the generator makes everything there is, and little in vain.
func (s *tally) check(t *testing.T) {
	if *flagCases < 3000 || *flagIn != "" {
		return
	}
	for language, list := range features {
		for _, want := range list {
			if s.reached[language+": "+want] == 0 {
				t.Errorf("no case of %s comes by %q", language, want)
			}
		}
	}
	for what := range s.reached {
		if language, what, _ := strings.Cut(what, ": "); !slices.Contains(features[language], what) && !slices.Contains(rare08, what) {
			t.Errorf("cases of %s come by %q, which is not in the list", language, what)
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
	small := Shrink(ctx, generate(seed))
	want, _ := Interpret(small)
	got, err := executeSafely(ctx, small)
	t.Errorf("seed %d: %s\n\nThe smallest case:\n%s\nThe interpreter:\n%s\nThe kernel:\n%s\nReplay with: go test ./internal/sim -run TestOracle -sim.dialect=%s -sim.seed=%d",
		seed, Difference(want, got, err), small, want, got.like(want), small.Language(), seed)
}

// replay runs one seed again, whole.
func replay(t *testing.T, seed uint64) {
	c := generate(seed)
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
