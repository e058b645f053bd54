package wfx

import "slices"

// shape checks the graph: one initial state, all others reachable, no cycle. Where a
// way is wrong beyond guessing, only the cycles are certain.
func (c *checker) shape() {
	next := c.successors()
	if !c.vague && len(c.d.transitions) > 0 {
		c.findInitial()
		c.reachable(next)
	}
	c.cycles(next)
}

// successors lists where each state leads to, itself left out and each target once.
func (c *checker) successors() [][]way {
	next := make([][]way, len(c.d.states))
	type pair struct{ from, to *state }
	seen := map[pair]bool{}
	for _, w := range c.likely {
		if p := (pair{w.from, w.to}); w.from != w.to && !seen[p] {
			seen[p] = true
			next[w.from.index] = append(next[w.from.index], w)
		}
	}
	return next
}

// findInitial: jobs begin in the only state that no other leads to.
func (c *checker) findInitial() {
	for _, s := range c.d.states {
		switch {
		case s.in > 0 || c.names.Get(s.name.Text) != s:
		case c.d.initial == nil:
			c.d.initial = s
		default:
			c.r.Errorf(s.name, codeTwoInitial, "two initial states: no transition leads to %q or to %q", s.title(), c.d.initial.title()).
				WithHint("exactly one state is initial; add a transition to the other, or remove it")
		}
	}
	if c.d.initial == nil && len(c.d.states) > 0 {
		c.r.Errorf(c.d.node.Get("states").KeySpan(), codeNoInitial, "no initial state: every state has an incoming transition").
			WithHint("exactly one state is initial: it has no incoming transition but from itself")
	}
}

// reachable reports states that no way leads to from a state that jobs could begin in.
// Where all states lead to one another in cycles there is none, and that is reported.
func (c *checker) reachable(next [][]way) {
	if c.d.initial == nil {
		return
	}
	seen := make([]bool, len(c.d.states))
	var queue []*state
	for _, s := range c.d.states {
		if s.in == 0 {
			seen[s.index] = true
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, w := range next[s.index] {
			if !seen[w.to.index] {
				seen[w.to.index] = true
				queue = append(queue, w.to)
			}
		}
	}
	for _, s := range c.d.states {
		if !seen[s.index] {
			c.r.Errorf(s.name, codeUnreachable, "state %q is unreachable: no path leads to it from %q", s.title(), c.d.initial.title())
		}
	}
}

// cycles reports every transition that leads back to a state on the way to it, in a
// walk that begins with the initial state.
func (c *checker) cycles(next [][]way) {
	const (
		onWay = 1
		done  = 2
	)
	mark := make([]byte, len(c.d.states))
	taken := make([]int, len(c.d.states)) // how many ways out of each state were tried
	var path []*state
	walk := func(from *state) {
		path = append(path[:0], from)
		mark[from.index] = onWay
		for len(path) > 0 {
			s := path[len(path)-1]
			if taken[s.index] == len(next[s.index]) {
				mark[s.index] = done
				path = path[:len(path)-1]
				continue
			}
			w := next[s.index][taken[s.index]]
			taken[s.index]++
			switch mark[w.to.index] {
			case 0:
				mark[w.to.index] = onWay
				path = append(path, w.to)
			case onWay:
				c.cycle(w, path[slices.Index(path, w.to):])
			}
		}
	}
	for _, s := range c.d.states {
		if s.in == 0 && mark[s.index] == 0 {
			walk(s)
		}
	}
	for _, s := range c.d.states {
		if mark[s.index] == 0 {
			walk(s)
		}
	}
}

func (c *checker) cycle(w way, path []*state) {
	c.r.Errorf(w.at.to, codeCycle, "the transition from %q back to %q makes a cycle: %s", w.from.title(), w.to.title(), chain(path)).
		WithHint("jobs only go forward; progress within a state needs no transition")
}
