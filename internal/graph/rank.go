package graph

import (
	"cmp"
	"slices"
)

// tightenPasses bounds how often the rows are improved.
const tightenPasses = 12

// rank gives every vertex a row: the longest way from the start, then moved to
// where its links are short.
func (s *sketch) rank() {
	out, in := make([][]int, len(s.verts)), make([][]int, len(s.verts))
	for i, l := range s.links {
		out[l.from] = append(out[l.from], i)
		in[l.to] = append(in[l.to], i)
	}
	waiting := make([]int, len(s.verts))
	var sorted []int
	for v := range s.verts {
		s.verts[v].rank = 0
		if waiting[v] = len(in[v]); waiting[v] == 0 {
			sorted = append(sorted, v)
		}
	}
	for at := 0; at < len(sorted); at++ {
		v := sorted[at]
		for _, i := range out[v] {
			s.work(1)
			to := s.links[i].to
			s.verts[to].rank = max(s.verts[to].rank, s.verts[v].rank+1)
			if waiting[to]--; waiting[to] == 0 {
				sorted = append(sorted, to)
			}
		}
	}
	for range tightenPasses {
		if !s.tighten(sorted, in, out) {
			break
		}
	}
	lowest := 0
	for i, v := range s.verts {
		if i == 0 || v.rank < lowest {
			lowest = v.rank
		}
	}
	for i := range s.verts {
		s.verts[i].rank -= lowest
	}
}

// tighten moves vertices between their neighbours towards the heavier side, and
// reports whether any moved.
func (s *sketch) tighten(sorted []int, in, out [][]int) bool {
	moved := false
	for _, v := range slices.Backward(sorted) {
		s.work(len(in[v]) + len(out[v]))
		pull, low, high := 0, 0, int(^uint(0)>>1)
		for _, i := range in[v] {
			pull -= s.weight(i)
			low = max(low, s.verts[s.links[i].from].rank+1)
		}
		for _, i := range out[v] {
			pull += s.weight(i)
			high = min(high, s.verts[s.links[i].to].rank-1)
		}
		rank := s.verts[v].rank
		switch {
		case pull > 0 && len(out[v]) > 0:
			rank = max(rank, high)
		case pull < 0 && len(in[v]) > 0:
			rank = min(rank, low)
		}
		if rank != s.verts[v].rank {
			s.verts[v].rank, moved = rank, true
		}
	}
	return moved
}

// weight says how much a link wants to be short.
func (s *sketch) weight(i int) int {
	if s.links[i].back {
		return 1
	}
	switch s.g.Edges[s.links[i].edge].Kind {
	case Start, Next:
		return 6
	case Error:
		return 2
	case Compensate:
		return 3
	}
	return 4
}

// bundle is what joins on its way: lines of one look to the same target.
type bundle struct {
	target int // a vertex
	node   int // the box, where two share the vertex
	stroke string
	back   bool
}

func (s *sketch) bundleOf(l link) bundle {
	e := s.g.Edges[l.edge]
	b := bundle{target: l.to, node: e.To, stroke: e.stroke(), back: l.back}
	if l.back {
		b.target = l.from
	}
	return b
}

// shorten replaces the longest lines by references while there are too many
// bends, and reports whether it did.
func (s *sketch) shorten() bool {
	length := map[bundle]int{}
	var all []bundle
	bends := 0
	for _, l := range s.links {
		b := s.bundleOf(l)
		span := 2 * (s.verts[l.to].rank - s.verts[l.from].rank - 1)
		if _, ok := length[b]; !ok {
			all = append(all, b)
		}
		if more := span - length[b]; more > 0 {
			bends += more
		}
		length[b] = max(length[b], span)
	}
	if bends <= maxBends {
		return false
	}
	slices.SortStableFunc(all, func(a, b bundle) int { return cmp.Compare(length[b], length[a]) })
	cut := map[bundle]bool{}
	for _, b := range all {
		if bends <= maxBends {
			break
		}
		bends -= length[b]
		cut[b] = true
	}
	for _, l := range s.links {
		if cut[s.bundleOf(l)] {
			s.refs[l.edge] = true
		}
	}
	return true
}
