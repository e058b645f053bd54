package graph

import (
	"cmp"
	"math"
	"slices"
)

const (
	settleRounds = 8 // the straight lines are found anew each time
	settleMoves  = 6
	settleSteps  = 4_000_000
)

// settle draws together what the alignment left far apart: everything that stands
// in one straight line moves as one, towards the middle of what it is linked to,
// as far as its neighbours in the rows let it.
func (s *sketch) settle() {
	for range settleRounds {
		groups := s.straightGroups()
		moved := false
		for i := range settleMoves {
			slices.SortStableFunc(groups, func(a, b []int) int {
				if i%2 == 0 {
					return cmp.Compare(s.verts[a[0]].x, s.verts[b[0]].x)
				}
				return cmp.Compare(s.verts[b[0]].x, s.verts[a[0]].x)
			})
			for _, g := range groups {
				moved = s.pull(g) || moved
				if s.settled >= settleSteps {
					return
				}
			}
		}
		if !moved {
			return
		}
	}
}

// straightGroups are the vertices that stand straight above each other, linked by
// long lines or by the usual way.
func (s *sketch) straightGroups() [][]int {
	root := make([]int, len(s.verts))
	for v := range root {
		root[v] = v
	}
	find := func(v int) int {
		for root[v] != v {
			root[v] = root[root[v]]
			v = root[v]
		}
		return v
	}
	for v := range s.verts {
		for _, a := range s.down[v] {
			if a.priority >= 4 && s.verts[v].x == s.verts[a.to].x {
				root[find(a.to)] = find(v)
			}
		}
	}
	index := map[int]int{}
	var out [][]int
	for v := range s.verts {
		r := find(v)
		if _, ok := index[r]; !ok {
			index[r] = len(out)
			out = append(out, nil)
		}
		out[index[r]] = append(out[index[r]], v)
	}
	return out
}

// weight is how much an arc pulls.
func (a arc) weight() float64 { return float64(int(1) << max(a.priority, 1)) }

// pull moves one group and reports whether it moved.
func (s *sketch) pull(group []int) bool {
	x := s.verts[group[0]].x
	low, high := math.Inf(-1), math.Inf(1)
	type wish struct{ x, weight float64 }
	var wishes []wish
	total := 0.0
	for _, v := range group {
		row, pos := s.ranks[s.verts[v].rank], s.verts[v].pos
		if pos > 0 {
			low = max(low, s.verts[row[pos-1]].x+s.apart(row[pos-1], v))
		}
		if pos+1 < len(row) {
			high = min(high, s.verts[row[pos+1]].x-s.apart(v, row[pos+1]))
		}
		for _, arcs := range [2][]arc{s.up[v], s.down[v]} {
			s.settled += 1 + len(arcs)
			for _, a := range arcs {
				if to := s.verts[a.to].x + a.far - a.own; to != x || a.priority < 4 {
					w := a.weight()
					wishes = append(wishes, wish{to, w})
					total += w
				}
			}
		}
	}
	if len(wishes) == 0 || low > high {
		return false
	}
	slices.SortFunc(wishes, func(a, b wish) int { return cmp.Compare(a.x, b.x) })
	// Between the two middle wishes every place is as good; the middle looks best.
	want, sum := wishes[0].x, 0.0
	for i, w := range wishes {
		if sum += w.weight; sum*2 >= total {
			if want = w.x; sum*2 == total && i+1 < len(wishes) {
				want = math.Round((w.x + wishes[i+1].x) / 2)
			}
			break
		}
	}
	want = min(max(want, low), high)
	if math.Abs(want-x) < 1 {
		return false
	}
	for _, v := range group {
		s.verts[v].x = want
	}
	return true
}
