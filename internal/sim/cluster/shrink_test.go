package cluster

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/sim"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// RunSafely is Run, where a panic is an error.
func RunSafely(c *Case, keep bool) (out Result) {
	defer func() {
		if r := recover(); r != nil {
			out.Err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return Run(c, keep)
}

// maxShrinks is after how many cases shrinking ends.
const maxShrinks = 3000

// Shrink takes away from a case that fails whatever it does not need to fail in the same way.
func Shrink(c *Case) *Case {
	how := failure(c, true)
	return trial.Shrink(c, maxShrinks, (*Case).smaller, func(c *Case) bool {
		return failure(c, how == runsDiffer) == how
	})
}

// runsDiffer is the failure of a case that two runs play differently.
const runsDiffer = "two runs of it differ"

// failure says how a case fails, in words that stay the same while it shrinks; "": it does not. Twice: it is run
// once more, and must not differ.
func failure(c *Case, twice bool) string {
	a := RunSafely(c, false)
	switch {
	case a.Err != nil:
		return gist(a.Err)
	case twice && RunSafely(c, false).Hash != a.Hash:
		return runsDiffer
	}
	return ""
}

// gist is an error up to its first colon (of a panic, the second), without the words that have digits: ids, times
// and counts.
func gist(err error) string {
	var out []string
	for word := range strings.FieldsSeq(err.Error()) {
		if !strings.ContainsAny(word, "0123456789") {
			out = append(out, word)
		}
		if strings.HasSuffix(word, ":") && len(out) > 1 {
			break
		}
	}
	return strings.Join(out, " ")
}

// Difference tells where two runs of a case part; "": they do not.
func Difference(c *Case) string {
	a, b := RunSafely(c, true).Trace, RunSafely(c, true).Trace
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nand in another run\n%s", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("one run has %d lines, another %d", len(a), len(b))
	}
	return ""
}

// size is what is to become less.
func (c *Case) size() (n int) {
	for _, a := range c.Acts {
		n += 1000 + int(min(1, a.At))
	}
	for _, f := range c.Faults {
		n += 1000 + int(min(1, f.For.Abs()))
	}
	if c.Oracle != nil {
		n++
	}
	for _, d := range []time.Duration{c.Join, c.Forget, c.Sweep} {
		n += int(min(1, d))
	}
	return 10*(n+c.Nodes) + int(min(c.Seed, 9))
}

// oracles reports whether an act is of the case whose outcome is known.
func (a *Act) oracles(oracle *sim.Case) bool {
	return a.Kind == ActStart && a.What == oracle.ID() || a.Kind == ActEvent && a.Event.Source != source || a.What == sim.JobID
}

// smaller lists cases with one thing less each, the largest things first.
func (c *Case) smaller() (out []*Case) {
	with := func(change func(*Case)) {
		n := *c
		n.Acts, n.Faults = slices.Clone(c.Acts), slices.Clone(c.Faults)
		if change(&n); n.size() < c.size() {
			out = append(out, &n)
		}
	}
	if c.Oracle != nil {
		with(func(n *Case) {
			n.Oracle = nil
			n.Acts = slices.DeleteFunc(n.Acts, func(a Act) bool { return a.oracles(c.Oracle) })
		})
	}
	if c.Nodes > 1 {
		with(func(n *Case) {
			n.Nodes--
			for i := range n.Acts {
				n.Acts[i].Node %= n.Nodes
			}
			n.Faults = slices.DeleteFunc(n.Faults, func(f Fault) bool { return f.Node >= n.Nodes })
		})
	}
	with(func(n *Case) { n.Join = 0 })
	with(func(n *Case) { n.Forget = 0 })
	with(func(n *Case) { n.Sweep = 0 })
	for i := range c.Faults {
		with(func(n *Case) { n.Faults = slices.Delete(n.Faults, i, i+1) })
	}
	with(func(n *Case) { n.Acts = slices.DeleteFunc(n.Acts, func(a Act) bool { return a.Kind == ActCron }) })
	for i := range c.Acts {
		if c.Acts[i].Kind != ActCron && !(c.Oracle != nil && c.Acts[i].oracles(c.Oracle)) { // without the second, the first never ends; without the other, other things come of it
			with(func(n *Case) { n.Acts = slices.Delete(n.Acts, i, i+1) })
		}
	}
	for i := range c.Acts {
		if c.Acts[i].At > 0 && c.Acts[i].Kind != ActCron && !(c.Oracle != nil && c.Acts[i].oracles(c.Oracle)) {
			with(func(n *Case) { n.Acts[i].At = 0 })
		}
	}
	for i := range c.Faults {
		if c.Faults[i].For > 0 {
			with(func(n *Case) { n.Faults[i].For = 0 })
		}
	}
	for _, seed := range []uint64{1, 2, 3} {
		if c.Seed > seed {
			with(func(n *Case) { n.Seed = seed })
		}
	}
	return out
}

// TestShrink: a case that fails keeps what it needs to fail like that, and nothing else.
func TestShrink(t *testing.T) {
	c := Generate(2)
	c.Acts = append([]Act{{Kind: "nonsense"}}, append(c.Acts, Act{Kind: "rubbish", At: time.Minute})...)
	small := Shrink(c)
	if len(small.Acts) != 1 || small.Acts[0].Kind != "nonsense" || len(small.Faults) > 0 || small.Nodes > 1 || small.Oracle != nil {
		t.Errorf("what is left is\n%s", small)
	}
}

// TestGist: ids, times and what follows the first colon do not make another failure.
func TestGist(t *testing.T) {
	for text, want := range map[string]string{
		"event message-3 was consumed by [key:2f a:1]":                "event was consumed by",
		"client 7 has no answer to: at 0s, node 0: start":             "client has no answer to:",
		"after 300000 steps there is still something to do":           "after steps there is still something to do",
		"nobody does what is left: ready [a], 0 produced events":      "nobody does what is left:",
		"the history of key:9a is\n[{2020-01-01T00:00:00Z}]\nand its": "the history of is and its",
	} {
		if got := gist(errors.New(text)); got != want {
			t.Errorf("%q is in short %q, not %q", text, got, want)
		}
	}
}
