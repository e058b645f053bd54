package graph

import (
	"math"
	"slices"
)

// place gives every vertex its x after Brandes and Köpf, "Fast and simple
// horizontal coordinate assignment" (2001): lines are made straight four times,
// from above and from below, preferring left and right; each time everything is
// packed together, and x is the mean of the two middle results.
func (s *sketch) place() {
	s.work(8 * len(s.verts))
	blocked := s.conflicts()
	var all [4][]float64
	for i := range all {
		all[i] = s.alignment(i&1 != 0, i&2 != 0, blocked)
	}
	s.balance(all)
}

// conflicts finds the pieces that cross the inside of a long line: those give way.
func (s *sketch) conflicts() map[[2]int]bool {
	out := map[[2]int]bool{}
	for i := 1; i < len(s.ranks); i++ {
		low, from := 0, 0
		row := s.ranks[i]
		for at, v := range row {
			inner := s.innerAbove(v)
			if inner < 0 && at < len(row)-1 {
				continue
			}
			high := len(s.ranks[i-1])
			if inner >= 0 {
				high = s.verts[inner].pos
			}
			for _, w := range row[from : at+1] {
				for _, a := range s.up[w] {
					pos := s.verts[a.to].pos
					if (pos < low || pos > high) && a.priority < 5 {
						out[[2]int{a.to, w}] = true
					}
				}
			}
			low, from = high, at+1
		}
	}
	return out
}

func (s *sketch) innerAbove(v int) int {
	for _, a := range s.up[v] {
		if a.priority == 5 && s.verts[a.to].trunk == s.verts[v].trunk {
			return a.to
		}
	}
	return -1
}

// alignment is one of the four: fromBelow looks at the lower neighbours, mirrored
// goes through the rows from the right.
func (s *sketch) alignment(fromBelow, mirrored bool, blocked map[[2]int]bool) []float64 {
	rows := s.copyRanks()
	near, far := s.up, s.down
	if fromBelow {
		slices.Reverse(rows)
		near, far = s.down, s.up
	}
	if mirrored {
		for _, row := range rows {
			slices.Reverse(row)
		}
	}
	nearTop, farTop := highest(near), highest(far)
	pos := make([]int, len(s.verts))
	for _, row := range rows {
		for i, v := range row {
			pos[v] = i
		}
	}
	root, next := make([]int, len(s.verts)), make([]int, len(s.verts))
	for v := range root {
		root[v], next[v] = v, v
	}
	for _, row := range rows {
		last := -1
		for _, v := range row {
			ws := wanted(v, near, nearTop, farTop, pos)
			for k := (len(ws) - 1) / 2; len(ws) > 0 && k <= len(ws)/2; k++ {
				w := ws[k]
				pair := [2]int{w, v}
				if fromBelow {
					pair = [2]int{v, w}
				}
				if next[v] == v && last < pos[w] && !blocked[pair] {
					next[w], root[v] = v, root[w]
					next[v] = root[v]
					last = pos[w]
				}
			}
		}
	}
	return s.compact(rows, root, mirrored)
}

// wanted are the neighbours that a vertex would stand straight below, in order: of
// those that matter most to it, the ones it matters most to.
func wanted(v int, near [][]arc, nearTop, farTop []int8, pos []int) []int {
	var out []int
	for _, a := range near[v] {
		if a.priority == nearTop[v] && a.priority == farTop[a.to] {
			out = append(out, a.to)
		}
	}
	slices.SortFunc(out, func(a, b int) int { return pos[a] - pos[b] })
	return out
}

// highest is what matters most to each vertex in one direction.
func highest(near [][]arc) []int8 {
	out := make([]int8, len(near))
	for v, arcs := range near {
		for _, a := range arcs {
			out[v] = max(out[v], a.priority)
		}
	}
	return out
}

// compact packs the blocks of vertices that stand straight: as far left as they
// go, then right again as far as nothing is pushed.
func (s *sketch) compact(rows [][]int, root []int, mirrored bool) []float64 {
	type gap struct {
		to   int
		wide float64
	}
	after := make([][]gap, len(s.verts))
	waiting := make([]int, len(s.verts))
	for _, row := range rows {
		for i := 1; i < len(row); i++ {
			a, b := root[row[i-1]], root[row[i]]
			wide := s.apart(row[i-1], row[i])
			if mirrored {
				wide = s.apart(row[i], row[i-1])
			}
			after[a] = append(after[a], gap{b, wide})
			waiting[b]++
		}
	}
	var sorted []int
	for v := range root {
		if root[v] == v && waiting[v] == 0 {
			sorted = append(sorted, v)
		}
	}
	x := make([]float64, len(s.verts))
	for at := 0; at < len(sorted); at++ {
		for _, g := range after[sorted[at]] {
			x[g.to] = max(x[g.to], x[sorted[at]]+g.wide)
			if waiting[g.to]--; waiting[g.to] == 0 {
				sorted = append(sorted, g.to)
			}
		}
	}
	for _, v := range slices.Backward(sorted) {
		room := math.Inf(1)
		for _, g := range after[v] {
			room = min(room, x[g.to]-g.wide)
		}
		if !math.IsInf(room, 1) {
			x[v] = max(x[v], room)
		}
	}
	out := make([]float64, len(x))
	for v := range out {
		if out[v] = x[root[v]]; mirrored {
			out[v] = -out[v]
		}
	}
	return out
}

// apart is the least distance between two vertices that stand beside each other.
func (s *sketch) apart(left, right int) float64 {
	a, b := &s.verts[left], &s.verts[right]
	return a.right + b.left + (spaceBeside(a.kind)+spaceBeside(b.kind))/2
}

func spaceBeside(k vertexKind) float64 {
	switch k {
	case stateVertex:
		return 44
	case markVertex:
		return 32
	}
	return 18
}

// balance moves the four results over the narrowest and takes the middle.
func (s *sketch) balance(all [4][]float64) {
	if len(s.verts) == 0 {
		return
	}
	var low, high [4]float64
	narrow := 0
	for i, x := range all {
		low[i], high[i] = math.Inf(1), math.Inf(-1)
		for v := range s.verts {
			low[i] = min(low[i], x[v]-s.verts[v].left)
			high[i] = max(high[i], x[v]+s.verts[v].right)
		}
		if high[i]-low[i] < high[narrow]-low[narrow] {
			narrow = i
		}
	}
	for v := range s.verts {
		var four [4]float64
		for i, x := range all {
			shift := low[narrow] - low[i]
			if i&2 != 0 {
				shift = high[narrow] - high[i]
			}
			four[i] = x[v] + shift
		}
		slices.Sort(four[:])
		s.verts[v].x = math.Round((four[1] + four[2]) / 2)
	}
}
