package postgres

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var (
	flagSeeds  = flag.Int("interleave.seeds", 300, "of how many seeds TestInterleavedTriples takes three operations and an order")
	flagSeed   = flag.Uint64("interleave.seed", 1, "the first of them")
	flagPairs  = flag.Bool("interleave.all", false, "let TestInterleavedPairs take all pairs, not only those that share a topic")
	flagOnly   = flag.String("interleave.only", "", "the only pair that TestInterleavedPairs takes, separated by |")
	flagReplay = flag.String("interleave.replay", "", "what TestInterleavedReplay runs: operations separated by |, a colon, and the order in which they go on, separated by |")
)

// explore tries all orders of actions.
func (l *lab) explore(list ...action) (int, error) {
	return l.driver.explore(func(choose func(choice) *operation, known *bool) error { return l.try(list, choose, known) })
}

// point is where an exploration may go on in several ways.
type point struct {
	can   []string
	steps map[string]step
	sleep map[string]bool // to let these go on now gives nothing that was not there
	done  []string
	pick  string
}

// explore tries all orders, but for those that only differ in steps that may change places (sleep sets, Godefroid 1996),
// and tells how many. What try runs is told by known whether it needs to be checked.
func (d *driver) explore(try func(choose func(choice) *operation, known *bool) error) (n int, err error) {
	var path []*point
	for {
		depth, known := 0, false
		var lost error
		err := try(func(c choice) *operation {
			if known || lost != nil {
				return nil
			}
			if depth == len(path) {
				p := newPoint(path, c)
				if known = p == nil; known {
					return nil
				}
				path = append(path, p)
			}
			p := path[depth]
			depth++
			for _, op := range c.can {
				if op.name == p.pick {
					return op
				}
			}
			lost = fmt.Errorf("%s cannot go on, and could before:\n%s", p.pick, d.story())
			return nil
		}, &known)
		if err != nil || lost != nil {
			return n, cmp.Or(lost, err)
		}
		if !known {
			n++
		}
		for len(path) > 0 && !path[len(path)-1].next() {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return n, nil
		}
	}
}

// newPoint follows a path; nil: whatever is done there gives nothing new.
func newPoint(path []*point, c choice) *point {
	p := &point{steps: map[string]step{}, sleep: map[string]bool{}}
	for _, op := range c.can {
		p.can = append(p.can, op.name)
		p.steps[op.name] = op.next
	}
	if len(path) > 0 {
		last := path[len(path)-1]
		for _, name := range last.can {
			asleep := last.sleep[name] || slices.Contains(last.done, name)
			p.sleep[name] = asleep && name != last.pick && independent(last.steps[name], last.steps[last.pick])
		}
	}
	if !p.next() {
		return nil
	}
	return p
}

// next picks another operation, if there is one.
func (p *point) next() bool {
	if p.pick != "" {
		p.done = append(p.done, p.pick)
	}
	for _, name := range p.can {
		if !p.sleep[name] && !slices.Contains(p.done, name) {
			p.pick = name
			return true
		}
	}
	return false
}

// TestInterleavedPairs: of two operations at a time, whatever the order of their statements and commits, what
// becomes of them is what they give one after the other. Routers look before they have the lock, and after others
// came in between too often, under it.
func TestInterleavedPairs(t *testing.T) {
	l, locked := newLab(t, 2), newLabOf(t, 2, Options{looks: -1})
	if *flagOnly != "" {
		for _, l := range []*lab{l, locked} {
			if _, err := l.explore(actionsNamed(t, strings.Split(*flagOnly, "|"))...); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	pairs, all := 0, 0
	for i, a := range actions {
		for j, b := range actions[i:] {
			if !*flagPairs && (!share(a, b) || j == 0 && !a.twice) {
				continue
			}
			n, err := l.explore(a, b)
			if err != nil {
				t.Fatalf("%s and %s: %v", a.name, b.name, err)
			}
			pairs, all = pairs+1, all+n
			if !a.routes || !b.routes {
				continue
			}
			n, err = locked.explore(a, b)
			if err != nil {
				t.Fatalf("%s and %s, under the lock: %v", a.name, b.name, err)
			}
			all += n
		}
	}
	if pairs < 50 || all < 4*pairs {
		t.Errorf("only %d pairs, %d orders", pairs, all)
	}
	t.Logf("%d pairs, %d orders, %d runs", pairs, all, l.tries+locked.tries)
}

// share reports whether two actions have to do with each other.
func share(a, b action) bool {
	return slices.ContainsFunc(strings.Fields(a.topics), func(topic string) bool { return slices.Contains(strings.Fields(b.topics), topic) })
}

// TestInterleavedTriples is the same for three operations and random orders.
func TestInterleavedTriples(t *testing.T) {
	l := newLabOf(t, 3, Options{gather: true}) // alone and plain they are in the pairs
	for seed := *flagSeed; seed < *flagSeed+uint64(*flagSeeds); seed++ {
		random := rand.New(rand.NewPCG(seed, 0))
		list := drawActions(random)
		err := l.try(list, func(c choice) *operation { return c.can[random.IntN(len(c.can))] }, nil)
		if err != nil {
			t.Fatalf("seed %d (-interleave.seed=%[1]d -interleave.seeds=1): %v", seed, err)
		}
	}
	t.Logf("%d seeds", *flagSeeds)
}

// drawActions draws two actions that share a topic, and any third.
func drawActions(random *rand.Rand) []action {
	pick := func(list []action) action { return list[random.IntN(len(list))] }
	a := pick(actions[:len(actions)-1]) // not the last: it has no topic
	var near []action
	for _, b := range actions {
		if share(a, b) {
			near = append(near, b)
		}
	}
	list := []action{a, pick(near)}
	switch random.IntN(4) {
	case 0:
		list = append(list, pick(actions))
	case 1:
		list = append(list, pick(houses))
	default:
		list = append(list, pick(near))
	}
	return list
}

// TestInterleavedReplay runs an order that failed.
func TestInterleavedReplay(t *testing.T) {
	text := *flagReplay
	if text == "" {
		text = "event c|event d: event c|event c|event d"
	}
	names, order, _ := strings.Cut(text, ": ")
	list := actionsNamed(t, strings.Split(names, "|"))
	left := strings.Split(order, "|")
	l := newLab(t, len(list))
	err := l.try(list, func(c choice) *operation {
		for len(left) > 0 {
			name := left[0]
			left = left[1:]
			for _, op := range c.can {
				if op.name == name {
					return op
				}
			}
			t.Errorf("%s cannot go on:\n%s", name, l.driver.story())
		}
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", l.driver.story())
}
