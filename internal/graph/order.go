package graph

import (
	"cmp"
	"slices"
)

const (
	sweeps      = 24
	swapBelow   = 6000 // arcs: above that, single swaps are not tried
	sweepsStale = 6
)

// order finds the order within the rows: from a walk through the workflow, once
// with the first way on the left and once on the right, then swept down and up by
// the mean place of the neighbours. The one with the fewest crossings stays.
func (s *sketch) order() {
	arcs := 0
	for _, a := range s.down {
		arcs += len(a)
	}
	s.findSides()
	var kept [][]int
	best := -1
	for _, begin := range []struct{ mirrored, upwards bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		s.firstOrder(begin.mirrored)
		for i, stale := 0, 0; i < sweeps && stale < sweepsStale && best != 0; i++ {
			if i > 0 {
				s.sweep((i%2 == 1) != begin.upwards, begin.mirrored, i%4 >= 2)
				if arcs < swapBelow {
					s.swap(i%4 >= 2)
				}
			}
			n := s.crossings()
			if stale++; best < 0 || n < best {
				best, kept, stale = n, s.copyRanks(), 0
			}
			if s.steps > orderSteps {
				break
			}
		}
	}
	s.ranks = kept
	s.number()
	s.face(best)
}

// face turns everything around if that brings more first ways to the left of the
// others, and does not cost a crossing.
func (s *sketch) face(crossings int) {
	turned := 0
	for _, arcs := range s.down {
		first := -1
		for _, a := range arcs {
			switch {
			case a.ownSide:
			case first < 0:
				first = s.verts[a.to].pos
			case first > s.verts[a.to].pos:
				turned++
			default:
				turned--
			}
		}
		s.work(len(arcs))
	}
	if turned <= 0 {
		return
	}
	turn := func() {
		for _, row := range s.ranks {
			slices.Reverse(row)
		}
		s.number()
	}
	if turn(); s.crossings() > crossings {
		turn()
	}
}

func (s *sketch) copyRanks() [][]int {
	out := make([][]int, len(s.ranks))
	for i, r := range s.ranks {
		out[i] = slices.Clone(r)
	}
	return out
}

func (s *sketch) number() {
	for _, row := range s.ranks {
		for i, v := range row {
			s.verts[v].pos = i
		}
	}
}

// firstOrder puts the vertices of each row in the order of a walk from the top.
func (s *sketch) firstOrder(mirrored bool) {
	rows := 0
	for _, v := range s.verts {
		rows = max(rows, v.rank+1)
	}
	s.ranks = make([][]int, rows)
	seen := make([]bool, len(s.verts))
	type visit struct{ vertex, next int }
	var way []visit
	enter := func(v int) {
		seen[v] = true
		s.ranks[s.verts[v].rank] = append(s.ranks[s.verts[v].rank], v)
		way = append(way, visit{vertex: v})
	}
	for pass := range 2 {
		for root := range s.verts {
			if seen[root] || pass == 0 && len(s.up[root]) > 0 {
				continue
			}
			for enter(root); len(way) > 0; {
				s.work(1)
				top := &way[len(way)-1]
				if top.next == len(s.down[top.vertex]) {
					way = way[:len(way)-1]
					continue
				}
				to := s.down[top.vertex][top.next].to
				if mirrored {
					to = s.down[top.vertex][len(s.down[top.vertex])-1-top.next].to
				}
				if top.next++; !seen[to] {
					enter(to)
				}
			}
		}
	}
	s.number()
}

// sweep orders each row by the mean place of its neighbours in the row before.
// Vertices without any stay where they are. What comes from the side of a box goes
// to the right of what comes from its middle, or left; and where the means are the
// same, the order is sometimes turned around: there may be a better one beyond.
func (s *sketch) sweep(downwards, sideLeft, turned bool) {
	mean := make([]float64, len(s.verts))
	for i := range s.ranks {
		row, near := s.ranks[i], s.up
		if !downwards {
			row, near = s.ranks[len(s.ranks)-1-i], s.down
		}
		var moving, slots []int
		for at, v := range row {
			s.work(1 + len(near[v]))
			if len(near[v]) == 0 {
				continue
			}
			sum := 0.0
			for _, a := range near[v] {
				sum += float64(s.verts[a.to].pos)
				switch {
				case a.farSide && sideLeft:
					sum -= 0.4
				case a.farSide:
					sum += 0.4
				}
			}
			mean[v] = sum / float64(len(near[v]))
			moving, slots = append(moving, v), append(slots, at)
		}
		if turned {
			slices.Reverse(moving)
		}
		slices.SortStableFunc(moving, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
		for k, at := range slots {
			row[at] = moving[k]
		}
		for at, v := range row {
			s.verts[v].pos = at
		}
	}
}

// swap exchanges neighbours in a row while that removes crossings; freely, in the
// first pass, also where it does not add any.
func (s *sketch) swap(freely bool) {
	for pass := range 4 {
		better := false
		for _, row := range s.ranks {
			if s.steps > orderSteps {
				return
			}
			for i := 0; i+1 < len(row); i++ {
				a, b := row[i], row[i+1]
				before := s.between(s.up, a, b) + s.between(s.down, a, b) + s.sidesOver(a, b)
				s.verts[a].pos, s.verts[b].pos = i+1, i
				after := s.between(s.up, b, a) + s.between(s.down, b, a) + s.sidesOver(a, b)
				if after < before || freely && pass == 0 && after == before {
					row[i], row[i+1] = b, a
					better = better || after < before
				} else {
					s.verts[a].pos, s.verts[b].pos = i, i+1
				}
			}
		}
		if !better {
			return
		}
	}
}

// between counts how often lines of a and b cross when a stands left of b.
func (s *sketch) between(near [][]arc, a, b int) int {
	n := 0
	for _, p := range near[a] {
		for _, q := range near[b] {
			if s.verts[p.to].pos > s.verts[q.to].pos {
				n++
			}
		}
	}
	s.work(len(near[a]) * len(near[b]))
	return n
}

// crossings counts the crossings of all lines, row by row, with a tree of sums.
func (s *sketch) crossings() int {
	total := s.sideCrossings()
	var ends, tree []int
	for i := 0; i+1 < len(s.ranks); i++ {
		width := len(s.ranks[i+1])
		tree = append(tree[:0], make([]int, width+1)...)
		passed := 0
		for _, v := range s.ranks[i] {
			ends = ends[:0]
			for _, a := range s.down[v] {
				ends = append(ends, s.verts[a.to].pos)
			}
			s.work(1 + len(ends))
			for _, e := range ends { // lines that end to the right of e and began before
				left := 0
				for k := e + 1; k > 0; k -= k & -k {
					left += tree[k]
				}
				total += passed - left
			}
			for _, e := range ends {
				for k := e + 1; k <= width; k += k & -k {
					tree[k]++
				}
			}
			passed += len(ends)
		}
	}
	return total
}
