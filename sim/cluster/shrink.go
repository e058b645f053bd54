package cluster

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/lockstep-workflows/lockstep/sim"
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

// maxShrinks is how many cases Shrink tries.
const maxShrinks = 3000

// Shrink takes away from a case that fails whatever the failure does not need.
func Shrink(c *Case) *Case {
	for tries := 0; tries < maxShrinks; {
		smaller := false
		for _, next := range c.smaller() {
			if tries++; RunSafely(next, false).Err != nil {
				c, smaller = next, true
				break
			}
		}
		if !smaller {
			break
		}
	}
	return c
}

// size is what is to become less.
func (c *Case) size() (n int) {
	for _, a := range c.Acts {
		n += 1000 + int(min(1, a.At))
	}
	for _, f := range c.Faults {
		n += 1000 + int(min(1, f.For))
	}
	if c.Oracle != nil {
		n++
	}
	return 10*(n+c.Nodes) + int(min(c.Seed, 9))
}

// oracles reports whether an act is of the case whose outcome is known.
func (a *Act) oracles() bool {
	return a.Kind == ActStart && a.What == "main" || a.Kind == ActEvent && a.Event.Source != source || a.What == sim.JobID
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
			n.Acts = slices.DeleteFunc(n.Acts, func(a Act) bool { return a.oracles() })
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
	for i := range c.Faults {
		with(func(n *Case) { n.Faults = slices.Delete(n.Faults, i, i+1) })
	}
	with(func(n *Case) { n.Acts = slices.DeleteFunc(n.Acts, func(a Act) bool { return a.Kind == ActCron }) })
	for i := range c.Acts {
		if c.Acts[i].Kind != ActCron && !(c.Oracle != nil && c.Acts[i].oracles()) { // without the second, the first never ends; without the other, other things come of it
			with(func(n *Case) { n.Acts = slices.Delete(n.Acts, i, i+1) })
		}
	}
	for i := range c.Acts {
		if c.Acts[i].At > 0 && c.Acts[i].Kind != ActCron && !(c.Oracle != nil && c.Acts[i].oracles()) {
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
